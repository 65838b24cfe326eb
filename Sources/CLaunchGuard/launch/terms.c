/* Terms that several rows of docs/LAUNCH.md use. */
#include "launch/terms.h"

uint32_t lg__terms_one_more(uint32_t value)
{
    return value < UINT32_MAX ? value + 1 : value; /* files are not to be trusted: nothing wraps */
}

void lg__terms_set_flag(struct lg__ledger_context *context, uint32_t flag, bool on)
{
    context->flags = on ? context->flags | flag : context->flags & ~flag;
}

void lg__terms_forget_unknown(struct lg__ledger_context *context)
{
    context->unknown = 0;
    lg__terms_set_flag(context, LG__CONTEXT_TOLD, false);
}

bool lg__terms_unknown_is_enough(const struct lg__ledger_context *context)
{
    return context->unknown_after && context->unknown >= context->unknown_after;
}

bool lg__terms_ends_are_news(const struct lg__ledger_context *context)
{
    return context->ends >= context->report_after && context->ends > context->reported;
}

bool lg__terms_report_is_news(const struct lg__ledger_context *context)
{
    return lg__terms_ends_are_news(context) || (lg__terms_unknown_is_enough(context) && !(context->flags & LG__CONTEXT_TOLD)) ||
           (context->flags & LG__CONTEXT_LATE);
}

void lg__terms_retry_later(struct lg__ledger_context *context)
{
    uint32_t most = context->safe_retry_max;
    context->retry_runs = context->retry_runs > most / 2 ? most : 2 * context->retry_runs;
}

bool lg__terms_held_by_hint(const struct lg__ledger_context *context)
{
    return context->flags & (LG__CONTEXT_HINT_REPAIR | LG__CONTEXT_HINT_HOLD);
}

bool lg__terms_left_out(const struct lg__ledger_context *context)
{
    for (uint32_t i = 0; i < context->suspect_count; i++)
        if (context->suspects[i].left_out)
            return true;
    return false;
}
