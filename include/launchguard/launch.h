/** Launch protection: streaks of launch crashes, report, repair, safe mode.
 *
 *  A launch begins with lg_launch_begin() and lasts until it is *finished*: by the program's own mark, by time, by either or
 *  by both. A crash before that is a launch crash and adds one to the streak of its context. At the next start the streak
 *  decides: from `report_after` on, on_report is called (once for each new value); from `repair_after` on, the launch is held and the repairs are
 *  tried, the least disruptive first; then the launch goes on in the same process. When no repair is left it goes on in safe mode, and after some
 *  good launches in safe mode the normal one is tried again. docs/LAUNCH.md has every rule as a row of a table.
 *
 *  The count survives because it lives in the ledger, outside of what a repair may delete, and because it is taken from
 *  evidence at the next start: a user who quits early is not counted as a crash, a process that was killed is not forgotten.
 *
 *  Callbacks run where `callbacks` says; they may call every function of the library but lg_launch_begin(), which is refused there, lg_launch_wait() for
 *  their own launch, and lg_stop(), after which nothing of the launch goes on.
 *  The tasks of a launch are in <launchguard/task.h>.
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

/** The public states of a launch. */
typedef enum lg_launch_status {
    /** Not begun, or finished: nothing to worry about. */
    LG_LAUNCH_NORMAL = 0,
    /** Under way; a crash now is a launch crash. */
    LG_LAUNCH_CHECKING = 1,
    /** Held: a repair is needed and waits to be started, or nothing is left to try (lg_launch_info.halted). */
    LG_LAUNCH_NEEDS_REPAIR = 2,
    /** Held: a repair runs. */
    LG_LAUNCH_REPAIRING = 3
} lg_launch_status;

/** What kind of launch it is. */
typedef enum lg_launch_mode {
    LG_LAUNCH_MODE_NORMAL = 0,
    /** The first one after a successful repair: one crash climbs the ladder at once. */
    LG_LAUNCH_MODE_PROBATION = 1,
    /** Safe mode: without the tasks that are unsafe or suspect. */
    LG_LAUNCH_MODE_SAFE = 2,
    /** The periodic try of the normal launch, to leave safe mode. */
    LG_LAUNCH_MODE_TRIAL = 3
} lg_launch_mode;

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

/** A healthy-world callback: once for each new value of the streak, before anything else of the launch runs. The launch waits for
 *  lg_complete(done, …) at most `report_wait_ms`; `done` may be answered later, from any thread. Not called again in a row of launches in
 *  which it was the last thing that happened twice. */
typedef void (*lg_report_callback)(const lg_report_batch *batch, lg_completion *done, void *user);

/** A healthy-world callback: once an attempt. It, or anybody it hands `done` to, must answer with
 *  lg_complete(done, LG_OK) or with an error; no answer within `timeout_ms` is a failed attempt. */
typedef void (*lg_repair_callback)(lg_completion *done, void *user);

/** A healthy-world callback: repairs and safe mode did not help, the launch is halted. The place to restore the factory state, to put up a notice or to tell
 *  the supervisor to stop trying. The launch waits for lg_complete(done, …) at most `report_wait_ms`, then makes one try in safe mode; where
 *  `supervised` is set only after lg_launch_try_safe(). */
typedef void (*lg_give_up_callback)(lg_launch *launch, lg_completion *done, void *user);

/** A healthy-world callback: after each change of the status, in order, on the thread that made the change or on one of LaunchGuard's. */
typedef void (*lg_status_callback)(lg_launch *launch, lg_launch_status status, void *user);

/** Runs work of LaunchGuard where the program wants it: calls work(argument) once, now or later, on a thread of its choice, for example on its main
 *  loop. Work that it does not run in time counts as a callback that hangs; run later, or again, it does nothing. Where the thread that calls
 *  lg_launch_begin() is the one that runs it later, LG_HOLD_CUSTODY is needed: otherwise that call waits for it. */
typedef void (*lg_executor)(void (*work)(void *argument), void *argument, void *user);

/** Where the callbacks run. */
typedef enum lg_callbacks {
    /** Report, repairs, protect actions and give-up on threads of LaunchGuard, so that one that hangs costs its time and no more; the tasks on the thread that
     *  calls lg_launch_begin(), or on one of LaunchGuard's where that call did not wait. */
    LG_CALLBACKS_LIBRARY = 0,
    /** All on the thread that calls lg_launch_begin(). One that hangs there hangs the program. Only with LG_HOLD_BLOCK. */
    LG_CALLBACKS_CALLER = 1,
    /** All through `executor`. */
    LG_CALLBACKS_EXECUTOR = 2
} lg_callbacks;

/** What lg_launch_begin() does while the launch is held. */
typedef enum lg_hold {
    /** It returns when the tasks have run. */
    LG_HOLD_BLOCK = 0,
    /** It returns as soon as the launch is held, or on_report is to be called; the tasks stay in custody and run later, on a thread of LaunchGuard or through `executor`.
     *  A launch that need not be held runs them before it returns, but for LG_CALLBACKS_EXECUTOR. */
    LG_HOLD_CUSTODY = 1,
    /** Nothing is held: the tasks run at once, after on_report, and a repair runs beside them. */
    LG_HOLD_NONE = 2
} lg_hold;

/** What counts as a launch crash, bits of `count`. Unexplained early deaths have a counter of their own, `unknown_after`. */
#define LG_COUNT_CRASH 1u   /**< a crash other than by SIGPIPE */
#define LG_COUNT_HANG 2u    /**< a hang */
#define LG_COUNT_OOM 4u     /**< ended by the kernel for lack of memory */
#define LG_COUNT_EXIT 8u    /**< exit with a status other than 0 */
#define LG_COUNT_SIGPIPE 16u /**< a crash by SIGPIPE */
#define LG_COUNT_DEFAULT (LG_COUNT_CRASH | LG_COUNT_HANG | LG_COUNT_OOM)

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
     *  CLOCK_MONOTONIC: time asleep, stopped or held does not count; after lg_launch_protect() it begins anew. */
    int64_t window_ms;
    /** What finishes the launch. Default LG_FINISH_EITHER. */
    lg_finish finish;
    /** How long the launch waits for the answer of on_report and of on_give_up, in milliseconds; at most 5000. Default 2000. */
    uint32_t report_wait_ms;
    /** LG_COUNT_*. Default LG_COUNT_DEFAULT. */
    uint32_t count;
    /** A streak whose last crash is this long ago, in this boot, is forgotten; 0 = never. Default 21600000 (6 h). */
    int64_t streak_gap_ms;
    /** With this above 0 time finishes a launch only while lg_heartbeat() is called at least this often, in milliseconds, and a launch without it for that long is
     *  marked as hanging until the next. Between lg_heartbeat_pause() and the next one nobody waits for it. Default 0: off. */
    uint32_t heartbeat_ms;
    /** What lg_launch_begin() does while the launch is held. Default LG_HOLD_BLOCK. */
    lg_hold hold;
    /** After so many milliseconds of waiting for consent or lg_launch_try_safe() a held launch goes on in safe mode: no screen is stuck for ever. Protect actions use up the
     *  same time, and are not waited for beyond it. The time of repairs is bounded by their own timeouts and does not count. 1 to 86400000. Default 120000. */
    uint32_t hold_ms;
    /** 1: repairs start by themselves. 0: each waits for lg_launch_repair(). Default 1. */
    uint32_t auto_repair;
    /** Finished launches in safe mode before the normal one is tried again; doubled, to at most 64, with every try that fails. 1 to 64. Default 2. */
    uint32_t safe_retry_runs;
    /** Crashes in a row in safe mode from which the launch is halted; 0 = never. Default 2. */
    uint32_t safe_crash_limit;
    /** After so many finished launches since a repair the ladder starts at its foot again; until then it goes on where it was. 0 = never. Default 3. */
    uint32_t deescalate_runs;
    /** The same after so much time in one boot; 0 = never. Default 86400000 (24 h). */
    int64_t deescalate_ms;
    /** 1: this start was made by a supervisor and not by a person: a halted launch stays halted until lg_launch_try_safe() or `hold_ms`. Default 0. */
    uint32_t supervised;
    /** 1: decide, count and report, but hold and repair nothing; the log says what would have been done. Default 0. */
    uint32_t shadow;
    /** Name of an environment variable that turns the launch into an unprotected one when it is set and neither empty nor "0"; not looked at in setuid programs. Copied
     *  at lg_launch_prepare(). NULL: none. */
    const char *kill_switch;
    /** File names of modules that are this context's own, ended by NULL, for example "libplayer.so": a crash in one of them counts for the contexts that own it only. The
     *  names have room for 239 bytes together. Borrowed during lg_launch_prepare(). NULL: none. */
    const char *const *modules;
    /** Where the callbacks run. Default LG_CALLBACKS_LIBRARY. */
    lg_callbacks callbacks;
    /** With LG_CALLBACKS_EXECUTOR; else NULL. */
    lg_executor executor;
    /** May be NULL. */
    lg_report_callback on_report;
    /** May be NULL. */
    lg_give_up_callback on_give_up;
    /** May be NULL. */
    lg_status_callback on_status;
    /** Handed to executor, on_report, on_give_up and on_status. */
    void *user;
} lg_launch_options;

/** Stands for "twice repair_after". */
#define LG_UNKNOWN_AFTER_DEFAULT UINT32_MAX

#define LG_LAUNCH_OPTIONS_INIT                                                                                                             \
    { (uint32_t)sizeof(lg_launch_options), 1, 2, LG_UNKNOWN_AFTER_DEFAULT, 5000, LG_FINISH_EITHER, 2000, LG_COUNT_DEFAULT, 21600000, 0,     \
      LG_HOLD_BLOCK, 120000, 1, 2, 2, 3, 86400000, 0, 0, NULL, NULL, LG_CALLBACKS_LIBRARY, NULL, NULL, NULL, NULL, NULL }

/** Kinds of repairs, bits of lg_repair.flags. */
#define LG_REPAIR_DESTRUCTIVE 1u   /**< it loses something: a new series of attempts at most once in 24 h */
#define LG_REPAIR_CONSENT 2u       /**< it waits for lg_launch_repair() also with auto_repair */
#define LG_REPAIR_NEEDS_RESTART 4u /**< when it has succeeded the program has to be started again: lg_launch_begin() returns LG_ERR_RESTART */

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
    /** LG_REPAIR_*, or 0. */
    uint32_t flags;
    /** 0. */
    uint32_t reserved;
    /** Required. */
    lg_repair_callback run;
    /** Handed to run. */
    void *user;
} lg_repair;

#define LG_REPAIR_INIT { (uint32_t)sizeof(lg_repair), 0, NULL, 0, 0, 0, 0, NULL, NULL }

/** A context as the ledger has it, and what follows from it. */
typedef struct lg_launch_info {
    char name[64];
    lg_launch_status status;   /**< now, of a living program; else what the next launch would be */
    lg_launch_mode mode;
    uint32_t halted;           /**< 1: safe mode crashed too; the launch waits, or makes one more try */
    uint32_t due;              /**< 1: a repair is needed whatever the streak */
    uint32_t shadow;           /**< 1: the last launch only decided, and did nothing */
    uint32_t streak;           /**< consecutive launch crashes */
    uint32_t unknown;          /**< unexplained early deaths since the last finished launch */
    uint32_t reported;         /**< the streak that was reported last */
    uint32_t rung;             /**< next rung of the ladder, from 0; rung 0 is built in and leaves out a suspect task */
    uint32_t rung_count;       /**< with the built-in one */
    uint32_t attempts;         /**< attempts used on it */
    uint32_t interruptions;    /**< of these attempts, ended by the user or the machine */
    uint32_t skips;            /**< how often the repair was put off */
    uint32_t good_runs;        /**< finished launches in safe mode in a row */
    uint32_t retry_runs;       /**< how many of them it takes until the normal launch is tried again */
    uint32_t safe_crashes;     /**< crashes in safe mode in a row */
    uint32_t report_after, repair_after, unknown_after, safe_crash_limit;
    uint32_t suspect_count;
    uint64_t launches, crashes, repairs; /**< totals since the ledger was made */
    char last_task[64];        /**< key of the task that the last counted crash came in; "" for none */
} lg_launch_info;

LG_BEGIN

/** Make the launch of one context. Nothing is counted before lg_launch_begin().
 *
 *  @param session     from lg_start(), also from a failed one.
 *  @param context     name, 1 to LG_NAME_MAX bytes; copied.
 *  @param options     borrowed during the call; NULL = LG_LAUNCH_OPTIONS_INIT.
 *  @param ret_launch  always set to a handle that every other call accepts; on failure to one that is unprotected: its tasks
 *                     run, its repairs do not, nothing is counted.
 *  @return LG_OK; LG_ERR_OPTION: nonsense (an empty name, a threshold of 0, a negative window), lg_session_message() names
 *          it; LG_ERR_DUPLICATE: the context has a launch in this process (*ret_launch is that one); LG_ERR_LIMIT: LG_CONTEXTS_MAX
 *          contexts are in use in this process or have something to remember, a streak for example; LG_ERR_ARGUMENT;
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

/** Begin the launch: decide by the streak, report, repair, then run the tasks. Returns when the tasks have run; the launch is
 *  then still to be finished.
 *
 *  A healthy launch goes straight to its tasks. Otherwise the call waits for on_report (at most report_wait_ms) and for the
 *  repairs (each attempt at most its timeout; consent at most hold_ms). When no repair is left the launch goes on in safe mode. With LG_HOLD_CUSTODY
 *  and LG_HOLD_NONE it does not wait for repairs: lg_launch_wait() does.
 *
 *  @return LG_OK, whatever the repairs and ordinary tasks did; LG_ERR_FAILED: an essential task failed, those behind it were not run; LG_ERR_RESTART: a repair succeeded
 *          that asks for a restart, and no task was run: exit, or execute the program again; LG_ERR_CLOSED: the end was announced or the session stopped meanwhile, the
 *          tasks that are left were not run; LG_ERR_STATE when begun before; LG_ERR_ARGUMENT.
 *
 *  Threads: safe, once a launch.  Signals: unsafe.  After fork: only runs the tasks.  Allocates: yes.
 *  Durable: every decision is stored before its callback is called.
 */
LG_API lg_status lg_launch_begin(lg_launch *launch);

/** Wait until the launch is no longer held and its tasks have run.
 *
 *  @param timeout_ms  at most so long; UINT32_MAX: without end.
 *  @return as lg_launch_begin() with LG_HOLD_BLOCK; LG_ERR_TIMEOUT; LG_ERR_STATE before begin; LG_ERR_ARGUMENT.
 *
 *  Threads: safe; not from a callback of this launch.  Signals: unsafe.  After fork: returns at once.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_wait(lg_launch *launch, uint32_t timeout_ms);

/** Start the repair that a held launch waits with: the user said yes. That covers its other attempts in this launch and the rungs behind it, but for those with LG_REPAIR_CONSENT.
 *
 *  @return LG_OK, also when a repair runs already; LG_ERR_STATE when no repair is needed; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: the attempt is stored before it begins.
 */
LG_API lg_status lg_launch_repair(lg_launch *launch);

/** The repair that a held launch waits with is not wanted: go to the next rung. @return as lg_launch_repair(), LG_ERR_STATE also while a repair runs.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: stored before the launch goes on.
 */
LG_API lg_status lg_launch_refuse(lg_launch *launch);

/** Not now: launch normally for this time. After two skips in a row the launch goes on in safe mode instead. @return as lg_launch_refuse().
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: stored before the launch goes on.
 */
LG_API lg_status lg_launch_skip(lg_launch *launch);

/** Make one try in safe mode of a launch that is halted. @return LG_OK; LG_ERR_STATE when it is not halted; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: stored before the launch goes on.
 */
LG_API lg_status lg_launch_try_safe(lg_launch *launch);

/** Something is wrong: hold the tasks that have not run yet, repair, and go on. For a program that notices before it crashes.
 *
 *  The task that runs is let finish. An earlier lg_launch_finished() that still waited for the window counts no more. In safe mode it has no effect: there is nothing left to try.
 *
 *  @param reason  UTF-8, goes into the log; may be NULL.
 *  @return LG_OK, also when the launch is held already; LG_ERR_STATE before begin and when the launch is finished; LG_ERR_ARGUMENT.
 *
 *  Threads: safe, tasks may call it.  Signals: unsafe.  After fork: does nothing.  Allocates: yes.
 *  Durable: stored before the call returns.
 */
LG_API lg_status lg_launch_protect(lg_launch *launch, const char *reason);

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

/** All that is known of the context now.
 *
 *  @param ret_info  untouched on failure.
 *  @return LG_OK; LG_ERR_UNPROTECTED for an unprotected launch; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: as at the fork.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_get_info(const lg_launch *launch, lg_launch_info *ret_info);

/** The status of any program's context, without a launch and without changing anything: of a living one as it is now, else what its next launch would be if it
 *  began now, the end of its last run taken into account.
 *
 *  That is foreseen with the thresholds and repairs of its last launch. What only the program itself knows may make it come out otherwise: a new version or build resets the
 *  context, other options and repairs may be given, a task may be essential now. A program that has called lg_stop() counts as ended.
 *
 *  @param state_directory  of the program; see lg_state_directory().
 *  @param context          name.
 *  @param ret_info         untouched on failure.
 *  @return LG_OK; LG_ERR_NOT_FOUND: no ledger there, or no such context in it; LG_ERR_DAMAGED; LG_ERR_NEWER; LG_ERR_OLDER; LG_ERR_PERMISSION; LG_ERR_LINK; LG_ERR_SYSTEM (errno);
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored; opens files for reading only.
 */
LG_API lg_status lg_launch_query(const char *state_directory, const char *context, lg_launch_info *ret_info);

/** Answer a report, repair or give-up callback. The first answer counts; one after the timeout does not.
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

/** Name of a mode: "normal", "probation", "safe", "trial"; "invalid" for any other value.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_launch_mode_name(lg_launch_mode mode);

LG_END

#endif
