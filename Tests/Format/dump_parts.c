/* Messages, process, other threads, stack memory and standard error. */
#include "dump.h"

#include <stdlib.h>

/* 1 if the part exists. Prints the key, and the problem of a part that is not whole. */
static bool begin(const char *key, lg_status status)
{
    if (status == LG_ERR_NOT_FOUND || status == LG_ERR_INCOMPLETE)
        return false;
    printf("\"%s\":", key);
    if (status != LG_OK)
        printf("\"damaged\",");
    return status == LG_OK;
}

void dump_messages(void)
{
    static lg_message message;
    uint32_t index = 0;
    lg_status status = lg_reader_message(reader, index, &message);
    lg_crash_info crash;
    bool there = lg_reader_crash(reader, &crash) == LG_OK && crash.stages & 1u << LG_STAGE_MESSAGES;
    if (!begin("messages", there && status == LG_ERR_NOT_FOUND ? LG_OK : status))
        return;
    putchar('[');
    for (; lg_reader_message(reader, index, &message) == LG_OK; index++) {
        printf(index ? ",{" : "{");
        NUMBER(message, source), UNSIGNED(message, cut);
        printf("\"text\":"), json_text(message.text, message.size), putchar('}');
    }
    printf("],");
}

void dump_process(void)
{
    static char map[65536], little[8];
    size_t size, again;
    uint32_t cut;
    lg_resource resource;
    if (!begin("process", lg_reader_map(reader, map, sizeof map, &size, &cut)))
        return;
    /* A buffer that is too small gets the bytes that fit; no buffer gets the size alone. */
    if (lg_reader_map(reader, little, sizeof little, &again, &cut) != LG_OK || again != size || strncmp(little, map, sizeof little - 1) != 0 ||
        little[sizeof little - 1] || lg_reader_map(reader, NULL, 0, &again, &cut) != LG_OK || again != size || map[size])
        abort();
    printf("{\"map_cut\":%u,\"map\":", cut), json_text(map, size), printf(",\"resources\":[");
    for (uint32_t i = 0; lg_reader_resource(reader, i, &resource) == LG_OK; i++) {
        printf("%s[\"%s\",\"%s\",%u,", i ? "," : "", resource.name, resource.unit, resource.known);
        printf("%llu]", (unsigned long long)resource.value);
    }
    printf("]},");
}

/* Threads of a crash (kind 0), or of a snapshot. */
struct threads {
    lg_snapshot_kind kind;
};

static lg_status thread_of(const struct threads *of, uint32_t index, lg_thread_info *thread)
{
    return of->kind ? lg_reader_snapshot_thread(reader, of->kind, index, thread) : lg_reader_thread(reader, index, thread);
}

static lg_status register_of(const struct threads *of, uint32_t thread, uint32_t index, lg_register *value)
{
    return of->kind ? lg_reader_snapshot_register(reader, of->kind, thread, index, value) : lg_reader_thread_register(reader, thread, index, value);
}

static lg_status stack_of(const struct threads *of, uint32_t thread, lg_stack_info *stack)
{
    return of->kind ? lg_reader_snapshot_stack(reader, of->kind, thread, stack) : lg_reader_thread_stack(reader, thread, stack);
}

static lg_status frame_of(const struct threads *of, uint32_t thread, uint32_t index, uint64_t *pc)
{
    return of->kind ? lg_reader_snapshot_frame(reader, of->kind, thread, index, pc) : lg_reader_thread_frame(reader, thread, index, pc);
}

static lg_status function_of(const struct threads *of, uint32_t thread, uint32_t index, lg_function *function)
{
    if (!of)
        return lg_reader_function(reader, index, function);
    return of->kind ? lg_reader_snapshot_function(reader, of->kind, thread, index, function) : lg_reader_thread_function(reader, thread, index, function);
}

void dump_functions(const struct threads *of, uint32_t thread, uint32_t stored)
{
    lg_function function;
    bool begun = false;
    for (uint32_t i = 0; i < stored; i++) {
        if (function_of(of, thread, i, &function) != LG_OK)
            continue;
        printf("%s[%u,%u,%u]", begun ? "," : ",\"functions\":[", (unsigned)i, (unsigned)function.offset, (unsigned)function.size);
        begun = true;
    }
    printf(begun ? "]" : "");
}

static lg_status chain_of(const struct threads *of, uint32_t thread, uint32_t index, lg_async_chain *chain)
{
    if (!of)
        return lg_reader_async_chain(reader, index, chain);
    return of->kind ? lg_reader_snapshot_async_chain(reader, of->kind, thread, index, chain) : lg_reader_thread_async_chain(reader, thread, index, chain);
}

static lg_status caller_of(const struct threads *of, uint32_t thread, uint32_t chain, uint32_t index, uint64_t *pc)
{
    if (!of)
        return lg_reader_async_caller(reader, chain, index, pc);
    return of->kind ? lg_reader_snapshot_async_caller(reader, of->kind, thread, chain, index, pc)
                    : lg_reader_thread_async_caller(reader, thread, chain, index, pc);
}

void dump_chains(const struct threads *of, uint32_t thread)
{
    lg_async_chain chain;
    uint64_t pc;
    printf("\"chains\":[");
    for (uint32_t i = 0; chain_of(of, thread, i, &chain) == LG_OK; i++) {
        printf("%s[%u,%llu,%u", i ? "," : "", (unsigned)chain.frame, (unsigned long long)chain.pc, (unsigned)chain.truncated);
        for (uint32_t k = 0; caller_of(of, thread, i, k, &pc) == LG_OK; k++)
            printf(",%llu", (unsigned long long)pc);
        putchar(']');
    }
    putchar(']');
}

static void dump_walk(const struct threads *of, uint32_t thread)
{
    lg_stack_info stack;
    lg_async_chain chain;
    uint64_t pc;
    lg_status status = stack_of(of, thread, &stack);
    printf("\"walk\":");
    if (status != LG_OK) {
        printf(status == LG_ERR_INCOMPLETE ? "null" : "\"damaged\"");
        return;
    }
    putchar('{');
    UNSIGNED(stack, stored), UNSIGNED(stack, first), UNSIGNED(stack, total), TEXT(stack, reason), UNSIGNED(stack, assumed);
    RARE(stack, signal_pc);
    NUMBER(stack, method), printf("\"pcs\":[");
    for (uint32_t i = 0; frame_of(of, thread, i, &pc) == LG_OK; i++)
        printf("%s%llu", i ? "," : "", (unsigned long long)pc);
    putchar(']');
    dump_functions(of, thread, stack.stored);
    if (chain_of(of, thread, 0, &chain) == LG_OK)
        putchar(','), dump_chains(of, thread);
    putchar('}');
}

static void dump_each_thread(const struct threads *of, uint32_t stored)
{
    lg_thread_info thread;
    lg_register value;
    printf("\"threads\":[");
    for (uint32_t i = 0; i < stored; i++) {
        lg_status status = thread_of(of, i, &thread);
        printf(i ? "," : "");
        if (status != LG_OK) {
            printf(status == LG_ERR_INCOMPLETE ? "null" : "\"damaged\"");
            continue;
        }
        putchar('{');
        NUMBER(thread, tid), NUMBER(thread, how), NUMBER(thread, state), TEXT(thread, name), UNSIGNED(thread, blocked);
        UNSIGNED(thread, pc), UNSIGNED(thread, sp), UNSIGNED(thread, stack_low), UNSIGNED(thread, stack_high), RARE(thread, cpu_ns), RARE(thread, async_omitted);
        printf("\"registers\":[");
        for (uint32_t k = 0; register_of(of, i, k, &value) == LG_OK; k++)
            printf("%s[\"%s\",%llu]", k ? "," : "", value.name, (unsigned long long)value.value);
        printf("],");
        dump_walk(of, i);
        putchar('}');
    }
    if (thread_of(of, stored, &thread) != LG_ERR_NOT_FOUND)
        abort();
    putchar(']');
}

void dump_threads(void)
{
    static const struct threads of_crash = { 0 };
    lg_threads_info threads;
    if (!begin("threads", lg_reader_threads(reader, &threads)))
        return;
    putchar('{');
    UNSIGNED(threads, complete), UNSIGNED(threads, listed), UNSIGNED(threads, captured), UNSIGNED(threads, masked);
    UNSIGNED(threads, silent), UNSIGNED(threads, omitted), NUMBER(threads, error), UNSIGNED(threads, waited_ns), RARE(threads, crashed_cpu_ns);
    dump_each_thread(&of_crash, threads.stored);
    printf("},");
}

void dump_pulse(void)
{
    lg_heartbeat_info heartbeat;
    lg_deadline_info deadline;
    lg_status status = lg_reader_heartbeat(reader, 0, &heartbeat);
    if (status == LG_ERR_NOT_FOUND)
        status = lg_reader_deadline(reader, 0, &deadline);
    if (!begin("pulse", status))
        return;
    printf("{\"heartbeats\":[");
    for (uint32_t i = 0; lg_reader_heartbeat(reader, i, &heartbeat) == LG_OK; i++) {
        printf(i ? ",{" : "{");
        NUMBER(heartbeat, tid), TEXT(heartbeat, name), UNSIGNED(heartbeat, beat_ns), UNSIGNED(heartbeat, hang_ns);
        printf("\"paused\":%u}", heartbeat.paused);
    }
    printf("],\"deadlines\":[");
    for (uint32_t i = 0; lg_reader_deadline(reader, i, &deadline) == LG_OK; i++) {
        printf(i ? ",{" : "{");
        TEXT(deadline, name), UNSIGNED(deadline, begun_ns), UNSIGNED(deadline, near_ns), UNSIGNED(deadline, limit_ms);
        printf("\"tid\":%d}", deadline.tid);
    }
    printf("]},");
}

static void dump_snapshot(lg_snapshot_kind kind)
{
    const struct threads of_snapshot = { kind };
    lg_snapshot_info snapshot;
    lg_status status = lg_reader_snapshot(reader, kind, &snapshot);
    if (status != LG_OK) {
        printf(status == LG_ERR_NOT_FOUND ? "null" : "\"damaged\"");
        return;
    }
    putchar('{');
    UNSIGNED(snapshot, kind), UNSIGNED(snapshot, sequence), NUMBER(snapshot, tid), TEXT(snapshot, name), UNSIGNED(snapshot, since_ns);
    UNSIGNED(snapshot, taken_ns), UNSIGNED(snapshot, resolved_ns), UNSIGNED(snapshot, complete), UNSIGNED(snapshot, given_up);
    UNSIGNED(snapshot, listed), UNSIGNED(snapshot, captured), UNSIGNED(snapshot, masked), UNSIGNED(snapshot, silent);
    UNSIGNED(snapshot, omitted), NUMBER(snapshot, error), UNSIGNED(snapshot, took_ns);
    dump_each_thread(&of_snapshot, snapshot.stored);
    putchar('}');
}

void dump_snapshots(void)
{
    lg_snapshot_info snapshot;
    lg_status first = lg_reader_snapshot(reader, LG_SNAPSHOT_HANG, &snapshot), second = lg_reader_snapshot(reader, LG_SNAPSHOT_DEADLINE, &snapshot);
    if (first == LG_ERR_NOT_FOUND && second == LG_ERR_NOT_FOUND)
        return;
    printf("\"snapshots\":[");
    dump_snapshot(LG_SNAPSHOT_HANG), putchar(','), dump_snapshot(LG_SNAPSHOT_DEADLINE);
    printf("],");
}

void dump_memory_snapshot(void)
{
    lg_snapshot_info snapshot;
    if (lg_reader_snapshot(reader, LG_SNAPSHOT_MEMORY, &snapshot) == LG_ERR_NOT_FOUND)
        return;
    printf("\"memory_snapshot\":");
    dump_snapshot(LG_SNAPSHOT_MEMORY), putchar(',');
}

static void dump_guard_description(uint32_t index, const lg_guard_info *site)
{
    lg_guard_field field;
    uint64_t pc;
    if (!site->described) {
        printf(site->damaged ? "\"damaged\"" : "null");
        return;
    }
    putchar('{');
    UNSIGNED(*site, first_ns), NUMBER(*site, tid), TEXT(*site, thread_name), TEXT(*site, text);
    printf("\"fields\":[");
    for (uint32_t i = 0; lg_reader_guard_field(reader, index, i, &field) == LG_OK; i++) {
        printf(i ? ",[" : "[");
        json_text(field.key, strlen(field.key)), putchar(','), json_text(field.value, strlen(field.value)), putchar(']');
    }
    printf("],\"frames\":[");
    for (uint32_t i = 0; lg_reader_guard_frame(reader, index, i, &pc) == LG_OK; i++)
        printf("%s%llu", i ? "," : "", (unsigned long long)pc);
    printf("]}");
}

/* Printed where guards were started. */
void dump_guards(void)
{
    lg_guards_info guards;
    lg_guard_info site;
    uint32_t count = 0;
    if (!begin("guards", lg_reader_guards(reader, &guards)))
        return;
    putchar('{');
    UNSIGNED(guards, events), UNSIGNED(guards, survived), printf("\"sites\":[");
    for (uint32_t i = 0; i <= LG_GUARD_SITES_MAX; i++) {
        if (lg_reader_guard(reader, i, &site) != LG_OK)
            continue;
        printf(count++ ? ",{" : "{");
        NUMBER(site, guard_class), UNSIGNED(site, site), UNSIGNED(site, action), UNSIGNED(site, count), UNSIGNED(site, survived);
        UNSIGNED(site, last_ns), printf("\"place\":%u,\"description\":", i), dump_guard_description(i, &site), putchar('}');
    }
    if (count != guards.sites || lg_reader_guard(reader, LG_GUARD_SITES_MAX + 1, &site) != LG_ERR_NOT_FOUND)
        abort();
    printf("]},");
}

void dump_memory(void)
{
    lg_memory_info memory;
    uint32_t count = 0;
    lg_status status;
    while ((status = lg_reader_memory(reader, count, &memory)) == LG_OK)
        count++;
    if (!count && status == LG_ERR_NOT_FOUND)
        return;
    printf("\"memory\":[");
    for (uint32_t i = 0; i < count; i++) {
        lg_reader_memory(reader, i, &memory);
        uint8_t *bytes = malloc(memory.size + 1u);
        if (!bytes || lg_reader_memory_bytes(reader, i, bytes, memory.size) != LG_OK ||
            (memory.size && lg_reader_memory_bytes(reader, i, bytes, memory.size - 1u) != LG_ERR_ARGUMENT))
            abort();
        printf(i ? ",{" : "{");
        UNSIGNED(memory, start), NUMBER(memory, tid);
        printf("\"bytes\":"), json_hex(bytes, memory.size), putchar('}');
        free(bytes);
    }
    printf("%s%s],", count && status == LG_ERR_DAMAGED ? "," : "", status == LG_ERR_DAMAGED ? "\"damaged\"" : "");
}

/* Printed where it exists, as standard error is. */
void dump_annotations(void)
{
    lg_annotation one;
    unsigned count = 0;
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++) {
        lg_status status = lg_reader_annotation(reader, i, &one);
        if (status == LG_ERR_NOT_FOUND)
            continue;
        printf(count++ ? "," : "\"annotations\":[");
        if (status != LG_OK) {
            printf("\"damaged\"");
            continue;
        }
        if (one.redacted && lg_reader_redacted(reader, one.key) != LG_OK)
            abort();
        putchar('{');
        TEXT(one, key), UNSIGNED(one, monotonic_ns), UNSIGNED(one, redacted), UNSIGNED(one, cut);
        printf("\"value\":");
        if (one.has_value)
            json_text(one.value, one.size);
        else
            printf("null");
        putchar('}');
    }
    printf(count ? "]," : "");
}

void dump_stderr(void)
{
    uint8_t bytes[LG_STDERR_MAX];
    size_t size;
    uint64_t total;
    if (!begin("stderr", lg_reader_stderr(reader, bytes, &size, &total)))
        return;
    printf("{\"total\":%llu,\"text\":", (unsigned long long)total), json_text((const char *)bytes, size), printf("},");
}
