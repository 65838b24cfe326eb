/* The full part: what `launchguard inspect --json --no-symbols` writes, with these differences.
 * - Left out: the memory map and what follows from it, memory around the crash, standard error.
 * - `path` is empty, and `report` holds what the brief part says of the report itself, the
 *   fingerprint among it.
 * - Home directories are "~". Of the breadcrumbs there are the newest 200.
 * - A number above INT64_MAX is left out; only a damaged file has one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "full.h"
#include "launchguard/annotate.h"
#include "redact.h"
#include "store/format_report.h"

#define BREADCRUMBS_MAX 200u
#define MODULES_MAX 8192u
#define FRAMES_MAX 20000u

/* ---- what all parts use ---- */

bool full_has(struct full *full, lg_status status, const char *part)
{
    char name[96];
    if (status == LG_OK || status == LG_ERR_NOT_FOUND || (status == LG_ERR_INCOMPLETE && full->is_complete))
        return status == LG_OK;
    snprintf(name, sizeof name, "%s%s", full->prefix, part);
    json_t *problem = json_object();
    put(problem, "part", json_string(name));
    put(problem, "code", json_string(lg_status_name(status)));
    put(problem, "message", json_string(lg_status_message(status)));
    bool known = json_array_size(full->problems) >= 256;
    for (size_t i = 0; i < json_array_size(full->problems); i++)
        known |= json_equal(json_array_get(full->problems, i), problem);
    if (!known)
        json_array_append(full->problems, problem);
    json_decref(problem);
    return false;
}

json_t *full_text(const struct full *full, const char *bytes, size_t size)
{
    char *copy = full->facts->keep_home ? NULL : malloc(size + 1);
    if (!copy)
        return full->facts->keep_home ? words_text(bytes, size) : NULL;
    memcpy(copy, bytes, size);
    json_t *text = words_text(copy, redact_text(copy, size));
    free(copy);
    return text;
}

json_t *full_path(const struct full *full, const char *path)
{
    char buffer[PATH_MAX];
    return words_string(full->facts->keep_home ? path : redact_home(path, buffer, sizeof buffer));
}

json_t *full_signal(int number)
{
    char buffer[SIGNAL_NAME_BYTES];
    json_t *object = json_object();
    put(object, "number", json_integer(number));
    put(object, "name", json_string(signal_name(number, buffer)));
    return object;
}

json_t *full_time(const struct full *full, uint64_t monotonic_ns)
{
    const uint64_t start = full->run.wall_ns, begin = full->run.monotonic_ns;
    bool fits = monotonic_ns >= begin ? monotonic_ns - begin <= UINT64_MAX - start : begin - monotonic_ns <= start;
    return start && fits ? words_time(start + (monotonic_ns - begin)) : NULL;
}

json_t *full_kind(lg_crash_kind kind)
{
    const char *name = lg_crash_kind_name(kind);
    char text[32];
    snprintf(text, sizeof text, "kind %u", (unsigned)kind);
    return json_string(strcmp(name, "invalid") == 0 ? text : name);
}

static void put_list(json_t *object, const char *key, json_t *list)
{
    if (json_array_size(list))
        put(object, key, list);
    else
        json_decref(list);
}

/* ---- the run ---- */

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

static json_t *identity(const struct full *full)
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
        "no-run", "process-alive", "version-differs", "crash-record", "exit-mark", "stop-mark", "terminate-mark", "boot-differs",
        "no-mark", "file-unreadable", "handled", "crash-mark", "exec", "dump-record", "tracer", "witness",
        "termination-announced", "restart-announced", "hang-mark", "oom-counter", "stop-timeout", "cpu-limit", "deadline",
        "near-memory-limit", "kernel-log", "memory-share", "fork", "crash-note",
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

static json_t *report_json(const struct full *full)
{
    const struct facts *facts = full->facts;
    json_t *object = json_object();
    put(object, "uuid", json_string(facts->uuid));
    put(object, "fingerprint", json_string(facts->fingerprint));
    put(object, "made", words_time(facts->made_ns));
    put(object, "launching", json_boolean(facts->launching));
    put(object, "context", words_string(facts->context));
    put(object, "task", words_string(facts->task));
    put(object, "streak", words_nonzero(facts->streak));
    put(object, "reason", facts->reason ? full_text(full, facts->reason, strlen(facts->reason)) : NULL);
    return object;
}

static void add_modules(struct full *full)
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

/* ---- what the program said ---- */

static bool is_used(uint64_t used, uint32_t place)
{
    return used >> place & 1;
}

static uint64_t used_places(lg_reader *reader)
{
    uint64_t used;
    return lg_reader_annotations_used(reader, &used) == LG_OK ? used : UINT64_MAX;
}

static json_t *redacted_mark(const char *key)
{
    json_t *object = json_object();
    put(object, "key", words_text(key, strlen(key)));
    put(object, "isCut", json_false());
    put(object, "isRedacted", json_true());
    return object;
}

static const char *key_of(const json_t *annotation)
{
    const char *key = json_string_value(json_object_get(annotation, "key"));
    return key ? key : "";
}

static int by_key(const void *a, const void *b)
{
    return strcmp(key_of(*(json_t *const *)a), key_of(*(json_t *const *)b));
}

/* Returns the keys whose values must not leave the machine, as members of an object. */
static json_t *add_annotations(struct full *full)
{
    json_t *redacted = json_object(), *list = json_array();
    json_t *found[LG_ANNOTATIONS_MAX];
    size_t count = 0;
    lg_annotation annotation;
    uint64_t used = used_places(full->reader);
    for (uint32_t place = 0; place < LG_ANNOTATIONS_MAX; place++) {
        if (!is_used(used, place) || !full_has(full, lg_reader_annotation(full->reader, place, &annotation), "annotations"))
            continue;
        json_t *object = redacted_mark(annotation.key);
        if (annotation.redacted) {
            put(redacted, key_of(object), json_true());
        } else {
            put(object, "isRedacted", json_false());
            put(object, "value", full_text(full, annotation.value, annotation.size));
            put(object, "time", full_time(full, annotation.monotonic_ns));
            put(object, "monotonicNanoseconds", words_number(annotation.monotonic_ns));
            put(object, "isCut", json_boolean(annotation.cut));
        }
        found[count++] = object;
    }
    qsort(found, count, sizeof found[0], by_key);
    for (size_t i = 0; i < count; i++) {
        /* a file made by hand may have a key twice */
        bool is_secret = json_object_get(redacted, key_of(found[i]));
        json_array_append_new(list, is_secret ? redacted_mark(key_of(found[i])) : json_incref(found[i]));
        json_decref(found[i]);
    }
    put_list(full->report, "annotations", list);
    return redacted;
}

static void add_fields(struct full *full, json_t *breadcrumb, uint64_t index, uint32_t count, const json_t *redacted)
{
    json_t *list = json_array();
    lg_log_field *field = malloc(sizeof *field);
    for (uint32_t i = 0; field && i < count && i < 1024; i++) {
        if (lg_reader_log_field(full->reader, index, i, field) != LG_OK)
            continue;
        json_t *object = json_object(), *key = words_text(field->key, field->key_size);
        put(object, "key", key);
        if (redacted && key && !json_object_get(redacted, json_string_value(key)))
            put(object, "value", full_text(full, field->value, field->value_size));
        json_array_append_new(list, object);
    }
    free(field);
    put_list(breadcrumb, "fields", list);
}

static json_t *level(uint32_t level)
{
    static const char *const names[] = { "trace", "debug", "info", "notice", "warning", "error", "critical" };
    char text[16];
    snprintf(text, sizeof text, "%u", (unsigned)level);
    return json_string(level % 10 == 0 && level >= 10 && level <= 70 ? names[level / 10 - 1] : text);
}

/* `redacted` NULL: no field's value may leave the machine. */
static json_t *breadcrumb_json(struct full *full, const lg_log_entry *entry, uint64_t index, const json_t *redacted)
{
    json_t *object = json_object();
    put(object, "lane", json_integer(entry->lane));
    put(object, "sequence", words_number(entry->sequence));
    put(object, "monotonicNanoseconds", words_number(entry->monotonic_ns));
    put(object, "time", full_time(full, entry->monotonic_ns));
    put(object, "threadID", json_integer(entry->tid));
    put(object, "level", level(entry->level));
    put(object, "text", full_text(full, entry->text, entry->size));
    put(object, "category", words_string(entry->category));
    add_fields(full, object, index, entry->field_count, redacted);
    put(object, "isCut", json_boolean(entry->cut));
    put(object, "isDamaged", entry->damaged ? json_true() : NULL);
    return object;
}

static void add_breadcrumbs(struct full *full, const lg_log_info *info, const json_t *redacted)
{
    json_t *breadcrumbs = json_object(), *list = json_array();
    lg_log_entry *entry = malloc(sizeof *entry);
    put(breadcrumbs, "torn", words_number(info->torn));
    put(breadcrumbs, "overwrittenBytes", words_number(info->overwritten_bytes));
    put(breadcrumbs, "overwrittenEntries", words_number(info->overwritten_entries));
    put(breadcrumbs, "unknown", words_nonzero(info->unknown));
    for (uint64_t i = info->entries > BREADCRUMBS_MAX ? info->entries - BREADCRUMBS_MAX : 0; entry && i < info->entries; i++) {
        if (lg_reader_log_entry(full->reader, i, entry) != LG_OK)
            continue;
        json_array_append_new(list, breadcrumb_json(full, entry, i, redacted));
        if (entry->damaged)
            full_has(full, LG_ERR_DAMAGED, "ring log");
    }
    free(entry);
    put(breadcrumbs, "entries", list);
    put(full->report, "breadcrumbs", breadcrumbs);
}

static void add_pulse(struct full *full)
{
    json_t *hearts = json_array(), *deadlines = json_array();
    lg_heart_info heart;
    lg_deadline_info deadline;
    for (uint32_t i = 0; i < 256 && full_has(full, lg_reader_heart(full->reader, i, &heart), "pulse"); i++) {
        json_t *object = json_object();
        put(object, "threadID", json_integer(heart.tid));
        put(object, "name", words_string(heart.name));
        put(object, "isPaused", json_boolean(heart.paused));
        put(object, "lastBeatNanoseconds", words_number(heart.beat_ns));
        put(object, "hangSinceNanoseconds", words_nonzero(heart.hang_ns));
        json_array_append_new(hearts, object);
    }
    for (uint32_t i = 0; i < 256 && full_has(full, lg_reader_deadline(full->reader, i, &deadline), "pulse"); i++) {
        json_t *object = json_object();
        put(object, "name", words_text(deadline.name, strlen(deadline.name)));
        put(object, "threadID", json_integer(deadline.tid));
        put(object, "limitMilliseconds", json_integer(deadline.limit_ms));
        put(object, "begunNanoseconds", words_number(deadline.begun_ns));
        put(object, "nearNanoseconds", words_nonzero(deadline.near_ns));
        json_array_append_new(deadlines, object);
    }
    put_list(full->report, "hearts", hearts);
    put_list(full->report, "deadlines", deadlines);
}

/* ---- at most LG__REPORT_FULL_MAX bytes ---- */

/* Leave something out. Returns whether there was something to leave out. */
static bool shrink(json_t *report)
{
    const struct { json_t *of; const char *key; } parts[] = {
        { report, "snapshots" }, { report, "otherCrashes" }, { report, "annotations" }, { json_object_get(report, "guards"), "sites" }, { report, "modules" },
    };
    json_t *entries = json_object_get(json_object_get(report, "breadcrumbs"), "entries");
    json_t *threads = json_object_get(json_object_get(report, "crash"), "threads");
    size_t count = json_array_size(entries);
    if (count) {
        for (size_t i = 0; i < (count + 1) / 2; i++)
            json_array_remove(entries, 0);
        return true;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (json_object_del(parts[i].of, parts[i].key) == 0)
            return true;
    count = json_array_size(threads);
    for (size_t i = 0; i < (count + 1) / 2; i++)
        json_array_remove(threads, json_array_size(threads) - 1);
    return count || json_object_del(report, "crash") == 0;
}

static char *dump(json_t *report, size_t *ret_bytes)
{
    for (;;) {
        char *text = json_dumps(report, JSON_COMPACT);
        if (!text || strlen(text) <= LG__REPORT_FULL_MAX) {
            *ret_bytes = text ? strlen(text) : 0;
            return text;
        }
        free(text);
        if (!shrink(report))
            return NULL;
    }
}

char *compose_full(lg_reader *reader, const struct facts *facts, size_t *ret_bytes)
{
    struct full full = { .reader = reader, .facts = facts, .report = json_object(), .problems = json_array(), .prefix = "",
                         .frames_left = FRAMES_MAX };
    lg_system_info system = LG_SYSTEM_INFO_INIT;
    lg_log_info log;
    put(full.report, "schema", json_integer(1));
    put(full.report, "type", json_string("run"));
    put(full.report, "path", json_string(""));
    put(full.report, "report", report_json(&full));
    if (full_has(&full, lg_reader_run(reader, &full.run), "identity")) {
        put(full.report, "identity", identity(&full));
        add_contexts(&full);
    }
    if (full_has(&full, lg_reader_system(reader, &system), "system"))
        put(full.report, "system", system_json(&full, &system));
    put(full.report, "verdict", verdict_json(&facts->verdict));
    add_modules(&full);
    full_add_crashes(&full);
    full_add_snapshots(&full);
    add_pulse(&full);
    /* Which keys are redacted is asked behind the snapshot of the log: a key of a living program
     * may be redacted, and used, in between. */
    bool has_log = full_has(&full, lg_reader_log(reader, &log), "ring log");
    json_t *redacted = add_annotations(&full);
    const json_t *const known = lg_reader_redacted(reader, "") == LG_ERR_NOT_FOUND ? redacted : NULL;
    full_add_guards(&full, known);
    if (has_log)
        add_breadcrumbs(&full, &log, known);
    put(full.report, "problems", json_incref(full.problems));
    char *text = full.report ? dump(full.report, ret_bytes) : NULL;
    json_decref(redacted);
    json_decref(full.problems);
    json_decref(full.report);
    free(full.areas);
    return text;
}
