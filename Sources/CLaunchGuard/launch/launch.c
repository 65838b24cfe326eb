/* The launch itself: begin, and the way through report, hold and tasks. */
#include <errno.h>
#include <stdlib.h>

#include "launch/internal.h"
#include "os/fault_point.h"
#include "os/os.h"

static void fill_policy(lg_launch *launch, const struct lg__book_context *context, struct lg__policy *ret_policy)
{
    const lg_launch_options *options = &launch->options;
    memset(ret_policy, 0, sizeof *ret_policy);
    ret_policy->report_after = options->report_after;
    ret_policy->repair_after = options->repair_after;
    ret_policy->unknown_after = options->unknown_after;
    ret_policy->count = options->count;
    ret_policy->safe_retry_runs = options->safe_retry_runs;
    ret_policy->safe_retry_max = LG__RETRY_RUNS_MAX;
    ret_policy->safe_crash_limit = options->safe_crash_limit;
    ret_policy->deescalate_runs = options->deescalate_runs;
    ret_policy->deescalate_ms = (uint64_t)options->deescalate_ms;
    ret_policy->streak_gap_ms = (uint64_t)options->streak_gap_ms;
    ret_policy->shadow = options->shadow;
    char key[LG__NAME_BYTES];
    ret_policy->skippable = lg__custody_suspect(launch, context, key);
    ret_policy->rung_count = launch->rung_count + 1;
    strcpy(ret_policy->rungs[0].name, "leave out the suspect task");
    ret_policy->rungs[0].attempts = 1;
    ret_policy->rungs[0].flags = LG__RUNG_BUILT_IN;
    for (uint32_t i = 0; i < launch->rung_count; i++) {
        const struct lg__rung *from = &launch->rungs[i];
        struct lg__book_rung *to = &ret_policy->rungs[i + 1];
        memcpy(to->name, from->name, sizeof to->name);
        to->impact = from->impact;
        to->attempts = from->attempts;
        to->timeout_ms = from->timeout_ms;
        to->flags = from->flags;
    }
}

static void decide(lg_launch *launch, uint64_t epoch)
{
    struct lg__policy policy;
    struct lg__book_context shadow;
    struct lg__moment now = lg__host_now(launch->host);
    memset(&shadow, 0, sizeof shadow);
    atomic_store(&launch->state->begun_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    LG__WITH_CONTEXT(launch, epoch, context) {
        fill_policy(launch, context, &policy);
        lg__decide_begin(context, &policy, &now, &shadow);
    }
    if (shadow.phase == LG_PHASE_HELD)
        lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: in shadow; otherwise it would be held for the repair \"%s\"", launch->name,
                     shadow.rungs[shadow.rung].name);
    else if (shadow.mode == LG_LAUNCH_MODE_SAFE)
        lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: in shadow; otherwise it would be %s", launch->name,
                     shadow.phase == LG_PHASE_HALTED ? "halted" : "in safe mode");
}

/* The hold is over: the tasks may run, and from here on time counts. */
static void open_launch(lg_launch *launch, uint64_t epoch)
{
    pthread_mutex_lock(&launch->lock);
    bool opens = launch->epoch == epoch && lg__launch_phase(launch) == LG_PHASE_LAUNCHING;
    if (opens) {
        atomic_store(&launch->state->launching_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
        if (!lg__launch_protects(launch))
            atomic_store(&launch->state->phase, LG_PHASE_LAUNCHING);
        LG_FAULT_POINT("run: launching");
    }
    pthread_mutex_unlock(&launch->lock);
    if (!opens)
        return;
    lg__launch_tell(launch);
    lg__window_begin(launch, epoch);
}

/* A repair asked for a restart, and nothing has been decided since. */
static bool restarts(lg_launch *launch)
{
    struct lg__book_context seen;
    lg__launch_look(launch, &seen);
    return seen.phase == LG_PHASE_TERMINATING && (seen.events & LG_EVENT_RESTART);
}

/* The tasks have run, or will not. False: the program asked for protection in the last moment; there is more to do. */
static bool end_drive(lg_launch *launch, uint64_t epoch, lg_status *outcome)
{
    bool over = true;
    pthread_mutex_lock(&launch->lock);
    if (launch->epoch != epoch) {
        *outcome = LG_ERR_CLOSED;
    } else if (launch->options.hold != LG_HOLD_NONE && lg__launch_phase(launch) == LG_PHASE_HELD) {
        over = false;
    } else {
        if (restarts(launch))
            *outcome = LG_ERR_RESTART;
        launch->step = OVER;
        launch->driven = false;
        launch->outcome = *outcome;
        pthread_cond_broadcast(&launch->changed);
    }
    pthread_mutex_unlock(&launch->lock);
    return over;
}

struct driver {
    lg_launch *launch;
    uint64_t epoch;
};

static bool start_thread(void *(*function)(void *), lg_launch *launch, uint64_t epoch)
{
    struct driver *driver = malloc(sizeof *driver);
    if (!driver)
        return false;
    *driver = (struct driver){ launch, epoch };
    if (lg__callback_detach(function, driver, false))
        return true;
    free(driver);
    return false;
}

static void *drive_on_thread(void *argument);

/* Report, hold, tasks; again from the hold when the program asks for protection meanwhile. `waits`: the caller's thread may be held; else another one goes on
 * from there. */
static lg_status drive(lg_launch *launch, uint64_t epoch, bool waits)
{
    lg_status outcome;
    lg__hold_report(launch, epoch);
    do {
        lg__hold(launch, epoch);
        open_launch(launch, epoch);
        outcome = lg__custody_run(launch, epoch);
        bool held = outcome == LG_ERR_STATE || !end_drive(launch, epoch, &outcome);
        if (!held)
            return outcome;
    } while (waits || !start_thread(drive_on_thread, launch, epoch));
    return LG_OK;
}

static void *drive_on_thread(void *argument)
{
    struct driver driver = *(struct driver *)argument;
    free(argument);
    drive(driver.launch, driver.epoch, true);
    return NULL;
}

/* Repairs beside the tasks, where nothing is held. */
static void repair_beside(lg_launch *launch, uint64_t epoch)
{
    bool more;
    do {
        lg__hold(launch, epoch);
        open_launch(launch, epoch);
        pthread_mutex_lock(&launch->lock);
        more = launch->epoch == epoch && lg__launch_phase(launch) == LG_PHASE_HELD;
        if (launch->epoch == epoch && !more) {
            launch->repaired_beside = false;
            if (restarts(launch))
                launch->outcome = LG_ERR_RESTART;
            pthread_cond_broadcast(&launch->changed);
        }
        pthread_mutex_unlock(&launch->lock);
    } while (more);
}

static void *repair_on_thread(void *argument)
{
    struct driver driver = *(struct driver *)argument;
    free(argument);
    repair_beside(driver.launch, driver.epoch);
    return NULL;
}

lg_status lg_launch_begin(lg_launch *launch)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    bool first = launch->step == PREPARED;
    if (launch->host->simulated && atomic_load(&launch->host->closed)) {
        pthread_mutex_unlock(&launch->lock);
        return LG_ERR_CLOSED;
    }
    uint64_t epoch = launch->epoch;
    if (first) {
        launch->step = BEGUN;
        launch->driven = true;
        launch->outcome = LG_OK;
        launch->hold_left_ns = (uint64_t)launch->options.hold_ms * 1000000u;
    }
    pthread_mutex_unlock(&launch->lock);
    if (!first)
        return LG_ERR_STATE;
    bool waits = launch->options.hold == LG_HOLD_BLOCK;
    struct lg__book_context context = { .phase = LG_PHASE_NONE };
    if (lg__launch_protects(launch)) {
        lg__run_alive(&launch->host->run);
        decide(launch, epoch);
        lg__launch_tell(launch);
        lg__launch_look(launch, &context);
    }
    bool held = context.phase == LG_PHASE_HELD || context.phase == LG_PHASE_HALTED;
    /* The executor's thread may be this one: to wait for it here would be to wait for ever. */
    bool leaves = held || (context.flags & LG__CONTEXT_REPORTING) || launch->options.callbacks == LG_CALLBACKS_EXECUTOR;
    if (leaves && launch->options.hold == LG_HOLD_CUSTODY && start_thread(drive_on_thread, launch, epoch))
        return LG_OK;
    if (held && launch->options.hold == LG_HOLD_NONE) {
        lg__hold_report(launch, epoch); /* before anything else runs, here too */
        pthread_mutex_lock(&launch->lock);
        launch->repaired_beside = launch->epoch == epoch;
        pthread_mutex_unlock(&launch->lock);
        if (!start_thread(repair_on_thread, launch, epoch))
            repair_beside(launch, epoch);
        lg_status outcome = lg__custody_run(launch, epoch);
        end_drive(launch, epoch, &outcome);
        return outcome;
    }
    return drive(launch, epoch, waits);
}

lg_status lg_launch_wait(lg_launch *launch, uint32_t timeout_ms)
{
    struct timespec until;
    lg_status status = LG_OK;
    if (!launch)
        return LG_ERR_ARGUMENT;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&launch->lock);
    uint64_t epoch = launch->epoch;
    if (launch->step == PREPARED)
        status = LG_ERR_STATE;
    while (status == LG_OK && (launch->driven || launch->repaired_beside) && launch->epoch == epoch && !launch->forked)
        if (timeout_ms == UINT32_MAX)
            pthread_cond_wait(&launch->changed, &launch->lock);
        else if (pthread_cond_timedwait(&launch->changed, &launch->lock, &until) == ETIMEDOUT)
            status = LG_ERR_TIMEOUT;
    if (status == LG_OK)
        status = launch->epoch == epoch ? launch->outcome : LG_ERR_CLOSED;
    pthread_mutex_unlock(&launch->lock);
    return status;
}

lg_status lg_launch_protect(lg_launch *launch, const char *reason)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&launch->lock);
    uint64_t epoch = launch->epoch;
    bool possible = launch->step != PREPARED && !launch->finished;
    pthread_mutex_unlock(&launch->lock);
    if (!possible)
        return LG_ERR_STATE;
    bool held = false, safe = false, drives = false, beside = launch->options.hold == LG_HOLD_NONE;
    struct lg__moment now = lg__host_now(launch->host);
    LG__WITH_CONTEXT(launch, epoch, context) {
        safe = context->mode == LG_LAUNCH_MODE_SAFE || context->flags & LG__CONTEXT_SHADOW;
        held = context->phase == LG_PHASE_LAUNCHING && !safe;
        if (!held)
            continue;
        lg__decide_protect(context, &now);
        atomic_store(&launch->state->marked, 0);
        launch->window_over = false;
        /* Whoever runs the tasks sees the phase; when they have all run nobody does. */
        bool *driver = beside ? &launch->repaired_beside : &launch->driven;
        drives = !*driver;
        *driver = true;
    }
    lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: the program asks for protection%s: %s", launch->name, safe ? ", without effect in safe mode" : "",
                 reason ? reason : "no reason given");
    if (held)
        lg__launch_tell(launch);
    if (!drives || start_thread(beside ? repair_on_thread : drive_on_thread, launch, epoch))
        return LG_OK;
    if (beside)
        repair_beside(launch, epoch);
    else
        drive(launch, epoch, true);
    return LG_OK;
}
