/* The threads that a window needs: the watch thread, which counts, and where the program listens a
 * thread of libc, which calls on_status when the window has passed. */
#include "capture/capture.h"
#include "launch/internal.h"
#include "os/os.h"

#define IDLE_NS UINT64_C(3600000000000)

static void *await_window(void *argument)
{
    struct lg__life *life = argument;
    lg_launch *launch = life->launch;
    lg__capture_own_begin();
    lg__capture_thread_begin();
    for (;;) {
        uint32_t over = atomic_load(&launch->over);
        uint64_t sleep = IDLE_NS;
        pthread_mutex_lock(&launch->lock);
        bool goes_on = lg__life_current(life) && !life->finished && !atomic_load(&launch->host->closed);
        if (goes_on && !launch->counts)
            sleep = lg__window_left(launch);
        else if (goes_on && !launch->host->watched)
            sleep = lg__window_look(launch, lg__os_clock_ns(CLOCK_MONOTONIC));
        pthread_mutex_unlock(&launch->lock);
        if (!goes_on || lg__launch_phase(launch) == LG_PHASE_TERMINATING)
            break;
        if (lg__window_finishes(launch))
            lg__confirm_launch(life);
        else if (!lg__capture_wait((const uint32_t *)&launch->over, over, sleep < IDLE_NS ? sleep : IDLE_NS))
            break;
    }
    lg__capture_own_end();
    return NULL;
}

void lg__await_window(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    bool counts = lg__window_ns(launch) > 0, watches = counts || launch->options.heartbeat_ms;
    bool waits = counts && launch->options.on_status;
    if (launch->forked || !watches)
        return;
    if (launch->counts && !launch->host->watched)
        waits = true;
    bool first = waits && atomic_exchange(&launch->window.awaited, life) != life;
    if (launch->counts)
        lg__wake_now(launch->host);
    bool fails = launch->counts && launch->host->watched && !lg__capture_watched();
    if (first && !lg__callback_detach(await_window, life, true))
        fails = true;
    else if (!first)
        lg__window_wake(launch); /* held in between: the thread looks anew */
    if (fails)
        lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: no thread for its window; only lg_launch_finished() finishes it", launch->name);
}
