/* Preparing a launch: options, repairs, tasks. Nothing is counted yet. */
#include <stdio.h>
#include <stdlib.h>

#include "launch/internal.h"
#include "os/os.h"

#define REPAIR_TIMEOUT_MS 30000u
#define REPAIR_ATTEMPTS 2u
#define LONGEST_MS 86400000
#define REPORT_WAIT_MAX_MS 5000u

static bool good_name(const char *name)
{
    size_t size = name ? strnlen(name, LG_NAME_MAX + 1) : 0;
    return size > 0 && size <= LG_NAME_MAX;
}

static lg_status check_options(struct lg__problem *problem, const char *context, const lg_launch_options *options)
{
    const char *name = good_name(context) ? context : "";
    if (!*name)
        return lg__problem_say(problem, LG_ERR_OPTION, "the name of a launch's context has to have 1 to %d bytes", LG_NAME_MAX);
    if (options->size != sizeof *options)
        return lg__problem_say(problem, LG_ERR_OPTION, "launch \"%s\": set the options with LG_LAUNCH_OPTIONS_INIT (size is %u)", name, options->size);
    if (options->report_after < 1)
        return lg__problem_say(problem, LG_ERR_OPTION, "launch \"%s\": report_after is 0; it has to be at least 1", name);
    if (options->repair_after < 1)
        return lg__problem_say(problem, LG_ERR_OPTION, "launch \"%s\": repair_after is 0; it has to be at least 1", name);
    if (options->window_ms < 0 || options->window_ms > LONGEST_MS)
        return lg__problem_say(problem, LG_ERR_OPTION, "launch \"%s\": window_ms is %lld; it has to be between 0 and %d", name,
                               (long long)options->window_ms, LONGEST_MS);
    if ((unsigned)options->finish > LG_FINISH_BOTH)
        return lg__problem_say(problem, LG_ERR_OPTION, "launch \"%s\": finish is %d; it has to be one of LG_FINISH_*", name, (int)options->finish);
    if (options->window_ms == 0 && (options->finish == LG_FINISH_TIME || options->finish == LG_FINISH_BOTH))
        return lg__problem_say(problem, LG_ERR_OPTION, "launch \"%s\": to be finished by time it needs a window_ms above 0", name);
    if (options->report_wait_ms > REPORT_WAIT_MAX_MS)
        return lg__problem_say(problem, LG_ERR_OPTION, "launch \"%s\": report_wait_ms is %u; it may be at most %u", name,
                               options->report_wait_ms, REPORT_WAIT_MAX_MS);
    return LG_OK;
}

static lg_status why_unprotected(const struct lg__host *host)
{
    if (atomic_load(&host->closed))
        return LG_ERR_CLOSED;
    if (!host->owns)
        return LG_ERR_UNPROTECTED;
    if (!lg__host_owned(host))
        return LG_ERR_FORKED;
    return host->directory[0] ? LG_ERR_SECONDARY : LG_ERR_UNPROTECTED;
}

static struct lg__state_context *claim_state(struct lg__host *host, const lg_launch *launch)
{
    uint32_t index = host->launch_count; /* and not what the file says, which anybody may have changed */
    struct lg__state_context *state = &host->run.state->contexts[index];
    memcpy(state->name, launch->name, sizeof state->name);
    atomic_store(&state->window_ms, launch->options.window_ms);
    atomic_store(&state->finish, (uint32_t)launch->options.finish);
    atomic_store(&state->used, 1);
    atomic_store(&host->run.state->context_count, index + 1);
    return state;
}

lg_status lg__launch_prepare(struct lg__host *host, const char *context, const lg_launch_options *given, lg_launch **ret_launch)
{
    static const lg_launch_options defaults = LG_LAUNCH_OPTIONS_INIT;
    const lg_launch_options *options = given ? given : &defaults;
    struct lg__problem problem = { .status = LG_OK };
    lg_status status = check_options(&problem, context, options);
    if (status != LG_OK)
        options = &defaults;

    lg_launch *launch = calloc(1, sizeof *launch);
    if (!launch) {
        /* Out of memory at the start of a program: one launch without protection is shared by all that ask. */
        static lg_launch last_resort = { .lock = PTHREAD_MUTEX_INITIALIZER };
        last_resort.host = host;
        last_resort.state = &last_resort.unprotected_state;
        *ret_launch = &last_resort;
        return LG_ERR_SYSTEM;
    }
    pthread_mutex_init(&launch->lock, NULL);
    launch->host = host;
    launch->options = *options;
    if (given && given->size == sizeof *given) {
        /* Whoever listens to the status does so also when another option made no sense. */
        launch->options.on_status = given->on_status;
        launch->options.user = given->user;
    }
    launch->state = &launch->unprotected_state;
    snprintf(launch->name, sizeof launch->name, "%s", context ? context : "");
    uint32_t twice = options->repair_after > UINT32_MAX / 2 ? UINT32_MAX - 1 : 2 * options->repair_after;
    launch->thresholds = (struct lg__thresholds){
        options->report_after, options->repair_after,
        options->unknown_after == LG_UNKNOWN_AFTER_DEFAULT ? twice : options->unknown_after
    };

    pthread_mutex_lock(&host->lock);
    for (uint32_t i = 0; status == LG_OK && i < host->launch_count; i++)
        if (strcmp(host->launches[i]->name, launch->name) == 0) {
            lg_launch *existing = host->launches[i];
            pthread_mutex_unlock(&host->lock);
            free(launch);
            *ret_launch = existing;
            return LG_ERR_DUPLICATE;
        }
    if (status == LG_OK && (!host->counts || !lg__host_owned(host) || atomic_load(&host->closed)))
        status = why_unprotected(host);
    if (status == LG_OK) {
        struct lg__state_context *state = NULL;
        if (host->launch_count < LG_CONTEXTS_MAX && lg__ledger_context(&host->ledger.book, launch->name))
            state = claim_state(host, launch);
        if (state) {
            launch->state = state;
            launch->counts = true;
            launch->streak = lg__ledger_context(&host->ledger.book, launch->name)->streak;
            host->launches[host->launch_count++] = launch;
        } else {
            status = lg__problem_say(&problem, LG_ERR_LIMIT, "launch \"%s\": an application has at most %d contexts", launch->name, LG_CONTEXTS_MAX);
        }
    }
    if (problem.status != LG_OK && host->problem.status == LG_OK)
        host->problem = problem;
    pthread_mutex_unlock(&host->lock);
    *ret_launch = launch;
    return status;
}

lg_status lg_launch_add_repair(lg_launch *launch, const lg_repair *repair)
{
    if (!launch || !repair || !repair->run)
        return LG_ERR_ARGUMENT;
    if (repair->size != sizeof *repair || !good_name(repair->name) || repair->impact > 100 || repair->timeout_ms > LONGEST_MS ||
        repair->attempts > 100)
        return LG_ERR_OPTION;
    lg_status status = LG_OK;
    pthread_mutex_lock(&launch->lock);
    for (uint32_t i = 0; i < launch->rung_count; i++)
        if (strcmp(launch->rungs[i].name, repair->name) == 0)
            status = LG_ERR_DUPLICATE;
    if (launch->step != PREPARED)
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
        rung->timeout_ms = repair->timeout_ms ? repair->timeout_ms : REPAIR_TIMEOUT_MS;
        rung->attempts = repair->attempts ? repair->attempts : REPAIR_ATTEMPTS;
        rung->run = repair->run;
        rung->user = repair->user;
    }
    pthread_mutex_unlock(&launch->lock);
    return status;
}

lg_status lg_launch_add_task(lg_launch *launch, const lg_task *task)
{
    if (!launch || !task || !task->run)
        return LG_ERR_ARGUMENT;
    if (task->size != sizeof *task || !good_name(task->key))
        return LG_ERR_OPTION;
    lg_status status = LG_OK;
    pthread_mutex_lock(&launch->lock);
    for (uint32_t i = 0; i < launch->task_count; i++)
        if (strcmp(launch->tasks[i].key, task->key) == 0)
            status = LG_ERR_DUPLICATE;
    if (launch->step != PREPARED)
        status = LG_ERR_STATE;
    else if (status == LG_OK && launch->task_count == LG_TASKS_MAX)
        status = LG_ERR_LIMIT;
    if (status == LG_OK) {
        struct lg__task *added = &launch->tasks[launch->task_count++];
        memset(added, 0, sizeof *added);
        snprintf(added->key, sizeof added->key, "%s", task->key);
        added->run = task->run;
        added->user = task->user;
    }
    pthread_mutex_unlock(&launch->lock);
    return status;
}
