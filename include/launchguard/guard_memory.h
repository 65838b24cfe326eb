/** Memory that may be gone: mapped files that may be cut short, and reads that may fault.
 *
 *  While a file is mapped, any process may cut it short, its disk may fail, or be full where the
 *  file has a hole: the next access to such a page is SIGBUS. Two guards of the class
 *  LG_GUARD_MEMORY:
 *
 *    lg_guard_map()   registers a mapping. A page of it that is gone becomes a page of zeros, and
 *                     the access goes on. The program asks lg_guard_map_lost() when it is done, and
 *                     throws its result away where the answer is not 0.
 *    lg_guard_read()  copies from memory that may not be there, and says how far it came.
 *
 *  What they do not do:
 *
 *  - The zeros are not what was in the file, and what the program writes to them is in no file.
 *  - A page that a system call meets first, for example read(2) into a mapping, is not replaced:
 *    the call fails with EFAULT.
 *  - Instructions are not replaced: a jump into a mapping that is gone is a crash.
 *  - A thread that blocks SIGBUS or SIGSEGV is ended by the kernel at its fault.
 *  - The kernel may refuse the page (too many mappings, large pages of hugetlbfs). The fault is a
 *    crash then, although its event says that it was survived.
 *
 *  The site of a page is the instruction that met it; in memcpy() that is one of libc. The site of
 *  a guarded read is the caller of lg_guard_read().
 */
#ifndef LAUNCHGUARD_GUARD_MEMORY_H
#define LAUNCHGUARD_GUARD_MEMORY_H

#include <launchguard/guard.h>

/** Most mappings that are registered at the same time. */
#define LG_GUARD_MAPS_MAX 64

LG_BEGIN

/** Register a mapping, or whole pages of one. May be called before lg_guard_start(), too; the pages
 *  are guarded while LG_GUARD_MEMORY is on.
 *
 *  One fault replaces the page that it met, and up to 255 pages right after it that are gone as
 *  well: one event, and one of the budget.
 *
 *  @param session     from lg_start(); borrowed.
 *  @param base        begin of a page.
 *  @param size        bytes; the whole last page belongs to it.
 *  @param protection  that of the mapping, and of the pages of zeros: PROT_READ, or PROT_READ |
 *                     PROT_WRITE.
 *  @return LG_OK; LG_ERR_ALREADY: a part of it is registered; LG_ERR_LIMIT: LG_GUARD_MAPS_MAX;
 *          LG_ERR_UNPROTECTED: the session has no handlers, and nothing is guarded; LG_ERR_OPTION:
 *          `base` is inside a page, the end is beyond all addresses, or another protection;
 *          LG_ERR_ARGUMENT: also where `size` is 0; LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_guard_map(lg_session *session, void *base, size_t size, int protection);

/** Take a mapping back. Call it before munmap() or mremap(): later another mapping may have its
 *  addresses. The call waits while the fault of another thread in the mapping is handled. After the
 *  call no page is replaced; a fault that comes during the call may be a crash. Pages that were
 *  replaced stay as they are.
 *
 *  @param base  as for lg_guard_map().
 *  @return LG_OK; LG_ERR_NOT_FOUND; LG_ERR_UNPROTECTED; LG_ERR_ARGUMENT; LG_ERR_CLOSED;
 *          LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_guard_unmap(lg_session *session, void *base);

/** Count the pages of a registered mapping that were replaced by zeros. If the count is not 0, data
 *  that the program read from the mapping differs from the file. Ask after the reads and before
 *  lg_guard_unmap().
 *
 *  @param base  as for lg_guard_map().
 *  @return pages; 0 also where no such mapping is registered.
 *
 *  Threads: safe.  Signals: safe.  After fork: what it was at the fork.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API size_t lg_guard_map_lost(const void *base);

/** Copy from memory that may be unmapped or unreadable. Where LG_GUARD_MEMORY is off, or the
 *  session has no handlers, the call is an ordinary copy and may crash.
 *
 *  A fault in `dst` is always a crash: that memory is the program's own. Memory that another thread
 *  changes during the copy may be copied half changed.
 *
 *  @param dst         `size` bytes, apart from those of `src`.
 *  @param src         any address.
 *  @param ret_copied  bytes copied, also where not all of them: those before the first one that
 *                     cannot be read; may be NULL.
 *  @return LG_OK; LG_ERR_SYSTEM: not all bytes can be read (errno is EFAULT).
 *
 *  Threads: safe.  Signals: safe.  After fork: a copy like any other.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_guard_read(void *dst, const void *src, size_t size, size_t *ret_copied);

LG_END

#endif
