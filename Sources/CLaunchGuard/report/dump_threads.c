/* The threads of a run in a minidump. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/dump_facts.h"
#include "report/dump_memory.h"
#include "report/parts.h"

#define REGISTERS_READ_MAX 256u

/* Of the selected crash, of a thread of it, or of a thread of a snapshot. */
static lg_status read_register(lg_reader *reader, lg_snapshot_kind kind, const uint32_t *thread, uint32_t index, lg_register *ret)
{
    return !thread ? lg_reader_register(reader, index, ret)
           : kind ? lg_reader_snapshot_register(reader, kind, *thread, index, ret) : lg_reader_thread_register(reader, *thread, index, ret);
}

static void read_registers(lg_reader *reader, lg_snapshot_kind kind, const uint32_t *thread, uint32_t most, struct lg__dump_registers *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < most && i < REGISTERS_READ_MAX && ret->count < LG__DUMP_REGISTERS_MAX; i++) {
        const lg_status status = read_register(reader, kind, thread, i, &ret->list[ret->count]);
        if (status == LG_OK)
            ret->count++;
        else if (status != LG_ERR_DAMAGED)
            return;
    }
}

static lg_status read_thread(lg_reader *reader, lg_snapshot_kind kind, uint32_t index, lg_thread_info *ret)
{
    return kind ? lg_reader_snapshot_thread(reader, kind, index, ret) : lg_reader_thread(reader, index, ret);
}

/* The threads of the selected crash (kind 0), or of a snapshot. */
static uint32_t thread_count(lg_reader *reader, lg_snapshot_kind kind)
{
    lg_threads_info threads;
    lg_snapshot_info snapshot;
    if (kind)
        return lg_reader_snapshot(reader, kind, &snapshot) == LG_OK ? snapshot.stored : 0;
    return lg_reader_threads(reader, &threads) == LG_OK ? threads.stored : 0;
}

static enum lg__dump_processor processor_of_threads(lg_reader *reader, lg_snapshot_kind kind)
{
    enum lg__dump_processor processor = LG__DUMP_UNKNOWN;
    struct lg__dump_registers registers;
    lg_thread_info thread;
    const uint32_t count = thread_count(reader, kind);
    for (uint32_t i = 0; processor == LG__DUMP_UNKNOWN && i < count; i++)
        if (read_thread(reader, kind, i, &thread) == LG_OK) {
            read_registers(reader, kind, &i, thread.register_count, &registers);
            processor = lg__dump_streams_processor_of(&registers);
        }
    return processor;
}

void lg__dump_threads_processor(struct lg__dump *dump)
{
    struct lg__dump_registers registers;
    lg_system_info system = LG_SYSTEM_INFO_INIT;
    for (int recorded = 0; dump->has_crash && dump->processor == LG__DUMP_UNKNOWN && recorded <= lg__dump_facts_has_other(dump); recorded++) {
        lg__dump_facts_select(dump, recorded);
        read_registers(dump->reader, 0, NULL, REGISTERS_READ_MAX, &registers);
        dump->processor = lg__dump_streams_processor_of(&registers);
    }
    lg__dump_facts_select(dump, true);
    if (dump->has_recorded && dump->processor == LG__DUMP_UNKNOWN)
        dump->processor = processor_of_threads(dump->reader, 0);
    for (lg_snapshot_kind kind = LG_SNAPSHOT_HANG; dump->processor == LG__DUMP_UNKNOWN && kind <= LG_SNAPSHOT_MEMORY; kind++)
        dump->processor = processor_of_threads(dump->reader, kind);
    if (dump->processor == LG__DUMP_UNKNOWN && lg_reader_system(dump->reader, &system) == LG_OK)
        dump->processor = lg__dump_streams_processor(system.hardware);
}

/* All threads of a record, each once: first the one that crashed, or hung. */
struct threads {
    struct thread {
        int32_t tid;
        char name[64];
        uint64_t sp;
        struct lg__dump_registers registers;
    } *list;
    size_t count, room;
    bool failed;
};

static struct thread *add_thread(struct threads *threads, int32_t tid, const char *name, uint64_t sp)
{
    for (size_t i = 0; i < threads->count; i++)
        if (threads->list[i].tid == tid)
            return NULL;
    if (threads->count == threads->room) {
        const size_t room = threads->room ? 2 * threads->room : 16;
        struct thread *list = realloc(threads->list, room * sizeof *list);
        threads->failed |= !list;
        if (!list)
            return NULL;
        threads->list = list;
        threads->room = room;
    }
    struct thread *thread = &threads->list[threads->count++];
    *thread = (struct thread){ .tid = tid, .sp = sp };
    snprintf(thread->name, sizeof thread->name, "%s", name);
    return thread;
}

static void add_crashed(struct lg__dump *dump, struct threads *threads, const lg_crash_info *crash, bool recorded)
{
    struct thread *thread = add_thread(threads, crash->tid, crash->thread_name, crash->sp);
    if (!thread)
        return;
    lg__dump_facts_select(dump, recorded);
    read_registers(dump->reader, 0, NULL, REGISTERS_READ_MAX, &thread->registers);
    if (!thread->registers.count)
        lg__dump_streams_guess(&thread->registers, dump->processor, crash->pc, crash->sp, crash->fp);
}

static void gather_threads(struct lg__dump *dump, struct threads *threads)
{
    const lg_snapshot_kind kind = dump->has_crash ? 0 : dump->snapshot.kind;
    lg_thread_info info;
    if (dump->has_crash)
        add_crashed(dump, threads, &dump->crash, false);
    if (lg__dump_facts_has_other(dump))
        add_crashed(dump, threads, &dump->recorded, true);
    lg__dump_facts_select(dump, true);
    const uint32_t count = (dump->has_crash ? dump->has_recorded : dump->has_snapshot) ? thread_count(dump->reader, kind) : 0;
    for (uint32_t i = 0; i < count && threads->count < dump->limits->threads; i++) {
        if (read_thread(dump->reader, kind, i, &info) != LG_OK)
            continue;
        struct thread *thread = add_thread(threads, info.tid, info.name, info.sp);
        if (!thread)
            continue;
        read_registers(dump->reader, kind, &i, info.register_count, &thread->registers);
        if (!thread->registers.count)
            lg__dump_streams_guess(&thread->registers, dump->processor, info.pc, info.sp, 0);
    }
}

/* ---- streams ---- */

static uint32_t add_name(struct lg__dump *dump, const char *name)
{
    size_t size = strlen(name);
    char *plain = size ? lg__dump_facts_text(dump, name, &size) : NULL;
    const uint32_t place = plain ? lg__dump_file_text(&dump->file, plain, size) : 0;
    free(plain);
    return place;
}

static void read_memory(struct lg__dump *dump, struct lg__dump_memory *memory)
{
    *memory = (struct lg__dump_memory){ .left = dump->limits->memory };
    for (int recorded = 0; dump->has_crash && recorded <= lg__dump_facts_has_other(dump); recorded++) {
        lg__dump_facts_select(dump, recorded);
        lg__dump_memory_stacks(memory, dump->reader);
    }
    lg__dump_memory_part(memory);
    for (int recorded = 0; dump->has_crash && memory->left && recorded <= lg__dump_facts_has_other(dump); recorded++) {
        lg__dump_facts_select(dump, recorded);
        lg__dump_memory_beside(memory, dump->reader, recorded ? dump->recorded.tid : dump->crash.tid);
    }
    lg__dump_memory_blank(memory, dump->report);
}

void lg__dump_threads_add(struct lg__dump *dump)
{
    struct lg__dump_memory memory;
    struct threads threads = { .count = 0 };
    read_memory(dump, &memory);
    gather_threads(dump, &threads);
    lg__dump_memory_append(&memory, &dump->file);
    struct lg__dump_thread *rows = calloc(threads.count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < threads.count; i++)
        rows[i].name = add_name(dump, threads.list[i].name);
    for (size_t i = 0; rows && i < threads.count; i++) {
        const struct thread *thread = &threads.list[i];
        const struct lg__dump_stretch *stack = lg__dump_memory_stack(&memory, thread->tid, thread->sp);
        rows[i].tid = thread->tid;
        rows[i].context = lg__dump_streams_context(&dump->file, dump->processor, &thread->registers);
        rows[i].stack = stack ? stack->start : thread->sp;
        rows[i].memory = stack ? stack->place : (struct lg__dump_place){ 0, 0 };
        if (dump->has_crash && dump->crash.tid == thread->tid)
            lg__dump_streams_exception(&dump->file, thread->tid, dump->crash.signal, dump->crash.code, dump->crash.has_address ? dump->crash.address : 0,
                                       rows[i].context);
    }
    if (rows)
        lg__dump_streams_threads(&dump->file, rows, threads.count);
    lg__dump_memory_add(&memory, &dump->file);
    if (!dump->has_crash && dump->has_snapshot && dump->snapshot.tid)
        lg__dump_streams_request(&dump->file, dump->snapshot.tid);
    dump->file.part.failed |= !rows || threads.failed || memory.failed;
    free(rows);
    free(threads.list);
    lg__dump_memory_free(&memory);
}
