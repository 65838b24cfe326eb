/* The ladder of repairs: which rung is tried next. */
#include "launch/ladder.h"

#include <string.h>

#include "launch/terms.h"
#include "launchguard/repair.h"

/* A repair that became another rung is throttled all the same, and was tried all the same. */
static void take_over_rung(struct lg__ledger_rung *rung, const struct lg__ledger_rung *old, uint32_t count)
{
    rung->series_wall_ns = 0;
    rung->fate = LG__RUNG_UNTRIED;
    for (uint32_t i = 0; i < count; i++)
        if (strncmp(old[i].name, rung->name, LG__NAME_BYTES) == 0) {
            rung->series_wall_ns = old[i].series_wall_ns;
            rung->fate = old[i].fate;
            return;
        }
}

void lg__ladder_take_over(struct lg__ledger_context *context, const struct lg__policy *policy)
{
    struct lg__ledger_rung old[LG__RUNGS];
    memcpy(old, context->rungs, sizeof old);
    memset(context->rungs, 0, sizeof context->rungs);
    for (uint32_t i = 0; i < policy->rung_count; i++) {
        context->rungs[i] = policy->rungs[i];
        take_over_rung(&context->rungs[i], old, context->rung_count);
    }
    context->rung_count = policy->rung_count;
    if (context->rung > context->rung_count)
        context->rung = context->rung_count;
}

void lg__ladder_forget(struct lg__ledger_context *context)
{
    context->attempts = 0;
    context->interruptions = 0;
}

void lg__ladder_helped(struct lg__ledger_context *context)
{
    if (context->rung == context->rung_count)
        context->rung = 0; /* the program's own repair, outside of the ladder */
    else if (context->rung + 1 < context->rung_count)
        context->rung++;
    lg__ladder_forget(context);
}

void lg__ladder_leave(struct lg__ledger_context *context, enum lg__rung_fate fate)
{
    /* a ladder may have become shorter; the ledger is not read with a rung that there cannot be */
    if (context->rung < context->rung_count)
        context->rungs[context->rung++].fate = fate;
    lg__ladder_forget(context);
}

void lg__ladder_offer_again(struct lg__ledger_context *context)
{
    for (uint32_t i = 0; i < context->rung_count; i++)
        if (context->rungs[i].fate == LG__RUNG_REFUSED)
            context->rungs[i].fate = LG__RUNG_UNTRIED;
}

void lg__ladder_good(struct lg__ledger_context *context, bool repaired)
{
    /* A launch without the task shows nothing; nor does one after others that were finished and
     * crashed soon. */
    struct lg__ledger_rung *rung = repaired && context->rung < context->rung_count ? &context->rungs[context->rung] : NULL;
    bool partial = rung && rung->flags & LG__RUNG_BUILT_IN && lg__terms_left_out(context);
    if (rung && (partial || context->unsteady))
        rung->fate = LG__RUNG_TRIED;
    if (!context->unsteady && !partial)
        lg__ladder_offer_all(context);
}

void lg__ladder_offer_all(struct lg__ledger_context *context)
{
    for (uint32_t i = 0; i < context->rung_count; i++)
        context->rungs[i].fate = LG__RUNG_UNTRIED;
}

void lg__ladder_foot(struct lg__ledger_context *context)
{
    context->rung = 0;
    lg__ladder_forget(context);
}

static bool throttled(const struct lg__ledger_rung *rung, const struct lg__moment *now)
{
    /* The wall clock may have jumped in either direction: a time further away than the throttle is
     * not believed. */
    uint64_t last = rung->series_wall_ns, wall = now->wall_ns;
    return last && (wall > last ? wall - last : last - wall) < LG__THROTTLE_NS;
}

static uint32_t attempts_of(const struct lg__ledger_context *context, uint32_t rung)
{
    return rung == context->rung ? context->attempts : 0;
}

static bool is_begun(const struct lg__ledger_context *context, uint32_t rung)
{
    return rung == context->rung && (context->attempts || context->interruptions);
}

static bool may_be_tried(struct lg__ledger_context *context, uint32_t index, const struct lg__moment *now)
{
    const struct lg__ledger_rung *rung = &context->rungs[index];
    if (rung->fate != LG__RUNG_UNTRIED || attempts_of(context, index) >= rung->attempts)
        return false;
    if (rung->flags & LG__RUNG_BUILT_IN)
        return context->flags & LG__CONTEXT_SKIPPABLE;
    if (!(rung->flags & LG_REPAIR_DESTRUCTIVE))
        return true;
    bool consent = rung->flags & LG_REPAIR_CONSENT || context->flags & LG__CONTEXT_BY_HAND;
    if (context->flags & LG__CONTEXT_UNEXPLAINED && !consent)
        return false;
    if (!is_begun(context, index) && throttled(rung, now)) {
        context->events |= LG_EVENT_THROTTLED;
        return false;
    }
    return true;
}

/* The first rung from `from` on, before `before`, that may be tried; `before`: there is none. */
static uint32_t first(struct lg__ledger_context *context, uint32_t from, uint32_t before, const struct lg__moment *now)
{
    while (from < before && !may_be_tried(context, from, now))
        from++;
    return from;
}

bool lg__ladder_choose(struct lg__ledger_context *context, const struct lg__moment *now)
{
    const uint32_t count = context->rung_count;
    if (context->rung < count && context->attempts >= context->rungs[context->rung].attempts)
        context->rungs[context->rung].fate = LG__RUNG_FAILED;
    /* What helped once is passed over where trouble comes back soon, and tried after the rest. */
    uint32_t chosen = first(context, context->rung, count, now);
    if (chosen == count) {
        const uint32_t below = first(context, 0, context->rung, now);
        chosen = below < context->rung ? below : count;
    }
    if (chosen < count && context->rungs[chosen].flags & LG_REPAIR_DESTRUCTIVE && !is_begun(context, chosen))
        chosen = first(context, 0, chosen, now); /* a milder one comes before */
    if (chosen != context->rung)
        lg__ladder_forget(context);
    context->rung = chosen;
    return chosen < count;
}

bool lg__ladder_offer(struct lg__ledger_context *context, uint32_t rung, const struct lg__moment *now)
{
    const uint32_t fate = context->rungs[rung].fate;
    context->rungs[rung].fate = LG__RUNG_UNTRIED;
    if (!may_be_tried(context, rung, now)) {
        context->rungs[rung].fate = fate;
        return false;
    }
    if (rung != context->rung)
        lg__ladder_forget(context);
    context->rung = rung;
    return true;
}

void lg__ladder_give_back(struct lg__ledger_context *context)
{
    if (context->attempts > 0)
        context->attempts--;
}
