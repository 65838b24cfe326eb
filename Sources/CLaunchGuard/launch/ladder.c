/* The ladder of repairs: which rung is tried next. */
#include "launch/ladder.h"

#include <string.h>

#include "launchguard/repair.h"

/* A repair that became another rung is throttled all the same. */
static uint64_t series_of(const struct lg__ledger_rung *rungs, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strncmp(rungs[i].name, name, LG__NAME_BYTES) == 0)
            return rungs[i].series_wall_ns;
    return 0;
}

void lg__ladder_take_over(struct lg__ledger_context *context, const struct lg__policy *policy)
{
    struct lg__ledger_rung old[LG__RUNGS];
    memcpy(old, context->rungs, sizeof old);
    memset(context->rungs, 0, sizeof context->rungs);
    for (uint32_t i = 0; i < policy->rung_count; i++) {
        context->rungs[i] = policy->rungs[i];
        context->rungs[i].series_wall_ns = series_of(old, context->rung_count, policy->rungs[i].name);
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

void lg__ladder_next(struct lg__ledger_context *context)
{
    /* a ladder may have become shorter; the ledger is not read with a rung that there cannot be */
    if (context->rung < context->rung_count)
        context->rung++;
    lg__ladder_forget(context);
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
    uint64_t series = rung->series_wall_ns, wall = now->wall_ns;
    return series && (wall > series ? wall - series : series - wall) < LG__THROTTLE_NS;
}

static bool may_be_tried(struct lg__ledger_context *context, const struct lg__moment *now)
{
    const struct lg__ledger_rung *rung = &context->rungs[context->rung];
    if (context->attempts >= rung->attempts)
        return false;
    if (rung->flags & LG__RUNG_BUILT_IN)
        return context->flags & LG__CONTEXT_SKIPPABLE;
    if ((rung->flags & LG_REPAIR_DESTRUCTIVE) && context->attempts == 0 && throttled(rung, now)) {
        context->events |= LG_EVENT_THROTTLED;
        return false;
    }
    return true;
}

bool lg__ladder_choose(struct lg__ledger_context *context, const struct lg__moment *now)
{
    while (context->rung < context->rung_count && !may_be_tried(context, now))
        lg__ladder_next(context);
    return context->rung < context->rung_count;
}

void lg__ladder_give_back(struct lg__ledger_context *context)
{
    if (context->attempts > 0)
        context->attempts--;
    if (context->attempts == 0 && context->rung < context->rung_count)
        context->rungs[context->rung].series_wall_ns = 0;
}
