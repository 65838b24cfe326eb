/* Snapshots: the stacks of a program that lives, taken by the watch thread when it hangs or a job of it is about to overrun.
 *
 * The threads are asked by the same signal as those of a crash, all at once, the one that matters first. Each captures its registers, stands still
 * until its own stack has been walked, and goes on; nobody stands longer than the bound. Nothing here is shared with a crash: it has other
 * slots, other questions, another walker. A thread that stands here answers a crash from where it was before, and the snapshot ends when a crash
 * begins. */
#include "capture/internal.h"
#include "os/fault_point.h"
#include "store/crc32c.h"

/* The whole snapshot takes no longer, nor does a thread stand. */
#define BOUND_NS UINT64_C(500000000)
/* So much of it is for the thread that matters, before the others are asked. */
#define FIRST_NS UINT64_C(125000000)
/* How long until it is looked whether a crash has begun. */
#define SLICE_NS UINT64_C(20000000)
/* Who has begun to write its slot is waited for so long. */
#define ANSWER_NS UINT64_C(2000000)

/* What becomes of an asked thread. Who changes the word from ASKED writes the slot; from STANDS on the watch thread does. */
enum answer { FREE, ASKED, ANSWERING, STANDS, LEFT, DONE };
#define ANSWER_BITS 3u

#define PLACES (LG__SNAPSHOT_THREADS_MAX + 1u) /* those of the hang, and that of the deadline */
static _Atomic uint32_t words[PLACES]; /* futexes: number of the snapshot, enum answer */

static _Atomic uint32_t answered;  /* futex */
static _Atomic uint64_t until_ns;  /* when all go on */
static _Atomic uint64_t taken_for[LG__SNAPSHOTS]; /* since_ns of the snapshot that is there; 0: none */

/* Of the watch thread alone. */
static struct {
    uint32_t turn;     /* number of the snapshot */
    uint32_t first, last; /* its places; `next` is the first one that is free */
    uint32_t next;
    int32_t tid;       /* was asked first */
    uint32_t listed, omitted;
} taking;

static struct lg__arch_mark walk_mark;
static _Atomic bool walking; /* walk_mark is set */

static __thread const void *stands __attribute__((tls_model("initial-exec")));

static const struct lg__run *run(void)
{
    return &lg__capture.options.run;
}

static struct lg__thread *slot_at(uint32_t place)
{
    return &run()->snapshot_slots[place < LG__SNAPSHOT_THREADS_MAX ? place : run()->hang_slots];
}

static uint32_t word_of(uint32_t turn, enum answer answer)
{
    return turn << ANSWER_BITS | (uint32_t)answer;
}

static enum answer answer_at(uint32_t place)
{
    return (enum answer)(atomic_load(&words[place]) & ((1u << ANSWER_BITS) - 1));
}

static bool change(uint32_t place, uint32_t turn, enum answer from, enum answer to)
{
    uint32_t is = word_of(turn, from);
    return atomic_compare_exchange_strong(&words[place], &is, word_of(turn, to));
}

void lg__capture_watches(void)
{
    lg__walker = LG__WALKER_WATCH;
}

/* ---- on the threads that are asked ---- */

const void *lg__snapshot_stands(void)
{
    return stands;
}

void lg__snapshot_answer(uint32_t turn, uint32_t place, const void *ucontext)
{
    struct lg__arch_fault context;
    lg__arch_fault(ucontext, &context);
    /* A thread that crashes does not stand for this, be it before the first instruction of its handler. */
    if (place >= PLACES || stands || lg__capture_busy() || lg__handler_entered() || context.pc == (uint64_t)(uintptr_t)lg__handler_crash ||
        !change(place, turn, ASKED, ANSWERING))
        return;
    stands = ucontext;
    LG_FAULT_POINT("snapshot: answers");
    lg__thread_capture(slot_at(place), ucontext);
    change(place, turn, ANSWERING, STANDS);
    atomic_fetch_add(&answered, 1);
    lg__os_futex_wake((const uint32_t *)&answered);
    LG_FAULT_POINT("snapshot: stands");
    uint64_t until = atomic_load(&until_ns), now;
    while (atomic_load(&words[place]) == word_of(turn, STANDS) && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until)
        lg__os_futex_wait((const uint32_t *)&words[place], word_of(turn, STANDS), until - now);
    change(place, turn, STANDS, LEFT);
    stands = NULL;
}

/* ---- on the watch thread ---- */

static void ask(int32_t tid)
{
    taking.listed++;
    /* Who was still writing its slot when an earlier snapshot ended may not have come further. */
    while (taking.next < taking.last && answer_at(taking.next) == ANSWERING)
        taking.next++;
    if (taking.next == taking.last) {
        taking.omitted++;
        return;
    }
    uint32_t place = taking.next++;
    lg__thread_clear(slot_at(place), tid);
    atomic_store(&words[place], word_of(taking.turn, ASKED));
    /* One that cannot be asked, because the user's queue of signals is full, is described with those that do not answer. */
    lg__os_signal_ask(lg__capture.pid, tid, LG__PARK_SIGNAL, lg__threads_question(taking.turn, LG__SNAPSHOT_QUESTION | place));
}

static bool ask_other(uint32_t number, void *argument)
{
    int32_t tid = (int32_t)number;
    (void)argument;
    if (tid != taking.tid && !lg__threads_are_exempt(tid))
        ask(tid);
    return true;
}

/* In the handler: the fault was made by a walk of this thread. */
void lg__snapshot_recover(void)
{
    if (!atomic_load(&walking))
        return;
    lg__memory_recover();
    if (atomic_exchange(&walking, false))
        lg__arch_jump(&walk_mark);
}

/* Threads that go on may take away what a walk is about to read, and stacks may be smashed: a walk that faults costs that stack alone. */
static __attribute__((noinline)) void walk(struct lg__thread *slot)
{
    const uint64_t blocked = lg__os_signals_blocked();
    if (lg__arch_mark(&walk_mark) != 0) {
        lg__os_signals_set(blocked); /* those of the handler that was jumped out of */
        lg__thread_walk_crashed(slot);
        return;
    }
    atomic_store(&walking, true);
    LG_FAULT_POINT("snapshot: walk");
    lg__thread_walk(slot);
    atomic_store(&walking, false);
}

static void walk_and_let_go(uint32_t place)
{
    struct lg__thread *slot = slot_at(place);
    if (slot->pc)
        walk(slot);
    if (!change(place, taking.turn, STANDS, DONE))
        atomic_store(&slot->walk, 0); /* it went on meanwhile */
    lg__os_futex_wake((const uint32_t *)&words[place]);
}

static bool over(uint64_t until)
{
    return lg__capture_busy() || lg__os_clock_ns(CLOCK_MONOTONIC) >= until;
}

/* Walk the stacks of those that answer, until all have, or the time is over, or a crash begins. */
static void collect(uint64_t until)
{
    for (;;) {
        uint32_t seen = atomic_load(&answered), missing = 0;
        for (uint32_t place = taking.first; place < taking.next && !over(until); place++) {
            enum answer answer = answer_at(place);
            if (answer == STANDS)
                walk_and_let_go(place);
            missing += answer == ASKED || answer == ANSWERING;
        }
        if (!missing || over(until))
            return;
        uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), left = until > now ? until - now : 1;
        lg__os_futex_wait((const uint32_t *)&answered, seen, left < SLICE_NS ? left : SLICE_NS);
    }
}

/* What the kernel tells of those that did not answer; the others go on. */
static void close_and_count(struct lg__snapshot *head, bool crashed)
{
    for (uint32_t place = taking.first; place < taking.next; place++) {
        struct lg__thread *slot = slot_at(place);
        if (change(place, taking.turn, ASKED, DONE)) {
            if (crashed || !lg__thread_describe(slot))
                taking.listed -= !crashed; /* it ended meanwhile */
            else if (slot->how == LG_THREAD_MASKED)
                head->masked++;
            else
                head->silent++;
            continue;
        }
        for (uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + ANSWER_NS;
             answer_at(place) == ANSWERING && lg__os_clock_ns(CLOCK_MONOTONIC) < until;) {}
        change(place, taking.turn, STANDS, DONE);
        lg__os_futex_wake((const uint32_t *)&words[place]);
        head->captured++;
    }
    head->listed = taking.listed;
    head->omitted = taking.omitted;
}

static void begin(struct lg__snapshot *head, const struct lg__snapshot_wish *wish, uint64_t now)
{
    static uint32_t sequence;
    const uint32_t turn = taking.turn + 1;
    bool hang = wish->kind == LG_SNAPSHOT_HANG;
    memset(&taking, 0, sizeof taking);
    taking.turn = turn & (UINT32_MAX >> ANSWER_BITS);
    taking.tid = wish->tid;
    taking.first = taking.next = hang ? 0 : LG__SNAPSHOT_THREADS_MAX;
    taking.last = taking.first + (hang ? run()->hang_slots : 1);
    atomic_store(&until_ns, now + BOUND_NS);

    atomic_store(&taken_for[wish->kind - 1], 0);
    atomic_store(&head->commit, 0);
    atomic_store(&head->counted, 0);
    for (uint32_t place = taking.first; place < taking.last; place++) {
        atomic_store(&slot_at(place)->walk, 0);
        atomic_store(&slot_at(place)->commit, 0);
    }
    head->kind = wish->kind;
    head->sequence = ++sequence;
    head->tid = wish->tid;
    memset(head->name, 0, sizeof head->name);
    size_t length = strlen(wish->name);
    memcpy(head->name, wish->name, length < sizeof head->name ? length : sizeof head->name - 1);
    head->since_ns = wish->since_ns;
    head->taken_ns = now;
    head->listed = head->captured = head->masked = head->silent = head->omitted = head->given_up = 0;
    head->error = 0;
    atomic_store(&head->resolved_ns, 0);
    atomic_store(&taken_for[wish->kind - 1], wish->since_ns);
    head->crc = lg__crc32c(0, &head->kind, offsetof(struct lg__snapshot, counted) - offsetof(struct lg__snapshot, kind));
    atomic_store_explicit(&head->commit, LG__COMMIT_SNAPSHOT, memory_order_release);
}

void lg__snapshot_take(const struct lg__snapshot_wish *wish)
{
    struct lg__snapshot *head = &run()->snapshots->snapshots[wish->kind - 1];
    bool alone = wish->kind != LG_SNAPSHOT_HANG || lg__capture.options.leave_out & LG_LEAVE_OUT_THREADS;
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), until = now + BOUND_NS;
    begin(head, wish, now);
    lg__memory_forget();
    lg__os_signal_block(SIGSEGV, false); /* of a walk: blocked, it would end the process */
    if (lg__threads_take_signal()) {
        ask(wish->tid);
        collect(alone ? until : now + FIRST_NS);
        long listed = alone || over(until) ? 0 : lg__files_list_threads(ask_other, NULL);
        head->error = listed < 0 ? (int32_t)-listed : 0;
        collect(until);
    } else {
        head->error = -1;
    }
    lg__os_signal_block(SIGSEGV, true);
    LG_FAULT_POINT("snapshot: closes");
    head->given_up = lg__capture_busy();
    close_and_count(head, head->given_up);
    head->took_ns = lg__os_clock_ns(CLOCK_MONOTONIC) - now;
    head->counts_crc = lg__crc32c(0, &head->listed, offsetof(struct lg__snapshot, resolved_ns) - offsetof(struct lg__snapshot, listed));
    atomic_store_explicit(&head->counted, LG__COMMIT_COUNTS, memory_order_release);
    LG_FAULT_POINT("snapshot: taken");
}

void lg__snapshot_resolve(uint32_t kind, uint64_t since_ns)
{
    uint64_t not_yet = 0;
    if (since_ns && atomic_load(&taken_for[kind - 1]) == since_ns)
        atomic_compare_exchange_strong(&run()->snapshots->snapshots[kind - 1].resolved_ns, &not_yet, lg__os_clock_ns(CLOCK_MONOTONIC));
}

bool lg__capture_traced(void)
{
    char text[1536];
    uint64_t tracer = 0;
    return lg__files_read("../status", text, sizeof text) && lg__os_number(lg__os_text_after(text, "TracerPid"), 10, &tracer) && tracer;
}
