/* Time as a proof of life. It is counted in slices, and a slice is worth no more than it should
 * have lasted: a process that was stopped, or slept with the machine, did not live meanwhile. */
#include "capture/capture.h"
#include "launch/internal.h"
#include "os/os.h"

#define SLICE_MAX_NS UINT64_C(250000000)
#define IDLE_NS UINT64_C(3600000000000)
#define SLICE_MIN_NS UINT64_C(5000000)

/* A launch without a heartbeat for longer than its threshold is marked as hanging; the next
 * heartbeat takes the mark back. Returns true while heartbeats come. */
static bool launch_beats(lg_launch *launch, uint64_t now)
{
    uint64_t most = (uint64_t)launch->options.heartbeat_ms * 1000000u;
    uint64_t beat = atomic_load(&launch->host->heartbeat_ns), begun = atomic_load(&launch->state->launching_ns);
    uint64_t last = beat < begun ? begun : beat;
    bool alive = now < last || now - last <= most || atomic_load(&launch->host->heartbeat_paused);
    if (!alive && !atomic_load(&launch->host->hangs[LG__HANG_LAUNCH])) {
        lg__hang_begin(launch->host, LG__HANG_LAUNCH, last);
        if (atomic_load(&launch->host->heartbeat_ns) > beat)
            /* it came in between, and did not see the mark */
            lg__hang_end(launch->host, LG__HANG_LAUNCH);
        else
            lg__wake_now(launch->host);
    }
    return alive;
}

static void *count_window(void *argument)
{
    struct lg__life *life = argument;
    lg_launch *launch = life->launch;
    const lg_launch_options *options = &launch->options;
    uint64_t window_ns = options->finish == LG_FINISH_MARK ? 0 : (uint64_t)options->window_ms * 1000000u, counted_ns = 0;
    uint64_t shortest = options->heartbeat_ms ? (uint64_t)options->heartbeat_ms * 1000000u / 4 : SLICE_MAX_NS;
    uint64_t slice_ns = window_ns && window_ns / 16 < shortest ? window_ns / 16 : shortest;
    slice_ns = slice_ns < SLICE_MIN_NS ? SLICE_MIN_NS : slice_ns > SLICE_MAX_NS ? SLICE_MAX_NS : slice_ns;
    uint32_t crashes = 0;
    bool has_passed = false, is_over = false;
    uint64_t last = lg__os_clock_ns(CLOCK_MONOTONIC), opened = atomic_load(&launch->state->launching_ns);
    for (;;) {
        uint32_t over = atomic_load(&launch->over);
        if (!lg__launch_goes_on(life) || atomic_load(&launch->status) == LG_LAUNCH_NORMAL)
            break;
        uint64_t left = window_ns > counted_ns ? window_ns - counted_ns : slice_ns;
        /* the window has passed; only the mark is missing */
        bool idle = window_ns && is_over && !options->heartbeat_ms;
        lg__os_futex_wait((const uint32_t *)&launch->over, over, idle ? IDLE_NS : left < slice_ns ? left : slice_ns);
        uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), passed = now - last;
        last = now;
        if (lg__launch_phase(launch) != LG_PHASE_LAUNCHING)
            continue; /* held: what passes is no survival */
        if (opened != atomic_load(&launch->state->launching_ns)) {
            /* held meanwhile: what it lived before proves nothing */
            opened = atomic_load(&launch->state->launching_ns);
            counted_ns = 0;
            has_passed = is_over = false;
            continue;
        }
        if (options->heartbeat_ms && !launch_beats(launch, now))
            continue;
        counted_ns += passed < 2 * slice_ns ? passed : slice_ns;
        if (!window_ns || counted_ns < window_ns)
            continue;
        /* A crash that came in the window may yet be the end of this launch: its earlier handler
         * runs. Later ones do not count. */
        if (!has_passed)
            crashes = lg__capture_latest();
        has_passed = true;
        if (lg__capture_open_until(crashes))
            continue;
        pthread_mutex_lock(&launch->lock);
        life->window_over = is_over = true;
        bool marked = atomic_load(&launch->state->marked);
        pthread_mutex_unlock(&launch->lock);
        if (options->finish != LG_FINISH_BOTH || marked)
            lg__confirm_launch(life);
    }
    if (options->heartbeat_ms && lg__launch_goes_on(life) && lg__hang_end(launch->host, LG__HANG_LAUNCH))
        lg__wake_now(launch->host); /* for its snapshot */
    return NULL;
}

void lg__window_begin(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    bool time = launch->options.finish != LG_FINISH_MARK && launch->options.window_ms > 0;
    if (launch->forked || (!time && !launch->options.heartbeat_ms))
        return;
    pthread_mutex_lock(&launch->lock);
    bool first = !life->window_begun;
    life->window_begun = true;
    pthread_mutex_unlock(&launch->lock);
    if (!first) { /* held in between: the thread that counts may be asleep, and begins anew */
        atomic_fetch_add(&launch->over, 1);
        lg__os_futex_wake((const uint32_t *)&launch->over);
        return;
    }
    if (!lg__callback_detach(count_window, life, true))
        lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: no thread for its window; only lg_launch_finished() finishes it", launch->name);
}
