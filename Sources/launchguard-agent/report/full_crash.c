/* The crashes of a run. */
#include "report/full.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CRASHES_MAX 64u

static const char *stage_name(unsigned stage)
{
    static const char *const names[] = { NULL, "header", "context", "frames", "dwarf", "messages", "threads", "process", "done" };
    return stage < sizeof names / sizeof names[0] ? names[stage] : NULL;
}

static json_t *header(const lg_crash_info *info)
{
    json_t *object = json_object(), *stages = json_array();
    const char *code = signal_code_name(info->signal, info->code);
    put(object, "signal", full_signal(info->signal));
    put(object, "code", json_integer(info->code));
    put(object, "codeName", code ? json_string(code) : NULL);
    put(object, "kind", full_kind(info->kind));
    put(object, "address", info->has_address ? words_address(info->address) : NULL);
    put(object, "programCounter", words_address(info->pc));
    put(object, "stackPointer", words_address(info->sp));
    put(object, "framePointer", words_address(info->fp));
    put(object, "trap", words_nonzero(info->trap));
    put(object, "error", words_nonzero(info->error));
    put(object, "threadID", json_integer(info->tid));
    put(object, "threadName", words_string(info->thread_name));
    put(object, "stackLow", info->stack_low ? words_address(info->stack_low) : NULL);
    put(object, "stackHigh", info->stack_high ? words_address(info->stack_high) : NULL);
    if (info->sender_pid) {
        put(object, "senderProcessID", json_integer(info->sender_pid));
        put(object, "senderUserID", json_integer(info->sender_uid));
    }
    if (info->syscall_number >= 0 && info->kind == LG_CRASH_SYSCALL)
        put(object, "syscall", json_integer(info->syscall_number));
    put(object, "time", words_time(info->wall_ns));
    put(object, "monotonicNanoseconds", words_number(info->monotonic_ns));
    put(object, "sequence", json_integer(info->sequence));
    put(object, "isHandled", json_boolean(info->handled));
    put(object, "isSiginfoLost", info->siginfo_lost ? json_true() : NULL);
    put(object, "cutStacks", words_nonzero(info->stacks_cut));
    put(object, "isBrief", info->brief ? json_true() : NULL);
    put(object, "within", words_nonzero(info->within));
    put(object, "isExiting", info->exiting ? json_true() : NULL);
    put(object, "isOfAnyThread", info->any_thread ? json_true() : NULL);
    for (unsigned stage = 0; stage < 32; stage++)
        if (info->stages >> stage & 1 && stage_name(stage))
            json_array_append_new(stages, json_string(stage_name(stage)));
    put(object, "stages", stages);
    return object;
}

/* Returns whether an x86 breakpoint has left the program counter behind itself. */
static bool add_registers(struct full *full, json_t *crash, lg_crash_kind kind)
{
    json_t *list = json_array();
    lg_register cell;
    lg_status status = LG_OK;
    bool is_x86 = false;
    for (uint32_t i = 0; i < 256 && (status = lg_reader_register(full->reader, i, &cell)) == LG_OK; i++) {
        json_array_append_new(list, full_register(&cell));
        is_x86 |= strcmp(cell.name, "rip") == 0;
    }
    full_has(full, status, "registers");
    put_list(crash, "registers", list);
    return is_x86 && kind == LG_CRASH_BREAKPOINT;
}

static void add_notes(struct full *full, json_t *crash)
{
    json_t *list = json_array();
    lg_note note;
    lg_status status = LG_OK;
    for (uint32_t i = 0; i < 1024 && (status = lg_reader_note(full->reader, i, &note)) == LG_OK; i++) {
        json_t *object = json_object();
        put(object, "kind", json_string(note.kind == LG_NOTE_RECRASH ? "recrash" : "also-crashed"));
        put(object, "signal", full_signal(note.signal));
        put(object, "threadID", json_integer(note.tid));
        const char *stage = stage_name((unsigned)note.stage);
        put(object, "stage", stage ? json_string(stage) : NULL);
        put(object, "programCounter", words_address(note.pc));
        json_array_append_new(list, object);
    }
    full_has(full, status, "notes");
    put_list(crash, "notes", list);
}

static void add_stack(struct full *full, json_t *crash, lg_stage stage, bool exact)
{
    const char *part = stage == LG_STAGE_DWARF ? "dwarf stack" : "frame-pointers stack";
    lg_stack_info info;
    uint64_t pc;
    if (!full_has(full, lg_reader_stack(full->reader, stage, &info), part))
        return;
    json_t *frames = json_array();
    for (uint32_t i = 0; i < info.stored && full->frames_left; i++) {
        if (!full_has(full, lg_reader_frame(full->reader, stage, i, &pc), part))
            break;
        json_array_append_new(frames, full_frame(full, pc, i == 0 && exact));
    }
    put(crash, stage == LG_STAGE_DWARF ? "dwarfStack" : "framePointerStack", full_stack(&info, frames));
}

static const char *source_name(lg_message_source source, char buffer[16])
{
    switch (source) {
    case LG_MESSAGE_LIBC: return "libc";
    case LG_MESSAGE_SWIFT: return "swift";
    case LG_MESSAGE_CPP_TYPE: return "cpp-type";
    case LG_MESSAGE_CPP_WHAT: return "cpp-what";
    case LG_MESSAGE_GUARD: return "guard";
    }
    snprintf(buffer, 16, "%u", (unsigned)source);
    return buffer;
}

static void add_messages(struct full *full, json_t *crash)
{
    json_t *list = json_array();
    lg_message *message = malloc(sizeof *message);
    char buffer[16];
    for (uint32_t i = 0; message && i < 64; i++) {
        if (!full_has(full, lg_reader_message(full->reader, i, message), "messages"))
            break;
        json_t *object = json_object();
        put(object, "source", json_string(source_name(message->source, buffer)));
        put(object, "text", full_text(full, message->text, message->size));
        put(object, "isCut", json_boolean(message->cut));
        json_array_append_new(list, object);
    }
    free(message);
    put_list(crash, "messages", list);
}

static void add_resources(struct full *full, json_t *crash)
{
    json_t *all = json_object();
    lg_resource resource;
    for (uint32_t i = 0; i < 256 && lg_reader_resource(full->reader, i, &resource) == LG_OK; i++) {
        if (!resource.known)
            continue;
        json_t *object = json_object(), *name = words_string(resource.name);
        put(object, "value", resource.value == UINT64_MAX ? NULL : words_number(resource.value));
        put(object, "unit", words_text(resource.unit, strlen(resource.unit)));
        put(all, name ? json_string_value(name) : "", object);
        json_decref(name);
    }
    if (json_object_size(all))
        put(crash, "resources", all);
    else
        json_decref(all);
}

/* The selected crash. */
static json_t *crash_json(struct full *full)
{
    lg_crash_info info;
    lg_stack_choice choice;
    if (!full_has(full, lg_reader_crash(full->reader, &info), "crash header"))
        return NULL;
    json_t *crash = header(&info);
    bool exact = !add_registers(full, crash, info.kind);
    add_notes(full, crash);
    add_stack(full, crash, LG_STAGE_FRAMES, exact);
    add_stack(full, crash, LG_STAGE_DWARF, exact);
    if (lg_reader_stack_choice(full->reader, &choice) == LG_OK && choice.disagree)
        put(crash, "stackDisagreement", words_string(choice.reason));
    full->is_complete = info.stages >> LG_STAGE_DONE & 1;
    add_messages(full, crash);
    add_resources(full, crash);
    full_add_threads(full, crash);
    full->is_complete = false;
    return crash;
}

void full_add_crashes(struct full *full)
{
    uint32_t count = 0, end = 0;
    lg_crash_info info;
    lg_status counted = lg_reader_crash_count(full->reader, &count);
    full_has(full, counted, "brief records");
    count = count < CRASHES_MAX ? count : CRASHES_MAX;
    if (counted == LG_OK && !count)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (lg_reader_select_crash(full->reader, i) == LG_OK && lg_reader_crash(full->reader, &info) == LG_OK && info.is_end)
            end = i;
    /* the one that counts goes first, that it has its frames whatever the others have */
    lg_reader_select_crash(full->reader, end);
    put(full->report, "crash", crash_json(full));
    json_t *others = json_array();
    full->prefix = "another crash: ";
    for (uint32_t i = 0; i < count; i++)
        if (i != end && lg_reader_select_crash(full->reader, i) == LG_OK) {
            json_t *crash = crash_json(full);
            if (crash)
                json_array_append_new(others, crash);
        }
    full->prefix = "";
    put_list(full->report, "otherCrashes", others);
    lg_reader_select_crash(full->reader, end);
}
