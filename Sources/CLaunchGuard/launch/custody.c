/* Runs the tasks in order, one at a time, and a late one after all others. The run file names the
 * task that runs. */
#include <stdio.h>

#include "capture/capture.h"
#include "launch/internal.h"
#include "launch/suspects.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "store/given.h"

static bool left_out(const struct lg__life *life, const struct lg__ledger_context *context, const struct lg__task *task)
{
    if (strcmp(task->key, life->left_out) == 0)
        return true;
    return life->safe && ((task->flags & LG_TASK_UNSAFE) || lg__tasks_is_suspect(context, task));
}

/* ---- running them ---- */

/* Run a task; the run file names it meanwhile. */
static lg_status run_task(struct lg__life *life, uint32_t index)
{
    lg_launch *launch = life->launch;
    pthread_mutex_lock(&launch->lock);
    bool goes_on = lg__life_current(life);
    struct lg__task task = launch->tasks[index];
    if (goes_on) {
        memcpy(launch->state->task, task.key, sizeof launch->state->task);
        atomic_store(&launch->owner->task_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
        atomic_store(&launch->owner->task_tid, lg__os_tid());
        LG_FAULT_POINT("run: task");
        /* the one store by which a task is known to run */
        atomic_store(&launch->state->task_set, 1);
        LG_FAULT_POINT("run: task set");
    }
    pthread_mutex_unlock(&launch->lock);
    if (!goes_on)
        return LG_ERR_CLOSED;
    lg_status status = task.run(task.user);
    pthread_mutex_lock(&launch->lock);
    if (lg__life_current(life)) {
        atomic_store(&launch->state->task_set, 0);
        LG_FAULT_POINT("run: task over");
        atomic_store(&launch->owner->task_tid, 0);
    }
    pthread_mutex_unlock(&launch->lock);
    return status;
}

/* The last event that came before the task had run. */
static void deliver_event(lg_launch *launch, struct lg__task *task)
{
    char event[LG__NAME_BYTES];
    pthread_mutex_lock(&launch->lock);
    const bool has_run = task->state != LG_TASK_HELD; /* and is not to run anew */
    memcpy(event, task->event, sizeof event);
    event[0] = has_run ? event[0] : 0;
    task->event[0] = has_run ? 0 : task->event[0];
    lg_event_callback on_event = task->state == LG_TASK_DONE ? task->on_event : NULL;
    void *user = task->user;
    pthread_mutex_unlock(&launch->lock);
    if (event[0] && on_event)
        on_event(event, user);
}

/* After a hold the task waits for lg_launch_replay(). */
static bool is_by_key(const lg_launch *launch, const struct lg__task *task)
{
    return (launch->by_key || task->flags & LG_TASK_BY_KEY) && !lg__tasks_omits(launch, task->key);
}

/* The task to run next, left out or not; NULL: none. Those that wait for no key come first.
 * *ret_any: some tasks are left. Under the launch's lock. */
static struct lg__task *pick_task(const struct lg__life *life, bool *ret_any)
{
    lg_launch *launch = life->launch;
    struct lg__task *released = NULL;
    bool after_hold = life->was_held && life->hold_left_ns > 0;
    *ret_any = false;
    for (uint32_t i = 0; i < launch->task_count; i++) {
        struct lg__task *task = &launch->tasks[i];
        if (task->state != LG_TASK_HELD)
            continue;
        *ret_any = true;
        if (!after_hold || !is_by_key(launch, task))
            return task;
        if (task->released && (!released || task->released < released->released))
            released = task;
    }
    return released;
}

/* The turn of a task that the program leaves out, or a hint. */
static void note_omitted(struct lg__life *life, const char *key)
{
    lg_launch *launch = life->launch;
    const bool hinted = strcmp(launch->hinted, key) == 0;
    LG__WITH_CONTEXT(life, context) {
        context->events |= hinted ? LG_EVENT_HINT_LEAVE_OUT : LG_EVENT_OMITTED;
        /* a launch without the task says nothing about it */
        lg__suspects_leave_out(context, key);
    }
    lg__host_log(launch->host, LG_LEVEL_NOTICE, "launch %s: task \"%s\" is left out by %s", launch->name, key,
                 hinted ? "a hint of the vendor" : "the program's configuration");
}

static bool essential_failed(const lg_launch *launch)
{
    for (uint32_t i = 0; i < launch->task_count; i++)
        if (launch->tasks[i].state == LG_TASK_FAILED && (launch->tasks[i].flags & LG_TASK_ESSENTIAL))
            return true;
    return false;
}

/* No task begins. Under the launch's lock. */
static bool is_held(const lg_launch *launch)
{
    lg_phase phase = lg__launch_phase(launch);
    return launch->options.hold != LG_HOLD_NONE && (phase == LG_PHASE_HELD || phase == LG_PHASE_REPAIRING || phase == LG_PHASE_HALTED);
}

/* The next task that may run. `waits`: where all that are left wait for their keys, waits for a
 * release, at most for the rest of the hold's time; where another thread runs a task, for its end.
 * Returns as lg__custody_run(), and sets *ret_task where there is a task. */
static lg_status next_task(struct lg__life *life, bool waits, struct lg__task **ret_task)
{
    lg_launch *launch = life->launch;
    lg_status status = LG_OK;
    *ret_task = NULL;
    pthread_mutex_lock(&launch->lock);
    while (!*ret_task) {
        lg_phase phase = lg__launch_phase(launch);
        if (!lg__life_current(life) || phase == LG_PHASE_TERMINATING) {
            bool stopped = atomic_load(&launch->host->closed) || atomic_load(&launch->host->run.state->ended);
            status = lg__life_current(life) && !stopped ? LG_ERR_INTERRUPTED : LG_ERR_CLOSED;
            break;
        }
        if (is_held(launch)) {
            status = LG_ERR_STATE;
            break;
        }
        bool any;
        struct lg__task *next = pick_task(life, &any);
        struct lg__ledger_context context;
        lg__launch_look(launch, &context);
        life->safe = life->safe || context.mode == LG_LAUNCH_MODE_SAFE;
        if (lg__launch_has_task(launch, LG_TASK_RUNNING)) {
            /* its thread goes on with the next one, and this thread waits only where it has to */
            if (!waits)
                break;
            pthread_cond_wait(&launch->changed, &launch->lock);
            continue;
        }
        if (!any) {
            /* here and not later: a task that is added from now on would be lost */
            life->done = true;
            status = essential_failed(launch) ? LG_ERR_FAILED : LG_OK;
            break;
        }
        if (next && lg__tasks_omits(launch, next->key)) {
            char key[LG__NAME_BYTES];
            memcpy(key, next->key, sizeof key);
            next->state = LG_TASK_LEFT_OUT;
            pthread_mutex_unlock(&launch->lock);
            note_omitted(life, key);
            pthread_mutex_lock(&launch->lock);
        } else if (next && left_out(life, &context, next)) {
            next->state = LG_TASK_LEFT_OUT;
            lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: task \"%s\" is left out", launch->name, next->key);
        } else if (next) {
            next->state = LG_TASK_RUNNING;
            *ret_task = next;
        } else if (!waits) {
            break;
        } else {
            uint64_t begun = lg__os_clock_ns(CLOCK_MONOTONIC), end = begun + life->hold_left_ns;
            struct timespec until = { (time_t)(end / 1000000000u), (long)(end % 1000000000u) };
            atomic_store(&launch->window.idle, true);
            pthread_cond_timedwait(&launch->changed, &launch->lock, &until);
            if (lg__life_current(life))
                atomic_store(&launch->window.idle, false);
            lg__launch_spend_hold(life, lg__os_clock_ns(CLOCK_MONOTONIC) - begun);
            if (lg__life_current(life) && life->hold_left_ns == 0)
                lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: not all tasks were replayed in time; the rest run now", launch->name);
        }
    }
    pthread_mutex_unlock(&launch->lock);
    return status;
}

/* False: the run is over. */
static bool note_outcome(struct lg__life *life, struct lg__task *task, lg_task_state state)
{
    lg_launch *launch = life->launch;
    pthread_mutex_lock(&launch->lock);
    bool goes_on = lg__life_current(life);
    /* One that runs anew was not essential, whatever it is now. */
    const bool fails = goes_on && state == LG_TASK_FAILED && !task->again && task->flags & LG_TASK_ESSENTIAL;
    if (goes_on) {
        task->state = task->again ? LG_TASK_HELD : state;
        task->again = false;
    }
    for (uint32_t i = 0; fails && i < launch->task_count; i++)
        if (launch->tasks[i].state == LG_TASK_HELD)
            launch->tasks[i].state = LG_TASK_LEFT_OUT;
    pthread_cond_broadcast(&launch->changed);
    pthread_mutex_unlock(&launch->lock);
    return goes_on;
}

/* `waits`: for tasks of another thread, and for keys. */
static lg_status run_tasks(struct lg__life *life, bool waits)
{
    lg_launch *launch = life->launch;
    for (;;) {
        struct lg__task *task;
        lg_status status = next_task(life, waits, &task);
        lg__host_hand_over(launch->host);
        if (!task) {
            lg__confirm_tasks(life);
            return status;
        }
        enum lg__answer answer = lg__callback_run(life, run_task, (uint32_t)(task - launch->tasks), true, LG__NO_TIMEOUT);
        if (answer == LG__ANSWER_FAILED)
            lg__host_log(launch->host, LG_LEVEL_ERROR, "launch %s: task \"%s\" failed", launch->name, task->key);
        if (note_outcome(life, task, answer == LG__ANSWER_OK ? LG_TASK_DONE : LG_TASK_FAILED))
            deliver_event(launch, task);
    }
}

lg_status lg__custody_run(struct lg__life *life)
{
    return run_tasks(life, true);
}

/* ---- adding ---- */

static void *run_on_thread(void *life)
{
    lg__capture_own_begin();
    run_tasks(life, false);
    lg__capture_own_end();
    return NULL;
}

/* A task that was added when all had run. The executor's thread may be this one. */
static void run_late(struct lg__life *life)
{
    bool leaves = life->launch->options.callbacks == LG_CALLBACKS_EXECUTOR;
    if (!leaves || !lg__callback_detach(run_on_thread, life, false))
        run_tasks(life, false);
}

/* All tasks have run, and this late one may still be added. Under the launch's lock. */
static bool takes_late(const struct lg__life *life, const lg_task *task)
{
    const lg_launch *launch = life->launch;
    return task->flags & LG_TASK_LATE && !essential_failed(launch) && lg__launch_phase(launch) != LG_PHASE_TERMINATING &&
           !(launch->counts && atomic_load(&launch->host->closed));
}

/* The task of that key has not run, or may run anew. */
static bool runs_anew(const struct lg__task *old, const lg_task *task)
{
    const bool decides = old->flags & LG_TASK_ESSENTIAL && (old->state == LG_TASK_RUNNING || old->state == LG_TASK_FAILED);
    return old->state == LG_TASK_HELD || (task->flags & LG_TASK_LATE && !decides);
}

lg_status lg_launch_add_task(lg_launch *launch, const lg_task *given)
{
    lg_task own = LG_TASK_INIT;
    const lg_task *const task = &own;
    if (!launch || !given)
        return LG_ERR_ARGUMENT;
    if (!lg__given_take(&lg__given_task, &own, given, NULL))
        return LG_ERR_OPTION;
    if (!task->run)
        return LG_ERR_ARGUMENT;
    if (!lg__tasks_good_key(task->key) || ((task->flags & LG_TASK_ESSENTIAL) && (task->flags & (LG_TASK_SUSPECT | LG_TASK_UNSAFE))))
        return LG_ERR_OPTION;
    pthread_mutex_lock(&launch->lock);
    struct lg__life *life = launch->life;
    struct lg__task *to = lg__tasks_find(launch, task->key);
    bool protect = false, late = life && life->done, runs = late && !lg__launch_has_task(launch, LG_TASK_RUNNING);
    lg_status status = late && !takes_late(life, task) ? LG_ERR_STATE : LG_OK;
    if (status == LG_OK && to && !(task->flags & LG_TASK_REPLACE))
        status = LG_ERR_DUPLICATE;
    else if (status == LG_OK && to && !runs_anew(to, task))
        status = LG_ERR_STATE;
    else if (status == LG_OK && !to && launch->task_count == LG_TASKS_MAX)
        status = LG_ERR_LIMIT;
    if (status == LG_OK) {
        if (!to) {
            to = &launch->tasks[launch->task_count++]; /* all zero: held */
            /* stays as it is: a thread that runs the task reads it without the lock */
            snprintf(to->key, sizeof to->key, "%s", task->key);
        }
        to->again = to->state == LG_TASK_RUNNING;
        to->state = to->again ? LG_TASK_RUNNING : LG_TASK_HELD;
        to->released = to->protected_in = 0;
        to->event[0] = 0;
        to->flags = task->flags;
        to->run = task->run;
        to->protect = task->protect;
        to->on_event = task->on_event;
        to->user = task->user;
        if (late && !is_held(launch))
            to->released = ++life->releases;
        protect = life && lg__protect_is_due(life, to) && launch->options.callbacks != LG_CALLBACKS_CALLER;
        pthread_cond_broadcast(&launch->changed);
    }
    pthread_mutex_unlock(&launch->lock);
    if (protect)
        lg__callback_start(life, lg__protect_task, (uint32_t)(to - launch->tasks));
    if (status == LG_OK && runs)
        run_late(life);
    return status;
}
