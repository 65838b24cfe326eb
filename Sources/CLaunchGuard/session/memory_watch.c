/* lg_memory_watch(), lg_memory_unwatch(): a sleeping thread that looks how much memory is left, and
 * reports a shortage. The order is mark, breadcrumb, stacks, callback, as the kernel may end the
 * program at any time. */
#include "launchguard/watch.h"

#include <errno.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"

/* Far from the limit the thread looks every second; in the last quarter before the mark more often,
 * as a program can use up memory fast. The thread looks by itself: memory.pressure does not exist
 * everywhere, memory.events comes after the fact, and the thresholds of version 1 count cached
 * files. */
#define PAUSE_NS UINT64_C(1000000000)
#define PAUSE_NEAR_NS UINT64_C(200000000)

/* The watch thread takes the stacks. The program, which will free memory, is called after this time
 * at the latest. */
#define STACKS_NS LG_PATIENCE(UINT64_C(600000000))

enum stacks { STACKS_NONE, STACKS_WANTED, STACKS_TAKEN };

static struct {
    _Atomic uint32_t turn;     /* futex: odd while a watch runs */
    _Atomic uint32_t stop;     /* futex: the turn whose watch is to end */
    _Atomic int32_t thread;    /* of the watch that runs: tid */
    _Atomic uint32_t stacks;   /* futex: enum stacks; of the first shortage alone */
    _Atomic uint64_t short_ns; /* since when there is a shortage, CLOCK_MONOTONIC */
    lg_session *session;
    uint32_t percent;
    lg_memory_callback callback;
    void *user;
} watched;

/* Percent of a number that may be large. */
static uint64_t percent_of(uint64_t number, uint32_t percent)
{
    return number / 100 * percent + number % 100 * percent / 100;
}

/* The mark is removed when less than nine tenths of its threshold are in use. */
static bool sample_memory(struct lg__os_memory *ret_memory)
{
    return lg__os_memory("", watched.percent * 9 / 10, ret_memory);
}

static void mark_near_limit(struct lg__state *state, const struct lg__os_memory *memory)
{
    atomic_store(&state->memory_used, memory->used);
    atomic_store(&state->memory_limit, memory->limit);
    atomic_store(&state->memory_own, memory->of_cgroup ? lg__os_own_memory() : 0);
    atomic_store(&state->memory_near_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
}

/* A kill that this process outlives hit another process. */
static void outlive_kills(struct lg__state *state)
{
    uint64_t cgroup, kills;
    if (lg__os_oom_kills(NULL, &cgroup, &kills) && cgroup == atomic_load(&state->oom_cgroup))
        atomic_store(&state->oom_kills, kills);
}

uint64_t lg__memory_watch_look(struct lg_session *session)
{
    (void)session;
    if (atomic_load(&watched.stacks) != STACKS_WANTED)
        return LG__NEVER;
    const struct lg__snapshot_wish wish = { LG_SNAPSHOT_MEMORY, 0, "", atomic_load(&watched.short_ns), 0 };
    lg__snapshot_take(&wish);
    atomic_store(&watched.stacks, STACKS_TAKEN);
    lg__os_futex_wake((const uint32_t *)&watched.stacks);
    return LG__NEVER;
}

static void take_stacks(struct lg__host *host)
{
    uint32_t none = STACKS_NONE;
    const uint64_t since = atomic_load(&host->run.state->memory_near_ns), until = since + STACKS_NS;
    atomic_store(&watched.short_ns, since);
    if (watched.session->leave_out & LG_LEAVE_OUT_THREADS || !atomic_compare_exchange_strong(&watched.stacks, &none, STACKS_WANTED))
        return;
    lg__capture_exempt(); /* before the threads are listed */
    lg__wake_now(host);
    uint64_t now = since;
    while (atomic_load(&watched.stacks) == STACKS_WANTED && now < until &&
           lg__capture_wait((const uint32_t *)&watched.stacks, STACKS_WANTED, until - now))
        now = lg__os_clock_ns(CLOCK_MONOTONIC);
    lg__capture_exempt_no_more();
}

static void report_near_limit(const struct lg__os_memory *memory)
{
    const lg_memory figures = { memory->used, memory->limit, (uint32_t)((double)memory->used * 100 / (double)memory->limit), memory->of_cgroup };
    lg__host_log(&watched.session->host, LG_LEVEL_WARNING, "launchguard: memory is near its limit: %llu of %llu bytes, %u %%%s",
                 (unsigned long long)memory->used, (unsigned long long)memory->limit, figures.percent, memory->of_cgroup ? " of the cgroup" : "");
    take_stacks(&watched.session->host);
    lg__host_hand_over(&watched.session->host);
    if (watched.callback)
        watched.callback(&figures, watched.user);
}

static void forget_near_limit(struct lg__state *state)
{
    atomic_store(&state->memory_near_ns, 0);
    lg__snapshot_resolve(LG_SNAPSHOT_MEMORY, atomic_load(&watched.short_ns));
}

/* From here on another watch may begin. */
static void leave_turn(void)
{
    atomic_store(&watched.thread, 0);
    atomic_fetch_add(&watched.turn, 1);
    lg__os_futex_wake((const uint32_t *)&watched.turn);
}

static void *watch_memory(void *argument)
{
    struct lg__host *host = &watched.session->host;
    struct lg__os_memory memory;
    const uint32_t turn = atomic_load(&watched.turn);
    bool near = false;
    (void)argument;
    atomic_store(&watched.thread, lg__os_tid());
    lg__capture_own_begin();
    lg__capture_thread_begin();
    while (!atomic_load(&host->closed)) {
        const uint32_t stop = atomic_load(&watched.stop);
        uint64_t pause = PAUSE_NS;
        if (stop == turn)
            break;
        LG_FAULT_POINT("memory: looks");
        outlive_kills(host->run.state);
        if (sample_memory(&memory)) {
            uint64_t threshold = percent_of(memory.limit, watched.percent);
            if (memory.used >= threshold) {
                mark_near_limit(host->run.state, &memory);
                if (!near)
                    report_near_limit(&memory);
                near = true;
            } else if (near && memory.used < threshold / 10 * 9) {
                near = false;
                forget_near_limit(host->run.state);
                lg__host_log(host, LG_LEVEL_INFO, "launchguard: memory is no longer near its limit: %llu of %llu bytes",
                             (unsigned long long)memory.used, (unsigned long long)memory.limit);
                lg__host_hand_over(host);
            }
            if (!near && memory.used >= threshold / 4 * 3)
                pause = PAUSE_NEAR_NS;
        }
        if (!lg__capture_wait((const uint32_t *)&watched.stop, stop, pause))
            break;
    }
    if (near && atomic_load(&watched.stop) == turn) /* else the mark says how the run ended */
        forget_near_limit(host->run.state);
    lg__capture_own_end();
    leave_turn();
    return NULL;
}

lg_status lg_memory_watch(lg_session *session, uint32_t percent, lg_memory_callback callback, void *user)
{
    struct lg__os_memory memory;
    if (!session || percent < 1 || percent > 100)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status != LG_OK || session->host.simulated) /* memory is not simulated */
        return status;
    uint32_t turn = atomic_load(&watched.turn);
    if (turn % 2 || !atomic_compare_exchange_strong(&watched.turn, &turn, turn + 1))
        return LG_ERR_ALREADY;
    watched.session = session;
    watched.percent = percent;
    watched.callback = callback;
    watched.user = user;
    if (!sample_memory(&memory))
        status = LG_ERR_NOT_FOUND;
    else if (!lg__callback_detach(watch_memory, NULL, true))
        status = LG_ERR_SYSTEM;
    if (status != LG_OK)
        leave_turn();
    if (status == LG_ERR_SYSTEM)
        errno = EAGAIN; /* what pthread_create(3) has for it */
    return status;
}

lg_status lg_memory_unwatch(lg_session *session)
{
    if (!session)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status != LG_OK || session->host.simulated)
        return status;
    const uint32_t turn = atomic_load(&watched.turn);
    if (turn % 2 == 0)
        return LG_ERR_NOT_FOUND;
    atomic_store(&watched.stop, turn);
    lg__os_futex_wake((const uint32_t *)&watched.stop);
    if (atomic_load(&watched.thread) == lg__os_tid())
        return LG_OK; /* in the callback: the watch ends when it has returned */
    while (atomic_load(&watched.turn) == turn)
        lg__os_futex_wait((const uint32_t *)&watched.turn, turn, LG__NEVER);
    return LG_OK;
}
