/* Marks of a program that may soon be killed without a trace: the program lives on after it was
 * asked to end, has forked, or has nearly used up its CPU time. For the watch thread: takes no lock
 * and allocates nothing. */
#include <signal.h>

#include "os/os.h"
#include "session/session.h"

#define SECOND_NS UINT64_C(1000000000)
#define MINUTE_NS (60 * SECOND_NS)

/* Asked to end, and alive. The mark is set for the first time after a second, which is longer than
 * a program takes that ends when asked; then every second, and less and less often for a program
 * that has other plans with the signal. A SIGHUP that was seen to be no request needs no second
 * mark. */
static uint64_t watch_term(struct lg__state *state, uint64_t now)
{
    int32_t signal = atomic_load(&state->term_signal);
    if (!signal || !atomic_load(&state->term_kept))
        return UINT64_MAX;
    uint64_t asked = atomic_load(&state->term_ns), lived = now > asked ? now - asked : 0;
    if (signal == SIGHUP && atomic_load(&state->term_alive_ns) > asked)
        return UINT64_MAX;
    if (lived < SECOND_NS)
        return SECOND_NS - lived;
    atomic_store(&state->term_alive_ns, now);
    return lived < MINUTE_NS ? SECOND_NS : lived < MINUTE_NS * 60 ? lived / 60 : MINUTE_NS;
}

/* The parent in daemon() leaves right after its fork, by _exit(). The mark stands for as long as
 * that may take, and no longer: a program that works on beside a helper, and is killed, did not
 * leave. */
#define LEAVES_NS (SECOND_NS / 10)

void lg__limits_forked(struct lg_session *session)
{
    if (lg__session_check(session) != LG_OK || !lg__session_launching(session))
        return;
    atomic_store(&session->host.run.state->forked_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    lg__wake_now(&session->host);
}

static uint64_t watch_fork(struct lg__state *state, uint64_t now)
{
    uint64_t forked = atomic_load(&state->forked_ns), lived = now > forked ? now - forked : 0;
    if (!forked)
        return UINT64_MAX;
    if (lived < LEAVES_NS)
        return LEAVES_NS - lived;
    return atomic_compare_exchange_strong(&state->forked_ns, &forked, 0) ? UINT64_MAX : LEAVES_NS;
}

/* The time left at which the mark is set: a second, or a tenth of a limit of less than ten. */
static uint64_t near_ns(uint64_t limit_s)
{
    return limit_s < 10 ? limit_s * (SECOND_NS / 10) : SECOND_NS;
}

#define CPU_PAUSE_MIN_NS UINT64_C(10000000)
#define CPU_PAUSE_NEAR_NS (SECOND_NS / 4)
#define CPU_PAUSE_IDLE_NS MINUTE_NS
/* A program that gets no processor looks idle for a while, and is not. */
#define CPU_IDLE_NS SECOND_NS

/* Whether the program uses CPU time so fast that two seconds are enough for the rest. */
static bool is_burning(const struct lg__cpu_look *before, uint64_t used_ns, uint64_t left, uint64_t now)
{
    if (!before->at_ns || now <= before->at_ns)
        return false;
    double rate = (double)(used_ns - before->used_ns) / (double)(now - before->at_ns);
    return rate * 2 * (double)SECOND_NS >= (double)left;
}

/* Near the limit, and not for long. */
static bool idles_briefly(struct lg__cpu_look *look, uint64_t since, uint64_t now)
{
    if (!look->near)
        return false;
    if (!look->idle_at_ns)
        look->idle_at_ns = since;
    return now - look->idle_at_ns < CPU_IDLE_NS;
}

uint64_t lg__limits_cpu(struct lg__cpu_look *look, uint64_t limit_s, uint64_t used_ns, unsigned processors, uint64_t now)
{
    struct lg__cpu_look before = *look;
    uint64_t limit_ns = limit_s * SECOND_NS, left = limit_ns > used_ns ? limit_ns - used_ns : 0, near = near_ns(limit_s);
    if (left <= near && before.at_ns && now - before.at_ns < CPU_PAUSE_MIN_NS) /* shows no rate */
        return CPU_PAUSE_MIN_NS;
    look->at_ns = now;
    look->used_ns = used_ns;
    if (left > near) {
        uint64_t pause = (left - near) / processors;
        look->near = false; /* the limit was raised */
        look->pause_ns = CPU_PAUSE_MIN_NS;
        return pause > CPU_PAUSE_MIN_NS ? pause : CPU_PAUSE_MIN_NS;
    }
    if (is_burning(&before, used_ns, left, now)) {
        look->near = true;
        look->idle_at_ns = 0;
        look->pause_ns = CPU_PAUSE_NEAR_NS;
    } else if (idles_briefly(look, before.at_ns, now)) {
        look->pause_ns = CPU_PAUSE_NEAR_NS;
    } else {
        look->near = false;
        look->pause_ns = look->pause_ns < CPU_PAUSE_MIN_NS ? CPU_PAUSE_MIN_NS : 2 * look->pause_ns;
        look->pause_ns = look->pause_ns < CPU_PAUSE_IDLE_NS ? look->pause_ns : CPU_PAUSE_IDLE_NS;
    }
    return look->pause_ns;
}

static void mark_cpu(struct lg_session *session, struct lg__state *state, uint64_t limit_s, uint64_t used_ns, uint64_t now)
{
    if (atomic_load(&state->cpu_near_ns))
        return;
    atomic_store(&state->cpu_used_ns, used_ns);
    atomic_store(&state->cpu_limit_s, limit_s);
    atomic_store(&state->cpu_near_ns, now ? now : 1);
    if (!session->cpu.logged)
        lg__host_log(&session->host, LG_LEVEL_WARNING, "launchguard: %llu ms of CPU time are used, and at %llu s the kernel ends the program",
                     (unsigned long long)(used_ns / 1000000u), (unsigned long long)limit_s);
    session->cpu.logged = true;
}

/* SIGKILL comes when CPU time reaches the hard limit; no handler runs. */
static uint64_t watch_cpu(struct lg_session *session, struct lg__state *state, uint64_t now)
{
    uint64_t limit_s, used_ns, pause = LG__NEVER;
    if (lg__os_cpu_limit(&limit_s, &used_ns) && limit_s <= UINT64_MAX / SECOND_NS)
        pause = lg__limits_cpu(&session->cpu, limit_s, used_ns, lg__os_processors(), now);
    else
        session->cpu.near = false;
    if (session->cpu.near)
        mark_cpu(session, state, limit_s, used_ns, now);
    else if (atomic_load(&state->cpu_near_ns))
        atomic_store(&state->cpu_near_ns, 0);
    return pause;
}

uint64_t lg__limits_look(struct lg_session *session, uint64_t now)
{
    struct lg__state *state = session->host.run.state;
    if (atomic_load(&session->host.closed))
        return LG__NEVER;
    const uint64_t looks[] = { watch_term(state, now), watch_fork(state, now), watch_cpu(session, state, now) };
    uint64_t next = LG__NEVER;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        next = looks[i] < next ? looks[i] : next;
    return next;
}
