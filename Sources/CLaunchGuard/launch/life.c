/* The lives of a launch. Only a simulated one has more than one: its ends, and the time that
 * passes, are simulated too. */
#include <stdlib.h>

#include "launch/internal.h"
#include "os/os.h"

struct lg__life *lg__life_begin(lg_launch *launch)
{
    struct lg__life *life = launch->lives ? calloc(1, sizeof *life) : &launch->first_life;
    if (!life)
        return NULL;
    life->launch = launch;
    life->older = launch->lives;
    life->driven = true;
    life->hold_left_ns = (uint64_t)launch->options.hold_ms * 1000000u;
    return launch->life = launch->lives = life;
}

void lg__life_end(lg_launch *launch, lg_end end, const struct lg__reached *reached)
{
    pthread_mutex_lock(&launch->lock);
    pthread_mutex_lock(&launch->host->lock);
    launch->simulated_ends++;
    struct lg__ledger_context *context = lg__ledger_find_context(&launch->host->ledger.payload, launch->name);
    struct lg__last_end last = { .end = end, .ordinal = launch->simulated_ends, .lived_ns = LG__LIVED_UNKNOWN };
    last.early = reached->nothing && context && context->flags & LG__CONTEXT_BEGAN;
    if (launch->life && launch->life->finished && !reached->launching)
        last.lived_ns = atomic_load(&launch->host->passed_ns) - launch->life->finished_at_ns;
    last.task = atomic_load(&launch->state->task_set) ? launch->state->task : NULL;
    if (end == LG_END_UPGRADE && context)
        lg__ended_upgrade(context, &last);
    else if (context)
        lg__ended_account(context, &last);
    lg__ledger_store(&launch->host->ledger);
    lg__window_close(launch);
    if (launch->life)
        lg__callback_abort(launch->life);
    launch->life = NULL;
    if (context)
        atomic_store(&launch->streak, context->streak);
    pthread_mutex_unlock(&launch->host->lock);
    for (uint32_t i = 0; i < launch->task_count; i++) {
        launch->tasks[i].state = LG_TASK_HELD;
        launch->tasks[i].released = 0;
        launch->tasks[i].protected_in = 0;
        launch->tasks[i].event[0] = 0;
    }
    atomic_store(&launch->state->marked, 0);
    atomic_store(&launch->state->task_set, 0);
    lg__launch_note_status(launch); /* before those who wait for this life return */
    pthread_cond_broadcast(&launch->changed);
    pthread_mutex_unlock(&launch->lock);
    lg__launch_publish(launch);
    lg__window_wake(launch);
}

void lg__life_pass(lg_launch *launch, uint64_t passed_ns)
{
    pthread_mutex_lock(&launch->lock);
    lg_phase phase = lg__launch_phase(launch);
    if (launch->life)
        lg__callback_pass(launch->life, passed_ns);
    /* protect actions and a give-up take their time from the hold */
    if (launch->life && (phase == LG_PHASE_HELD || phase == LG_PHASE_HALTED)) {
        lg__launch_spend_hold(launch->life, passed_ns);
        pthread_cond_broadcast(&launch->changed);
    }
    pthread_mutex_unlock(&launch->lock);
}
