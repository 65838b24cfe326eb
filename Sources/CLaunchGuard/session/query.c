/* The contexts of any program, by reading alone: ledger and last run together. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/evidence.h"
#include "launch/hinted.h"
#include "launch/launch.h"
#include "launchguard/ledger.h"
#include "launchguard/query.h"
#include "os/os.h"
#include "read/context.h"

/* Crashes from which on a task is suspect; LG_TASK_SUSPECT and LG_TASK_ESSENTIAL are not stored. */
#define SUSPECT_CRASHES 2u

/* The policy that was stored when the last launch began, as if the next one asked for the same. */
static void stored_policy(const struct lg__ledger_context *context, struct lg__policy *ret_policy)
{
    memset(ret_policy, 0, sizeof *ret_policy);
    ret_policy->report_after = context->report_after;
    ret_policy->repair_after = context->repair_after;
    ret_policy->unknown_after = context->unknown_after;
    ret_policy->count = context->count;
    ret_policy->safe_retry_runs = context->safe_retry_runs;
    ret_policy->safe_retry_max = context->safe_retry_max;
    ret_policy->safe_crash_limit = context->safe_crash_limit;
    ret_policy->deescalate_runs = context->deescalate_runs;
    ret_policy->deescalate_ms = context->deescalate_ms;
    ret_policy->steady_ms = context->steady_ms;
    ret_policy->window_ms = context->window_ms;
    ret_policy->finish = context->finish;
    ret_policy->shadow = (context->flags & LG__CONTEXT_SHADOW) != 0;
    ret_policy->by_hand = (context->flags & LG__CONTEXT_BY_HAND) != 0;
}

/* Add the tasks and repairs of the last launch, which options do not contain. */
static void add_program(const struct lg__ledger_context *context, bool leave_out_suspects, struct lg__policy *policy)
{
    policy->skippable = (context->flags & LG__CONTEXT_SKIPPABLE) != 0;
    for (uint32_t i = 0; i < context->suspect_count; i++)
        policy->skippable = policy->skippable || context->suspects[i].crashes >= SUSPECT_CRASHES;
    policy->skippable = policy->skippable && leave_out_suspects;
    policy->rung_count = context->rung_count;
    memcpy(policy->rungs, context->rungs, sizeof policy->rungs);
}

/* The next launch if it began now. */
static void foresee(struct lg__ledger_context *context, const lg_launch_options *options, const struct lg__hint *hint, const char *version,
                    lg_launch_info *ret_info)
{
    struct lg__policy policy;
    struct lg__moment now = { .boottime_ns = lg__os_clock_ns(CLOCK_BOOTTIME), .wall_ns = lg__os_clock_ns(CLOCK_REALTIME) };
    uint64_t launches = context->launches;
    /* Never begun since the context was made or reset: nothing is stored that a launch could be
     * judged by. */
    if (context->repair_after != 0 || options) {
        lg__os_boot_id(now.boot_id);
        if (!options || !lg__setup_policy(options, &policy))
            stored_policy(context, &policy);
        add_program(context, !options || options->leave_out_suspects, &policy);
        policy.hint = lg__hinted_find(hint, context, version, &policy, now.wall_ns);
        lg__decide_begin(context, &policy, &now, NULL);
    }
    context->launches = launches;
    lg__reader_context_info(context, ret_info);
    /* what a launch without trouble does is no news */
    if (ret_info->state == LG_LAUNCH_STATE_LAUNCHING && context->mode == LG_LAUNCH_MODE_NORMAL && !context->streak && !context->unknown)
        lg__reader_context_is(ret_info, LG_LAUNCH_STATE_IDLE);
    ret_info->halted = context->phase == LG_PHASE_HALTED;
}

static void as_it_is(struct lg__ledger_context *context, const struct lg__last_run *last, lg_launch_info *ret_info)
{
    lg__account_finish(context, last);
    lg__reader_context_info(context, ret_info);
}

/* The program lives if the run that the payload names does, and has not stopped its session. Where
 * that run's file is gone, the primary in the hot page decides. */
static bool program_lives(const struct lg__last_run *last, const struct lg__hot *hot)
{
    uint8_t boot_id[LG__UUID_BYTES];
    if (last->readable)
        return last->info.alive && !last->info.stop_marked;
    return lg__os_boot_id(boot_id) && lg__ledger_process_alive(atomic_load(&hot->primary), boot_id);
}

static lg_status query_context(const char *state_directory, const char *context, const lg_launch_options *options, struct lg__slot *slot,
                               lg_launch_info *ret_info)
{
    char path[4096];
    struct lg__hot hot;
    struct lg__hint hint;
    struct lg__last_run last;
    lg_reader *reader;
    int length = snprintf(path, sizeof path, "%s/ledger.lg", state_directory);
    if (length < 0 || (size_t)length >= sizeof path)
        return LG_ERR_NOT_FOUND;
    lg_status status = lg_reader_open(path, &reader);
    if (status != LG_OK)
        return status;
    status = lg__reader_copy_ledger(reader, &hot, &hint, slot);
    lg_reader_close(reader);
    if (status != LG_OK)
        return status;
    struct lg__ledger_context *found = NULL;
    for (uint32_t i = 0; !found && i < slot->payload.context_count; i++)
        if (strncmp(slot->payload.contexts[i].name, context, LG__NAME_BYTES) == 0)
            found = &slot->payload.contexts[i];
    if (!found)
        return LG_ERR_NOT_FOUND;
    lg__account_run_read(state_directory, &slot->payload, &hot, false, &last);
    bool lives = program_lives(&last, &hot);
    const lg_run_context *of_run = lg__evidence_context(&last, found->name);
    if (lives && (found->phase != LG_PHASE_NONE || (of_run && of_run->phase != LG_PHASE_NONE))) {
        as_it_is(found, &last, ret_info);
        return LG_OK;
    }
    /* A program that lives and has not begun its launch is as it was a moment before. */
    if (!lives && last.verdict.end != LG_END_RUNNING) {
        struct lg__reached reached = lg__account_reached(&slot->payload, &last);
        lg__account_apply(found, &last, slot->payload.last_ordinal, &reached, false);
    }
    foresee(found, options, &hint, slot->payload.app_version, ret_info);
    return LG_OK;
}

lg_status lg_launch_query(const char *state_directory, const char *context, const lg_launch_options *options, lg_launch_info *ret_info)
{
    lg_launch_info info;
    struct lg__policy policy;
    if (!state_directory || !*state_directory || !context || !ret_info)
        return LG_ERR_ARGUMENT;
    if (options && !lg__setup_policy(options, &policy))
        return LG_ERR_OPTION;
    struct lg__slot *slot = malloc(sizeof *slot); /* too large for the stack of any thread */
    if (!slot)
        return LG_ERR_SYSTEM;
    lg_status status = query_context(state_directory, context, options, slot, &info);
    int error = errno;
    free(slot);
    errno = error;
    return status == LG_OK ? lg__reader_context_give(&info, ret_info) : status;
}
