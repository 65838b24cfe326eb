#include "launch/hinted.h"

#include <string.h>

#include "store/hint.h"

static uint32_t rung_named(const struct lg__policy *policy, const char *name)
{
    uint32_t i = 1; /* the built-in one has no name that counts */
    while (i < policy->rung_count && strncmp(policy->rungs[i].name, name, LG__NAME_BYTES) != 0)
        i++;
    return i < policy->rung_count ? i : 0;
}

bool lg__hinted_holds(const struct lg__hint *hint, const char *context, const char *version, uint64_t wall_ns)
{
    return lg__hint_is_in_force(hint, context, wall_ns) && hint->said.kind == LG_HINT_HOLD_BELOW && strverscmp(version, hint->said.name) < 0;
}

struct lg__hinted lg__hinted_find(const struct lg__hint *hint, const struct lg__ledger_context *context, const char *version, const struct lg__policy *policy,
                                  uint64_t wall_ns)
{
    const lg_hint *said = &hint->said;
    struct lg__hinted hinted = { .serial = said->serial };
    bool counts = !policy->shadow && lg__hint_is_in_force(hint, context->name, wall_ns);
    if (counts && said->kind == LG_HINT_LEAVE_OUT)
        counts = strncmp(context->last_task, said->name, LG__NAME_BYTES) == 0;
    if (counts && said->kind == LG_HINT_REPAIR)
        counts = (hinted.rung = rung_named(policy, said->name)) != 0;
    if (counts && said->kind == LG_HINT_HOLD_BELOW)
        counts = lg__hinted_holds(hint, context->name, version, wall_ns);
    hinted.kind = counts ? said->kind : LG_HINT_WITHDRAWN;
    return hinted;
}
