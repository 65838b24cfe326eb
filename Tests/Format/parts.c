/* Makes run files by hand, with contents that a crash handler may leave, but that no crash leaves
 * on purpose:
 *
 * parts DIR HOW    a file DIR/HOW.lgrun; prints its path
 *
 * some    every part, small, as a crash would leave it
 * full    every part as large as the format allows
 * empty   every stage committed with nothing in it
 * bare    the handler was killed while the threads captured themselves: threads and stack memory,
 *         but no later stage
 * lost    as some, but a SIGSEGV whose siginfo was lost, with a kind that no table knows
 * quit    as some, but a dump that SIGQUIT asked for
 * briefs  as some, and while that crash was with an earlier handler, one in that handler and one of
 *         another thread, of which the program died; one whose header is damaged
 * torn    as some, killed while bytes of standard error were replaced; a thread answered too late
 * functions
 *         as some, with the functions of the frames
 * async   as some, with chains of asynchronous callers of three threads
 * cpu     as some, with the CPU times of the threads
 * later   no crash: an announced end, the word of a witness, a hang mark, owners
 * near    no crash: memory near its limit, a SIGHUP that the program handled, a fork
 * noted   no crash record: a crash that the program noted
 * fields  no crash: breadcrumbs with categories and fields, damaged ones, and ones of unknown
 *         kinds
 * annotated, annotated-full
 *         no crash: annotations of every kind; as many as there can be, as long as they can be
 * agent   no crash: the words of an agent
 * executed
 *         no crash: another program was executed
 * guards  no crash: guard events of every kind, some damaged
 * system, system-full
 *         no crash: the system that the run began on, as in all files; with a command line that
 *         was cut, in a unit
 * busy    no crash: the snapshot of a shortage of memory, with a chain of asynchronous callers
 * live    no crash: heartbeats, deadlines and the other snapshots, of a program that lives
 * hung    the same, killed during the snapshot of a hang; the snapshot of the deadline was never
 *         taken */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/log.h"
#include "launchguard/reader.h"
#include "os/os.h"
#include "store/crc32c.h"
#include "store/problem.h"
#include "store/run.h"

#define PROGRAM UINT64_C(0x555500000000)
#define LIBRARY UINT64_C(0x7f0000100000)
#define STACK UINT64_C(0x7ffc00010000)

static struct lg__run run;
static bool full, empty;

static void write_header(const char *how)
{
    struct lg__crash_header *header = lg__run_stage(&run, 0, LG_STAGE_HEADER);
    *header = (struct lg__crash_header){
        .signal = SIGABRT, .code = -6, .kind = LG_CRASH_ABORT, .flags = LG__CRASH_HAS_SENDER, .sender_pid = 4711, .sender_uid = 1000,
        .pc = LIBRARY + 0x1234, .sp = STACK, .fp = STACK + 64, .tid = 4711, .pid = 4711, .monotonic_ns = 3000000000, .boottime_ns = 3000000001,
        .wall_ns = UINT64_C(1767225602000000000), .stack_low = STACK - 65536, .stack_high = STACK + 65536, .sequence = 1
    };
    if (strcmp(how, "quit") == 0)
        header->signal = SIGQUIT, header->code = 0, header->kind = LG_CRASH_QUIT, header->sender_pid = 1, header->sender_uid = 0;
    if (strcmp(how, "lost") == 0)
        header->signal = SIGSEGV, header->code = 0, header->kind = 77, header->flags = LG__CRASH_SIGINFO_LOST;
    lg__run_commit(&run, 0, LG_STAGE_HEADER, sizeof *header);
}

static void write_context(void)
{
    struct lg__crash_context *context = lg__run_stage(&run, 0, LG_STAGE_CONTEXT);
    context->arch = LG__ARCH_X86_64;
    context->register_count = 18;
    for (unsigned i = 0; i < 18; i++)
        context->registers[i] = 0x1111111111111111u * (i % 16);
    memcpy(context->thread_name, "loader", 6);
    context->stack_start = STACK;
    context->code_start = LIBRARY + 0x1234 - 32;
    context->stack_size = 16;
    context->code_size = 64;
    memset(context->stack, 0xaa, 16);
    memset(context->code, 0x90, 64);
    lg__run_commit(&run, 0, LG_STAGE_CONTEXT, sizeof *context);
}

static void write_frames(unsigned stage, uint32_t stored, uint32_t reason, uint32_t assumed)
{
    struct lg__crash_frames *frames = lg__run_stage(&run, 0, stage);
    frames->head = (struct lg__frames_head){ .stored = (uint16_t)stored, .first = (uint16_t)stored, .total = stored, .reason = reason, .assumed = assumed };
    for (uint32_t i = 0; i < stored; i++)
        frames->pcs[i] = i % 3 ? PROGRAM + 0x1000 + 16 * i : LIBRARY + 0x1234 + 256 * i;
    lg__run_commit(&run, 0, stage, offsetof(struct lg__crash_frames, pcs) + stored * sizeof frames->pcs[0]);
}

/* After the stored pcs: a function for each frame but one, which has none, and one whose offset
 * makes no sense. */
static size_t write_functions(uint64_t *after, uint32_t count)
{
    struct lg__functions *functions = (struct lg__functions *)(void *)after;
    const size_t size = count * sizeof functions->functions[0];
    for (uint32_t i = 0; i < count; i++)
        functions->functions[i] = (struct lg__function){ 0x10 + i, i == 1 ? 0 : i == 2 ? 0x12 : 0x1000 * (i + 1) };
    functions->count = count;
    functions->crc = lg__crc32c(0, functions->functions, size);
    return sizeof *functions + size;
}

static void write_async(void)
{
    struct lg__crash_async *async = lg__run_stage(&run, 0, LG_STAGE_ASYNC);
    static const struct lg__async_chain chains[] = { { PROGRAM + 0x1010, 1, 3, 0 }, { LIBRARY + 0x1234, 70000, 1, 1 }, { PROGRAM, 4, 2, 2 } };
    size_t used = 0;
    const uint32_t count = full ? LG__ASYNC_CHAINS_MAX : empty ? 0 : sizeof chains / sizeof chains[0];
    for (uint32_t i = 0; i < count; i++) {
        const struct lg__async_chain last = { UINT64_MAX, UINT32_MAX, (uint16_t)(LG__ASYNC_WORDS - 2 - used), 1 };
        const struct lg__async_chain chain = !full ? chains[i] : i + 1 < count ? (struct lg__async_chain){ i, i, 1, 0 } : last;
        memcpy(async->words + used, &chain, sizeof chain);
        used += sizeof chain / sizeof async->words[0];
        for (uint32_t k = 0; k < chain.count; k++)
            async->words[used++] = PROGRAM + 0x2000 * (i + 1) + 16 * k;
    }
    async->count = count;
    async->omitted = full ? UINT32_MAX : 2;
    lg__run_commit(&run, 0, LG_STAGE_ASYNC, offsetof(struct lg__crash_async, words) + used * sizeof async->words[0]);
}

static void add_message(struct lg__crash_messages *messages, uint32_t source, const char *text, uint32_t cut)
{
    uint32_t size = (uint32_t)strlen(text);
    messages->messages[messages->count++] = (struct lg__message){ source, messages->text_size, size, cut };
    memcpy(messages->text + messages->text_size, text, size);
    messages->text_size += size;
}

static void write_messages(const char *how)
{
    struct lg__crash_messages *messages = lg__run_stage(&run, 0, LG_STAGE_MESSAGES);
    if (full) {
        memset(messages->text, 'm', sizeof messages->text);
        messages->count = LG__MESSAGES_MAX;
        messages->text_size = LG__MESSAGES_TEXT_BYTES;
        /* A chunk with all bytes, empty chunks at both ends, and others that overlap. */
        static const uint32_t places[LG__MESSAGES_MAX][2] = { { 0, 6000 }, { 0, 0 }, { 6000, 0 }, { 5999, 1 }, { 10, 20 }, { 15, 20 }, { 1, 5999 }, { 0, 1 } };
        for (uint32_t i = 0; i < LG__MESSAGES_MAX; i++)
            messages->messages[i] = (struct lg__message){ i, places[i][0], places[i][1], i % 3 };
    } else if (!empty) {
        messages->kind = strcmp(how, "some") == 0 ? LG_CRASH_ABORT_CPP_EXCEPTION : 0;
        add_message(messages, LG_MESSAGE_LIBC, "terminate called after throwing an instance of", 0);
        add_message(messages, LG_MESSAGE_CPP_TYPE, "St13runtime_error", 0);
        add_message(messages, LG_MESSAGE_CPP_WHAT, "no room for \"notes\" \x1b[31m\xff", 1);
    }
    lg__run_commit(&run, 0, LG_STAGE_MESSAGES, offsetof(struct lg__crash_messages, text) + messages->text_size);
}

static bool has_cpu;            /* the system said how much CPU time the threads had used */
static uint32_t asked = 1;      /* sequence of the crash or snapshot that asked the threads */

static void write_thread_to(struct lg__thread *thread, uint32_t slot, uint32_t how, char state, const char *name, uint32_t registers)
{
    thread->tid = 4712 + (int32_t)slot;
    thread->how = how;
    thread->state = (unsigned char)state;
    thread->register_count = registers;
    memcpy(thread->name, name, strnlen(name, sizeof thread->name));
    thread->sequence = asked;
    thread->cpu_ns = has_cpu ? UINT64_C(1000000000) * (slot + 1u) : 0;
    thread->blocked = how == LG_THREAD_MASKED ? UINT64_MAX : 1u << (SIGUSR1 - 1);
    if (registers) {
        thread->pc = LIBRARY + 0x4444;
        thread->sp = STACK - 0x100000 * (slot + 1u);
        thread->stack_low = thread->sp - 4096;
        thread->stack_high = thread->sp + 4096;
    }
    for (uint32_t i = 0; i < registers; i++)
        thread->registers[i] = 0x100u * slot + i;
    const size_t from = offsetof(struct lg__thread, tid);
    thread->crc = lg__crc32c(0, (const uint8_t *)thread + from, offsetof(struct lg__thread, walk) - from);
    atomic_store(&thread->commit, LG__COMMIT_THREAD);
}

static void write_walk_to(struct lg__thread *thread, uint32_t method, uint32_t stored, uint32_t total, uint32_t reason, uint32_t assumed)
{
    thread->method = method;
    thread->head = (struct lg__frames_head){ .stored = (uint16_t)stored, .first = (uint16_t)(stored > 80 ? 80 : stored), .total = total, .reason = reason, .assumed = assumed };
    for (uint32_t i = 0; i < stored; i++)
        thread->pcs[i] = i == 0 ? LIBRARY + 0x4444 : PROGRAM + 0x2000 + 16 * i;
    if (stored == 7) /* its second frame is the kernel's call of a signal handler */
        thread->head.signal_pc = thread->pcs[1];
    const size_t from = offsetof(struct lg__thread, method);
    thread->walk_crc = lg__crc32c(0, (const uint8_t *)thread + from, offsetof(struct lg__thread, pcs) - from + stored * sizeof thread->pcs[0]);
    atomic_store(&thread->walk, LG__COMMIT_WALK);
}

/* Chains of asynchronous callers, up to the end of the walk that is there. */
static void write_chains_to(struct lg__thread *thread, const struct lg__async_chain *chains, uint32_t count, uint32_t omitted)
{
    const size_t from = offsetof(struct lg__thread, method), head = sizeof *chains / sizeof thread->pcs[0];
    size_t words = 0;
    for (uint32_t i = 0; i < count; i++)
        words += head + chains[i].count;
    uint64_t *first = thread->pcs + LG__THREAD_FRAMES_MAX - words, *at = first;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(at, &chains[i], sizeof *chains);
        at += head;
        for (uint32_t k = 0; k < chains[i].count; k++)
            *at++ = PROGRAM + 0x2000 * (i + 1) + 16 * k;
    }
    thread->async_words = (uint8_t)words;
    thread->async_chains = (uint8_t)count;
    thread->async_omitted = (uint16_t)omitted;
    const uint32_t crc = lg__crc32c(0, (const uint8_t *)thread + from, offsetof(struct lg__thread, pcs) - from + thread->head.stored * sizeof thread->pcs[0]);
    thread->walk_crc = lg__crc32c(crc, first, words * sizeof *first);
}

static void write_chains(void)
{
    static const struct lg__async_chain chains[] = { { PROGRAM + 0x2020, 2, 3, 0 }, { PROGRAM + 0x2030, 3, 1, 1 } }, most = { PROGRAM + 0x2010, 1, 92, 0 };
    write_chains_to(&run.slots[0], chains, 2, 7);
    write_chains_to(&run.slots[4], &most, 1, UINT16_MAX);
}

static void write_thread(uint32_t slot, uint32_t how, char state, const char *name, uint32_t registers)
{
    write_thread_to(&run.slots[slot], slot, how, state, name, registers);
}

static void write_walk(uint32_t slot, uint32_t method, uint32_t stored, uint32_t total, uint32_t reason, uint32_t assumed)
{
    write_walk_to(&run.slots[slot], method, stored, total, reason, assumed);
}

static void write_threads(void)
{
    lg__run_open_threads(&run);
    if (full) {
        for (uint32_t slot = 0; slot < run.slot_count; slot++) {
            write_thread(slot, slot, (char)(0x1f + slot), "sixteen letters!", 40);
            write_walk(slot, 3 + slot, LG__THREAD_FRAMES_MAX, UINT32_MAX, slot + 5, slot);
        }
    } else if (!empty) {
        write_thread(0, LG_THREAD_CAPTURED, 'S', "worker", 18);
        write_walk(0, LG_STAGE_DWARF, 5, 5, LG__WALK_COMPLETE, 1);
        write_thread(1, LG_THREAD_CAPTURED, 'S', "worker", 18);
        write_walk(1, LG_STAGE_DWARF, 5, 5, LG__WALK_COMPLETE, 1);
        write_thread(2, LG_THREAD_MASKED, 'R', "busy \x1b[0m", 0);
        /* slot 3 was taken and never committed */
        write_thread(4, LG_THREAD_CAPTURED, 0, "", 18);
        write_walk(4, LG_STAGE_FRAMES, 2, 2, LG__WALK_BAD_POINTER, 0);
    }
}

static void count_threads(void)
{
    struct lg__crash_threads *threads = lg__run_stage(&run, 0, LG_STAGE_THREADS);
    if (!empty)
        *threads = (struct lg__crash_threads){ .listed = 7, .captured = 3, .masked = 1, .silent = 1, .omitted = 2, .waited_ns = 1234567 };
    if (has_cpu)
        threads->cpu_ns = 12345678901u;
    if (full)
        *threads = (struct lg__crash_threads){ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 24, UINT64_MAX, UINT64_MAX, { 0 } };
    lg__run_commit(&run, 0, LG_STAGE_THREADS, sizeof *threads);
}

static void write_process(void)
{
    static const char map[] =
        "555500000000-555500010000 r-xp 00000000 08:01 42                         /opt/example/parts\n"
        "7f0000000000-7f0000001000 r--s 00002000 08:01 43                         /var/lib/example/data with spaces\n"
        "7f0000100000-7f0000200000 r-xp 00000000 08:01 44                         /lib/libexample.so.1\n"
        "7ffc00000000-7ffc00020000 rw-p 00000000 00:00 0                          [stack]\n";
    struct lg__crash_process *process = lg__run_stage(&run, 0, LG_STAGE_PROCESS);
    for (uint32_t i = 0; i < LG__RESOURCES; i++)
        process->resources[i] = full ? UINT64_MAX - 1 : empty || i > LG_RESOURCE_TRACER || i % 7 == 6 ? LG__RESOURCE_UNKNOWN : 1000003 * (uint64_t)(i + 1);
    if (!full && !empty)
        process->resources[LG_RESOURCE_VIRTUAL_LIMIT] = LG__RESOURCE_UNLIMITED, process->resources[LG_RESOURCE_TRACER] = 0;
    process->stacks = empty ? 0 : 3;
    process->stacks_cut = empty ? 0 : 1;
    if (!empty) {
        memcpy(process->map, map, sizeof map - 1);
        process->map_size = sizeof map - 1;
    }
    if (full) {
        for (; process->map_size + sizeof map - 1 <= LG__MAP_BYTES; process->map_size += (uint32_t)sizeof map - 1)
            memcpy(process->map + process->map_size, map, sizeof map - 1);
        memset(process->map + process->map_size, 'x', LG__MAP_BYTES - process->map_size);
        process->map_size = LG__MAP_BYTES;
        process->map_cut = 1;
    }
    lg__run_commit(&run, 0, LG_STAGE_PROCESS, offsetof(struct lg__crash_process, map) + process->map_size);
}

static uint32_t write_chunk(uint32_t at, uint64_t start, uint32_t size, int32_t tid)
{
    struct lg__chunk *chunk = (void *)(run.stacks + at);
    uint64_t *words = (void *)(chunk + 1);
    chunk->start = start;
    chunk->size = size;
    chunk->tid = tid;
    /* The words for a scan: a return address now and then, between numbers that are none. */
    for (uint32_t i = 0; i < size / 8; i++)
        words[i] = i % 5 == 3 ? PROGRAM + 0x3000 + 16 * i : i;
    const size_t from = offsetof(struct lg__chunk, start);
    chunk->crc = lg__crc32c(0, (const uint8_t *)chunk + from, sizeof *chunk - from + size);
    atomic_store(&chunk->commit, LG__COMMIT_CHUNK);
    return (at + (uint32_t)sizeof *chunk + size + LG__CHUNK_ALIGN - 1) & ~(LG__CHUNK_ALIGN - 1);
}

static void write_stacks(void)
{
    if (full) {
        write_chunk(0, STACK, run.stack_bytes - (uint32_t)sizeof(struct lg__chunk), 4711);
    } else if (!empty) {
        uint32_t at = write_chunk(0, STACK, 200, 4711);
        at = write_chunk(at, STACK - 0x100000, 0, 4712);
        write_chunk(at, STACK - 0x200000, 64, 4713);
    }
}

static struct lg__brief *write_brief(uint32_t index, uint32_t sequence, int32_t tid, int32_t signal, uint32_t kind, const char *name)
{
    struct lg__brief *brief = &run.briefs->briefs[index];
    brief->header = (struct lg__crash_header){
        .signal = signal, .code = 1, .kind = kind, .flags = LG__CRASH_HAS_ADDRESS, .address = 16 * sequence, .pc = PROGRAM + 0x100 * sequence,
        .sp = STACK - 0x1000 * sequence, .fp = STACK - 0x1000 * sequence + 64, .tid = tid, .pid = 4711, .monotonic_ns = 3000000000u + 1000 * sequence,
        .boottime_ns = 3000000001u + 1000 * sequence, .wall_ns = UINT64_C(1767225602000000000) + 1000 * sequence, .sequence = sequence
    };
    brief->context = (struct lg__crash_context){ .arch = LG__ARCH_X86_64, .register_count = 18, .code_start = brief->header.pc, .code_size = 8,
                                                 .stack_start = brief->header.sp };
    memcpy(brief->context.thread_name, name, strlen(name));
    for (uint64_t i = 0; i < 18; i++)
        brief->context.registers[i] = 0x1000 * sequence + i;
    return brief;
}

static void commit_brief(struct lg__brief *brief, unsigned part, const void *from, size_t size)
{
    brief->parts[part].size = (uint32_t)size;
    brief->parts[part].crc = lg__crc32c(0, from, size);
    atomic_store(&brief->parts[part].commit, LG__COMMIT_STAGE + part + 1);
}

static void commit_frames(struct lg__brief *brief, uint32_t stored, uint32_t first, uint32_t total, uint32_t reason)
{
    brief->head = (struct lg__frames_head){ .stored = (uint16_t)stored, .first = (uint16_t)first, .total = total, .reason = reason };
    for (uint32_t i = 0; i < stored; i++)
        brief->pcs[i] = i ? PROGRAM + 0x3000 + 16 * i : brief->header.pc;
    commit_brief(brief, LG__BRIEF_FRAMES, &brief->head, sizeof brief->head + stored * sizeof brief->pcs[0]);
}

static void write_briefs(void)
{
    atomic_store(&run.record->outcome, LG__OUTCOME_CHAINED);
    lg__run_outcome(&run, 1, 0, LG__OUTCOME_DYING); /* writes the head */
    /* In the handler of the crash in the record; ended before its frames were walked. */
    struct lg__brief *brief = write_brief(1, 2, 4711, SIGSEGV, LG_CRASH_NULL_READ, "loader");
    atomic_store(&brief->within, 1);
    atomic_store(&brief->outcome, LG__OUTCOME_CHAINED);
    commit_brief(brief, LG__BRIEF_HEADER, &brief->header, sizeof brief->header);
    commit_brief(brief, LG__BRIEF_CONTEXT, &brief->context, sizeof brief->context);
    /* Another thread; as many frames as can be stored. */
    brief = write_brief(0, 3, 4712, SIGBUS, LG_CRASH_BUS, "worker");
    commit_brief(brief, LG__BRIEF_HEADER, &brief->header, sizeof brief->header);
    commit_brief(brief, LG__BRIEF_CONTEXT, &brief->context, sizeof brief->context);
    commit_frames(brief, LG__BRIEF_FRAMES_MAX, LG__BRIEF_FRAMES_MAX - LG__BRIEF_FRAMES_LAST, 300, LG__WALK_BAD_POINTER);
    /* Its header does not go with its checksum; the other parts are whole. */
    brief = write_brief(2, 4, 4713, SIGILL, LG_CRASH_ILLEGAL, "helper");
    commit_brief(brief, LG__BRIEF_HEADER, &brief->header, sizeof brief->header);
    commit_brief(brief, LG__BRIEF_CONTEXT, &brief->context, sizeof brief->context);
    commit_frames(brief, 3, 3, 3, LG__WALK_COMPLETE);
    brief->header.tid = 4714;
    /* The last place is empty. */
}

static void write_tail(void)
{
    uint64_t total = full ? (UINT64_C(1) << 40) + 17 : empty ? 0 : 100;
    for (uint64_t n = total > LG__TAIL_BYTES ? total - LG__TAIL_BYTES : 0; n < total; n++)
        run.tail->bytes[n % LG__TAIL_BYTES] = n % 40 == 39 ? '\n' : n % 40 == 20 ? 0x1b : (uint8_t)('a' + n % 26);
    atomic_store(&run.tail->total, total);
}

/* Ended while new bytes replaced old ones; and a thread answered an earlier crash, too late. */
static void tear(void)
{
    const uint64_t total = LG__TAIL_BYTES + 1000, begun = total + 256;
    for (uint64_t n = 1000; n < begun - 100; n++)
        run.tail->bytes[n % LG__TAIL_BYTES] = n < total ? (uint8_t)('a' + n % 26) : '#';
    atomic_store(&run.tail->total, total);
    atomic_store(&run.tail->begun, begun);
    struct lg__thread *thread = &run.slots[2];
    const size_t from = offsetof(struct lg__thread, tid);
    thread->sequence = 2;
    thread->crc = lg__crc32c(0, (const uint8_t *)thread + from, offsetof(struct lg__thread, walk) - from);
}

static void write_modules(void)
{
    static const char text[] = "/opt/example/parts/lib/libexample.so.1";
    struct lg__module_table *table = run.modules;
    table->generation = 1;
    table->count = 2;
    table->text_size = sizeof text - 1;
    memcpy(table->text, text, sizeof text - 1);
    table->entries[0] = (struct lg__module_entry){ PROGRAM, PROGRAM + 0x10000, PROGRAM, 0, 18, 4, 0, { 1, 2, 3, 4 } };
    table->entries[1] = (struct lg__module_entry){ LIBRARY, LIBRARY + 0x100000, LIBRARY, 18, 20, 4, 0, { 5, 6, 7, 8 } };
    uint32_t crc = lg__crc32c(0, &table->generation, 4 * sizeof(uint32_t));
    crc = lg__crc32c(crc, table->entries, 2 * sizeof table->entries[0]);
    table->crc = lg__crc32c(crc, table->text, table->text_size);
    atomic_store(&table->commit, LG__COMMIT_MODULES);
}

static void write_launch(uint32_t index, const char *name, uint32_t phase, const char *task, int32_t tid, const char *modules, size_t modules_size)
{
    struct lg__state_context *context = &run.state->contexts[index];
    struct lg__owner *owner = &run.owners->contexts[index];
    memcpy(context->name, name, strlen(name));
    memcpy(context->task, task, strlen(task));
    memcpy(owner->modules, modules, modules_size);
    atomic_store(&context->task_set, *task != 0);
    atomic_store(&context->phase, phase);
    atomic_store(&context->begun_ns, 1500000000u + index);
    atomic_store(&context->window_ms, 5000);
    atomic_store(&context->used, 1);
    atomic_store(&owner->task_ns, tid ? 1700000000u : 0);
    atomic_store(&owner->task_tid, tid);
    atomic_store(&run.state->context_count, index + 1);
}

static void write_later(void)
{
    char most[LG__OWNED_BYTES] = { 0 };
    memset(most, 'm', sizeof most - 2); /* one name that takes all the room */
    write_launch(0, "main", LG_PHASE_TERMINATING, "open-documents", 4712, "libplayer.so\0libcodec.so.2\0", 28);
    write_launch(1, "sync", LG_PHASE_HELD, "", 0, "", 0);
    write_launch(2, "index", LG_PHASE_HALTED, "", -1, most, sizeof most);
    struct lg__state *state = run.state;
    atomic_store(&state->announced_ns, 9000000000u);
    atomic_store(&state->announced, LG__ANNOUNCED_RESTART);
    atomic_store(&state->witness_status, SIGKILL);
    atomic_store(&state->witnessed_ns, 9700000000u);
    atomic_store(&state->witnessed, 1);
    atomic_store(&state->oom_kills, 3);
    atomic_store(&state->oom_cgroup, 4242);
    atomic_store(&state->oom_known, 1);
    atomic_store(&state->hang_ns, 8000000000u);
    atomic_store(&state->hung_alive_ns, 8800000000u);
}

static void write_near(void)
{
    struct lg__state *state = run.state;
    atomic_store(&state->term_ns, 2000000000u);
    atomic_store(&state->term_kept, 1);
    atomic_store(&state->term_alive_ns, 2000000001u);
    atomic_store(&state->term_signal, SIGHUP);
    atomic_store(&state->memory_used, 48234496);
    atomic_store(&state->memory_limit, 50331648);
    atomic_store(&state->memory_own, 33554432);
    atomic_store(&state->memory_near_ns, 3000000000u);
    atomic_store(&state->forked_ns, 4000000000u);
}

static void write_noted(void)
{
    atomic_store(&run.state->crash_noted_ns, 5000000000u);
    memset(run.state->crash_type, 'T', sizeof run.state->crash_type); /* without a NUL */
    atomic_store(&run.state->ended_ns, 6000000000u);
    atomic_store(&run.state->ended, LG__ENDED_EXIT);
}

static void write_agent(void)
{
    atomic_store(&run.state->attached, 1);
    atomic_store(&run.state->reported, LG_REPORTED_SPOOLED);
}

static void write_executed(void)
{
    atomic_store(&run.state->ended_ns, 7000000000u);
    atomic_store(&run.state->ended, LG__ENDED_EXEC);
}

/* A site with a description as long as can be, or as short. */
static struct lg__guard_site *write_guard(uint32_t index, uint32_t class, uint64_t address, uint32_t action, bool is_long)
{
    struct lg__guard_site *site = &run.guards->sites[index];
    atomic_store(&site->key, (uint64_t)class << 56 | address);
    site->guard_class = class;
    site->first_ns = 2000000000u + index;
    site->tid = 4711;
    memcpy(site->thread_name, is_long ? "sixteen letters!" : "player", is_long ? 16 : 6);
    memset(site->text, 't', is_long ? sizeof site->text : 0); /* without a NUL */
    site->field_count = is_long ? LG__GUARD_FIELDS : 0;
    for (uint32_t i = 0; i < site->field_count; i++) {
        memset(site->fields[i].key, 'a' + (int)i, sizeof site->fields[i].key);
        memset(site->fields[i].value, '0' + (int)i, sizeof site->fields[i].value);
    }
    site->frame_count = is_long ? LG__GUARD_FRAMES : 1;
    for (uint32_t i = 0; i < site->frame_count; i++)
        site->frames[i] = address + 16 * i;
    atomic_store(&site->count, 10 + index);
    atomic_store(&site->survived, action == LG_GUARD_SURVIVED ? 10 + index : index);
    atomic_store(&site->last_ns, 3000000000u + index);
    atomic_store(&site->action, action);
    return site;
}

static void commit_guard(struct lg__guard_site *site)
{
    site->crc = lg__crc32c(0, &site->guard_class, sizeof *site - offsetof(struct lg__guard_site, guard_class));
    atomic_store(&site->commit, LG__COMMIT_GUARD);
}

static void write_guards(void)
{
    struct lg__guards *guards = run.guards;
    struct lg__guard_site *site = write_guard(1, LG_GUARD_CONTAINER, PROGRAM + 0x1234, LG_GUARD_SURVIVED, false);
    memcpy(site->text, "index 9 of 3 \x1b[31m\xff", 20);
    memcpy(site->fields[0].key, "index", 6), memcpy(site->fields[0].value, "9", 2);
    memcpy(site->fields[1].key, "count", 6), memcpy(site->fields[1].value, "3", 2);
    site->field_count = 2;
    commit_guard(site);
    commit_guard(write_guard(2, LG_GUARD_MEMORY, LIBRARY + 0x5678, LG_GUARD_EXHAUSTED, true));
    write_guard(3, LG_GUARD_STRING, PROGRAM + 0x2000, LG_GUARD_REPORTED, false);
    site = write_guard(4, LG_GUARD_HANDLE, PROGRAM + 0x3000, LG_GUARD_ENDED, false);
    commit_guard(site);
    site->text[0] = 'x'; /* damaged */
    site = write_guard(5, 99, PROGRAM + 0x4000, 77, false); /* of a later version */
    commit_guard(site);
    site = &guards->sites[6]; /* under way */
    atomic_store(&site->key, (uint64_t)LG_GUARD_TIMER << 56 | (PROGRAM + 0x5000));
    atomic_store(&guards->sites[0].count, 1000);
    atomic_store(&guards->sites[0].survived, 999);
    atomic_store(&guards->sites[0].last_ns, 4000000000u);
    atomic_store(&guards->sites[0].action, LG_GUARD_SURVIVED);
    atomic_store(&guards->events, 1065);
    atomic_store(&guards->survived, 1024);
    guards->site_count = LG__GUARD_SITES;
    atomic_store(&guards->site_bytes, sizeof(struct lg__guard_site));
}

/* Texts as untrusted as can be: without a NUL, with bytes that are no text. */
static void write_system(bool is_full)
{
    struct lg__system *system = run.system;
    for (uint8_t i = 0; i < 16; i++) {
        system->machine.id[i] = (uint8_t)(0xa0 + i);
        system->invocation[i] = (uint8_t)(is_full ? i : 0);
    }
    system->parent_pid = 4700;
    memset(system->kernel, 'k', sizeof system->kernel);
    memcpy(system->hardware, "aarch64", 8);
    memcpy(system->machine.model, "Kiosk \"4\" \x1b[31m\xff", 17);
    memcpy(system->machine.os_id, "debian", 7);
    memset(system->machine.os_version, '1', sizeof system->machine.os_version);
    memcpy(system->container, "podman", 7);
    if (is_full)
        memcpy(system->unit, "player@1.service", 17);
    else
        memset(system->parent_name, 'p', sizeof system->parent_name);
    system->command_line_size = is_full ? LG__COMMAND_LINE_BYTES : 20;
    system->command_line_cut = is_full;
    memset(system->command_line, 'a', system->command_line_size);
    memcpy(system->command_line, "player\0--file\0a \"b\"", 20);
    const size_t from = offsetof(struct lg__system, invocation);
    system->crc = lg__crc32c(0, system->invocation, offsetof(struct lg__system, command_line) - from + system->command_line_size);
    atomic_store(&system->commit, LG__COMMIT_SYSTEM);
}

/* One entry of kind 1 with a head of any contents. */
static void write_entry(unsigned kind, unsigned category_size, unsigned field_count, unsigned text_size, const char *rest, size_t rest_size)
{
    char bytes[LG_LOG_TEXT_MAX];
    struct lg__fields head = { (uint8_t)category_size, (uint8_t)field_count, (uint16_t)text_size };
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, rest, rest_size);
    lg__ring_write(&run.ring, LG_LEVEL_INFO, kind, bytes, sizeof head + rest_size);
}

#define ENTRY(kind, category_size, field_count, text_size, rest) write_entry(kind, category_size, field_count, text_size, rest, sizeof rest - 1)

static void write_fields(void)
{
    const unsigned cut = LG__ENTRY_FIELDS | LG__ENTRY_CUT;
    lg__ring_write(&run.ring, LG_LEVEL_INFO, LG__ENTRY_TEXT, "only text", 9);
    ENTRY(LG__ENTRY_FIELDS, 7, 2, 14, "network" "request failed" "\3\0\23\0" "url" "https://example.org" "\4\0\3\0" "code" "503");
    ENTRY(cut, 0, 2, 4, "text" "\0\0\0\0" "\5\0\6\0" "a key" "\"\x1b[m\xff\n");
    ENTRY(LG__ENTRY_FIELDS, 63, 0, 0, "the longest category there is, just as long as a name may be :)");
    ENTRY(LG__ENTRY_FIELDS, 0, 0, 0, "" "bytes behind the last field mean nothing");
    char most[255 * 5];
    for (size_t i = 0; i < 255; i++)
        memcpy(most + 5 * i, (char[]){ 1, 0, 0, 0, (char)('a' + i % 26) }, 5);
    write_entry(LG__ENTRY_FIELDS, 0, 255, 0, most, sizeof most);
    /* With right checksums and wrong contents. */
    lg__ring_write(&run.ring, LG_LEVEL_WARNING, LG__ENTRY_FIELDS, "\0\0\0", 3);
    write_entry(LG__ENTRY_FIELDS, 64, 0, 0, most, 64);
    ENTRY(LG__ENTRY_FIELDS, 0, 0, 5, "four");
    ENTRY(LG__ENTRY_FIELDS, 2, 0, 3, "four");
    ENTRY(LG__ENTRY_FIELDS, 0, 2, 4, "text" "\1\0\1\0" "kv" "\1\0\0");
    ENTRY(LG__ENTRY_FIELDS, 0, 1, 4, "text" "\1\0\2\0" "kv");
    ENTRY(cut, 0, 1, 4, "text" "\377\377\377\377" "kv");
    /* Entries of kinds that this version does not know. */
    ENTRY(2, 0, 0, 4, "text");
    ENTRY(0xff, 0, 0, 4, "text");
    lg__ring_write(&run.ring, LG_LEVEL_ERROR, LG__ENTRY_TEXT, "the last one", 12);
}

static void annotate(const char *key, const char *value, bool redacts)
{
    struct lg__annotation_key checked;
    lg__annotation_key(key, &checked);
    if ((redacts ? lg__annotation_redact(&run.annotations, &checked) : lg__annotation_put(&run.annotations, &checked, value)) != LG_OK)
        abort();
}

static void annotate_all(bool most)
{
    char key[LG__NAME_BYTES], large[600];
    memset(large, 'v', sizeof large);
    large[sizeof large - 1] = 0;
    if (most) {
        for (unsigned i = 0; i < 2 * LG__ANNOTATIONS; i++) { /* each twice */
            snprintf(key, sizeof key, "%062u%c", i % LG__ANNOTATIONS, 'k');
            annotate(key, large + sizeof large - 1 - LG__ANNOTATION_VALUE_BYTES + i / LG__ANNOTATIONS, false);
        }
    } else {
        annotate("screen", "launch", false);
        annotate("gone", "what is taken away is not shown", false);
        annotate("screen", "settings", false);
        annotate("document \x1b[31m\xff", "Gr\xc3\xbc\xc3\x9f" "e, \"\xe4\xb8\x96\xe7\x95\x8c\"\n\x1b[0m\xff", false);
        annotate("empty", "", false);
        annotate("token", "swordfish", false);
        annotate("token", NULL, true);
        annotate("gone", NULL, false);
        annotate("password", NULL, true); /* a key without a value, in the place of the last key */
        annotate("cut", large, false);
        annotate("secret", NULL, true);
        annotate("secret", "tuna fish", false);
        annotate("taken", "back", false);
        annotate("taken", NULL, true);
        annotate("taken", NULL, false);
    }
    /* times of their own, the same in every file */
    for (unsigned i = 0; i < LG__ANNOTATION_VALUES; i++) {
        struct lg__annotation *value = &run.annotations.file->values[i];
        value->monotonic_ns = value->sequence ? UINT64_C(2000000000) + value->sequence : 0;
        const size_t from = offsetof(struct lg__annotation, monotonic_ns);
        uint32_t crc = lg__crc32c(0, (const uint8_t *)value + from, offsetof(struct lg__annotation, value) + value->size - from);
        value->crc = value->sequence ? lg__crc32c(crc, &value->sequence, sizeof value->sequence) : 0;
    }
}

static void write_annotations(void)
{
    annotate_all(false);
}

static void write_most_annotations(void)
{
    annotate_all(true);
}

static void write_heartbeat(uint32_t index, int32_t tid, const char *name, uint32_t paused, uint64_t beat_ns, uint64_t hang_ns)
{
    struct lg__heartbeat *heartbeat = &run.pulse->heartbeats[index];
    memcpy(heartbeat->name, name, strnlen(name, sizeof heartbeat->name));
    atomic_store(&heartbeat->paused, paused);
    atomic_store(&heartbeat->beat_ns, beat_ns);
    atomic_store(&heartbeat->hang_ns, hang_ns);
    atomic_store(&heartbeat->tid, tid);
}

static void write_deadline(uint32_t index, const char *name, uint32_t limit_ms, uint64_t near_ns)
{
    struct lg__deadline *deadline = &run.pulse->deadlines[index];
    memcpy(deadline->name, name, strlen(name));
    atomic_store(&deadline->begun_ns, 3000000000u + index);
    atomic_store(&deadline->near_ns, near_ns);
    atomic_store(&deadline->limit_ms, limit_ms);
    atomic_store(&deadline->tid, 4713 + (int32_t)index);
    atomic_store(&deadline->number, 64 + index);
}

static struct lg__snapshot *write_snapshot(uint32_t kind, int32_t tid, const char *name, uint64_t since_ns)
{
    struct lg__snapshot *snapshot = lg__run_snapshot(&run, kind);
    if (kind == LG_SNAPSHOT_MEMORY)
        lg__run_open_memory_snapshot(&run);
    else
        lg__run_open_snapshots(&run);
    snapshot->kind = kind;
    asked = snapshot->sequence = kind + 6;
    snapshot->tid = tid;
    memcpy(snapshot->name, name, strlen(name));
    snapshot->since_ns = since_ns;
    snapshot->taken_ns = since_ns + 2000000000u;
    snapshot->crc = lg__crc32c(0, &snapshot->kind, offsetof(struct lg__snapshot, counted) - offsetof(struct lg__snapshot, kind));
    atomic_store(&snapshot->commit, LG__COMMIT_SNAPSHOT);
    return snapshot;
}

static void count_snapshot(struct lg__snapshot *snapshot)
{
    snapshot->counts_crc = lg__crc32c(0, &snapshot->listed, offsetof(struct lg__snapshot, resolved_ns) - offsetof(struct lg__snapshot, listed));
    atomic_store(&snapshot->counted, LG__COMMIT_COUNTS);
}

static void write_snapshots(bool killed)
{
    struct lg__thread *slots = run.snapshot_slots;
    struct lg__snapshot *hang = write_snapshot(LG_SNAPSHOT_HANG, 4711, "player", 5000000000u);
    write_heartbeat(0, 4711, "player", 0, 5000000000u, 5000000000u);
    write_thread_to(&slots[0], 0, LG_THREAD_CAPTURED, 0, "player", 18);
    slots[0].tid = 4711;
    slots[0].crc = lg__crc32c(0, &slots[0].tid, offsetof(struct lg__thread, walk) - offsetof(struct lg__thread, tid));
    atomic_store(&run.state->hang_ns, 5000000000u);
    if (killed)
        return;
    write_heartbeat(2, 4799, "sixteen letters!", 1, 6000000000u, 0);
    write_heartbeat(15, -1, "\x1b[31m", 7, UINT64_MAX, 0);
    write_deadline(0, "upload \"notes\"", 30000, 30000000000u);
    write_deadline(31, "nightly", 86400000, 0);
    write_walk_to(&slots[0], LG_STAGE_DWARF, 7, 7, LG__WALK_COMPLETE, 0);
    write_thread_to(&slots[1], 1, LG_THREAD_MASKED, 'D', "busy", 0);
    write_walk_to(&slots[1], LG_STAGE_FRAMES, 1, 1, LG__WALK_RECRASH, 0);
    /* slot 2 was taken and never committed */
    write_thread_to(&slots[3], 3, LG_THREAD_SILENT, 'S', "away", 0);
    hang->listed = 5, hang->captured = 1, hang->masked = 1, hang->silent = 2, hang->omitted = 1, hang->error = 24, hang->took_ns = 500123456;
    count_snapshot(hang);
    struct lg__snapshot *deadline = write_snapshot(LG_SNAPSHOT_DEADLINE, 4713, "upload \"notes\"", 3000000000u);
    struct lg__thread *thread = &slots[run.hang_slots];
    write_thread_to(thread, 1, LG_THREAD_CAPTURED, 0, "uploader", 18);
    write_walk_to(thread, LG_STAGE_DWARF, LG__THREAD_FRAMES_MAX, 300, LG__WALK_LIMIT, 2);
    deadline->listed = deadline->captured = 1;
    deadline->given_up = 1;
    count_snapshot(deadline);
    atomic_store(&deadline->resolved_ns, 31000000000u);
}

static void write_live(void)
{
    write_snapshots(false);
}

static void write_hung(void)
{
    write_snapshots(true);
}

/* Memory ran short: one thread had used nearly all of the CPU time, one gave no answer. */
static void write_busy(void)
{
    struct lg__snapshot *memory = write_snapshot(LG_SNAPSHOT_MEMORY, 0, "", 5000000000u);
    struct lg__thread *slots = run.memory_slots;
    write_thread_to(&slots[0], 0, LG_THREAD_CAPTURED, 0, "player", 18);
    write_walk_to(&slots[0], LG_STAGE_DWARF, 7, 7, LG__WALK_COMPLETE, 0);
    write_thread_to(&slots[1], 97, LG_THREAD_CAPTURED, 0, "decoder", 18);
    write_walk_to(&slots[1], LG_STAGE_FRAMES, 2, 2, LG__WALK_COMPLETE, 0);
    write_chains_to(&slots[1], &(struct lg__async_chain){ PROGRAM + 0x2010, 1, 2, 0 }, 1, 0);
    has_cpu = false;
    write_thread_to(&slots[2], 2, LG_THREAD_SILENT, 'S', "away", 0);
    memory->listed = 4, memory->captured = 2, memory->silent = 1, memory->omitted = 1, memory->took_ns = 500123456;
    count_snapshot(memory);
    atomic_store(&memory->resolved_ns, 9000000000u);
}

static const struct { const char *how; void (*write)(void); } without_crash[] = {
    { "later", write_later }, { "near", write_near }, { "noted", write_noted }, { "executed", write_executed }, { "agent", write_agent },
    { "guards", write_guards }, { "system", NULL }, { "system-full", NULL }, { "fields", write_fields },
    { "annotated", write_annotations }, { "annotated-full", write_most_annotations }, { "busy", write_busy }, { "live", write_live },
    { "hung", write_hung },
};

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    const char *how = arguments[2];
    full = strcmp(how, "full") == 0;
    empty = strcmp(how, "empty") == 0;
    has_cpu = strcmp(how, "cpu") == 0 || strcmp(how, "busy") == 0 || full;
    char name[64], path[4096];
    snprintf(name, sizeof name, "%s.lgrun", how);
    snprintf(path, sizeof path, "%s/%s", arguments[1], name);
    struct lg__identity identity = {
        .uuid = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 }, .boot_id = { 0xb0 }, .ordinal = 7,
        .wall_ns = UINT64_C(1767225600000000000), .monotonic_ns = 1000000000, .boottime_ns = 1000000001, .start_ticks = 99, .pid = 4711,
        .uid = 1000, .arch = LG__ARCH_X86_64, .build_id_size = 4, .build_id = { 1, 2, 3, 4 }, .app_id = "org.example.parts",
        .app_version = "1.1", .executable = "/opt/example/parts"
    };
    struct lg__run_sizes sizes = { .ring_bytes = 4096, .threads = 6, .stack_bytes = 4096 };
    struct lg__problem problem = { 0 };
    lg__crc32c_init();
    int directory = open(arguments[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || lg__run_create(directory, name, path, NULL, NULL, &sizes, &identity, &run, &problem) != LG_OK) {
        fprintf(stderr, "parts: %s: %s\n", path, problem.message);
        return 1;
    }
    atomic_store(&run.state->started, 1);
    write_modules();
    write_system(strcmp(how, "system-full") == 0);
    for (size_t i = 0; i < sizeof without_crash / sizeof without_crash[0]; i++)
        if (strcmp(how, without_crash[i].how) == 0) {
            if (without_crash[i].write)
                without_crash[i].write();
            printf("%s\n", path);
            return 0;
        }
    write_tail();
    write_header(how);
    write_context();
    write_frames(LG_STAGE_FRAMES, full ? LG__FRAMES_MAX : 4, LG__WALK_BAD_POINTER, 0);
    write_frames(LG_STAGE_DWARF, full ? LG__FRAMES_MAX : 3, LG__WALK_NO_INFO, full ? UINT32_MAX : 1);
    if (full || empty || strcmp(how, "async") == 0)
        write_async();
    write_messages(how);
    write_threads();
    if (strcmp(how, "async") == 0)
        write_chains();
    if (strcmp(how, "functions") == 0) {
        struct lg__crash_frames *frames = lg__run_stage(&run, 0, LG_STAGE_DWARF);
        lg__run_uncommit_stage(&run, 0, LG_STAGE_DWARF);
        lg__run_commit(&run, 0, LG_STAGE_DWARF, offsetof(struct lg__crash_frames, pcs) + 3 * sizeof frames->pcs[0] + write_functions(frames->pcs + 3, 3));
        for (uint32_t slot = 0; slot < run.slot_count; slot++)
            if (run.slots[slot].head.stored < 80)
                write_functions(run.slots[slot].pcs + run.slots[slot].head.stored, 5);
    }
    write_stacks();
    if (strcmp(how, "bare") != 0) {
        count_threads();
        write_process();
        struct lg__crash_done *done = lg__run_stage(&run, 0, LG_STAGE_DONE);
        done->monotonic_ns = 3001000000;
        lg__run_commit(&run, 0, LG_STAGE_DONE, sizeof *done);
    }
    if (strcmp(how, "briefs") == 0)
        write_briefs();
    if (strcmp(how, "torn") == 0)
        tear();
    printf("%s\n", path);
    return 0;
}
