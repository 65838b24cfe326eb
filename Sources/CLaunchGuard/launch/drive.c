/* The launch itself: begin, and the way through report, hold and tasks. */
#include <errno.h>

#include "capture/capture.h"
#include "launch/internal.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "read/context.h"
#include "store/hint.h"
#include "store/kept.h"

/* What lg_launch_protect() asks for. A program that has no repair, and whose protect actions show
 * that it is held, repairs itself. */
static lg_decision protection(const lg_launch *launch)
{
    bool shows = false;
    for (uint32_t i = 0; i < launch->task_count; i++)
        shows = shows || launch->tasks[i].protect;
    return shows && launch->rung_count == 0 && launch->options.hold != LG_HOLD_NONE ? LG_DECISION_HOLD : LG_DECISION_PROTECT;
}

/* The task that a hint leaves out, registered or not. */
static void take_hinted_task(lg_launch *launch, const struct lg__hint *hint, const struct lg__moment *now)
{
    if (hint->said.kind == LG_HINT_LEAVE_OUT && !launch->options.shadow && lg__hint_is_in_force(hint, launch->name, now->wall_ns))
        memcpy(launch->hinted, hint->said.name, sizeof launch->hinted);
}

static void fill_policy(lg_launch *launch, const struct lg__ledger_context *context, const struct lg__moment *now, struct lg__policy *ret_policy)
{
    const struct lg__hint hint = lg__launch_hint(launch);
    const lg_launch_options *options = &launch->options;
    char key[LG__NAME_BYTES];
    lg__setup_policy(options, ret_policy);
    take_hinted_task(launch, &hint, now); /* which the built-in rung passes over */
    ret_policy->skippable = options->leave_out_suspects && lg__tasks_suspect(launch, context, key);
    ret_policy->asks = options->on_decide;
    ret_policy->decision = launch->early ? protection(launch) : LG_DECISION_BY_RULE;
    ret_policy->rung_count = launch->rung_count + 1;
    strcpy(ret_policy->rungs[0].name, "leave out the suspect task");
    ret_policy->rungs[0].attempts = 1;
    ret_policy->rungs[0].flags = LG__RUNG_BUILT_IN;
    for (uint32_t i = 0; i < launch->rung_count; i++) {
        const struct lg__rung *from = &launch->rungs[i];
        struct lg__ledger_rung *to = &ret_policy->rungs[i + 1];
        memcpy(to->name, from->name, sizeof to->name);
        to->impact = from->impact;
        to->attempts = from->attempts;
        to->timeout_ms = from->timeout_ms;
        to->flags = from->flags;
    }
    ret_policy->hint = lg__hinted_find(&hint, context, launch->host->ledger.payload.app_version, ret_policy, now->wall_ns);
    const lg_hint_kind kind = ret_policy->hint.kind;
    if ((kind == LG_HINT_LEAVE_OUT && !lg__tasks_find(launch, launch->hinted)) || (kind == LG_HINT_HOLD_BELOW && options->hold == LG_HOLD_NONE))
        ret_policy->hint.kind = LG_HINT_WITHDRAWN;
}

/* The end that the counters speak of. */
static bool make_last_report(struct lg__life *life, const struct lg__ledger_context *rule, struct lg__report_names *ret_names, lg_report *ret_report)
{
    struct lg__reports reports = { .count = 0 };
    uint32_t bit = 0, index;
    if (rule->ends == 0 && rule->unknown == 0 && rule->unsteady == 0)
        return false;
    LG__WITH_CONTEXT(life, context) {
        lg__reports_copy(life->launch->host, &reports);
        bit = 1u << (context - life->launch->host->ledger.payload.contexts);
    }
    if (!lg__reports_last(&reports, &index))
        return false;
    *ret_report = lg__reports_make(&reports, index, bit, ret_names);
    return true;
}

/* Ask on_decide, if there is one. `rule`: the context as the rule would have it. */
static void ask_program(struct lg__life *life, const struct lg__hinted *hint, const struct lg__ledger_context *rule)
{
    lg_launch *launch = life->launch;
    lg_launch_info info;
    lg__reader_context_info(rule, &info);
    struct lg__report_names names;
    lg_report last;
    const bool troubled = make_last_report(life, rule, &names, &last);
    lg_decision decision = launch->options.on_decide(&info, troubled ? &last : NULL, launch->options.user);
    struct lg__moment now = lg__host_now(launch->host);
    LG__WITH_CONTEXT(life, context) {
        if (decision == LG_DECISION_BY_RULE && launch->early)
            decision = protection(launch);
        if (context->phase == LG_PHASE_LAUNCHING && context->flags & LG__CONTEXT_ASKING)
            lg__decide_course(context, decision, hint, &now);
        life->by_hand = decision == LG_DECISION_HOLD;
        life->decided = true;
    }
}

/* From here on lg_launch_protect() finds a launch that is under way. */
static void settle(struct lg__life *life)
{
    pthread_mutex_lock(&life->launch->lock);
    life->decided = true;
    life->launch->early = false;
    pthread_mutex_unlock(&life->launch->lock);
}

static void log_decision(const lg_launch *launch, const struct lg__ledger_context *decided, const struct lg__ledger_context *rule)
{
    if (decided->phase == LG_PHASE_HELD)
        lg__host_log(launch->host, LG_LEVEL_NOTICE, "launch %s: %s (streak %u of %u, unknown %u of %u)", launch->name,
                     decided->events & LG_EVENT_DECIDED ? "held, as the program decided" : "a repair is needed", decided->streak,
                     decided->repair_after, decided->unknown, decided->unknown_after);
    else if (rule->phase == LG_PHASE_HELD && decided->events & LG_EVENT_DECIDED)
        lg__host_log(launch->host, LG_LEVEL_NOTICE, "launch %s: a repair is needed; it goes on, as the program decided", launch->name);
    if (!launch->options.shadow)
        return;
    if (rule->phase == LG_PHASE_HELD)
        lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: in shadow; otherwise it would be held for rung %u, repair \"%s\"",
                     launch->name, rule->rung, rule->rungs[rule->rung].name);
    else if (rule->mode == LG_LAUNCH_MODE_SAFE)
        lg__host_log(launch->host, LG_LEVEL_INFO, "launch %s: in shadow; otherwise it would be %s", launch->name,
                     rule->phase == LG_PHASE_HALTED ? "halted" : "in safe mode");
}

static void decide_begin(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    struct lg__policy policy;
    struct lg__ledger_context rule = { .phase = LG_PHASE_NONE }, decided;
    struct lg__moment now = lg__host_now(launch->host);
    bool asks = false;
    atomic_store(&launch->state->begun_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    LG__WITH_CONTEXT(life, context) {
        fill_policy(launch, context, &now, &policy);
        lg__decide_begin(context, &policy, &now, policy.asks || policy.shadow ? &rule : NULL);
        asks = context->flags & LG__CONTEXT_ASKING;
        life->decided = !asks; /* an early lg_launch_protect() has been seen */
    }
    if (asks)
        ask_program(life, &policy.hint, &rule);
    settle(life);
    lg__launch_look(launch, &decided);
    log_decision(launch, &decided, &rule);
}

/* The hold is over: the tasks may run, and from here on time counts. */
static void open_launch(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    pthread_mutex_lock(&launch->lock);
    bool opens = lg__life_current(life) && lg__launch_phase(launch) == LG_PHASE_LAUNCHING;
    if (opens) {
        uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
        atomic_store(&launch->state->launching_ns, now);
        atomic_store(&launch->window.opened_ns, now);
        if (!lg__launch_protects(launch))
            atomic_store(&launch->state->phase, LG_PHASE_LAUNCHING);
        LG_FAULT_POINT("run: launching");
    }
    pthread_mutex_unlock(&launch->lock);
    if (!opens)
        return;
    lg__launch_publish(launch);
    lg__await_window(life);
}

/* A repair asked for a restart, and nothing has been decided since. */
static bool restarts(lg_launch *launch)
{
    struct lg__ledger_context seen;
    lg__launch_look(launch, &seen);
    return seen.phase == LG_PHASE_TERMINATING && (seen.events & LG_EVENT_RESTART);
}

/* The tasks have run, or will not. False: the program asked for protection at the last moment, and
 * there is more to do. */
static bool end_drive(struct lg__life *life, lg_status *outcome)
{
    lg_launch *launch = life->launch;
    bool over = true;
    pthread_mutex_lock(&launch->lock);
    if (!lg__life_current(life)) {
        *outcome = LG_ERR_CLOSED;
    } else if (launch->options.hold != LG_HOLD_NONE && lg__launch_phase(launch) == LG_PHASE_HELD) {
        over = false;
    } else {
        if (restarts(launch))
            *outcome = LG_ERR_RESTART;
        life->done = true;
        life->driven = false;
        life->outcome = *outcome;
        pthread_cond_broadcast(&launch->changed);
    }
    pthread_mutex_unlock(&launch->lock);
    return over;
}

static void *drive_on_thread(void *argument);

/* Report, hold and tasks; once more from the hold when the program asks for protection meanwhile.
 * `waits`: the launch may hold the caller's thread; else another thread goes on from the hold. */
static lg_status drive(struct lg__life *life, bool waits)
{
    lg_status outcome;
    lg__hold_report(life);
    do {
        lg__hold_launch(life);
        open_launch(life);
        outcome = lg__custody_run(life);
        bool held = outcome == LG_ERR_STATE || !end_drive(life, &outcome);
        if (!held)
            return outcome;
    } while (waits || !lg__callback_detach(drive_on_thread, life, false));
    return LG_OK;
}

static void *drive_on_thread(void *argument)
{
    lg__capture_own_begin();
    drive(argument, true);
    lg__capture_own_end();
    return NULL;
}

/* Repairs beside the tasks, where nothing is held. */
static void repair_beside(struct lg__life *life)
{
    lg_launch *launch = life->launch;
    bool more;
    do {
        lg__hold_launch(life);
        open_launch(life);
        pthread_mutex_lock(&launch->lock);
        more = lg__life_current(life) && lg__launch_phase(launch) == LG_PHASE_HELD;
        if (lg__life_current(life) && !more) {
            life->repaired_beside = false;
            if (restarts(launch))
                life->outcome = LG_ERR_RESTART;
            pthread_cond_broadcast(&launch->changed);
        }
        pthread_mutex_unlock(&launch->lock);
    } while (more);
}

static void *repair_on_thread(void *argument)
{
    lg__capture_own_begin();
    repair_beside(argument);
    lg__capture_own_end();
    return NULL;
}

lg_status lg_launch_begin(lg_launch *launch)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    lg__setup_take_over(launch);
    pthread_mutex_lock(&launch->lock);
    bool closed = launch->host->simulated && atomic_load(&launch->host->closed), first = !launch->life;
    struct lg__life *life = first && !closed ? lg__life_begin(launch) : NULL;
    pthread_mutex_unlock(&launch->lock);
    if (!life)
        return closed ? LG_ERR_CLOSED : first ? LG_ERR_SYSTEM : LG_ERR_STATE;
    bool waits = launch->options.hold == LG_HOLD_BLOCK;
    struct lg__ledger_context context = { .phase = LG_PHASE_NONE };
    if (lg__launch_protects(launch)) {
        lg__capture_called();
        if (!launch->host->simulated)
            atomic_store(&launch->keeps, lg__kept_purge(launch->host->directory));
        decide_begin(life);
        lg__launch_publish(launch);
        lg__launch_look(launch, &context);
    } else {
        settle(life);
    }
    bool held = context.phase == LG_PHASE_HELD || context.phase == LG_PHASE_HALTED;
    /* This may be the executor's thread: a wait for the executor would never end here. */
    bool reports = context.flags & LG__CONTEXT_REPORTING && launch->options.on_report;
    bool leaves = held || reports || launch->options.callbacks == LG_CALLBACKS_EXECUTOR;
    if (leaves && launch->options.hold == LG_HOLD_CUSTODY && lg__callback_detach(drive_on_thread, life, false))
        return LG_OK;
    if (held && launch->options.hold == LG_HOLD_NONE) {
        lg__hold_report(life); /* before anything else runs, here too */
        pthread_mutex_lock(&launch->lock);
        life->repaired_beside = true;
        pthread_mutex_unlock(&launch->lock);
        if (!lg__callback_detach(repair_on_thread, life, false))
            repair_beside(life);
        lg_status outcome = lg__custody_run(life);
        end_drive(life, &outcome);
        return outcome;
    }
    return drive(life, waits);
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
    const struct lg__life *life = launch->life;
    if (!life)
        status = LG_ERR_STATE;
    while (status == LG_OK && (life->driven || life->repaired_beside) && lg__life_current(life) && !launch->forked)
        if (timeout_ms == UINT32_MAX)
            pthread_cond_wait(&launch->changed, &launch->lock);
        else if (pthread_cond_timedwait(&launch->changed, &launch->lock, &until) == ETIMEDOUT)
            status = LG_ERR_TIMEOUT;
    if (status == LG_OK)
        status = lg__life_current(life) ? life->outcome : LG_ERR_CLOSED;
    pthread_mutex_unlock(&launch->lock);
    return status;
}

static void log_protection(const lg_launch *launch, const char *how, const char *reason)
{
    lg__host_log(launch->host, LG_LEVEL_WARNING, "launch %s: the program asks for protection%s: %s", launch->name, how, *reason ? reason : "no reason is given");
}

lg_status lg_launch_protect(lg_launch *launch, const char *reason)
{
    if (!launch)
        return LG_ERR_ARGUMENT;
    reason = reason ? reason : "";
    lg__confirm_window(launch);
    pthread_mutex_lock(&launch->lock);
    struct lg__life *life = launch->life;
    bool early = !life || !life->decided, possible = early || !life->finished;
    if (early) {
        launch->early = true;
        lg__protect_note(launch, reason);
    }
    pthread_mutex_unlock(&launch->lock);
    if (early)
        log_protection(launch, " from its begin", reason);
    lg__host_hand_over(launch->host);
    if (early || !possible)
        return early ? LG_OK : LG_ERR_STATE;
    bool held = false, safe = false, drives = false, beside = launch->options.hold == LG_HOLD_NONE;
    struct lg__moment now = lg__host_now(launch->host);
    LG__WITH_CONTEXT(life, context) {
        safe = context->mode == LG_LAUNCH_MODE_SAFE || context->flags & LG__CONTEXT_SHADOW;
        held = context->phase == LG_PHASE_LAUNCHING && !safe;
        if (!held)
            continue;
        lg__decide_protect(context, &now, protection(launch) == LG_DECISION_HOLD);
        lg__protect_note(launch, reason);
        atomic_store(&launch->state->marked, 0);
        life->mark_waits = false;
        /* The thread that runs the tasks sees the phase; when all have run there is none. */
        bool *driver = beside ? &life->repaired_beside : &life->driven;
        drives = !*driver;
        *driver = true;
    }
    log_protection(launch, safe ? ", which has no effect in safe mode" : "", reason);
    lg__launch_publish(launch);
    if (!drives || lg__callback_detach(beside ? repair_on_thread : drive_on_thread, life, false))
        return LG_OK;
    if (beside)
        repair_beside(life);
    else
        drive(life, true);
    return LG_OK;
}
