/* Marks of a program that may be ended without a word: it lives on after it was asked to end, or
 * has nearly used up its CPU time. For the watch thread: takes no lock and allocates nothing. */
#include "os/os.h"
#include "session/session.h"

#define SECOND_NS UINT64_C(1000000000)
#define MINUTE_NS (60 * SECOND_NS)

/* Asked to end, and alive. The mark is set for the first time after a second, which is longer than
 * a program takes that ends when asked; then every second, and less and less often for a program
 * that has other plans with the signal. */
static uint64_t watch_term(struct lg__state *state, uint64_t now)
{
    if (!atomic_load(&state->term_signal) || !atomic_load(&state->term_kept))
        return UINT64_MAX;
    uint64_t asked = atomic_load(&state->term_ns), lived = now > asked ? now - asked : 0;
    if (lived < SECOND_NS)
        return SECOND_NS - lived;
    atomic_store(&state->term_alive_ns, now);
    return lived < MINUTE_NS ? SECOND_NS : lived < MINUTE_NS * 60 ? lived / 60 : MINUTE_NS;
}

/* The time left at which the mark is set: a second, or a tenth of a limit of less than ten. */
static uint64_t near_ns(uint64_t limit_s)
{
    return limit_s < 10 ? limit_s * (SECOND_NS / 10) : SECOND_NS;
}

#define CPU_PAUSE_MIN_NS UINT64_C(10000000)

/* SIGKILL comes when CPU time reaches the hard limit; no handler runs. The thread sleeps until the
 * limit can be near: all processors together use it up no faster. */
static uint64_t watch_cpu(struct lg_session *session, struct lg__state *state, uint64_t now)
{
    uint64_t limit_s, used_ns;
    if (!lg__os_cpu_limit(&limit_s, &used_ns) || limit_s > UINT64_MAX / SECOND_NS) {
        if (atomic_load(&state->cpu_near_ns))
            atomic_store(&state->cpu_near_ns, 0);
        return UINT64_MAX;
    }
    uint64_t limit_ns = limit_s * SECOND_NS, left = limit_ns > used_ns ? limit_ns - used_ns : 0, near = near_ns(limit_s);
    if (left > near) {
        uint64_t pause = (left - near) / lg__os_processors();
        if (atomic_load(&state->cpu_near_ns))
            atomic_store(&state->cpu_near_ns, 0); /* the limit was raised */
        return pause > CPU_PAUSE_MIN_NS ? pause : CPU_PAUSE_MIN_NS;
    }
    if (!atomic_load(&state->cpu_near_ns)) {
        atomic_store(&state->cpu_used_ns, used_ns);
        atomic_store(&state->cpu_limit_s, limit_s);
        atomic_store(&state->cpu_near_ns, now ? now : 1);
        lg__host_log(&session->host, LG_LEVEL_WARNING, "launchguard: %llu ms of CPU time are used, and at %llu s the kernel ends the program",
                     (unsigned long long)(used_ns / 1000000u), (unsigned long long)limit_s);
    }
    return SECOND_NS;
}

uint64_t lg__limits_look(struct lg_session *session, uint64_t now)
{
    struct lg__state *state = session->host.run.state;
    if (atomic_load(&session->host.closed))
        return LG__NEVER;
    uint64_t term = watch_term(state, now), cpu = watch_cpu(session, state, now);
    return term < cpu ? term : cpu;
}
