/* The wait for the crash lock. */
#include "capture/deadline.h"
#include "capture/internal.h"
#include "os/fault_point.h"

/* A thread that waits for the crash lock checks at this interval whether the time for any record is
 * over. */
#define LOOK_NS UINT64_C(20000000)
/* The watch thread has this time beyond a deadline before a waiting thread acts in its place. */
#define GRACE_NS UINT64_C(2000000000)

/* Within this time it mostly shows whether another thread's crash is one. */
#define UNDECIDED_NS UINT64_C(10000000)

static uint64_t patience_ns(void)
{
    return (uint64_t)lg__fixed.options.deadline_ms * 1000000u + GRACE_NS;
}

/* The crash of the thread that has the lock is one: no first chance takes it back any more. */
static bool is_decided(int32_t holder)
{
    const struct lg__crash *current = lg__crash_current();
    return current && current->tid == holder;
}

/* A brief record has no notes; the other thread may be done meanwhile. A fault that the program
 * recovers from as a rule is nothing to note. */
static bool is_noted(int signal)
{
    const struct lg__crash *current = lg__crash_current();
    return (!current || lg__crash_slot_of(current) == 0) && !lg__crash_recovers(signal);
}

/* The holder has not asked for its number yet. It is this thread, which crashed once more before it
 * could; or another, which may have to wait long for a processor; or this one, which a signal of
 * the program's interrupted before. */
static bool takes_over(int32_t self, uint64_t sp, uint64_t waited_ns)
{
    return (lg__crash_is_unnamed_self(sp) || waited_ns > patience_ns()) && lg__crash_take_over(self);
}

bool lg__wait_for_lock(int signal, int32_t self, const void *ucontext)
{
    struct lg__arch_fault fault;
    uint64_t until = 0, begun = 0, looked = 0;
    uint32_t waits_for = 0;
    bool is_said = false;
    static const uint32_t nobody_wakes = 0;
    lg__arch_fault(ucontext, &fault);
    while (!lg__crash_lock(self, until != 0)) {
        int32_t holder = lg__crash_holder();
        if (holder == self)
            return false;
        uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
        begun = begun ? begun : now;
        if (holder == LG__CRASH_UNNAMED) {
            if (takes_over(self, fault.sp, now - begun))
                break;
            lg__os_futex_wait(&nobody_wakes, 0, LOOK_NS / 1000);
            continue;
        }
        const bool decided = is_decided(holder);
        if (!decided && now - begun < UNDECIDED_NS) {
            lg__os_futex_wait(&nobody_wakes, 0, LOOK_NS / 1000);
            continue;
        }
        LG_FAULT_POINT("lock: another's");
        if (decided && !is_said) {
            is_said = true;
            if (is_noted(signal))
                lg__run_note(&lg__fixed.options.run, LG_NOTE_ALSO_CRASHED, signal, self, lg__record_stage(), fault.pc);
        }
        uint32_t latest = lg__capture_latest();
        /* Each crash has its own time: one thread may crash and recover over and over. */
        if (latest != waits_for || !until || now - looked > GRACE_NS) /* the process was stopped */
            until = now + patience_ns();
        waits_for = latest;
        looked = now;
        if (now > until) {
            lg__deadline_end_holder();
            return false; /* the holder has gone, and left no crash to end the process by */
        }
        lg__other_threads_answer(ucontext);
        lg__crash_wait(LOOK_NS);
    }
    return true;
}
