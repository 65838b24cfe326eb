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
static void trial_failed(struct lg__ledger_context *context)
{
    context->mode = LG_LAUNCH_MODE_NORMAL;
    lg__terms_set_flag(context, LG__CONTEXT_DUE, true);
    context->good_runs = 0;
    lg__terms_forget_unknown(context);
    uint32_t most = context->safe_retry_max;
    context->retry_runs = context->retry_runs > most / 2 ? most : 2 * context->retry_runs;
}

static void safe_crashed(struct lg__ledger_context *context)
{
    context->safe_crashes = lg__terms_one_more(context->safe_crashes);
    context->good_runs = 0;
}

/* A12 to A20 */
static void account_launching(struct lg__ledger_context *context, enum weight weight, const struct lg__last_end *last)
{
    if (weight == INNOCENT)
        return;
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
    case LG_LAUNCH_MODE_TRIAL: trial_failed(context); break;
    case LG_LAUNCH_MODE_SAFE:
        safe_crashed(context);
        if (weight == UNEXPLAINED)
            lg__terms_forget_unknown(context);
        break;
    default: break;
    }
}

/* A4 to A6 */
static bool account_repairing(struct lg__ledger_context *context, lg_end end)
{
    lg__terms_set_flag(context, LG__CONTEXT_DUE, true);
    switch (end) {
    case LG_END_DEBUGGER:
        lg__ladder_give_back(context);
        return false;
    case LG_END_CRASH:
    case LG_END_HANG:
    case LG_END_OOM:
    case LG_END_UNKNOWN:
    case LG_END_KILLED:
    case LG_END_EXIT:
        return true;
    default:
        context->interruptions = lg__terms_one_more(context->interruptions);
        if (context->interruptions < LG__INTERRUPTIONS_MAX)
            lg__ladder_give_back(context);
        else
            context->interruptions = 0;
        return true;
    }
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

enum lg__account lg__ended_account(struct lg__ledger_context *context, const struct lg__last_end *last)
{
    lg_phase phase = (lg_phase)context->phase;
    bool reporting = context->flags & LG__CONTEXT_REPORTING && !(context->flags & LG__CONTEXT_OWES);
    bool asking = context->flags & LG__CONTEXT_ASKING;
    enum weight weight = weigh(context, last);
    bool finished = last->finished && phase == LG_PHASE_LAUNCHING;
    lg__terms_set_flag(context, LG__CONTEXT_REPORTING | LG__CONTEXT_ASKING, false);
    if (finished)
        lg__decide_finished(context);
    context->phase = LG_PHASE_NONE;
    if (finished || !lg__phase_launching(phase))
        return account_late(context, weight);

    bool counts = weight == COUNTED;
    if (reporting && weight != INNOCENT)
        context->report_strikes = lg__terms_one_more(context->report_strikes);
    if (asking && weight != INNOCENT)
        context->decide_strikes = lg__terms_one_more(context->decide_strikes);
    switch (phase) {
    case LG_PHASE_REPAIRING: counts = account_repairing(context, last->end); break;
    case LG_PHASE_HALTED:
        if (weight == COUNTED)
            add_to_streak(context, last);
        break;
    case LG_PHASE_HELD:
        if (weight == COUNTED)
            add_to_streak(context, last);
        if (weight != INNOCENT && !reporting) /* a report has strikes of its own */
            context->held_deaths = lg__terms_one_more(context->held_deaths);
        counts = weight != INNOCENT;
        break;
    default:
        account_launching(context, weight, last);
        counts = weight != INNOCENT;
        break;
    }
    if (weight != INNOCENT && phase != LG_PHASE_REPAIRING) {
        memcpy(context->crash_boot_id, last->when.boot_id, sizeof context->crash_boot_id);
        context->crash_boottime_ns = last->when.boottime_ns;
    }
    if (weight == COUNTED) {
        memset(context->last_task, 0, sizeof context->last_task);
        if (last->task) {
            strncpy(context->last_task, last->task, LG__NAME_BYTES - 1);
            suspect(context, last->task);
        }
    }
    return counts ? LG__ACCOUNT_COUNTS : LG__ACCOUNT_NOTHING;
}

enum lg__account lg__ended_upgrade(struct lg__ledger_context *context, const struct lg__last_end *last)
{
    bool untold = lg__terms_report_is_news(context) || (context->flags & LG__CONTEXT_OWES);
    enum weight weight = weigh(context, last);
    lg__decide_reset(context);
    lg__terms_set_flag(context, LG__CONTEXT_LATE, untold);
    return account_late(context, weight);
}
