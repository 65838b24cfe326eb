/* What a run was, how it ended, and what it had loaded. */
#include <stdlib.h>
#include <string.h>

#include "report/full.h"

#define MODULES_MAX 8192u

static json_t *figure(const char *first, uint64_t value, const char *second, uint64_t other, uint64_t monotonic_ns)
{
    json_t *object = json_object();
    put(object, first, words_number(value));
    put(object, second, words_number(other));
    put(object, "monotonicNanoseconds", monotonic_ns ? words_number(monotonic_ns) : NULL);
    return object;
}

static json_t *termination(const lg_run_info *run)
{
    json_t *object = json_object();
    put(object, "signal", full_signal(run->term_signal));
    if (run->term_pid) {
        put(object, "senderProcessID", json_integer(run->term_pid));
        put(object, "senderUserID", json_integer(run->term_uid));
    }
    put(object, "monotonicNanoseconds", words_number(run->term_ns));
    put(object, "isKept", run->term_kept ? json_true() : NULL);
    put(object, "aliveNanoseconds", run->term_alive_ns > run->term_ns ? words_number(run->term_alive_ns) : NULL);
    return object;
}

static json_t *witness(int32_t status)
{
    json_t *object = json_object();
    int number = status & 0x7F;
    put(object, "waitStatus", json_integer(status));
    if (number == 0)
        put(object, "exitCode", json_integer(status >> 8 & 0xFF));
    else if (number != 0x7F)
        put(object, "signal", full_signal(number));
    return object;
}

static json_t *identity_json(const struct full *full)
{
    const lg_run_info *run = &full->run;
    json_t *object = json_object();
    put(object, "uuid", words_text(run->uuid, strlen(run->uuid)));
    put(object, "ordinal", words_number(run->ordinal));
    put(object, "appID", words_text(run->app_id, strlen(run->app_id)));
    put(object, "appVersion", words_string(run->app_version));
    put(object, "executable", full_path(full, run->executable));
    put(object, "buildID", words_string(run->build_id));
    put(object, "bootID", words_string(run->boot_id));
    put(object, "processID", json_integer(run->pid));
    put(object, "userID", json_integer(run->uid));
    put(object, "started", words_time(run->wall_ns));
    put(object, "monotonicNanoseconds", words_number(run->monotonic_ns));
    put(object, "isStartComplete", json_boolean(run->started));
    put(object, "isAlive", json_boolean(run->alive));
    put(object, "isSecondary", json_boolean(run->secondary));
    put(object, "healedPages", json_integer(run->healed_pages));
    put(object, "termination", run->term_signal ? termination(run) : NULL);
    if (run->end_announced) {
        json_t *announcement = json_object();
        put(announcement, "kind", json_string(run->end_announced == 2 ? "restart" : "termination"));
        put(announcement, "monotonicNanoseconds", words_number(run->announced_ns));
        put(object, "announcement", announcement);
    }
    put(object, "witness", run->witnessed ? witness(run->wait_status) : NULL);
    put(object, "hangSinceNanoseconds", words_nonzero(run->hang_ns));
    put(object, "memoryKills", run->oom_known ? figure("count", run->oom_kills, "cgroup", run->oom_cgroup, 0) : NULL);
    if (run->cpu_near_ns)
        put(object, "cpuLimit", figure("usedNanoseconds", run->cpu_used_ns, "limitSeconds", run->cpu_limit_s, run->cpu_near_ns));
    if (run->memory_near_ns)
        put(object, "memoryPressure", figure("usedBytes", run->memory_used, "limitBytes", run->memory_limit, run->memory_near_ns));
    if (run->crash_noted_ns) {
        json_t *note = json_object();
        put(note, "type", words_string(run->crash_type));
        put(note, "monotonicNanoseconds", words_number(run->crash_noted_ns));
        put(object, "crashNote", note);
    }
    return object;
}

static json_t *context_json(const lg_run_context *context)
{
    static const char *const phases[] = { "none", "deciding", "repairing", "launching", "finished", "held", "halted", "terminating" };
    json_t *object = json_object(), *modules = json_array();
    const char *finish = "invalid";
    switch (context->finish) {
    case LG_FINISH_EITHER: finish = "either"; break;
    case LG_FINISH_MARK: finish = "mark"; break;
    case LG_FINISH_TIME: finish = "time"; break;
    case LG_FINISH_BOTH: finish = "both"; break;
    }
    unsigned phase = (unsigned)context->phase;
    put(object, "name", words_text(context->name, strlen(context->name)));
    put(object, "phase", json_string(phase < sizeof phases / sizeof phases[0] ? phases[phase] : "invalid"));
    put(object, "begunNanoseconds", words_nonzero(context->begun_ns));
    put(object, "launchingNanoseconds", words_nonzero(context->launching_ns));
    put(object, "finishedNanoseconds", words_nonzero(context->finished_ns));
    put(object, "windowMilliseconds", json_integer(context->window_ms));
    put(object, "finish", json_string(finish));
    if (context->phase == LG_PHASE_REPAIRING) {
        put(object, "rung", json_integer(context->rung));
        put(object, "attempt", json_integer(context->attempt));
    }
    put(object, "task", words_string(context->task));
    put(object, "taskThreadID", context->task_tid ? json_integer(context->task_tid) : NULL);
    const char *name = context->modules, *stop = name + sizeof context->modules;
    for (size_t length; name < stop && (length = strnlen(name, (size_t)(stop - name))); name += length + 1)
        json_array_append_new(modules, words_text(name, length));
    put_list(object, "modules", modules);
    return object;
}

static void add_contexts(struct full *full)
{
    json_t *list = json_array();
    lg_run_context context;
    for (uint32_t i = 0; i < full->run.context_count && i < 256; i++)
        if (full_has(full, lg_reader_run_context(full->reader, i, &context), "contexts"))
            json_array_append_new(list, context_json(&context));
    put(full->report, "contexts", list);
}

static json_t *system_json(const struct full *full, const lg_system_info *info)
{
    json_t *object = json_object();
    put(object, "kernel", words_string(info->kernel));
    put(object, "hardware", words_string(info->hardware));
    put(object, "model", words_string(info->model));
    put(object, "distribution", words_string(info->os_id));
    put(object, "distributionVersion", words_string(info->os_version));
    put(object, "machineID", words_string(info->machine));
    put(object, "container", words_string(info->container));
    put(object, "unit", words_string(info->unit));
    put(object, "invocationID", words_string(info->invocation));
    put(object, "parentProcessID", info->parent_pid ? json_integer(info->parent_pid) : NULL);
    put(object, "parentName", words_string(info->parent_name));
    if (!info->command_line_size)
        return object;
    json_t *arguments = json_array();
    const char *word = info->command_line, *stop = word + info->command_line_size;
    for (size_t length; word < stop; word += length + 1) {
        length = strnlen(word, (size_t)(stop - word));
        json_array_append_new(arguments, full_text(full, word, length));
    }
    put(object, "commandLine", arguments);
    put(object, "isCommandLineCut", info->command_line_cut ? json_true() : NULL);
    return object;
}

static json_t *verdict_json(const lg_verdict *verdict)
{
    static const char *const kinds[] = {
        "no-run", "process-alive", "crash-note", "crash-record", "exit-mark", "stop-mark", "terminate-mark", "boot-differs",
        "no-mark", "file-unreadable", "handled", "crash-mark", "exec", "dump-record", "tracer", "witness",
        "termination-announced", "restart-announced", "hang-mark", "oom-counter", "stop-timeout", "cpu-limit", "deadline",
        "near-memory-limit", "kernel-log", "memory-share", "fork",
    };
    json_t *object = json_object();
    unsigned evidence = (unsigned)verdict->evidence;
    put(object, "end", json_string(lg_end_name(verdict->end)));
    put(object, "evidence", json_string(lg_evidence_sentence(verdict->evidence)));
    put(object, "evidenceKind", evidence < sizeof kinds / sizeof kinds[0] ? json_string(kinds[evidence]) : NULL);
    put(object, "signal", verdict->signal ? full_signal(verdict->signal) : NULL);
    if (verdict->end == LG_END_EXIT || verdict->end == LG_END_CLEAN)
        put(object, "exitCode", json_integer(verdict->code));
    if (verdict->end == LG_END_CRASH) {
        put(object, "signalCode", json_integer(verdict->code));
        put(object, "kind", full_kind(verdict->kind));
    }
    put(object, "monotonicNanoseconds", words_nonzero(verdict->monotonic_ns));
    return object;
}

void full_add_run(struct full *full)
{
    lg_system_info system = LG_SYSTEM_INFO_INIT;
    if (full_has(full, lg_reader_run(full->reader, &full->run), "identity")) {
        put(full->report, "identity", identity_json(full));
        add_contexts(full);
    }
    if (full_has(full, lg_reader_system(full->reader, &system), "system"))
        put(full->report, "system", system_json(full, &system));
    put(full->report, "verdict", verdict_json(&full->facts->verdict));
}

void full_add_modules(struct full *full)
{
    json_t *list = json_array();
    lg_module module;
    full->areas = calloc(MODULES_MAX, sizeof *full->areas);
    for (uint32_t i = 0; full->areas && i < MODULES_MAX; i++) {
        lg_status status = lg_reader_module(full->reader, i, &module);
        if (!full_has(full, status, "modules")) {
            if (status == LG_ERR_DAMAGED && i < 255)
                continue;
            break;
        }
        json_t *object = json_object(), *path = full_path(full, module.path);
        path = path ? path : json_string("");
        put(object, "path", path);
        put(object, "buildID", words_string(module.build_id));
        put(object, "start", words_address(module.start));
        put(object, "end", words_address(module.end));
        put(object, "bias", words_address(module.bias));
        json_array_append_new(list, object);
        if (path)
            full->areas[full->area_count++] = (struct area){ module.start, module.end, module.bias, path };
    }
    put_list(full->report, "modules", list);
}
