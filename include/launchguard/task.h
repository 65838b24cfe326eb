/** Custody: the tasks of a launch, which LaunchGuard holds, runs in order, and can hold back.
 *
 *  A task is held → running → done or failed, or it is left out. They run one after the other in the order of registration. While one runs its key is
 *  in the run file, so that the next start knows which task a crash came in. A task that two crashes in a row came in is *suspect*: the first rung of the
 *  ladder, which is built in, leaves out just that task for one launch.
 *
 *  While the launch is held the tasks that have not run yet wait, and each of them gets its protect action, if it has one: what keeps the program useful
 *  meanwhile, a notice on the screen for example. After the repair they run, all of them in order or one by one by key.
 */
#ifndef LAUNCHGUARD_TASK_H
#define LAUNCHGUARD_TASK_H

#include <launchguard/launch.h>

/** Most tasks of one context. */
#define LG_TASKS_MAX 64

/** Kinds of tasks, bits of lg_task.flags. */
#define LG_TASK_ESSENTIAL 1u /**< never left out; when it fails the tasks behind it are not run */
#define LG_TASK_SUSPECT 2u   /**< one crash is enough to make it suspect */
#define LG_TASK_UNSAFE 4u    /**< not run in safe mode */
#define LG_TASK_REPLACE 8u   /**< takes the place of a task with the same key that has not run yet */

/** Where a task is. */
typedef enum lg_task_state {
    LG_TASK_HELD = 0,    /**< it has not run yet */
    LG_TASK_RUNNING = 1,
    LG_TASK_DONE = 2,
    LG_TASK_FAILED = 3,
    LG_TASK_LEFT_OUT = 4 /**< unsafe in safe mode, or suspect, or behind an essential task that failed */
} lg_task_state;

/** A healthy-world callback: one after the other, in the order of registration, once.
 *  @return LG_OK, or an error: the launch goes on but for LG_TASK_ESSENTIAL; the failure is in the log. */
typedef lg_status (*lg_task_callback)(void *user);

/** A healthy-world callback: when the launch becomes held and the task has not run yet, in the order of registration. It may take its time: repairs wait for it, at
 *  most until the hold's deadline. */
typedef void (*lg_protect_callback)(void *user);

/** A healthy-world callback: a life-cycle event reaches the task. @param event  the text given to lg_launch_signal(); valid during the call only. */
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

#define LG_TASK_INIT { (uint32_t)sizeof(lg_task), 0, NULL, NULL, NULL, NULL, NULL }

LG_BEGIN

/** Add a launch task: before lg_launch_begin(), or as long as the tasks have not all run; it then comes last.
 *
 *  @param task  copied, its key too.
 *  @return LG_OK; LG_ERR_OPTION; LG_ERR_DUPLICATE, unless LG_TASK_REPLACE is set; LG_ERR_LIMIT (LG_TASKS_MAX); LG_ERR_STATE when the tasks have all run, or the one to be
 *          replaced has; LG_ERR_ARGUMENT.
 *
 *  Threads: safe, tasks may call it.  Signals: unsafe.  After fork: has no effect on the parent.  Allocates: yes.
 *  Durable: nothing is stored; while a task runs its key is in the run file.
 */
LG_API lg_status lg_launch_add_task(lg_launch *launch, const lg_task *task);

/** From now on held tasks run only by lg_launch_replay(), one by one: for a program that wants to bring itself up again bit by bit after a repair. Before begin.
 *
 *  The launch does not wait for them longer than the hold's deadline; then it runs what is left.
 *
 *  @return LG_OK; LG_ERR_STATE after begin; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_replay_by_key(lg_launch *launch);

/** Let a task that is still held after a repair run. Tasks let go meanwhile run in the order of these calls.
 *
 *  @param key  of the task; NULL: all that are left, in the order of registration.
 *  @return LG_OK, also when it has run; LG_ERR_NOT_FOUND; LG_ERR_STATE while a repair is needed or runs, before begin, and without lg_launch_replay_by_key(); LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_replay(lg_launch *launch, const char *key);

/** Tell the tasks of a life-cycle event, for example "became-active" or "entered-background". A task that has run gets it at once, on the calling thread; one that has
 *  not gets the last one as soon as it has; one that was left out or failed gets none.
 *
 *  @param key    of one task; NULL: all, in the order of registration.
 *  @param event  1 to LG_NAME_MAX bytes; copied.
 *  @return LG_OK; LG_ERR_NOT_FOUND; LG_ERR_OPTION; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_launch_signal(lg_launch *launch, const char *key, const char *event);

/** Where a task is.
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
