/** Annotations: named values that describe what the program is doing, for example "screen" or
 *  "document". The last value of each key counts and survives any death of the process.
 *
 *  Secrets: a value whose key lg_redact() named leaves the machine in no report. The value stays in
 *  the run file itself, which only the user of the program can read.
 */
#ifndef LAUNCHGUARD_ANNOTATE_H
#define LAUNCHGUARD_ANNOTATE_H

#include <launchguard/session.h>

/** Most keys that have a value or are redacted. */
#define LG_ANNOTATIONS_MAX 64
/** Longest key and longest value, in bytes. */
#define LG_ANNOTATION_KEY_MAX 63
#define LG_ANNOTATION_VALUE_MAX 495

LG_BEGIN

/** Set the value of a key. A reader sees the old value or the new one, never a mixture, even if the
 *  process dies in between. When several threads set the same key at once, the value of one of them
 *  stays. When one call returns before another begins, the value of the later call stays.
 *
 *  @param session  from lg_start(); borrowed.
 *  @param key      1 to LG_ANNOTATION_KEY_MAX bytes, UTF-8. Copied.
 *  @param value    NUL-terminated UTF-8, cut to LG_ANNOTATION_VALUE_MAX bytes; NULL removes the
 *                  key. Copied. Bytes that are not UTF-8 are stored as they are.
 *  @return LG_OK; LG_ERR_LIMIT: LG_ANNOTATIONS_MAX other keys are in use, or threads that never
 *          return from this call occupy all the room; LG_ERR_ARGUMENT; LG_ERR_UNPROTECTED;
 *          LG_ERR_CLOSED after lg_stop(); LG_ERR_FORKED.
 *
 *  Threads: safe, lock-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_annotate(lg_session *session, const char *key, const char *value);

/** Keep the values of a key out of every export: the value of the annotation, and the value of a
 *  field of that name in a breadcrumb (lg_log_fields()), also where they stand in texts. The call
 *  covers values that were set before it, and cannot be undone. The key need not have a value. A
 *  redacted key counts among LG_ANNOTATIONS_MAX. The name of the key is exported, so that a reader
 *  of the export knows that a value was left out.
 *
 *  Texts are those of breadcrumbs, messages, standard error, arguments, names and paths. There
 *  three asterisks stand for each value that the file has under the key, in an annotation or a
 *  field: for one of eight bytes or more wherever it is, for one of four to seven where it stands
 *  as a word, and for its first eight bytes or more where the text ends in it. They also stand for
 *  what follows the key, in small or capital letters, as key=value, key: value or "key":"value".
 *
 *  Limits: the call does not encrypt the value in the run file. A shorter value stays, as does a
 *  copy in another form (capitals, Base64, encrypted), and a value that lg_annotate() has replaced,
 *  or that only a damaged part of the file has. The memory that a crash record holds is the
 *  registers and the bytes at the stack pointer, which every export has, and the stacks of the
 *  threads, which an export has on request (`launchguard inspect --json --memory`).
 *  LG_LEAVE_OUT_STACKS keeps both kinds of stack memory out of the file.
 *
 *  @return as lg_annotate().
 *
 *  Threads: safe, lock-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_redact(lg_session *session, const char *key);

LG_END

#endif
