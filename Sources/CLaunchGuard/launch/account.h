/* Layer 4: how the last run ended, applied to every context. Pure, as decide.h says. */
#ifndef LG_LAUNCH_ACCOUNT_H
#define LG_LAUNCH_ACCOUNT_H

#include "launch/ended.h"
#include "launch/evidence.h"

/* How far the last life came, over all contexts. */
struct lg__reached {
    bool nothing;   /* it began no launch */
    bool launching; /* a launch was under way at its end, which is not held against finished ones */
};

/* Note in the contexts which of them the last life began, before its end is applied. `last`: NULL
 * where the payload alone knows what was finished. */
struct lg__reached lg__account_reached(struct lg__ledger_payload *payload, const struct lg__last_run *last);

/* Apply that end to one context. `upgraded`: a version starts that has not crashed before. */
enum lg__account lg__account_apply(struct lg__ledger_context *context, const struct lg__last_run *last, uint64_t ordinal, const struct lg__reached *reached, bool upgraded);

/* The context as it is when the launch is finished that the last run shows as finished, and that
 * the ledger does not yet. */
void lg__account_finish(struct lg__ledger_context *context, const struct lg__last_run *last);

/* Apply that end to every context, where the program `now` starts after `before`. Returns the entry
 * of the timeline, which is in the payload then. */
const struct lg__ledger_run *lg__account_end(struct lg__ledger_payload *payload, const struct lg__last_run *last, uint32_t before, uint32_t now);

#endif
