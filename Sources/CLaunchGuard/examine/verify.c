/* Checking every block of a file. */
#include <stdio.h>

#include "read/reader.h"

struct check {
    lg_verify_callback callback;
    void *user;
    bool damaged;
};

static void report_block(struct check *check, const char *block, lg_status status, const char *detail)
{
    if (status == LG_ERR_DAMAGED)
        check->damaged = true;
    if (check->callback)
        check->callback(block, status, detail, check->user);
}

/* Whether the values of a whole block are consistent. */
static lg_status check_content(lg_reader *reader, unsigned stage)
{
    lg_stack_info stack;
    struct lg__crash_async async;
    struct lg__reader_chains chains;
    struct lg__crash_messages messages;
    struct lg__reader_process process;
    switch (stage) {
    case LG_STAGE_FRAMES:
    case LG_STAGE_DWARF: return lg_reader_stack(reader, (lg_stage)stage, &stack);
    case LG_STAGE_ASYNC: return lg__reader_async(reader, &async, &chains);
    case LG_STAGE_MESSAGES: return lg__reader_messages(reader, &messages);
    case LG_STAGE_PROCESS: return lg__reader_process(reader, &process, NULL, 0);
    default: return LG_OK;
    }
}

/* The record that holds the selected crash. */
static void verify_record(lg_reader *reader, const char *record, struct check *check)
{
    static const struct { unsigned stage; const char *name; } stages[] = {
        { LG_STAGE_HEADER, "crash header" },     { LG_STAGE_CONTEXT, "context" },
        { LG_STAGE_FRAMES, "frame-pointer frames" }, { LG_STAGE_DWARF, "DWARF frames" },
        { LG_STAGE_ASYNC, "asynchronous callers" },
        { LG_STAGE_MESSAGES, "messages" },       { LG_STAGE_THREADS, "other threads, counted" },
        { LG_STAGE_PROCESS, "process" },         { LG_STAGE_DONE, "done" },
    };
    char detail[160], name[64];
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        size_t size = 0;
        lg_status status = lg__reader_stage(reader, stages[i].stage, NULL, 0, &size);
        if (status == LG_ERR_NOT_FOUND)
            continue; /* there was no space for it, or a brief record */
        if (status == LG_ERR_INCOMPLETE && stages[i].stage == LG_STAGE_ASYNC)
            continue; /* no chain was found */
        snprintf(name, sizeof name, "%s: %s", record, stages[i].name);
        if (status == LG_OK && check_content(reader, stages[i].stage) == LG_ERR_DAMAGED) {
            report_block(check, name, LG_ERR_DAMAGED, "a number in it is out of bounds");
            continue;
        }
        if (status == LG_OK)
            snprintf(detail, sizeof detail, "committed, %zu bytes, checksum right", size);
        else
            snprintf(detail, sizeof detail, "%s", status == LG_ERR_INCOMPLETE ? "not committed" : "commit word, bounds or checksum wrong");
        report_block(check, name, status, detail);
    }
}

static void verify_briefs(lg_reader *reader, struct check *check)
{
    char text[64];
    uint32_t count, bytes, used = 0;
    lg_status status = lg__reader_briefs(reader, &count, &bytes);
    if (status == LG_ERR_NOT_FOUND)
        return; /* there was no space for it */
    if (status != LG_OK) {
        report_block(check, "brief records", status, "bounds wrong");
        return;
    }
    for (uint32_t place = 1; place <= count; place++) {
        if (lg__reader_stage_at(reader, place, LG_STAGE_HEADER, NULL, 0, NULL) == LG_ERR_INCOMPLETE)
            continue; /* it holds nothing */
        used++;
        reader->place = place;
        snprintf(text, sizeof text, "brief record %u", place - 1);
        verify_record(reader, text, check);
    }
    reader->place = LG__PLACE_RECORD;
    snprintf(text, sizeof text, "%u places, %u used", count, used);
    report_block(check, "brief records", LG_OK, text);
}

static void verify_threads(lg_reader *reader, struct check *check)
{
    char detail[160];
    lg_threads_info threads;
    uint32_t whole = 0, unwalked = 0;
    lg_status status = lg_reader_threads(reader, &threads);
    if (status == LG_ERR_NOT_FOUND)
        return;
    if (status != LG_OK) {
        report_block(check, "threads", status, "bounds wrong");
        return;
    }
    for (uint32_t i = 0; i < threads.stored; i++) {
        struct lg__thread slot;
        lg_status walk = LG_ERR_INCOMPLETE, one = lg__reader_slot(reader, i, &slot, &walk);
        whole += one == LG_OK;
        unwalked += one == LG_OK && walk == LG_ERR_INCOMPLETE;
        if (one == LG_OK && walk != LG_ERR_DAMAGED)
            continue;
        snprintf(detail, sizeof detail, "slot %u: %s", i, one == LG_OK ? "the checksum or a number of its walk is wrong"
                 : one == LG_ERR_INCOMPLETE ? "not committed" : "commit word, bounds or checksum wrong");
        report_block(check, "threads: slot", one == LG_OK ? walk : one, detail);
    }
    snprintf(detail, sizeof detail, "%u stored, %u whole, %u without a walk", threads.stored, whole, unwalked);
    report_block(check, "threads", LG_OK, detail);
}

static void verify_memory(lg_reader *reader, struct check *check)
{
    char detail[160];
    lg_memory_info memory;
    uint32_t chunks = 0;
    unsigned long long bytes = 0;
    lg_status status;
    while ((status = lg_reader_memory(reader, chunks, &memory)) == LG_OK) {
        chunks++;
        bytes += memory.size;
    }
    if (status == LG_ERR_NOT_FOUND && !chunks)
        return;
    struct lg__reader_process process;
    uint32_t cut = lg__reader_process(reader, &process, NULL, 0) == LG_OK ? process.stacks_cut : 0;
    snprintf(detail, sizeof detail, "%u chunks, %llu bytes, %u of them cut for lack of room%s", chunks, bytes, cut,
             status == LG_ERR_NOT_FOUND ? "" : "; then one that is damaged");
    report_block(check, "stack memory", status == LG_ERR_NOT_FOUND ? LG_OK : status, detail);
}

static void verify_tail(lg_reader *reader, struct check *check)
{
    char detail[160];
    uint8_t bytes[LG__TAIL_BYTES];
    size_t size = 0;
    uint64_t total = 0;
    lg_status status = lg_reader_stderr(reader, bytes, &size, &total);
    if (status == LG_ERR_NOT_FOUND)
        return;
    snprintf(detail, sizeof detail, "%zu of %llu bytes", size, (unsigned long long)total);
    report_block(check, "standard error", status, status == LG_OK ? detail : "bounds wrong");
}

static void verify_log(lg_reader *reader, struct check *check)
{
    char detail[160];
    lg_log_info log;
    lg_log_entry entry;
    lg_status status = lg_reader_log(reader, &log);
    if (status != LG_OK) {
        report_block(check, "ring log", status, "header, bounds or checksum wrong");
        return;
    }
    uint64_t damaged = 0;
    for (uint64_t i = 0; i < log.entries; i++)
        damaged += lg_reader_log_entry(reader, i, &entry) != LG_OK || entry.damaged;
    snprintf(detail, sizeof detail, "%llu entries, %llu torn and skipped, %llu of an unknown kind, %llu refused, %llu entries and %llu bytes overwritten",
             (unsigned long long)log.entries, (unsigned long long)log.torn, (unsigned long long)log.unknown, (unsigned long long)log.refused,
             (unsigned long long)log.overwritten_entries, (unsigned long long)log.overwritten_bytes);
    if (damaged)
        snprintf(detail, sizeof detail, "%llu entries, %llu of them with sizes that contradict each other", (unsigned long long)log.entries, (unsigned long long)damaged);
    report_block(check, "ring log", damaged ? LG_ERR_DAMAGED : LG_OK, detail);
}

static void verify_annotations(lg_reader *reader, struct check *check)
{
    char detail[160];
    lg_annotation annotation;
    uint32_t values = 0, redacted = 0, whole = 0;
    if (!lg__reader_has_section(reader, LG__SECTION_ANNOTATIONS))
        return; /* there was no space for it */
    for (uint32_t i = 0; i < LG__ANNOTATIONS; i++) {
        lg_status status = lg_reader_annotation(reader, i, &annotation);
        if (status == LG_ERR_NOT_FOUND)
            continue;
        if (status != LG_OK) {
            snprintf(detail, sizeof detail, "place %u: %s", i, status == LG_ERR_DAMAGED ? "checksum or bounds wrong" : "it changes too fast");
            report_block(check, "annotations: one", status, detail);
            continue;
        }
        whole++;
        values += annotation.has_value;
        redacted += annotation.redacted;
    }
    snprintf(detail, sizeof detail, "%u keys, %u with a value, %u redacted", whole, values, redacted);
    report_block(check, "annotations", LG_OK, detail);
}

static void verify_system(lg_reader *reader, struct check *check)
{
    lg_system_info system = LG_SYSTEM_INFO_INIT;
    lg_status status = lg_reader_system(reader, &system);
    report_block(check, "system", status,
                 status == LG_OK ? "checksum right" : status == LG_ERR_INCOMPLETE ? "not committed" : "commit word, bounds or checksum wrong");
}

static void verify_owners(lg_reader *reader, struct check *check)
{
    char detail[160];
    bool whole = true;
    for (uint32_t i = 0; i < LG__CONTEXTS; i++) {
        struct lg__owner owner;
        if (lg__reader_owner(reader, i, &owner) == LG_OK)
            continue;
        whole = false;
        snprintf(detail, sizeof detail, "context %u: bounds wrong, or the list of modules has no end", i);
        report_block(check, "owners: context", LG_ERR_DAMAGED, detail);
    }
    if (whole)
        report_block(check, "owners", LG_OK, "in bounds");
}

static void verify_pulse(lg_reader *reader, struct check *check)
{
    char detail[160];
    lg_heartbeat_info heartbeat;
    lg_deadline_info deadline;
    uint32_t heartbeats = 0, deadlines = 0;
    if (!lg__reader_has_section(reader, LG__SECTION_PULSE))
        return; /* there was no space for it */
    while (lg_reader_heartbeat(reader, heartbeats, &heartbeat) == LG_OK)
        heartbeats++;
    while (lg_reader_deadline(reader, deadlines, &deadline) == LG_OK)
        deadlines++;
    snprintf(detail, sizeof detail, "%u heartbeats, %u deadlines", heartbeats, deadlines);
    lg_status status = lg_reader_heartbeat(reader, heartbeats, &heartbeat);
    report_block(check, "pulse", status == LG_ERR_NOT_FOUND ? LG_OK : status, status == LG_ERR_NOT_FOUND ? detail : "bounds wrong");
}

static void verify_snapshot(lg_reader *reader, uint32_t kind, const char *name, struct check *check)
{
    char detail[160];
    struct lg__snapshot snapshot;
    struct lg__reader_slots slots;
    lg_snapshot_info info;
    lg_status status = lg__reader_snapshot(reader, kind, &snapshot, &slots);
    if (status == LG_OK)
        status = lg_reader_snapshot(reader, (lg_snapshot_kind)kind, &info);
    if (status == LG_ERR_NOT_FOUND)
        return; /* none was taken, or there was no space */
    if (status != LG_OK) {
        report_block(check, name, status, "commit word, bounds or checksum wrong");
        return;
    }
    uint32_t whole = 0;
    for (uint32_t i = 0; i < info.stored; i++) {
        struct lg__thread slot;
        lg_status walk = LG_ERR_INCOMPLETE, one = lg__reader_slot_of(reader, &slots, i, &slot, &walk);
        whole += one == LG_OK;
        if (one == LG_ERR_DAMAGED || (one == LG_OK && walk == LG_ERR_DAMAGED)) {
            snprintf(detail, sizeof detail, "slot %u: commit word, bounds or checksum wrong", i);
            report_block(check, name, LG_ERR_DAMAGED, detail);
        }
    }
    lg_status counts = lg__reader_snapshot_counts(&snapshot);
    if (counts != LG_OK)
        report_block(check, name, counts, counts == LG_ERR_INCOMPLETE ? "its counts: not committed" : "its counts: commit word or checksum wrong");
    snprintf(detail, sizeof detail, "%u stored, %u whole", info.stored, whole);
    report_block(check, name, LG_OK, detail);
}

static void verify_guards(lg_reader *reader, struct check *check)
{
    char detail[160];
    lg_guards_info guards;
    lg_guard_info site;
    lg_status status = lg_reader_guards(reader, &guards);
    if (status == LG_ERR_NOT_FOUND)
        return; /* a program without guards, or there was no space */
    for (uint32_t i = 0; i <= LG_GUARD_SITES_MAX; i++) {
        if (lg_reader_guard(reader, i, &site) != LG_OK || !site.damaged)
            continue;
        snprintf(detail, sizeof detail, "site %u: commit word, bounds or checksum wrong", i);
        report_block(check, "guards: site", LG_ERR_DAMAGED, detail);
    }
    if (status == LG_OK)
        snprintf(detail, sizeof detail, "%u sites, %llu events, %llu survived", guards.sites, (unsigned long long)guards.events,
                 (unsigned long long)guards.survived);
    report_block(check, "guards", status, status == LG_OK ? detail : "bounds wrong");
}

static void verify_run(lg_reader *reader, struct check *check)
{
    char detail[160];
    struct lg__identity identity;
    lg_status status = lg__reader_identity(reader, &identity);
    report_block(check, "identity", status, status == LG_OK ? "checksum right" : "checksum or bounds wrong");

    lg_run_info info;
    status = status == LG_OK ? lg_reader_run(reader, &info) : LG_ERR_DAMAGED;
    report_block(check, "state", status, status == LG_OK ? "in bounds" : "not readable");
    for (uint32_t i = 0; status == LG_OK && i < info.context_count; i++) {
        lg_run_context context;
        lg_status one = lg_reader_run_context(reader, i, &context);
        snprintf(detail, sizeof detail, "context %u: %s", i, one == LG_OK ? "in bounds" : "a value is out of bounds");
        report_block(check, "state: context", one, detail);
    }

    verify_system(reader, check);
    verify_owners(reader, check);
    verify_annotations(reader, check);
    uint32_t selected = reader->place;
    reader->place = LG__PLACE_RECORD;
    verify_record(reader, "record", check);
    verify_threads(reader, check);
    verify_memory(reader, check);
    verify_briefs(reader, check);
    reader->place = selected;
    verify_tail(reader, check);
    verify_pulse(reader, check);
    verify_guards(reader, check);
    verify_snapshot(reader, LG_SNAPSHOT_HANG, "snapshot: hang", check);
    verify_snapshot(reader, LG_SNAPSHOT_DEADLINE, "snapshot: deadline", check);
    verify_snapshot(reader, LG_SNAPSHOT_MEMORY, "snapshot: memory", check);

    lg_module module;
    uint32_t modules = 0, omitted = 0;
    while ((status = lg_reader_module(reader, modules, &module)) == LG_OK)
        modules++;
    lg_reader_modules_omitted(reader, &omitted);
    snprintf(detail, sizeof detail, omitted ? "%u modules, %u more had no room" : "%u modules", modules, omitted);
    report_block(check, "modules", status == LG_ERR_NOT_FOUND ? LG_OK : status,
        status == LG_ERR_INCOMPLETE ? "not committed" : status == LG_ERR_DAMAGED ? "checksum or bounds wrong" : detail);

    verify_log(reader, check);
}

static void verify_ledger(lg_reader *reader, struct check *check)
{
    struct lg__slot slot;
    uint32_t valid = 0;
    lg_status status = lg__reader_payload(reader, &slot, &valid);
    char detail[160] = "neither slot is whole";
    struct lg__hot hot;
    bool hot_there = lg__reader_block(reader, LG__SECTION_HOT, 0, &hot, sizeof hot);
    report_block(check, "hot page", hot_there ? LG_OK : LG_ERR_DAMAGED, hot_there ? "in bounds" : "bounds wrong");
    if (status == LG_OK)
        snprintf(detail, sizeof detail, "generation %llu, %u contexts, %u runs, %u bytes", (unsigned long long)slot.generation,
                 slot.payload.context_count, slot.payload.timeline_count, slot.size);
    report_block(check, "book", status, detail);
    /* One slot may be empty or half written: that is what the other is for. */
    report_block(check, "slot A", valid & 1 ? LG_OK : LG_ERR_INCOMPLETE, valid & 1 ? "checksum and bounds right" : "empty, half written or damaged");
    report_block(check, "slot B", valid & 2 ? LG_OK : LG_ERR_INCOMPLETE, valid & 2 ? "checksum and bounds right" : "empty, half written or damaged");
}

lg_status lg_reader_verify(lg_reader *reader, lg_verify_callback callback, void *user)
{
    if (!reader)
        return LG_ERR_ARGUMENT;
    struct check check = { callback, user, false };
    report_block(&check, "header", LG_OK, "checksum right");
    if (reader->header.total_bytes != reader->file_size)
        report_block(&check, "size", LG_ERR_DAMAGED, "the file is not as long as its header says");
    if (reader->kind == LG_FILE_RUN)
        verify_run(reader, &check);
    else
        verify_ledger(reader, &check);
    return check.damaged ? LG_ERR_DAMAGED : LG_OK;
}
