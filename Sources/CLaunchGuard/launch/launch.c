/* The launch itself: hold, repair, run the tasks, finish. */
#include <stdlib.h>

#include "launch/internal.h"
#include "launchguard/reader.h"
#include "os/os.h"
#include "store/text.h"

bool lg__host_owned(const struct lg__host *host)
{
    return host->owns && atomic_load_explicit(host->owns, memory_order_relaxed);
}

void lg__host_log(const struct lg__host *host, lg_level level, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (!lg__host_owned(host))
        return;
    va_start(arguments, format);
    size_t size = lg__text_format(text, sizeof text, format, arguments);
    va_end(arguments);
    lg__ring_write(&host->run.ring, level, text, size < sizeof text ? size : sizeof text);
}

static bool protects(const lg_launch *launch)
{
    return launch->counts && lg__host_owned(launch->host) && !atomic_load(&launch->host->closed);
}

/* ---- changing state ---- */

static void set_status(lg_launch *launch, lg_launch_status status)
{
    pthread_mutex_lock(&launch->lock);
    bool changed = atomic_exchange(&launch->status, (uint32_t)status) != (uint32_t)status;
    if (changed)
        lg__host_log(launch->host, LG_LEVEL_DEBUG, "launch %s: %s", launch->name, lg_launch_status_name(status));
    pthread_mutex_unlock(&launch->lock);
    if (changed && launch->options.on_status)
        launch->options.on_status(launch, status, launch->options.user);
}

/* Change the context's stored counters: `change` runs under the ledger's lock, and its outcome is stored before anything else happens. */
#define WITH_CONTEXT(launch, context)                                                                        \
    for (struct lg__book_context *context = lock_context(launch); context; context = store_context(launch))

static struct lg__book_context *lock_context(lg_launch *launch)
{
    pthread_mutex_lock(&launch->host->lock);
    return lg__ledger_context(&launch->host->ledger.book, launch->name);
}

static struct lg__book_context *store_context(lg_launch *launch)
{
    lg__ledger_store(&launch->host->ledger);
    pthread_mutex_unlock(&launch->host->lock);
    return NULL;
}

static void confirm(lg_launch *launch)
{
    pthread_mutex_lock(&launch->lock);
    bool first = launch->step == HELD_OVER;
    if (first)
        launch->step = FINISHED;
    pthread_mutex_unlock(&launch->lock);
    if (!first)
        return;
    if (protects(launch)) {
        lg__run_alive(&launch->host->run);
        atomic_store(&launch->state->finished_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
        atomic_store(&launch->state->phase, LG_PHASE_FINISHED);
        WITH_CONTEXT(launch, context)
            lg__decide_finished(context);
    }
    atomic_store(&launch->over, 1);
    lg__os_futex_wake((const uint32_t *)&launch->over);
    set_status(launch, LG_LAUNCH_NORMAL);
}

static uint64_t window_ns(const lg_launch *launch)
{
    return (uint64_t)launch->options.window_ms * 1000000u;
}

static bool window_passed(const lg_launch *launch)
{
    return lg__os_clock_ns(CLOCK_MONOTONIC) >= atomic_load(&launch->state->launching_ns) + window_ns(launch);
}

static void *wait_window(void *argument)
{
    lg_launch *launch = argument;
    uint64_t until = atomic_load(&launch->state->launching_ns) + window_ns(launch);
    uint64_t now;
    while (!atomic_load(&launch->over) && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until)
        lg__os_futex_wait((const uint32_t *)&launch->over, 0, until - now);
    if (launch->options.finish != LG_FINISH_BOTH || atomic_load(&launch->state->marked))
        confirm(launch);
    return NULL;
}

/* ---- the launch ---- */

static void report(lg_launch *launch)
{
    if (!launch->options.on_report)
        return;
    lg_report reports[LG__TIMELINE];
    char(*paths)[4096 + 96] = malloc(LG__TIMELINE * sizeof *paths);
    char uuids[LG__TIMELINE][37];
    uint32_t count = 0;
    if (!paths)
        return;
    WITH_CONTEXT(launch, context) {
        count = lg__account_reports(launch->host, (uint32_t)(context - launch->host->ledger.book.contexts), reports, paths, uuids);
        if (count)
            context->reported_ordinal = reports[count - 1].ordinal;
    }
    lg_report_batch batch = { launch->name, atomic_load(&launch->streak), count, reports };
    enum lg__answer answer =
        lg__callback_report(launch->options.on_report, &batch, launch->options.user, (uint64_t)launch->options.report_wait_ms * 1000000u);
    lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: report of streak %u %s", launch->name, batch.streak,
                 answer == LG__ANSWER_OK ? "answered" : answer == LG__ANSWER_FAILED ? "failed" : "not answered in time");
    free(paths);
}

static struct lg__decision repair(lg_launch *launch, uint32_t number, const struct lg__ladder *ladder)
{
    const struct lg__rung *rung = &launch->rungs[number];
    struct lg__decision decision = { .next = LG__NEXT_LAUNCH };
    uint32_t attempt = 0;
    WITH_CONTEXT(launch, context) {
        lg__decide_attempt(context);
        attempt = context->attempts;
        memcpy(context->rung_name, rung->name, sizeof context->rung_name);
    }
    atomic_store(&launch->state->rung, number);
    atomic_store(&launch->state->attempt, attempt);
    atomic_store(&launch->state->phase, LG_PHASE_REPAIRING);
    lg__host_log(launch->host, LG_LEVEL_NOTICE, "launch %s: repair \"%s\", attempt %u of %u", launch->name, rung->name, attempt, rung->attempts);
    set_status(launch, LG_LAUNCH_REPAIRING);
    enum lg__answer answer = lg__callback_repair(rung->run, rung->user, (uint64_t)rung->timeout_ms * 1000000u);
    lg__host_log(launch->host, answer == LG__ANSWER_OK ? LG_LEVEL_NOTICE : LG_LEVEL_ERROR, "launch %s: repair \"%s\" %s", launch->name, rung->name,
                 answer == LG__ANSWER_OK ? "succeeded" : answer == LG__ANSWER_FAILED ? "failed" : "did not answer in time");
    WITH_CONTEXT(launch, context)
        decision = lg__decide_attempted(context, answer == LG__ANSWER_OK, ladder);
    if (answer == LG__ANSWER_OK)
        atomic_store(&launch->state->repaired, 1);
    return decision;
}

static void hold(lg_launch *launch)
{
    const struct lg__ladder ladder = { launch->rung_count, launch->attempts };
    struct lg__decision decision = { .next = LG__NEXT_LAUNCH };
    atomic_store(&launch->state->begun_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    atomic_store(&launch->state->phase, LG_PHASE_DECIDING);
    WITH_CONTEXT(launch, context)
        decision = lg__decide_begin(context, &launch->thresholds, &ladder);
    set_status(launch, decision.next == LG__NEXT_REPAIR ? LG_LAUNCH_NEEDS_REPAIR : LG_LAUNCH_CHECKING);
    if (decision.report)
        report(launch);
    while (decision.next == LG__NEXT_REPAIR) {
        set_status(launch, LG_LAUNCH_NEEDS_REPAIR);
        decision = repair(launch, decision.rung, &ladder);
    }
}

static void run_tasks(lg_launch *launch)
{
    for (uint32_t i = 0; i < launch->task_count; i++) {
        const struct lg__task *task = &launch->tasks[i];
        memcpy(launch->state->task, task->key, sizeof launch->state->task);
        atomic_store(&launch->state->task_set, 1);
        lg_status status = task->run(task->user);
        atomic_store(&launch->state->task_set, 0);
        if (status != LG_OK)
            lg__host_log(launch->host, LG_LEVEL_ERROR, "launch %s: task \"%s\" failed (%s)", launch->name, task->key, lg_status_name(status));
    }
}

lg_status lg_launch_begin(lg_launch *launch)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    bool first = launch->step == PREPARED;
    if (first)
        launch->step = BEGUN;
    pthread_mutex_unlock(&launch->lock);
    if (!first)
        return LG_ERR_STATE;
    for (uint32_t i = 0; i < launch->rung_count; i++)
        launch->attempts[i] = launch->rungs[i].attempts;

    if (protects(launch)) {
        lg__run_alive(&launch->host->run);
        hold(launch);
    }
    atomic_store(&launch->state->launching_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    atomic_store(&launch->state->phase, LG_PHASE_LAUNCHING);
    /* First the status: a mark that another thread sets as soon as the hold is over makes it normal, and that must come last. */
    set_status(launch, LG_LAUNCH_CHECKING);
    pthread_mutex_lock(&launch->lock);
    launch->step = HELD_OVER;
    pthread_mutex_unlock(&launch->lock);
    if (launch->options.finish != LG_FINISH_MARK && launch->options.window_ms > 0)
        lg__callback_detach(wait_window, launch);
    run_tasks(launch);
    return LG_OK;
}

lg_status lg_launch_finished(lg_launch *launch)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    enum lg__step step = launch->step;
    pthread_mutex_unlock(&launch->lock);
    if (step == FINISHED)
        return LG_OK;
    if (step != HELD_OVER)
        return LG_ERR_STATE;
    if (launch->options.finish == LG_FINISH_TIME)
        return LG_OK;
    atomic_store(&launch->state->marked, 1);
    if (launch->options.finish != LG_FINISH_BOTH || window_passed(launch))
        confirm(launch);
    return LG_OK;
}

lg_launch_status lg_launch_get_status(const lg_launch *launch)
{
    return launch ? (lg_launch_status)atomic_load(&launch->status) : LG_LAUNCH_NORMAL;
}

uint32_t lg_launch_streak(const lg_launch *launch)
{
    return launch ? atomic_load(&launch->streak) : 0;
}

const char *lg_launch_status_name(lg_launch_status status)
{
    switch (status) {
    case LG_LAUNCH_NORMAL: return "normal";
    case LG_LAUNCH_CHECKING: return "checking";
    case LG_LAUNCH_NEEDS_REPAIR: return "needs-repair";
    case LG_LAUNCH_REPAIRING: return "repairing";
    }
    return "invalid";
}
