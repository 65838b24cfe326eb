#include "report/compose.h"
#include "report/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "report/json_words.h"
#include "report/parts.h"
#include "report/values.h"
#include "store/format_report.h"

#define FRAMES_MAX 24u
#define MODULES_MAX 65536u
#define MESSAGE_BYTES 512u
/* No text is cut that is as short; all of them fit together. */
#define TEXT_LEAST 36u

struct frame {
    uint64_t lookup; /* address that names the line: a return address less 1 */
    uint64_t start, bias; /* of its module */
    bool found;
    char module[256];
    char build_id[65];
};

struct frames {
    uint32_t count;
    uint64_t total;
    struct frame list[FRAMES_MAX];
};

/* ---- frames ---- */

static void add_frame(struct frames *frames, uint64_t pc, bool exact)
{
    struct frame *frame = &frames->list[frames->count++];
    frame->lookup = exact ? pc : pc - 1;
    frame->found = false;
}

/* Frames after the gap in a stack are left out: their neighbours are not known. */
static uint32_t innermost(const lg_stack_info *info, struct frames *frames)
{
    uint32_t count = info->first < info->stored ? info->first : info->stored;
    frames->count = 0;
    frames->total = info->total > info->stored ? info->total : info->stored;
    return count < FRAMES_MAX ? count : FRAMES_MAX;
}

static void crashed_frames(lg_reader *reader, const lg_crash_info *crash, struct frames *frames)
{
    lg_stack_choice choice;
    lg_stack_info info;
    uint64_t pc;
    if (lg_reader_stack_choice(reader, &choice) != LG_OK || lg_reader_stack(reader, choice.stage, &info) != LG_OK || !info.stored) {
        choice.stage = LG_STAGE_FRAMES;
        if (lg_reader_stack(reader, choice.stage, &info) != LG_OK || !info.stored) {
            add_frame(frames, crash->pc, true);
            frames->total = 1;
            return;
        }
    }
    bool exact = !lg__report_is_past_breakpoint(reader, crash);
    uint32_t count = innermost(&info, frames);
    for (uint32_t i = 0; i < count && lg_reader_frame(reader, choice.stage, i, &pc) == LG_OK; i++) {
        const bool is_signal = lg__report_is_signal(&info, pc);
        add_frame(frames, pc, exact || is_signal);
        exact = is_signal;
    }
}

static void hung_frames(lg_reader *reader, struct frames *frames)
{
    lg_stack_info info;
    uint64_t pc;
    if (lg_reader_snapshot_stack(reader, LG_SNAPSHOT_HANG, 0, &info) != LG_OK)
        return;
    uint32_t count = innermost(&info, frames);
    bool exact = true;
    for (uint32_t i = 0; i < count && lg_reader_snapshot_frame(reader, LG_SNAPSHOT_HANG, 0, i, &pc) == LG_OK; i++) {
        const bool is_signal = lg__report_is_signal(&info, pc);
        add_frame(frames, pc, exact || is_signal);
        exact = is_signal;
    }
}

static void find_modules(lg_reader *reader, struct frames *frames)
{
    lg_module module;
    for (uint32_t i = 0; i < MODULES_MAX; i++) {
        lg_status status = lg_reader_module(reader, i, &module);
        if (status == LG_ERR_DAMAGED && i < 256)
            continue;
        if (status != LG_OK)
            return;
        const char *slash = strrchr(module.path, '/');
        for (uint32_t k = 0; k < frames->count; k++) {
            struct frame *frame = &frames->list[k];
            /* of modules within each other the innermost, which begins last */
            if (frame->lookup < module.start || frame->lookup >= module.end || (frame->found && frame->start > module.start))
                continue;
            frame->found = true;
            frame->start = module.start;
            frame->bias = module.bias;
            memcpy(frame->build_id, module.build_id, sizeof frame->build_id);
            size_t length = strnlen(slash ? slash + 1 : module.path, sizeof frame->module - 1);
            memcpy(frame->module, slash ? slash + 1 : module.path, length);
            frame->module[length] = 0;
        }
    }
}

static json_t *frame_json(const struct frame *frame, const struct privacy *privacy)
{
    json_t *object = json_object();
    if (frame->found) {
        put(object, "module", words_private(privacy, frame->module));
        put(object, "buildID", words_string(frame->build_id));
        put(object, "offset", words_short_address(frame->lookup - frame->bias));
        if (frame->start != frame->bias)
            put(object, "start", words_short_address(frame->start));
    }
    put(object, "address", words_short_address(frame->lookup));
    return object;
}

static void put_frames(json_t *report, lg_reader *reader, struct frames *frames, const struct privacy *privacy)
{
    find_modules(reader, frames);
    json_t *list = json_array();
    for (uint32_t i = 0; i < frames->count; i++)
        json_array_append_new(list, frame_json(&frames->list[i], privacy));
    if (frames->count) {
        put(report, "frames", list);
        put(report, "frameCount", words_number(frames->total));
    } else {
        json_decref(list);
    }
}

/* ---- parts ---- */

/* The first line. All of the text is looked at, before a cut hides what it is a part of. */
static json_t *line(const struct privacy *privacy, const char *bytes, size_t size, bool begins_late)
{
    char *copy = malloc(size + 1), *text = copy;
    if (!copy)
        return NULL;
    memcpy(copy, bytes, size);
    size = words_hide(privacy, copy, size, begins_late);
    while (size && (*text == '\n' || *text == '\r'))
        text++, size--;
    const char *end = memchr(text, '\n', size);
    size = end ? (size_t)(end - text) : size;
    json_t *first = size ? words_text(text, size < MESSAGE_BYTES ? size : MESSAGE_BYTES) : NULL;
    free(copy);
    return first;
}

/* The type of an exception, as the source has it where that is known. */
static json_t *type(const struct privacy *privacy, const lg_message *message)
{
    char name[MESSAGE_BYTES];
    return demangle_type(message->text, name, sizeof name) ? words_private(privacy, name) : line(privacy, message->text, message->size, false);
}

static void put_messages(json_t *report, lg_reader *reader, const struct privacy *privacy)
{
    lg_message *message = malloc(sizeof *message);
    for (uint32_t i = 0; message && i < 64 && lg_reader_message(reader, i, message) == LG_OK; i++) {
        const bool is_type = message->source == LG_MESSAGE_CPP_TYPE;
        const char *key = is_type ? "exception" : "message";
        /* what() says more than the C++ runtime's text around it */
        if (message->source == LG_MESSAGE_CPP_WHAT || !json_object_get(report, key))
            put(report, key, is_type ? type(privacy, message) : line(privacy, message->text, message->size, false));
    }
    free(message);
}

/* What the program said on standard error, where nothing else says why it ended. */
static void put_last_words(json_t *report, lg_reader *reader, const struct privacy *privacy)
{
    lg_message *message = malloc(sizeof *message);
    if (message && !json_object_get(report, "message") && lg_reader_last_words(reader, message) == LG_OK)
        put(report, "message", line(privacy, message->text, message->size, true));
    free(message);
}

static void put_thread(json_t *report, int32_t tid, const char *name, const struct privacy *privacy)
{
    json_t *thread = json_object();
    put(thread, "id", json_integer(tid));
    put(thread, "name", words_private(privacy, name));
    put(report, "thread", thread);
}

static void put_what(json_t *report, lg_reader *reader, const struct facts *facts, const struct privacy *privacy)
{
    const lg_verdict *verdict = &facts->verdict;
    char buffer[LG__SIGNAL_NAME_BYTES];
    lg_crash_info crash;
    lg_snapshot_info snapshot;
    struct frames *frames = calloc(1, sizeof *frames);
    put(report, "end", json_string(lg_end_name(verdict->end)));
    if (verdict->end != LG_END_RUNNING)
        put(report, "evidence", json_string(lg_evidence_sentence(verdict->evidence)));
    if (verdict->signal) {
        put(report, "signal", json_string(lg__values_signal_name(verdict->signal, buffer)));
        put(report, "signalNumber", json_integer(verdict->signal));
    }
    if (verdict->end == LG_END_EXIT)
        put(report, "exitCode", json_integer(verdict->code));
    if (facts->reason)
        put(report, "reason", line(privacy, facts->reason, strlen(facts->reason), false));
    bool is_of_record = verdict->end == LG_END_CRASH || verdict->end == LG_END_DEBUGGER || verdict->evidence == LG_EVIDENCE_DUMP_RECORD;
    if (is_of_record && verdict->end != LG_END_RUNNING && lg_reader_crash(reader, &crash) == LG_OK && !crash.handled) {
        put(report, "signalCode", json_integer(crash.code));
        const char *code = lg__values_code_name(crash.signal, crash.code);
        put(report, "signalCodeName", code ? json_string(code) : NULL);
        put(report, "kind", json_string(lg_crash_kind_name(crash.kind)));
        put(report, "what", words_string(lg__values_what(crash.kind)));
        put(report, "faultAddress", crash.has_address ? words_short_address(crash.address) : NULL);
        put_thread(report, crash.tid, crash.thread_name, privacy);
        put_messages(report, reader, privacy);
        if (frames)
            crashed_frames(reader, &crash, frames);
    } else if ((verdict->end == LG_END_HANG || verdict->end == LG_END_RUNNING) &&
               lg_reader_snapshot(reader, LG_SNAPSHOT_HANG, &snapshot) == LG_OK && !snapshot.resolved_ns) {
        put_thread(report, snapshot.tid, snapshot.name, privacy);
        if (frames)
            hung_frames(reader, frames);
    }
    put_last_words(report, reader, privacy);
    if (frames)
        put_frames(report, reader, frames, privacy);
    free(frames);
}

static void put_run(json_t *report, lg_reader *reader, const struct facts *facts, const struct privacy *privacy)
{
    lg_run_info run;
    lg_guards_info guards;
    lg_system_info info = LG_SYSTEM_INFO_INIT;
    put(report, "launching", json_boolean(facts->launching));
    if (facts->launching) {
        put(report, "context", words_private(privacy, facts->context));
        put(report, "task", words_private(privacy, facts->task));
        put(report, "streak", json_integer(facts->streak));
    }
    if (lg_reader_run(reader, &run) == LG_OK) {
        put(report, "appID", words_private(privacy, run.app_id));
        put(report, "appVersion", words_private(privacy, run.app_version));
        put(report, "buildID", words_private(privacy, run.build_id));
        put(report, "ordinal", words_number(run.ordinal));
        put(report, "started", words_time(run.wall_ns));
    }
    if (lg_reader_guards(reader, &guards) == LG_OK)
        put(report, "survivedFaults", words_nonzero(guards.survived));
    put(report, "ended", words_time(facts->ended_ns));
    put(report, "made", words_time(facts->made_ns));
    if (lg_reader_system(reader, &info) != LG_OK)
        return;
    json_t *system = json_object();
    put(system, "distribution", words_private(privacy, info.os_id));
    put(system, "distributionVersion", words_private(privacy, info.os_version));
    put(system, "kernel", words_private(privacy, info.kernel));
    put(system, "hardware", words_private(privacy, info.hardware));
    put(system, "model", words_private(privacy, info.model));
    put(system, "machineID", words_private(privacy, info.machine));
    put(report, "system", system);
}

/* ---- at most LG__REPORT_BRIEF_MAX bytes ---- */

static json_t *longest_text(json_t *object)
{
    json_t *longest = NULL, *value;
    const char *key;
    json_object_foreach(object, key, value) {
        json_t *text = json_is_object(value) ? longest_text(value) : json_is_string(value) ? value : NULL;
        if (text && (!longest || json_string_length(text) > json_string_length(longest)))
            longest = text;
    }
    return longest;
}

static bool halve(json_t *text)
{
    const char *bytes = json_string_value(text);
    size_t size = json_string_length(text) / 2;
    while (size && ((unsigned char)bytes[size] & 0xC0) == 0x80)
        size--;
    char *copy = strndup(bytes, size);
    bool done = copy && json_string_setn_nocheck(text, copy, strlen(copy)) == 0;
    free(copy);
    return done;
}

char *compose_brief(lg_reader *reader, const struct facts *facts, size_t *ret_bytes)
{
    const struct privacy privacy = { lg__secrets_read(reader, NULL), facts->keep_home };
    if (!privacy.secrets)
        return NULL;
    json_t *report = json_object();
    put(report, "schema", json_string("launchguard-report/1"));
    put(report, "uuid", json_string(facts->uuid));
    put(report, "runUUID", json_string(facts->run_uuid));
    put(report, "fingerprint", json_string(facts->fingerprint));
    put_what(report, reader, facts, &privacy);
    put_run(report, reader, facts, &privacy);
    lg__secrets_free(privacy.secrets);
    char *text = NULL;
    for (;;) {
        json_t *frames = json_object_get(report, "frames");
        text = json_dumps(report, JSON_COMPACT);
        if (!text || strlen(text) <= LG__REPORT_BRIEF_MAX)
            break;
        free(text);
        text = NULL;
        if (json_array_size(frames) > 0) {
            json_array_remove(frames, json_array_size(frames) - 1);
        } else {
            json_t *longest = longest_text(report);
            if (!longest || json_string_length(longest) <= TEXT_LEAST || !halve(longest))
                break;
        }
    }
    json_decref(report);
    if (text)
        *ret_bytes = strlen(text);
    return text;
}
