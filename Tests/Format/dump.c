/* Prints a file as JSON through the public reader, in the shape of reader.py. */
#include "dump.h"

#include <stdlib.h>

lg_reader *reader;

void json_text(const char *text, size_t size)
{
    putchar('"');
    for (size_t i = 0; i < size; i++)
        if (text[i] >= ' ' && text[i] < 127 && text[i] != '"' && text[i] != '\\')
            putchar(text[i]);
        else
            printf("\\u%04x", (unsigned char)text[i]);
    putchar('"');
}

void json_hex(const uint8_t *bytes, size_t size)
{
    putchar('"');
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    putchar('"');
}

static void dump_verdict(const lg_verdict *verdict)
{
    printf("\"verdict\":{");
    NUMBER(*verdict, end), NUMBER(*verdict, evidence), NUMBER(*verdict, signal), NUMBER(*verdict, code), NUMBER(*verdict, kind);
    printf("\"monotonic_ns\":%llu}", (unsigned long long)verdict->monotonic_ns);
}

static void dump_system(void)
{
    lg_system_info system = LG_SYSTEM_INFO_INIT;
    lg_status status = lg_reader_system(reader, &system);
    printf("\"system\":");
    if (status != LG_OK) {
        printf(status == LG_ERR_INCOMPLETE ? "null," : "\"damaged\",");
        return;
    }
    putchar('{');
    TEXT(system, kernel), TEXT(system, hardware), TEXT(system, model), TEXT(system, os_id), TEXT(system, os_version), TEXT(system, machine);
    TEXT(system, container), TEXT(system, unit), TEXT(system, invocation), TEXT(system, parent_name), NUMBER(system, parent_pid);
    printf("\"command_line_cut\":%u,\"command_line\":", system.command_line_cut);
    json_text(system.command_line, system.command_line_size), printf("},");
}

/* The names of a context's modules. */
static void dump_owned(const char *modules)
{
    if (!*modules)
        return;
    printf("\"modules\":[");
    for (const char *name = modules; *name; name += strlen(name) + 1)
        printf(name == modules ? "" : ","), json_text(name, strlen(name));
    printf("],");
}

static int dump_run(void)
{
    lg_run_info run;
    if (lg_reader_run(reader, &run) != LG_OK)
        return 1;
    printf("\"run\":{");
    TEXT(run, uuid), TEXT(run, boot_id), TEXT(run, app_id), TEXT(run, app_version), TEXT(run, executable), TEXT(run, build_id);
    UNSIGNED(run, ordinal), UNSIGNED(run, wall_ns), UNSIGNED(run, monotonic_ns), UNSIGNED(run, start_ticks), NUMBER(run, pid);
    UNSIGNED(run, uid), UNSIGNED(run, secondary), UNSIGNED(run, started), UNSIGNED(run, alive), NUMBER(run, exit_code);
    UNSIGNED(run, boottime_ns);
    /* Most runs do not have these. */
    if (run.end_announced)
        printf("\"announced\":%u,", run.end_announced);
    if (run.wait_status)
        printf("\"witness_status\":%d,", run.wait_status);
    RARE(run, announced_ns), RARE(run, witnessed), RARE(run, oom_known), RARE(run, oom_kills), RARE(run, oom_cgroup), RARE(run, hang_ns);
    RARE(run, term_kept), RARE(run, term_alive_ns), RARE(run, cpu_near_ns), RARE(run, cpu_used_ns), RARE(run, cpu_limit_s);
    RARE(run, memory_near_ns), RARE(run, memory_used), RARE(run, memory_limit), RARE(run, memory_own), RARE(run, forked_ns), RARE(run, crash_noted_ns);
    RARE(run, attached), RARE(run, reported), RARE(run, counted_in), RARE(run, hung_alive_ns), RARE(run, witnessed_ns);
    if (run.crash_type[0])
        TEXT(run, crash_type);
    NUMBER(run, term_signal), NUMBER(run, term_pid), UNSIGNED(run, term_uid), UNSIGNED(run, term_ns), UNSIGNED(run, healed_pages);
    printf("\"ended\":%d,\"ended_ns\":%llu},\"contexts\":[", run.exec_marked ? 3 : run.stop_marked ? 2 : run.exit_marked ? 1 : 0, (unsigned long long)run.end_ns);
    for (uint32_t i = 0; i < run.context_count; i++) {
        lg_run_context context;
        printf(i ? "," : "");
        if (lg_reader_run_context(reader, i, &context) != LG_OK) {
            printf("null");
            continue;
        }
        putchar('{');
        TEXT(context, name), TEXT(context, task), NUMBER(context, phase), NUMBER(context, finish), UNSIGNED(context, begun_ns);
        UNSIGNED(context, launching_ns), UNSIGNED(context, finished_ns), NUMBER(context, window_ms), UNSIGNED(context, rung);
        UNSIGNED(context, attempt);
        if (context.task_tid)
            NUMBER(context, task_tid);
        dump_owned(context.modules);
        printf("\"repaired\":%u,\"marked\":%u}", context.repaired, context.marked);
    }
    printf("],");
    return 0;
}

static void dump_frames(lg_stage stage)
{
    lg_stack_info stack;
    uint64_t pc;
    lg_status status = lg_reader_stack(reader, stage, &stack);
    if (status != LG_OK) {
        printf(status == LG_ERR_INCOMPLETE || status == LG_ERR_NOT_FOUND ? "null" : "\"damaged\"");
        return;
    }
    putchar('{');
    UNSIGNED(stack, stored), UNSIGNED(stack, first), UNSIGNED(stack, total), TEXT(stack, reason);
    if (stack.assumed)
        UNSIGNED(stack, assumed);
    RARE(stack, signal_pc);
    printf("\"pcs\":[");
    for (uint32_t i = 0; lg_reader_frame(reader, stage, i, &pc) == LG_OK; i++)
        printf("%s%llu", i ? "," : "", (unsigned long long)pc);
    putchar(']');
    if (stage == LG_STAGE_DWARF)
        dump_functions(NULL, 0, stack.stored);
    putchar('}');
}

static void dump_async(const lg_crash_info *crash)
{
    lg_async_chain chain;
    lg_status status = lg_reader_async_chain(reader, 0, &chain);
    if (status == LG_ERR_DAMAGED)
        printf(",\"async\":\"damaged\"");
    if (!(crash->stages & 1u << LG_STAGE_ASYNC) || status == LG_ERR_DAMAGED)
        return;
    printf(",\"async\":{");
    UNSIGNED(*crash, async_omitted);
    dump_chains(NULL, 0);
    putchar('}');
}

static void dump_bytes(uint32_t which, const char *name)
{
    uint8_t bytes[512];
    uint64_t start;
    size_t size;
    lg_reader_bytes(reader, which, bytes, &start, &size);
    printf("\"%s\":[%llu,", name, (unsigned long long)start), json_hex(bytes, size), printf("],");
}

static void dump_cpu(const lg_crash_info *crash)
{
    uint8_t bytes[512];
    uint64_t start;
    size_t size;
    lg_register value;
    lg_status status = lg_reader_bytes(reader, 0, bytes, &start, &size);
    if (status == LG_OK)
        status = lg_reader_bytes(reader, 1, bytes, &start, &size);
    printf("\"cpu\":");
    if (status != LG_OK) {
        printf(status == LG_ERR_INCOMPLETE || status == LG_ERR_NOT_FOUND ? "null," : "\"damaged\",");
        return;
    }
    putchar('{');
    TEXT(*crash, thread_name), dump_bytes(0, "stack"), dump_bytes(1, "code");
    printf("\"registers\":[");
    for (uint32_t i = 0; lg_reader_register(reader, i, &value) == LG_OK; i++)
        printf("%s[\"%s\",%llu]", i ? "," : "", value.name, (unsigned long long)value.value);
    printf("]},");
}

/* The selected one. */
static void dump_crash(bool of_several)
{
    lg_crash_info crash;
    lg_note note;
    lg_status status = lg_reader_crash(reader, &crash);
    if (status != LG_OK) {
        printf(status == LG_ERR_NOT_FOUND ? "null" : "\"damaged\"");
        return;
    }
    putchar('{');
    NUMBER(crash, signal), NUMBER(crash, code), NUMBER(crash, kind), UNSIGNED(crash, pc), UNSIGNED(crash, sp), UNSIGNED(crash, fp);
    UNSIGNED(crash, trap), UNSIGNED(crash, error), NUMBER(crash, tid), NUMBER(crash, sender_pid), UNSIGNED(crash, sender_uid);
    NUMBER(crash, syscall_number), UNSIGNED(crash, monotonic_ns), UNSIGNED(crash, boottime_ns), UNSIGNED(crash, wall_ns);
    UNSIGNED(crash, stack_low), UNSIGNED(crash, stack_high), UNSIGNED(crash, sequence), UNSIGNED(crash, stages);
    UNSIGNED(crash, handled);
    if (crash.has_address)
        UNSIGNED(crash, address);
    else
        printf("\"address\":null,");
    if (crash.skipped)
        UNSIGNED(crash, skipped);
    if (crash.stacks_cut)
        UNSIGNED(crash, stacks_cut);
    if (crash.siginfo_lost)
        UNSIGNED(crash, siginfo_lost);
    RARE(crash, brief), RARE(crash, within), RARE(crash, exiting), RARE(crash, any_thread);
    if (of_several)
        RARE(crash, is_end);
    else if (!crash.is_end)
        abort();
    dump_messages(), dump_process(), dump_threads(), dump_memory();
    printf("\"notes\":[");
    for (uint32_t i = 0; lg_reader_note(reader, i, &note) == LG_OK; i++) {
        printf(i ? ",{" : "{");
        NUMBER(note, kind), NUMBER(note, signal), NUMBER(note, tid), NUMBER(note, stage);
        printf("\"pc\":%llu}", (unsigned long long)note.pc);
    }
    printf("],");
    dump_cpu(&crash);
    printf("\"frames\":[");
    dump_frames(LG_STAGE_FRAMES), putchar(','), dump_frames(LG_STAGE_DWARF);
    putchar(']'), dump_async(&crash);
    putchar('}');
}

/* All crashes, where there is more than one. */
static void dump_crashes(void)
{
    uint32_t count = 0;
    printf("\"crash\":"), dump_crash(false), putchar(',');
    if (lg_reader_crash_count(reader, &count) != LG_OK) {
        printf("\"crashes\":\"damaged\",");
        return;
    }
    if (count > 1)
        printf("\"crashes\":[");
    for (uint32_t i = 0; i < count; i++) {
        if (lg_reader_select_crash(reader, i) != LG_OK)
            abort();
        if (count > 1)
            printf(i ? "," : ""), dump_crash(true);
    }
    if (count > 1)
        printf("],");
    if (lg_reader_select_crash(reader, count) != LG_ERR_NOT_FOUND)
        abort();
}

static void dump_modules(void)
{
    static lg_module module;
    lg_status status;
    uint32_t count = 0;
    while ((status = lg_reader_module(reader, count, &module)) == LG_OK)
        count++;
    if (status != LG_ERR_NOT_FOUND) {
        printf(status == LG_ERR_INCOMPLETE || status == LG_ERR_NOT_FOUND ? "\"modules\":null," : "\"modules\":\"damaged\",");
        return;
    }
    printf("\"modules\":[");
    for (uint32_t i = 0; lg_reader_module(reader, i, &module) == LG_OK; i++) {
        printf(i ? ",{" : "{");
        UNSIGNED(module, start), UNSIGNED(module, end), UNSIGNED(module, bias), TEXT(module, build_id);
        printf("\"path\":"), json_text(module.path, strlen(module.path)), putchar('}');
    }
    printf("],");
}

static void dump_fields(uint64_t index, const lg_log_entry *entry)
{
    static lg_log_field field;
    if (*entry->category)
        TEXT(*entry, category);
    if (entry->field_count == 0)
        return;
    printf("\"fields\":[");
    for (uint32_t i = 0; lg_reader_log_field(reader, index, i, &field) == LG_OK; i++) {
        printf(i ? ",[" : "[");
        json_text(field.key, field.key_size), putchar(','), json_text(field.value, field.value_size), putchar(']');
    }
    printf("],");
}

static void dump_log(void)
{
    lg_log_info info;
    static lg_log_entry entry;
    if (lg_reader_log(reader, &info) != LG_OK) {
        printf("\"log\":\"damaged\",");
        return;
    }
    printf("\"log\":{");
    UNSIGNED(info, torn), UNSIGNED(info, overwritten_bytes), UNSIGNED(info, overwritten_entries), RARE(info, unknown);
    printf("\"entries\":[");
    for (uint64_t i = 0; lg_reader_log_entry(reader, i, &entry) == LG_OK; i++) {
        printf(i ? ",{" : "{");
        UNSIGNED(entry, sequence), UNSIGNED(entry, monotonic_ns), UNSIGNED(entry, lane), NUMBER(entry, tid), UNSIGNED(entry, level);
        UNSIGNED(entry, cut), RARE(entry, damaged);
        dump_fields(i, &entry);
        printf("\"text\":"), json_text(entry.text, entry.size), putchar('}');
    }
    printf("]},");
}

static void dump_ladder(uint32_t index)
{
    lg_ledger_rung rung;
    lg_ledger_suspect suspect;
    printf("\"rungs\":[");
    for (uint32_t i = 0; lg_reader_ledger_rung(reader, index, i, &rung) == LG_OK; i++) {
        printf(i ? ",{" : "{");
        TEXT(rung, name), UNSIGNED(rung, impact), UNSIGNED(rung, attempts), UNSIGNED(rung, timeout_ms), UNSIGNED(rung, flags);
        UNSIGNED(rung, series_wall_ns), UNSIGNED(rung, fate);
        printf("\"built_in\":%u}", rung.built_in);
    }
    printf("],\"suspects\":[");
    for (uint32_t i = 0; lg_reader_ledger_suspect(reader, index, i, &suspect) == LG_OK; i++) {
        printf(i ? ",{" : "{");
        TEXT(suspect, key), UNSIGNED(suspect, crashes);
        printf("\"left_out\":%u}", suspect.left_out);
    }
    printf("],");
}

static void dump_context(uint32_t index)
{
    lg_launch_info context = LG_LAUNCH_INFO_INIT;
    if (lg_reader_ledger_context(reader, index, &context) != LG_OK) {
        printf("null");
        return;
    }
    putchar('{');
    TEXT(context, name), UNSIGNED(context, status), UNSIGNED(context, mode), UNSIGNED(context, halted), UNSIGNED(context, due);
    UNSIGNED(context, shadow), UNSIGNED(context, streak), UNSIGNED(context, unknown), UNSIGNED(context, reported), UNSIGNED(context, rung);
    UNSIGNED(context, rung_count), UNSIGNED(context, attempts), UNSIGNED(context, interruptions), UNSIGNED(context, skips);
    UNSIGNED(context, good_runs), UNSIGNED(context, retry_runs), UNSIGNED(context, safe_crashes), UNSIGNED(context, report_after);
    UNSIGNED(context, repair_after), UNSIGNED(context, unknown_after), UNSIGNED(context, safe_crash_limit), UNSIGNED(context, launches);
    UNSIGNED(context, crashes), UNSIGNED(context, repairs);
    RARE(context, window_ms), RARE(context, finish), RARE(context, ends), RARE(context, quits), RARE(context, unsteady), RARE(context, stops);
    dump_ladder(index);
    printf("\"last_task\":"), json_text(context.last_task, strlen(context.last_task)), putchar('}');
}

static void dump_timeline(uint32_t index)
{
    lg_timeline_entry run;
    if (lg_reader_timeline(reader, index, &run) != LG_OK) {
        printf("null");
        return;
    }
    putchar('{');
    TEXT(run, uuid), TEXT(run, app_version), UNSIGNED(run, ordinal), UNSIGNED(run, wall_ns), UNSIGNED(run, duration_ns);
    UNSIGNED(run, launching), UNSIGNED(run, repairing), UNSIGNED(run, counted), UNSIGNED(run, attributed);
    RARE(run, late), RARE(run, told), RARE(run, degraded);
    if (run.reason[0])
        TEXT(run, reason);
    printf("\"events\":[");
    for (size_t i = 0; i < sizeof run.events / sizeof run.events[0]; i++)
        printf("%s%u", i ? "," : "", run.events[i]);
    printf("],");
    dump_verdict(&run.verdict);
    putchar('}');
}

static int dump_ledger(void)
{
    lg_ledger_info ledger;
    if (lg_reader_ledger(reader, &ledger) != LG_OK)
        return 1;
    UNSIGNED(ledger, generation), UNSIGNED(ledger, slots_valid), TEXT(ledger, app_id), TEXT(ledger, app_version);
    TEXT(ledger, build_id), UNSIGNED(ledger, last_ordinal);
    if (ledger.start_fault_wall_ns)
        UNSIGNED(ledger, start_faults), UNSIGNED(ledger, starts_left), UNSIGNED(ledger, start_fault_wall_ns);
    if (ledger.hint.serial) {
        printf("\"hint\":{");
        UNSIGNED(ledger.hint, serial), UNSIGNED(ledger.hint, kind), UNSIGNED(ledger.hint, expires_ns), TEXT(ledger.hint, context);
        printf("\"name\":"), json_text(ledger.hint.name, strlen(ledger.hint.name)), printf("},");
    }
    printf("\"contexts\":[");
    for (uint32_t i = 0; i < ledger.context_count; i++)
        printf(i ? "," : ""), dump_context(i);
    printf("],\"timeline\":[");
    for (uint32_t i = 0; i < ledger.timeline_count; i++)
        printf(i ? "," : ""), dump_timeline(i);
    printf("]}\n");
    return 0;
}

int main(int count, char **arguments)
{
    lg_status status = count == 2 ? lg_reader_open(arguments[1], &reader) : LG_ERR_ARGUMENT;
    if (status != LG_OK) {
        fprintf(stderr, "dump: %s\n", lg_status_name(status));
        return 1;
    }
    bool run = lg_reader_kind(reader) == LG_FILE_RUN;
    printf("{\"kind\":\"%s\",", run ? "run" : "ledger");
    if (run) {
        lg_verdict verdict;
        if (dump_run() != 0)
            return 1;
        dump_system();
        dump_crashes(); /* the last one stays selected: the verdict is the same */
        if (lg_reader_verdict(reader, &verdict) != LG_OK)
            return 1;
        dump_stderr(), dump_annotations(), dump_pulse(), dump_snapshots(), dump_memory_snapshot(), dump_guards(), dump_modules(), dump_log(), dump_verdict(&verdict);
        printf("}\n");
    }
    int result = run ? 0 : dump_ledger();
    lg_reader_close(reader);
    return result;
}
