/* Time as a proof of life. It is counted in slices, and a slice is worth no more than it should
 * have lasted: a process that was stopped, or slept with the machine, did not live meanwhile.
 *
 * The watch thread counts. It takes no lock, so it only notes that the window has passed: in the
 * run file, where the note holds for a death from then on, and in `passed_for`. The next call of
 * the program, or a thread that waits to call on_status, then updates ledger and status. A thread
 * of its own counts for a simulated launch. For a launch without stored state plain time is
 * enough, as it proves nothing. */
#include "capture/capture.h"
#include "launch/internal.h"
#include "os/fault_point.h"
#include "os/os.h"

#define SLICE_MAX_NS UINT64_C(250000000)
#define SLICE_MIN_NS UINT64_C(5000000)

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t lg__window_ns(const lg_launch *launch)
{
    return launch->options.finish == LG_FINISH_MARK ? 0 : (uint64_t)launch->options.window_ms * 1000000u;
}

static uint64_t slice_ns(const lg_launch *launch)
{
    uint64_t window = lg__window_ns(launch), heartbeat = (uint64_t)launch->options.heartbeat_ms * 1000000u / 4;
    uint64_t slice = least(window ? window / 16 : LG__NEVER, heartbeat ? heartbeat : LG__NEVER);
    return slice < SLICE_MIN_NS ? SLICE_MIN_NS : least(slice, SLICE_MAX_NS);
}

uint64_t lg__window_left(const lg_launch *launch)
{
    uint64_t opened = atomic_load(&launch->window.opened_ns);
    uint64_t end = opened + lg__window_ns(launch), now = lg__os_clock_ns(CLOCK_MONOTONIC);
    if (!opened || !lg__window_ns(launch))
        return LG__NEVER;
    return end > now ? end - now : 0;
}

bool lg__window_has_passed(const lg_launch *launch)
{
    if (!launch->counts)
        return lg__window_left(launch) == 0;
    uint64_t opened = atomic_load(&launch->window.opened_ns);
    return opened && atomic_load(&launch->window.passed_for) == opened;
}

bool lg__window_finishes(const lg_launch *launch)
{
    return lg__window_has_passed(launch) && (launch->options.finish != LG_FINISH_BOTH || atomic_load(&launch->state->marked));
}

bool lg__window_or_mark_finishes(const lg_launch *launch)
{
    return lg__window_finishes(launch) || (lg__run_is_finished(launch->state) && atomic_load(&launch->state->phase) == LG_PHASE_LAUNCHING);
}

/* In the ledger as well, where a run without a file has left nothing else. */
static void note_in_ledger(const lg_launch *launch)
{
    _Atomic uint32_t *passed = &launch->host->ledger.hot->passed;
    uint32_t is = atomic_load(passed), will, run = LG__PASSED_RUN(launch->host->run.identity->ordinal);
    do
        will = ((is & LG__PASSED_RUN(UINT32_MAX)) == run ? is : run) | 1u << launch->index;
    while (!atomic_compare_exchange_weak(passed, &is, will));
}

void lg__window_note(lg_launch *launch)
{
    uint32_t launching = LG_PHASE_LAUNCHING;
    if (!lg__window_finishes(launch))
        return;
    if (atomic_load(&launch->state->phase) == launching)
        atomic_store(&launch->state->finished_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    if (launch->counts)
        note_in_ledger(launch);
    atomic_compare_exchange_strong(&launch->state->phase, &launching, LG_PHASE_FINISHED);
}

/* *ret_last: the latest heartbeat, or the moment from which on there must be some. */
static bool heartbeats_come(const lg_launch *launch, uint64_t now, uint64_t *ret_last)
{
    uint64_t most = (uint64_t)launch->options.heartbeat_ms * 1000000u;
    uint64_t beat = atomic_load(&launch->host->heartbeat_ns), begun = atomic_load(&launch->state->launching_ns);
    uint64_t last = *ret_last = beat < begun ? begun : beat;
    return now < last || now - last <= most || atomic_load(&launch->host->heartbeat_paused) || atomic_load(&launch->host->waits);
}

/* A launch without a heartbeat for longer than its threshold is marked as hanging; the next
 * heartbeat takes the mark back. Returns true while heartbeats come. */
static bool launch_beats(lg_launch *launch, uint64_t opened, uint64_t now)
{
    uint64_t last;
    bool alive = heartbeats_come(launch, now, &last);
    if (!alive && !atomic_load(&launch->host->hangs[LG__HANG_LAUNCH])) {
        LG_FAULT_POINT("window: hangs");
        lg__hang_begin(launch->host, LG__HANG_LAUNCH, last);
        if (atomic_load(&launch->window.opened_ns) != opened || heartbeats_come(launch, now, &last))
            /* a heartbeat, a pause or the end of the window came in between, and did not see the
             * mark */
            lg__hang_end(launch->host, LG__HANG_LAUNCH);
    }
    return alive;
}

/* A crash that came in the window may yet be the end of this launch: its earlier handler runs.
 * Later ones do not count. */
static bool no_crash_is_open(struct lg__window *window)
{
    if (!window->is_over)
        window->crashes = lg__capture_latest();
    window->is_over = true;
    return !lg__capture_open_until(window->crashes) && !lg__capture_repeats();
}

void lg__window_wake(lg_launch *launch)
{
    if (!atomic_load(&launch->window.awaited))
        return;
    atomic_fetch_add(&launch->over, 1);
    lg__os_futex_wake((const uint32_t *)&launch->over);
}

uint64_t lg__window_look(lg_launch *launch, uint64_t now)
{
    struct lg__window *window = &launch->window;
    const uint64_t opened = atomic_load(&window->opened_ns), whole = lg__window_ns(launch), slice = slice_ns(launch);
    if (!opened)
        return LG__NEVER; /* held: time that passes proves no survival */
    uint64_t passed = now - window->last_ns;
    window->last_ns = now;
    if (window->seen_ns != opened) { /* the life before a hold proves nothing */
        window->seen_ns = opened;
        window->counted_ns = passed = 0;
        window->is_over = false;
    }
    bool watches_heartbeat = launch->options.heartbeat_ms, beats = !watches_heartbeat || launch_beats(launch, opened, now);
    if (!whole || lg__window_has_passed(launch))
        return watches_heartbeat ? slice : LG__NEVER;
    if (beats && !atomic_load(&window->idle) && !atomic_load(&launch->host->waits))
        window->counted_ns += passed < 2 * slice ? passed : slice;
    if (window->counted_ns < whole)
        return least(whole - window->counted_ns, slice);
    if (!no_crash_is_open(window))
        return slice;
    atomic_store(&window->passed_for, opened);
    lg__window_note(launch);
    lg__window_wake(launch);
    return watches_heartbeat ? slice : LG__NEVER;
}

uint64_t lg__window_look_around(struct lg__host *host)
{
    uint64_t sleep = LG__NEVER;
    const uint32_t count = atomic_load(&host->launch_count);
    for (uint32_t i = 0; i < count; i++)
        sleep = least(sleep, lg__window_look(host->launches[i], lg__os_clock_ns(CLOCK_MONOTONIC)));
    return sleep;
}

void lg__window_close(lg_launch *launch)
{
    atomic_store(&launch->window.idle, false);
    if (!atomic_exchange(&launch->window.opened_ns, 0))
        return;
    if (launch->options.heartbeat_ms && lg__hang_end(launch->host, LG__HANG_LAUNCH))
        lg__wake_now(launch->host); /* its snapshot then says that the hang is over */
    lg__window_wake(launch);
}
