/* Preparing a launch: options and repairs. Nothing is counted yet. */
#include <stdio.h>
#include <stdlib.h>

#include "launch/internal.h"
#include "os/os.h"
#include "store/given.h"

static size_t modules_size(const char *const *modules)
{
    size_t size = 1;
    for (; modules && *modules; modules++)
        size += strlen(*modules) + 1;
    return size;
}

/* `wrong`: what is wrong with the structure as such; "": nothing. */
static lg_status check_options(struct lg__problem *problem, const char *context, const char *wrong, const lg_launch_options *options)
{
    const char *name = lg__tasks_good_key(context) ? context : "";
    if (!*name)
        return lg__problem_say(problem, LG_ERR_OPTION, "the name of a launch's context must have 1 to %d bytes", LG_NAME_MAX);
    if (*wrong) {
    } else if (options->window_ms == 0 && (options->finish == LG_FINISH_TIME || options->finish == LG_FINISH_BOTH)) {
        wrong = "a launch that time finishes needs a window_ms above 0";
    } else if (options->callbacks == LG_CALLBACKS_CALLER && options->hold != LG_HOLD_BLOCK) {
        wrong = "callbacks on the caller's thread need LG_HOLD_BLOCK";
    } else if ((options->callbacks == LG_CALLBACKS_EXECUTOR) != (options->executor != NULL)) {
        wrong = "LG_CALLBACKS_EXECUTOR and executor need each other";
    } else if (options->kill_switch && !options->kill_switch[0]) {
        wrong = "kill_switch is empty; it must be the name of an environment variable, or NULL";
    }
    if (*wrong)
        return lg__problem_say(problem, LG_ERR_OPTION, "launch \"%s\": %s", name, wrong);
    for (const char *const *module = options->modules; module && *module; module++)
        if (!**module || strchr(*module, '/'))
            return lg__problem_say(problem, LG_ERR_OPTION, "launch \"%s\": \"%s\" among its modules is no file name: not empty, without a slash", name, *module);
    if (modules_size(options->modules) > LG__OWNED_BYTES)
        return lg__problem_say(problem, LG_ERR_OPTION, "launch \"%s\": the names of its modules have %zu bytes together; at most %d fit", name,
                               modules_size(options->modules) - 1, LG__OWNED_BYTES - 1);
    return LG_OK;
}

/* "twice repair_after" */
static uint32_t unknown_after(const lg_launch_options *options)
{
    if (options->unknown_after != LG_UNKNOWN_AFTER_DEFAULT)
        return options->unknown_after;
    return options->repair_after > UINT32_MAX / 2 ? UINT32_MAX - 1 : 2 * options->repair_after;
}

bool lg__setup_policy(const lg_launch_options *given, struct lg__policy *ret_policy)
{
    struct lg__problem ignored = { .status = LG_OK };
    lg_launch_options own = LG_LAUNCH_OPTIONS_INIT, *const options = &own;
    char wrong[LG__GIVEN_WRONG_BYTES] = "";
    lg__given_take(&lg__given_launch_options, &own, given, wrong);
    memset(ret_policy, 0, sizeof *ret_policy);
    if (check_options(&ignored, "asker", wrong, options) != LG_OK)
        return false;
    ret_policy->report_after = options->report_after;
    ret_policy->repair_after = options->repair_after;
    ret_policy->unknown_after = unknown_after(options);
    ret_policy->count = options->count;
    ret_policy->safe_retry_runs = options->safe_retry_runs;
    ret_policy->safe_retry_max = LG__GIVEN_RETRY_RUNS_MAX;
    ret_policy->safe_crash_limit = options->safe_crash_limit;
    ret_policy->deescalate_runs = options->deescalate_runs;
    ret_policy->deescalate_ms = (uint64_t)options->deescalate_ms;
    ret_policy->steady_ms = (uint64_t)options->steady_ms;
    ret_policy->window_ms = (uint32_t)options->window_ms;
    ret_policy->finish = options->finish;
    ret_policy->shadow = options->shadow;
    ret_policy->by_hand = !options->auto_repair;
    return true;
}

static bool switched_off(const char *variable)
{
    const char *value = variable && !lg__os_secure() ? getenv(variable) : NULL;
    return value && value[0] && strcmp(value, "0") != 0;
}

/* This run does not begin the launch, and its end is not one of the last launch either. Under the
 * host's lock. */
static void forgo(struct lg__host *host, const char *name)
{
    struct lg__ledger_context *context = host->counts ? lg__ledger_find_context(&host->ledger.payload, name) : NULL;
    if (!context || !(context->flags & LG__CONTEXT_BEGAN))
        return;
    context->flags &= ~LG__CONTEXT_BEGAN;
    lg__ledger_store(&host->ledger);
}

static lg_status why_unprotected(const struct lg__host *host)
{
    if (atomic_load(&host->closed))
        return LG_ERR_CLOSED;
    if (!host->unforked)
        return LG_ERR_UNPROTECTED;
    if (!lg__host_unforked(host))
        return LG_ERR_FORKED;
    return host->directory[0] ? LG_ERR_SECONDARY : LG_ERR_UNPROTECTED;
}

static void claim_state(struct lg__host *host, lg_launch *launch)
{
    /* never the count in the file, which other processes may have changed */
    uint32_t index = host->launch_count;
    struct lg__state_context *state = launch->state = &host->run.state->contexts[index];
    launch->owner = &host->run.owners->contexts[index];
    *launch->owner = launch->unprotected_owner;
    memcpy(state->name, launch->name, sizeof state->name);
    atomic_store(&state->window_ms, launch->options.window_ms);
    atomic_store(&state->finish, (uint32_t)launch->options.finish);
    atomic_store(&state->used, 1);
    atomic_store(&host->run.state->context_count, index + 1);
}

/* The launch of all callers for which there is no memory. */
static lg_launch *last_resort(struct lg__host *host)
{
    static lg_launch launch = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    launch.host = host;
    launch.state = &launch.unprotected_state;
    launch.owner = &launch.unprotected_owner;
    return &launch;
}

static void make_locks(lg_launch *launch)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&launch->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&launch->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static _Atomic(lg_launch *) newest;

/* A thread that held a lock at the fork is not in the child. */
static void launches_in_child(void)
{
    static const _Atomic uint32_t nobody;
    for (lg_launch *launch = atomic_load(&newest); launch; launch = launch->older) {
        launch->forked = true;
        make_locks(launch);
        pthread_mutex_init(&launch->host->lock, NULL);
        if (launch->host->simulated) /* another session sees to it itself */
            launch->host->unforked = &nobody;
    }
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, launches_in_child);
}

static lg_launch *make_launch(struct lg__host *host, const char *context, const lg_launch_options *options)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    lg_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return NULL;
    pthread_once(&once, watch_forks);
    make_locks(launch);
    launch->host = host;
    launch->options = *options;
    launch->state = &launch->unprotected_state;
    launch->owner = &launch->unprotected_owner;
    snprintf(launch->name, sizeof launch->name, "%s", context ? context : "");
    char *to = launch->unprotected_owner.modules;
    for (const char *const *module = options->modules; module && *module; module++)
        to = stpcpy(to, *module) + 1;
    return launch;
}

static bool is_prepared(const struct lg__host *host, const char *name)
{
    for (uint32_t i = 0; i < host->launch_count; i++)
        if (strncmp(host->launches[i]->name, name, LG__NAME_BYTES) == 0)
            return true;
    return false;
}

/* Nothing would be lost but totals. */
static bool at_rest(const struct lg__ledger_context *context)
{
    return (context->phase == LG_PHASE_NONE || context->phase == LG_PHASE_FINISHED) && context->mode == LG_LAUNCH_MODE_NORMAL &&
           !(context->flags & (LG__CONTEXT_DUE | LG__CONTEXT_OWES | LG__CONTEXT_LATE)) && context->streak == 0 && context->unknown == 0 &&
           context->unsteady == 0 && context->stops == 0;
}

/* The context of that name. Where all places are taken, by names of earlier versions perhaps, the
 * least used one at rest gives way, in the timeline too. */
static struct lg__ledger_context *context_named(struct lg__host *host, const char *name)
{
    struct lg__ledger_payload *payload = &host->ledger.payload;
    struct lg__ledger_context *found = lg__ledger_find_context(payload, name), *least = NULL;
    if (found)
        return found;
    for (uint32_t i = 0; i < payload->context_count; i++)
        if (at_rest(&payload->contexts[i]) && !is_prepared(host, payload->contexts[i].name) && (!least || payload->contexts[i].launches < least->launches))
            least = &payload->contexts[i];
    if (!least)
        return NULL;
    uint32_t index = (uint32_t)(least - payload->contexts);
    for (uint32_t i = 0; i < payload->timeline_count; i++) {
        struct lg__ledger_run *run = &payload->timeline[i];
        run->launching &= ~(1u << index);
        run->repairing &= ~(1u << index);
        run->counted &= ~(1u << index);
        run->attributed &= ~(1u << index);
        run->events[index] = 0;
    }
    memset(least, 0, sizeof *least);
    snprintf(least->name, sizeof least->name, "%s", name);
    return least;
}

/* Protect the launch by the ledger. Under the host's lock. */
static lg_status protect(struct lg__host *host, lg_launch *launch, struct lg__problem *problem)
{
    const struct lg__ledger_context *stored = host->launch_count < LG_CONTEXTS_MAX ? context_named(host, launch->name) : NULL;
    if (!stored)
        return lg__problem_say(problem, LG_ERR_LIMIT, "launch \"%s\": an application has at most %d contexts", launch->name, LG_CONTEXTS_MAX);
    claim_state(host, launch);
    launch->counts = true;
    launch->index = (uint32_t)(stored - host->ledger.payload.contexts);
    launch->streak = stored->streak;
    host->launches[host->launch_count] = launch;
    /* after the launch: the watch thread reads both without a lock */
    host->launch_count++;
    return LG_OK;
}

void lg__setup_take_over(lg_launch *launch)
{
    struct lg__host *host = launch->host;
    struct lg__problem ignored = { .status = LG_OK };
    if (!launch->secondary || !host->take_over || !host->take_over(host))
        return;
    pthread_mutex_lock(&host->lock);
    if (launch->secondary && !launch->life && !is_prepared(host, launch->name))
        protect(host, launch, &ignored);
    launch->secondary = false;
    pthread_mutex_unlock(&host->lock);
}

lg_status lg__setup_launch(struct lg__host *host, const char *context, const lg_launch_options *given, lg_launch **ret_launch)
{
    static const lg_launch_options defaults = LG_LAUNCH_OPTIONS_INIT;
    lg_launch_options own = defaults;
    const lg_launch_options *options = &own;
    struct lg__problem problem = { .status = LG_OK };
    char wrong[LG__GIVEN_WRONG_BYTES] = "";
    if (given)
        lg__given_take(&lg__given_launch_options, &own, given, wrong);
    lg_status status = check_options(&problem, context, wrong, options);
    if (status != LG_OK)
        options = &defaults;
    if (host->take_over)
        host->take_over(host);

    lg_launch *launch = make_launch(host, context, options);
    if (!launch) {
        *ret_launch = last_resort(host);
        return LG_ERR_SYSTEM;
    }
    /* on_status is called also where another option makes no sense. */
    launch->options.on_status = own.on_status;
    launch->options.user = own.user;

    pthread_mutex_lock(&host->lock);
    for (uint32_t i = 0; status == LG_OK && i < host->launch_count; i++)
        if (strcmp(host->launches[i]->name, launch->name) == 0) {
            lg_launch *existing = host->launches[i];
            pthread_mutex_unlock(&host->lock);
            free(launch);
            *ret_launch = existing;
            return LG_ERR_DUPLICATE;
        }
    if (status == LG_OK && switched_off(options->kill_switch)) {
        lg__host_log(host, LG_LEVEL_NOTICE, "launch %s: unprotected, since %s is set", launch->name, options->kill_switch);
        forgo(host, launch->name);
        status = LG_ERR_UNPROTECTED;
    }
    if (status == LG_OK && (!host->counts || !lg__host_unforked(host) || atomic_load(&host->closed)))
        status = why_unprotected(host);
    if (status == LG_OK)
        status = protect(host, launch, &problem);
    launch->secondary = status == LG_ERR_SECONDARY;
    launch->older = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &launch->older, launch)) {}
    if (status == LG_OK && options->report_after > options->repair_after)
        lg__host_log(host, LG_LEVEL_WARNING, "launch %s: report_after is %u and repair_after %u: a repair that helps comes before the first report",
                     launch->name, options->report_after, options->repair_after);
    launch->options.modules = NULL; /* borrowed until here */
    launch->options.kill_switch = NULL;
    if (problem.status != LG_OK && host->problem.status == LG_OK)
        host->problem = problem;
    pthread_mutex_unlock(&host->lock);
    *ret_launch = launch;
    return status;
}

lg_status lg_launch_add_repair(lg_launch *launch, const lg_repair *given)
{
    lg_repair own = LG_REPAIR_INIT;
    const lg_repair *const repair = &own;
    if (!launch || !given)
        return LG_ERR_ARGUMENT;
    if (!lg__given_take(&lg__given_repair, &own, given, NULL))
        return LG_ERR_OPTION;
    if (!repair->run)
        return LG_ERR_ARGUMENT;
    if (!lg__tasks_good_key(repair->name))
        return LG_ERR_OPTION;
    lg_status status = LG_OK;
    pthread_mutex_lock(&launch->lock);
    for (uint32_t i = 0; i < launch->rung_count; i++)
        if (strcmp(launch->rungs[i].name, repair->name) == 0)
            status = LG_ERR_DUPLICATE;
    if (launch->life)
        status = LG_ERR_STATE;
    else if (status == LG_OK && launch->rung_count == LG_REPAIRS_MAX)
        status = LG_ERR_LIMIT;
    if (status == LG_OK) {
        uint32_t at = launch->rung_count++;
        for (; at > 0 && launch->rungs[at - 1].impact > repair->impact; at--)
            launch->rungs[at] = launch->rungs[at - 1];
        struct lg__rung *rung = &launch->rungs[at];
        memset(rung, 0, sizeof *rung);
        snprintf(rung->name, sizeof rung->name, "%s", repair->name);
        rung->impact = repair->impact;
        rung->timeout_ms = repair->timeout_ms;
        rung->attempts = repair->attempts;
        rung->flags = repair->flags;
        rung->run = repair->run;
        rung->user = repair->user;
    }
    pthread_mutex_unlock(&launch->lock);
    return status;
}
