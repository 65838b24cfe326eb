/** Launch protection: streaks of launch crashes, report, repair, safe mode.
 *
 *  A launch begins with lg_launch_begin() and lasts until it is *finished*: by the program's own
 *  mark, by time, by either or by both. A crash before that is a launch crash and adds one to the
 *  streak of its context. The streak decides at the next start. From `report_after` on, on_report
 *  is called, once for each new value. From `repair_after` on, the launch is held and the repairs
 *  are tried, the least disruptive first. The launch then goes on in the same process. When no
 *  repair is left, the launch goes on in safe mode. After some good launches in safe mode, the
 *  normal launch is tried again. docs/LAUNCH.md has every rule as a row of a table.
 *
 *  With the usual thresholds, start by start: the first start crashes; the second one reports, and
 *  crashes; the third one reports and is held. An ordinary task in which both crashes happened is
 *  then left out for this launch; two more crashes when it is back lead to the first repair. Where
 *  the task is essential, or there is none, the first repair runs in the third start, and the same
 *  process goes on. A crash in that launch leads to the next repair in the fourth one.
 *
 *  The count survives for two reasons. It is in the ledger, outside of what a repair may delete. It
 *  is derived from evidence at the next start: a user who quits early does not count as a crash,
 *  and a process that was killed is not forgotten.
 *
 *  Callbacks run where `callbacks` says. A callback may call every function of the library with
 *  three exceptions: lg_launch_begin() is refused there, lg_launch_wait() must not wait for the
 *  launch of the callback, and after lg_stop() nothing of the launch goes on. The tasks of a launch
 *  are in <launchguard/task.h>, its repairs in <launchguard/repair.h>.
 */
#ifndef LAUNCHGUARD_LAUNCH_H
#define LAUNCHGUARD_LAUNCH_H

#include <launchguard/completion.h>
#include <launchguard/end.h>
#include <launchguard/record.h>
#include <launchguard/session.h>

/** An independent launch with its own thresholds, callbacks and counters. Valid until the process
 *  ends. */
typedef struct lg_launch lg_launch;

/** Most contexts in one application. */
#define LG_CONTEXTS_MAX 16

/** The public states of a launch. */
typedef enum lg_launch_status {
    /** Not begun, or finished: nothing to do. */
    LG_LAUNCH_NORMAL = 0,
    /** Under way; a crash now is a launch crash. */
    LG_LAUNCH_CHECKING = 1,
    /** Held: a repair is needed and waits to be started, or nothing is left to try
     *  (lg_launch_info.halted). */
    LG_LAUNCH_NEEDS_REPAIR = 2,
    /** Held: a repair runs. */
    LG_LAUNCH_REPAIRING = 3
} lg_launch_status;

/** The same states with "not begun" and "finished" apart; docs/LAUNCH.md has both in one table. */
typedef enum lg_launch_state {
    /** Not begun. */
    LG_LAUNCH_STATE_IDLE = 0,
    /** LG_LAUNCH_CHECKING. */
    LG_LAUNCH_STATE_LAUNCHING = 1,
    /** LG_LAUNCH_NEEDS_REPAIR. */
    LG_LAUNCH_STATE_AWAITING_REPAIR = 2,
    /** LG_LAUNCH_REPAIRING. */
    LG_LAUNCH_STATE_REPAIRING = 3,
    /** Finished, or over since its end was announced. */
    LG_LAUNCH_STATE_FINISHED = 4
} lg_launch_state;

/** The kind of a launch. */
typedef enum lg_launch_mode {
    LG_LAUNCH_MODE_NORMAL = 0,
    /** The first launch after a successful repair: one crash climbs the ladder at once. */
    LG_LAUNCH_MODE_PROBATION = 1,
    /** Safe mode: the tasks that are unsafe or suspect are left out. */
    LG_LAUNCH_MODE_SAFE = 2,
    /** The periodic trial of the normal launch, to leave safe mode. */
    LG_LAUNCH_MODE_TRIAL = 3
} lg_launch_mode;

/** The condition that finishes a launch. */
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

/** A context as the ledger stores it, and what follows from it. */
typedef struct lg_launch_info {
    /** sizeof(lg_launch_info) of the program, before the call; LG_LAUNCH_INFO_INIT sets it. The
     *  library fills in what both know. */
    uint32_t size;
    char name[64];
    lg_launch_status status;   /**< of a living program: now; else of its next launch */
    lg_launch_mode mode;
    /** 1: safe mode crashed too; the launch waits, or makes one more try */
    uint32_t halted;
    uint32_t due;              /**< 1: a repair is needed whatever the streak */
    uint32_t shadow;           /**< 1: the last launch only decided, and changed nothing */
    uint32_t streak;           /**< consecutive launch crashes */
    uint32_t unknown;          /**< unexplained early deaths since the last finished launch */
    uint32_t reported;         /**< `ends` at the last report */
    /** next rung of the ladder, from 0; rung 0 is built in and leaves out a suspect task */
    uint32_t rung;
    uint32_t rung_count;       /**< built-in rung included */
    uint32_t attempts;         /**< attempts used on the rung */
    uint32_t interruptions;    /**< of these attempts: ended by the user or the machine */
    uint32_t skips;            /**< times that the repair was put off */
    uint32_t good_runs;        /**< finished launches of this time in safe mode */
    /** finished launches in safe mode that lead to a trial of the normal launch */
    uint32_t retry_runs;
    uint32_t safe_crashes;     /**< crashes in safe mode in a row */
    uint32_t report_after, repair_after, unknown_after, safe_crash_limit;
    uint32_t suspect_count;
    uint64_t launches, crashes, repairs; /**< totals since the ledger was made */
    /** key of the task in which the last end happened that counted, was unexplained or was a stop;
     *  "" for none */
    char last_task[64];
    uint32_t window_ms;        /**< of the last launch, as `finish`; 0: only the mark finishes it */
    lg_finish finish;
    uint32_t ends;             /**< counted ends since the last good launch */
    /** clean ends of launches under way, in a row; three are a good launch */
    uint32_t quits;
    uint32_t unsteady;         /**< counted ends within steady_ms after the launch, in a row */
    /** times in a row that the program was terminated in `last_task`; the third and later count */
    uint32_t stops;
    uint32_t events;           /**< LG_EVENT_* of the last launch; in on_decide, by the rule */
    lg_launch_state state;     /**< of the same launch as `status` */
} lg_launch_info;

#ifdef __cplusplus
#define LG_LAUNCH_INFO_INIT lg_sized<lg_launch_info>()
#else
#define LG_LAUNCH_INFO_INIT { .size = (uint32_t)sizeof(lg_launch_info) }
#endif

/** One ended run, as on_report receives it. The run file stays in its place until retention removes
 *  it; lg_reader_open() reads it. */
typedef struct lg_report {
    /** sizeof(lg_report) of the library that made it, which may be another version's: a member
     *  beyond it is not there. */
    uint32_t size;
    /** Signal number for LG_END_CRASH and LG_END_TERMINATED, else 0. */
    int32_t signal;
    /** Path of the run file. */
    const char *path;
    /** The run's UUID in text form, 36 characters. */
    const char *uuid;
    /** Number of the run in its state directory, from 1. */
    uint64_t ordinal;
    /** End of the run. */
    lg_end end;
    /** 1: a launch of the context was under way; 0: none was, or it was finished. */
    uint32_t in_launch;
    /** Kind of a crash; LG_CRASH_OTHER for any other end. */
    lg_crash_kind kind;
    /** 1: the run before it that ended badly has the same fingerprint; 0: another one, or its file
     *  is gone. */
    uint32_t same_as_before;
    /** As lg_reader_fingerprint_of(); "": the file is gone, or damaged. */
    char fingerprint[33];
    /** As lg_reader_place(); "": not known. */
    char place[LG_PLACE_BYTES];
} lg_report;

/** The argument of on_report. Borrowed: valid during the call only. */
typedef struct lg_report_batch {
    /** Name of the launch's context. */
    const char *context;
    /** Consecutive launch crashes; 0 where only unexplained deaths or ends after a launch are
     *  reported. */
    uint32_t streak;
    /** Number of runs in `reports`; may be less than the streak when files are gone, and more with
     *  unexplained deaths and with ends after a launch. */
    uint32_t report_count;
    /** The runs since the last report that counted, oldest first. */
    const lg_report *const *reports;
} lg_report_batch;

/** The course of a launch whose repair neither answers nor ends. */
typedef enum lg_overrun {
    /** The launch goes on in safe mode. Its tasks run beside the repair. */
    LG_OVERRUN_SAFE = 0,
    /** The next attempt begins beside the repair that runs on. */
    LG_OVERRUN_GO_ON = 1
} lg_overrun;

/** The course of a launch that begins. */
typedef enum lg_decision {
    /** As docs/LAUNCH.md says. */
    LG_DECISION_BY_RULE = 0,
    /** Nothing is held and nothing repaired; the tasks run, in safe mode without the unsafe ones.
     *  The counters stay, so that the next start has the same question. */
    LG_DECISION_GO_ON = 1,
    /** The launch is held and repaired, as lg_launch_protect() does. By rule in safe mode, where
     *  nothing is left to try. */
    LG_DECISION_PROTECT = 2,
    /** The launch is held, also where there is no repair, and waits for lg_launch_repair(),
     *  lg_launch_refuse() or lg_launch_skip(), at most `hold_ms`. In safe mode by rule; a halted
     *  launch then waits for lg_launch_try_safe(). */
    LG_DECISION_HOLD = 3
} lg_decision;

/** A healthy-world callback. Called by lg_launch_begin() on its own thread, before anything of the
 *  launch is done, whatever `callbacks` says: answer at once. A launch in shadow ignores the
 *  answer. A death inside this callback counts as a launch crash. After two such deaths since the
 *  last finished launch or repair the rule decides, and the callback is not called. After two
 *  deaths of a launch that is held, the launch goes on in safe mode instead of being held.
 *
 *  @param info  the context as the rule would have it in this launch: `status` is
 *               LG_LAUNCH_NEEDS_REPAIR where the rule would hold the launch. Valid during the call
 *               only.
 *  @param last  the last run that ended badly, where there is trouble since the last good launch:
 *               a program can choose by the kind and the place of its crash. Valid during the call
 *               only; NULL: there is no trouble.
 *  @return the course; any other number is LG_DECISION_BY_RULE. */
typedef lg_decision (*lg_decide_callback)(const lg_launch_info *info, const lg_report *last, void *user);

/** A healthy-world callback. Called once for each new value of the streak, once where unexplained
 *  deaths reach `unknown_after`, and once after an end that `count` has and that came while no
 *  launch of the context was under way, before anything else of the launch runs. The launch waits
 *  for lg_complete(done, …) at most `report_wait_ms`. Any thread may answer `done`, also
 *  later. A call that has had no turn by then comes later in the same run, or at the next start:
 *  the runs count as reported from the moment of the call. After two deaths of the program inside
 *  this callback since the last finished launch, it is no longer called until a launch is
 *  finished. */
typedef void (*lg_report_callback)(const lg_report_batch *batch, lg_completion *done, void *user);

/** A healthy-world callback. Called when repairs and safe mode did not help and the launch is
 *  halted. The callback is the place to restore the factory state, to show a notice, or to ask the
 *  supervisor to stop trying. The launch waits for lg_complete(done, …) at most `report_wait_ms`,
 *  then makes one try in safe mode. Where `supervised` is set, it makes that try only after
 *  lg_launch_try_safe().
 *
 *  @param hold  for lg_launch_answer(). */
typedef void (*lg_give_up_callback)(lg_launch *launch, uint32_t hold, lg_completion *done, void *user);

/** The reason why a launch waits for an answer of the program. */
typedef enum lg_held_reason {
    /** A repair needs the consent of the program. */
    LG_HELD_CONSENT = 0,
    /** lg_launch_protect(), and nothing repairs by itself. */
    LG_HELD_PROTECTED = 1,
    /** LG_DECISION_HOLD. */
    LG_HELD_DECIDED = 2,
    /** A hint of the vendor, until another version. */
    LG_HELD_HINT = 3
} lg_held_reason;

/** A launch that waits for an answer. Borrowed: valid during the call only. */
typedef struct lg_held {
    /** sizeof(lg_held) of the library that made it, which may be another version's: a member beyond
     *  it is not there. */
    uint32_t size;
    /** For lg_launch_answer(). */
    uint32_t hold;
    lg_held_reason reason;
    /** Name of the repair that lg_launch_repair() would start; NULL: there is none. */
    const char *repair;
    /** Of lg_launch_protect(), cut to 255 bytes; NULL: none was given. */
    const char *text;
} lg_held;

/** A healthy-world callback. Called each time that a held launch begins to wait for an answer of
 *  the program, after its protect actions, and not where repairs start by themselves. on_give_up is
 *  called for a halted launch. The launch goes on in safe mode after `hold_ms`, unless an answer
 *  comes: lg_launch_answer() from this callback, or later from any thread. */
typedef void (*lg_hold_callback)(lg_launch *launch, const lg_held *held, void *user);

/** A healthy-world callback. Called after each change of the status, in order, on the thread that
 *  made the change or on a thread of LaunchGuard. */
typedef void (*lg_status_callback)(lg_launch *launch, lg_launch_status status, void *user);

/** Runs work of LaunchGuard where the program wants it. The executor must call work(argument) once,
 *  now or later, on a thread of its choice, for example on its main loop. Work that does not run in
 *  time counts as a callback that hangs. Work that runs after that, or a second time, does nothing.
 *  Where the thread that calls lg_launch_begin() is the thread that runs the work later,
 *  LG_HOLD_CUSTODY is needed: otherwise lg_launch_begin() waits for its own thread. */
typedef void (*lg_executor)(void (*work)(void *argument), void *argument, void *user);

/** The threads of the callbacks. */
typedef enum lg_callbacks {
    /** Report, repairs, protect actions and give-up run on threads of LaunchGuard, so that a
     *  callback that hangs costs no more than its time limit. The tasks run on the thread that
     *  calls lg_launch_begin(), or on a thread of LaunchGuard where that call did not wait. A
     *  process whose other threads have all ended ends when the callback returns. */
    LG_CALLBACKS_LIBRARY = 0,
    /** All run on the thread that calls lg_launch_begin(). A callback that hangs there hangs the
     *  program. Only with LG_HOLD_BLOCK. */
    LG_CALLBACKS_CALLER = 1,
    /** All run through `executor`. */
    LG_CALLBACKS_EXECUTOR = 2
} lg_callbacks;

/** The behaviour of lg_launch_begin() while the launch is held. */
typedef enum lg_hold {
    /** The call returns when the tasks have run. */
    LG_HOLD_BLOCK = 0,
    /** The call returns as soon as the launch is held, or before on_report is called. The tasks
     *  stay in custody and run later, on a thread of LaunchGuard or through `executor`. Where the
     *  launch need not be held, the call runs the tasks before it returns, except with
     *  LG_CALLBACKS_EXECUTOR. */
    LG_HOLD_CUSTODY = 1,
    /** Nothing is held: the tasks run at once, after on_report, and a repair runs beside them. */
    LG_HOLD_NONE = 2
} lg_hold;

/** The ends that count as a launch crash, bits of `count`. Unexplained early deaths have a counter
 *  of their own, `unknown_after`. */
#define LG_COUNT_CRASH 1u   /**< a crash other than by SIGPIPE */
#define LG_COUNT_HANG 2u    /**< a hang */
#define LG_COUNT_OOM 4u     /**< the kernel ended the program for lack of memory */
/** exit with a status other than 0, or a crash of kind LG_CRASH_TRAP_SWIFT_TOP_LEVEL */
#define LG_COUNT_EXIT 8u
#define LG_COUNT_SIGPIPE 16u /**< a crash by SIGPIPE */
#define LG_COUNT_DEFAULT (LG_COUNT_CRASH | LG_COUNT_HANG | LG_COUNT_OOM)

/** Options of a launch. LG_LAUNCH_OPTIONS_INIT sets the defaults; a zero threshold is refused, not
 *  replaced. */
typedef struct lg_launch_options {
    /** sizeof(lg_launch_options); LG_LAUNCH_OPTIONS_INIT sets it. */
    uint32_t size;
    /** Launch crashes in a row from which on_report is called; at least 1. Default 1. */
    uint32_t report_after;
    /** Launch crashes in a row from which repairs are tried; at least 1. Default 2. */
    uint32_t repair_after;
    /** Unexplained early deaths (no crash record, no mark) from which on_report is called and
     *  repairs are tried; 0 = never. Default LG_UNKNOWN_AFTER_DEFAULT: twice repair_after. */
    uint32_t unknown_after;
    /** Time in milliseconds after which the launch is finished; 0 = only by mark. At most 86400000.
     *  Default 5000. Measured on CLOCK_MONOTONIC. Time asleep, stopped or held does not count, nor
     *  does time in which the tasks that are left wait for lg_launch_replay(). The time begins anew
     *  after lg_launch_protect(). */
    int64_t window_ms;
    /** The condition that finishes the launch. Default LG_FINISH_EITHER. */
    lg_finish finish;
    /** Longest wait for the answer of on_report and of on_give_up, in milliseconds; at most 5000.
     *  Default 2000. */
    uint32_t report_wait_ms;
    /** The ends that count as a launch crash: LG_COUNT_*. Default LG_COUNT_DEFAULT. */
    uint32_t count;
    /** A counted end within this time after the launch was finished is one of a loop:
     *  `repair_after` of them in a row need a repair, as launch crashes do; 0 = never. In
     *  milliseconds. Default 60000. */
    int64_t steady_ms;
    /** Longest time between two calls of lg_heartbeat(), in milliseconds; 0 = off, at most
     *  86400000. Default 0. With this above 0, time finishes the launch only while lg_heartbeat()
     *  is called at least this often. A launch without a heartbeat for this long is marked as
     *  hanging until the next heartbeat. The time between lg_heartbeat_pause() and the next
     *  heartbeat does not count. */
    uint32_t heartbeat_ms;
    /** The behaviour of lg_launch_begin() while the launch is held. Default LG_HOLD_BLOCK. */
    lg_hold hold;
    /** Longest wait for consent or lg_launch_try_safe(), in milliseconds. A held launch then goes
     *  on in safe mode, so that no screen is stuck for ever. Protect actions use up the same time
     *  and are not waited for beyond it. The time of repairs does not count: their own timeouts
     *  bound it. 1 to 86400000. Default 120000. */
    uint32_t hold_ms;
    /** 1: repairs start by themselves. 0: each waits for lg_launch_repair(). Default 1. */
    uint32_t auto_repair;
    /** Longest wait for a repair that has not answered within its timeout, in milliseconds, at most
     *  86400000. The next attempt and the tasks wait meanwhile; by
     *  lg_completion_wanted() the repair sees that it is late. Default 10000. */
    uint32_t repair_grace_ms;
    /** The course when that wait is over, too, and the repair may run on: LG_OVERRUN_*. Default
     *  LG_OVERRUN_SAFE. */
    lg_overrun overrun;
    /** 1: where a task is suspect, the launch is first tried without it, before any repair. 0: the
     *  first repair takes the first turn. Safe mode leaves the task out all the same. Default 1. */
    uint32_t leave_out_suspects;
    /** Finished launches in safe mode before the normal launch is tried again. Each trial that
     *  fails doubles the number, to at most 8. 1 to 8. Default 2. */
    uint32_t safe_retry_runs;
    /** Crashes in a row in safe mode from which the launch is halted; 0 = never. Default 2. */
    uint32_t safe_crash_limit;
    /** Finished launches since a repair after which the ladder starts at its lowest rung again;
     *  until then it goes on at the rung it had reached. 0 = never. Default 3. */
    uint32_t deescalate_runs;
    /** Time since a repair, within one boot, after which the ladder starts at its lowest rung
     *  again; 0 = never. Default 86400000 (24 h). */
    int64_t deescalate_ms;
    /** 1: a supervisor and not a person made this start. A halted launch then stays halted until
     *  lg_launch_try_safe() or the end of `hold_ms`. Default 0. */
    uint32_t supervised;
    /** 1: decide, count and report, but hold and repair nothing; the log says what LaunchGuard
     *  would have done. Default 0. */
    uint32_t shadow;
    /** Name of an environment variable. The launch is unprotected when the variable is set and
     *  neither empty nor "0". A setuid program ignores the variable. Copied at lg_launch_prepare().
     *  NULL: none. */
    const char *kill_switch;
    /** File names of modules that belong to this context alone, ended by NULL, for example
     *  "libplayer.so". A crash in one of them counts only for the contexts that own the module. The
     *  names have room for 239 bytes together. Borrowed during lg_launch_prepare(). NULL: none. */
    const char *const *modules;
    /** The threads of the callbacks. Default LG_CALLBACKS_LIBRARY. */
    lg_callbacks callbacks;
    /** Required with LG_CALLBACKS_EXECUTOR; else NULL. */
    lg_executor executor;
    /** May be NULL. */
    lg_decide_callback on_decide;
    /** May be NULL. */
    lg_report_callback on_report;
    /** May be NULL. */
    lg_give_up_callback on_give_up;
    /** May be NULL. */
    lg_hold_callback on_hold;
    /** May be NULL. */
    lg_status_callback on_status;
    /** Handed to executor, on_decide, on_report, on_give_up, on_hold and on_status. */
    void *user;
} lg_launch_options;

/** Stands for "twice repair_after". */
#define LG_UNKNOWN_AFTER_DEFAULT UINT32_MAX

/** X(field, value): the defaults that are not zero. */
#define LG_LAUNCH_OPTIONS_TABLE(X)                                                                 \
    X(report_after, 1)                                                                             \
    X(repair_after, 2)                                                                             \
    X(unknown_after, LG_UNKNOWN_AFTER_DEFAULT)                                                     \
    X(window_ms, 5000)                                                                             \
    X(report_wait_ms, 2000)                                                                        \
    X(count, LG_COUNT_DEFAULT)                                                                     \
    X(steady_ms, 60000)                                                                            \
    X(hold_ms, 120000)                                                                             \
    X(repair_grace_ms, 10000)                                                                      \
    X(auto_repair, 1)                                                                              \
    X(leave_out_suspects, 1)                                                                       \
    X(safe_retry_runs, 2)                                                                          \
    X(safe_crash_limit, 2)                                                                         \
    X(deescalate_runs, 3)                                                                          \
    X(deescalate_ms, 86400000)

#ifdef __cplusplus
/** C++: what LG_LAUNCH_OPTIONS_INIT is. */
LG_CONSTEXPR lg_launch_options lg_launch_options_default()
{
    lg_launch_options options = lg_sized<lg_launch_options>();
#define LG_LAUNCH_OPTIONS_SET(field, value) options.field = value;
    LG_LAUNCH_OPTIONS_TABLE(LG_LAUNCH_OPTIONS_SET)
#undef LG_LAUNCH_OPTIONS_SET
    return options;
}
#define LG_LAUNCH_OPTIONS_INIT lg_launch_options_default()
#else
#define LG_LAUNCH_OPTIONS_SET(field, value) .field = value,
#define LG_LAUNCH_OPTIONS_INIT { .size = (uint32_t)sizeof(lg_launch_options), LG_LAUNCH_OPTIONS_TABLE(LG_LAUNCH_OPTIONS_SET) }
#endif

LG_BEGIN

/** Make the launch of one context. LaunchGuard counts nothing before lg_launch_begin().
 *
 *  @param session     from lg_start(), also from a failed one.
 *  @param context     name, 1 to LG_NAME_MAX bytes; copied.
 *  @param options     borrowed during the call; NULL = LG_LAUNCH_OPTIONS_INIT.
 *  @param ret_launch  always set to a handle that every other call accepts. On failure the handle
 *                     is unprotected: its tasks run, its repairs do not, and nothing is counted.
 *  @return LG_OK; LG_ERR_OPTION: an option makes no sense (an empty name, a threshold of 0, a
 *          negative window), and lg_session_message() names it; LG_ERR_DUPLICATE: the context has a
 *          launch in this process, and *ret_launch is that launch; LG_ERR_LIMIT: LG_CONTEXTS_MAX
 *          contexts are in use in this process or have something to remember, a streak for example;
 *          LG_ERR_SYSTEM: no memory; LG_ERR_ARGUMENT; LG_ERR_UNPROTECTED, LG_ERR_CLOSED,
 *          LG_ERR_FORKED: as the session; LG_ERR_SECONDARY: as the session, and lg_launch_begin()
 *          protects the launch if the other process has ended by then.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: unprotected.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_prepare(lg_session *session, const char *context, const lg_launch_options *options,
                                   lg_launch **ret_launch);

/** Begin the launch: decide by the streak, report, repair, then run the tasks. The call returns
 *  when the tasks have run. The launch is then not yet finished.
 *
 *  A healthy launch goes straight to its tasks. Otherwise the call waits for on_report (at most
 *  report_wait_ms) and for the repairs (each attempt at most its timeout; consent at most hold_ms).
 *  When no repair is left, the launch goes on in safe mode. With LG_HOLD_CUSTODY and LG_HOLD_NONE
 *  the call does not wait for repairs; lg_launch_wait() does.
 *
 *  The status is the outcome of the launch, and Swift's `Launch.Outcome` has the same words. None
 *  is a crash, and none counts as one: a program that ends after any of them, by exit() with
 *  whatever status, leaves the streak as it is, but where `count` has LG_COUNT_EXIT.
 *
 *  - LG_OK, Swift: launched. Whatever the repairs and ordinary tasks did.
 *  - LG_ERR_FAILED, failed: an essential task failed, and the tasks after it did not run.
 *  - LG_ERR_RESTART, restartNeeded: a repair succeeded that needs a restart, and no task ran: exit,
 *    or execute the program again.
 *  - LG_ERR_INTERRUPTED, interrupted: the end was announced, or SIGTERM or SIGINT came while the
 *    launch was held or halted, and LaunchGuard called the program's handler. The remaining tasks
 *    did not run.
 *  - LG_ERR_CLOSED, closed: the session was stopped. The remaining tasks did not run.
 *  - LG_ERR_TIMEOUT, timedOut: of lg_launch_wait() alone; the launch goes on.
 *  - LG_ERR_STATE, LG_ERR_SYSTEM, refused: begun before; no memory.
 *
 *  Swift's cancelled is missing: C has no caller that is cancelled.
 *
 *  @return one of them; LG_ERR_ARGUMENT.
 *
 *  Threads: safe, once a launch.  Signals: unsafe.  After fork: only runs the tasks.
 *  Allocates: yes.
 *  Durable: every decision is stored before its callback is called.
 */
LG_API lg_status lg_launch_begin(lg_launch *launch);

/** Wait until the launch is no longer held and its tasks have run.
 *
 *  @param timeout_ms  longest wait; UINT32_MAX: no limit.
 *  @return as lg_launch_begin() with LG_HOLD_BLOCK; LG_ERR_TIMEOUT; LG_ERR_STATE before begin;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe; not from a callback of this launch.  Signals: unsafe.
 *  After fork: returns at once.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_wait(lg_launch *launch, uint32_t timeout_ms);

/** Make one try in safe mode with a launch that is halted.
 *
 *  @return LG_OK; LG_ERR_STATE when the launch is not halted; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: stored before the launch goes on.
 */
LG_API lg_status lg_launch_try_safe(lg_launch *launch);

/** Hold the tasks that have not run yet, repair, and go on: for a program that notices a problem
 *  before it crashes. Called before lg_launch_begin(), and in on_decide, it holds the launch from
 *  its begin, before any task runs; another answer of on_decide than LG_DECISION_BY_RULE wins.
 *
 *  The task that runs now may finish. An earlier lg_launch_finished() that still waits for tasks
 *  or the window no longer counts. In safe mode the call has no effect, as nothing is left to try.
 *
 *  @param reason  UTF-8, goes into the log; may be NULL.
 *  @return LG_OK, also when the launch is held already; LG_ERR_STATE when the launch is finished;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe, tasks may call it.  Signals: unsafe.  After fork: does nothing.  Allocates: yes.
 *  Durable: stored before the call returns; before lg_launch_begin() nothing is stored.
 */
LG_API lg_status lg_launch_protect(lg_launch *launch, const char *reason);

/** Mark the launch as finished. The mark counts at once, or with LG_FINISH_BOTH after the window.
 *  The call has no effect with LG_FINISH_TIME.
 *
 *  The mark says nothing about tasks that have not begun. While tasks are held
 *  (<launchguard/task.h>), a mark is kept, and counts when all tasks have run; until then a crash
 *  is a launch crash. A task that runs holds up no mark, unless others are held after it: a main
 *  loop that is the last task may mark the launch. After lg_launch_protect() a kept mark no longer
 *  counts.
 *
 *  @return LG_OK, also when finished before or when the mark is kept; LG_ERR_STATE before the
 *          launch is begun or while it is held; LG_ERR_ARGUMENT.
 *
 *  Threads: safe, tasks may call it.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: a mark that counts survives the process at once.
 */
LG_API lg_status lg_launch_finished(lg_launch *launch);

/** The status of the launch now.
 *
 *  Threads: safe.  Signals: safe.  After fork: the value at the fork.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_launch_status lg_launch_get_status(const lg_launch *launch);

/** The state of the launch now.
 *
 *  Threads: safe.  Signals: safe.  After fork: the value at the fork.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_launch_state lg_launch_get_state(const lg_launch *launch);

/** Consecutive launch crashes of this context before this run; 0 for an unprotected launch.
 *
 *  Threads: safe.  Signals: safe.  After fork: the value at the fork.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API uint32_t lg_launch_streak(const lg_launch *launch);

/** All that is known of the context now.
 *
 *  @param ret_info  with its size set; untouched on failure.
 *  @return LG_OK; LG_ERR_UNPROTECTED for an unprotected launch; LG_ERR_ARGUMENT, also for a size
 *          that is not set.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: as at the fork.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_get_info(const lg_launch *launch, lg_launch_info *ret_info);

/** Name of a launch status: "normal", "checking", "needs-repair", "repairing"; "invalid" for any
 *  other value.
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
