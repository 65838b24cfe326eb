#include "capture/crash.h"

#include "os/fault_point.h"
#include "os/os.h"

/* A signal that ends the process all the same comes within microseconds of CPU time. */
#define SETTLE_NS UINT64_C(1000000000)

struct lg__crash lg__crash_slots[LG__CRASHES];
__thread bool lg__crash_entered __attribute__((tls_model("initial-exec")));

/* ---- the lock ---- */

static _Atomic uint32_t lock_holder; /* futex: thread, or unnamed(); 0: open */
static _Atomic uint32_t lock_next;   /* thread that has waited; 0: none */
static struct lg__crash *current_crash;
static _Atomic uint32_t latest_sequence; /* of the latest crash */

/* No thread has a number with this bit: the kernel's largest is 2^22 (PID_MAX_LIMIT). The bits
 * below it are those of the frame's address, in eights. */
#define UNNAMED (UINT32_C(1) << 31)

/* The frames between the handler's and the one that asks for the number fit in here. No other
 * thread's stack does. */
#define BENEATH UINT32_C(4096)

LG__FIRST static uint32_t unnamed(uint64_t frame)
{
    return UNNAMED | (uint32_t)(frame >> 3);
}

int32_t lg__crash_holder(void)
{
    const uint32_t holder = atomic_load(&lock_holder);
    return holder & UNNAMED ? LG__CRASH_UNNAMED : (int32_t)holder;
}

bool lg__crash_lock(int32_t self, bool has_waited)
{
    uint32_t nobody = 0, me = (uint32_t)self;
    bool handed = has_waited && atomic_load(&lock_holder) == me;
    if (!handed && !atomic_compare_exchange_strong(&lock_holder, &nobody, me))
        return false;
    atomic_compare_exchange_strong(&lock_next, &me, 0);
    return true;
}

bool lg__crash_name(int32_t self, const void *frame)
{
    uint32_t mine = unnamed((uint64_t)(uintptr_t)frame);
    return atomic_compare_exchange_strong(&lock_holder, &mine, (uint32_t)self);
}

bool lg__crash_is_unnamed_self(uint64_t sp)
{
    const uint32_t holder = atomic_load(&lock_holder);
    return holder & UNNAMED && ((holder - unnamed(sp)) & ~UNNAMED) <= BENEATH / 8;
}

bool lg__crash_take_over(int32_t self)
{
    uint32_t holder = atomic_load(&lock_holder);
    return holder & UNNAMED && atomic_compare_exchange_strong(&lock_holder, &holder, (uint32_t)self);
}

void lg__crash_wait(uint64_t timeout_ns)
{
    uint32_t nobody = 0, self = (uint32_t)lg__os_tid(), seen = atomic_load(&lock_holder);
    atomic_compare_exchange_strong(&lock_next, &nobody, self);
    if (seen && seen != self)
        lg__os_futex_wait((const uint32_t *)&lock_holder, seen, timeout_ns);
}

/* A thread that crashes and recovers without a pause must not delay another thread's crash: the
 * lock goes to the thread that waits. */
void lg__crash_unlock(void)
{
    current_crash = NULL;
    const uint32_t next = atomic_exchange(&lock_next, 0);
    atomic_store(&lock_holder, next);
    /* A thread that begins to wait from here on sees that the holder is another. */
    if (next)
        lg__os_futex_wake((const uint32_t *)&lock_holder);
}

struct lg__crash *lg__crash_current(void)
{
    return current_crash;
}

/* ---- handlers that recover ---- */

/* From so many faults that the next one needs no record: a program with fewer can afford them. */
#define OFTEN 64u

static _Atomic uint32_t recoveries[SIGSYS + 1];

bool lg__crash_recovers(int signal)
{
    return atomic_load_explicit(&recoveries[signal], memory_order_relaxed);
}

bool lg__crash_recovers_often(int signal)
{
    return atomic_load_explicit(&recoveries[signal], memory_order_relaxed) >= OFTEN;
}

static bool is_of_instruction(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP || signal == SIGSYS || signal == SIGABRT;
}

static void trust(int signal)
{
    if (is_of_instruction(signal) && !lg__crash_recovers_often(signal))
        atomic_fetch_add_explicit(&recoveries[signal], 1, memory_order_relaxed);
}

void lg__crash_distrust(int signal)
{
    atomic_store_explicit(&recoveries[signal], 0, memory_order_relaxed);
}

/* ---- states ---- */

LG__FIRST static uint64_t word_of(uint32_t number, enum lg__crash_state state)
{
    return (uint64_t)number << 8 | state;
}

bool lg__crash_action_is_default(int signal)
{
    uintptr_t handler = lg__os_signal_now(signal).handler;
    return handler == (uintptr_t)SIG_DFL || handler == (uintptr_t)SIG_IGN;
}

bool lg__crash_settled(const struct lg__crash *crash, uint64_t now_ns)
{
    uint64_t left = atomic_load(&crash->left_ns);
    return left && now_ns >= left && now_ns - left >= SETTLE_NS;
}

bool lg__crash_event(struct lg__crash *crash, uint32_t number, enum lg__crash_event event, bool unseen)
{
    uint64_t word = atomic_load(&crash->word);
    const long timer = atomic_load(&crash->timer);
    enum lg__crash_state to;
    do {
        to = lg__crash_next(lg__crash_state(word), event, unseen);
        if (lg__crash_sequence(word) != number || to == lg__crash_state(word))
            return false;
        if (to == LG__CRASH_LEFT)
            atomic_store(&crash->left_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    } while (!atomic_compare_exchange_weak(&crash->word, &word, word_of(number, to)));
    if (lg__crash_state(word) == LG__CRASH_CHAINED && timer >= 0)
        lg__os_timer_end(timer);
    if (to == LG__CRASH_LEFT) {
        lg__run_left(&lg__fixed.options.run, lg__crash_slot_of(crash), number);
        lg__capture_wake_watch(); /* nothing else would make the watch thread look a second later */
    }
    if (to == LG__CRASH_ENDING) /* of several crashes this one is the end */
        lg__run_outcome(&lg__fixed.options.run, lg__crash_slot_of(crash), number, LG__OUTCOME_DYING);
    if (to == LG__CRASH_SURVIVED) {
        if (lg__crash_state(word) == LG__CRASH_CHAINED && (event == LG__CRASH_RETURNS || event == LG__CRASH_OUTSIDE || event == LG__CRASH_REPEATS))
            trust(crash->info.si_signo);
        LG_FAULT_POINT("crash: survived");
        lg__run_survived(&lg__fixed.options.run, lg__crash_slot_of(crash), number);
    }
    return true;
}

static bool has_time(const struct lg__crash *crash, uint32_t until)
{
    uint64_t word = atomic_load(&crash->word);
    return lg__crash_state(word) == LG__CRASH_CHAINED && lg__crash_sequence(word) <= until &&
           atomic_load(&crash->deadline_ns) <= atomic_load(&crash->handler_ns);
}

bool lg__capture_open_until(uint32_t until)
{
    for (int i = 0; i < LG__CRASHES; i++)
        if (has_time(&lg__crash_slots[i], until))
            return true;
    return lg__crash_holder() != 0;
}

bool lg__capture_busy(void)
{
    return lg__capture_open_until(UINT32_MAX);
}

uint32_t lg__capture_latest(void)
{
    return atomic_load(&latest_sequence);
}

void lg__crash_forget(void)
{
    memset(lg__crash_slots, 0, sizeof lg__crash_slots);
    atomic_store(&lock_holder, 0);
    atomic_store(&lock_next, 0);
    atomic_store(&latest_sequence, 0);
    current_crash = NULL;
}

/* ---- a new crash ---- */

LG__FIRST static struct lg__crash *begin(struct lg__crash *crash, uint32_t number, const siginfo_t *info, bool siginfo_lost)
{
    crash->info = *info;
    crash->siginfo_lost = siginfo_lost;
    crash->within = 0;
    crash->owes = false;
    crash->handler_sp = crash->altstack_low = crash->return_pc = 0;
    atomic_store(&crash->left_ns, 0);
    atomic_store(&crash->deadline_ns, 0);
    atomic_store(&crash->handler_ns, 0);
    atomic_store(&crash->looked_ns, 0);
    atomic_store(&crash->timer, -1);
    lg__run_outcome(&lg__fixed.options.run, lg__crash_slot_of(crash), number, LG__OUTCOME_RECORDING);
    /* the row "free, begins" */
    atomic_store(&crash->word, word_of(number, LG__CRASH_RECORDING));
    current_crash = crash;
    return crash;
}

LG__FIRST static struct lg__crash *unused_slot(void)
{
    for (struct lg__crash *crash = lg__crash_slots; crash < lg__crash_slots + LG__CRASHES; crash++)
        if (!atomic_load(&crash->word))
            return crash;
    return NULL;
}

LG__FIRST struct lg__crash *lg__crash_begin_unnamed(int signal, const siginfo_t *info, const void *frame)
{
    uint32_t nobody = 0;
    struct lg__crash *crash = unused_slot();
    if (!crash || !atomic_compare_exchange_strong(&lock_holder, &nobody, unnamed((uint64_t)(uintptr_t)frame)))
        return NULL;
    crash = unused_slot(); /* another crash may have come between */
    if (!crash) {
        lg__crash_unlock();
        return NULL;
    }
    crash->tid = 0; /* until it is certain that this is a crash */
    begin(crash, atomic_fetch_add(&latest_sequence, 1) + 1, info, false);
    if (info->si_signo != signal) /* other code took SA_SIGINFO from the handler */
        crash->info = (siginfo_t){ .si_signo = signal, .si_code = SI_KERNEL };
    return crash;
}

void lg__crash_leave(struct lg__crash *earlier)
{
    const unsigned slot = lg__crash_slot_of(earlier);
    if (slot) {
        lg__run_uncommit(&lg__fixed.options.run, slot);
    } else { /* has the header alone, and its many pages need not exist */
        lg__run_uncommit_stage(&lg__fixed.options.run, slot, LG_STAGE_HEADER);
        lg__run_outcome(&lg__fixed.options.run, slot, 0, LG__OUTCOME_DYING);
    }
    atomic_store(&earlier->word, 0);
}

void lg__crash_take_back(struct lg__crash *crash)
{
    lg__crash_leave(crash);
    atomic_fetch_sub(&latest_sequence, 1);
    lg__crash_unlock();
}

static struct lg__crash_slot look_at(const struct lg__crash *crash, uint64_t now)
{
    const uint64_t word = atomic_load(&crash->word);
    return (struct lg__crash_slot){ lg__crash_state(word), lg__crash_sequence(word), lg__crash_settled(crash, now) };
}

static struct lg__crash *choose_slot(bool brief)
{
    struct lg__crash_slot slots[LG__CRASHES];
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    struct lg__crash *crash;
    do {
        for (int i = 0; i < LG__CRASHES; i++)
            slots[i] = look_at(&lg__crash_slots[i], now);
        int chosen = lg__crash_next_slot(slots, LG__CRASHES, brief);
        crash = &lg__crash_slots[chosen];
        lg__crash_event(crash, slots[chosen].sequence, LG__CRASH_DISPLACED, false);
    } while (lg__crash_next_is_open(lg__crash_state(atomic_load(&crash->word))));
    return crash;
}

bool lg__crash_is_full_free(void)
{
    const struct lg__crash_slot full = look_at(&lg__crash_slots[0], lg__os_clock_ns(CLOCK_MONOTONIC));
    return lg__crash_next_is_full_free(&full);
}

struct lg__crash *lg__crash_begin(int32_t tid, const siginfo_t *info, bool siginfo_lost, struct lg__crash *earlier, bool brief)
{
    const bool is_full = earlier && lg__crash_slot_of(earlier) == 0;
    struct lg__crash *crash = is_full && !brief ? earlier : earlier && !is_full && brief ? earlier : choose_slot(brief);
    if (earlier && !is_full && lg__crash_slot_of(crash))
        crash = earlier; /* as good as any other brief one */
    /* In a slot that no crash had before nothing is committed, and its many pages need not
     * exist. */
    if (crash != earlier && lg__crash_sequence(atomic_load(&crash->word)))
        lg__run_uncommit(&lg__fixed.options.run, lg__crash_slot_of(crash));
    crash->tid = tid;
    return begin(crash, earlier ? lg__crash_sequence(atomic_load(&earlier->word)) : atomic_fetch_add(&latest_sequence, 1) + 1, info, siginfo_lost);
}

struct lg__crash *lg__crash_find(uint32_t sequence)
{
    for (struct lg__crash *crash = lg__crash_slots; crash < lg__crash_slots + LG__CRASHES; crash++) {
        const uint64_t word = atomic_load(&crash->word);
        if (lg__crash_sequence(word) == sequence && lg__crash_next_is_open(lg__crash_state(word)))
            return crash;
    }
    return NULL;
}
