/* Protect actions: the work of held tasks, called once in each hold. */
#include "launch/internal.h"
#include "os/os.h"
#include "store/text.h"

bool lg__protect_is_due(const struct lg__life *life, const struct lg__task *task)
{
    lg_launch *launch = life->launch;
    if (!lg__life_current(life) || life->holding == LG_PHASE_NONE || launch->options.hold == LG_HOLD_NONE || task->state != LG_TASK_HELD || !task->protect ||
        task->protected_in == life->holds || lg__tasks_omits(launch, task->key))
        return false;
    lg_phase phase = lg__launch_phase(launch);
    return phase == LG_PHASE_HELD || phase == LG_PHASE_REPAIRING;
}

static bool any_is_due(const struct lg__life *life)
{
    for (uint32_t i = 0; i < life->launch->task_count; i++)
        if (lg__protect_is_due(life, &life->launch->tasks[i]))
            return true;
    return false;
}

lg_status lg__protect_task(struct lg__life *life, uint32_t index)
{
    lg_launch *launch = life->launch;
    pthread_mutex_lock(&launch->lock);
    bool due = lg__protect_is_due(life, &launch->tasks[index]);
    if (due)
        launch->tasks[index].protected_in = life->holds;
    struct lg__task task = launch->tasks[index];
    pthread_mutex_unlock(&launch->lock);
    if (due)
        task.protect(task.user);
    return LG_OK;
}

/* From this one on. */
static lg_status call_all(struct lg__life *life, uint32_t index)
{
    for (; index < LG_TASKS_MAX; index++)
        lg__protect_task(life, index);
    return LG_OK;
}

void lg__protect_tasks(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    pthread_mutex_lock(&launch->lock);
    bool any = any_is_due(life);
    uint64_t left = life->hold_left_ns;
    pthread_mutex_unlock(&launch->lock);
    if (!any)
        return;
    uint64_t begun = lg__os_clock_ns(CLOCK_MONOTONIC);
    if (lg__callback_run(life, call_all, 0, false, left) == LG__ANSWER_TIMEOUT)
        lg__host_log(launch->host, LG_LEVEL_ERROR, "launch %s: its protect actions take too long", launch->name);
    lg__host_hand_over(launch->host);
    pthread_mutex_lock(&launch->lock);
    lg__launch_spend_hold(life, lg__os_clock_ns(CLOCK_MONOTONIC) - begun);
    pthread_mutex_unlock(&launch->lock);
}

void lg__protect_note(lg_launch *launch, const char *reason)
{
    const size_t size = lg__text_beginning(reason, sizeof launch->shield_reason - 1);
    launch->shielded = true;
    memcpy(launch->shield_reason, reason, size);
    launch->shield_reason[size] = 0;
}

bool lg__protect_wants_caller(const struct lg__life *life)
{
    return life->launch->options.callbacks == LG_CALLBACKS_CALLER && any_is_due(life);
}
