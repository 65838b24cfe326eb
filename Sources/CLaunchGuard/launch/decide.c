#include "launch/decide.h"

#include "os/os.h"

static void clear_streak(struct lg__book_context *context)
{
    context->streak = 0;
    context->unknown = 0;
    context->reported = 0;
    context->first_ordinal = 0;
}

static void clear_ladder(struct lg__book_context *context)
{
    context->rung = 0;
    context->attempts = 0;
    context->interruptions = 0;
    context->flags &= ~(LG__CONTEXT_PROBATION | LG__CONTEXT_EXHAUSTED | LG__CONTEXT_NEEDS_REPAIR | LG__CONTEXT_REPAIRING);
    memset(context->rung_name, 0, sizeof context->rung_name);
}

void lg__decide_reset(struct lg__book_context *context)
{
    clear_streak(context);
    clear_ladder(context);
    context->flags &= ~LG__CONTEXT_LAUNCHING;
}

void lg__decide_finished(struct lg__book_context *context)
{
    clear_streak(context);
    clear_ladder(context);
    context->flags &= ~LG__CONTEXT_LAUNCHING;
}

/* The run ended while a repair was under way. Its attempt was stored before it began. */
static bool account_repair(struct lg__book_context *context, lg_end end)
{
    context->flags |= LG__CONTEXT_NEEDS_REPAIR;
    if (end == LG_END_CRASH || end == LG_END_HANG || end == LG_END_OOM || end == LG_END_KILLED || end == LG_END_UNKNOWN ||
        end == LG_END_EXIT)
        return true; /* the attempt stays used */
    /* Ended by the user or the machine: the attempt does not count, but not without end. */
    if (++context->interruptions < LG__INTERRUPTIONS_MAX) {
        if (context->attempts > 0)
            context->attempts--;
        return false;
    }
    context->interruptions = 0;
    return true;
}

bool lg__decide_account(struct lg__book_context *context, lg_end end, bool finished, uint64_t ordinal)
{
    bool repairing = context->flags & LG__CONTEXT_REPAIRING;
    bool launching = context->flags & LG__CONTEXT_LAUNCHING;
    context->flags &= ~(LG__CONTEXT_REPAIRING | LG__CONTEXT_LAUNCHING);
    if (end == LG_END_RUNNING || end == LG_END_NONE)
        return false;
    if (repairing)
        return account_repair(context, end);
    if (!launching)
        return false;
    if (finished) {
        lg__decide_finished(context);
        return false;
    }
    switch (end) {
    case LG_END_CRASH:
    case LG_END_HANG:
    case LG_END_OOM:
        if (context->streak == 0)
            context->first_ordinal = ordinal;
        context->streak++;
        context->crashes++;
        /* A crash while the last repair is on probation: it did not mend. The next rung at once. */
        if (context->flags & LG__CONTEXT_PROBATION) {
            context->flags &= ~LG__CONTEXT_PROBATION;
            context->flags |= LG__CONTEXT_NEEDS_REPAIR;
            context->rung++;
            context->attempts = 0;
            context->interruptions = 0;
        }
        return true;
    case LG_END_UNKNOWN:
    case LG_END_KILLED:
        context->unknown++;
        return true;
    default:
        return false;
    }
}

/* The rung that is to be tried; false when none is left. */
static bool choose_rung(struct lg__book_context *context, const struct lg__ladder *ladder)
{
    while (context->rung < ladder->count && context->attempts >= ladder->attempts[context->rung]) {
        context->rung++;
        context->attempts = 0;
        context->interruptions = 0;
    }
    return context->rung < ladder->count;
}

static struct lg__decision repair_or_launch(struct lg__book_context *context, const struct lg__ladder *ladder)
{
    if (choose_rung(context, ladder)) {
        context->flags |= LG__CONTEXT_NEEDS_REPAIR;
        return (struct lg__decision){ .next = LG__NEXT_REPAIR, .rung = context->rung };
    }
    /* Every repair was tried. The launch goes on: to hold it for ever would help nobody. */
    context->flags &= ~LG__CONTEXT_NEEDS_REPAIR;
    context->flags |= LG__CONTEXT_EXHAUSTED;
    return (struct lg__decision){ .next = LG__NEXT_LAUNCH };
}

struct lg__decision lg__decide_begin(struct lg__book_context *context, const struct lg__thresholds *thresholds,
                                     const struct lg__ladder *ladder)
{
    context->report_after = thresholds->report_after;
    context->repair_after = thresholds->repair_after;
    context->unknown_after = thresholds->unknown_after;
    context->rung_count = ladder->count;
    context->launches++;
    context->flags |= LG__CONTEXT_LAUNCHING;

    struct lg__decision decision = { .next = LG__NEXT_LAUNCH };
    bool needed = (context->flags & LG__CONTEXT_NEEDS_REPAIR) || context->streak >= thresholds->repair_after ||
                  (thresholds->unknown_after && context->unknown >= thresholds->unknown_after);
    if (needed && (ladder->count > 0 || (context->flags & LG__CONTEXT_NEEDS_REPAIR)))
        decision = repair_or_launch(context, ladder);
    if (context->streak >= thresholds->report_after && context->streak > context->reported) {
        context->reported = context->streak;
        decision.report = true;
    }
    return decision;
}

void lg__decide_attempt(struct lg__book_context *context)
{
    context->attempts++;
    context->repairs++;
    context->flags |= LG__CONTEXT_REPAIRING | LG__CONTEXT_NEEDS_REPAIR;
}

struct lg__decision lg__decide_attempted(struct lg__book_context *context, bool repaired, const struct lg__ladder *ladder)
{
    context->flags &= ~LG__CONTEXT_REPAIRING;
    if (!repaired)
        return repair_or_launch(context, ladder);
    clear_streak(context);
    context->attempts = 0;
    context->interruptions = 0;
    context->flags &= ~(LG__CONTEXT_NEEDS_REPAIR | LG__CONTEXT_EXHAUSTED);
    context->flags |= LG__CONTEXT_PROBATION;
    return (struct lg__decision){ .next = LG__NEXT_LAUNCH };
}
