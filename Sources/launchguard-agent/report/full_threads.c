/* Stacks and threads, of a crash and of a snapshot. */
#include "report/full.h"

#include <stdio.h>
#include <string.h>

#define THREADS_MAX 4096u

json_t *full_register(const lg_register *cell)
{
    json_t *object = json_object();
    put(object, "name", words_text(cell->name, strlen(cell->name)));
    put(object, "value", words_address(cell->value));
    return object;
}

json_t *full_frame(struct full *full, uint64_t pc, bool exact)
{
    uint64_t lookup = exact ? pc : pc - 1;
    if (!full->frames_left)
        return NULL;
    full->frames_left--;
    json_t *object = json_object();
    put(object, "address", words_address(pc));
    put(object, "lookup", words_address(lookup));
    for (uint32_t i = 0; i < full->area_count; i++) {
        const struct area *area = &full->areas[i];
        if (lookup < area->start || lookup >= area->end)
            continue;
        put(object, "module", json_incref(area->path));
        put(object, "fileAddress", words_address(lookup - area->bias));
        break;
    }
    return object;
}

json_t *full_stack(const lg_stack_info *info, json_t *frames)
{
    json_t *object = json_object();
    const char *method = info->method == LG_STAGE_DWARF ? "dwarf" : info->method == LG_STAGE_FRAMES ? "frame-pointers" : "unknown";
    put(object, "method", json_string(method));
    put(object, "frames", frames);
    put(object, "innermost", json_integer(info->first));
    put(object, "omitted", words_number(info->total > info->stored ? info->total - info->stored : 0));
    put(object, "total", words_number(info->total));
    put(object, "isTruncated", json_boolean(info->truncated));
    put(object, "reason", words_string(info->reason));
    put(object, "assumedFrames", words_nonzero(info->assumed));
    return object;
}

static const char *how_name(lg_thread_how how, char buffer[16])
{
    switch (how) {
    case LG_THREAD_CAPTURED: return "captured";
    case LG_THREAD_MASKED: return "masked";
    case LG_THREAD_SILENT: return "silent";
    }
    snprintf(buffer, 16, "%u", (unsigned)how);
    return buffer;
}

static json_t *blocked_signals(uint64_t mask)
{
    json_t *list = mask ? json_array() : NULL;
    for (int number = 1; list && number <= 64; number++)
        if (mask >> (number - 1) & 1)
            json_array_append_new(list, full_signal(number));
    return list;
}

static json_t *thread_json(struct full *full, const struct thread_calls *calls, uint32_t index, const lg_thread_info *info)
{
    json_t *object = json_object(), *list = json_array();
    char buffer[16], part[48];
    lg_register cell;
    lg_stack_info stack;
    uint64_t pc;
    put(object, "threadID", json_integer(info->tid));
    put(object, "name", words_string(info->name));
    put(object, "how", json_string(how_name(info->how, buffer)));
    /* a letter; what a damaged file has there is a character of Latin-1 */
    unsigned char state = (unsigned char)info->state;
    char letter[3] = { (char)(0xC0 | state >> 6), (char)(0x80 | (state & 0x3F)) };
    put(object, "state", state == 0 ? NULL : state < 0x80 ? words_text(&info->state, 1) : json_string(letter));
    put(object, "blockedSignals", blocked_signals(info->blocked));
    put(object, "programCounter", info->pc ? words_address(info->pc) : NULL);
    put(object, "stackPointer", info->sp ? words_address(info->sp) : NULL);
    put(object, "stackLow", info->stack_low ? words_address(info->stack_low) : NULL);
    put(object, "stackHigh", info->stack_high ? words_address(info->stack_high) : NULL);
    put(object, "cpuNanoseconds", words_nonzero(info->cpu_ns));
    for (uint32_t i = 0; i < info->register_count && i < 256 && calls->cell(full, index, i, &cell) == LG_OK; i++)
        json_array_append_new(list, full_register(&cell));
    put_list(object, "registers", list);
    snprintf(part, sizeof part, "stack of thread %d", (int)info->tid);
    lg_status status = calls->stack(full, index, &stack);
    if (status == LG_ERR_INCOMPLETE || !full_has(full, status, part))
        return object;
    list = json_array();
    for (uint32_t i = 0; i < stack.stored && calls->frame(full, index, i, &pc) == LG_OK && full->frames_left; i++)
        json_array_append_new(list, full_frame(full, pc, i == 0));
    put(object, "stack", full_stack(&stack, list));
    return object;
}

static json_t *thread_list(struct full *full, const struct thread_calls *calls, uint32_t stored, const char *part)
{
    json_t *list = json_array();
    lg_thread_info info;
    for (uint32_t i = 0; i < stored && i < THREADS_MAX; i++)
        if (full_has(full, calls->thread(full, i, &info), part))
            json_array_append_new(list, thread_json(full, calls, i, &info));
    if (json_array_size(list))
        return list;
    json_decref(list);
    return NULL;
}

static json_t *counts(const lg_threads_info *info)
{
    json_t *object = json_object();
    put(object, "listed", json_integer(info->listed));
    put(object, "captured", json_integer(info->captured));
    put(object, "masked", json_integer(info->masked));
    put(object, "silent", json_integer(info->silent));
    put(object, "omitted", json_integer(info->omitted));
    if (info->error) {
        char room[64];
        put(object, "listProblem",
            json_string(info->error < 0 ? "the threads could not be asked" : strerror_r(info->error, room, sizeof room)));
    }
    put(object, "waitedNanoseconds", words_number(info->waited_ns));
    return object;
}

/* ---- of the crash ---- */

static lg_status crash_thread(const struct full *full, uint32_t index, lg_thread_info *ret)
{
    return lg_reader_thread(full->reader, index, ret);
}

static lg_status crash_cell(const struct full *full, uint32_t thread, uint32_t index, lg_register *ret)
{
    return lg_reader_thread_register(full->reader, thread, index, ret);
}

static lg_status crash_stack(const struct full *full, uint32_t thread, lg_stack_info *ret)
{
    return lg_reader_thread_stack(full->reader, thread, ret);
}

static lg_status crash_frame(const struct full *full, uint32_t thread, uint32_t index, uint64_t *ret)
{
    return lg_reader_thread_frame(full->reader, thread, index, ret);
}

void full_add_threads(struct full *full, json_t *crash)
{
    static const struct thread_calls calls = { crash_thread, crash_cell, crash_stack, crash_frame };
    lg_threads_info info;
    if (!full_has(full, lg_reader_threads(full->reader, &info), "other threads"))
        return;
    put(crash, "threads", thread_list(full, &calls, info.stored, "other threads"));
    if (!info.complete) {
        if (!json_object_get(crash, "threads"))
            full_has(full, LG_ERR_INCOMPLETE, "other threads");
        return;
    }
    put(crash, "cpuNanoseconds", words_nonzero(info.crashed_cpu_ns));
    put(crash, "threadCounts", counts(&info));
}

/* ---- of snapshots ---- */

#define SNAPSHOT_CALLS(name, kind)                                                                            \
    static lg_status name##_thread(const struct full *full, uint32_t index, lg_thread_info *ret)              \
    {                                                                                                         \
        return lg_reader_snapshot_thread(full->reader, kind, index, ret);                                     \
    }                                                                                                         \
    static lg_status name##_cell(const struct full *full, uint32_t thread, uint32_t index, lg_register *ret)  \
    {                                                                                                         \
        return lg_reader_snapshot_register(full->reader, kind, thread, index, ret);                           \
    }                                                                                                         \
    static lg_status name##_stack(const struct full *full, uint32_t thread, lg_stack_info *ret)               \
    {                                                                                                         \
        return lg_reader_snapshot_stack(full->reader, kind, thread, ret);                                     \
    }                                                                                                         \
    static lg_status name##_frame(const struct full *full, uint32_t thread, uint32_t index, uint64_t *ret)    \
    {                                                                                                         \
        return lg_reader_snapshot_frame(full->reader, kind, thread, index, ret);                              \
    }
SNAPSHOT_CALLS(hang, LG_SNAPSHOT_HANG)
SNAPSHOT_CALLS(deadline, LG_SNAPSHOT_DEADLINE)
SNAPSHOT_CALLS(memory, LG_SNAPSHOT_MEMORY)

static const struct {
    lg_snapshot_kind kind;
    const char *name, *part;
    struct thread_calls calls;
} snapshots[] = {
    { LG_SNAPSHOT_HANG, "hang", "snapshot of a hang", { hang_thread, hang_cell, hang_stack, hang_frame } },
    { LG_SNAPSHOT_DEADLINE, "deadline", "snapshot of a deadline", { deadline_thread, deadline_cell, deadline_stack, deadline_frame } },
    { LG_SNAPSHOT_MEMORY, "memory", "snapshot of memory", { memory_thread, memory_cell, memory_stack, memory_frame } },
};

void full_add_snapshots(struct full *full)
{
    json_t *list = json_array();
    lg_snapshot_info info;
    for (size_t i = 0; i < sizeof snapshots / sizeof snapshots[0]; i++) {
        if (!full_has(full, lg_reader_snapshot(full->reader, snapshots[i].kind, &info), snapshots[i].part))
            continue;
        json_t *object = json_object();
        put(object, "kind", json_string(snapshots[i].name));
        put(object, "threadID", json_integer(info.tid));
        put(object, "name", words_string(info.name));
        put(object, "sequence", json_integer(info.sequence));
        put(object, "sinceNanoseconds", words_number(info.since_ns));
        put(object, "takenNanoseconds", words_number(info.taken_ns));
        put(object, "resolvedNanoseconds", words_nonzero(info.resolved_ns));
        put(object, "isComplete", json_boolean(info.complete && !info.given_up));
        put(object, "threads", thread_list(full, &snapshots[i].calls, info.stored, snapshots[i].part));
        if (info.complete) {
            const lg_threads_info figures = { .listed = info.listed, .captured = info.captured, .masked = info.masked,
                                              .silent = info.silent, .omitted = info.omitted, .error = info.error,
                                              .waited_ns = info.took_ns };
            put(object, "threadCounts", counts(&figures));
        }
        json_array_append_new(list, object);
    }
    put_list(full->report, "snapshots", list);
}
