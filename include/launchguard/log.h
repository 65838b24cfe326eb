/** Breadcrumbs: a ring log in the run file that survives any death of the process. */
#ifndef LAUNCHGUARD_LOG_H
#define LAUNCHGUARD_LOG_H

#include <stdarg.h>

#include <launchguard/session.h>

/** Longest text of one entry, in bytes; an entry with its header is at most 4 KiB. */
#define LG_LOG_TEXT_MAX 4000

LG_BEGIN

/** Append one entry to the ring log. A full log overwrites its oldest entries: those in the lane of
 *  the thread, or in the shared lane for a thread without a lane of its own (see ring_bytes).
 *
 *  @param session  from lg_start(); borrowed.
 *  @param level    LG_LEVEL_*; unknown values are stored as they are (0 to 255).
 *  @param text     UTF-8, `size` bytes, needs no NUL; copied before return.
 *  @param size     bytes; more than LG_LOG_TEXT_MAX is cut and the entry marked as cut.
 *  @return LG_OK; LG_ERR_ARGUMENT; LG_ERR_UNPROTECTED; LG_ERR_CLOSED after lg_stop();
 *          LG_ERR_FORKED; LG_ERR_LIMIT: writers that stopped in the middle of their entries fill
 *          the lane that all threads share.
 *
 *  Threads: safe, wait-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_log_write(lg_session *session, lg_level level, const char *text, size_t size);

/** Format one entry and append it. The format understands %d %i %u %x %X %o %c %s %p %f %e %g %%
 *  with flags, width, precision and the lengths hh h l ll z j t L, and needs no locale. Widths and
 *  precisions above 10000 count as 10000. Floating-point numbers are right to about 15 digits. A
 *  NULL for %s prints "(null)". At the first other conversion (%n, %a, wide characters, positions)
 *  formatting stops: the rest of the format is copied as it stands, and no further argument is
 *  read.
 *
 *  @param session  from lg_start(); borrowed.
 *  @param level    LG_LEVEL_*.
 *  @param format   as for printf, without %n and positions.
 *  @return as lg_log_write().
 *
 *  Threads: safe, wait-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_log(lg_session *session, lg_level level, const char *format, ...) LG_PRINTF(3, 4);

/** A key and its value, for example "url" and "https://…". Both are borrowed during the call. */
typedef struct lg_field {
    const char *key;   /**< NUL-terminated, not empty */
    const char *value; /**< NUL-terminated; NULL means "" */
} lg_field;

/** Append one entry with a category and fields.
 *
 *  @param session   from lg_start(); borrowed.
 *  @param level     LG_LEVEL_*.
 *  @param category  the part of the program that logs, NUL-terminated, for example "network"; cut
 *                   to LG_NAME_MAX bytes; NULL or "": none.
 *  @param text      as for lg_log_write().
 *  @param fields    `count` fields; may be NULL when `count` is 0. Fields that do not fit into
 *                   LG_LOG_TEXT_MAX bytes with the rest of the entry are left out, and the entry is
 *                   marked as cut. The value of a key that lg_redact() names is in no export.
 *  @return as lg_log_write().
 *
 *  Threads: safe, wait-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_log_fields(lg_session *session, lg_level level, const char *category, const char *text, size_t size, const lg_field *fields,
                               size_t count);

/** Text with its size, as other languages have it. It needs no NUL. `bytes` may be NULL when `size`
 *  is 0. */
typedef struct lg_slice {
    const char *bytes;
    size_t size;
} lg_slice;

/** Append an entry as lg_log_fields() does, from texts with sizes. The C++ interface in
 *  <launchguard/log.hpp> uses this function.
 *
 *  @param category         as for lg_log_fields().
 *  @param text             as for lg_log_fields().
 *  @param keys_and_values  2 × `count` texts: a key, its value, the next key, and so on; a key is
 *                          not empty. May be NULL when `count` is 0. For a field that does not fit,
 *                          only the sizes are read.
 *  @return as lg_log_write().
 *
 *  Threads: safe, wait-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_log_slices(lg_session *session, lg_level level, lg_slice category, lg_slice text, const lg_slice *keys_and_values, size_t count);

/** lg_log() with a va_list.
 *
 *  @return as lg_log_write().
 *
 *  Threads: safe, wait-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_logv(lg_session *session, lg_level level, const char *format, va_list arguments) LG_PRINTF(3, 0);

LG_END

#endif
