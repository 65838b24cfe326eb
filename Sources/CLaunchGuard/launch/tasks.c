/* The list of the tasks of a launch: their keys, their breadcrumbs, and their events. */
#include <stdio.h>

#include "launch/internal.h"
#include "launch/suspects.h"

bool lg__tasks_good_key(const char *key)
{
    size_t size = key ? strnlen(key, LG_NAME_MAX + 1) : 0;
    return size > 0 && size <= LG_NAME_MAX;
}

struct lg__task *lg__tasks_find(lg_launch *launch, const char *key)
{
    for (uint32_t i = 0; i < launch->task_count; i++)
        if (strcmp(launch->tasks[i].key, key) == 0)
            return &launch->tasks[i];
    return NULL;
}

bool lg__tasks_omits(const lg_launch *launch, const char *key)
{
    for (uint32_t i = 0; i < launch->omitted_count; i++)
        if (strcmp(launch->omitted[i], key) == 0)
            return true;
    return strcmp(launch->hinted, key) == 0;
}

/* ---- left out by the program ---- */

lg_status lg_launch_leave_out(lg_launch *launch, const char *key)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    if (!lg__tasks_good_key(key))
        return LG_ERR_OPTION;
    pthread_mutex_lock(&launch->lock);
    const struct lg__task *task = lg__tasks_find(launch, key);
    lg_status status = LG_OK;
    if (task && task->state != LG_TASK_HELD && task->state != LG_TASK_LEFT_OUT) {
        status = LG_ERR_STATE;
    } else if (!lg__tasks_omits(launch, key)) {
        if (launch->omitted_count == LG_TASKS_MAX)
            status = LG_ERR_LIMIT;
        else
            strcpy(launch->omitted[launch->omitted_count++], key);
    }
    pthread_cond_broadcast(&launch->changed); /* the task needs no release */
    pthread_mutex_unlock(&launch->lock);
    return status;
}

/* ---- suspects ---- */

bool lg__tasks_is_suspect(const struct lg__ledger_context *context, const struct lg__task *task)
{
    return lg__suspects_has(context, task->key, task->flags);
}

bool lg__tasks_suspect(const lg_launch *launch, const struct lg__ledger_context *context, char ret_key[LG__NAME_BYTES])
{
    const struct lg__task *most = NULL;
    for (uint32_t i = 0; i < launch->task_count; i++) {
        const struct lg__task *task = &launch->tasks[i];
        if (lg__tasks_is_suspect(context, task) && !lg__tasks_omits(launch, task->key) &&
            (!most || lg__suspects_crashes(context, task->key) > lg__suspects_crashes(context, most->key)))
            most = task;
    }
    if (most)
        memcpy(ret_key, most->key, LG__NAME_BYTES);
    return most;
}

/* ---- by key ---- */

lg_status lg_launch_replay_by_key(lg_launch *launch)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    bool prepared = !launch->life;
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
    struct lg__task *one = key ? lg__tasks_find(launch, key) : NULL;
    lg_phase phase = lg__launch_phase(launch);
    bool possible = launch->life && (phase == LG_PHASE_LAUNCHING || phase == LG_PHASE_FINISHED), any = false;
    for (uint32_t i = 0; i < launch->task_count; i++) {
        struct lg__task *task = &launch->tasks[i];
        if ((key && task != one) || !(launch->by_key || task->flags & LG_TASK_BY_KEY))
            continue;
        any = true;
        if (possible && !task->released)
            task->released = ++launch->life->releases;
    }
    pthread_cond_broadcast(&launch->changed);
    pthread_mutex_unlock(&launch->lock);
    return key && !one ? LG_ERR_NOT_FOUND : possible && (any || launch->by_key) ? LG_OK : LG_ERR_STATE;
}

lg_status lg_launch_signal(lg_launch *launch, const char *key, const char *event)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    if (!lg__tasks_good_key(event))
        return LG_ERR_OPTION;
    if (launch->forked)
        return LG_OK;
    lg_status status = key ? LG_ERR_NOT_FOUND : LG_OK;
    for (uint32_t i = 0;; i++) {
        pthread_mutex_lock(&launch->lock);
        bool more = i < launch->task_count;
        struct lg__task *task = &launch->tasks[i < LG_TASKS_MAX ? i : 0];
        bool meant = more && (!key || strcmp(task->key, key) == 0);
        bool waits = meant && (task->state == LG_TASK_HELD || task->state == LG_TASK_RUNNING);
        if (meant)
            snprintf(task->event, sizeof task->event, "%s", waits ? event : "");
        lg_event_callback on_event = meant && task->state == LG_TASK_DONE ? task->on_event : NULL;
        void *user = task->user;
        pthread_mutex_unlock(&launch->lock);
        if (!more)
            return status;
        if (meant)
            status = LG_OK;
        if (on_event)
            on_event(event, user);
    }
}

lg_status lg_launch_task_state(const lg_launch *launch, const char *key, lg_task_state *ret_state)
{
    if (!launch || !key || !ret_state)
        return LG_ERR_ARGUMENT;
    lg_launch *locked = (lg_launch *)(uintptr_t)launch;
    pthread_mutex_lock(&locked->lock);
    const struct lg__task *task = lg__tasks_find(locked, key);
    if (task)
        *ret_state = task->state;
    pthread_mutex_unlock(&locked->lock);
    return task ? LG_OK : LG_ERR_NOT_FOUND;
}
