/* The ladder of repairs of a context: which rung is tried next, and the facts about it. Part of
 * the machine of docs/LAUNCH.md; stores nothing and calls nobody. */
#ifndef LG_LAUNCH_LADDER_H
#define LG_LAUNCH_LADDER_H

#include <stdbool.h>

#include "launch/decide.h"

/* B1: the rungs of the launch that begins. A rung of the same name keeps its last series. */
void lg__ladder_take_over(struct lg__ledger_context *context, const struct lg__policy *policy);

/* "Choose a rung". false: none is left. */
bool lg__ladder_choose(struct lg__ledger_context *context, const struct lg__moment *now);

/* V2: stand on this rung, whatever became of it before. false: it may not be tried, and nothing
 * changes but the event. */
bool lg__ladder_offer(struct lg__ledger_context *context, uint32_t rung, const struct lg__moment *now);

/* Go on to the next rung, from one with this fate. */
void lg__ladder_leave(struct lg__ledger_context *context, enum lg__rung_fate fate);
/* Rungs that were refused may be tried again. */
void lg__ladder_offer_again(struct lg__ledger_context *context);
/* The launch is finished, and was no safe one: every rung may be tried again, unless the built-in
 * one left a task out, or launches before crashed soon after they were finished. */
void lg__ladder_good(struct lg__ledger_context *context, bool repaired);
void lg__ladder_offer_all(struct lg__ledger_context *context);
/* F3: where it begins the next time. */
void lg__ladder_helped(struct lg__ledger_context *context);
/* Back to rung 0. */
void lg__ladder_foot(struct lg__ledger_context *context);

/* Forget the attempts of the rung. Give the last attempt back. */
void lg__ladder_forget(struct lg__ledger_context *context);
void lg__ladder_give_back(struct lg__ledger_context *context);

#endif
