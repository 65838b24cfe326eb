/* Threads, of a crash and of a snapshot. */
#include "report/parts.h"

#include <stdio.h>
#include <string.h>

#include "report/items.h"
#include "report/values.h"
#include "store/error_words.h"

/* Whose threads: those of the selected crash (0), or of a snapshot. */
typedef unsigned thread_owner;

static lg_status get_thread(struct lg__report *report, thread_owner owner, uint32_t index, lg_thread_info *ret)
{
    return owner ? lg_reader_snapshot_thread(report->reader, owner, index, ret) : lg_reader_thread(report->reader, index, ret);
}

static lg_status get_stack(struct lg__report *report, thread_owner owner, uint32_t thread, lg_stack_info *ret)
{
    return owner ? lg_reader_snapshot_stack(report->reader, owner, thread, ret) : lg_reader_thread_stack(report->reader, thread, ret);
}

/* ---- one thread ---- */

struct thread {
    lg_thread_info info;
    thread_owner owner;
    uint32_t index;
    char part[48]; /* that a problem of its stack names */
};

static lg_status get_frame(struct lg__report *report, const void *of, uint32_t index, uint64_t *ret_pc)
{
    const struct thread *thread = of;
    return thread->owner ? lg_reader_snapshot_frame(report->reader, thread->owner, thread->index, index, ret_pc)
                         : lg_reader_thread_frame(report->reader, thread->index, index, ret_pc);
}

static void state(struct lg__report *report, const void *of)
{
    /* a letter; a byte of a damaged file counts as a character of Latin-1 */
    const unsigned char state = (unsigned char)((const struct thread *)of)->info.state;
    const char text[2] = { (char)(state < 0x80 ? state : 0xC0 | state >> 6), (char)(0x80 | (state & 0x3F)) };
    if (state)
        lg__json_text(&report->json, text, state < 0x80 ? 1 : 2);
}

static void blocked(struct lg__report *report, const void *of)
{
    const uint64_t mask = ((const struct thread *)of)->info.blocked;
    struct lg__json_list list = lg__json_list(&report->json);
    for (int number = 1; number <= 64; number++)
        if (mask >> (number - 1) & 1) {
            lg__json_item(&report->json, &list);
            lg__table_signal(report, number);
        }
    lg__json_list_end(&report->json, &list);
}

static lg_status read_register(struct lg__report *report, const void *of, uint32_t index, void *ret_item)
{
    const struct thread *thread = of;
    return thread->owner ? lg_reader_snapshot_register(report->reader, thread->owner, thread->index, index, ret_item)
                         : lg_reader_thread_register(report->reader, thread->index, index, ret_item);
}

static void registers(struct lg__report *report, const void *of)
{
    const struct thread *thread = of;
    char part[48];
    const struct lg__items items = { &lg__shape_register, part, false, read_register };
    lg_register cell;
    snprintf(part, sizeof part, "registers of thread %d", (int)thread->info.tid);
    lg__items_write(report, &items, of, thread->info.register_count, &cell);
}

static void stack(struct lg__report *report, const void *of)
{
    const struct thread *thread = of;
    struct lg__walk walk = { .part = thread->part, .pc = get_frame, .of = of, .is_top_exact = true };
    lg_status status = get_stack(report, thread->owner, thread->index, &walk.info);
    if (status != LG_ERR_INCOMPLETE && lg__report_has(report, status, walk.part))
        lg__report_stack(report, &walk);
}

static lg_status get_chain(struct lg__report *report, const void *of, uint32_t index, lg_async_chain *ret_chain)
{
    const struct thread *thread = of;
    return thread->owner ? lg_reader_snapshot_async_chain(report->reader, thread->owner, thread->index, index, ret_chain)
                         : lg_reader_thread_async_chain(report->reader, thread->index, index, ret_chain);
}

static lg_status get_caller(struct lg__report *report, const void *of, uint32_t chain, uint32_t index, uint64_t *ret_pc)
{
    const struct thread *thread = of;
    return thread->owner ? lg_reader_snapshot_async_caller(report->reader, thread->owner, thread->index, chain, index, ret_pc)
                         : lg_reader_thread_async_caller(report->reader, thread->index, chain, index, ret_pc);
}

static void async_chains(struct lg__report *report, const void *of)
{
    const struct thread *thread = of;
    const struct lg__chains chains = { thread->part, true, get_chain, get_caller, of };
    lg__report_chains(report, &chains);
}

static const char *const hows[] = { [LG_THREAD_CAPTURED] = "captured", [LG_THREAD_MASKED] = "masked", [LG_THREAD_SILENT] = "silent",
                                    [LG_THREAD_TASK] = "task" };
const struct lg__names lg__names_how = { "thread-state-how", LG__SENTENCE("How the state of a thread was taken: by itself; or only the kernel's data, since it blocked every signal, or did not answer in time; task: a task of Swift that waits, which the thread began."), hows, LG_THREAD_TASK + 1, NULL };

#define OF struct thread

static const struct lg__field thread_fields[] = {
    FIELD(SIGNED, "threadID", info.tid, "", "The thread."),
    FIELD(TEXT_IF, "name", info.name, "", "Its name."),
    NAMED("how", info.how, &lg__names_how,
          "How its state was taken: by itself, or only the kernel's data, since it blocked every signal or did not answer in time; or of a task."),
    MAY_BE("state", state, "string", "", "Letter of proc(5), for example S."),
    MAY_BE("blockedSignals", blocked, "[signal]", "", "Its signal mask."),
    FIELD(ADDRESS_IF, "programCounter", info.pc, "", "Where it was."),
    FIELD(ADDRESS_IF, "stackPointer", info.sp, "", "Its stack pointer."),
    FIELD(ADDRESS_IF, "stackLow", info.stack_low, "", "Lowest address of its stack."),
    FIELD(ADDRESS_IF, "stackHigh", info.stack_high, "", "The address after its highest one."),
    FIELD(NUMBER_IF, "cpuNanoseconds", info.cpu_ns, "ns", "CPU time since it began."),
    MAY_BE("registers", registers, "[crash-register]", "", "Its registers."),
    MAY_BE("stack", stack, "stack", "", "Its stack."),
    ADDED("storedStack", "stack", "The handler's walk, where the tool walked again."),
    MAY_BE("asyncChains", async_chains, "[async-chain]", "", "Its async chains."),
    FIELD(NUMBER_IF, "asyncChainsOmitted", info.async_omitted, "", "Its omitted async chains."),
    LAST,
};
const struct lg__shape lg__shape_thread = { "thread-state", LG__SENTENCE("A thread, as it was at the crash or in the snapshot."), thread_fields };

#undef OF

static uint32_t threads(struct lg__report *report, thread_owner owner, uint32_t stored, const char *part)
{
    struct lg__json_list list = lg__json_list(&report->json);
    struct thread thread = { .owner = owner };
    uint32_t written = 0;
    for (thread.index = 0; thread.index < stored; thread.index++) {
        if (!lg__report_has(report, get_thread(report, owner, thread.index, &thread.info), part))
            continue;
        snprintf(thread.part, sizeof thread.part, "stack of thread %d", (int)thread.info.tid);
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_thread, &thread);
        written++;
    }
    lg__json_list_end(&report->json, &list);
    return written;
}

/* ---- their number ---- */

#define OF lg_threads_info

static void list_problem(struct lg__report *report, const void *of)
{
    const int error = ((const lg_threads_info *)of)->error;
    char buffer[64];
    if (error)
        lg__json_string(&report->json, error < 0 ? "the threads could not be asked" : lg__error_words(error, buffer, sizeof buffer));
}

static const struct lg__field count_fields[] = {
    FIELD(NUMBER, "listed", listed, "", "Other threads that the kernel listed."),
    FIELD(NUMBER, "captured", captured, "", "Threads that captured themselves."),
    FIELD(NUMBER, "masked", masked, "", "Threads that block every signal."),
    FIELD(NUMBER, "silent", silent, "", "Threads that did not answer in time."),
    FIELD(NUMBER, "omitted", omitted, "", "Threads without room."),
    MAY_BE("listProblem", list_problem, "string", "", "Why the list is not complete; left out: it is."),
    FIELD(NUMBER, "waitedNanoseconds", waited_ns, "ns", "How long the threads were waited for."),
    LAST,
};
const struct lg__shape lg__shape_thread_counts = { "thread-counts", LG__SENTENCE("The threads, counted."), count_fields };

#undef OF

/* ---- of the crash ---- */

void lg__report_threads(struct lg__report *report, const void *of)
{
    lg_threads_info info;
    (void)of;
    if (!lg__report_has(report, lg_reader_threads(report->reader, &info), "other threads") || !lg__report_wants(report, LG_REPORT_THREADS))
        return;
    if (!threads(report, 0, info.stored, "other threads") && !info.complete)
        lg__report_has(report, LG_ERR_INCOMPLETE, "other threads");
}

void lg__report_thread_counts(struct lg__report *report, const void *of)
{
    lg_threads_info info;
    (void)of;
    if (lg_reader_threads(report->reader, &info) == LG_OK && info.complete)
        lg__table_object(report, &lg__shape_thread_counts, &info);
}

void lg__report_cpu_time(struct lg__report *report, const void *of)
{
    lg_threads_info info;
    (void)of;
    if (lg_reader_threads(report->reader, &info) == LG_OK && info.complete && info.crashed_cpu_ns)
        lg__values_number(report, info.crashed_cpu_ns);
}

/* ---- of snapshots ---- */

static const char *const kinds[] = { [LG_SNAPSHOT_HANG] = "hang", [LG_SNAPSHOT_DEADLINE] = "deadline", [LG_SNAPSHOT_MEMORY] = "memory" };
const struct lg__names lg__names_kind = { "snapshot-kind", LG__SENTENCE("Why a snapshot was taken."), kinds, LG_SNAPSHOT_MEMORY + 1, NULL };
static const char *const parts[] = { [LG_SNAPSHOT_HANG] = "snapshot of a hang", [LG_SNAPSHOT_DEADLINE] = "snapshot of a deadline",
                                     [LG_SNAPSHOT_MEMORY] = "snapshot of memory" };

static void is_complete(struct lg__report *report, const void *of)
{
    const lg_snapshot_info *info = of;
    lg__json_bool(&report->json, info->complete && !info->given_up);
}

static void snapshot_threads(struct lg__report *report, const void *of)
{
    const lg_snapshot_info *info = of;
    threads(report, info->kind, info->stored, parts[info->kind]);
}

static void snapshot_counts(struct lg__report *report, const void *of)
{
    const lg_snapshot_info *info = of;
    const lg_threads_info counts = { .listed = info->listed, .captured = info->captured, .masked = info->masked, .silent = info->silent,
                                     .omitted = info->omitted, .error = info->error, .waited_ns = info->took_ns };
    if (info->complete)
        lg__table_object(report, &lg__shape_thread_counts, &counts);
}

#define OF lg_snapshot_info

static const struct lg__field snapshot_fields[] = {
    NAMED("kind", kind, &lg__names_kind, "Why it was taken."),
    FIELD(SIGNED, "threadID", tid, "", "The thread that hung, or that began the job; 0: there is no such thread."),
    FIELD(TEXT_IF, "name", name, "", "Name of the thread, or of the job."),
    FIELD(NUMBER, "sequence", sequence, "", "From 1, in the order in which they were taken."),
    FIELD(NUMBER, "sinceNanoseconds", since_ns, "ns",
          "The last heartbeat before the hang, the begin of the job, or when memory was found near its limit."),
    FIELD(NUMBER, "takenNanoseconds", taken_ns, "ns", "When it was taken."),
    FIELD(NUMBER_IF, "resolvedNanoseconds", resolved_ns, "ns", "When it was over; left out: it was not."),
    VALUE("isComplete", is_complete, "boolean", "",
          "Whether it was taken to its end; a program that was killed or crashed meanwhile left a part of it."),
    MAY_BE("threads", snapshot_threads, "[thread-state]", "", "The threads, the one that matters first."),
    MAY_BE("threadCounts", snapshot_counts, "thread-counts", "", "Their number."),
    LAST,
};
const struct lg__shape lg__shape_snapshot = {
    "snapshot",
    LG__SENTENCE("Stacks of a program that lived on, taken while it hung, when a job of it was about to overrun its deadline, or when memory came near "
    "its limit."),
    snapshot_fields
};

#undef OF

void lg__report_snapshots(struct lg__report *report, const void *of)
{
    struct lg__json_list list = lg__json_list(&report->json);
    lg_snapshot_info info;
    (void)of;
    for (lg_snapshot_kind kind = LG_SNAPSHOT_HANG; kind <= LG_SNAPSHOT_MEMORY; kind++) {
        if (!lg__report_has(report, lg_reader_snapshot(report->reader, kind, &info), parts[kind]) || !lg__report_wants(report, LG_REPORT_SNAPSHOTS))
            continue;
        lg__json_item(&report->json, &list);
        lg__table_object(report, &lg__shape_snapshot, &info);
    }
    lg__json_list_end(&report->json, &list);
}
