/* The hold: report, protect actions, repairs, and what somebody wishes meanwhile. */
#include <stdio.h>
#include <stdlib.h>

#include "launch/internal.h"
#include "os/os.h"

void lg__hold_report(lg_launch *launch, uint64_t epoch)
{
    lg_report reports[LG__TIMELINE];
    char uuids[LG__TIMELINE][37];
    struct lg__book_context seen;
    lg__launch_look(launch, &seen);
    if (!(seen.flags & LG__CONTEXT_REPORTING) || !lg__launch_protects(launch))
        return;
    char(*paths)[4096 + 96] = launch->options.on_report ? malloc(LG__TIMELINE * sizeof *paths) : NULL;
    if (paths) {
        uint32_t count = 0;
        LG__WITH_CONTEXT(launch, epoch, context) {
            count = lg__account_reports(launch->host, (uint32_t)(context - launch->host->ledger.book.contexts), reports, paths, uuids);
            if (count)
                context->reported_ordinal = reports[count - 1].ordinal;
        }
        lg_report_batch batch = { launch->name, seen.streak, count, reports };
        enum lg__answer answer = lg__callback_report(launch, &batch, (uint64_t)launch->options.report_wait_ms * 1000000u);
        if (answer != LG__ANSWER_ABORTED)
            lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: report of streak %u %s", launch->name, batch.streak,
                         answer == LG__ANSWER_OK ? "answered" : answer == LG__ANSWER_FAILED ? "failed" : "not answered in time");
        free(paths);
    }
    LG__WITH_CONTEXT(launch, epoch, context)
        lg__decide_reported(context);
}

/* Wait until somebody wishes something, or the hold's deadline passes. */
static enum lg__wish await_wish(lg_launch *launch, uint64_t epoch)
{
    struct timespec until;
    uint64_t begun = lg__os_clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&launch->lock);
    int late = 0;
    while (launch->epoch == epoch && launch->wish == NO_WISH && !late) {
        uint64_t end = begun + launch->hold_left_ns; /* nearer after simulated time has passed */
        until.tv_sec = (time_t)(end / 1000000000u);
        until.tv_nsec = (long)(end % 1000000000u);
        late = pthread_cond_timedwait(&launch->changed, &launch->lock, &until);
    }
    enum lg__wish wish = launch->epoch == epoch ? launch->wish : NO_WISH;
    launch->wish = NO_WISH;
    uint64_t waited = lg__os_clock_ns(CLOCK_MONOTONIC) - begun;
    if (launch->epoch == epoch)
        launch->hold_left_ns -= waited < launch->hold_left_ns ? waited : launch->hold_left_ns;
    pthread_mutex_unlock(&launch->lock);
    return wish;
}

static void attempt(lg_launch *launch, uint64_t epoch)
{
    struct lg__book_context seen;
    struct lg__moment now = lg__host_now(launch->host);
    memset(&seen, 0, sizeof seen);
    LG__WITH_CONTEXT(launch, epoch, context) {
        if (context->phase != LG_PHASE_HELD) /* its end was announced meanwhile */
            continue;
        atomic_store(&launch->state->rung, context->rung);
        atomic_store(&launch->state->attempt, context->attempts + 1);
        lg__decide_attempt(context, &now);
        seen = *context;
    }
    if (seen.phase != LG_PHASE_REPAIRING)
        return;
    lg__launch_set_status(launch, LG_LAUNCH_REPAIRING);
    enum lg__answer answer = LG__ANSWER_OK;
    if (seen.rung > 0) {
        const struct lg__rung *rung = &launch->rungs[seen.rung - 1];
        answer = lg__callback_repair(launch, rung->run, rung->user, (uint64_t)rung->timeout_ms * 1000000u);
    }
    if (answer == LG__ANSWER_ABORTED)
        return;
    lg__host_log(launch->host, answer == LG__ANSWER_OK ? LG_LEVEL_INFO : LG_LEVEL_ERROR, "launch %s: repair \"%s\", attempt %u: %s", launch->name,
                 seen.rungs[seen.rung].name, seen.attempts,
                 answer == LG__ANSWER_OK ? "repaired" : answer == LG__ANSWER_FAILED ? "failed" : "no answer in time");
    now = lg__host_now(launch->host);
    LG__WITH_CONTEXT(launch, epoch, context) {
        if (context->phase != LG_PHASE_REPAIRING)
            continue;
        if (answer == LG__ANSWER_OK && context->rung == 0 && lg__custody_suspect(launch, context, launch->left_out)) {
            context->events |= LG_EVENT_LEFT_OUT;
            for (uint32_t i = 0; i < context->suspect_count; i++)
                context->suspects[i].left_out = strcmp(context->suspects[i].key, launch->left_out) == 0;
        }
        if (answer == LG__ANSWER_OK)
            atomic_store(&launch->state->repaired, 1);
        lg__decide_attempted(context, answer == LG__ANSWER_OK, &now);
    }
}

/* What a held launch waits with is not done: a wish came in, or the deadline. */
static void follow(lg_launch *launch, uint64_t epoch, enum lg__wish wish, lg_phase from)
{
    struct lg__moment now = lg__host_now(launch->host);
    LG__WITH_CONTEXT(launch, epoch, context) {
        if ((lg_phase)context->phase != from)
            continue;
        switch (wish) {
        case WISH_REFUSE: lg__decide_refuse(context, &now); break;
        case WISH_SKIP: lg__decide_skip(context); break;
        case WISH_TRY_SAFE: lg__decide_try_safe(context); break;
        default:
            lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: held for too long; it goes on in safe mode", launch->name);
            lg__decide_expired(context);
            break;
        }
    }
}

static void held(lg_launch *launch, uint64_t epoch, const struct lg__book_context *seen)
{
    const struct lg__book_rung *rung = &seen->rungs[seen->rung];
    pthread_mutex_lock(&launch->lock);
    enum lg__wish wish = launch->wish;
    bool first = !launch->holding;
    launch->was_held = launch->holding = true;
    bool itself = (rung->flags & LG__RUNG_BUILT_IN) || ((launch->options.auto_repair || launch->consented) && !(rung->flags & LG_REPAIR_CONSENT)) ||
                  (launch->consented && seen->attempts > 0);
    pthread_mutex_unlock(&launch->lock);
    if (first && launch->options.hold != LG_HOLD_NONE) {
        lg__custody_protect(launch, epoch);
        return; /* and look again */
    }
    if (wish == NO_WISH && itself) {
        attempt(launch, epoch);
        return;
    }
    wish = await_wish(launch, epoch);
    if (!lg__launch_goes_on(launch, epoch))
        return;
    if (wish != WISH_REPAIR) {
        follow(launch, epoch, wish, LG_PHASE_HELD);
        return;
    }
    pthread_mutex_lock(&launch->lock);
    launch->consented = true;
    pthread_mutex_unlock(&launch->lock);
    attempt(launch, epoch);
}

static void halted(lg_launch *launch, uint64_t epoch)
{
    lg__host_log(launch->host, LG_LEVEL_ERROR, "launch %s: safe mode crashed too; halted", launch->name);
    if (launch->options.on_give_up) {
        enum lg__answer answer = lg__callback_give_up(launch, (uint64_t)launch->options.report_wait_ms * 1000000u);
        if (answer == LG__ANSWER_ABORTED)
            return;
    }
    enum lg__wish wish = WISH_TRY_SAFE;
    if (launch->options.supervised) {
        wish = await_wish(launch, epoch);
        if (!lg__launch_goes_on(launch, epoch))
            return;
    }
    follow(launch, epoch, wish == WISH_TRY_SAFE ? wish : NO_WISH, LG_PHASE_HALTED);
}

void lg__hold(lg_launch *launch, uint64_t epoch)
{
    while (lg__launch_protects(launch) && lg__launch_goes_on(launch, epoch)) {
        struct lg__book_context seen;
        lg__launch_look(launch, &seen);
        if (seen.phase != LG_PHASE_HELD && seen.phase != LG_PHASE_HALTED)
            break;
        lg__launch_set_status(launch, LG_LAUNCH_NEEDS_REPAIR);
        if (seen.phase == LG_PHASE_HELD)
            held(launch, epoch, &seen);
        else
            halted(launch, epoch);
    }
    pthread_mutex_lock(&launch->lock);
    if (launch->epoch == epoch) {
        launch->wish = NO_WISH;
        launch->consented = launch->holding = false;
    }
    pthread_mutex_unlock(&launch->lock);
}

/* ---- wishes ---- */

static lg_status wish(lg_launch *launch, enum lg__wish wish, lg_phase in, bool while_repairing)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    if (!lg__launch_protects(launch))
        return LG_ERR_STATE;
    pthread_mutex_lock(&launch->lock);
    lg_phase phase = lg__launch_phase(launch);
    bool possible = phase == in && launch->step != PREPARED;
    if (possible) {
        launch->wish = wish;
        pthread_cond_broadcast(&launch->changed);
    }
    pthread_mutex_unlock(&launch->lock);
    return possible || (while_repairing && phase == LG_PHASE_REPAIRING) ? LG_OK : LG_ERR_STATE;
}

lg_status lg_launch_repair(lg_launch *launch)
{
    return wish(launch, WISH_REPAIR, LG_PHASE_HELD, true);
}

lg_status lg_launch_refuse(lg_launch *launch)
{
    return wish(launch, WISH_REFUSE, LG_PHASE_HELD, false);
}

lg_status lg_launch_skip(lg_launch *launch)
{
    return wish(launch, WISH_SKIP, LG_PHASE_HELD, false);
}

lg_status lg_launch_try_safe(lg_launch *launch)
{
    return wish(launch, WISH_TRY_SAFE, LG_PHASE_HALTED, false);
}
