/* The handler ends: a crash that takes longer than the deadline is ended by the watch thread. */
#include "capture/internal.h"
#include "os/fault_point.h"

static void set(uint32_t ms)
{
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    atomic_store(&lg__capture.deadline_ns, now + (uint64_t)ms * 1000000u);
}

void lg__capture_wake(void)
{
    uint32_t *wake = lg__capture.options.wake;
    if (!wake)
        return;
    __atomic_fetch_add(wake, 1, __ATOMIC_SEQ_CST);
    lg__os_futex_wake(wake);
}

void lg__deadline_arm(void)
{
    set(lg__capture.options.deadline_ms);
    lg__capture_wake();
}

void lg__deadline_arm_handler(void)
{
    set(lg__capture.options.handler_ms);
    /* It sleeps until the record's deadline, or is yet to see one; waking it takes time, and is needed only where this one may come first. */
    if (lg__capture.options.handler_ms < lg__capture.options.deadline_ms)
        lg__capture_wake();
}

void lg__deadline_disarm(void)
{
    atomic_store(&lg__capture.deadline_ns, 0);
}

/* Asked this often, this long apart, and always found there: a handler of something else that looks the same passes. */
#define PROBES 3
#define PROBES_APART_NS UINT64_C(20000000)

/* A thread that does not answer is asked again so often: others may be asking, or have the processors. */
#define TRIES 200

/* The time until `deadline` is over while an earlier handler had it. It may have jumped out long ago, and the program be well; or it is only now called,
 * and has time of its own. */
static bool hangs_in_handler(uint64_t deadline)
{
    static const uint32_t nobody_wakes = 0;
    uint32_t sequence = lg__capture.sequence;
    for (int tries = 0, inside = 0; inside < PROBES; tries++) {
        enum lg__place place = lg__threads_probe(lg__latch_owner());
        if (place != LG__PLACE_INSIDE && (place != LG__PLACE_NO_ANSWER || tries == TRIES || sequence != lg__capture.sequence))
            return false;
        inside += place == LG__PLACE_INSIDE;
        /* Not in step with those that ask at equal distances. */
        lg__os_futex_wait(&nobody_wakes, 0, place == LG__PLACE_INSIDE ? PROBES_APART_NS : PROBES_APART_NS / 16);
    }
    return sequence == lg__capture.sequence && atomic_load(&lg__capture.deadline_ns) == deadline;
}

/* While an earlier handler has its time it is looked so often whether that has jumped out: nothing else is watched meanwhile. */
#define LOOK_NS UINT64_C(1000000000)

/* Who sleeps in that handler is not asked: the signal would end its sleep. Twice: it may have come out to die at once. */
static bool has_jumped_out(void)
{
    static const uint32_t nobody_wakes = 0;
    if (!atomic_load(&lg__capture.chain_low))
        return false; /* nor without an alternate stack, where only asking tells */
    for (int i = 0; i < 2; i++) {
        if (i)
            lg__os_futex_wait(&nobody_wakes, 0, PROBES_APART_NS);
        int32_t tid = lg__latch_owner();
        enum lg__place place = lg__capture_place_asleep(tid);
        if (place == LG__PLACE_NO_ANSWER)
            place = lg__threads_probe(tid);
        if (place != LG__PLACE_OUTSIDE)
            return false;
    }
    return true;
}

/* What is committed stays. The process dies of its own signal, on this thread because the crashed one does not answer. */
static _Noreturn void end_process(void)
{
    int signal = lg__capture.info.si_signo;
    lg__os_signal_default(signal);
    if (lg__os_pid() != 1 && lg__os_signal_queue(lg__os_pid(), lg__os_tid(), signal, &lg__capture.info) == 0)
        lg__os_signal_block(signal, false); /* delivered here */
    lg__os_exit(128 + signal);
}

uint64_t lg__capture_deadline(void)
{
    for (uint64_t deadline; (deadline = atomic_load(&lg__capture.deadline_ns)) != 0;) {
        uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
        uint32_t sequence = lg__capture.sequence;
        if (now < deadline) {
            if (atomic_load(&lg__capture.phase) != LG__PHASE_CHAINING || !has_jumped_out()) {
                now = lg__os_clock_ns(CLOCK_MONOTONIC); /* asking took its time */
                return now >= deadline ? 1 : deadline - now < LOOK_NS ? deadline - now : LOOK_NS;
            }
        } else {
            LG_FAULT_POINT("deadline: over");
            bool chaining = atomic_load(&lg__capture.phase) == LG__PHASE_CHAINING;
            if (chaining ? hangs_in_handler(deadline) : atomic_load(&lg__capture.deadline_ns) == deadline) /* that phase may be of a later crash */
                end_process();
        }
        if (atomic_compare_exchange_strong(&lg__capture.deadline_ns, &deadline, 0)) { /* unless another has been set */
            LG_FAULT_POINT("deadline: left");
            lg__latch_left(sequence); /* the latch stays with its thread, until a new crash asks where that is */
        }
    }
    return UINT64_MAX;
}
