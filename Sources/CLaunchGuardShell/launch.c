/* A launch that runs its tasks in order, counts nothing, and is finished when they have run. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launchguard/launchguard.h"

struct task {
    lg_launch *launch;
    lg_task given;
    char key[LG_NAME_MAX + 1];
    char event[LG_NAME_MAX + 1]; /* the last one that came before the task had run */
    lg_task_state state;
    bool again; /* it runs, and was added anew meanwhile */
};

struct lg_launch {
    pthread_mutex_t lock; /* held neither in a task nor in a callback */
    pthread_cond_t changed;
    lg_launch_options options;
    bool by_key;
    enum { PREPARED, RUNNING, OVER } phase;
    lg_status outcome; /* LG_ERR_FAILED: an essential task failed */
    uint32_t task_count, omitted_count;
    struct task tasks[LG_TASKS_MAX];
    char omitted[LG_TASKS_MAX][LG_NAME_MAX + 1];
};

static bool good_name(const char *name)
{
    size_t size = name ? strlen(name) : 0;
    return size > 0 && size <= LG_NAME_MAX;
}

static struct task *find(lg_launch *launch, const char *key)
{
    for (uint32_t i = 0; i < launch->task_count; i++)
        if (strcmp(launch->tasks[i].key, key) == 0)
            return &launch->tasks[i];
    return NULL;
}

static bool is_omitted(const lg_launch *launch, const char *key)
{
    for (uint32_t i = 0; i < launch->omitted_count; i++)
        if (strcmp(launch->omitted[i], key) == 0)
            return true;
    return false;
}

/* ---- running the tasks ---- */

/* Under the lock, which is open while the task and its event run. */
static void run_task(struct task *task)
{
    lg_launch *launch = task->launch;
    char event[LG_NAME_MAX + 1];
    if (launch->outcome != LG_OK || is_omitted(launch, task->key)) {
        task->state = LG_TASK_LEFT_OUT;
        return;
    }
    lg_status status;
    do {
        const lg_task given = task->given;
        task->again = false;
        task->state = LG_TASK_RUNNING;
        pthread_mutex_unlock(&launch->lock);
        status = given.run(given.user);
        pthread_mutex_lock(&launch->lock);
    } while (task->again);
    task->state = status == LG_OK ? LG_TASK_DONE : LG_TASK_FAILED;
    if (status != LG_OK && (task->given.flags & LG_TASK_ESSENTIAL))
        launch->outcome = LG_ERR_FAILED;
    memcpy(event, task->event, sizeof event);
    if (status == LG_OK && event[0] && task->given.on_event) {
        pthread_mutex_unlock(&launch->lock);
        task->given.on_event(event, task->given.user);
        pthread_mutex_lock(&launch->lock);
    }
}

static void run_late_task(void *argument)
{
    struct task *task = argument;
    pthread_mutex_lock(&task->launch->lock);
    run_task(task);
    pthread_mutex_unlock(&task->launch->lock);
}

static void run_tasks(void *argument)
{
    lg_launch *launch = argument;
    if (launch->options.on_status)
        launch->options.on_status(launch, LG_LAUNCH_CHECKING, launch->options.user);
    pthread_mutex_lock(&launch->lock);
    for (uint32_t i = 0; i < launch->task_count; i++)
        run_task(&launch->tasks[i]);
    launch->phase = OVER;
    pthread_cond_broadcast(&launch->changed);
    pthread_mutex_unlock(&launch->lock);
    if (launch->options.on_status)
        launch->options.on_status(launch, LG_LAUNCH_NORMAL, launch->options.user);
}

/* On the program's executor, where the launch has one; else here. */
static void execute(const lg_launch *launch, void (*work)(void *argument), void *argument)
{
    if (launch->options.callbacks == LG_CALLBACKS_EXECUTOR && launch->options.executor)
        launch->options.executor(work, argument, launch->options.user);
    else
        work(argument);
}

/* ---- the launch ---- */

lg_status lg_launch_prepare(lg_session *session, const char *context, const lg_launch_options *options, lg_launch **ret_launch)
{
    static lg_launch spare = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    if (!ret_launch)
        return LG_ERR_ARGUMENT;
    *ret_launch = &spare;
    lg_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return LG_ERR_SYSTEM;
    pthread_mutex_init(&launch->lock, NULL);
    pthread_cond_init(&launch->changed, NULL);
    if (options)
        memcpy(&launch->options, options, options->size < sizeof launch->options ? options->size : sizeof launch->options);
    *ret_launch = launch;
    return !session || !context ? LG_ERR_ARGUMENT : good_name(context) ? LG_ERR_UNPROTECTED : LG_ERR_OPTION;
}

lg_status lg_launch_add_repair(lg_launch *launch, const lg_repair *repair)
{
    return launch && repair ? LG_OK : LG_ERR_ARGUMENT;
}

lg_status lg_launch_begin(lg_launch *launch)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    bool begun = launch->phase != PREPARED;
    if (!begun)
        launch->phase = RUNNING;
    pthread_mutex_unlock(&launch->lock);
    if (begun)
        return LG_ERR_STATE;
    execute(launch, run_tasks, launch);
    return launch->options.hold == LG_HOLD_BLOCK ? lg_launch_wait(launch, UINT32_MAX) : LG_OK;
}

lg_status lg_launch_wait(lg_launch *launch, uint32_t timeout_ms)
{
    struct timespec until;
    int error = 0;
    if (!launch)
        return LG_ERR_ARGUMENT;
    timespec_get(&until, TIME_UTC);
    until.tv_sec += timeout_ms / 1000 + (until.tv_nsec + (long)(timeout_ms % 1000) * 1000000) / 1000000000;
    until.tv_nsec = (until.tv_nsec + (long)(timeout_ms % 1000) * 1000000) % 1000000000;
    pthread_mutex_lock(&launch->lock);
    while (launch->phase == RUNNING && error == 0)
        error = timeout_ms == UINT32_MAX ? pthread_cond_wait(&launch->changed, &launch->lock)
                                         : pthread_cond_timedwait(&launch->changed, &launch->lock, &until);
    lg_status status = launch->phase == PREPARED ? LG_ERR_STATE : launch->phase == RUNNING ? LG_ERR_TIMEOUT : launch->outcome;
    pthread_mutex_unlock(&launch->lock);
    return status;
}

lg_status lg_launch_finished(lg_launch *launch)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    bool begun = launch->phase != PREPARED;
    pthread_mutex_unlock(&launch->lock);
    return begun ? LG_OK : LG_ERR_STATE;
}

lg_launch_state lg_launch_get_state(const lg_launch *launch)
{
    static const lg_launch_state states[] = { LG_LAUNCH_STATE_IDLE, LG_LAUNCH_STATE_LAUNCHING, LG_LAUNCH_STATE_FINISHED };
    lg_launch *locked = (lg_launch *)(uintptr_t)launch;
    if (!launch)
        return LG_LAUNCH_STATE_IDLE;
    pthread_mutex_lock(&locked->lock);
    lg_launch_state state = states[launch->phase];
    pthread_mutex_unlock(&locked->lock);
    return state;
}

lg_launch_status lg_launch_get_status(const lg_launch *launch)
{
    return lg_launch_get_state(launch) == LG_LAUNCH_STATE_LAUNCHING ? LG_LAUNCH_CHECKING : LG_LAUNCH_NORMAL;
}

/* ---- the list of the tasks ---- */

/* The place of a new task, or of the one that it replaces. Under the lock. */
static lg_status place_for(lg_launch *launch, const lg_task *task, struct task **ret_place)
{
    struct task *old = find(launch, task->key);
    if (old && !(task->flags & LG_TASK_REPLACE))
        return LG_ERR_DUPLICATE;
    const bool late = task->flags & LG_TASK_LATE;
    const bool decides = old && old->given.flags & LG_TASK_ESSENTIAL && (old->state == LG_TASK_RUNNING || old->state == LG_TASK_FAILED);
    if (old ? old->state != LG_TASK_HELD && (!late || decides) : launch->phase == OVER && (!late || launch->outcome != LG_OK))
        return LG_ERR_STATE;
    if (!old && launch->task_count == LG_TASKS_MAX)
        return LG_ERR_LIMIT;
    *ret_place = old ? old : &launch->tasks[launch->task_count++];
    return LG_OK;
}

lg_status lg_launch_add_task(lg_launch *launch, const lg_task *task)
{
    struct task *place = NULL;
    if (!launch || !task)
        return LG_ERR_ARGUMENT;
    if (!task->run || !good_name(task->key) || ((task->flags & LG_TASK_ESSENTIAL) && (task->flags & (LG_TASK_SUSPECT | LG_TASK_UNSAFE))))
        return LG_ERR_OPTION;
    pthread_mutex_lock(&launch->lock);
    lg_status status = place_for(launch, task, &place);
    if (place) {
        const bool again = place->state == LG_TASK_RUNNING;
        memset(place, 0, sizeof *place);
        place->state = again ? LG_TASK_RUNNING : LG_TASK_HELD;
        place->again = again;
        place->launch = launch;
        place->given = *task;
        strcpy(place->key, task->key);
    }
    bool late = place && launch->phase == OVER && !place->again;
    pthread_mutex_unlock(&launch->lock);
    if (late)
        execute(launch, run_late_task, place);
    return status;
}

lg_status lg_launch_leave_out(lg_launch *launch, const char *key)
{
    lg_status status = LG_OK;
    if (!launch)
        return LG_ERR_ARGUMENT;
    if (!good_name(key))
        return LG_ERR_OPTION;
    pthread_mutex_lock(&launch->lock);
    const struct task *task = find(launch, key);
    if (task && task->state != LG_TASK_HELD && task->state != LG_TASK_LEFT_OUT)
        status = LG_ERR_STATE;
    else if (!is_omitted(launch, key) && launch->omitted_count == LG_TASKS_MAX)
        status = LG_ERR_LIMIT;
    else if (!is_omitted(launch, key))
        strcpy(launch->omitted[launch->omitted_count++], key);
    pthread_mutex_unlock(&launch->lock);
    return status;
}

lg_status lg_launch_replay_by_key(lg_launch *launch)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    bool prepared = launch->phase == PREPARED;
    launch->by_key |= prepared;
    pthread_mutex_unlock(&launch->lock);
    return prepared ? LG_OK : LG_ERR_STATE;
}

lg_status lg_launch_replay(lg_launch *launch, const char *key)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    const struct task *one = key ? find(launch, key) : NULL;
    bool any = launch->by_key;
    for (uint32_t i = 0; i < launch->task_count; i++)
        any |= (!key || &launch->tasks[i] == one) && (launch->tasks[i].given.flags & LG_TASK_BY_KEY);
    lg_status status = key && !one ? LG_ERR_NOT_FOUND : any && launch->phase != PREPARED ? LG_OK : LG_ERR_STATE;
    pthread_mutex_unlock(&launch->lock);
    return status;
}

lg_status lg_launch_signal(lg_launch *launch, const char *key, const char *event)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    if (!good_name(event))
        return LG_ERR_OPTION;
    lg_status status = key ? LG_ERR_NOT_FOUND : LG_OK;
    pthread_mutex_lock(&launch->lock);
    for (uint32_t i = 0; i < launch->task_count; i++) {
        struct task *task = &launch->tasks[i];
        if (key && strcmp(task->key, key) != 0)
            continue;
        status = LG_OK;
        if (task->state == LG_TASK_HELD || task->state == LG_TASK_RUNNING)
            strcpy(task->event, event);
        if (task->state == LG_TASK_DONE && task->given.on_event) {
            pthread_mutex_unlock(&launch->lock);
            task->given.on_event(event, task->given.user);
            pthread_mutex_lock(&launch->lock);
        }
    }
    pthread_mutex_unlock(&launch->lock);
    return status;
}

lg_status lg_launch_task_state(const lg_launch *launch, const char *key, lg_task_state *ret_state)
{
    lg_launch *locked = (lg_launch *)(uintptr_t)launch;
    if (!launch || !key || !ret_state)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&locked->lock);
    const struct task *task = find(locked, key);
    if (task)
        *ret_state = task->state;
    pthread_mutex_unlock(&locked->lock);
    return task ? LG_OK : LG_ERR_NOT_FOUND;
}
#endif
