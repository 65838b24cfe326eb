/** Annotations: named values that say what the program is about, for example "screen" or "document". The last value of each wins, and survives any
 *  death of the process.
 *
 *  Secrets: what a key holds that lg_redact() named is dropped wherever a report leaves the machine; it stays in the run file itself,
 *  which only the user of the program can read.
 */
#ifndef LAUNCHGUARD_ANNOTATE_H
#define LAUNCHGUARD_ANNOTATE_H

#include <launchguard/session.h>

/** So many keys may have a value or be redacted. */
#define LG_ANNOTATIONS_MAX 64
/** Longest key and value, in bytes. */
#define LG_ANNOTATION_KEY_MAX 63
#define LG_ANNOTATION_VALUE_MAX 495

LG_BEGIN

/** Set the value of a key; a reader sees the old one or the new one, never a mixture, also when the process dies in between.
 *
 *  @param key    1 to LG_ANNOTATION_KEY_MAX bytes, UTF-8. Copied.
 *  @param value  NUL-terminated UTF-8, cut to LG_ANNOTATION_VALUE_MAX bytes; NULL takes the key away. Copied.
 *  @return LG_OK; LG_ERR_LIMIT: LG_ANNOTATIONS_MAX other keys are there; LG_ERR_ARGUMENT; LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_annotate(lg_session *session, const char *key, const char *value);

/** What this key holds leaves in no export: neither the value of the annotation nor that of a field of that name in a breadcrumb (lg_log_fields()).
 *  It holds for what was set before as well, and for good.
 *
 *  @return as lg_annotate().
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_redact(lg_session *session, const char *key);

LG_END

#endif
