/* Terms that several rows of docs/LAUNCH.md use. Part of the machine; stores nothing and calls
 * nobody. */
#ifndef LG_LAUNCH_TERMS_H
#define LG_LAUNCH_TERMS_H

#include <stdbool.h>

#include "store/format.h"

/* Files are not to be trusted: a counter does not wrap. */
uint32_t lg__terms_one_more(uint32_t value);

/* LG__CONTEXT_*, one or several. */
void lg__terms_set_flag(struct lg__ledger_context *context, uint32_t flag, bool on);

/* Forget the unexplained deaths and their report. */
void lg__terms_forget_unknown(struct lg__ledger_context *context);

/* The unexplained deaths have reached unknown_after, and it is not 0. */
bool lg__terms_unknown_is_enough(const struct lg__ledger_context *context);

/* A hint holds the launch, and not the rule. */
bool lg__terms_held_by_hint(const struct lg__ledger_context *context);

/* A task was left out of this launch. */
bool lg__terms_left_out(const struct lg__ledger_context *context);

/* Twice as many good launches in safe mode before the next trial. */
void lg__terms_retry_later(struct lg__ledger_context *context);

/* B5: the counted ends are to be reported; anything is. */
bool lg__terms_ends_are_news(const struct lg__ledger_context *context);
bool lg__terms_report_is_news(const struct lg__ledger_context *context);

#endif
