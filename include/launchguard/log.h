/** Breadcrumbs: a ring log in the run file that survives any death of the process. */
#ifndef LAUNCHGUARD_LOG_H
#define LAUNCHGUARD_LOG_H

#include <stdarg.h>

#include <launchguard/session.h>

/** Importance of an entry; the numbers leave room between them. */
typedef enum lg_level {
    LG_LEVEL_TRACE = 10,
    LG_LEVEL_DEBUG = 20,
    LG_LEVEL_INFO = 30,
    LG_LEVEL_NOTICE = 40,
    LG_LEVEL_WARNING = 50,
    LG_LEVEL_ERROR = 60,
    LG_LEVEL_CRITICAL = 70
} lg_level;

/** Longest text of one entry, in bytes; an entry with its header is at most 4 KiB. */
#define LG_LOG_TEXT_MAX 4000

LG_BEGIN

/** Append one entry to the ring log. The oldest entries are overwritten when it is full: those of the thread's own lane, or of the
 *  shared lane where the thread has none (see ring_bytes).
 *
 *  @param session  from lg_start(); borrowed.
 *  @param level    LG_LEVEL_*; unknown values are stored as they are (0 to 255).
 *  @param text     UTF-8, `size` bytes, needs no NUL; copied before return.
 *  @param size     bytes; more than LG_LOG_TEXT_MAX is cut and the entry marked as cut.
 *  @return LG_OK; LG_ERR_ARGUMENT; LG_ERR_UNPROTECTED; LG_ERR_CLOSED after lg_stop(); LG_ERR_FORKED; LG_ERR_LIMIT when
 *          writers that stand still in the middle of their entries fill the lane that all threads share.
 *
 *  Threads: safe, wait-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_log_write(lg_session *session, lg_level level, const char *text, size_t size);

/** Format one entry and append it. Understands %d %i %u %x %X %o %c %s %p %f %e %g %% with flags, width, precision and the
 *  lengths hh h l ll z j t L; needs no locale. Widths and precisions above 10000 count as 10000, floating-point numbers are right to about 15 digits.
 *  From a conversion on that is not among these - %n, %a, wide characters, positions - the format is copied as it stands, and no argument is touched. A NULL
 *  for %s prints "(null)".
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
    const char *value; /**< NUL-terminated; NULL as "" */
} lg_field;

/** Append one entry with a category and fields.
 *
 *  @param session   from lg_start(); borrowed.
 *  @param level     LG_LEVEL_*.
 *  @param category  what part of the program it is of, NUL-terminated, for example "network"; at most LG_NAME_MAX bytes, longer is cut; NULL or "": none.
 *  @param text      as for lg_log_write().
 *  @param fields    `count` fields; may be NULL when that is 0. What does not fit into LG_LOG_TEXT_MAX bytes with everything else is left out, and the entry
 *                   marked as cut. What lg_redact() names leaves in no export.
 *  @return as lg_log_write().
 *
 *  Threads: safe, wait-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_log_fields(lg_session *session, lg_level level, const char *category, const char *text, size_t size, const lg_field *fields,
                               size_t count);

/** Text that knows its size, as other languages have it; it needs no NUL. `bytes` may be NULL where `size` is 0. */
typedef struct lg_slice {
    const char *bytes;
    size_t size;
} lg_slice;

/** lg_log_fields() with texts that know their sizes; <launchguard/log.hpp> calls it for C++.
 *
 *  @param category         as for lg_log_fields().
 *  @param text             as for lg_log_fields().
 *  @param keys_and_values  2 × `count` texts: a key, its value, the next key, …; keys are not empty. May be NULL when `count` is 0. Of a field that does not fit
 *                          only the sizes are looked at.
 *  @return as lg_log_write().
 *
 *  Threads: safe, wait-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_log_slices(lg_session *session, lg_level level, lg_slice category, lg_slice text, const lg_slice *keys_and_values, size_t count);

/** lg_log() with a va_list.
 *
 *  Threads: safe, wait-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_logv(lg_session *session, lg_level level, const char *format, va_list arguments) LG_PRINTF(3, 0);

LG_END

#endif
