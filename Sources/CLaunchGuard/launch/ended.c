#include "launch/ended.h"

#include <signal.h>
#include <string.h>

#include "launch/ladder.h"
#include "launch/terms.h"

enum weight { INNOCENT, UNEXPLAINED, COUNTED };

static enum weight weigh(const struct lg__ledger_context *context, const struct lg__last_end *last)
{
    if (last->others)
        return INNOCENT;
    switch (last->end) {
    case LG_END_CRASH:
        return context->count & (last->signal == SIGPIPE ? LG_COUNT_SIGPIPE : LG_COUNT_CRASH) ? COUNTED : INNOCENT;
    case LG_END_HANG: return context->count & LG_COUNT_HANG ? COUNTED : INNOCENT;
    case LG_END_OOM: return context->count & LG_COUNT_OOM ? COUNTED : INNOCENT;
    case LG_END_EXIT: return context->count & LG_COUNT_EXIT ? COUNTED : INNOCENT;
    case LG_END_UNKNOWN:
    case LG_END_KILLED: return UNEXPLAINED;
    default: return INNOCENT;
    }
}

static void add_to_streak(struct lg__ledger_context *context, const struct lg__last_end *last)
{
    if (context->streak == 0)
        context->first_ordinal = last->ordinal;
    context->streak = lg__terms_one_more(context->streak);
    context->ends = lg__terms_one_more(context->ends);
    context->crashes++;
    lg__terms_set_flag(context, LG__CONTEXT_UNEXPLAINED, false);
}

static void repair_did_not_help(struct lg__ledger_context *context)
{
    context->mode = LG_LAUNCH_MODE_NORMAL;
    lg__terms_set_flag(context, LG__CONTEXT_DUE, true);
    lg__ladder_leave(context, LG__RUNG_TRIED);
}

/* The next start offers what was not tried, and goes safe where there is nothing. */
static void trial_failed(struct lg__ledger_context *context, enum weight weight)
{
    context->mode = LG_LAUNCH_MODE_NORMAL;
    lg__terms_set_flag(context, LG__CONTEXT_DUE, true);
    if (weight == UNEXPLAINED)
        lg__terms_set_flag(context, LG__CONTEXT_UNEXPLAINED, true);
    context->good_runs = 0;
    lg__terms_forget_unknown(context);
    lg__terms_retry_later(context);
}

static void safe_crashed(struct lg__ledger_context *context)
{
    context->safe_crashes = lg__terms_one_more(context->safe_crashes);
}

/* A20: whoever ends the program early shows nothing; three times in a row are as good as a finished
 * launch. */
static void account_quit(struct lg__ledger_context *context)
{
    context->quits = lg__terms_one_more(context->quits);
    if (context->quits >= LG__QUITS_ENOUGH)
        lg__decide_finished(context);
}

/* A12 to A20 */
static void account_launching(struct lg__ledger_context *context, enum weight weight, const struct lg__last_end *last)
{
    if (weight == INNOCENT) {
        if (last->end == LG_END_CLEAN)
            account_quit(context);
        return;
    }
    context->quits = 0;
    bool fails = weight == COUNTED;
    if (fails) {
        add_to_streak(context, last);
    } else {
        context->unknown = lg__terms_one_more(context->unknown);
        fails = lg__terms_unknown_is_enough(context) ||
                (context->flags & LG__CONTEXT_UNEXPLAINED && context->mode != LG_LAUNCH_MODE_NORMAL);
    }
    if (!fails)
        return;
    switch (context->mode) {
    case LG_LAUNCH_MODE_PROBATION: repair_did_not_help(context); break;
    case LG_LAUNCH_MODE_TRIAL: trial_failed(context, weight); break;
    case LG_LAUNCH_MODE_SAFE:
        safe_crashed(context);
        if (weight == UNEXPLAINED)
            lg__terms_forget_unknown(context);
        break;
    default: break;
    }
}

/* The attempt failed by this end. Where the launch holds nothing, tasks run beside the repair, and
 * the end of one is none of the repair. */
static bool fails_attempt(const struct lg__last_end *last)
{
    switch (last->end) {
    case LG_END_CRASH:
    case LG_END_HANG:
    case LG_END_OOM:
    case LG_END_UNKNOWN:
    case LG_END_KILLED:
    case LG_END_EXIT: return !last->task;
    default: return false;
    }
}

/* A4 to A6 */
static bool account_repairing(struct lg__ledger_context *context, const struct lg__last_end *last)
{
    if (context->flags & LG__CONTEXT_HINT_REPAIR) { /* nothing but the hint needed it */
        lg__ladder_foot(context);
        return fails_attempt(last);
    }
    lg__terms_set_flag(context, LG__CONTEXT_DUE, true);
    if (fails_attempt(last))
        return true;
    context->interruptions = lg__terms_one_more(context->interruptions);
    if (context->interruptions < LG__INTERRUPTIONS_MAX)
        lg__ladder_give_back(context);
    else
        context->interruptions = 0;
    return last->end != LG_END_DEBUGGER;
}

static void suspect(struct lg__ledger_context *context, const char *key)
{
    struct lg__ledger_suspect *found = NULL, *least = &context->suspects[0];
    for (uint32_t i = 0; i < context->suspect_count; i++) {
        if (strncmp(context->suspects[i].key, key, LG__NAME_BYTES) == 0)
            found = &context->suspects[i];
        if (context->suspects[i].crashes < least->crashes)
            least = &context->suspects[i];
    }
    if (!found) {
        found = context->suspect_count < LG__SUSPECTS ? &context->suspects[context->suspect_count++] : least;
        memset(found, 0, sizeof *found);
        strncpy(found->key, key, LG__NAME_BYTES - 1);
    }
    found->crashes = lg__terms_one_more(found->crashes);
}

/* A1 and A2: no launch was under way. */
static enum lg__account account_late(struct lg__ledger_context *context, enum weight weight)
{
    if (weight != COUNTED)
        return LG__ACCOUNT_NOTHING;
    lg__terms_set_flag(context, LG__CONTEXT_LATE, true);
    return LG__ACCOUNT_LATE;
}

/* A22: the program crashed soon after its launch. The mode is that after F1 to F4. */
static void account_unsteady(struct lg__ledger_context *context)
{
    context->unsteady = lg__terms_one_more(context->unsteady);
    lg__terms_set_flag(context, LG__CONTEXT_UNEXPLAINED, false);
    if (context->mode != LG_LAUNCH_MODE_NORMAL) {
        /* F1 has counted the launch as a good one, and perhaps as the last before a trial */
        const uint32_t counted = context->mode == LG_LAUNCH_MODE_TRIAL ? context->retry_runs : context->good_runs;
        context->good_runs = counted > 0 ? counted - 1 : 0;
        context->mode = LG_LAUNCH_MODE_SAFE;
        context->streak = 0;
        safe_crashed(context);
    } else if (context->unsteady >= context->repair_after) {
        lg__terms_set_flag(context, LG__CONTEXT_DUE, true);
    }
}

static void forget_unsteady(struct lg__ledger_context *context)
{
    context->unsteady = 0;
    context->retry_runs = context->safe_retry_runs;
    lg__ladder_offer_all(context);
}

/* A23: the program lived on. That shows something where it did so whole. */
static void account_steady(struct lg__ledger_context *context)
{
    if (context->mode != LG_LAUNCH_MODE_NORMAL)
        context->safe_crashes = 0;
    else if (context->unsteady && !lg__terms_left_out(context))
        forget_unsteady(context);
}

static enum lg__account account_finished(struct lg__ledger_context *context, enum weight weight, const struct lg__last_end *last)
{
    bool known = last->lived_ns != LG__LIVED_UNKNOWN, soon = known && last->lived_ns / 1000000u < context->steady_ms;
    if (weight == COUNTED && soon)
        account_unsteady(context);
    else if ((known && !soon) || last->end == LG_END_CLEAN)
        account_steady(context);
    return account_late(context, weight);
}

/* A25: terminated while this task ran. From the third time in a row on the task is the cause. */
static enum weight account_stop(struct lg__ledger_context *context, const char *task)
{
    bool same = context->stops && strncmp(context->last_task, task, LG__NAME_BYTES) == 0;
    context->stops = same ? lg__terms_one_more(context->stops) : 1;
    return context->stops >= LG__STOPS_ENOUGH ? COUNTED : INNOCENT;
}

/* A stop of a launch that had announced its end may have taken a kill. */
static bool is_stop(const struct lg__last_end *last, bool announced)
{
    bool killed = announced && (last->end == LG_END_KILLED || last->end == LG_END_UNKNOWN);
    return last->task && !last->others && (last->end == LG_END_TERMINATED || killed);
}

static void add_strikes(struct lg__ledger_context *context, uint32_t flags)
{
    if (flags & LG__CONTEXT_REPORTING && !(flags & LG__CONTEXT_OWES))
        context->report_strikes = lg__terms_one_more(context->report_strikes);
    if (flags & LG__CONTEXT_ASKING)
        context->decide_strikes = lg__terms_one_more(context->decide_strikes);
    if (flags & LG__CONTEXT_GIVING_UP)
        context->give_up_strikes = lg__terms_one_more(context->give_up_strikes);
}

enum lg__account lg__ended_account(struct lg__ledger_context *context, const struct lg__last_end *last)
{
    const uint32_t flags = context->flags;
    lg_phase phase = (lg_phase)context->phase;
    const bool reporting = flags & LG__CONTEXT_REPORTING && !(flags & LG__CONTEXT_OWES);
    const bool announced = flags & LG__CONTEXT_LEAVING && phase == LG_PHASE_TERMINATING;
    enum weight weight = weigh(context, last);
    bool stopped = false;
    lg__terms_set_flag(context, LG__CONTEXT_REPORTING | LG__CONTEXT_ASKING | LG__CONTEXT_GIVING_UP | LG__CONTEXT_LEAVING, false);
    if (last->finished && phase == LG_PHASE_LAUNCHING) {
        lg__decide_finished(context);
        phase = LG_PHASE_FINISHED;
    }
    context->phase = LG_PHASE_NONE;
    if (phase == LG_PHASE_FINISHED)
        return account_finished(context, weight, last);
    if (phase == LG_PHASE_NONE && last->early && weight != INNOCENT)
        phase = LG_PHASE_LAUNCHING; /* A24 */
    if ((phase == LG_PHASE_LAUNCHING || announced) && is_stop(last, announced)) {
        weight = account_stop(context, last->task);
        stopped = true;
        phase = LG_PHASE_LAUNCHING;
    } else if (announced && last->end == LG_END_CLEAN && weight == INNOCENT) {
        phase = LG_PHASE_LAUNCHING;
    }
    if (!lg__phase_launching(phase))
        return account_late(context, weight);

    bool counts = weight != INNOCENT;
    if (counts)
        add_strikes(context, flags);
    switch (phase) {
    case LG_PHASE_REPAIRING: counts = account_repairing(context, last); break;
    case LG_PHASE_HALTED:
        if (weight == COUNTED)
            add_to_streak(context, last);
        counts = weight == COUNTED;
        break;
    case LG_PHASE_HELD:
        if (weight == COUNTED)
            add_to_streak(context, last);
        if (weight != INNOCENT && !reporting) /* a report has strikes of its own */
            context->held_deaths = lg__terms_one_more(context->held_deaths);
        if (!lg__terms_held_by_hint(context) && (last->end == LG_END_CLEAN || last->end == LG_END_TERMINATED || last->end == LG_END_REBOOT))
            context->skips = lg__terms_one_more(context->skips); /* as F5 */
        break;
    default:
        account_launching(context, weight, last);
        context->phase = LG_PHASE_NONE;
        break;
    }
    if (weight != INNOCENT || stopped) {
        memset(context->last_task, 0, sizeof context->last_task);
        if (last->task)
            strncpy(context->last_task, last->task, LG__NAME_BYTES - 1);
        if (last->task && weight != INNOCENT)
            suspect(context, last->task);
    }
    return counts ? LG__ACCOUNT_COUNTS : LG__ACCOUNT_NOTHING;
}

enum lg__account lg__ended_upgrade(struct lg__ledger_context *context, const struct lg__last_end *last)
{
    enum lg__account account = lg__ended_account(context, last);
    bool untold = lg__terms_report_is_news(context) || (context->flags & LG__CONTEXT_OWES);
    const uint32_t began = context->flags & LG__CONTEXT_BEGAN;
    lg__decide_reset(context);
    lg__terms_set_flag(context, LG__CONTEXT_LATE, untold);
    lg__terms_set_flag(context, began, true);
    return account;
}
