/* The tasks of a launch: in order, one at a time, each known while it runs. */
#include <stdio.h>
#include <stdlib.h>

#include "launch/internal.h"
#include "os/os.h"

#define NAMED_LENGTH(key) strnlen(key, LG_NAME_MAX + 1)

static bool good_key(const char *key)
{
    return key && NAMED_LENGTH(key) > 0 && NAMED_LENGTH(key) <= LG_NAME_MAX;
}

static struct lg__task *find(lg_launch *launch, const char *key)
{
    for (uint32_t i = 0; i < launch->task_count; i++)
        if (strcmp(launch->tasks[i].key, key) == 0)
            return &launch->tasks[i];
    return NULL;
}

lg_status lg_launch_add_task(lg_launch *launch, const lg_task *task)
{
    if (!launch || !task || !task->run)
        return LG_ERR_ARGUMENT;
    const uint32_t known = LG_TASK_ESSENTIAL | LG_TASK_SUSPECT | LG_TASK_UNSAFE | LG_TASK_REPLACE;
    if (task->size != sizeof *task || !good_key(task->key) || (task->flags & ~known) ||
        ((task->flags & LG_TASK_ESSENTIAL) && (task->flags & (LG_TASK_SUSPECT | LG_TASK_UNSAFE))))
        return LG_ERR_OPTION;
    pthread_mutex_lock(&launch->lock);
    struct lg__task *to = find(launch, task->key);
    lg_status status = launch->step == OVER ? LG_ERR_STATE : LG_OK;
    if (status == LG_OK && to && !(task->flags & LG_TASK_REPLACE))
        status = LG_ERR_DUPLICATE;
    else if (status == LG_OK && to && to->state != LG_TASK_HELD)
        status = LG_ERR_STATE;
    else if (status == LG_OK && !to && launch->task_count == LG_TASKS_MAX)
        status = LG_ERR_LIMIT;
    if (status == LG_OK) {
        if (!to)
            to = &launch->tasks[launch->task_count++];
        memset(to, 0, sizeof *to);
        snprintf(to->key, sizeof to->key, "%s", task->key);
        to->flags = task->flags;
        to->run = task->run;
        to->protect = task->protect;
        to->on_event = task->on_event;
        to->user = task->user;
        pthread_cond_broadcast(&launch->changed);
    }
    pthread_mutex_unlock(&launch->lock);
    return status;
}

/* ---- suspects ---- */

static uint32_t crashes_of(const struct lg__book_context *context, const struct lg__task *task)
{
    for (uint32_t i = 0; i < context->suspect_count; i++)
        if (strncmp(context->suspects[i].key, task->key, LG__NAME_BYTES) == 0)
            return context->suspects[i].crashes;
    return 0;
}

static bool is_suspect(const struct lg__book_context *context, const struct lg__task *task)
{
    return !(task->flags & LG_TASK_ESSENTIAL) && crashes_of(context, task) >= (task->flags & LG_TASK_SUSPECT ? 1u : 2u);
}

/* The caller may hold no lock of the launch: `tasks` only grows, and what is looked at of a task does not change. */
bool lg__custody_suspect(const lg_launch *launch, const struct lg__book_context *context, char ret_key[LG__NAME_BYTES])
{
    const struct lg__task *most = NULL;
    for (uint32_t i = 0; i < launch->task_count; i++) {
        const struct lg__task *task = &launch->tasks[i];
        if (is_suspect(context, task) && (!most || crashes_of(context, task) > crashes_of(context, most)))
            most = task;
    }
    if (most)
        memcpy(ret_key, most->key, LG__NAME_BYTES);
    return most;
}

static bool left_out(const lg_launch *launch, const struct lg__book_context *context, const struct lg__task *task)
{
    if (strcmp(task->key, launch->left_out) == 0)
        return true;
    return context->mode == LG_LAUNCH_MODE_SAFE && ((task->flags & LG_TASK_UNSAFE) || is_suspect(context, task));
}

/* ---- running them ---- */

struct job {
    lg_launch *launch;
    uint64_t epoch;
    uint32_t index;
};

static lg_status run(void *argument)
{
    struct job job = *(struct job *)argument;
    lg_launch *launch = job.launch;
    free(argument);
    pthread_mutex_lock(&launch->lock);
    bool goes_on = launch->epoch == job.epoch;
    struct lg__task task = launch->tasks[job.index];
    pthread_mutex_unlock(&launch->lock);
    if (!goes_on)
        return LG_ERR_CLOSED;
    memcpy(launch->state->task, task.key, sizeof launch->state->task);
    atomic_store(&launch->owner->task_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    atomic_store(&launch->owner->task_tid, lg__os_tid());
    atomic_store(&launch->state->task_set, 1); /* the one store by which a task is known to run */
    lg_status status = task.run(task.user);
    if (!lg__launch_goes_on(launch, job.epoch))
        return LG_ERR_CLOSED;
    atomic_store(&launch->state->task_set, 0);
    atomic_store(&launch->owner->task_tid, 0);
    return status;
}

static void deliver(lg_launch *launch, struct lg__task *task)
{
    char event[LG__NAME_BYTES];
    pthread_mutex_lock(&launch->lock);
    memcpy(event, task->event, sizeof event);
    task->event[0] = 0;
    lg_event_callback on_event = task->state == LG_TASK_DONE ? task->on_event : NULL;
    void *user = task->user;
    pthread_mutex_unlock(&launch->lock);
    if (event[0] && on_event)
        on_event(event, user);
}

/* The next task that may run; with lg_launch_replay_by_key() after a hold: that was let go. Waits for that, at most for the rest of the hold's time. */
static struct lg__task *next_task(lg_launch *launch, uint64_t epoch)
{
    struct lg__task *next = NULL;
    uint64_t begun = lg__os_clock_ns(CLOCK_MONOTONIC), end = begun + launch->hold_left_ns;
    struct timespec until = { (time_t)(end / 1000000000u), (long)(end % 1000000000u) };
    pthread_mutex_lock(&launch->lock);
    for (int late = 0;; late = pthread_cond_timedwait(&launch->changed, &launch->lock, &until)) {
        bool any = false;
        bool by_key = launch->by_key && launch->was_held && !late;
        for (uint32_t i = 0; i < launch->task_count; i++) {
            struct lg__task *task = &launch->tasks[i];
            if (task->state != LG_TASK_HELD)
                continue;
            any = true;
            if (!by_key && !next)
                next = task;
            if (by_key && task->released && (!next || task->released < next->released))
                next = task;
        }
        if (late && any) {
            lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: not all tasks were replayed in time; the rest run now", launch->name);
            launch->by_key = false;
        }
        if (next || !any || launch->epoch != epoch)
            break;
    }
    if (launch->epoch != epoch)
        next = NULL;
    if (next)
        next->state = LG_TASK_RUNNING;
    else if (launch->epoch == epoch)
        launch->step = OVER; /* here and not later: a task that is added from now on would be lost */
    pthread_mutex_unlock(&launch->lock);
    return next;
}

static void note(lg_launch *launch, uint64_t epoch, struct lg__task *task, lg_task_state state)
{
    pthread_mutex_lock(&launch->lock);
    if (launch->epoch == epoch)
        task->state = state;
    pthread_mutex_unlock(&launch->lock);
}

static void leave_out_the_rest(lg_launch *launch, uint64_t epoch)
{
    pthread_mutex_lock(&launch->lock);
    for (uint32_t i = 0; launch->epoch == epoch && i < launch->task_count; i++)
        if (launch->tasks[i].state == LG_TASK_HELD)
            launch->tasks[i].state = LG_TASK_LEFT_OUT;
    pthread_mutex_unlock(&launch->lock);
}

static lg_task_state run_one(lg_launch *launch, uint64_t epoch, struct lg__task *task)
{
    struct job *job = malloc(sizeof *job);
    if (!job)
        return LG_TASK_FAILED;
    *job = (struct job){ launch, epoch, (uint32_t)(task - launch->tasks) };
    enum lg__answer answer = lg__callback_run(launch, run, job, true, LG__NO_TIMEOUT);
    if (answer == LG__ANSWER_FAILED)
        lg__host_log(launch->host, LG_LEVEL_ERROR, "launch %s: task \"%s\" failed", launch->name, task->key);
    return answer == LG__ANSWER_OK ? LG_TASK_DONE : LG_TASK_FAILED;
}

lg_status lg__custody_run(lg_launch *launch, uint64_t epoch)
{
    struct lg__task *task;
    for (;;) {
        struct lg__book_context context;
        lg__launch_look(launch, &context);
        if (!lg__launch_goes_on(launch, epoch))
            return LG_ERR_CLOSED;
        bool stored = lg__launch_protects(launch);
        if (stored && context.phase == LG_PHASE_HELD && launch->options.hold != LG_HOLD_NONE)
            return LG_ERR_STATE;
        if (stored && context.phase == LG_PHASE_TERMINATING)
            return LG_ERR_CLOSED;
        if (!(task = next_task(launch, epoch)))
            return lg__launch_goes_on(launch, epoch) ? LG_OK : LG_ERR_CLOSED;
        if (stored && left_out(launch, &context, task)) {
            note(launch, epoch, task, LG_TASK_LEFT_OUT);
            lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: task \"%s\" is left out", launch->name, task->key);
            continue;
        }
        lg_task_state state = run_one(launch, epoch, task);
        if (!lg__launch_goes_on(launch, epoch))
            return LG_ERR_CLOSED;
        note(launch, epoch, task, state);
        deliver(launch, task);
        if (state == LG_TASK_FAILED && (task->flags & LG_TASK_ESSENTIAL)) {
            leave_out_the_rest(launch, epoch);
            return LG_ERR_FAILED;
        }
    }
}

/* ---- protect actions ---- */

static lg_status protect(void *argument)
{
    struct job job = *(struct job *)argument;
    free(argument);
    for (uint32_t i = 0;; i++) {
        pthread_mutex_lock(&job.launch->lock);
        bool more = job.launch->epoch == job.epoch && i < job.launch->task_count;
        struct lg__task task = { .state = LG_TASK_DONE };
        if (more)
            task = job.launch->tasks[i];
        pthread_mutex_unlock(&job.launch->lock);
        if (!more)
            return LG_OK;
        if (task.state == LG_TASK_HELD && task.protect)
            task.protect(task.user);
    }
}

void lg__custody_protect(lg_launch *launch, uint64_t epoch)
{
    bool any = false;
    pthread_mutex_lock(&launch->lock);
    for (uint32_t i = 0; i < launch->task_count; i++)
        any = any || (launch->tasks[i].state == LG_TASK_HELD && launch->tasks[i].protect);
    uint64_t left = launch->hold_left_ns;
    pthread_mutex_unlock(&launch->lock);
    struct job *job = any ? malloc(sizeof *job) : NULL;
    if (!job)
        return;
    *job = (struct job){ launch, epoch, 0 };
    uint64_t begun = lg__os_clock_ns(CLOCK_MONOTONIC);
    if (lg__callback_run(launch, protect, job, false, left) == LG__ANSWER_TIMEOUT)
        lg__host_log(launch->host, LG_LEVEL_ERROR, "launch %s: its protect actions take too long", launch->name);
    uint64_t took = lg__os_clock_ns(CLOCK_MONOTONIC) - begun;
    pthread_mutex_lock(&launch->lock);
    if (launch->epoch == epoch)
        launch->hold_left_ns -= took < launch->hold_left_ns ? took : launch->hold_left_ns;
    pthread_mutex_unlock(&launch->lock);
}

/* ---- by key ---- */

lg_status lg_launch_replay_by_key(lg_launch *launch)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    bool prepared = launch->step == PREPARED;
    if (prepared)
        launch->by_key = true;
    pthread_mutex_unlock(&launch->lock);
    return prepared ? LG_OK : LG_ERR_STATE;
}

lg_status lg_launch_replay(lg_launch *launch, const char *key)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    lg_status status = !launch->by_key || launch->step < RUNNING || lg__launch_phase(launch) != LG_PHASE_LAUNCHING ? LG_ERR_STATE : LG_OK;
    struct lg__task *one = key ? find(launch, key) : NULL;
    if (key && !one)
        status = LG_ERR_NOT_FOUND;
    for (uint32_t i = 0; status == LG_OK && i < launch->task_count; i++)
        if ((!key || &launch->tasks[i] == one) && !launch->tasks[i].released)
            launch->tasks[i].released = ++launch->releases;
    pthread_cond_broadcast(&launch->changed);
    pthread_mutex_unlock(&launch->lock);
    return status;
}

lg_status lg_launch_signal(lg_launch *launch, const char *key, const char *event)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    if (!good_key(event))
        return LG_ERR_OPTION;
    lg_status status = key ? LG_ERR_NOT_FOUND : LG_OK;
    for (uint32_t i = 0;; i++) {
        pthread_mutex_lock(&launch->lock);
        bool more = i < launch->task_count;
        struct lg__task *task = &launch->tasks[i < LG_TASKS_MAX ? i : 0];
        bool meant = more && (!key || strcmp(task->key, key) == 0);
        if (meant && task->state != LG_TASK_FAILED && task->state != LG_TASK_LEFT_OUT)
            snprintf(task->event, sizeof task->event, "%s", event);
        bool now = meant && task->state == LG_TASK_DONE;
        pthread_mutex_unlock(&launch->lock);
        if (!more)
            return status;
        if (meant)
            status = LG_OK;
        if (now)
            deliver(launch, task);
    }
}

lg_status lg_launch_task_state(const lg_launch *launch, const char *key, lg_task_state *ret_state)
{
    if (!launch || !key || !ret_state)
        return LG_ERR_ARGUMENT;
    lg_launch *locked = (lg_launch *)(uintptr_t)launch;
    pthread_mutex_lock(&locked->lock);
    const struct lg__task *task = find(locked, key);
    if (task)
        *ret_state = task->state;
    pthread_mutex_unlock(&locked->lock);
    return task ? LG_OK : LG_ERR_NOT_FOUND;
}
