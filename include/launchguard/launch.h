/** Launch protection: streaks of launch crashes, report, repair, tasks.
 *
 *  A launch begins with lg_launch_begin() and lasts until it is *finished*: by the program's own mark, by time, by either or
 *  by both. A crash before that is a launch crash and adds one to the streak of its context. At the next start the streak
 *  decides: from `report_after` on, on_report is called (once for each new value); from `repair_after` on, the launch is held and the repairs are
 *  tried, the least disruptive first; then the launch goes on in the same process.
 *
 *  The count survives because it lives in the ledger, outside of what a repair may delete, and because it is taken from
 *  evidence at the next start: a user who quits early is not counted as a crash, a process that was killed is not forgotten.
 *
 *  Callbacks run on threads of LaunchGuard (report, repair, status) or on the thread that calls lg_launch_begin() (tasks). They
 *  may call every function of the library but lg_launch_begin() and lg_stop().
 */
#ifndef LAUNCHGUARD_LAUNCH_H
#define LAUNCHGUARD_LAUNCH_H

#include <launchguard/end.h>
#include <launchguard/session.h>

/** An independent launch with its own thresholds, callbacks and counters. Valid until the process ends. */
typedef struct lg_launch lg_launch;

/** The answer that a callback owes. Valid until the process ends; answering twice or late is harmless and has no effect. */
typedef struct lg_completion lg_completion;

/** Most contexts in one application. */
#define LG_CONTEXTS_MAX 16
/** Most repairs of one context. */
#define LG_REPAIRS_MAX 16
/** Most tasks of one context. */
#define LG_TASKS_MAX 64

/** The public states of a launch. */
typedef enum lg_launch_status {
    /** Not begun, or finished: nothing to worry about. */
    LG_LAUNCH_NORMAL = 0,
    /** Under way; a crash now is a launch crash. */
    LG_LAUNCH_CHECKING = 1,
    /** Held: the streak asks for a repair that has not started yet. */
    LG_LAUNCH_NEEDS_REPAIR = 2,
    /** Held: a repair runs. */
    LG_LAUNCH_REPAIRING = 3
} lg_launch_status;

/** What finishes a launch. */
typedef enum lg_finish {
    /** lg_launch_finished() or the window, whichever comes first. */
    LG_FINISH_EITHER = 0,
    /** Only lg_launch_finished(). */
    LG_FINISH_MARK = 1,
    /** Only the window. */
    LG_FINISH_TIME = 2,
    /** lg_launch_finished() and the window, whichever comes last. */
    LG_FINISH_BOTH = 3
} lg_finish;

/** One ended run, as on_report gets it. Its file stays where it is until it is old; lg_reader_open() reads it. */
typedef struct lg_report {
    /** Path of the run file. */
    const char *path;
    /** The run's UUID in text form, 36 characters. */
    const char *uuid;
    /** Number of the run in its state directory, from 1. */
    uint64_t ordinal;
    /** How it ended. */
    lg_end end;
    /** Signal number for LG_END_CRASH and LG_END_TERMINATED, else 0. */
    int32_t signal;
} lg_report;

/** What on_report is told. Borrowed: valid during the call only. */
typedef struct lg_report_batch {
    /** Name of the launch's context. */
    const char *context;
    /** Consecutive launch crashes. */
    uint32_t streak;
    /** How many runs `reports` has; may be less than the streak when files are gone. */
    uint32_t report_count;
    /** The runs since the last report that counted, oldest first. */
    const lg_report *reports;
} lg_report_batch;

/** A healthy-world callback: on a thread of LaunchGuard, once for each new value of the streak, before anything else of the launch
 *  runs. The launch waits for lg_complete(done, …) at most `report_wait_ms`; `done` may be answered later, from any thread. */
typedef void (*lg_report_callback)(const lg_report_batch *batch, lg_completion *done, void *user);

/** A healthy-world callback: on a thread of LaunchGuard, once an attempt. It, or anybody it hands `done` to, must answer with
 *  lg_complete(done, LG_OK) or with an error; no answer within `timeout_ms` is a failed attempt. */
typedef void (*lg_repair_callback)(lg_completion *done, void *user);

/** A healthy-world callback: on the thread that called lg_launch_begin(), in the order of registration.
 *  @return LG_OK, or an error: the launch goes on, the failure is in the log. */
typedef lg_status (*lg_task_callback)(void *user);

/** A healthy-world callback: after each change of the status, in order, on the thread that made the change or on one of LaunchGuard's. */
typedef void (*lg_status_callback)(lg_launch *launch, lg_launch_status status, void *user);

/** Options of a launch. LG_LAUNCH_OPTIONS_INIT sets the defaults; a zero threshold is refused, not replaced. */
typedef struct lg_launch_options {
    /** sizeof(lg_launch_options); LG_LAUNCH_OPTIONS_INIT sets it. */
    uint32_t size;
    /** Launch crashes in a row from which on_report is called; at least 1. Default 1. */
    uint32_t report_after;
    /** Launch crashes in a row from which repairs are tried; at least 1. Default 2. */
    uint32_t repair_after;
    /** Unexplained early deaths (no crash record, no mark) from which repairs are tried; 0 = never. Default
     *  LG_UNKNOWN_AFTER_DEFAULT: twice repair_after. */
    uint32_t unknown_after;
    /** After how many milliseconds a launch is finished by time; 0 = only by mark. At most 86400000. Default 5000. On
     *  CLOCK_MONOTONIC: time asleep does not count, nor does time in which the launch was held. */
    int64_t window_ms;
    /** What finishes the launch. Default LG_FINISH_EITHER. */
    lg_finish finish;
    /** How long the launch waits for on_report's answer, in milliseconds; at most 5000. Default 2000. */
    uint32_t report_wait_ms;
    /** May be NULL. */
    lg_report_callback on_report;
    /** May be NULL. */
    lg_status_callback on_status;
    /** Handed to on_report and on_status. */
    void *user;
} lg_launch_options;

/** Stands for "twice repair_after". */
#define LG_UNKNOWN_AFTER_DEFAULT UINT32_MAX

#define LG_LAUNCH_OPTIONS_INIT \
    { (uint32_t)sizeof(lg_launch_options), 1, 2, LG_UNKNOWN_AFTER_DEFAULT, 5000, LG_FINISH_EITHER, 2000, NULL, NULL, NULL }

/** One rung of the ladder. */
typedef struct lg_repair {
    /** sizeof(lg_repair); LG_REPAIR_INIT sets it. */
    uint32_t size;
    /** How disruptive it is, 0 to 100; the least disruptive is tried first, equal ones in order of registration. */
    uint32_t impact;
    /** 1 to LG_NAME_MAX bytes, unique in its context. Copied. */
    const char *name;
    /** Time for one attempt in milliseconds, 1 to 86400000; 0 = 30000. */
    uint32_t timeout_ms;
    /** How often it is tried before the next rung, at most 100; 0 = 2. */
    uint32_t attempts;
    /** Required. */
    lg_repair_callback run;
    /** Handed to run. */
    void *user;
} lg_repair;

#define LG_REPAIR_INIT { (uint32_t)sizeof(lg_repair), 0, NULL, 0, 0, NULL, NULL }

/** One launch task. */
typedef struct lg_task {
    /** sizeof(lg_task); LG_TASK_INIT sets it. */
    uint32_t size;
    /** 0. */
    uint32_t reserved;
    /** 1 to LG_NAME_MAX bytes, unique in its context. Copied. */
    const char *key;
    /** Required. */
    lg_task_callback run;
    /** Handed to run. */
    void *user;
} lg_task;

#define LG_TASK_INIT { (uint32_t)sizeof(lg_task), 0, NULL, NULL, NULL }

LG_BEGIN

/** Make the launch of one context. Nothing is counted before lg_launch_begin().
 *
 *  @param session     from lg_start(), also from a failed one.
 *  @param context     name, 1 to LG_NAME_MAX bytes; copied.
 *  @param options     borrowed during the call; NULL = LG_LAUNCH_OPTIONS_INIT.
 *  @param ret_launch  always set to a handle that every other call accepts; on failure to one that is unprotected: its tasks
 *                     run, its repairs do not, nothing is counted.
 *  @return LG_OK; LG_ERR_OPTION: nonsense (an empty name, a threshold of 0, a negative window), lg_session_message() names
 *          it; LG_ERR_DUPLICATE: the context has a launch in this process (*ret_launch is that one); LG_ERR_LIMIT; LG_ERR_ARGUMENT;
 *          LG_ERR_SECONDARY, LG_ERR_UNPROTECTED, LG_ERR_CLOSED, LG_ERR_FORKED: as the session.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: unprotected.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_prepare(lg_session *session, const char *context, const lg_launch_options *options,
                                   lg_launch **ret_launch);

/** Add a repair, before lg_launch_begin().
 *
 *  @param repair  copied, its name too.
 *  @return LG_OK; LG_ERR_OPTION; LG_ERR_DUPLICATE; LG_ERR_LIMIT (LG_REPAIRS_MAX); LG_ERR_STATE after begin; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: has no effect on the parent.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_add_repair(lg_launch *launch, const lg_repair *repair);

/** Add a launch task, before lg_launch_begin(). It is held while a report or a repair runs.
 *
 *  @param task  copied, its key too.
 *  @return LG_OK; LG_ERR_OPTION; LG_ERR_DUPLICATE; LG_ERR_LIMIT (LG_TASKS_MAX); LG_ERR_STATE after begin; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: has no effect on the parent.  Allocates: yes.
 *  Durable: nothing is stored; while a task runs its key is in the run file, so that the next start knows which one crashed.
 */
LG_API lg_status lg_launch_add_task(lg_launch *launch, const lg_task *task);

/** Begin the launch: decide by the streak, report, repair, then run the tasks. Returns when the tasks have run; the launch is
 *  then still to be finished.
 *
 *  A healthy launch goes straight to its tasks. Otherwise the call waits for on_report (at most report_wait_ms) and for the
 *  repairs (each attempt at most its timeout). When no repair is left the launch goes on all the same.
 *
 *  @return LG_OK, whatever the repairs and tasks did; LG_ERR_STATE when begun before; LG_ERR_ARGUMENT.
 *
 *  Threads: safe, once a launch.  Signals: unsafe.  After fork: only runs the tasks.  Allocates: yes.
 *  Durable: every decision is stored before its callback is called.
 */
LG_API lg_status lg_launch_begin(lg_launch *launch);

/** Mark the launch as finished. Does so at once, or with LG_FINISH_BOTH after the window; has no effect with LG_FINISH_TIME.
 *
 *  @return LG_OK, also when finished before; LG_ERR_STATE before the launch is begun or while it is held; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_launch_finished(lg_launch *launch);

/** The status now.
 *
 *  Threads: safe.  Signals: safe.  After fork: the value at the fork.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_launch_status lg_launch_get_status(const lg_launch *launch);

/** Consecutive launch crashes of this context before this run; 0 for an unprotected launch.
 *
 *  Threads: safe.  Signals: safe.  After fork: the value at the fork.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API uint32_t lg_launch_streak(const lg_launch *launch);

/** Answer a report or repair callback. The first answer counts; one after the timeout does not.
 *
 *  @param done     from the callback; NULL is ignored.
 *  @param outcome  LG_OK: repaired (or reported); anything else: it failed.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: the outcome is stored before lg_launch_begin() goes on.
 */
LG_API void lg_complete(lg_completion *done, lg_status outcome);

/** Name of a launch status: "normal", "checking", "needs-repair", "repairing"; "invalid" for any other value.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_launch_status_name(lg_launch_status status);

LG_END

#endif
