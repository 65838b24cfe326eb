/* What a launch that is held does without a word of the program. */
#include "launch/wish.h"

#include "launchguard/reader.h"
#include "launchguard/repair.h"

enum lg__wish lg__wish_own(const struct lg__ledger_context *context, const struct lg__hold_terms *terms)
{
    const struct lg__ledger_rung *rung = &context->rungs[context->rung];
    if (context->phase == LG_PHASE_HALTED)
        return terms->supervised || terms->by_hand ? NO_WISH : WISH_TRY_SAFE;
    if (context->flags & LG__CONTEXT_HINT_HOLD)
        return NO_WISH;
    if ((terms->by_hand && !terms->consented) || context->rung >= context->rung_count)
        return NO_WISH;
    if (rung->flags & LG__RUNG_BUILT_IN)
        return WISH_REPAIR;
    /* the consent covers all attempts of the rung in this launch, and no other rung */
    if (rung->flags & LG_REPAIR_CONSENT)
        return terms->consented && context->attempts > 0 ? WISH_REPAIR : NO_WISH;
    return terms->auto_repair || terms->consented ? WISH_REPAIR : NO_WISH;
}
