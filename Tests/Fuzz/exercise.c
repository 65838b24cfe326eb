#include "exercise.h"

#include <launchguard/launchguard.h>
#include <launchguard/reader.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void broken(int line, const char *promise)
{
    fprintf(stderr, "exercise.c:%d: broken: %s\n", line, promise);
    abort();
}

#define PROMISE(condition) ((condition) ? (void)0 : broken(__LINE__, #condition))
#define TERMINATED(array) PROMISE(memchr(array, 0, sizeof array))

/* The possible results for a part that is missing or damaged, for the other kind of file, and
 * without memory. */
static lg_status expected(lg_status status)
{
    PROMISE(status == LG_OK || status == LG_ERR_DAMAGED || status == LG_ERR_STATE || status == LG_ERR_NOT_FOUND ||
            status == LG_ERR_INCOMPLETE || status == LG_ERR_SYSTEM);
    return status;
}

/* The list ends within its array, and the bytes after its end do not belong to the file. */
static void exercise_modules_of(const char modules[240])
{
    size_t at = 0;
    while (modules[at]) {
        at += strnlen(modules + at, 240 - at) + 1;
        PROMISE(at < 240);
    }
    for (; at < 240; at++)
        PROMISE(!modules[at]);
}

static void exercise_run(lg_reader *reader)
{
    lg_run_info run;
    lg_run_context context;
    lg_verdict verdict;
    if (expected(lg_reader_run(reader, &run)) == LG_OK) {
        TERMINATED(run.uuid), TERMINATED(run.app_id), TERMINATED(run.app_version), TERMINATED(run.executable), TERMINATED(run.build_id);
        PROMISE(run.context_count <= LG_CONTEXTS_MAX && run.end_announced <= 2 && run.witnessed <= 1 && run.oom_known <= 1);
        PROMISE(run.end_announced || !run.announced_ns);
        PROMISE(run.witnessed || !run.wait_status);
        PROMISE(run.term_kept <= 1 && (run.cpu_near_ns || (!run.cpu_used_ns && !run.cpu_limit_s)));
        PROMISE(run.memory_near_ns || (!run.memory_used && !run.memory_limit));
    }
    for (uint32_t i = 0; i <= LG_CONTEXTS_MAX; i++)
        if (expected(lg_reader_run_context(reader, i, &context)) == LG_OK) {
            TERMINATED(context.name), TERMINATED(context.task);
            exercise_modules_of(context.modules);
            PROMISE(context.phase <= LG_PHASE_TERMINATING && context.finish <= LG_FINISH_BOTH && i < LG_CONTEXTS_MAX);
        }
    lg_system_info system = LG_SYSTEM_INFO_INIT;
    if (expected(lg_reader_system(reader, &system)) == LG_OK) {
        TERMINATED(system.kernel), TERMINATED(system.hardware), TERMINATED(system.model), TERMINATED(system.os_id), TERMINATED(system.os_version);
        TERMINATED(system.machine), TERMINATED(system.invocation), TERMINATED(system.unit), TERMINATED(system.parent_name), TERMINATED(system.container);
        PROMISE(system.command_line_size < sizeof system.command_line && !system.command_line[system.command_line_size] && system.command_line_cut <= 1);
    }
    if (expected(lg_reader_verdict(reader, &verdict)) == LG_OK)
        PROMISE(strcmp(lg_end_name(verdict.end), "invalid") != 0 && *lg_evidence_sentence(verdict.evidence));
}

static void exercise_frames(lg_reader *reader, lg_stage stage)
{
    lg_stack_info stack;
    lg_function function;
    uint64_t pc;
    if (expected(lg_reader_stack(reader, stage, &stack)) != LG_OK)
        return;
    TERMINATED(stack.reason);
    PROMISE(stack.stored <= 512 && stack.first <= stack.stored);
    for (uint32_t i = 0; i < stack.stored; i += 1 + i / 8)
        PROMISE(lg_reader_frame(reader, stage, i, &pc) == LG_OK);
    PROMISE(lg_reader_frame(reader, stage, stack.stored, &pc) == LG_ERR_NOT_FOUND);
    for (uint32_t i = 0; stage == LG_STAGE_DWARF && i < stack.stored && i < 70; i++)
        if (expected(lg_reader_function(reader, i, &function)) == LG_OK)
            PROMISE(function.offset < function.size);
    PROMISE(lg_reader_function(reader, 512, &function) != LG_OK);
}

static void exercise_async(lg_reader *reader)
{
    lg_async_chain chain;
    uint64_t pc;
    uint32_t count = 0, callers = 0;
    for (; expected(lg_reader_async_chain(reader, count, &chain)) == LG_OK; count++) {
        PROMISE(chain.truncated <= 1);
        callers += chain.count;
        for (uint32_t i = 0; i < chain.count; i += 1 + i / 8)
            PROMISE(lg_reader_async_caller(reader, count, i, &pc) == LG_OK);
        PROMISE(lg_reader_async_caller(reader, count, chain.count, &pc) == LG_ERR_NOT_FOUND);
    }
    PROMISE(count <= 16 && callers < 400 && lg_reader_async_caller(reader, count, 0, &pc) != LG_OK);
}

static void exercise_crash(lg_reader *reader)
{
    lg_crash_info crash;
    lg_register value;
    lg_note note;
    uint8_t bytes[512];
    uint64_t start;
    size_t size;
    if (expected(lg_reader_crash(reader, &crash)) == LG_OK) {
        TERMINATED(crash.thread_name);
        PROMISE(crash.stages & 1u << LG_STAGE_HEADER);
        PROMISE(crash.brief <= 1 && crash.is_end <= 1 && crash.handled <= 1 && (!crash.brief || crash.stages <= 15));
        lg_crash_kind_name(crash.kind);
    }
    for (uint32_t i = 0; i < 64 && expected(lg_reader_register(reader, i, &value)) == LG_OK; i++)
        TERMINATED(value.name);
    for (uint32_t which = 0; which < 2; which++)
        if (expected(lg_reader_bytes(reader, which, bytes, &start, &size)) == LG_OK)
            PROMISE(size <= sizeof bytes);
    for (uint32_t i = 0; expected(lg_reader_note(reader, i, &note)) == LG_OK; i++)
        PROMISE(i < 16);
    exercise_frames(reader, LG_STAGE_FRAMES);
    exercise_frames(reader, LG_STAGE_DWARF);
    exercise_async(reader);
    PROMISE(lg_reader_stack(reader, LG_STAGE_HEADER, &(lg_stack_info){ 0 }) == LG_ERR_ARGUMENT);
}

static void exercise_messages_and_process(lg_reader *reader)
{
    static lg_message message;
    static char map[48865];
    static uint8_t tail[LG_STDERR_MAX];
    lg_resource resource;
    size_t size = 0;
    uint32_t cut;
    uint64_t total;
    for (uint32_t i = 0; expected(lg_reader_message(reader, i, &message)) == LG_OK; i++)
        PROMISE(i < 8 && message.size <= LG_MESSAGE_MAX && message.text[message.size] == 0);
    if (expected(lg_reader_map(reader, map, sizeof map, &size, &cut)) == LG_OK) {
        PROMISE(size < sizeof map && map[size] == 0 && cut <= 1);
        PROMISE(expected(lg_reader_map(reader, map, size / 2, &size, &cut)) == LG_OK);
    }
    for (uint32_t i = 0; i < 40 && expected(lg_reader_resource(reader, i, &resource)) == LG_OK; i += 5)
        TERMINATED(resource.name), TERMINATED(resource.unit);
    PROMISE(expected(lg_reader_resource(reader, UINT32_MAX, &resource)) != LG_OK);
    if (expected(lg_reader_stderr(reader, tail, &size, &total)) == LG_OK)
        PROMISE(size > 0 && size <= sizeof tail && size <= total);
}

/* `kind` 0: of a crash. */
static lg_status chain_of(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, lg_async_chain *chain)
{
    return expected(kind ? lg_reader_snapshot_async_chain(reader, kind, thread, index, chain) : lg_reader_thread_async_chain(reader, thread, index, chain));
}

static lg_status caller_of(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t chain, uint32_t index, uint64_t *pc)
{
    return expected(kind ? lg_reader_snapshot_async_caller(reader, kind, thread, chain, index, pc)
                         : lg_reader_thread_async_caller(reader, thread, chain, index, pc));
}

static void exercise_chains(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t stored)
{
    lg_async_chain chain;
    uint64_t pc;
    uint32_t count = 0, words = stored;
    for (; chain_of(reader, kind, thread, count, &chain) == LG_OK; count++) {
        PROMISE(chain.truncated <= 1);
        words += 2 + chain.count;
        for (uint32_t i = 0; i < chain.count; i += 1 + i / 8)
            PROMISE(caller_of(reader, kind, thread, count, i, &pc) == LG_OK);
        PROMISE(caller_of(reader, kind, thread, count, chain.count, &pc) == LG_ERR_NOT_FOUND);
    }
    PROMISE(words <= 96 && caller_of(reader, kind, thread, count, 0, &pc) == LG_ERR_NOT_FOUND);
}

static void exercise_threads(lg_reader *reader)
{
    lg_threads_info threads;
    lg_thread_info thread;
    lg_stack_info stack;
    lg_register value;
    lg_function function;
    lg_async_chain chain;
    uint64_t pc;
    if (expected(lg_reader_threads(reader, &threads)) != LG_OK) {
        PROMISE(expected(lg_reader_thread(reader, 0, &thread)) != LG_OK);
        return;
    }
    PROMISE(threads.stored <= 4096);
    PROMISE(lg_reader_thread(reader, threads.stored, &thread) == LG_ERR_NOT_FOUND);
    for (uint32_t i = 0; i < threads.stored; i += 1 + i / 8) {
        lg_status status = expected(lg_reader_thread(reader, i, &thread));
        PROMISE(expected(lg_reader_thread_register(reader, i, 0, &value)) == LG_OK || status != LG_OK || thread.register_count == 0);
        if (status == LG_OK) {
            TERMINATED(thread.name);
            PROMISE(thread.register_count <= 40);
            PROMISE(lg_reader_thread_register(reader, i, thread.register_count, &value) == LG_ERR_NOT_FOUND);
        }
        if (expected(lg_reader_thread_stack(reader, i, &stack)) != LG_OK) {
            PROMISE(expected(lg_reader_thread_frame(reader, i, 0, &pc)) != LG_OK && chain_of(reader, (lg_snapshot_kind)0, i, 0, &chain) != LG_OK);
            continue;
        }
        TERMINATED(stack.reason);
        PROMISE(status == LG_OK && stack.stored <= 96 && stack.first <= stack.stored);
        for (uint32_t k = 0; k < stack.stored; k += 1 + k / 4)
            PROMISE(lg_reader_thread_frame(reader, i, k, &pc) == LG_OK);
        PROMISE(lg_reader_thread_frame(reader, i, stack.stored, &pc) == LG_ERR_NOT_FOUND);
        exercise_chains(reader, (lg_snapshot_kind)0, i, stack.stored);
        for (uint32_t k = 0; k <= stack.stored; k += 1 + k / 4)
            if (expected(lg_reader_thread_function(reader, i, k, &function)) == LG_OK)
                PROMISE(k < stack.stored && function.offset < function.size);
    }
}

static void exercise_snapshot(lg_reader *reader, lg_snapshot_kind kind)
{
    lg_snapshot_info snapshot;
    lg_thread_info thread;
    lg_stack_info stack;
    lg_register value;
    lg_function function;
    lg_async_chain chain;
    uint64_t pc;
    if (expected(lg_reader_snapshot(reader, kind, &snapshot)) != LG_OK) {
        PROMISE(expected(lg_reader_snapshot_thread(reader, kind, 0, &thread)) != LG_OK);
        return;
    }
    TERMINATED(snapshot.name);
    PROMISE(snapshot.kind == kind && snapshot.stored <= 4096 && snapshot.complete <= 1 && snapshot.given_up <= 1);
    PROMISE(lg_reader_snapshot_thread(reader, kind, snapshot.stored, &thread) == LG_ERR_NOT_FOUND);
    for (uint32_t i = 0; i < snapshot.stored; i += 1 + i / 8) {
        if (expected(lg_reader_snapshot_thread(reader, kind, i, &thread)) == LG_OK) {
            TERMINATED(thread.name);
            PROMISE(thread.register_count <= 40);
            PROMISE(lg_reader_snapshot_register(reader, kind, i, thread.register_count, &value) == LG_ERR_NOT_FOUND);
        }
        if (expected(lg_reader_snapshot_stack(reader, kind, i, &stack)) != LG_OK) {
            PROMISE(expected(lg_reader_snapshot_frame(reader, kind, i, 0, &pc)) != LG_OK && chain_of(reader, kind, i, 0, &chain) != LG_OK);
            continue;
        }
        PROMISE(stack.stored <= 96 && stack.first <= stack.stored);
        PROMISE(lg_reader_snapshot_frame(reader, kind, i, stack.stored, &pc) == LG_ERR_NOT_FOUND);
        exercise_chains(reader, kind, i, stack.stored);
        if (expected(lg_reader_snapshot_function(reader, kind, i, 0, &function)) == LG_OK)
            PROMISE(function.offset < function.size);
    }
}

static void exercise_pulse(lg_reader *reader)
{
    lg_heartbeat_info heartbeat;
    lg_deadline_info deadline;
    lg_snapshot_info snapshot;
    for (uint32_t i = 0; expected(lg_reader_heartbeat(reader, i, &heartbeat)) == LG_OK; i++) {
        TERMINATED(heartbeat.name);
        PROMISE(i < LG_HEARTBEATS_MAX && heartbeat.tid && heartbeat.paused <= 1);
    }
    for (uint32_t i = 0; expected(lg_reader_deadline(reader, i, &deadline)) == LG_OK; i++) {
        TERMINATED(deadline.name);
        PROMISE(i < LG_DEADLINES_MAX);
    }
    PROMISE(lg_reader_snapshot(reader, (lg_snapshot_kind)4, &snapshot) == LG_ERR_ARGUMENT);
    exercise_snapshot(reader, LG_SNAPSHOT_HANG);
    exercise_snapshot(reader, LG_SNAPSHOT_DEADLINE);
    exercise_snapshot(reader, LG_SNAPSHOT_MEMORY);
}

static void exercise_guards(lg_reader *reader)
{
    lg_guards_info guards;
    lg_guard_info site;
    lg_guard_field field;
    uint64_t pc;
    uint32_t used = 0;
    const lg_status status = expected(lg_reader_guards(reader, &guards));
    for (uint32_t i = 0; i <= LG_GUARD_SITES_MAX + 1; i++) {
        if (expected(lg_reader_guard(reader, i, &site)) != LG_OK) {
            PROMISE(expected(lg_reader_guard_frame(reader, i, 0, &pc)) != LG_OK && expected(lg_reader_guard_field(reader, i, 0, &field)) != LG_OK);
            continue;
        }
        used++;
        TERMINATED(site.text);
        TERMINATED(site.thread_name);
        PROMISE(i <= LG_GUARD_SITES_MAX && site.described + site.damaged <= 1 && site.field_count <= LG_GUARD_FIELDS_MAX &&
                site.frame_count <= LG_GUARD_FRAMES_MAX);
        for (uint32_t k = 0; k < site.field_count; k++) {
            PROMISE(lg_reader_guard_field(reader, i, k, &field) == LG_OK);
            TERMINATED(field.key);
            TERMINATED(field.value);
        }
        for (uint32_t k = 0; k < site.frame_count; k++)
            PROMISE(lg_reader_guard_frame(reader, i, k, &pc) == LG_OK);
        PROMISE(expected(lg_reader_guard_field(reader, i, site.field_count, &field)) != LG_OK);
        PROMISE(expected(lg_reader_guard_frame(reader, i, UINT32_MAX, &pc)) != LG_OK);
    }
    PROMISE(status == LG_OK ? guards.sites == used : used == 0);
}

static void exercise_memory(lg_reader *reader)
{
    static uint8_t bytes[1 << 20];
    lg_memory_info memory;
    uint32_t count = 0;
    while (expected(lg_reader_memory(reader, count, &memory)) == LG_OK) {
        PROMISE(count++ < 65536 && memory.size <= sizeof bytes);
        PROMISE(lg_reader_memory_bytes(reader, count - 1, bytes, sizeof bytes) == LG_OK);
        if (memory.size)
            PROMISE(lg_reader_memory_bytes(reader, count - 1, bytes, memory.size - 1u) == LG_ERR_ARGUMENT);
    }
    PROMISE(expected(lg_reader_memory(reader, count + 1, &memory)) != LG_OK);
    for (; count > 1; count /= 2) /* out of order */
        PROMISE(lg_reader_memory(reader, count - 1, &memory) == LG_OK && lg_reader_memory(reader, 0, &memory) == LG_OK);
}

static void exercise_fields(lg_reader *reader, uint64_t index, const lg_log_entry *entry)
{
    static lg_log_field field;
    size_t size = entry->size + strlen(entry->category);
    uint32_t count = entry->field_count; /* the first, the last, and the one after the last */
    for (uint32_t i = 0; i < count; i = i < 2 || i == count - 1 ? i + 1 : count - 1) {
        PROMISE(lg_reader_log_field(reader, index, i, &field) == LG_OK);
        PROMISE(field.key[field.key_size] == 0 && field.value[field.value_size] == 0);
        size += field.key_size + field.value_size;
    }
    PROMISE(size <= LG_LOG_TEXT_MAX);
    PROMISE(lg_reader_log_field(reader, index, count, &field) == LG_ERR_NOT_FOUND);
}

/* Each crash in its turn; the one that counts is selected in between and again in the end. */
static void exercise_crashes(lg_reader *reader, lg_file_kind kind)
{
    lg_crash_info crash, first;
    lg_threads_info threads;
    uint32_t count = 0, ends = 0, last = 0, end = 0;
    PROMISE(lg_reader_crash_count(NULL, &count) == LG_ERR_ARGUMENT && lg_reader_crash_count(reader, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_select_crash(NULL, 0) == LG_ERR_ARGUMENT);
    lg_status counted = expected(lg_reader_crash_count(reader, &count)), read = expected(lg_reader_crash(reader, &first));
    PROMISE((counted == LG_ERR_STATE) == (kind == LG_FILE_LEDGER));
    PROMISE(lg_reader_select_crash(reader, count) == (kind == LG_FILE_LEDGER ? LG_ERR_STATE : LG_ERR_NOT_FOUND) || counted == LG_ERR_DAMAGED);
    PROMISE(read != LG_OK || first.is_end);
    for (uint32_t i = 0; i < count; i++) {
        PROMISE(lg_reader_select_crash(reader, i) == LG_OK);
        if (count > 1)
            exercise_crash(reader);
        if (expected(lg_reader_crash(reader, &crash)) != LG_OK) {
            PROMISE(last == 0); /* the damaged ones come first */
            continue;
        }
        PROMISE(last <= crash.sequence);
        last = crash.sequence;
        ends += crash.is_end;
        end = crash.is_end ? i : end;
        PROMISE(!crash.brief || lg_reader_threads(reader, &threads) == LG_ERR_NOT_FOUND);
    }
    PROMISE(count <= 65 && ends == (counted == LG_OK && read == LG_OK));
    PROMISE(!count || lg_reader_select_crash(reader, end) == LG_OK);
    PROMISE(expected(lg_reader_crash(reader, &crash)) == read || read != LG_OK);
    PROMISE(read != LG_OK || (crash.sequence == first.sequence && crash.tid == first.tid));
}

static void exercise_modules_and_log(lg_reader *reader)
{
    static lg_module module;
    static lg_log_entry entry;
    lg_log_info info;
    for (uint32_t i = 0; expected(lg_reader_module(reader, i, &module)) == LG_OK; i++) {
        TERMINATED(module.path), TERMINATED(module.build_id);
        PROMISE(i < 192 && module.start <= module.end);
    }
    PROMISE(lg_reader_log_entry(reader, 0, &entry) == LG_ERR_NOT_FOUND);
    const lg_status readable = expected(lg_reader_log_check(reader));
    const lg_status status = expected(lg_reader_log(reader, &info));
    PROMISE(status == readable || status == LG_ERR_SYSTEM);
    if (status != LG_OK)
        return;
    for (uint64_t i = 0; i < info.entries; i++) {
        PROMISE(lg_reader_log_entry(reader, i, &entry) == LG_OK);
        PROMISE(entry.size <= LG_LOG_TEXT_MAX && entry.text[entry.size] == 0);
        TERMINATED(entry.category);
        PROMISE(!entry.damaged || (!entry.size && !*entry.category && !entry.field_count));
        exercise_fields(reader, i, &entry);
    }
    PROMISE(lg_reader_log_entry(reader, info.entries, &entry) == LG_ERR_NOT_FOUND);
}

static void exercise_annotations(lg_reader *reader)
{
    lg_annotation one;
    uint64_t used = 0;
    const lg_status known = expected(lg_reader_annotations_used(reader, &used));
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++) {
        const lg_status status = expected(lg_reader_annotation(reader, i, &one));
        PROMISE(known == LG_OK ? status == LG_ERR_NOT_FOUND || (used >> i & 1) : status == LG_ERR_STATE);
        if (status != LG_OK)
            continue;
        TERMINATED(one.key);
        PROMISE(*one.key && one.size <= LG_ANNOTATION_VALUE_MAX && one.value[one.size] == 0 && one.has_value <= 1 && one.cut <= 1 && one.redacted <= 1);
        PROMISE(one.has_value || (one.size == 0 && !one.cut));
        PROMISE(!one.redacted || lg_reader_redacted(reader, one.key) == LG_OK);
    }
    PROMISE(expected(lg_reader_annotation(reader, UINT32_MAX, &one)) != LG_OK && expected(lg_reader_redacted(reader, "")) != LG_OK);
}

static void exercise_ladder(lg_reader *reader, uint32_t index, const lg_launch_info *context)
{
    lg_ledger_rung rung;
    lg_ledger_suspect suspect;
    uint32_t rungs = 0, suspects = 0;
    for (; expected(lg_reader_ledger_rung(reader, index, rungs, &rung)) == LG_OK; rungs++) {
        TERMINATED(rung.name);
        PROMISE(rungs < context->rung_count && rung.built_in <= 1 && !(rung.flags & 0x80000000u));
    }
    for (; expected(lg_reader_ledger_suspect(reader, index, suspects, &suspect)) == LG_OK; suspects++) {
        TERMINATED(suspect.key);
        PROMISE(suspects < context->suspect_count && suspect.left_out <= 1);
    }
    PROMISE(rungs == context->rung_count && suspects == context->suspect_count);
    PROMISE(lg_reader_ledger_rung(reader, index, UINT32_MAX, &rung) == LG_ERR_NOT_FOUND);
    PROMISE(lg_reader_ledger_suspect(reader, index, UINT32_MAX, &suspect) == LG_ERR_NOT_FOUND);
}

static void exercise_ledger(lg_reader *reader)
{
    lg_ledger_info ledger;
    lg_launch_info context = LG_LAUNCH_INFO_INIT;
    lg_ledger_rung rung;
    lg_ledger_suspect suspect;
    lg_timeline_entry run;
    uint32_t contexts = 0, runs = 0;
    lg_status status = expected(lg_reader_ledger(reader, &ledger));
    if (status == LG_OK) {
        TERMINATED(ledger.app_id), TERMINATED(ledger.app_version), TERMINATED(ledger.build_id);
        PROMISE(ledger.context_count <= LG_CONTEXTS_MAX && ledger.slots_valid && ledger.slots_valid <= 3 && ledger.generation);
    }
    for (; expected(lg_reader_ledger_context(reader, contexts, &context)) == LG_OK; contexts++) {
        TERMINATED(context.name), TERMINATED(context.last_task);
        PROMISE(strcmp(lg_launch_status_name(context.status), "invalid") != 0 && strcmp(lg_launch_mode_name(context.mode), "invalid") != 0);
        PROMISE(context.rung <= context.rung_count && context.rung_count <= LG_REPAIRS_MAX + 1 && context.suspect_count <= 8);
        PROMISE(context.halted <= 1 && context.due <= 1 && context.shadow <= 1);
        exercise_ladder(reader, contexts, &context);
    }
    for (; expected(lg_reader_timeline(reader, runs, &run)) == LG_OK; runs++) {
        TERMINATED(run.uuid), TERMINATED(run.app_version);
        PROMISE(lg_end_name(run.verdict.end) && lg_evidence_sentence(run.verdict.evidence));
    }
    if (status == LG_OK)
        PROMISE(contexts == ledger.context_count && runs == ledger.timeline_count && runs <= 16);
    PROMISE(expected(lg_reader_ledger_rung(reader, UINT32_MAX, 0, &rung)) != LG_OK);
    PROMISE(expected(lg_reader_ledger_suspect(reader, contexts, 0, &suspect)) != LG_OK);
}

/* A ledger has none of the parts of a crash, and no call returns LG_OK for a part that does not
 * exist. */
static void exercise_arguments(lg_reader *reader, lg_file_kind kind)
{
    static lg_message message;
    uint8_t bytes[LG_STDERR_MAX];
    char text[8];
    size_t size;
    uint32_t number;
    uint64_t wide;
    lg_threads_info threads;
    lg_thread_info thread;
    lg_register value;
    lg_stack_info stack;
    lg_function function;
    lg_async_chain chain;
    lg_memory_info memory;
    lg_resource resource;
    lg_ledger_rung rung;
    lg_ledger_suspect suspect;
    lg_launch_info context = LG_LAUNCH_INFO_INIT;
    lg_annotation annotation;
    if (kind == LG_FILE_RUN) {
        PROMISE(lg_reader_ledger_rung(reader, 0, 0, &rung) == LG_ERR_STATE && lg_reader_ledger_suspect(reader, 0, 0, &suspect) == LG_ERR_STATE);
        PROMISE(lg_reader_ledger_context(reader, 0, &context) == LG_ERR_STATE);
    }
    if (kind == LG_FILE_LEDGER) {
        PROMISE(lg_reader_message(reader, 0, &message) == LG_ERR_STATE && lg_reader_threads(reader, &threads) == LG_ERR_STATE);
        PROMISE(lg_reader_thread(reader, 0, &thread) == LG_ERR_STATE && lg_reader_thread_register(reader, 0, 0, &value) == LG_ERR_STATE);
        PROMISE(lg_reader_thread_stack(reader, 0, &stack) == LG_ERR_STATE && lg_reader_thread_frame(reader, 0, 0, &wide) == LG_ERR_STATE);
        PROMISE(lg_reader_memory(reader, 0, &memory) == LG_ERR_STATE && lg_reader_memory_bytes(reader, 0, NULL, 0) == LG_ERR_STATE);
        PROMISE(lg_reader_map(reader, text, sizeof text, &size, &number) == LG_ERR_STATE && text[0] == 0);
        PROMISE(lg_reader_resource(reader, 0, &resource) == LG_ERR_STATE && lg_reader_stderr(reader, bytes, &size, &wide) == LG_ERR_STATE);
    }
    if (kind == LG_FILE_LEDGER)
        PROMISE(lg_reader_annotation(reader, 0, &annotation) == LG_ERR_STATE && lg_reader_redacted(reader, "key") == LG_ERR_STATE);
    PROMISE(lg_reader_annotation(NULL, 0, &annotation) == LG_ERR_ARGUMENT && lg_reader_annotation(reader, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_annotations_used(NULL, &wide) == LG_ERR_ARGUMENT && lg_reader_annotations_used(reader, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_log_check(NULL) == LG_ERR_ARGUMENT);
    if (kind == LG_FILE_LEDGER)
        PROMISE(lg_reader_annotations_used(reader, &wide) == LG_ERR_STATE && lg_reader_log_check(reader) == LG_ERR_STATE);
    PROMISE(lg_reader_redacted(NULL, "key") == LG_ERR_ARGUMENT && lg_reader_redacted(reader, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_ledger_rung(NULL, 0, 0, &rung) == LG_ERR_ARGUMENT && lg_reader_ledger_rung(reader, 0, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_ledger_suspect(NULL, 0, 0, &suspect) == LG_ERR_ARGUMENT && lg_reader_ledger_suspect(reader, 0, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_ledger_context(NULL, 0, &context) == LG_ERR_ARGUMENT && lg_reader_ledger_context(reader, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_message(NULL, 0, &message) == LG_ERR_ARGUMENT && lg_reader_message(reader, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_threads(NULL, &threads) == LG_ERR_ARGUMENT && lg_reader_threads(reader, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_thread(NULL, 0, &thread) == LG_ERR_ARGUMENT && lg_reader_thread(reader, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_thread_register(NULL, 0, 0, &value) == LG_ERR_ARGUMENT && lg_reader_thread_register(reader, 0, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_thread_stack(NULL, 0, &stack) == LG_ERR_ARGUMENT && lg_reader_thread_stack(reader, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_thread_frame(NULL, 0, 0, &wide) == LG_ERR_ARGUMENT && lg_reader_thread_frame(reader, 0, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_function(NULL, 0, &function) == LG_ERR_ARGUMENT && lg_reader_function(reader, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_async_chain(NULL, 0, &chain) == LG_ERR_ARGUMENT && lg_reader_async_chain(reader, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_thread_async_chain(NULL, 0, 0, &chain) == LG_ERR_ARGUMENT && lg_reader_thread_async_chain(reader, 0, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_thread_async_caller(NULL, 0, 0, 0, &wide) == LG_ERR_ARGUMENT && lg_reader_thread_async_caller(reader, 0, 0, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_snapshot_async_chain(NULL, LG_SNAPSHOT_HANG, 0, 0, &chain) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_snapshot_async_chain(reader, (lg_snapshot_kind)0, 0, 0, &chain) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_snapshot_async_caller(reader, LG_SNAPSHOT_HANG, 0, 0, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_async_caller(NULL, 0, 0, &wide) == LG_ERR_ARGUMENT && lg_reader_async_caller(reader, 0, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_thread_function(NULL, 0, 0, &function) == LG_ERR_ARGUMENT && lg_reader_thread_function(reader, 0, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_snapshot_function(reader, LG_SNAPSHOT_HANG, 0, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_memory(NULL, 0, &memory) == LG_ERR_ARGUMENT && lg_reader_memory(reader, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_memory_bytes(NULL, 0, bytes, 1) == LG_ERR_ARGUMENT && lg_reader_memory_bytes(reader, 0, NULL, 1) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_map(NULL, text, 1, &size, &number) == LG_ERR_ARGUMENT && lg_reader_map(reader, NULL, 1, &size, &number) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_map(reader, text, 1, NULL, &number) == LG_ERR_ARGUMENT && lg_reader_map(reader, text, 1, &size, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_resource(NULL, 0, &resource) == LG_ERR_ARGUMENT && lg_reader_resource(reader, 0, NULL) == LG_ERR_ARGUMENT);
    PROMISE(lg_reader_stderr(NULL, bytes, &size, &wide) == LG_ERR_ARGUMENT && lg_reader_stderr(reader, NULL, &size, &wide) == LG_ERR_ARGUMENT);
}

static void exercise_fingerprint(lg_reader *reader)
{
    char hex[33] = "";
    if (expected(lg_reader_fingerprint(reader, hex)) == LG_OK)
        PROMISE(strspn(hex, "0123456789abcdef") == 32 && !hex[32]);
}

static void on_block(const char *block, lg_status status, const char *detail, void *user)
{
    PROMISE(*block && *detail);
    *(lg_status *)user = status == LG_ERR_DAMAGED ? status : *(lg_status *)user;
}

/* A snapshot of the ring log, an index that is at most as large, and the reader itself. */
size_t most_memory(size_t size)
{
    return 2 * size + 4096;
}

int exercise(const char *path)
{
    lg_reader *reader;
    if (lg_reader_open(path, &reader) != LG_OK)
        return 0;
    lg_file_kind kind = lg_reader_kind(reader);
    PROMISE(kind == LG_FILE_RUN || kind == LG_FILE_LEDGER);
    exercise_arguments(reader, kind);
    exercise_run(reader);
    exercise_crash(reader);
    exercise_messages_and_process(reader);
    exercise_threads(reader);
    exercise_memory(reader);
    exercise_crashes(reader, kind);
    exercise_pulse(reader);
    exercise_guards(reader);
    exercise_modules_and_log(reader);
    exercise_annotations(reader);
    exercise_ledger(reader);
    exercise_fingerprint(reader);
    lg_status worst = LG_OK;
    PROMISE(lg_reader_verify(reader, on_block, &worst) == worst);
    PROMISE(lg_reader_verify(reader, NULL, NULL) == worst);
    lg_reader_close(reader);
    return 1;
}
