/** Launches of any program and runs of this one, read from the ledger; the caller needs no launch.
 *
 *  lg_launch_query(), lg_launch_reset() and lg_witness_finished() are for supervisors, tools and
 *  operators: they need no session. lg_reports_untold() is for a program that asks by itself,
 *  because it has no on_report.
 */
#ifndef LAUNCHGUARD_QUERY_H
#define LAUNCHGUARD_QUERY_H

#include <launchguard/launch.h>

/** A healthy-world callback of lg_reports_untold(). The report is valid during the call only. */
typedef void (*lg_report_visitor)(const lg_report *report, void *user);

LG_BEGIN

/** The status of any program's context, without a launch and without any change. For a living
 *  program the status is the present one. For an ended program it is the status of the next launch
 *  if that launch began now, with the end of the last run taken into account.
 *
 *  The forecast uses the repairs of the program's last launch, and its thresholds where the asker
 *  has none. The real launch may differ through facts that only the program knows: a new version or
 *  build resets the context, options and repairs may be others, a task may have become essential,
 *  on_decide may decide otherwise. A program that has called lg_stop() counts as ended.
 *
 *  @param state_directory  of the program; see lg_state_directory().
 *  @param context          name.
 *  @param options          the asker's thresholds, from LG_LAUNCH_OPTIONS_INIT; callbacks, waits
 *                          and `hold` are not used. NULL: those of the program's last launch.
 *  @param ret_info         with its size set; untouched on failure.
 *  @return LG_OK; LG_ERR_NOT_FOUND: no ledger there, or no such context in it; LG_ERR_OPTION;
 *          LG_ERR_DAMAGED; LG_ERR_NEWER; LG_ERR_PERMISSION; LG_ERR_LINK; LG_ERR_SYSTEM (errno);
 *          LG_ERR_STATE: a run file stands in the place of the ledger; LG_ERR_UNSUPPORTED: this is
 *          not Linux; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored; opens files for reading only.
 */
LG_API lg_status lg_launch_query(const char *state_directory, const char *context, const lg_launch_options *options,
                                 lg_launch_info *ret_info);

/** Forget the trouble of a context: its streak, ladder, safe mode and suspects, and the end of its
 *  last run. The totals and the timeline stay. For a supervisor or an operator who has repaired the
 *  program from outside, while the program does not run. A program that starts during the call
 *  counts no launches in that run.
 *
 *  @param state_directory  of the program; see lg_state_directory().
 *  @param context          name; NULL: all contexts.
 *  @return LG_OK; LG_ERR_NOT_FOUND: no ledger there, or no such context in it; LG_ERR_SECONDARY: a
 *          process with this ledger lives, which may be the caller; LG_ERR_ALREADY: other processes
 *          keep replacing the ledger; LG_ERR_DAMAGED; LG_ERR_NEWER; LG_ERR_PERMISSION;
 *          LG_ERR_LINK; LG_ERR_OWNER; LG_ERR_NOT_DIRECTORY; LG_ERR_READ_ONLY;
 *          LG_ERR_UNSUPPORTED: this is not Linux;
 *          LG_ERR_NO_SPACE; LG_ERR_LIMIT; LG_ERR_SYSTEM (errno); LG_ERR_STATE: a run file stands in
 *          the place of the ledger; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_launch_reset(const char *state_directory, const char *context);

/** Mark the launch of another process, a child for example, as finished: a supervisor has seen that
 *  the program works. The mark is that of lg_launch_finished(). The process itself calls on_status
 *  with its next call about the launch, and not before.
 *
 *  @param state_directory  of the program, as lg_session_state_directory() returns it there.
 *  @param pid              of the process; the call uses its newest run.
 *  @param context          name of the launch's context.
 *  @return LG_OK, also when the launch is finished already; LG_ERR_NOT_FOUND: no run of this pid
 *          there, or no such launch in it; LG_ERR_STATE: the launch is held, only time finishes
 *          it, or the process has ended; LG_ERR_DAMAGED; LG_ERR_NEWER;
 *          LG_ERR_PERMISSION; LG_ERR_READ_ONLY; LG_ERR_LINK; LG_ERR_OWNER: the file belongs to
 *          another user than its directory, or to another user than the caller, who is not root;
 *          LG_ERR_SYSTEM (errno); LG_ERR_UNSUPPORTED: this is not Linux; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: survives both processes at once.
 */
LG_API lg_status lg_witness_finished(const char *state_directory, int32_t pid, const char *context);

/** List the runs that ended badly and that the program has not learned of: no on_report received
 *  the run, and no lg_report_told() named it. A bad end is a crash, a hang, an exit with a status
 *  other than 0, an end by SIGKILL or for lack of memory, or an unknown end. The list holds only
 *  runs that are still in the timeline, which has the last 16 of the primary process. The call is
 *  for a program that asks by itself, for example one without a launch.
 *
 *  @param visit  called for each run on this thread, oldest first, before the call returns.
 *  @param user   handed to visit.
 *  @return LG_OK, also where there is none; LG_ERR_SECONDARY: another process counts;
 *          LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED; LG_ERR_ARGUMENT; LG_ERR_SYSTEM: no
 *          memory.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reports_untold(lg_session *session, lg_report_visitor visit, void *user);

/** Mark a run as known to the program: lg_reports_untold() no longer lists it. on_report still
 *  receives the run.
 *
 *  @param ordinal  lg_report.ordinal.
 *  @return LG_OK, also when the run was marked before; LG_ERR_NOT_FOUND: not in the timeline; else
 *          as lg_reports_untold().
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_report_told(lg_session *session, uint64_t ordinal);

LG_END

#endif
