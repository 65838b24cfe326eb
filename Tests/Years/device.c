#include "device.h"

#include <stdio.h>
#include <string.h>

#include "launch/suspects.h"
#include "launch/versions.h"
#include "launch/wish.h"
#include "launchguard/repair.h"
#include "launchguard/task.h"
#include "store/given.h"

const char *const device_tasks[TASKS] = { "a", "b", "c" };

void device_new(struct device *device)
{
    memset(device, 0, sizeof *device);
    device->ledger.context_count = 1;
    device->now = (struct lg__moment){ .boot_id = { 1 }, .boottime_ns = 30 * SECOND_NS, .wall_ns = UINT64_C(1700000000) * SECOND_NS };
}

static bool is_suspect(struct device *device, const struct program *program, unsigned task)
{
    return lg__suspects_has(device_context(device), device_tasks[task], program->tasks[task]);
}

/* TASKS: none is. */
static unsigned first_suspect(struct device *device, const struct program *program)
{
    unsigned most = TASKS;
    uint32_t crashes = 0;
    for (unsigned i = 0; i < TASKS; i++)
        if (is_suspect(device, program, i) && lg__suspects_crashes(device_context(device), device_tasks[i]) > crashes) {
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

enum lg__account device_start(struct device *device, uint32_t version, bool *ret_anew)
{
    enum lg__account account = LG__ACCOUNT_NOTHING;
    struct lg__ledger_context *context = device_context(device);
    *ret_anew = device->has_run && lg__versions_begin_anew(&device->ledger, program_of(device->version), program_of(version));
    if (device->has_run) {
        if (context->phase != LG_PHASE_NONE)
            context->flags |= LG__CONTEXT_BEGAN;
        device->last.early = context->phase == LG_PHASE_NONE && context->flags & LG__CONTEXT_BEGAN;
        account = *ret_anew ? lg__ended_upgrade(context, &device->last) : lg__ended_account(context, &device->last);
        if (account != LG__ACCOUNT_NOTHING)
            lg__versions_note_crash(&device->ledger, program_of(device->version));
    }
    device->version = version;
    device->runs++;
    device->has_run = true;
    return account;
}

void device_begin(struct device *device, const struct program *program)
{
    const struct lg__policy policy = policy_of(device, program);
    lg__decide_begin(device_context(device), &policy, &device->now, NULL);
}

void device_end(struct device *device, lg_end end, const char *task, uint32_t lived_s)
{
    device->last = (struct lg__last_end){ .end = end, .signal = end == LG_END_CRASH ? 11 : 0, .ordinal = device->runs, .task = task,
                                          .lived_ns = lived_s == UINT32_MAX ? LG__LIVED_UNKNOWN : lived_s * SECOND_NS };
}

bool device_waits(struct device *device, const struct program *program, bool consented)
{
    const struct lg__hold_terms terms = { .auto_repair = !program->by_hand, .supervised = program->supervised, .consented = consented };
    return lg__wish_own(device_context(device), &terms) == NO_WISH;
}

bool device_leaves_out(struct device *device, const struct program *program, unsigned task)
{
    const struct lg__ledger_context *context = device_context(device);
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
