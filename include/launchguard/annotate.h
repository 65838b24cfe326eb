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

/** Set the value of a key; a reader sees the old one or the new one, never a mixture, also when the process dies in between. Where threads set
 *  the same key at once, the value of one of them is the last one; a call that begins after another has returned is the later of the two.
 *
 *  @param session  from lg_start(); borrowed.
 *  @param key      1 to LG_ANNOTATION_KEY_MAX bytes, UTF-8. Copied.
 *  @param value    NUL-terminated UTF-8, cut to LG_ANNOTATION_VALUE_MAX bytes; NULL takes the key away. Copied. What is no UTF-8 is stored as it is.
 *  @return LG_OK; LG_ERR_LIMIT: LG_ANNOTATIONS_MAX other keys are there, or threads that stand still for ever in the middle of this call
 *          have all the room; LG_ERR_ARGUMENT; LG_ERR_UNPROTECTED; LG_ERR_CLOSED after lg_stop(); LG_ERR_FORKED.
 *
 *  Threads: safe, lock-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_annotate(lg_session *session, const char *key, const char *value);

/** What this key holds leaves in no export: neither the value of the annotation nor that of a field of that name in a breadcrumb (lg_log_fields()).
 *  It holds for what was set before as well, and for good, whether the key has a value or not; a redacted key counts among LG_ANNOTATIONS_MAX.
 *  The name of the key is exported: it says that something was left out.
 *
 *  What this does not do: the value is not encrypted in the run file, and it is nowhere else looked for. The same text may be in a breadcrumb
 *  that was logged as plain text, in a message of the crash, in what was written to standard error, in the command line, and in the memory that a crash
 *  record holds: the registers and the bytes at the stack pointer, which every export has, and the stacks of the threads, which an export has when asked
 *  for (`launchguard inspect --json --memory`). LG_LEAVE_OUT_STACKS keeps both kinds of stack memory out of the file.
 *
 *  @return as lg_annotate().
 *
 *  Threads: safe, lock-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_redact(lg_session *session, const char *key);

LG_END

#endif
