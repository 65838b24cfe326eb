/* The fingerprint of a run, which is the coarse key of docs/FINGERPRINT.md, and its place. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "read/crashes.h"
#include "read/innermost.h"
#include "read/reader.h"
#include "read/wording.h"
#include "read/verdict.h"
#include "store/digest.h"

/* Changes with the rules for the input of the digest. */
static const uint8_t version_2[16] = { 'L', 'G', ' ', 'f', 'i', 'n', 'g', 'e', 'r', 'p', 'r', 'i', 'n', 't', ' ', '2' };

/* The input of the digest: lines of text. A line without room is left out. */
struct inputs {
    size_t size;
    char text[8192];
};

static void add(struct inputs *inputs, const char *what, const char *format, ...) LG_PRINTF(3, 4);

static void add(struct inputs *inputs, const char *what, const char *format, ...)
{
    char value[1100], *line = inputs->text + inputs->size;
    size_t room = sizeof inputs->text - inputs->size;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    int size = snprintf(line, room, "%s %s\n", what, value);
    if (size > 0 && (size_t)size < room)
        inputs->size += (size_t)size;
}

/* ---- the reason ---- */

static void add_message(struct inputs *inputs, const struct lg__case *file, const lg_message *message)
{
    char line[LG__WORDING_BYTES];
    if (lg__wording(file->crash.kind, message, line))
        add(inputs, "message", "%d %s", (int)message->source, line);
}

/* Faults of one instruction, whatever is wrong with its pointer. */
static const char *kind_name(lg_crash_kind kind)
{
    switch ((int)kind) {
    case LG_CRASH_NULL_READ:
    case LG_CRASH_NULL_WRITE:
    case LG_CRASH_NULL_OFFSET:
        return "fault.null";
    case LG_CRASH_UNMAPPED:
    case LG_CRASH_NON_CANONICAL:
    case LG_CRASH_PROTECTED:
    case LG_CRASH_READONLY_WRITE:
        return "fault.wild";
    case LG_CRASH_JUMP_BAD:
    case LG_CRASH_EXEC_NX:
        return "fault.jump_wild";
    default:
        return lg_crash_kind_name(kind);
    }
}

/* ---- the frames ---- */

static void add_frames(struct inputs *inputs, const struct lg__innermost_walk *walk)
{
    struct lg__innermost_place places[LG__INNERMOST_MAX];
    const uint32_t count = lg__innermost(walk, places);
    for (uint32_t i = 0; i < count; i++) {
        const struct lg__innermost_place *place = &places[i];
        if (place->build_id[0])
            add(inputs, "frame", "%s %s+%llx", place->module, place->build_id, (unsigned long long)place->address);
        else
            add(inputs, "frame", "%s /%llx+%llx", place->module, (unsigned long long)place->bytes, (unsigned long long)place->address);
    }
}

/* The walk of the thread that hung. */
static bool find_hang(lg_reader *reader, struct lg__innermost_walk *ret_walk)
{
    lg_snapshot_info snapshot;
    lg_thread_info thread;
    struct lg__innermost_walk walk = { .reader = reader, .of_hang = true, .most = LG__INNERMOST_FEW, .anywhere = true };
    if (lg_reader_snapshot(reader, LG_SNAPSHOT_HANG, &snapshot) != LG_OK || snapshot.resolved_ns)
        return false;
    for (; walk.thread < snapshot.stored; walk.thread++)
        if (lg_reader_snapshot_thread(reader, LG_SNAPSHOT_HANG, walk.thread, &thread) == LG_OK && thread.tid == snapshot.tid) {
            *ret_walk = walk;
            return true;
        }
    return false;
}

static bool is_fault(lg_crash_kind kind)
{
    return strncmp(lg_crash_kind_name(kind), "fault.", 6) == 0 && kind != LG_CRASH_STACK_OVERFLOW;
}

/* The runtime that ends a program so is a part of the program's file. */
static bool is_static(lg_reader *reader, lg_crash_kind kind)
{
    const char *runtime = "libc.";
    if (kind == LG_CRASH_ABORT_CPP_EXCEPTION)
        runtime = lg__innermost_has_module(reader, "libc++") ? "libc++" : "libstdc++";
    else if (strncmp(lg_crash_kind_name(kind), "trap.swift.", 11) == 0)
        runtime = "libswiftCore";
    return !lg__innermost_has_module(reader, runtime);
}

/* So many places count. */
static uint32_t most_places(lg_reader *reader, lg_crash_kind kind)
{
    if (is_static(reader, kind))
        return is_fault(kind) ? LG__INNERMOST_FEW : LG__INNERMOST_MAX;
    /* a program that ends itself may have functions for that: loggers, checks */
    return is_fault(kind) || kind == LG_CRASH_ABORT_CPP_EXCEPTION ? 2 : LG__INNERMOST_FEW;
}

/* The walk of the thread that died. */
static bool find_crash(const struct lg__case *file, struct lg__innermost_walk *ret_walk)
{
    const lg_crash_kind kind = file->crash.kind;
    lg_stack_choice choice;
    if (!file->died || lg_reader_stack_choice(file->reader, &choice) != LG_OK)
        return false;
    *ret_walk = (struct lg__innermost_walk){
        .reader = file->reader,
        .stage = choice.stage,
        .anywhere = kind == LG_CRASH_SIGNAL_EXTERNAL || kind == LG_CRASH_LIMIT_CPU,
        .overflowed = kind == LG_CRASH_STACK_OVERFLOW,
        /* the target of such a jump is not the place from which the program jumped */
        .from = kind == LG_CRASH_JUMP_BAD || kind == LG_CRASH_EXEC_NX,
        .most = most_places(file->reader, kind),
    };
    return true;
}

/* ---- all of it ---- */

static void add_tasks(struct inputs *inputs, lg_reader *reader, uint32_t count)
{
    lg_run_context context;
    for (uint32_t i = 0; i < count; i++)
        if (lg_reader_run_context(reader, i, &context) == LG_OK && context.task[0])
            add(inputs, "task", "%s %s", context.name, context.task);
}

/* A witness or a record: the crash is the same. */
static void add_crash(struct inputs *inputs, const struct lg__case *file)
{
    struct lg__innermost_walk walk;
    lg_message message;
    add(inputs, "signal", "%d", file->verdict.signal);
    if (file->run.crash_noted_ns)
        add(inputs, "noted", "%s", file->run.crash_type);
    if (!file->died)
        return;
    add(inputs, "kind", "%s", kind_name(file->crash.kind));
    for (uint32_t i = 0; lg_reader_message(file->reader, i, &message) == LG_OK; i++)
        add_message(inputs, file, &message);
    if (find_crash(file, &walk))
        add_frames(inputs, &walk);
}

static void collect(struct inputs *inputs, const struct lg__case *file)
{
    const lg_verdict *verdict = &file->verdict;
    struct lg__innermost_walk walk;
    add(inputs, "app", "%s", file->run.app_id);
    add(inputs, "end", "%s", lg_end_name(verdict->end));
    if (verdict->end == LG_END_CRASH) {
        add_crash(inputs, file);
        return;
    }
    add(inputs, "evidence", "%d", (int)verdict->evidence);
    if (verdict->end == LG_END_EXIT)
        add(inputs, "code", "%d", verdict->code);
    if (verdict->end == LG_END_TERMINATED)
        add(inputs, "signal", "%d", verdict->signal);
    add_tasks(inputs, file->reader, file->run.context_count);
    if (find_hang(file->reader, &walk))
        add_frames(inputs, &walk);
}

lg_status lg_reader_fingerprint(lg_reader *reader, char ret_hex[33])
{
    return lg_reader_fingerprint_of(reader, NULL, ret_hex);
}

lg_status lg_reader_fingerprint_of(lg_reader *reader, const lg_verdict *end, char ret_hex[33])
{
    struct lg__case file;
    uint8_t digest[16];
    if (!reader || !ret_hex)
        return LG_ERR_ARGUMENT;
    uint32_t selected = lg__crashes_select_end(reader);
    lg_status status = lg__reader_case(reader, false, &file);
    if (status == LG_OK) {
        struct inputs inputs = { .size = 0 };
        if (end)
            file.verdict = *end;
        collect(&inputs, &file);
        lg__digest_keyed(version_2, inputs.text, inputs.size, digest);
        lg__reader_hex(ret_hex, digest, sizeof digest);
    }
    lg__crashes_select(reader, selected);
    return status;
}

lg_status lg_reader_place(lg_reader *reader, char ret_place[LG_PLACE_BYTES])
{
    struct lg__case file;
    struct lg__innermost_walk walk;
    struct lg__innermost_place places[LG__INNERMOST_MAX];
    if (!reader || !ret_place)
        return LG_ERR_ARGUMENT;
    uint32_t selected = lg__crashes_select_end(reader);
    lg_status status = lg__reader_case(reader, false, &file);
    if (status == LG_OK) {
        const bool found = find_crash(&file, &walk) || find_hang(reader, &walk);
        if (found && lg__innermost(&walk, places) > 0)
            snprintf(ret_place, LG_PLACE_BYTES, "%s+0x%llx", places[0].module, (unsigned long long)places[0].address);
        else
            status = LG_ERR_NOT_FOUND;
    }
    lg__crashes_select(reader, selected);
    return status;
}
