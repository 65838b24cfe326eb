#include "launch/decide.h"

#include <string.h>

#include "launch/ladder.h"
#include "launch/terms.h"
#include "launchguard/repair.h"

#define HINT_HOLDS (LG__CONTEXT_HINT_REPAIR | LG__CONTEXT_HINT_HOLD)

/* ---- shared by several rows ---- */

static void forget_streak(struct lg__ledger_context *context)
{
    context->streak = 0;
    lg__terms_forget_unknown(context);
    context->report_strikes = context->decide_strikes = context->give_up_strikes = 0;
    context->first_ordinal = 0;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void forget_hold(struct lg__ledger_context *context)
{
    context->skips = 0;
    context->held_deaths = 0;
}

/* Of H2 and H10. */
static void begin_probation(struct lg__ledger_context *context, const struct lg__moment *now)
{
    forget_streak(context);
    lg__ladder_forget(context);
    context->held_deaths = 0;
    context->quiet = 0;
    lg__terms_set_flag(context, LG__CONTEXT_DUE | HINT_HOLDS, false);
    memcpy(context->repair_boot_id, now->boot_id, sizeof context->repair_boot_id);
    context->repair_boottime_ns = now->boottime_ns;
    context->mode = LG_LAUNCH_MODE_PROBATION;
    context->phase = LG_PHASE_LAUNCHING;
    context->events |= LG_EVENT_REPAIRED;
}

/* "Clear" of the page. */
static void clear_trouble(struct lg__ledger_context *context)
{
    forget_streak(context);
    lg__ladder_forget(context);
    forget_hold(context);
    context->ends = context->reported = 0;
    context->stops = 0;
    context->safe_crashes = 0;
    lg__terms_set_flag(context, LG__CONTEXT_DUE | LG__CONTEXT_UNEXPLAINED, false);
}

static void go_safe(struct lg__ledger_context *context)
{
    context->mode = LG_LAUNCH_MODE_SAFE;
    context->phase = LG_PHASE_LAUNCHING;
    context->events |= LG_EVENT_SAFE;
    context->good_runs = 0;
    context->safe_crashes = 0;
    lg__terms_forget_unknown(context);
    forget_hold(context);
    lg__ladder_foot(context);
    lg__ladder_offer_again(context);
    lg__terms_set_flag(context, LG__CONTEXT_DUE | HINT_HOLDS, false);
}

static void hold(struct lg__ledger_context *context)
{
    context->phase = LG_PHASE_HELD;
    context->events |= LG_EVENT_HELD;
}

/* `empty`: held even where no rung is left. */
static void choose_rung(struct lg__ledger_context *context, const struct lg__moment *now, bool empty)
{
    if (lg__ladder_choose(context, now) || empty)
        hold(context);
    else
        go_safe(context);
}

/* Within one boot: no clock is believed across two. */
static bool passed_since(const uint8_t boot_id[16], uint64_t then_ns, const struct lg__moment *now, uint64_t least_ms)
{
    return least_ms && then_ns && memcmp(boot_id, now->boot_id, 16) == 0 && now->boottime_ns >= then_ns &&
           (now->boottime_ns - then_ns) / 1000000u >= least_ms;
}

void lg__decide_reset(struct lg__ledger_context *context)
{
    struct lg__ledger_context fresh;
    memset(&fresh, 0, sizeof fresh);
    memcpy(fresh.name, context->name, sizeof fresh.name);
    fresh.launches = context->launches;
    fresh.crashes = context->crashes;
    fresh.repairs = context->repairs;
    fresh.reported_ordinal = context->reported_ordinal;
    fresh.hint_serial = context->hint_serial;
    fresh.count = context->count; /* the next end may come before the next begin */
    *context = fresh;
}

/* ---- B: the launch begins ---- */

/* B1 */
static void take_over(struct lg__ledger_context *context, const struct lg__policy *policy)
{
    context->report_after = policy->report_after;
    context->repair_after = policy->repair_after;
    context->unknown_after = policy->unknown_after;
    context->count = policy->count;
    context->safe_retry_runs = policy->safe_retry_runs;
    context->safe_retry_max = policy->safe_retry_max;
    context->safe_crash_limit = policy->safe_crash_limit;
    context->deescalate_runs = policy->deescalate_runs;
    context->deescalate_ms = policy->deescalate_ms;
    context->steady_ms = policy->steady_ms;
    context->window_ms = policy->window_ms;
    context->finish = policy->finish;
    lg__terms_set_flag(context, HINT_HOLDS, false);
    lg__terms_set_flag(context, LG__CONTEXT_SKIPPABLE, policy->skippable);
    lg__terms_set_flag(context, LG__CONTEXT_SHADOW, policy->shadow);
    lg__terms_set_flag(context, LG__CONTEXT_BY_HAND, policy->by_hand);
    lg__ladder_take_over(context, policy);
    for (uint32_t i = 0; i < context->suspect_count; i++)
        context->suspects[i].left_out = 0;
    context->launches++;
    context->events = 0;
    memset(context->reason, 0, sizeof context->reason);
}

static void go_on(struct lg__ledger_context *context)
{
    context->phase = LG_PHASE_LAUNCHING;
    if (context->mode == LG_LAUNCH_MODE_SAFE)
        context->events |= LG_EVENT_SAFE;
    if (context->mode == LG_LAUNCH_MODE_TRIAL)
        context->events |= LG_EVENT_TRIAL;
}

/* The way from safe mode. */
static void begin_trial(struct lg__ledger_context *context)
{
    context->mode = LG_LAUNCH_MODE_TRIAL;
    context->streak = context->repair_after ? context->repair_after - 1 : 0;
    context->good_runs = 0;
}

/* B10 and B11. `empty`: held even where no rung is left. */
static void need_repair(struct lg__ledger_context *context, const struct lg__moment *now, bool empty)
{
    if (context->held_deaths >= LG__HELD_DEATHS_MAX || context->skips > LG__SKIPS_MAX) {
        go_safe(context);
        return;
    }
    context->mode = LG_LAUNCH_MODE_NORMAL;
    lg__terms_set_flag(context, LG__CONTEXT_DUE, true);
    choose_rung(context, now, empty);
}

/* B9 */
static bool is_needed(const struct lg__ledger_context *context)
{
    return context->flags & LG__CONTEXT_DUE || context->streak >= context->repair_after || lg__terms_unknown_is_enough(context);
}

/* B10 */
static void note_unexplained(struct lg__ledger_context *context)
{
    if (lg__terms_unknown_is_enough(context) && context->streak < context->repair_after)
        lg__terms_set_flag(context, LG__CONTEXT_UNEXPLAINED, true);
}

/* V3 */
static void stay_safe(struct lg__ledger_context *context)
{
    lg__terms_set_flag(context, LG__CONTEXT_HINT_SAFE, true);
    context->events |= LG_EVENT_HINT_SAFE_MODE;
}

/* V2 */
static bool repair_by_hint(struct lg__ledger_context *context, const struct lg__hinted *hint, const struct lg__moment *now)
{
    const bool safe = context->mode == LG_LAUNCH_MODE_SAFE, needed = safe || is_needed(context);
    if (!safe && context->mode != LG_LAUNCH_MODE_NORMAL)
        return false; /* the launch under way is to show whether the last repair helped */
    note_unexplained(context);
    if (!lg__ladder_offer(context, hint->rung, now))
        return false;
    context->mode = LG_LAUNCH_MODE_NORMAL;
    lg__terms_set_flag(context, needed ? LG__CONTEXT_DUE : LG__CONTEXT_HINT_REPAIR, true);
    context->events |= LG_EVENT_HINT_REPAIR;
    context->hint_serial = hint->serial;
    hold(context);
    return true;
}

/* V2, V3 and V4. true: the launch is held. */
static bool follow_hint(struct lg__ledger_context *context, const struct lg__hinted *hint, const struct lg__moment *now)
{
    const bool is_new = hint->serial != context->hint_serial, safe = context->mode == LG_LAUNCH_MODE_SAFE;
    if (hint->kind == LG_HINT_SAFE_MODE && is_new) {
        if (!safe) {
            if (context->streak == 0) /* no end that counts is the reason */
                lg__terms_set_flag(context, LG__CONTEXT_UNEXPLAINED, true);
            go_safe(context);
        }
        stay_safe(context);
        context->hint_serial = hint->serial;
    }
    if (context->held_deaths >= LG__HELD_DEATHS_MAX)
        return false;
    if (hint->kind == LG_HINT_HOLD_BELOW) {
        lg__terms_set_flag(context, LG__CONTEXT_HINT_HOLD, true);
        context->events |= LG_EVENT_HINT_HOLD_BELOW;
        hold(context);
        return true;
    }
    return hint->kind == LG_HINT_REPAIR && is_new && repair_by_hint(context, hint, now);
}

/* V2 to V4, then B6 to B11 */
static void follow_rule(struct lg__ledger_context *context, const struct lg__hinted *hint, const struct lg__moment *now)
{
    if (follow_hint(context, hint, now))
        return;
    /* V1; ends after a launch were in no task */
    const bool spared = hint->kind == LG_HINT_LEAVE_OUT && !context->unsteady;
    bool safe = context->mode == LG_LAUNCH_MODE_SAFE, trial = context->mode == LG_LAUNCH_MODE_TRIAL;
    bool needed = !spared && is_needed(context);
    uint32_t limit = context->safe_crash_limit ? context->safe_crash_limit : LG__SAFE_CRASHES_ENOUGH;
    bool enough = safe && !spared && context->safe_crashes >= limit, offers = enough && lg__ladder_choose(context, now);
    if (!offers)
        go_on(context);
    if (enough && !offers)
        lg__ladder_foot(context);
    if (enough && !offers && context->safe_crash_limit) {
        context->phase = LG_PHASE_HALTED;
        context->events |= LG_EVENT_HALTED;
    } else if (offers || (!safe && !trial && needed)) {
        note_unexplained(context);
        need_repair(context, now, false);
    }
}

/* V5: a hold that nothing but a hint needs is over. */
static bool leave_hint(struct lg__ledger_context *context, const struct lg__moment *now)
{
    static const struct lg__hinted none;
    if (!lg__terms_held_by_hint(context))
        return false;
    if (context->flags & LG__CONTEXT_HINT_REPAIR)
        lg__ladder_foot(context);
    lg__terms_set_flag(context, HINT_HOLDS, false);
    follow_rule(context, &none, now);
    return true;
}

/* B5 */
static void owe_report(struct lg__ledger_context *context)
{
    bool news = lg__terms_report_is_news(context);
    bool owed = context->flags & LG__CONTEXT_OWES;
    if ((!news && !owed) || context->report_strikes >= LG__REPORT_STRIKES_MAX)
        return;
    lg__terms_set_flag(context, LG__CONTEXT_AGAIN, !news);
    lg__terms_set_flag(context, LG__CONTEXT_OWES, true);
    lg__terms_set_flag(context, LG__CONTEXT_REPORTING, true);
}

void lg__decide_begin(struct lg__ledger_context *context, const struct lg__policy *policy, const struct lg__moment *now,
                      struct lg__ledger_context *ret_rule)
{
    const bool stays = policy->hint.kind == LG_HINT_SAFE_MODE, stayed = context->flags & LG__CONTEXT_HINT_SAFE;
    take_over(context, policy);
    lg__terms_set_flag(context, LG__CONTEXT_HINT_SAFE, false);
    if (context->mode == LG_LAUNCH_MODE_SAFE && stays)
        stay_safe(context);
    else if (context->mode == LG_LAUNCH_MODE_SAFE && stayed) /* V3 */
        begin_trial(context);
    if (context->retry_runs == 0)
        context->retry_runs = context->safe_retry_runs;
    /* a number that is not to be trusted would keep it in safe mode */
    if (context->retry_runs > context->safe_retry_max)
        context->retry_runs = context->safe_retry_max;
    if (context->mode == LG_LAUNCH_MODE_NORMAL && !(context->flags & LG__CONTEXT_DUE) && context->rung > 0 &&
        passed_since(context->repair_boot_id, context->repair_boottime_ns, now, context->deescalate_ms))
        lg__ladder_foot(context);
    owe_report(context);
    if (ret_rule) {
        *ret_rule = *context;
        follow_rule(ret_rule, &policy->hint, now);
    }
    context->phase = LG_PHASE_LAUNCHING;
    if (policy->asks && context->decide_strikes < LG__DECIDE_STRIKES_MAX)
        lg__terms_set_flag(context, LG__CONTEXT_ASKING, true);
    else
        lg__decide_course(context, policy->decision, &policy->hint, now);
}

void lg__decide_course(struct lg__ledger_context *context, lg_decision decision, const struct lg__hinted *hint, const struct lg__moment *now)
{
    bool safe = context->mode == LG_LAUNCH_MODE_SAFE;
    lg__terms_set_flag(context, LG__CONTEXT_ASKING, false);
    if (decision != LG_DECISION_BY_RULE)
        context->events |= LG_EVENT_DECIDED;
    if (context->flags & LG__CONTEXT_SHADOW) {
        context->mode = LG_LAUNCH_MODE_NORMAL;
    } else if (decision == LG_DECISION_GO_ON) {
        go_on(context);
    } else if (safe || decision == LG_DECISION_BY_RULE) {
        follow_rule(context, hint, now);
    } else {
        /* else a repair that always succeeds would be tried for ever */
        if (context->mode == LG_LAUNCH_MODE_PROBATION)
            lg__ladder_leave(context, LG__RUNG_TRIED);
        lg__terms_set_flag(context, LG__CONTEXT_UNEXPLAINED, false);
        need_repair(context, now, decision == LG_DECISION_HOLD);
    }
}

void lg__decide_told(struct lg__ledger_context *context)
{
    if (lg__terms_ends_are_news(context))
        context->reported = context->ends;
    if (lg__terms_unknown_is_enough(context))
        lg__terms_set_flag(context, LG__CONTEXT_TOLD, true);
    lg__terms_set_flag(context, LG__CONTEXT_OWES | LG__CONTEXT_LATE, false);
    context->events |= LG_EVENT_REPORTED;
}

void lg__decide_reported(struct lg__ledger_context *context)
{
    if (context->flags & LG__CONTEXT_AGAIN)
        lg__terms_set_flag(context, LG__CONTEXT_OWES, false);
    lg__terms_set_flag(context, LG__CONTEXT_REPORTING, false);
}

bool lg__decide_give_up(struct lg__ledger_context *context)
{
    if (context->give_up_strikes >= LG__GIVE_UP_STRIKES_MAX)
        return false;
    lg__terms_set_flag(context, LG__CONTEXT_GIVING_UP, true);
    return true;
}

void lg__decide_gave_up(struct lg__ledger_context *context)
{
    lg__terms_set_flag(context, LG__CONTEXT_GIVING_UP, false);
}

/* ---- H: while it is held ---- */

void lg__decide_attempt(struct lg__ledger_context *context, const struct lg__moment *now)
{
    if (context->flags & LG__CONTEXT_HINT_HOLD) {
        leave_hint(context, now);
        return;
    }
    if (context->rung >= context->rung_count) {
        go_safe(context);
        return;
    }
    context->rungs[context->rung].series_wall_ns = now->wall_ns;
    context->attempts = lg__terms_one_more(context->attempts);
    context->repairs++;
    context->phase = LG_PHASE_REPAIRING;
}

void lg__decide_attempted(struct lg__ledger_context *context, bool repaired, const struct lg__moment *now)
{
    if (!repaired) {
        context->events |= LG_EVENT_REPAIR_FAILED;
        if (!leave_hint(context, now))
            choose_rung(context, now, false);
        return;
    }
    begin_probation(context, now);
    context->skips = 0;
    if (context->rungs[context->rung].flags & LG_REPAIR_NEEDS_RESTART) {
        context->phase = LG_PHASE_TERMINATING;
        context->events |= LG_EVENT_RESTART;
    }
}

void lg__decide_overrun(struct lg__ledger_context *context)
{
    context->events |= LG_EVENT_REPAIR_FAILED;
    lg__ladder_leave(context, LG__RUNG_TRIED);
    go_safe(context);
}

void lg__decide_refuse(struct lg__ledger_context *context, const struct lg__moment *now)
{
    context->events |= LG_EVENT_REFUSED;
    if (leave_hint(context, now))
        return;
    lg__ladder_leave(context, LG__RUNG_REFUSED);
    choose_rung(context, now, false);
}

void lg__decide_skip(struct lg__ledger_context *context, const struct lg__moment *now)
{
    context->events |= LG_EVENT_SKIPPED;
    if (leave_hint(context, now))
        return;
    if (context->skips >= LG__SKIPS_MAX) {
        go_safe(context);
        return;
    }
    context->skips++;
    lg__terms_set_flag(context, LG__CONTEXT_DUE, false);
    const uint32_t most = context->repair_after ? context->repair_after - 1 : 0;
    context->streak = least(context->streak, most);
    context->unsteady = least(context->unsteady, most);
    lg__terms_forget_unknown(context);
    context->phase = LG_PHASE_LAUNCHING;
}

void lg__decide_repaired(struct lg__ledger_context *context, const struct lg__moment *now)
{
    if (leave_hint(context, now))
        return;
    if (context->skips >= LG__SKIPS_MAX) {
        go_safe(context);
        return;
    }
    context->skips++; /* a program that is wrong must not keep its own repairs from their turn */
    begin_probation(context, now);
    context->rung = context->rung_count;
}

void lg__decide_expired(struct lg__ledger_context *context, const struct lg__moment *now)
{
    context->events |= LG_EVENT_EXPIRED;
    if (context->phase == LG_PHASE_HALTED)
        lg__decide_try_safe(context);
    else if (!leave_hint(context, now))
        go_safe(context);
}

void lg__decide_try_safe(struct lg__ledger_context *context)
{
    context->phase = LG_PHASE_LAUNCHING;
}

void lg__decide_protect(struct lg__ledger_context *context, const struct lg__moment *now, bool empty)
{
    if (context->mode == LG_LAUNCH_MODE_SAFE)
        return;
    context->events |= LG_EVENT_PROTECTED;
    /* else a repair that always succeeds would be tried for ever */
    if (context->mode == LG_LAUNCH_MODE_PROBATION)
        lg__ladder_leave(context, LG__RUNG_TRIED);
    context->mode = LG_LAUNCH_MODE_NORMAL;
    lg__terms_set_flag(context, LG__CONTEXT_DUE, true);
    lg__terms_set_flag(context, LG__CONTEXT_UNEXPLAINED, false);
    choose_rung(context, now, empty);
}

/* ---- F: the launch ends ---- */

static void forget_suspects(struct lg__ledger_context *context)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < context->suspect_count; i++)
        if (context->suspects[i].left_out)
            context->suspects[kept++] = context->suspects[i];
    memset(&context->suspects[kept], 0, (context->suspect_count - kept) * sizeof context->suspects[0]);
    context->suspect_count = kept;
}

static void finish_safe(struct lg__ledger_context *context)
{
    forget_streak(context);
    if (!context->unsteady) /* else that is seen when it lives on */
        context->safe_crashes = 0;
    if (context->flags & LG__CONTEXT_HINT_SAFE)
        return;
    context->good_runs = lg__terms_one_more(context->good_runs);
    if (context->good_runs < context->retry_runs)
        return;
    begin_trial(context);
}

void lg__decide_finished(struct lg__ledger_context *context)
{
    context->phase = LG_PHASE_FINISHED;
    context->quits = 0;
    if (context->mode == LG_LAUNCH_MODE_SAFE) {
        finish_safe(context);
        return;
    }
    clear_trouble(context);
    forget_suspects(context);
    lg__ladder_good(context, context->mode == LG_LAUNCH_MODE_PROBATION);
    switch (context->mode) {
    case LG_LAUNCH_MODE_TRIAL:
        context->rung = 0;
        if (context->unsteady)
            lg__terms_retry_later(context); /* taken back when it lives on */
        else
            context->retry_runs = context->safe_retry_runs;
        break;
    case LG_LAUNCH_MODE_PROBATION:
        lg__ladder_helped(context);
        context->quiet = 0;
        break;
    default:
        context->quiet = lg__terms_one_more(context->quiet);
        if (context->deescalate_runs && context->quiet >= context->deescalate_runs)
            context->rung = 0;
        break;
    }
    context->mode = LG_LAUNCH_MODE_NORMAL;
}

void lg__decide_terminating(struct lg__ledger_context *context)
{
    if (context->phase == LG_PHASE_NONE || context->phase == LG_PHASE_FINISHED || context->phase == LG_PHASE_REPAIRING || context->phase == LG_PHASE_TERMINATING)
        return;
    /* a user who ends the program at each dialogue says "not now" */
    if (context->phase == LG_PHASE_HELD && !lg__terms_held_by_hint(context))
        context->skips = lg__terms_one_more(context->skips);
    lg__terms_set_flag(context, LG__CONTEXT_LEAVING, context->phase == LG_PHASE_LAUNCHING);
    context->phase = LG_PHASE_TERMINATING;
}
