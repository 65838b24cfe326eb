/* A launch is finished: by the mark, by time, by either or by both. */
#include "capture/capture.h"
#include "launch/internal.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "store/kept.h"

void lg__confirm_launch(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    bool done = false, good = false;
    if (lg__launch_protects(launch)) {
        lg__capture_called();
        LG__WITH_CONTEXT(life, context) {
            /* protected meanwhile, about to end, or finished */
            if (context->phase != LG_PHASE_LAUNCHING)
                continue;
            /* First in the run file: a death before the ledger has the phase is then one of a
             * finished launch, too. */
            if (!lg__window_finishes(launch))
                atomic_store(&launch->state->finished_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
            atomic_store(&launch->state->phase, LG_PHASE_FINISHED);
            LG_FAULT_POINT("run: finished");
            lg__decide_finished(context);
            life->finished = done = true;
            good = context->mode == LG_LAUNCH_MODE_NORMAL;
            life->finished_at_ns = atomic_load(&launch->host->passed_ns);
        }
    } else {
        pthread_mutex_lock(&launch->lock);
        done = lg__life_current(life) && !life->finished && lg__launch_phase(launch) == LG_PHASE_LAUNCHING;
        life->finished = life->finished || done;
        if (done)
            lg__window_close(launch);
        pthread_mutex_unlock(&launch->lock);
    }
    if (!done)
        return;
    lg__launch_publish(launch);
    if (good && atomic_load(&launch->keeps)) /* else a sandbox may forbid to look */
        lg__kept_over(launch->host->directory, launch->name);
    if (!launch->host->simulated)
        lg__capture_check(false); /* the program has started, and has installed its handlers */
    lg__host_hand_over(launch->host);
}

void lg__confirm_window(lg_launch *launch)
{
    if (launch->forked || !lg__window_or_mark_finishes(launch))
        return;
    pthread_mutex_lock(&launch->lock);
    struct lg__life *life = launch->life;
    bool settled = !life || life->finished;
    pthread_mutex_unlock(&launch->lock);
    if (!settled)
        lg__confirm_launch(life);
}

/* The mark counts. Under the launch's lock. Returns true if it finishes the launch. */
static bool note_mark(lg_launch *launch)
{
    atomic_store(&launch->state->marked, 1);
    LG_FAULT_POINT("run: marked");
    return launch->options.finish != LG_FINISH_BOTH || lg__window_has_passed(launch);
}

void lg__confirm_tasks(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    pthread_mutex_lock(&launch->lock);
    bool counts = lg__life_current(life) && life->mark_waits && lg__launch_phase(launch) == LG_PHASE_LAUNCHING &&
                  !lg__launch_has_task(launch, LG_TASK_HELD) && !lg__launch_has_task(launch, LG_TASK_RUNNING);
    life->mark_waits = life->mark_waits && !counts;
    bool confirm = counts && note_mark(launch);
    pthread_mutex_unlock(&launch->lock);
    if (confirm && !launch->forked)
        lg__confirm_launch(life);
}

lg_status lg_launch_finished(lg_launch *launch)
{
    lg_status status = LG_OK;
    bool confirm = false;
    if (!launch)
        return LG_ERR_ARGUMENT;
    if (launch->forked)
        return LG_OK;
    lg__confirm_window(launch);
    pthread_mutex_lock(&launch->lock);
    struct lg__life *life = launch->life;
    if (!life || !life->finished) {
        if (!life || !life->decided || lg__launch_phase(launch) != LG_PHASE_LAUNCHING) {
            status = LG_ERR_STATE;
        } else if (launch->options.finish != LG_FINISH_TIME) {
            /* the mark says nothing about tasks that have not begun */
            bool waited = life->mark_waits;
            life->mark_waits = lg__launch_has_task(launch, LG_TASK_HELD);
            confirm = !life->mark_waits && note_mark(launch);
            if (life->mark_waits && !waited)
                lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: marked as finished; that counts when the tasks have run", launch->name);
        }
    }
    pthread_mutex_unlock(&launch->lock);
    if (confirm)
        lg__confirm_launch(life);
    lg__host_hand_over(launch->host);
    return status;
}
