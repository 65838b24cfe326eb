/* Snapshots: the stacks of a program that lives, taken by the watch thread when a thread hangs, a
 * job is about to overrun its deadline, or memory comes near its limit.
 *
 * The thread that matters, if there is one, is asked first, then all others at once. Each one
 * stands still until its own stack has been walked. A snapshot shares no slot, no place and no
 * walker with a crash. A thread that stands for a snapshot answers a crash from where it stands,
 * and the snapshot ends when a crash begins. */
#include "capture/internal.h"
#include "capture/question.h"
#include "capture/watch_walk.h"
#include "os/fault_point.h"
#include "store/crc32c.h"

/* A snapshot takes at most this time, and no thread stands longer. */
#define BOUND_NS LG_PATIENCE(UINT64_C(500000000))
/* This part of the time is for the thread that matters, before the others are asked. */
#define FIRST_NS LG_PATIENCE(UINT64_C(125000000))
/* After this time the watch thread looks whether a crash has begun. */
#define SLICE_NS UINT64_C(20000000)
/* since_ns of the snapshot that is there; 0: none */
static _Atomic uint64_t taken_for[LG__SNAPSHOT_KINDS];

/* Used by the watch thread alone. */
static struct {
    uint32_t first, last; /* its places; `next` is the first one that is free */
    uint32_t next;
    int32_t tid; /* was asked first */
    uint32_t listed, omitted;
} taking;

static const struct lg__run *run(void)
{
    return &lg__fixed.options.run;
}

static struct lg__thread *slot_at(uint32_t place)
{
    return lg__question_slot(LG__ASKER_WATCH, place);
}

static void ask_thread(int32_t tid)
{
    taking.listed++;
    while (taking.next < taking.last && !lg__question_take(LG__ASKER_WATCH, taking.next))
        taking.next++;
    if (taking.next == taking.last)
        taking.omitted++;
    else
        /* a thread that cannot be asked is described with those that do not answer */
        lg__question_ask(LG__ASKER_WATCH, taking.next++, tid);
}

static bool ask_other(uint32_t number, void *argument)
{
    int32_t tid = (int32_t)number;
    (void)argument;
    if (tid != taking.tid && !lg__own_threads_exempt(tid))
        ask_thread(tid);
    return true;
}

static void walk_and_let_go(uint32_t place)
{
    struct lg__thread *slot = slot_at(place);
    if (slot->pc)
        lg__watch_walk(slot);
    if (!lg__question_release(LG__ASKER_WATCH, place))
        atomic_store(&slot->walk, 0); /* the thread went on meanwhile */
}

/* The task waits, and its functions are in the first place. */
static bool is_task_there(uint64_t task, uint32_t sequence)
{
    struct lg__thread *slot = slot_at(taking.first);
    if (!task || !lg__question_take(LG__ASKER_WATCH, taking.first))
        return false;
    lg__thread_clear(slot, taking.tid, sequence);
    return lg__watch_walk_task(slot, task);
}

static bool is_over(uint64_t until)
{
    return lg__capture_busy() || lg__os_clock_ns(CLOCK_MONOTONIC) >= until;
}

/* Walk the stacks of the threads that answer, until all have answered, the time is over, or a crash
 * begins. */
static void collect(uint64_t until)
{
    for (;;) {
        uint32_t seen = lg__question_answered(LG__ASKER_WATCH), missing = 0;
        for (uint32_t place = taking.first; place < taking.next && !is_over(until); place++) {
            enum lg__answer answer = lg__question_answer(LG__ASKER_WATCH, place);
            if (answer == LG__ANSWER_STANDS)
                walk_and_let_go(place);
            missing += answer == LG__ANSWER_ASKED || answer == LG__ANSWER_WRITING;
        }
        if (!missing || is_over(until))
            return;
        uint64_t slice = lg__os_clock_ns(CLOCK_MONOTONIC) + SLICE_NS;
        lg__question_wait(LG__ASKER_WATCH, seen + 1, slice < until ? slice : until);
    }
}

/* The kernel's account of the threads that did not answer; the others go on. */
static void close_and_count(struct lg__snapshot *head, bool crashed)
{
    for (uint32_t place = taking.first; place < taking.next; place++) {
        struct lg__thread *slot = slot_at(place);
        if (lg__question_answer(LG__ASKER_WATCH, place) == LG__ANSWER_NONE)
            continue;
        if (!lg__question_close(LG__ASKER_WATCH, place)) {
            lg__question_release(LG__ASKER_WATCH, place);
            head->captured++;
        } else if (crashed || !lg__thread_describe(slot)) {
            taking.listed -= !crashed; /* the thread ended meanwhile */
        } else if (slot->how == LG_THREAD_MASKED) {
            head->masked++;
        } else {
            head->silent++;
        }
    }
    head->listed = taking.listed;
    head->omitted = taking.omitted;
}

static void begin_head(struct lg__snapshot *head, const struct lg__snapshot_wish *wish, uint64_t now)
{
    static uint32_t sequence;
    static const uint32_t places[] = { [LG_SNAPSHOT_HANG] = 0, [LG_SNAPSHOT_DEADLINE] = LG__QUESTION_JOB, [LG_SNAPSHOT_MEMORY] = LG__QUESTION_MEMORY };
    if (wish->kind == LG_SNAPSHOT_MEMORY)
        lg__run_open_memory_snapshot(run());
    else
        lg__run_open_snapshots(run());
    memset(&taking, 0, sizeof taking);
    taking.tid = wish->tid;
    taking.first = taking.next = places[wish->kind];
    taking.last = taking.first + (wish->kind == LG_SNAPSHOT_DEADLINE ? 1 : run()->hang_slots);
    atomic_store(&taken_for[wish->kind - 1], 0);
    atomic_store(&head->commit, 0);
    atomic_store(&head->counted, 0);
    for (uint32_t place = taking.first; place < taking.last; place++) {
        atomic_store(&slot_at(place)->walk, 0);
        atomic_store(&slot_at(place)->commit, 0);
    }
    atomic_thread_fence(memory_order_release); /* before the head changes */
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
    struct lg__snapshot *head = lg__run_snapshot(run(), wish->kind);
    bool alone = wish->kind == LG_SNAPSHOT_DEADLINE || lg__fixed.options.leave_out & LG_LEAVE_OUT_THREADS;
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), until = now + BOUND_NS;
    begin_head(head, wish, now);
    lg__memory_forget(true);
    if (lg__question_begin(LG__ASKER_WATCH, head->sequence, until)) {
        if (wish->tid && !is_task_there(wish->task, head->sequence)) {
            ask_thread(wish->tid);
            collect(alone ? until : now + FIRST_NS);
        }
        long listed = alone || is_over(until) ? 0 : lg__files_list_threads(ask_other, NULL);
        head->error = listed < 0 ? (int32_t)-listed : 0;
        collect(until);
    } else {
        head->error = -1;
    }
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
        atomic_compare_exchange_strong(&lg__run_snapshot(run(), kind)->resolved_ns, &not_yet, lg__os_clock_ns(CLOCK_MONOTONIC));
}

bool lg__capture_traced(void)
{
    char text[LG__FILES_STATUS_BYTES];
    uint64_t tracer = 0;
    return lg__files_read("../status", text, sizeof text) && lg__os_number(lg__os_text_after(text, "TracerPid"), 10, &tracer) && tracer;
}
