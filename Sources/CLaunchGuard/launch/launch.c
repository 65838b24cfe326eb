/* The stored part of a launch, and the status that follows from it. All other files of this folder
 * stand on it. */
#include <signal.h>

#include "capture/capture.h"
#include "launch/internal.h"
#include "os/fault_point.h"
#include "read/context.h"

bool lg__launch_protects(const lg_launch *launch)
{
    return launch->counts && lg__host_unforked(launch->host) && !atomic_load(&launch->host->closed);
}

lg_phase lg__launch_phase(const lg_launch *launch)
{
    if (!launch->counts || !lg__host_unforked(launch->host))
        return LG_PHASE_LAUNCHING;
    pthread_mutex_lock(&launch->host->lock);
    const struct lg__ledger_context *context = lg__ledger_find_context(&launch->host->ledger.payload, launch->name);
    lg_phase phase = context ? (lg_phase)context->phase : LG_PHASE_NONE;
    bool closed = atomic_load(&launch->host->closed);
    pthread_mutex_unlock(&launch->host->lock);
    if (phase == LG_PHASE_NONE)
        return LG_PHASE_LAUNCHING;
    return closed && phase != LG_PHASE_LAUNCHING && phase != LG_PHASE_FINISHED ? LG_PHASE_TERMINATING : phase;
}

/* SIGHUP often asks for something else. A signal from before the launch was for something else,
 * too. */
bool lg__launch_interrupted(const lg_launch *launch)
{
    const struct lg__state *state = launch->host->run.state;
    int32_t signal = atomic_load(&state->term_signal);
    bool asked = (signal == SIGTERM || signal == SIGINT) && atomic_load(&state->term_ns) >= atomic_load(&launch->state->begun_ns);
    if (!asked && !lg__capture_alone())
        return false;
    lg_phase phase = lg__launch_phase(launch);
    return phase == LG_PHASE_HELD || phase == LG_PHASE_HALTED;
}

bool lg__launch_has_task(const lg_launch *launch, lg_task_state state)
{
    for (uint32_t i = 0; i < launch->task_count; i++)
        if (launch->tasks[i].state == state)
            return true;
    return false;
}

/* ---- the status ---- */

static lg_launch_state state_now(const lg_launch *launch)
{
    if (!launch->life)
        return LG_LAUNCH_STATE_IDLE;
    return launch->life->finished ? LG_LAUNCH_STATE_FINISHED : lg__reader_context_state(lg__launch_phase(launch));
}

void lg__launch_note_status(lg_launch *launch)
{
    if (launch->forked || (launch->life && !launch->life->decided))
        return;
    lg_launch_state now = state_now(launch), before = (lg_launch_state)atomic_exchange(&launch->now, (uint32_t)now);
    lg_launch_status status = lg__reader_context_status(now);
    bool changed = lg__reader_context_status(before) != status;
    if (changed)
        lg__host_log(launch->host, LG_LEVEL_DEBUG, "launch %s: %s", launch->name, lg_launch_status_name(status));
    if (changed && launch->options.on_status) {
        /* on_status hangs: only the last change counts */
        if (launch->unpublished_count == LG__STATUSES)
            launch->unpublished_count--;
        launch->unpublished[launch->unpublished_count++] = status;
    }
}

/* ---- stored state ---- */

struct lg__ledger_context *lg__launch_lock(const struct lg__life *life)
{
    lg_launch *launch = life->launch;
    pthread_mutex_lock(&launch->lock);
    pthread_mutex_lock(&launch->host->lock);
    struct lg__ledger_context *context = lg__launch_protects(launch) && lg__life_current(life)
                                           ? lg__ledger_find_context(&launch->host->ledger.payload, launch->name)
                                           : NULL;
    if (!context) {
        pthread_mutex_unlock(&launch->host->lock);
        pthread_mutex_unlock(&launch->lock);
    }
    return context;
}

struct lg__ledger_context *lg__launch_store(lg_launch *launch, struct lg__ledger_context *context)
{
    lg__ledger_store(&launch->host->ledger);
    /* While on_decide or on_report runs, readers of the run file see that nothing is decided. */
    bool deciding = context->flags & (LG__CONTEXT_ASKING | LG__CONTEXT_REPORTING);
    atomic_store(&launch->state->phase, deciding ? LG_PHASE_DECIDING : context->phase);
    if (context->phase == LG_PHASE_LAUNCHING)
        lg__window_note(launch); /* the window may have passed meanwhile */
    else
        lg__window_close(launch);
    LG_FAULT_POINT("run: phase");
    pthread_cond_broadcast(&launch->changed);
    pthread_mutex_unlock(&launch->host->lock);
    lg__launch_note_status(launch);
    pthread_mutex_unlock(&launch->lock);
    return NULL;
}

struct lg__hint lg__launch_hint(const lg_launch *launch)
{
    return *(const struct lg__hint *)(const void *)(launch->host->ledger.machine + 1);
}

void lg__launch_look(lg_launch *launch, struct lg__ledger_context *ret_context)
{
    pthread_mutex_lock(&launch->host->lock);
    const struct lg__ledger_context *context = launch->counts ? lg__ledger_find_context(&launch->host->ledger.payload, launch->name) : NULL;
    if (context)
        *ret_context = *context;
    else
        memset(ret_context, 0, sizeof *ret_context);
    pthread_mutex_unlock(&launch->host->lock);
}

/* ---- reporting it ---- */

/* First the program's logger, then on_status. One thread at a time calls on_status, in the order of
 * the changes. A change that comes in meanwhile is left to that thread. */
void lg__launch_publish(lg_launch *launch)
{
    pthread_mutex_lock(&launch->lock);
    lg__launch_note_status(launch);
    pthread_mutex_unlock(&launch->lock);
    lg__host_hand_over(launch->host);
    pthread_mutex_lock(&launch->lock);
    while (!launch->publishing && launch->unpublished_count > 0) {
        lg_launch_status next = launch->unpublished[0];
        memmove(launch->unpublished, launch->unpublished + 1, --launch->unpublished_count * sizeof launch->unpublished[0]);
        launch->publishing = true;
        pthread_mutex_unlock(&launch->lock);
        launch->options.on_status(launch, next, launch->options.user);
        pthread_mutex_lock(&launch->lock);
        launch->publishing = false;
    }
    pthread_mutex_unlock(&launch->lock);
}

void lg__launch_spend_hold(struct lg__life *life, uint64_t ns)
{
    life->hold_left_ns -= ns < life->hold_left_ns ? ns : life->hold_left_ns;
}

/* ---- queries ---- */

lg_launch_state lg_launch_get_state(const lg_launch *launch)
{
    if (!launch)
        return LG_LAUNCH_STATE_IDLE;
    return lg__window_or_mark_finishes(launch) ? LG_LAUNCH_STATE_FINISHED : (lg_launch_state)atomic_load(&launch->now);
}

lg_launch_status lg_launch_get_status(const lg_launch *launch)
{
    return lg__reader_context_status(lg_launch_get_state(launch));
}

uint32_t lg_launch_streak(const lg_launch *launch)
{
    return launch ? atomic_load(&launch->streak) : 0;
}

lg_status lg_launch_get_info(const lg_launch *launch, lg_launch_info *ret_info)
{
    struct lg__ledger_context context;
    lg_launch_info info;
    if (!launch || !ret_info)
        return LG_ERR_ARGUMENT;
    if (!launch->counts)
        return LG_ERR_UNPROTECTED;
    lg__launch_look((lg_launch *)(uintptr_t)launch, &context);
    if (context.phase == LG_PHASE_LAUNCHING && lg__window_or_mark_finishes(launch))
        lg__decide_finished(&context); /* will be stored by the next call that changes it */
    lg__reader_context_info(&context, &info);
    lg__reader_context_is(&info, lg_launch_get_state(launch));
    return lg__reader_context_give(&info, ret_info);
}
