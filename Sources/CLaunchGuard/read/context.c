#include "read/context.h"

#include "read/reader.h"

/* A rung may be left. The next launch knows whether it is throttled. */
static bool has_untried(const struct lg__ledger_context *stored)
{
    for (uint32_t i = 0; i < stored->rung_count && i < LG__RUNGS; i++) {
        const struct lg__ledger_rung *rung = &stored->rungs[i];
        bool skips = !(rung->flags & LG__RUNG_BUILT_IN) || stored->flags & LG__CONTEXT_SKIPPABLE;
        if (rung->fate == LG__RUNG_UNTRIED && rung->attempts && skips)
            return true;
    }
    return false;
}

static bool halted(const struct lg__ledger_context *stored)
{
    bool limit = stored->safe_crash_limit && stored->safe_crashes >= stored->safe_crash_limit;
    return stored->phase == LG_PHASE_HALTED ||
           (stored->phase == LG_PHASE_NONE && stored->mode == LG_LAUNCH_MODE_SAFE && limit && !has_untried(stored));
}

void lg__reader_context_info(const struct lg__ledger_context *stored, lg_launch_info *ret_info)
{
    lg_launch_info info;
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    lg__reader_text(info.name, sizeof info.name, stored->name, sizeof stored->name);
    lg__reader_text(info.last_task, sizeof info.last_task, stored->last_task, sizeof stored->last_task);
    lg__reader_context_is(&info, lg__reader_context_state(stored->phase));
    info.mode = (lg_launch_mode)stored->mode;
    info.halted = halted(stored);
    info.due = (stored->flags & LG__CONTEXT_DUE) != 0;
    info.shadow = (stored->flags & LG__CONTEXT_SHADOW) != 0;
    info.streak = stored->streak;
    info.unknown = stored->unknown;
    info.reported = stored->reported;
    info.rung = stored->rung;
    info.rung_count = stored->rung_count;
    info.attempts = stored->attempts;
    info.interruptions = stored->interruptions;
    info.skips = stored->skips;
    info.good_runs = stored->good_runs;
    info.retry_runs = stored->retry_runs;
    info.safe_crashes = stored->safe_crashes;
    info.report_after = stored->report_after;
    info.repair_after = stored->repair_after;
    info.unknown_after = stored->unknown_after;
    info.safe_crash_limit = stored->safe_crash_limit;
    info.window_ms = stored->window_ms;
    info.finish = stored->finish <= LG_FINISH_BOTH ? (lg_finish)stored->finish : LG_FINISH_EITHER;
    info.suspect_count = stored->suspect_count;
    info.launches = stored->launches;
    info.crashes = stored->crashes;
    info.repairs = stored->repairs;
    info.ends = stored->ends;
    info.quits = stored->quits;
    info.unsteady = stored->unsteady;
    info.stops = stored->stops;
    info.events = stored->events;
    *ret_info = info;
}

lg_status lg__reader_context_give(const lg_launch_info *info, lg_launch_info *ret_info)
{
    const uint32_t size = ret_info->size;
    if (size < sizeof *info)
        return LG_ERR_ARGUMENT;
    memcpy(ret_info, info, sizeof *info);
    ret_info->size = size;
    return LG_OK;
}
