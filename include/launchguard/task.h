/** Custody: the tasks of a launch, which LaunchGuard holds, runs in order, and can hold back.
 *
 *  A task is held → running → done or failed, or it is left out. The tasks run one after the other
 *  in the order of registration. While a task runs, its key is in the run file, so that the next
 *  start knows in which task a crash happened. A task in which two crashes in a row happened is
 *  *suspect*. The first rung of the ladder, which is built in, leaves out just that task for one
 *  launch.
 *
 *  While the launch is held, the tasks that have not run yet wait. Each of them gets its protect
 *  action, if it has one: work that keeps the program useful meanwhile, a notice on the screen for
 *  example. After the repair they run, all of them in order or one by one by key.
 */
#ifndef LAUNCHGUARD_TASK_H
#define LAUNCHGUARD_TASK_H

#include <launchguard/launch.h>

/** Most tasks of one context. */
#define LG_TASKS_MAX 64

/** Kinds of tasks, bits of lg_task.flags. */
/** left out by lg_launch_leave_out() only; when the task fails, the tasks after it do not run */
#define LG_TASK_ESSENTIAL 1u
#define LG_TASK_SUSPECT 2u   /**< one crash makes the task suspect */
#define LG_TASK_UNSAFE 4u    /**< not run in safe mode */
/** takes the place of a task with the same key that has not run yet; with LG_TASK_LATE also of one
 *  that runs, which then runs once more, or has run, but not of an essential one that runs or has
 *  failed */
#define LG_TASK_REPLACE 8u
/** after a hold the task waits for lg_launch_replay() */
#define LG_TASK_BY_KEY 16u
/** may be added when all tasks have run, and then runs at once; see lg_launch_add_task() */
#define LG_TASK_LATE 32u

/** State of a task. */
typedef enum lg_task_state {
    LG_TASK_HELD = 0,    /**< not run yet */
    LG_TASK_RUNNING = 1,
    LG_TASK_DONE = 2,
    LG_TASK_FAILED = 3,
    /** unsafe in safe mode, or suspect, or after an essential task that failed, or left out by
     *  lg_launch_leave_out() */
    LG_TASK_LEFT_OUT = 4
} lg_task_state;

/** A healthy-world callback. The tasks run one after the other in the order of registration, each
 *  once.
 *
 *  @return LG_OK, or an error. After an error the launch goes on, unless the task is
 *          LG_TASK_ESSENTIAL; the failure is in the log. */
typedef lg_status (*lg_task_callback)(void *user);

/** A healthy-world callback. Called when the launch becomes held and the task has not run yet, in
 *  the order of registration. The callback may take its time: repairs wait for it, at most until
 *  the hold's deadline.
 *
 *  The callback of a task that is added while the launch is held, also while a repair runs, is
 *  called at once, where the others are called: on a thread of LaunchGuard of its own or through
 *  the executor, and with LG_CALLBACKS_CALLER as soon as the thread of lg_launch_begin() is free.
 *  lg_launch_add_task() does not wait for it, nor do repairs.
 *
 *  In each hold the callback is called once for each task. */
typedef void (*lg_protect_callback)(void *user);

/** A healthy-world callback. Called when a life-cycle event reaches the task.
 *
 *  @param event  the text given to lg_launch_signal(); valid during the call only. */
typedef void (*lg_event_callback)(const char *event, void *user);

/** One launch task. */
typedef struct lg_task {
    /** sizeof(lg_task); LG_TASK_INIT sets it. */
    uint32_t size;
    /** LG_TASK_*, or 0. */
    uint32_t flags;
    /** 1 to LG_NAME_MAX bytes, unique in its context. Copied. */
    const char *key;
    /** Required. */
    lg_task_callback run;
    /** May be NULL. */
    lg_protect_callback protect;
    /** May be NULL. */
    lg_event_callback on_event;
    /** Handed to run, protect and on_event. */
    void *user;
} lg_task;

#ifdef __cplusplus
#define LG_TASK_INIT lg_sized<lg_task>()
#else
#define LG_TASK_INIT { .size = (uint32_t)sizeof(lg_task) }
#endif

LG_BEGIN

/** Add a launch task: before lg_launch_begin(), or as long as some task has not run; a task that is
 *  added then comes last.
 *
 *  When all tasks have run, a task is refused, unless it has LG_TASK_LATE. Such a task runs at
 *  once: on the calling thread before the call returns, with LG_CALLBACKS_EXECUTOR through the
 *  executor, and where a task runs on another thread, there and after it. It waits for no key, and
 *  lg_launch_wait() does not wait for it. A crash in it is a launch crash with its key, unless the
 *  launch is finished by then. A task that safe mode leaves out stays left out when the launch is
 *  finished. A task that is added after lg_launch_protect() is held like any other.
 *
 *  @param task  copied, with its key.
 *  @return LG_OK, whatever a late task did: lg_launch_task_state() says it; LG_ERR_OPTION;
 *          LG_ERR_DUPLICATE, unless LG_TASK_REPLACE is set; LG_ERR_LIMIT (LG_TASKS_MAX);
 *          LG_ERR_STATE when the task to be replaced has run, or all have run: with LG_TASK_LATE
 *          only where an essential one failed, the end was announced, or the session was stopped;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe, tasks may call it.  Signals: unsafe.  After fork: has no effect on the parent.
 *  Allocates: yes.
 *  Durable: nothing is stored; while a task runs its key is in the run file.
 */
LG_API lg_status lg_launch_add_task(lg_launch *launch, const lg_task *task);

/** Leave out a task, as the configuration of the program says. In its turn the task becomes
 *  LG_TASK_LEFT_OUT. It gets no protect action. A breadcrumb and LG_EVENT_OMITTED in the timeline
 *  distinguish it from a task that LaunchGuard left out. The ledger's facts about the task's
 *  crashes stay as they are.
 *
 *  The call holds for an essential task, too; the tasks after it run. There is no way to take the
 *  call back.
 *
 *  @param key  of a task, or of one that is added later.
 *  @return LG_OK, also when the task is left out already; LG_ERR_STATE when it runs or has run;
 *          LG_ERR_OPTION: not a key; LG_ERR_LIMIT: LG_TASKS_MAX keys are left out;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe, tasks may call it.  Signals: unsafe.  After fork: has no effect on the parent.
 *  Allocates: no.
 *  Durable: the event is stored when the task's turn comes.
 */
LG_API lg_status lg_launch_leave_out(lg_launch *launch, const char *key);

/** Run all held tasks only by lg_launch_replay(), one by one: for a program that wants to start
 *  itself again step by step after a repair. Call it before begin. LG_TASK_BY_KEY is the same for
 *  single tasks.
 *
 *  After a hold, the tasks that wait for no key run first, by themselves and in the order of
 *  registration, also where a task that waits for its key was registered before them. The others
 *  follow in the order of the calls of lg_launch_replay(). The launch waits for these calls until
 *  the hold's deadline at most; then it runs the remaining tasks. A launch that was not held waits
 *  for no key.
 *
 *  @return LG_OK; LG_ERR_STATE after begin; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_replay_by_key(lg_launch *launch);

/** Let a task run that waits for its key after a repair. Several such tasks run in the order of
 *  these calls.
 *
 *  @param key  of the task; NULL: all that wait for their keys, in the order of registration.
 *  @return LG_OK, also when the task has run; LG_ERR_NOT_FOUND; LG_ERR_STATE while a repair is
 *          needed or runs, before begin, and for a task that waits for no key, or NULL where there
 *          is no other; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_replay(lg_launch *launch, const char *key);

/** Send a life-cycle event to the tasks, for example "became-active" or "entered-background". A
 *  task that has run gets the event at once, on the calling thread. A task that has not run gets
 *  the last event as soon as it has run. A task that was left out or failed gets none.
 *
 *  @param key    of one task; NULL: all, in the order of registration.
 *  @param event  1 to LG_NAME_MAX bytes; copied.
 *  @return LG_OK; LG_ERR_NOT_FOUND; LG_ERR_OPTION; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_signal(lg_launch *launch, const char *key, const char *event);

/** The state of a task.
 *
 *  @param ret_state  untouched on failure.
 *  @return LG_OK; LG_ERR_NOT_FOUND; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: as at the fork.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_task_state(const lg_launch *launch, const char *key, lg_task_state *ret_state);

LG_END

#endif
