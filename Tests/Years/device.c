#include "device.h"

#include <stdio.h>
#include <string.h>

#include "launch/hinted.h"
#include "launch/suspects.h"
#include "launch/versions.h"
#include "launch/wish.h"
#include "launchguard/repair.h"
#include "launchguard/task.h"
#include "os/os.h"
#include "store/given.h"
#include "store/hint.h"

/* No CPU here: checksums are computed by their table. */
bool lg__arch_has_crc32c(void)
{
    return false;
}

const char *const device_tasks[TASKS] = { "a", "b", "c" };

void device_new(struct device *device, const struct program *program)
{
    memset(device, 0, sizeof *device);
    device->ledger.context_count = program->neighbour ? 2 : 1;
    strcpy(device->ledger.contexts[0].name, "main");
    strcpy(device->ledger.contexts[1].name, "neighbour");
    device->now = (struct lg__moment){ .boot_id = { 1 }, .boottime_ns = 30 * SECOND_NS, .wall_ns = UINT64_C(1700000000) * SECOND_NS };
}

static bool is_suspect(struct device *device, const struct program *program, unsigned task)
{
    return lg__suspects_has(device_context(device), device_tasks[task], program->tasks[task]);
}

void device_take_hint(struct device *device)
{
    struct hint *hint = &device->hint;
    struct lg__hint stored = { .said = { .serial = hint->serial, .kind = hint->kind, .expires_ns = hint->expires_ns } };
    if (hint->kind == LG_HINT_LEAVE_OUT)
        strcpy(stored.said.name, hint->what < TASKS ? device_tasks[hint->what] : "nothing");
    else if (hint->kind == LG_HINT_REPAIR)
        stored.said.name[0] = (char)('A' + hint->what);
    else
        snprintf(stored.said.name, sizeof stored.said.name, "%u", hint->what);
    strcpy(stored.said.context, device->ledger.contexts[0].name);
    stored.crc = lg__hint_crc(&stored);
    hint->stored = stored;
}

static bool leaves_out(const struct device *device, unsigned task)
{
    const struct hint *hint = &device->hint;
    return hint->kind == LG_HINT_LEAVE_OUT && hint->what == task && lg__hint_is_in_force(&hint->stored, device->ledger.contexts[0].name, device->now.wall_ns);
}

static struct lg__hinted hinted(const struct device *device, const struct lg__policy *policy)
{
    char version[16] = "";
    if (device->hint.kind == LG_HINT_HOLD_BELOW)
        snprintf(version, sizeof version, "%u", device->version);
    return lg__hinted_find(&device->hint.stored, &device->ledger.contexts[0], version, policy, device->now.wall_ns);
}

/* TASKS: none is. */
static unsigned first_suspect(struct device *device, const struct program *program)
{
    unsigned most = TASKS;
    uint32_t crashes = 0;
    for (unsigned i = 0; i < TASKS; i++)
        if (is_suspect(device, program, i) && !leaves_out(device, i) && lg__suspects_crashes(device_context(device), device_tasks[i]) > crashes) {
            most = i;
            crashes = lg__suspects_crashes(device_context(device), device_tasks[i]);
        }
    return most;
}

static struct lg__policy policy_of(struct device *device, const struct program *program)
{
    struct lg__policy policy = { .report_after = program->report_after, .repair_after = program->repair_after, .unknown_after = program->unknown_after,
                                 .count = LG_COUNT_DEFAULT, .safe_retry_runs = program->safe_retry_runs, .safe_retry_max = LG__GIVEN_RETRY_RUNS_MAX,
                                 .safe_crash_limit = program->safe_crash_limit, .deescalate_runs = program->deescalate_runs,
                                 .deescalate_ms = LG__GIVEN_DAY_MS, .steady_ms = STEADY_S * 1000u, .asks = program->asks, .by_hand = program->by_hand,
                                 .rung_count = program->repair_count + 1 };
    policy.skippable = program->leaves_out && first_suspect(device, program) < TASKS;
    policy.rungs[0] = (struct lg__ledger_rung){ .attempts = 1, .flags = LG__RUNG_BUILT_IN };
    for (uint32_t i = 0; i < program->repair_count; i++) {
        const struct repair *repair = &program->repairs[i];
        struct lg__ledger_rung *rung = &policy.rungs[i + 1];
        rung->name[0] = (char)('A' + i);
        rung->attempts = repair->attempts;
        rung->flags = (repair->destructive ? LG_REPAIR_DESTRUCTIVE : 0) | (repair->consent ? LG_REPAIR_CONSENT : 0) | (repair->restart ? LG_REPAIR_NEEDS_RESTART : 0);
    }
    return policy;
}

/* As the ledger compares it; 0 is none. */
static uint32_t program_of(uint32_t version)
{
    return version + 1;
}

/* ---- the files ---- */

static bool is_first(const struct device *device, uint64_t ordinal)
{
    for (uint32_t i = 0; i < device->ledger.context_count; i++)
        if (device->ledger.contexts[i].first_ordinal == ordinal)
            return true;
    return false;
}

static void delete_file(struct device *device, uint32_t index)
{
    device->file_count--;
    memmove(&device->files[index], &device->files[index + 1], (device->file_count - index) * sizeof device->files[0]);
}

/* As a start does on a full disk, which finds no room after the first run that gives way, or none
 * at all. */
static void make_room(struct device *device, const struct program *program, uint64_t last)
{
    lg__retention_choice_order(device->files, device->file_count, program->limits.runs);
    for (uint32_t i = device->file_count; i-- > 0;)
        if (device->files[i].ordinal < last && (device->disk == DISK_FULL || !device->files[i].first)) {
            delete_file(device, i);
            if (device->disk == DISK_TIGHT)
                break;
        }
}

static void foresee(struct device *device, const struct program *program)
{
    static struct lg__ended_run kept[FILES];
    uint64_t bytes = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < device->file_count; i++) {
        bytes += device->files[i].size;
        if (!device->files[i].first)
            kept[count++] = device->files[i];
    }
    const struct lg__retention_forecast forecast = lg__retention_choice_foresee(kept, count, &program->limits, bytes, FILE_BYTES);
    device->from = device->runs + 1 + forecast.unused;
    device->until = device->runs + 1 + forecast.starts;
    for (uint64_t i = 0; forecast.unused + i < forecast.starts; i++)
        device->listed[i] = kept[count - 1 - i];
}

/* false: the list does not help. */
static bool delete_listed(struct device *device)
{
    const uint64_t index = device->runs - device->from;
    for (uint32_t i = 0; i < device->file_count; i++)
        if (device->files[i].ordinal == device->listed[index].ordinal && !device->files[i].first) {
            if (device->files[i].owed)
                return false;
            delete_file(device, i);
            break;
        }
    return true;
}

static void give_way(struct device *device, const struct program *program)
{
    for (uint32_t i = 0; i < device->file_count; i++)
        device->files[i].first = is_first(device, device->files[i].ordinal);
    if (device->disk == DISK_TIGHT || device->disk == DISK_FULL)
        make_room(device, program, device->runs - 1);
    const bool listed = device->runs < device->until, helps = !listed || device->runs < device->from || delete_listed(device);
    if (listed && helps && device->runs + 1 < device->until)
        return;
    lg__retention_choice_make(device->files, device->file_count, &program->limits);
    for (uint32_t i = device->file_count; i-- > 0;)
        if (device->files[i].gives_way)
            delete_file(device, i);
    device->beyond = 0;
    for (uint32_t i = 0; i < device->file_count; i++)
        device->beyond += device->files[i].owed || device->files[i].first;
    foresee(device, program);
}

bool device_has_file(const struct device *device, uint64_t ordinal)
{
    for (uint32_t i = 0; i < device->file_count; i++)
        if (device->files[i].ordinal == ordinal)
            return true;
    return false;
}

void device_report(struct device *device)
{
    for (uint32_t i = 0; i < device->file_count; i++)
        device->files[i].owed = false;
}

static void add_file(struct device *device, const struct program *program, lg_end end)
{
    if (device->file_count == FILES)
        delete_file(device, 0);
    const bool bad = lg_end_is_bad(end);
    device->files[device->file_count++] = (struct lg__ended_run){ .ordinal = device->runs, .size = FILE_BYTES, .quiet = !bad, .owed = bad && program->delivers };
}

/* ---- a run ---- */

enum lg__account device_start(struct device *device, const struct program *program, uint32_t version, enum disk disk, bool *ret_anew)
{
    const uint32_t before = program_of(device->version), now = program_of(version);
    enum lg__account accounts[2] = { LG__ACCOUNT_NOTHING, LG__ACCOUNT_NOTHING };
    *ret_anew = device->has_run && lg__versions_begin_anew(&device->ledger, before, now);
    if (device->has_run) {
        const struct lg__ledger_run *entry = lg__account_end(&device->ledger, &device->last, before, now);
        for (uint32_t i = 0; i < 2; i++)
            accounts[i] = entry->counted & 1u << i ? LG__ACCOUNT_COUNTS : entry->late & 1u << i ? LG__ACCOUNT_LATE : LG__ACCOUNT_NOTHING;
    }
    device->version = version;
    device->ledger.last_ordinal = ++device->runs;
    device->has_run = true;
    device->disk = disk;
    device->neighbour = accounts[1];
    give_way(device, program);
    return accounts[0];
}

/* All moments of a run are counted from its start. */
#define MARK_NS SECOND_NS

static void see_end(struct lg__last_run *last, const struct lg__ledger_payload *ledger, const struct end *end)
{
    last->readable = true;
    last->verdict.end = end->end;
    last->verdict.signal = end->end == LG_END_CRASH ? 11 : 0;
    last->verdict.monotonic_ns = end->lived_s == UINT32_MAX ? 0 : MARK_NS + end->lived_s * SECOND_NS;
    last->info.hang_ns = last->verdict.monotonic_ns;
    last->attributed = end->own && end->end == LG_END_CRASH ? 1 : 0;
    for (uint32_t i = 0; i < ledger->context_count; i++) {
        lg_run_context *context = &last->contexts[last->context_count++];
        memcpy(context->name, ledger->contexts[i].name, sizeof context->name);
        context->phase = (lg_phase)ledger->contexts[i].phase;
        context->finished_ns = context->phase == LG_PHASE_FINISHED ? MARK_NS : 0;
    }
    if (end->task)
        strcpy(last->contexts[0].task, end->task);
}

struct end device_end(struct device *device, const struct program *program, struct end end)
{
    struct lg__last_run *last = &device->last;
    memset(last, 0, sizeof *last);
    if (device->disk != DISK_FULL) {
        see_end(last, &device->ledger, &end);
        add_file(device, program, end.end);
        return end;
    }
    /* the ledger alone has the mark of the handler, the clean end, and what was finished */
    const lg_end seen = end.end == LG_END_CRASH || end.end == LG_END_CLEAN ? end.end : LG_END_UNKNOWN;
    uint32_t finished = 0;
    last->verdict.end = seen;
    for (uint32_t i = 0; i < device->ledger.context_count; i++)
        finished |= device->ledger.contexts[i].phase == LG_PHASE_FINISHED ? 1u << i : 0;
    lg__evidence_finished(last, &device->ledger, finished);
    return (struct end){ .end = seen, .lived_s = UINT32_MAX };
}

lg_hint_kind device_hint(const struct device *device, const struct program *program)
{
    const struct hint *hint = &device->hint;
    const bool is_over = !hint->serial || hint->expires_ns <= device->now.wall_ns;
    const bool is_nothing = (hint->kind == LG_HINT_REPAIR && hint->what >= program->repair_count) || (hint->kind == LG_HINT_HOLD_BELOW && device->version >= hint->what);
    return is_over || is_nothing ? LG_HINT_WITHDRAWN : hint->kind;
}

void device_begin(struct device *device, const struct program *program)
{
    struct lg__policy policy = policy_of(device, program);
    policy.hint = hinted(device, &policy);
    lg__decide_begin(device_context(device), &policy, &device->now, NULL);
}

void device_course(struct device *device, const struct program *program)
{
    const struct lg__policy policy = policy_of(device, program);
    const struct lg__hinted hint = hinted(device, &policy);
    lg__decide_course(device_context(device), LG_DECISION_BY_RULE, &hint, &device->now);
}

lg_launch_mode device_launch_neighbour(struct device *device)
{
    struct lg__ledger_context *context = device_neighbour(device);
    const struct lg__policy policy = { .report_after = 1, .repair_after = 2, .unknown_after = 4, .count = LG_COUNT_DEFAULT, .safe_retry_runs = 2,
                                       .safe_retry_max = LG__GIVEN_RETRY_RUNS_MAX, .safe_crash_limit = 2, .deescalate_runs = 3,
                                       .deescalate_ms = LG__GIVEN_DAY_MS, .steady_ms = STEADY_S * 1000u, .rung_count = 1,
                                       .rungs = { { .attempts = 1, .flags = LG__RUNG_BUILT_IN } } };
    lg__decide_begin(context, &policy, &device->now, NULL);
    lg_launch_mode mode = (lg_launch_mode)context->mode;
    if (context->flags & LG__CONTEXT_REPORTING) {
        lg__decide_told(context);
        lg__decide_reported(context);
    }
    for (unsigned rounds = 0; rounds < 8 && (context->phase == LG_PHASE_HELD || context->phase == LG_PHASE_HALTED); rounds++) {
        mode = LG_LAUNCH_MODE_SAFE;
        if (context->phase == LG_PHASE_HELD)
            lg__decide_expired(context, &device->now);
        else
            lg__decide_try_safe(context);
    }
    lg__decide_finished(context);
    return mode;
}

bool device_waits(struct device *device, const struct program *program, bool consented)
{
    const struct lg__hold_terms terms = { .auto_repair = !program->by_hand, .supervised = program->supervised, .consented = consented };
    return lg__wish_own(device_context(device), &terms) == NO_WISH;
}

bool device_leaves_out(struct device *device, const struct program *program, unsigned task)
{
    struct lg__ledger_context *context = device_context(device);
    if (leaves_out(device, task)) {
        lg__suspects_leave_out(context, device_tasks[task]);
        return true;
    }
    if (context->mode == LG_LAUNCH_MODE_SAFE)
        return program->tasks[task] & LG_TASK_UNSAFE || is_suspect(device, program, task);
    for (uint32_t i = 0; i < context->suspect_count; i++)
        if (context->suspects[i].left_out && strcmp(context->suspects[i].key, device_tasks[task]) == 0)
            return true;
    return false;
}

void device_leave_out_suspect(struct device *device, const struct program *program)
{
    const unsigned suspect = first_suspect(device, program);
    if (suspect < TASKS)
        lg__suspects_leave_out(device_context(device), device_tasks[suspect]);
}
