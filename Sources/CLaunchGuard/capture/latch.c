/* One crash at a time is recorded: others wait, unless the one before was taken back by an earlier handler that jumped out. */
#include "capture/internal.h"
#include "os/fault_point.h"

/* How often a thread that crashed second looks whether the first one has gone on. */
#define LOOK_NS UINT64_C(20000000)

/* Whose crash it is, and above that which one: who has seen that this thread came out of an earlier handler must not take the place of its next crash. */
#define TID_BITS 22 /* of the kernel's PID_MAX_LIMIT */

static uint32_t word_of(uint32_t tid)
{
    return tid | (lg__capture.sequence + 1) << TID_BITS;
}

static uint32_t tid_of(uint32_t word)
{
    return word & ((UINT32_C(1) << TID_BITS) - 1);
}

/* Its record has begun: what is known of a phase and a number is known of this crash. */
static bool is_recorded(uint32_t word, uint32_t sequence)
{
    return word >> TID_BITS == (sequence & (UINT32_MAX >> TID_BITS));
}

int32_t lg__latch_owner(void)
{
    return (int32_t)tid_of(atomic_load(&lg__capture.latch));
}

void lg__latch_left(uint32_t sequence)
{
    uint32_t known = atomic_load(&lg__capture.survived);
    while ((int32_t)(sequence - known) > 0 && !atomic_compare_exchange_strong(&lg__capture.survived, &known, sequence)) {}
}

/* Who jumped out of an earlier handler keeps the latch until another crash asks where it is; nothing is under way meanwhile. */
bool lg__capture_busy(void)
{
    return atomic_load(&lg__capture.latch) != 0 && atomic_load(&lg__capture.survived) != lg__capture.sequence;
}

/* A signal that came from outside is no crash of the stage that it interrupted. What abort() and raise() send is. */
bool lg__capture_sent(const siginfo_t *info)
{
    return info->si_code <= 0 && !(info->si_code == SI_TKILL && info->si_pid == lg__capture.pid);
}

/* Who waits for its turn. A thread that jumps out of crashes lets it go first at its next one: it may crash so often that nobody ever sees it outside. */
static _Atomic uint32_t heir;

static void be_heir(uint32_t self)
{
    uint32_t nobody = 0;
    atomic_compare_exchange_strong(&heir, &nobody, self);
}

static void be_heir_no_more(uint32_t self)
{
    atomic_compare_exchange_strong(&heir, &self, 0);
}

/* The calling thread has the latch from the crash before, out of whose earlier handler it jumped. True: for this one, too. */
static bool take_again(uint32_t word)
{
    uint32_t next = atomic_exchange(&heir, 0);
    if (!atomic_compare_exchange_strong(&lg__capture.latch, &word, word_of(next ? next : tid_of(word))))
        return false;
    if (next)
        lg__os_futex_wake((const uint32_t *)&lg__capture.latch);
    return !next;
}

/* The calling thread crashed again: in the earlier handler, or did that one jump out, and the program go on? */
static bool still_inside(const ucontext_t *ucontext)
{
    struct lg__arch_fault fault;
    enum lg__place place = lg__capture_place(ucontext);
    lg__arch_fault(ucontext, &fault);
    return place == LG__PLACE_UNKNOWN ? lg__chain_has(fault.sp, &ucontext->uc_stack) : place == LG__PLACE_INSIDE;
}

bool lg__latch_take(int signal, const siginfo_t *info, const ucontext_t *ucontext)
{
    uint32_t self = (uint32_t)lg__os_tid();
    uint64_t until = 0;
    uint32_t was_outside = 0;
    for (;;) {
        uint32_t owner = 0;
        if (atomic_compare_exchange_strong(&lg__capture.latch, &owner, word_of(self)))
            break;
        uint32_t sequence = lg__capture.sequence;
        bool chaining = is_recorded(owner, sequence) && atomic_load(&lg__capture.phase) == LG__PHASE_CHAINING;
        if (tid_of(owner) == self && until)
            break; /* it was handed over */
        if (tid_of(owner) == self) {
            if (!lg__capture_sent(info))
                lg__memory_recover();
            if (!chaining || still_inside(ucontext)) {
                if (!lg__capture_sent(info))
                    lg__record_recrash(signal, ucontext);
                return false;
            }
            if (take_again(owner)) /* the program went on: this is a new crash */
                break;
            continue;
        }
        LG_FAULT_POINT("latch: another's");
        if (!until) {
            struct lg__arch_fault fault;
            lg__arch_fault(ucontext, &fault);
            lg__run_note(&lg__capture.options.run, LG_NOTE_ALSO_CRASHED, signal, (int)self, atomic_load(&lg__capture.stage), fault.pc);
            lg__threads_answer(ucontext);
            /* Without an alternate stack it cannot tell; after the time for both it is not believed to come back. The watch thread may know before. */
            until = lg__os_clock_ns(CLOCK_MONOTONIC) +
                    ((uint64_t)lg__capture.options.deadline_ms + lg__capture.options.handler_ms) * 1000000u;
        }
        be_heir(self);
        /* Wait for the other crash to end the process. An earlier handler may have taken it back and jumped out: that thread tells. */
        lg__os_futex_wait((const uint32_t *)&lg__capture.latch, owner, LOOK_NS);
        bool over = lg__os_clock_ns(CLOCK_MONOTONIC) > until;
        if (!chaining || sequence != lg__capture.sequence)
            continue;
        enum lg__place place = lg__threads_probe((int32_t)tid_of(owner));
        LG_FAULT_POINT("latch: probed");
        bool outside = place == LG__PLACE_OUTSIDE, left = place == LG__PLACE_UNKNOWN && atomic_load(&lg__capture.survived) == sequence;
        /* Twice: it may have come out to die at once. */
        if ((over || left || (outside && was_outside == owner)) && atomic_compare_exchange_strong(&lg__capture.latch, &owner, word_of(self)))
            break;
        was_outside = outside ? owner : 0;
    }
    LG_FAULT_POINT("latch: won");
    be_heir_no_more(self);
    lg__deadline_disarm(); /* of the crash before: what comes now is not what it is for */
    if (lg__capture.sequence)
        lg__run_uncommit(&lg__capture.options.run);
    atomic_store(&lg__capture.phase, LG__PHASE_IDLE);
    LG_FAULT_POINT("latch: taken");
    return true;
}
