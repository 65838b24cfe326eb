#include <stdio.h>
#include <string.h>

#include "launch/evidence.h"
#include "launch/launch.h"
#include "launch/versions.h"
#include "store/ledger_payload.h"

void lg__account_read(const char *directory, const struct lg__ledger_payload *payload, const struct lg__hot *hot, bool replaced, struct lg__last_run *ret_last)
{
    char path[LG__REPORT_PATH_BYTES];
    lg__reports_path(directory, payload->last_ordinal, payload->last_uuid, path);
    lg__evidence_read(path, atomic_load(&hot->crash_ordinal) == payload->last_ordinal, replaced, ret_last);
    uint32_t passed = atomic_load(&hot->passed);
    if (!ret_last->readable && (passed & LG__PASSED_RUN(UINT32_MAX)) == LG__PASSED_RUN(payload->last_ordinal))
        lg__evidence_finished(ret_last, payload, passed);
}

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

static void account(struct lg__host *host, const struct lg__identity *self)
{
    struct lg__ledger_payload *payload = &host->ledger.payload;
    struct lg__last_run last;
    /* While the primary lives, no other process becomes primary. So a process of that name that
     * lives is this one, before an exec. */
    if (!lg__clean_end_read(host->ledger.hot, payload, &last))
        lg__account_read(host->directory, payload, host->ledger.hot, true, &last);
    struct lg__ledger_run entry;
    memset(&entry, 0, sizeof entry);
    memcpy(entry.uuid, payload->last_uuid, sizeof entry.uuid);
    memcpy(entry.app_version, payload->app_version, sizeof entry.app_version);
    entry.ordinal = payload->last_ordinal;
    entry.wall_ns = last.info.wall_ns;
    if (last.verdict.monotonic_ns > last.info.monotonic_ns)
        entry.duration_ns = last.verdict.monotonic_ns - last.info.monotonic_ns;

    uint32_t before = lg__ledger_payload_program(payload->app_version, payload->build_id, payload->build_id_size);
    struct lg__reached reached = lg__account_reached(payload, &last);
    bool upgraded = lg__versions_begin_anew(payload, before, lg__ledger_payload_program(self->app_version, self->build_id, self->build_id_size));
    for (uint32_t i = 0; i < payload->context_count; i++) {
        struct lg__ledger_context *context = &payload->contexts[i];
        note_context(&entry, i, context, &last);
        entry.events[i] |= upgraded ? LG_EVENT_UPGRADED : 0;
        switch (lg__account_apply(context, &last, payload->last_ordinal, &reached, upgraded)) {
        case LG__ACCOUNT_COUNTS: entry.counted |= 1u << i; break;
        case LG__ACCOUNT_LATE: entry.late |= 1u << i; break;
        case LG__ACCOUNT_NOTHING: break;
        }
    }
    if (entry.counted | entry.late)
        lg__versions_note_crash(payload, before);
    entry.end = last.verdict.end;
    entry.evidence = last.verdict.evidence;
    entry.signal = last.verdict.signal;
    entry.code = last.verdict.code;
    entry.kind = last.verdict.kind;
    entry.monotonic_ns = last.verdict.monotonic_ns;
    entry.degraded = last.is_degraded;
    lg__ledger_append(payload, &entry);
}

void lg__account_last_run(struct lg__host *host, const struct lg__identity *self)
{
    struct lg__ledger_payload *payload = &host->ledger.payload;
    if (payload->last_ordinal)
        account(host, self);
    memcpy(payload->app_id, self->app_id, sizeof payload->app_id);
    memcpy(payload->app_version, self->app_version, sizeof payload->app_version);
    memcpy(payload->build_id, self->build_id, sizeof payload->build_id);
    payload->build_id_size = self->build_id_size;
    payload->last_ordinal = self->ordinal;
    memcpy(payload->last_uuid, self->uuid, sizeof payload->last_uuid);
    /* One store for the account and for the new run. After a kill before the store, the next
     * start accounts the same run again; after a later kill, no start does. */
    lg__ledger_store(&host->ledger);
}
