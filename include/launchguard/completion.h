/** Completions: the answer that a launch callback owes. A repair asks it whether it is wanted. */
#ifndef LAUNCHGUARD_COMPLETION_H
#define LAUNCHGUARD_COMPLETION_H

#include <launchguard/base.h>
#include <launchguard/status.h>

/** The answer that a callback owes. Valid until the process ends. A second or late answer is
 *  harmless and has no effect. */
typedef struct lg_completion lg_completion;

LG_BEGIN

/** Answer a report, repair or give-up callback. The first answer counts. An answer after the
 *  timeout has no effect but that the launch need not wait for the repair any more.
 *
 *  @param done     from the callback; NULL is ignored.
 *  @param outcome  LG_OK: repaired (or reported); any other value: failed.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: the outcome is stored before lg_launch_begin() goes on.
 */
LG_API void lg_complete(lg_completion *done, lg_status outcome);

/** Whether a repair is still wanted: the launch waits for its answer, and the program has not
 *  announced its end. A repair that takes long asks between its steps:
 *
 *      int rebuilt = 0;
 *      while (rebuilt < files && lg_completion_wanted(done))
 *          rebuild(file[rebuilt++]);
 *      lg_complete(done, rebuilt == files ? LG_OK : LG_ERR_CANCELLED);
 *
 *  @param done  from the callback of the repair; NULL: not wanted.
 *  @return 1: wanted; 0: the timeout has passed, lg_will_terminate() was called, or it is answered.
 *
 *  Threads: safe.  Signals: safe.  After fork: 0.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API int lg_completion_wanted(const lg_completion *done);

/** Wait until lg_completion_wanted() is 0, for a thread that then interrupts the repair.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: returns at once.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API void lg_completion_wait_unwanted(const lg_completion *done);

/** As lg_complete(), with the reason of a failure in words, for example "settings.db: no space".
 *  The reason becomes a breadcrumb of this run, in front of the one that names the attempt. The
 *  first 31 bytes of a repair's reason also go to the timeline of the ledger, which keeps the last
 *  reason of a run. `launchguard inspect` shows both.
 *
 *  @param text  NUL-terminated UTF-8, cut where the breadcrumb would have more than 512 bytes;
 *               NULL: none. Copied. Not used with LG_OK, nor in an answer that comes late.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: the outcome is stored before lg_launch_begin() goes on; the reason survives the process
 *  at once.
 */
LG_API void lg_complete_text(lg_completion *done, lg_status outcome, const char *text);

LG_END

#endif
