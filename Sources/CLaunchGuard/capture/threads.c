/* Stage 6: the other threads. Each one captures its own registers on a signal and then waits, so that its stack stands still while the
 * crashed thread walks it. */
#include "capture/internal.h"
#include "os/fault_point.h"

/* How long to wait before asking the kernel why a thread does not answer. */
#define ANSWER_NS UINT64_C(2000000)
/* The longest wait is this part of the deadline. */
#define PATIENCE_PART 10u
/* All stacks are walked in this part of the deadline: what comes behind wants its turn. */
#define WALK_PART 4u
#define EXEMPT_MAX 4
/* How long a probe waits for its answer. */
#define PROBE_NS UINT64_C(50000000)

static struct {
    _Atomic uint32_t generation; /* number of the crash whose threads are asked */
    _Atomic uint32_t released;   /* futex: threads of this crash may go on */
    _Atomic uint32_t answered;   /* futex */
    _Atomic uint32_t expected;   /* the answer with this number wakes the crashed thread; until all are asked, none does */
    _Atomic uint32_t asked;    /* slots in use */
    uint32_t unasked, walked;  /* of these, whose thread could not be asked; whose stack was walked */
    struct lg__os_disposition before;
    bool taken;
} park;

/* Who writes a slot: the thread itself, or the crashed one in its place; whoever comes first. */
enum claim { FREE, CLAIMED, UNASKED };
static _Atomic uint8_t claims[LG__THREADS_MAX];

static bool claim_as(uint32_t slot, enum claim claim)
{
    uint8_t nobody = FREE;
    return atomic_compare_exchange_strong(&claims[slot], &nobody, (uint8_t)claim);
}
static bool claim(uint32_t slot) { return claim_as(slot, CLAIMED); }

static _Atomic int32_t exempt[EXEMPT_MAX]; /* threads of LaunchGuard that have to go on while a crash is recorded */

static void exchange(int32_t from, int32_t to)
{
    for (int i = 0; i < EXEMPT_MAX; i++) {
        int32_t is = from;
        if (atomic_compare_exchange_strong(&exempt[i], &is, to))
            return;
    }
}

void lg__threads_exempt(void)
{
    exchange(0, lg__os_tid());
}

void lg__threads_exempt_no_more(void)
{
    exchange(lg__os_tid(), 0);
}

bool lg__threads_are_exempt(int32_t tid)
{
    for (int i = 0; i < EXEMPT_MAX; i++)
        if (atomic_load(&exempt[i]) == tid)
            return true;
    return false;
}

static const struct lg__run *run(void)
{
    return &lg__capture.options.run;
}

/* ---- on the other threads ---- */

static void answer(uint32_t index, const void *ucontext)
{
    lg__thread_capture(&run()->slots[index], ucontext);
    if (atomic_fetch_add(&park.answered, 1) + 1 >= atomic_load(&park.expected))
        lg__os_futex_wake((const uint32_t *)&park.answered);
}

void lg__threads_answer(const void *ucontext)
{
    int32_t self = lg__os_tid();
    for (uint32_t i = 0, asked = atomic_load(&park.asked); i < asked; i++)
        if (run()->slots[i].tid == self && claim(i))
            answer(i, ucontext);
}

#define PROBE UINT32_MAX /* in place of a slot: is this thread still inside the earlier handler that was called for its crash? */
static _Atomic uint32_t probing; /* thread that asks; 0: none */
static _Atomic uint32_t probed;  /* futex: enum lg__place, plus one */

/* Who asks does not wait for long, and asks again: a question that comes while one is being answered is the same, and finds the first one's answer. */
static void answer_probe(const void *ucontext)
{
    static __thread bool answering __attribute__((tls_model("initial-exec")));
    if (answering)
        return;
    answering = true;
    LG_FAULT_POINT("thread: probed");
    atomic_store(&probed, 1 + (uint32_t)lg__capture_place(ucontext));
    lg__os_futex_wake((const uint32_t *)&probed);
    answering = false;
}

static void on_park(int signal, siginfo_t *info, void *ucontext)
{
    uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    uint32_t generation = (uint32_t)(value >> 32), index = (uint32_t)value;
    if (info->si_code != SI_QUEUE || info->si_pid != lg__capture.pid) { /* libc's own use of the signal */
        if (park.before.handler > (uintptr_t)SIG_IGN)
            ((void (*)(int, siginfo_t *, void *))park.before.handler)(signal, info, ucontext);
        return;
    }
    if (index == PROBE) {
        answer_probe(ucontext);
        return;
    }
    if (index & LG__SNAPSHOT_QUESTION) {
        lg__snapshot_answer(generation, index & ~LG__SNAPSHOT_QUESTION, ucontext);
        return;
    }
    if (generation != atomic_load(&park.generation) || index >= park.asked)
        return; /* too late: that crash was survived */
    LG_FAULT_POINT("thread: asked");
    if (run()->slots[index].tid != lg__os_tid() || !claim(index))
        return;
    answer(index, lg__snapshot_stands() ? lg__snapshot_stands() : ucontext);
    LG_FAULT_POINT("thread: answered");
    uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + (uint64_t)lg__capture.options.deadline_ms * 1000000u, now;
    uint32_t released;
    while ((int32_t)((released = atomic_load(&park.released)) - generation) < 0 && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until)
        lg__os_futex_wait((const uint32_t *)&park.released, released, until - now);
}

/* ---- on the crashed thread ---- */

static bool ask(uint32_t number, void *argument)
{
    struct lg__crash_threads *counts = argument;
    int32_t tid = (int32_t)number;
    if (tid == lg__latch_owner() || lg__threads_are_exempt(tid))
        return true;
    counts->listed++;
    if (park.asked == run()->slot_count) {
        counts->omitted++;
        return true;
    }
    struct lg__thread *slot = &run()->slots[park.asked];
    lg__thread_clear(slot, tid);
    atomic_store(&claims[park.asked], 0);
    park.asked++; /* before the question: its answer looks there */
    if (lg__os_signal_ask(lg__capture.pid, tid, LG__PARK_SIGNAL, lg__threads_question(atomic_load(&park.generation), park.asked - 1)) != 0 &&
        claim_as(park.asked - 1, UNASKED)) /* the user's queue of signals is full, or the thread has just ended */
        park.unasked++;
    return true;
}

static void wait_for_answers(uint32_t expected, uint64_t until)
{
    uint32_t answered;
    uint64_t now;
    atomic_store(&park.expected, expected);
    while ((answered = atomic_load(&park.answered)) < expected && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until)
        lg__os_futex_wait((const uint32_t *)&park.answered, answered, until - now);
}

/* Threads that will not answer, so that nobody waits for them. */
static uint32_t count_mute(void)
{
    uint32_t mute = 0, state;
    uint64_t blocked;
    for (uint32_t i = 0; i < park.asked; i++)
        if (!atomic_load(&claims[i]) && lg__thread_blocks(run()->slots[i].tid, &blocked, &state) != 0)
            mute++;
    return mute;
}

/* What the kernel tells of a thread that did not answer. */
static void describe(uint32_t index, struct lg__crash_threads *counts)
{
    struct lg__thread *slot = &run()->slots[index];
    if (!lg__thread_describe(slot))
        counts->listed--; /* it ended meanwhile */
    else if (slot->how == LG_THREAD_MASKED)
        counts->masked++;
    else
        counts->silent++;
}

static void describe_the_rest(struct lg__crash_threads *counts)
{
    for (uint32_t i = 0; i < park.asked; i++) {
        if (atomic_load(&claims[i]) == UNASKED || claim(i)) {
            describe(i, counts);
            continue;
        }
        /* It is writing, or has written, by itself. */
        for (uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + ANSWER_NS;
             !atomic_load(&run()->slots[i].commit) && lg__os_clock_ns(CLOCK_MONOTONIC) < until;) {}
        counts->captured++;
    }
}

/* Take the signal. It stays taken: a late answer must not find the default action, which would end the process with the wrong status. */
bool lg__threads_take_signal(void)
{
    /* It does not block itself: a thread that is about to answer does not look as one that will not. */
    const struct lg__os_disposition ours = { (uintptr_t)on_park, SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER };
    struct lg__os_disposition before = lg__os_signal_now(LG__PARK_SIGNAL);
    if (park.taken)
        return true;
    /* Before ours is there: libc may be in the middle of its own use, and wait for an answer for ever. */
    if (before.handler != (uintptr_t)on_park) /* the watch and a crash may both come here at once */
        park.before = before;
    if (lg__os_signal_take(LG__PARK_SIGNAL, &ours, lg__capture_mask() & ~LG__PARK_BIT, SIGSEGV, &before) != 0)
        return false;
    LG_FAULT_POINT("threads: signal taken");
    park.taken = true;
    return true;
}

static void begin(struct lg__crash_threads *counts)
{
    memset(counts, 0, sizeof *counts);
    atomic_store(&park.asked, 0);
    park.unasked = park.walked = 0;
    atomic_store(&park.answered, 0);
    atomic_store(&park.expected, UINT32_MAX);
    atomic_fetch_add(&park.generation, 1);
    LG_FAULT_POINT("threads: asks");
    if (!lg__threads_take_signal()) {
        counts->error = -1;
        return;
    }
    long listed = lg__files_list_threads(ask, counts);
    counts->error = listed < 0 ? (int32_t)-listed : 0;
}

void lg__stage_threads(void)
{
    struct lg__crash_threads *counts = lg__run_stage(run(), LG_STAGE_THREADS);
    uint64_t start = lg__os_clock_ns(CLOCK_MONOTONIC);
    begin(counts);
    uint32_t expected = park.asked - park.unasked;
    wait_for_answers(expected, start + ANSWER_NS);
    if (atomic_load(&park.answered) < expected)
        wait_for_answers(expected - count_mute(), start + (uint64_t)lg__capture.options.deadline_ms * 1000000u / PATIENCE_PART);
    counts->waited_ns = lg__os_clock_ns(CLOCK_MONOTONIC) - start;
    describe_the_rest(counts);
    lg__run_commit(run(), LG_STAGE_THREADS, sizeof *counts);
}

void lg__threads_walk(void)
{
    uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + (uint64_t)lg__capture.options.deadline_ms * 1000000u / WALK_PART;
    while (park.walked < park.asked && lg__os_clock_ns(CLOCK_MONOTONIC) < until) {
        struct lg__thread *slot = &run()->slots[park.walked++]; /* first: a walk that crashes is not tried again */
        if (atomic_load(&slot->commit) && slot->pc)
            lg__thread_walk(slot);
    }
}

bool lg__threads_left(void)
{
    return park.walked < park.asked;
}

uint32_t lg__threads_count(void)
{
    return park.asked;
}

void lg__threads_release(void)
{
    atomic_store(&park.released, atomic_load(&park.generation));
    lg__os_futex_wake((const uint32_t *)&park.released);
}

enum lg__place lg__threads_probe(int32_t tid)
{
    uint32_t nobody = 0;
    enum lg__place place = LG__PLACE_NO_ANSWER;
    if (!atomic_compare_exchange_strong(&probing, &nobody, (uint32_t)lg__os_tid()))
        return place; /* somebody else asks */
    atomic_store(&probed, 0);
    if (lg__os_signal_send(lg__capture.pid, tid, 0) != 0)
        place = LG__PLACE_OUTSIDE; /* the thread has ended */
    else if (!lg__threads_take_signal() || lg__os_signal_ask(lg__capture.pid, tid, LG__PARK_SIGNAL, lg__threads_question(0, PROBE)) != 0)
        place = lg__capture_place_asleep(tid);
    else {
        uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + PROBE_NS, now;
        while (!atomic_load(&probed) && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until)
            lg__os_futex_wait((const uint32_t *)&probed, 0, until - now);
        place = atomic_load(&probed) ? (enum lg__place)(atomic_load(&probed) - 1) : lg__capture_place_asleep(tid);
    }
    atomic_store(&probing, 0);
    return place;
}
