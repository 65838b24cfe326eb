/* Questions to threads: one crash asks, lets go, and the next one asks again, while answers come
 * late. The stage of the other threads and the handler of the question are the real ones. */
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#include "orders.h"
#include "stand_ins.h"

#include "capture/internal.h"
#include "capture/question.c"

#define TID(thread) (100 + (int32_t)(thread))

/* ---- what is around ---- */

struct lg__fixed lg__fixed;
struct lg__crash lg__crash_slots[LG__CRASHES];
__thread bool lg__crash_entered __attribute__((tls_model("initial-exec")));
static struct lg__thread slots[2];
static struct lg__threads head;
static struct lg__crash_threads counts;
static uint32_t asks; /* bit i: the thread with this number is asked */

int32_t lg__crash_holder(void)
{
    return TID(0);
}

bool lg__capture_busy(void)
{
    return true;
}

bool lg__own_threads_exempt(int32_t tid)
{
    (void)tid;
    return false;
}

struct lg__crash *lg__crash_current(void)
{
    return &lg__crash_slots[0];
}

void *lg__run_stage(const struct lg__run *run, unsigned crash, unsigned stage)
{
    (void)run;
    (void)crash;
    (void)stage;
    return &counts;
}

void lg__run_open_threads(const struct lg__run *run)
{
    (void)run;
}

void lg__run_commit(const struct lg__run *run, unsigned crash, unsigned stage, size_t size)
{
    (void)run;
    (void)crash;
    (void)stage;
    (void)size;
}

long lg__files_list_threads(bool (*each)(uint32_t number, void *argument), void *argument)
{
    for (uint32_t i = 1; i < ORDERS_THREADS; i++)
        if (asks >> i & 1)
            each((uint32_t)TID(i), argument);
    return 0;
}

size_t lg__files_read(const char *path, char *to, size_t size)
{
    (void)path;
    (void)to;
    (void)size;
    return 0;
}

struct lg__os_disposition lg__os_signal_now(int signal)
{
    (void)signal;
    return (struct lg__os_disposition){ (uintptr_t)lg__question_handler, 0 };
}

/* Every thread's account: its own number is in each field. */
void lg__arch_fault(const void *ucontext, struct lg__arch_fault *ret_context)
{
    memset(ret_context, 0, sizeof *ret_context);
    ret_context->pc = ret_context->sp = (uint64_t)(uintptr_t)ucontext;
}

uint64_t lg__arch_blocked(const void *ucontext)
{
    return (uint64_t)(uintptr_t)ucontext;
}

uint32_t lg__arch_registers(const void *ucontext, uint64_t registers[LG__REGISTERS_MAX])
{
    registers[0] = (uint64_t)(uintptr_t)ucontext;
    return 1;
}

void lg__altstack_bounds(uint64_t *ret_low, uint64_t *ret_high)
{
    *ret_low = *ret_high = orders_self();
}

void lg__os_thread_name(char name[16])
{
    memset(name, (int)orders_self(), 16);
}

uint64_t lg__os_thread_cpu_ns(pid_t tid)
{
    return tid ? (uint64_t)tid : (uint64_t)TID(orders_self());
}

const char *lg__os_text_after(const char *text, const char *key)
{
    (void)key;
    return text;
}

bool lg__os_number(const char *text, unsigned base, uint64_t *ret_number)
{
    (void)text;
    (void)base;
    (void)ret_number;
    return false;
}

void lg__os_signals_set(uint64_t blocked)
{
    (void)blocked;
}

long lg__os_signal_take(int signal, const struct lg__os_disposition *to, uint64_t mask, int like, struct lg__os_disposition *ret_before)
{
    (void)signal;
    (void)to;
    (void)mask;
    (void)like;
    (void)ret_before;
    return 0;
}

/* Every wait has few looks. */
uint64_t lg__os_clock_ns(int clock)
{
    (void)clock;
    return orders_time() * 1500;
}

/* ---- the signal ---- */

#define CLOSED 0x100u
static struct {
    _Atomic uint32_t count; /* futex; CLOSED: no more comes */
    uint64_t values[4];
} queues[ORDERS_THREADS];

long lg__os_signal_ask(pid_t pid, pid_t tid, int signal, uint64_t value)
{
    const uint32_t thread = (uint32_t)(tid - TID(0));
    (void)pid;
    (void)signal;
    queues[thread].values[queues[thread].count] = value;
    atomic_fetch_add(&queues[thread].count, 1);
    orders_wake((const uint32_t *)&queues[thread].count);
    return 0;
}

static void close_queues(void)
{
    for (unsigned i = 1; i < ORDERS_THREADS; i++) {
        atomic_fetch_or(&queues[i].count, CLOSED);
        orders_wake((const uint32_t *)&queues[i].count);
    }
}

static void answers(void)
{
    const unsigned self = orders_self();
    siginfo_t info = { .si_code = SI_QUEUE };
    info.si_pid = 0;
    for (uint32_t handled = 0;;) {
        const uint32_t count = atomic_load(&queues[self].count);
        if (handled < (count & (CLOSED - 1))) {
            info.si_value.sival_ptr = (void *)(uintptr_t)queues[self].values[handled++];
            lg__question_handler(LG__QUESTION_SIGNAL, &info, (void *)(uintptr_t)TID(self));
        } else if (count & CLOSED) {
            return;
        } else {
            orders_wait((const uint32_t *)&queues[self].count, count, false);
        }
    }
}

/* ---- the crashes ---- */

/* A captured slot is whole, and of one thread of this turn. */
static void look(uint32_t sequence)
{
    for (uint32_t i = 0; i < lg__other_threads_count(); i++) {
        const struct lg__thread *slot = &slots[i];
        if (lg__question_answer(LG__ASKER_CRASH, i) == LG__ANSWER_NONE || !atomic_load_explicit(&slot->commit, memory_order_acquire))
            continue;
        must(slot->sequence == sequence);
        must(asks >> (slot->tid - TID(0)) & 1);
        must(slot->cpu_ns == (uint64_t)slot->tid);
        if (slot->how == LG_THREAD_CAPTURED) {
            must(slot->pc == (uint64_t)slot->tid && slot->blocked == slot->pc && slot->registers[0] == slot->pc && slot->register_count == 1);
            must(slot->stack_low == slot->pc - 100 && slot->name[0] == (char)(slot->pc - 100));
        }
    }
}

static void ask(uint32_t sequence, uint32_t whom)
{
    asks = whom;
    atomic_store(&lg__crash_slots[0].word, (uint64_t)sequence << 8);
    lg__other_threads_stage();
    look(sequence);
}

static void prepare(void)
{
    lg__fixed.options.deadline_ms = 1;
    lg__fixed.options.run.slots = slots;
    lg__fixed.options.run.threads = &head;
    lg__fixed.options.run.slot_count = 2;
    orders_declare(slots, sizeof slots, ORDERS_FILE);
}

static void prepare_one(void)
{
    prepare();
    lg__fixed.options.run.slot_count = 1;
}

static void asks_two(void)
{
    ask(1, 1 << 1 | 1 << 2);
    lg__other_threads_release();
    close_queues();
    lg__other_threads_wait_left();
}

static void asks_one(void)
{
    ask(1, 1 << 1);
    lg__other_threads_release();
    close_queues();
    lg__other_threads_wait_left();
}

/* The second question is to another thread, in the place of the first one's. */
static void asks_again(void)
{
    ask(1, 1 << 1);
    lg__other_threads_release();
    ask(2, 1 << 2);
    lg__other_threads_release();
    close_queues();
}

/* A thread that waits for the lock answers by itself, as well as by the signal. */
static void waits_and_answers(void)
{
    lg__other_threads_answer((void *)(uintptr_t)TID(orders_self()));
    answers();
}

/* All have left, if the time of the wait was not over; their slots are whole, or not committed. */
static void after(void)
{
    must(askers[LG__ASKER_CRASH].inside == 0);
}

static void dead(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct lg__thread *slot = &slots[i];
        if (!slot->commit)
            continue;
        must(slot->sequence != 0 && slot->cpu_ns == (uint64_t)slot->tid);
        if (slot->how == LG_THREAD_CAPTURED)
            must(slot->pc == (uint64_t)slot->tid && slot->blocked == slot->pc && slot->registers[0] == slot->pc && slot->register_count == 1);
    }
}

#define SECTIONS "Questions to threads"

static const struct scenario scenarios[] = {
    { .name = "one is asked", .sections = SECTIONS, .setup = prepare, .threads = { asks_one, answers }, .check = after, .switches = 1, .switches_of_all = 2, .stale = 2 },
    { .name = "death in an answer", .sections = SECTIONS, .setup = prepare, .threads = { asks_one, answers }, .dead = dead, .switches = 1, .switches_of_all = 2, .stale = 2 },
    { .name = "one waits for the lock", .sections = SECTIONS, .setup = prepare, .threads = { asks_one, waits_and_answers }, .check = after, .switches = 1, .switches_of_all = 2, .stale = 2 },
    { .name = "two are asked", .sections = SECTIONS, .setup = prepare, .threads = { asks_two, answers, answers }, .check = after, .switches = 1, .switches_of_all = 2, .stale = 2 },
    { .name = "another is asked in the same place", .sections = SECTIONS, .setup = prepare_one, .threads = { asks_again, answers, answers }, .check = after, .switches = 1, .switches_of_all = 2, .stale = 2 },
};

int main(int argc, char **argv)
{
    return orders_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
