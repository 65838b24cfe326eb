#include "launch/account.h"

#include <string.h>

#include "launch/versions.h"

static bool is_attributed(const struct lg__last_run *last, const lg_run_context *of_run)
{
    return of_run && (last->attributed & 1u << (of_run - last->contexts));
}

/* In C the program would have exited with a status. */
static lg_end weighed_as(const lg_verdict *verdict)
{
    if (lg__evidence_is_no_fault(verdict->evidence))
        return LG_END_NONE;
    return verdict->end == LG_END_CRASH && verdict->kind == LG_CRASH_TRAP_SWIFT_TOP_LEVEL ? LG_END_EXIT : verdict->end;
}

/* The time from the mark to the end, or to the begin of the hang that it ended by: moments of
 * CLOCK_MONOTONIC. */
static uint64_t lived_ns(const struct lg__last_run *last, const lg_run_context *of_run)
{
    uint64_t ended_ns = last->verdict.end == LG_END_HANG ? last->info.hang_ns : last->verdict.monotonic_ns;
    bool known = of_run && of_run->finished_ns && ended_ns >= of_run->finished_ns;
    return known ? ended_ns - of_run->finished_ns : LG__LIVED_UNKNOWN;
}

static bool is_finished(const struct lg__last_run *last, const struct lg__ledger_context *context)
{
    const lg_run_context *of_run = last ? lg__evidence_context(last, context->name) : NULL;
    return of_run && of_run->phase == LG_PHASE_FINISHED;
}

struct lg__reached lg__account_reached(struct lg__ledger_payload *payload, const struct lg__last_run *last)
{
    struct lg__reached reached = { .nothing = true };
    for (uint32_t i = 0; i < payload->context_count; i++) {
        const struct lg__ledger_context *context = &payload->contexts[i];
        reached.nothing = reached.nothing && context->phase == LG_PHASE_NONE;
        reached.launching = reached.launching || (lg__phase_launching((lg_phase)context->phase) && !is_finished(last, context));
    }
    for (uint32_t i = 0; i < payload->context_count && !reached.nothing; i++) {
        struct lg__ledger_context *context = &payload->contexts[i];
        bool begun = context->phase != LG_PHASE_NONE;
        context->flags = begun ? context->flags | LG__CONTEXT_BEGAN : context->flags & ~LG__CONTEXT_BEGAN;
    }
    return reached;
}

enum lg__account lg__account_apply(struct lg__ledger_context *context, const struct lg__last_run *last, uint64_t ordinal, const struct lg__reached *reached, bool upgraded)
{
    const lg_run_context *of_run = lg__evidence_context(last, context->name);
    struct lg__last_end end = {
        .end = weighed_as(&last->verdict),
        .signal = last->verdict.signal,
        .finished = is_finished(last, context),
        .others = last->attributed && !is_attributed(last, of_run),
        .early = reached->nothing && context->flags & LG__CONTEXT_BEGAN,
        .lived_ns = reached->launching ? LG__LIVED_UNKNOWN : lived_ns(last, of_run),
        .ordinal = ordinal,
        .task = lg__evidence_task(last, of_run),
    };
    return upgraded ? lg__ended_upgrade(context, &end) : lg__ended_account(context, &end);
}

void lg__account_finish(struct lg__ledger_context *context, const struct lg__last_run *last)
{
    if (context->phase == LG_PHASE_LAUNCHING && is_finished(last, context))
        lg__decide_finished(context);
}

/* The entry of a context in the timeline, before the end is applied to it. */
static void note_context(struct lg__ledger_run *entry, uint32_t index, const struct lg__ledger_context *context, const struct lg__last_run *last)
{
    const lg_run_context *of_run = lg__evidence_context(last, context->name);
    bool finished = is_finished(last, context);
    if (context->phase == LG_PHASE_NONE)
        return; /* not begun in that run: its events are of an older one */
    entry->events[index] = context->events;
    if (!entry->reason[0])
        memcpy(entry->reason, context->reason, sizeof entry->reason);
    if (lg__phase_launching((lg_phase)context->phase) && !finished)
        entry->launching |= 1u << index;
    if (context->phase == LG_PHASE_REPAIRING)
        entry->repairing |= 1u << index;
    if (is_attributed(last, of_run))
        entry->attributed |= 1u << index;
}

/* The oldest run of the timeline gives way. */
static const struct lg__ledger_run *append(struct lg__ledger_payload *payload, const struct lg__ledger_run *run)
{
    if (payload->timeline_count == LG__TIMELINE) {
        memmove(&payload->timeline[0], &payload->timeline[1], sizeof payload->timeline - sizeof payload->timeline[0]);
        payload->timeline_count--;
    }
    payload->timeline[payload->timeline_count] = *run;
    return &payload->timeline[payload->timeline_count++];
}

const struct lg__ledger_run *lg__account_end(struct lg__ledger_payload *payload, const struct lg__last_run *last, uint32_t before, uint32_t now)
{
    struct lg__ledger_run entry;
    memset(&entry, 0, sizeof entry);
    memcpy(entry.uuid, payload->last_uuid, sizeof entry.uuid);
    memcpy(entry.app_version, payload->app_version, sizeof entry.app_version);
    entry.ordinal = payload->last_ordinal;
    entry.wall_ns = last->info.wall_ns;
    if (last->verdict.monotonic_ns > last->info.monotonic_ns)
        entry.duration_ns = last->verdict.monotonic_ns - last->info.monotonic_ns;

    struct lg__reached reached = lg__account_reached(payload, last);
    bool upgraded = lg__versions_begin_anew(payload, before, now);
    for (uint32_t i = 0; i < payload->context_count; i++) {
        struct lg__ledger_context *context = &payload->contexts[i];
        note_context(&entry, i, context, last);
        entry.events[i] |= upgraded ? LG_EVENT_UPGRADED : 0;
        switch (lg__account_apply(context, last, payload->last_ordinal, &reached, upgraded)) {
        case LG__ACCOUNT_COUNTS: entry.counted |= 1u << i; break;
        case LG__ACCOUNT_LATE: entry.late |= 1u << i; break;
        case LG__ACCOUNT_NOTHING: break;
        }
    }
    if (entry.counted | entry.late)
        lg__versions_note_crash(payload, before);
    entry.end = last->verdict.end;
    entry.evidence = last->verdict.evidence;
    entry.signal = last->verdict.signal;
    entry.code = last->verdict.code;
    entry.kind = last->verdict.kind;
    entry.monotonic_ns = last->verdict.monotonic_ns;
    entry.degraded = last->is_degraded;
    return append(payload, &entry);
}
