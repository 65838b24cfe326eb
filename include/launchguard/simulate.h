/** Simulation: walk a program's own launch through every state without a crash.
 *
 *  A simulated session has a ledger in memory, no files and no signal handlers. The program
 *  prepares its launches, repairs and tasks on it as on a real one. lg_simulate() then ends the
 *  simulated run in the requested way and starts the next run, in which the same launches can be
 *  begun again:
 *
 *      lg_simulate_start(&lg);
 *      prepare_launch(lg, &launch);            // the program's own function
 *      lg_launch_begin(launch);
 *      lg_simulate(lg, LG_END_CRASH);          // it crashed while launching …
 *      lg_launch_begin(launch);
 *      lg_simulate(lg, LG_END_CRASH);          // … twice
 *      lg_launch_begin(launch);                // on_report, the repairs, the tasks
 */
#ifndef LAUNCHGUARD_SIMULATE_H
#define LAUNCHGUARD_SIMULATE_H

#include <launchguard/launch.h>

LG_BEGIN

/** Make a simulated session. A process may have any number of them beside the real session.
 *
 *  @param ret_session  to be closed with lg_simulate_close(); untouched on failure.
 *  @return LG_OK; LG_ERR_SYSTEM: no memory; LG_ERR_UNSUPPORTED: this is not Linux; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_simulate_start(lg_session **ret_session);

/** End the simulated run and start the next one. Its launches can then be begun again.
 *
 *  A callback, a task or another thread may make this call: a launch that is under way ends there.
 *  lg_launch_begin() then returns LG_ERR_CLOSED, no further callback of the launch is called, and
 *  answers to the outstanding ones have no effect.
 *
 *  @param end  LG_END_CRASH, LG_END_HANG, LG_END_OOM, LG_END_EXIT (with status 1), LG_END_UNKNOWN,
 *              LG_END_KILLED, LG_END_CLEAN, LG_END_TERMINATED, LG_END_REBOOT, LG_END_UPGRADE,
 *              LG_END_DEBUGGER.
 *  @return LG_OK; LG_ERR_OPTION: another end; LG_ERR_STATE: not a simulated session;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_simulate(lg_session *session, lg_end end);

/** Let simulated time pass. Between two runs the time counts for throttles, forgotten streaks and
 *  the way down the ladder. Within a run it counts for the timeout of the pending callback and for
 *  the deadline of a hold. It finishes no launch: a simulated launch is finished by
 *  lg_launch_finished().
 *
 *  @return LG_OK; LG_ERR_STATE: not a simulated session; LG_ERR_ARGUMENT, also for a negative time.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_simulate_pass(lg_session *session, int64_t milliseconds);

/** Close a simulated session; lg_stop() does the same with it. The handles of the session and of
 *  its launches stay valid, and every call with them does nothing. NULL and a real session are
 *  ignored.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API void lg_simulate_close(lg_session *session);

LG_END

#endif
