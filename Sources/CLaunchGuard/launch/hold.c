/* The hold: report, protect actions, repairs, and the wishes of the program meanwhile. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "launch/internal.h"
#include "launch/suspects.h"
#include "os/fault_point.h"
#include "os/os.h"

/* A launch that a hint holds looks this often whether it still does. */
#define HINT_LOOK_NS UINT64_C(1000000000)

struct batch {
    struct lg__reports runs;
    lg_report reports[LG__TIMELINE];
    const lg_report *list[LG__TIMELINE];
    struct lg__report_names names[LG__TIMELINE];
};

/* The runs of the timeline that counted for the context, or ended in no launch of it, and were not
 * reported yet. Returns how many. */
static uint32_t make_batch(struct lg__life *life, struct batch *ret_batch)
{
    uint32_t count = 0, bit = 0;
    uint64_t reported = 0;
    ret_batch->runs.count = 0;
    LG__WITH_CONTEXT(life, context) {
        lg__reports_copy(life->launch->host, &ret_batch->runs);
        bit = 1u << (context - life->launch->host->ledger.payload.contexts);
        reported = context->reported_ordinal;
    }
    for (uint32_t i = 0; i < ret_batch->runs.count; i++) {
        const struct lg__ledger_run *run = &ret_batch->runs.runs[i];
        if (!((run->counted | run->late) & bit) || run->ordinal <= reported)
            continue;
        ret_batch->reports[count] = lg__reports_make(&ret_batch->runs, i, bit, &ret_batch->names[count]);
        ret_batch->list[count] = &ret_batch->reports[count];
        count++;
    }
    return count;
}

void lg__hold_report(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    struct lg__ledger_context seen;
    lg__launch_look(launch, &seen);
    if (!(seen.flags & LG__CONTEXT_REPORTING) || !lg__launch_protects(launch))
        return;
    struct batch *made = launch->options.on_report ? malloc(sizeof *made) : NULL;
    if (!launch->options.on_report) /* nobody asks */
        LG__WITH_CONTEXT(life, context)
            lg__decide_told(context);
    if (made) {
        lg_report_batch batch = { launch->name, seen.streak, 0, made->list };
        batch.report_count = make_batch(life, made);
        enum lg__answer answer = lg__callback_report(life, &batch, (uint64_t)launch->options.report_wait_ms * 1000000u);
        if (answer != LG__ANSWER_ABORTED)
            lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: report (streak %u, unknown %u) %s", launch->name, seen.streak, seen.unknown,
                         answer == LG__ANSWER_OK ? "answered" : answer == LG__ANSWER_FAILED ? "failed" : "not answered in time");
        free(made);
    }
    LG__WITH_CONTEXT(life, context)
        lg__decide_reported(context);
}

/* The wish of the launch itself. Under the launch's lock. */
static enum lg__wish own_wish(const struct lg__life *life, const struct lg__ledger_context *context)
{
    const lg_launch_options *options = &life->launch->options;
    const struct lg__hold_terms terms = { .auto_repair = options->auto_repair, .supervised = options->supervised, .by_hand = life->by_hand,
                                          .consented = life->consented };
    return lg__wish_own(context, &terms);
}

/* The program handles the signal, and it may do so after lg_launch_begin(). */
static void interrupt_launch(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    LG__WITH_CONTEXT(life, context)
        if (context->phase == LG_PHASE_HELD || context->phase == LG_PHASE_HALTED)
            lg__decide_terminating(context);
    lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: the program is asked to end while it is held", launch->name);
    lg__launch_publish(launch);
}

/* Unless the answer came first. */
static lg_status call_on_hold(struct lg__life *life, uint32_t hold)
{
    lg_launch *launch = life->launch;
    struct lg__ledger_context seen;
    char text[sizeof launch->shield_reason];
    lg_held held = { .size = sizeof held, .hold = hold };
    pthread_mutex_lock(&launch->lock);
    lg__launch_look(launch, &seen);
    held.reason = seen.flags & LG__CONTEXT_HINT_HOLD ? LG_HELD_HINT
                : launch->shielded                   ? LG_HELD_PROTECTED
                : life->by_hand                      ? LG_HELD_DECIDED
                                                     : LG_HELD_CONSENT;
    memcpy(text, launch->shield_reason, sizeof text);
    bool waits = life->hold == hold;
    pthread_mutex_unlock(&launch->lock);
    if (seen.rung < seen.rung_count)
        held.repair = seen.rungs[seen.rung].name;
    if (held.reason == LG_HELD_PROTECTED && text[0])
        held.text = text;
    if (waits)
        launch->options.on_hold(launch, &held, launch->options.user);
    return LG_OK;
}

/* Wait until there is a wish, the phase changes, the program is asked to end, a protect action is
 * due on this thread, or the hold's deadline passes. */
static void await_wish(struct lg__life *life, const struct lg__ledger_context *seen)
{
    lg_launch *launch = life->launch;
    uint64_t begun = lg__os_clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&launch->lock);
    bool waits = own_wish(life, seen) == NO_WISH;
    if (waits && life->told != life->hold && seen->phase == LG_PHASE_HELD && launch->options.on_hold) {
        life->told = life->hold;
        pthread_mutex_unlock(&launch->lock);
        lg__callback_start(life, call_on_hold, life->told);
        pthread_mutex_lock(&launch->lock);
    }
    /* the end is nearer after simulated time has passed */
    while (waits && lg__life_current(life) && life->wish == NO_WISH && lg__launch_phase(launch) == (lg_phase)seen->phase &&
           !lg__launch_interrupted(launch) && !lg__protect_wants_caller(life)) {
        uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), end = begun + life->hold_left_ns;
        if (now >= end)
            break;
        end = end - now < LG__LAUNCH_LOOK_NS ? end : now + LG__LAUNCH_LOOK_NS;
        struct timespec until = { (time_t)(end / 1000000000u), (long)(end % 1000000000u) };
        pthread_cond_timedwait(&launch->changed, &launch->lock, &until);
    }
    lg__launch_spend_hold(life, lg__os_clock_ns(CLOCK_MONOTONIC) - begun);
    pthread_mutex_unlock(&launch->lock);
}

/* In the run file, before it stands in the ledger. */
static void mark_repaired(lg_launch *launch)
{
    atomic_store(&launch->state->repaired, 1);
    LG_FAULT_POINT("run: repaired");
}

/* The callback of an attempt that has been stored, and its outcome. */
static void attempt_repair(struct lg__life *life, const struct lg__ledger_context *seen)
{
    lg_launch *launch = life->launch;
    enum lg__answer answer = LG__ANSWER_OK;
    if (seen->rung > 0)
        answer = lg__callback_repair(life, &launch->rungs[seen->rung - 1]);
    if (answer == LG__ANSWER_ABORTED)
        return;
    lg__host_log(launch->host, answer == LG__ANSWER_OK ? LG_LEVEL_INFO : LG_LEVEL_ERROR, "launch %s: rung %u, repair \"%s\", attempt %u: %s",
                 launch->name, seen->rung, seen->rungs[seen->rung].name, seen->attempts,
                 answer == LG__ANSWER_OK        ? "repaired"
                 : answer == LG__ANSWER_FAILED  ? "failed"
                 : answer == LG__ANSWER_TIMEOUT ? "no answer in time"
                                                : "no answer in time, and it may run on");
    struct lg__moment now = lg__host_now(launch->host);
    LG__WITH_CONTEXT(life, context) {
        if (context->phase != LG_PHASE_REPAIRING)
            continue;
        if (answer == LG__ANSWER_OK && context->rung == 0 && lg__tasks_suspect(launch, context, life->left_out)) {
            context->events |= LG_EVENT_LEFT_OUT;
            lg__suspects_leave_out(context, life->left_out);
        }
        if (answer == LG__ANSWER_OK)
            mark_repaired(launch);
        if (answer == LG__ANSWER_OVERRUN && launch->options.overrun == LG_OVERRUN_SAFE)
            lg__decide_overrun(context);
        else
            lg__decide_attempted(context, answer == LG__ANSWER_OK, &now);
        if (atomic_load(&launch->host->run.state->announced) || atomic_load(&launch->host->run.state->ended))
            lg__decide_terminating(context);
    }
    lg__launch_publish(launch);
}

static bool still_holds(const lg_launch *launch, const struct lg__moment *now)
{
    const struct lg__hint hint = lg__launch_hint(launch);
    return lg__hinted_holds(&hint, launch->name, launch->host->ledger.payload.app_version, now->wall_ns);
}

/* Do as the program wishes, as the launch does by itself, or as the deadline demands. */
static void follow_wish(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    struct lg__ledger_context seen = { .phase = LG_PHASE_NONE };
    struct lg__moment now = lg__host_now(launch->host);
    LG__WITH_CONTEXT(life, context) {
        enum lg__wish wish = life->wish;
        bool own = wish == NO_WISH;
        life->wish = NO_WISH;
        /* its end was announced */
        if (context->phase != LG_PHASE_HELD && context->phase != LG_PHASE_HALTED)
            continue;
        if (own)
            wish = own_wish(life, context);
        switch (wish) {
        case WISH_REPAIR:
            life->consented = life->consented || !own;
            atomic_store(&launch->state->rung, context->rung);
            atomic_store(&launch->state->attempt, context->attempts + 1);
            LG_FAULT_POINT("run: attempt");
            lg__decide_attempt(context, &now);
            seen = *context;
            break;
        case WISH_REFUSE: lg__decide_refuse(context, &now); break;
        case WISH_SKIP: lg__decide_skip(context, &now); break;
        case WISH_REPAIRED:
            lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: the program has repaired itself", launch->name);
            mark_repaired(launch);
            lg__decide_repaired(context, &now);
            break;
        case WISH_TRY_SAFE: lg__decide_try_safe(context); break;
        case NO_WISH:
            if (life->hold_left_ns > 0)
                continue;
            if (context->flags & LG__CONTEXT_HINT_HOLD && still_holds(launch, &now)) {
                life->hold_left_ns = HINT_LOOK_NS;
                continue;
            }
            lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: held for too long; it goes on in safe mode", launch->name);
            lg__decide_expired(context, &now);
            break;
        }
        life->hold = 0;
    }
    lg__launch_publish(launch);
    if (seen.phase == LG_PHASE_REPAIRING)
        attempt_repair(life, &seen);
}

/* The work before the wait. */
static void enter_hold(struct lg__life *life, lg_phase phase)
{
    lg_launch *launch = life->launch;
    if (phase == LG_PHASE_HELD && launch->options.hold != LG_HOLD_NONE)
        lg__protect_tasks(life);
    if (phase != LG_PHASE_HALTED)
        return;
    lg__host_log(launch->host, LG_LEVEL_ERROR, "launch %s: safe mode crashed too; halted", launch->name);
    lg__host_hand_over(launch->host);
    bool calls = false;
    if (launch->options.on_give_up)
        LG__WITH_CONTEXT(life, context)
            calls = lg__decide_give_up(context);
    if (!calls)
        return;
    lg__callback_give_up(life, life->hold, (uint64_t)launch->options.report_wait_ms * 1000000u);
    LG__WITH_CONTEXT(life, context)
        lg__decide_gave_up(context);
}

void lg__hold_launch(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    for (;;) {
        struct lg__ledger_context seen;
        pthread_mutex_lock(&launch->lock);
        lg__launch_look(launch, &seen);
        bool holds = lg__launch_protects(launch) && lg__life_current(life) && (seen.phase == LG_PHASE_HELD || seen.phase == LG_PHASE_HALTED);
        /* also where a hold turns into a halt: V5 */
        bool enters = holds && (life->holding != (lg_phase)seen.phase || lg__protect_wants_caller(life));
        if (holds) {
            life->holds += life->holding == LG_PHASE_NONE;
            life->was_held = true;
            life->holding = (lg_phase)seen.phase;
            if (!life->hold)
                life->hold = ++launch->holds;
        } else {
            life->wish = NO_WISH;
            life->hold = 0;
            life->consented = life->by_hand = launch->shielded = false;
            life->holding = LG_PHASE_NONE;
        }
        pthread_mutex_unlock(&launch->lock);
        if (!holds)
            break;
        lg__launch_publish(launch);
        if (enters)
            enter_hold(life, (lg_phase)seen.phase);
        await_wish(life, &seen);
        if (lg__launch_interrupted(launch))
            interrupt_launch(life);
        else
            follow_wish(life);
    }
}

/* ---- wishes ---- */

static bool may_wish(enum lg__wish wish, lg_phase phase)
{
    return (phase == LG_PHASE_HELD && wish != WISH_TRY_SAFE) || (phase == LG_PHASE_HALTED && (wish == WISH_TRY_SAFE || wish == WISH_REPAIRED));
}

/* `hold`: the one that is meant; 0: the present one. */
static lg_status set_wish(lg_launch *launch, uint32_t hold, enum lg__wish wish)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    if (!lg__launch_protects(launch))
        return LG_ERR_STATE;
    pthread_mutex_lock(&launch->lock);
    lg_phase phase = lg__launch_phase(launch);
    bool possible = may_wish(wish, phase) && launch->life && (!hold || launch->life->hold == hold) && (launch->life->wish == NO_WISH || launch->life->wish == wish);
    if (possible) {
        launch->life->wish = wish;
        pthread_cond_broadcast(&launch->changed);
    }
    pthread_mutex_unlock(&launch->lock);
    return possible || (!hold && wish == WISH_REPAIR && phase == LG_PHASE_REPAIRING) ? LG_OK : LG_ERR_STATE;
}

lg_status lg_launch_repair(lg_launch *launch)
{
    return set_wish(launch, 0, WISH_REPAIR);
}

lg_status lg_launch_refuse(lg_launch *launch)
{
    return set_wish(launch, 0, WISH_REFUSE);
}

lg_status lg_launch_skip(lg_launch *launch)
{
    return set_wish(launch, 0, WISH_SKIP);
}

lg_status lg_launch_repaired(lg_launch *launch)
{
    return set_wish(launch, 0, WISH_REPAIRED);
}

lg_status lg_launch_try_safe(lg_launch *launch)
{
    return set_wish(launch, 0, WISH_TRY_SAFE);
}

lg_status lg_launch_answer(lg_launch *launch, uint32_t hold, lg_answer answer)
{
    static_assert((int)LG_ANSWER_REPAIR == WISH_REPAIR && (int)LG_ANSWER_TRY_SAFE == WISH_TRY_SAFE, "launchguard/repair.h");
    if (hold == 0 || answer < LG_ANSWER_REPAIR || answer > LG_ANSWER_TRY_SAFE)
        return LG_ERR_ARGUMENT;
    return set_wish(launch, hold, (enum lg__wish)answer);
}
