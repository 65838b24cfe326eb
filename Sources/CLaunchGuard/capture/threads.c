/* Stage 6: the other threads. Each one captures its own registers on a signal and then waits, so that its stack stands still while the
 * crashed thread walks it. */
#include "capture/internal.h"
#include "os/fault_point.h"
#include "store/crc32c.h"

/* Of the signals that libc keeps for itself and therefore lets no program block: 33 is glibc's for setuid() in all threads, musl's for
 * cancellation. It is taken when a crash has happened and not before; what is not ours is passed on. */
#define PARK_SIGNAL 33
#define PARK_BIT (UINT64_C(1) << (PARK_SIGNAL - 1))

/* How long to wait before asking the kernel why a thread does not answer. */
#define ANSWER_NS UINT64_C(2000000)
/* The longest wait is this part of the deadline. */
#define PATIENCE_PART 10u
/* So many frames of a thread are walked, and all threads in this part of the deadline: the others, and what comes behind, want their turn. */
#define FRAMES_LIMIT 4096u
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

static bool is_exempt(int32_t tid)
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

static void commit(struct lg__thread *slot)
{
    slot->crc = lg__crc32c(0, &slot->tid, offsetof(struct lg__thread, walk) - offsetof(struct lg__thread, tid));
    atomic_store_explicit(&slot->commit, LG__COMMIT_THREAD, memory_order_release);
}

static void capture_self(struct lg__thread *slot, const void *ucontext)
{
    struct lg__arch_fault context;
    lg__arch_fault(ucontext, &context);
    slot->how = LG_THREAD_CAPTURED;
    slot->pc = context.pc;
    slot->sp = context.sp;
    slot->blocked = lg__arch_blocked(ucontext);
    slot->register_count = lg__arch_registers(ucontext, slot->registers);
    lg__altstack_bounds(&slot->stack_low, &slot->stack_high);
    lg__os_thread_name(slot->name);
    commit(slot);
}

static void answer(uint32_t index, const void *ucontext)
{
    capture_self(&run()->slots[index], ucontext);
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

/* The value that a thread is asked with: which crash, which slot. */
static uint64_t question(uint32_t generation, uint32_t slot)
{
    return (uint64_t)generation << 32 | slot;
}

#define PROBE UINT32_MAX /* in place of a slot: is this thread still inside the earlier handler that was called for its crash? */
static _Atomic uint32_t probing; /* thread that asks; 0: none */
static _Atomic uint32_t probed;  /* futex: enum lg__place, plus one */

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
        atomic_store(&probed, 1 + (uint32_t)lg__capture_place(ucontext));
        lg__os_futex_wake((const uint32_t *)&probed);
        return;
    }
    if (generation != atomic_load(&park.generation) || index >= park.asked)
        return; /* too late: that crash was survived */
    LG_FAULT_POINT("thread: asked");
    if (run()->slots[index].tid != lg__os_tid() || !claim(index))
        return;
    answer(index, ucontext);
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
    if ((uint32_t)tid == atomic_load(&lg__capture.latch) || is_exempt(tid))
        return true;
    counts->listed++;
    if (park.asked == run()->slot_count) {
        counts->omitted++;
        return true;
    }
    struct lg__thread *slot = &run()->slots[park.asked];
    memset(slot, 0, offsetof(struct lg__thread, pcs));
    slot->tid = tid;
    atomic_store(&claims[park.asked], 0);
    park.asked++; /* before the question: its answer looks there */
    if (lg__os_signal_ask(lg__capture.pid, tid, PARK_SIGNAL, question(atomic_load(&park.generation), park.asked - 1)) != 0 &&
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

/* Read a file of a thread: /proc/self/task/TID/name. */
static size_t read_task_file(int32_t tid, const char *name, char *to, size_t size)
{
    char path[32], digits[12];
    size_t count = 0, at = 0;
    for (uint32_t rest = (uint32_t)tid; rest || !count; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count)
        path[at++] = digits[--count];
    path[at++] = '/';
    memcpy(path + at, name, strlen(name) + 1);
    return lg__files_read(path, to, size);
}

/* Whether a thread blocks the question; -1: it is gone. */
static int blocks_question(int32_t tid, uint64_t *ret_blocked, uint32_t *ret_state)
{
    char text[1536];
    *ret_blocked = 0;
    *ret_state = 0;
    if (read_task_file(tid, "status", text, sizeof text) == 0)
        return lg__os_signal_send(lg__capture.pid, tid, 0) == 0 ? 0 : -1;
    lg__os_number(lg__os_text_after(text, "SigBlk"), 16, ret_blocked);
    *ret_state = (unsigned char)*lg__os_text_after(text, "State");
    return *ret_blocked >> (PARK_SIGNAL - 1) & 1;
}

/* Threads that will not answer, so that nobody waits for them. */
static uint32_t count_mute(void)
{
    uint32_t mute = 0, state;
    uint64_t blocked;
    for (uint32_t i = 0; i < park.asked; i++)
        if (!atomic_load(&claims[i]) && blocks_question(run()->slots[i].tid, &blocked, &state) != 0)
            mute++;
    return mute;
}

/* "NUMBER six-arguments sp pc" while it is in a system call, "running" else (proc(5), /proc/PID/syscall). */
static void read_place(const char *text, struct lg__thread *slot)
{
    uint64_t before_last = 0, last = 0;
    if (text[0] < '-' || text[0] > '9')
        return;
    for (; *text; text++)
        if (text[0] == ' ' && text[1] == '0' && text[2] == 'x') {
            before_last = last;
            lg__os_number(text + 3, 16, &last);
        }
    slot->sp = before_last;
    slot->pc = last;
}

/* What the kernel tells of a thread that did not answer. */
static void describe(uint32_t index, struct lg__crash_threads *counts)
{
    char text[256];
    struct lg__thread *slot = &run()->slots[index];
    int blocks = blocks_question(slot->tid, &slot->blocked, &slot->state);
    if (blocks < 0) {
        counts->listed--; /* it ended meanwhile */
        return;
    }
    slot->how = blocks ? LG_THREAD_MASKED : LG_THREAD_SILENT;
    if (blocks)
        counts->masked++;
    else
        counts->silent++;
    size_t size = read_task_file(slot->tid, "comm", text, sizeof text);
    memcpy(slot->name, text, size && size <= sizeof slot->name ? size - 1 : 0);
    if (read_task_file(slot->tid, "syscall", text, sizeof text))
        read_place(text, slot);
    commit(slot);
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

static void walk(struct lg__thread *slot)
{
    const struct lg__frames frames = { &slot->head, slot->pcs, LG__THREAD_FRAMES_MAX, LG__THREAD_FRAMES_LAST, FRAMES_LIMIT };
    uint64_t registers[LG__REGISTERS_MAX];
    memcpy(registers, slot->registers, sizeof registers);
    registers[lg__arch_pc] = slot->pc;
    registers[lg__arch_sp] = slot->sp;
    slot->method = LG_STAGE_DWARF;
    lg__frames_begin(&frames);
    lg__unwind_dwarf(registers, false, &frames);
    if (slot->head.reason != LG__WALK_COMPLETE && slot->register_count) {
        uint64_t total = slot->head.total;
        lg__frames_begin(&frames);
        lg__unwind_fp(registers, false, &frames);
        slot->method = LG_STAGE_FRAMES;
        if (slot->head.total < total) {
            slot->method = LG_STAGE_DWARF;
            lg__frames_begin(&frames);
            lg__unwind_dwarf(registers, false, &frames);
        }
    }
    size_t size = offsetof(struct lg__thread, pcs) - offsetof(struct lg__thread, method) + slot->head.stored * sizeof slot->pcs[0];
    slot->walk_crc = lg__crc32c(0, &slot->method, size);
    atomic_store_explicit(&slot->walk, LG__COMMIT_WALK, memory_order_release);
}

/* Take the signal. It stays taken: a late answer must not find the default action, which would end the process with the wrong status. */
static bool take_signal(void)
{
    /* It does not block itself: a thread that is about to answer does not look as one that will not. */
    const struct lg__os_disposition ours = { (uintptr_t)on_park, SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER };
    struct lg__os_disposition before;
    if (park.taken)
        return true;
    if (lg__os_signal_take(PARK_SIGNAL, &ours, lg__capture_mask() & ~PARK_BIT, SIGSEGV, &before) != 0)
        return false;
    park.before = before;
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
    if (!take_signal()) {
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
            walk(slot);
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
    else if (take_signal() && lg__os_signal_ask(lg__capture.pid, tid, PARK_SIGNAL, question(0, PROBE)) == 0) {
        uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + PROBE_NS, now;
        while (!atomic_load(&probed) && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until)
            lg__os_futex_wait((const uint32_t *)&probed, 0, until - now);
        if (atomic_load(&probed))
            place = (enum lg__place)(atomic_load(&probed) - 1);
    }
    atomic_store(&probing, 0);
    return place;
}
