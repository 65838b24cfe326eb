#include "pair.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "launchguard/repair.h"
#include "read/context.h"

static const lg_end real_ends[END_COUNT] = {
    LG_END_NONE, LG_END_CLEAN, LG_END_TERMINATED, LG_END_CRASH, LG_END_HANG, LG_END_OOM, LG_END_KILLED, LG_END_EXIT,
    LG_END_REBOOT, LG_END_UPGRADE, LG_END_DEBUGGER, LG_END_UNKNOWN, LG_END_RUNNING
};
static const uint32_t real_phases[] = { LG_PHASE_NONE, LG_PHASE_LAUNCHING, LG_PHASE_HELD, LG_PHASE_REPAIRING, LG_PHASE_HALTED,
                                        LG_PHASE_FINISHED, LG_PHASE_TERMINATING };
static const uint32_t real_modes[] = { LG_LAUNCH_MODE_NORMAL, LG_LAUNCH_MODE_PROBATION, LG_LAUNCH_MODE_SAFE, LG_LAUNCH_MODE_TRIAL };
static const lg_launch_status real_status[] = { LG_LAUNCH_NORMAL, LG_LAUNCH_CHECKING, LG_LAUNCH_NEEDS_REPAIR, LG_LAUNCH_REPAIRING };

/* ---- A program ---- */

struct model_launch usual_launch(void)
{
    struct model_launch launch = { .policy = { .report_after = 1, .repair_after = 2, .unknown_after = 4, .count_crash = true, .count_hang = true,
                                               .count_oom = true, .safe_retry_runs = 2, .safe_retry_max = 64, .safe_crash_limit = 2,
                                               .deescalate_runs = 3, .deescalate_ms = 24 * HOUR / MS, .steady_ms = 60000 },
                                   .rung_count = 1 };
    launch.rungs[0] = (struct model_rung){ .name = "leave out", .built_in = true, .attempts = 1 };
    return launch;
}

void add_rung(struct model_launch *launch, uint32_t attempts, bool destructive, bool restart)
{
    struct model_rung *rung = &launch->rungs[launch->rung_count];
    *rung = (struct model_rung){ .attempts = attempts, .destructive = destructive, .restart = restart, .impact = 10 * launch->rung_count,
                                 .timeout = 30000 };
    snprintf(rung->name, sizeof rung->name, "repair-%u", launch->rung_count++);
}

static uint32_t real_flags(const struct model_rung *rung)
{
    return (rung->built_in ? LG__RUNG_BUILT_IN : 0) | (rung->destructive ? LG_REPAIR_DESTRUCTIVE : 0)
           | (rung->restart ? LG_REPAIR_NEEDS_RESTART : 0) | (rung->consent ? LG_REPAIR_CONSENT : 0);
}

static uint32_t real_count(const struct model_policy *policy)
{
    return (policy->count_crash ? LG_COUNT_CRASH : 0) | (policy->count_hang ? LG_COUNT_HANG : 0) | (policy->count_oom ? LG_COUNT_OOM : 0)
           | (policy->count_exit ? LG_COUNT_EXIT : 0) | (policy->count_sigpipe ? LG_COUNT_SIGPIPE : 0);
}

struct pair_program program_of(const struct model_launch *launch)
{
    struct pair_program program = { .model = *launch };
    const struct model_policy *from = &launch->policy;
    program.real = (struct lg__policy){
        .report_after = from->report_after, .repair_after = from->repair_after, .unknown_after = from->unknown_after, .count = real_count(from),
        .safe_retry_runs = from->safe_retry_runs, .safe_retry_max = from->safe_retry_max, .safe_crash_limit = from->safe_crash_limit,
        .deescalate_runs = from->deescalate_runs, .deescalate_ms = from->deescalate_ms, .steady_ms = from->steady_ms,
        .rung_count = launch->rung_count
    };
    for (uint32_t i = 0; i < launch->rung_count; i++) {
        const struct model_rung *rung = &launch->rungs[i];
        struct lg__ledger_rung *to = &program.real.rungs[i];
        *to = (struct lg__ledger_rung){ .impact = rung->impact, .attempts = rung->attempts, .timeout_ms = rung->timeout, .flags = real_flags(rung),
                                      .series_wall_ns = 1 };
        memcpy(to->name, rung->name, sizeof to->name);
    }
    return program;
}

/* ---- Agreement ---- */

#define SAME(what, a, b)                                                                                      \
    do {                                                                                                      \
        if ((uint64_t)(a) != (uint64_t)(b)) {                                                                 \
            printf("%s: %llu in the machine, %llu in the model\n", what, (unsigned long long)(a), (unsigned long long)(b)); \
            same = false;                                                                                     \
        }                                                                                                     \
    } while (0)
#define SAME_FIELD(field) SAME(#field, r->field, m->field)

static void boot_id_of(unsigned boot, uint8_t id[16])
{
    memset(id, (int)(boot & 0xff), 16);
    id[3] = (uint8_t)(boot >> 8);
}

struct lg__moment moment_of(struct model_time now)
{
    struct lg__moment moment = { .boottime_ns = now.ns, .wall_ns = now.wall };
    boot_id_of(now.boot, moment.boot_id);
    return moment;
}

static bool same_moment(const char *what, uint64_t ns, const uint8_t id[16], struct model_time time)
{
    bool same = true;
    uint8_t wanted[16];
    boot_id_of(time.boot, wanted);
    SAME(what, ns, time.ns);
    SAME(what, memcmp(id, wanted, sizeof wanted) != 0, 0);
    return same;
}

static bool same_policy(const struct lg__ledger_context *r, const struct model_policy *m)
{
    bool same = true;
    SAME_FIELD(report_after);
    SAME_FIELD(repair_after);
    SAME_FIELD(unknown_after);
    SAME_FIELD(safe_retry_runs);
    SAME_FIELD(safe_retry_max);
    SAME_FIELD(safe_crash_limit);
    SAME_FIELD(deescalate_runs);
    SAME_FIELD(deescalate_ms);
    SAME_FIELD(steady_ms);
    SAME("count", r->count, real_count(m));
    return same;
}

static bool same_lists(const struct lg__ledger_context *r, const struct model *m)
{
    bool same = true;
    SAME("last task", strcmp(r->last_task, m->last_task) != 0, 0);
    SAME_FIELD(rung_count);
    SAME_FIELD(suspect_count);
    for (uint32_t i = 0; same && i < m->rung_count; i++) {
        SAME("name of a rung", strcmp(r->rungs[i].name, m->rungs[i].name) != 0, 0);
        SAME("series", r->rungs[i].series_wall_ns, m->rungs[i].series);
        SAME("fate", r->rungs[i].fate, m->rungs[i].failed ? LG__RUNG_FAILED : m->rungs[i].tried ? LG__RUNG_TRIED : m->rungs[i].refused ? LG__RUNG_REFUSED : LG__RUNG_UNTRIED);
        SAME("impact", r->rungs[i].impact, m->rungs[i].impact);
        SAME("attempts allowed", r->rungs[i].attempts, m->rungs[i].attempts);
        SAME("timeout", r->rungs[i].timeout_ms, m->rungs[i].timeout);
        SAME("flags of a rung", r->rungs[i].flags, real_flags(&m->rungs[i]));
    }
    if (m->rung_count < LG__RUNGS)
        SAME("after the last rung", r->rungs[m->rung_count].attempts + r->rungs[m->rung_count].fate, 0);
    for (uint32_t i = 0; same && i < m->suspect_count; i++) {
        SAME("key of a suspect", strcmp(r->suspects[i].key, m->suspects[i].key) != 0, 0);
        SAME("crashes of a suspect", r->suspects[i].crashes, m->suspects[i].crashes);
        SAME("left out", r->suspects[i].left_out, m->suspects[i].left_out);
    }
    return same;
}

static bool agree(const struct lg__ledger_context *r, const struct model *m)
{
    bool same = true;
    SAME("phase", r->phase, real_phases[m->phase]);
    SAME("mode", r->mode, real_modes[m->mode]);
    SAME("due", (r->flags & LG__CONTEXT_DUE) != 0, m->due);
    SAME("reporting", (r->flags & LG__CONTEXT_REPORTING) != 0, m->reporting);
    SAME("told", (r->flags & LG__CONTEXT_TOLD) != 0, m->told);
    SAME("owes", (r->flags & LG__CONTEXT_OWES) != 0, m->owes);
    SAME("again", (r->flags & LG__CONTEXT_AGAIN) != 0, m->again);
    SAME("asking", (r->flags & LG__CONTEXT_ASKING) != 0, m->asking);
    SAME("unexplained", (r->flags & LG__CONTEXT_UNEXPLAINED) != 0, m->unexplained);
    SAME("giving up", (r->flags & LG__CONTEXT_GIVING_UP) != 0, m->giving_up);
    SAME("leaving", (r->flags & LG__CONTEXT_LEAVING) != 0, m->leaving);
    SAME("by hand", (r->flags & LG__CONTEXT_BY_HAND) != 0, m->by_hand);
    SAME("hint: repair", (r->flags & LG__CONTEXT_HINT_REPAIR) != 0, m->hint_repair);
    SAME("hint: hold", (r->flags & LG__CONTEXT_HINT_HOLD) != 0, m->hint_hold);
    SAME("hint: safe", (r->flags & LG__CONTEXT_HINT_SAFE) != 0, m->hint_safe);
    SAME_FIELD(hint_serial);
    SAME("late", (r->flags & LG__CONTEXT_LATE) != 0, m->late);
    SAME("skippable", (r->flags & LG__CONTEXT_SKIPPABLE) != 0, m->skippable);
    SAME("shadow", (r->flags & LG__CONTEXT_SHADOW) != 0, m->shadow);
    SAME_FIELD(streak);
    SAME_FIELD(ends);
    SAME_FIELD(quits);
    SAME_FIELD(unsteady);
    SAME_FIELD(stops);
    SAME_FIELD(give_up_strikes);
    SAME_FIELD(unknown);
    SAME_FIELD(reported);
    SAME_FIELD(report_strikes);
    SAME_FIELD(decide_strikes);
    SAME_FIELD(rung);
    SAME_FIELD(attempts);
    SAME_FIELD(interruptions);
    SAME_FIELD(skips);
    SAME_FIELD(held_deaths);
    SAME_FIELD(good_runs);
    SAME_FIELD(safe_crashes);
    SAME_FIELD(retry_runs);
    SAME_FIELD(quiet);
    SAME_FIELD(launches);
    SAME_FIELD(crashes);
    SAME_FIELD(repairs);
    if (m->streak)
        SAME("first run of the streak", r->first_ordinal, m->first_run);
    same &= same_moment("repair moment", r->repair_boottime_ns, r->repair_boot_id, m->repaired);
    SAME("status", lg__reader_context_status(lg__reader_context_state(r->phase)), real_status[model_status(m)]);
    same &= same_policy(r, &m->policy);
    return same && same_lists(r, m);
}

/* ---- Events ---- */

struct pair pair_new(void)
{
    return (struct pair){ .now = { .boot = 1, .ns = 1000 * HOUR, .wall = 100000 * HOUR } };
}

bool pair_allows(const struct pair *pair, const struct pair_event *event)
{
    const enum model_phase phase = pair->model.phase;
    const bool ends = event->kind == ACCOUNT || event->kind == UPGRADE || event->kind == TERMINATE;
    /* The launch waits for on_decide: only the answer, the end and its announcement can come. */
    if (pair->model.asking && event->kind != COURSE && !ends)
        return false;
    /* The launch waits for on_report: only the answer, the end and its announcement can come. */
    if (pair->model.reporting && event->kind != TOLD && event->kind != REPORTED && event->kind != COURSE && !ends)
        return false;
    switch (event->kind) {
    case BEGIN:
    case PASS:
    case REBOOT: return phase == NONE;
    case COURSE: return pair->model.asking && phase == LAUNCHING;
    case REPORTED: return pair->model.reporting;
    case TOLD: return phase != NONE && pair->model.owes;
    case ACCOUNT:
    case UPGRADE:
    case TERMINATE: return true;
    case ATTEMPT:
    case REFUSE:
    case SKIP: return phase == HELD;
    case REPAIRED:
    case EXPIRE: return phase == HELD || phase == HALTED;
    case DONE_OK:
    case DONE_FAILED:
    case OVERRUN: return phase == REPAIRING;
    case TRY: return phase == HALTED;
    case GIVE_UP: return phase == HALTED && !pair->model.giving_up;
    case GAVE_UP: return pair->model.giving_up;
    case PROTECT: return phase == LAUNCHING && !pair->model.shadow;
    case FINISH: return phase == LAUNCHING;
    case LEAVE_OUT: return phase == LAUNCHING && pair->model.suspect_count > 0 && !pair->model.suspects[pair->model.suspect_count - 1].left_out;
    }
    return false;
}

static bool apply_account(struct pair *pair, const struct pair_event *event)
{
    char task[16];
    snprintf(task, sizeof task, "task-%u", event->task);
    const char *key = event->task ? task : NULL;
    const uint64_t run = pair->model.launches + 1;
    const struct model_last model = { event->end, event->sigpipe, event->finished, event->others, event->early, event->lived_ms, run, key };
    const struct lg__last_end real = { .end = real_ends[event->end], .finished = event->finished, .others = event->others, .ordinal = run,
                                       .signal = event->end != END_CRASH ? 0 : event->sigpipe ? SIGPIPE : SIGSEGV,
                                       .early = event->early, .task = key,
                                       .lived_ns = event->lived_ms == MODEL_NOT_KNOWN ? LG__LIVED_UNKNOWN : event->lived_ms * MS };
    static const enum lg__account real_accounts[] = { LG__ACCOUNT_NOTHING, LG__ACCOUNT_COUNTS, LG__ACCOUNT_LATE };
    const bool upgrade = event->kind == UPGRADE;
    const enum lg__account is = upgrade ? lg__ended_upgrade(&pair->real, &real) : lg__ended_account(&pair->real, &real);
    const enum model_account should = upgrade ? model_upgrade(&pair->model, &model) : model_account(&pair->model, &model);
    bool same = true;
    SAME("the end counts", is, real_accounts[should]);
    return same;
}

static lg_decision real_decision(enum model_decision decision)
{
    static const lg_decision real_decisions[] = { LG_DECISION_BY_RULE, LG_DECISION_GO_ON, LG_DECISION_PROTECT, LG_DECISION_HOLD };
    return real_decisions[decision];
}

/* A repair that the program has not registered is none. */
static struct model_hint model_hint(const struct pair_event *event, uint32_t rung_count)
{
    const bool is_meant = event->hint != HINT_REPAIRS || (event->hint_rung > 0 && event->hint_rung < rung_count);
    return (struct model_hint){ is_meant ? event->hint : NO_HINT, event->hint_serial, event->hint_rung };
}

static struct lg__hinted real_hint(const struct model_hint *hint)
{
    static const lg_hint_kind kinds[] = { LG_HINT_WITHDRAWN, LG_HINT_LEAVE_OUT, LG_HINT_REPAIR, LG_HINT_SAFE_MODE, LG_HINT_HOLD_BELOW };
    return (struct lg__hinted){ kinds[hint->kind], hint->serial, hint->rung };
}

static void apply_course(struct pair *pair, const struct pair_event *event)
{
    const struct model_hint hint = model_hint(event, pair->model.rung_count);
    const struct lg__hinted real = real_hint(&hint);
    const struct lg__moment now = moment_of(pair->now);
    lg__decide_course(&pair->real, real_decision(event->decided), &real, &now);
    model_course(&pair->model, event->decided, &hint, pair->now);
}

static bool apply_begin(struct pair *pair, const struct pair_program *program, const struct pair_event *event)
{
    struct model_launch launch = program->model;
    struct lg__policy policy = program->real;
    launch.skippable = policy.skippable = event->skippable;
    launch.shadow = policy.shadow = event->shadow;
    launch.asks = policy.asks = event->asks;
    launch.by_hand = policy.by_hand = event->by_hand;
    launch.decided = event->decided;
    policy.decision = real_decision(event->decided);
    launch.hint = model_hint(event, launch.rung_count);
    policy.hint = real_hint(&launch.hint);
    const struct lg__moment now = moment_of(pair->now);
    struct model model_rule;
    struct lg__ledger_context real_rule;
    lg__decide_begin(&pair->real, &policy, &now, &real_rule);
    model_begin(&pair->model, &launch, pair->now, &model_rule);
    return agree(&real_rule, &model_rule);
}

static void apply_pass(struct model_time *now, const struct pair_event *event)
{
    now->ns += (uint64_t)event->ns;
    now->wall += (uint64_t)event->wall;
    if (event->kind == REBOOT) {
        now->boot++;
        now->ns = HOUR;
    }
}

bool pair_apply(struct pair *pair, const struct pair_program *program, const struct pair_event *event)
{
    struct model *m = &pair->model;
    struct lg__ledger_context *r = &pair->real;
    const struct lg__moment now = moment_of(pair->now);
    bool same = true;
    switch (event->kind) {
    case BEGIN: same = apply_begin(pair, program, event); break;
    case ACCOUNT:
    case UPGRADE: same = apply_account(pair, event); break;
    case COURSE: apply_course(pair, event); break;
    case TOLD: lg__decide_told(r), model_told(m); break;
    case REPORTED: lg__decide_reported(r), model_reported(m); break;
    case ATTEMPT: lg__decide_attempt(r, &now), model_attempt(m, pair->now); break;
    case DONE_OK: lg__decide_attempted(r, true, &now), model_attempted(m, true, pair->now); break;
    case DONE_FAILED: lg__decide_attempted(r, false, &now), model_attempted(m, false, pair->now); break;
    case OVERRUN: lg__decide_overrun(r), model_overrun(m); break;
    case REFUSE: lg__decide_refuse(r, &now), model_refuse(m, pair->now); break;
    case SKIP: lg__decide_skip(r, &now), model_skip(m, pair->now); break;
    case REPAIRED: lg__decide_repaired(r, &now), model_repaired(m, pair->now); break;
    case EXPIRE: lg__decide_expired(r, &now), model_expired(m, pair->now); break;
    case TRY: lg__decide_try_safe(r), model_try_safe(m); break;
    case PROTECT: lg__decide_protect(r, &now, event->empty), model_protect(m, pair->now, event->empty); break;
    case FINISH: lg__decide_finished(r), model_finish(m); break;
    case TERMINATE: lg__decide_terminating(r), model_terminate(m); break;
    case LEAVE_OUT: r->suspects[r->suspect_count - 1].left_out = 1, m->suspects[m->suspect_count - 1].left_out = true; break;
    case GIVE_UP: same = lg__decide_give_up(r) == model_give_up(m); break;
    case GAVE_UP: lg__decide_gave_up(r), model_gave_up(m); break;
    case PASS:
    case REBOOT: apply_pass(&pair->now, event); break;
    }
    if (program->nobody_asks && m->reporting && !m->asking && (event->kind == BEGIN || event->kind == COURSE)) {
        lg__decide_told(r), model_told(m);
        lg__decide_reported(r), model_reported(m);
    }
    return agree(r, m) && same;
}

/* ---- For people ---- */

const char *event_text(const struct pair_event *event)
{
    static const char *const kinds[] = { "begin", "course", "told", "reported", "account", "attempt", "done(ok)", "done(failed)", "overrun", "refuse", "skip", "repaired", "expire", "try safe",
                                         "protect", "finish", "terminate", "leave out", "give up", "gave up", "pass", "reboot", "upgrade" };
    static const char *const ends[END_COUNT] = { "none", "clean", "terminated", "crash", "hang", "oom", "killed", "exit", "reboot", "upgrade",
                                                 "debugger", "unknown", "running" };
    static const char *const decisions[] = { "by rule", "go on", "protect", "hold" };
    static const char *const hints[] = { "no hint", "hint: leave out", "hint: repair", "hint: safe mode", "hint: hold" };
    static char text[200];
    int size = snprintf(text, sizeof text, "%s", kinds[event->kind]);
    char *rest = text + size;
    const size_t room = sizeof text - (size_t)size;
    if (event->kind == ACCOUNT || event->kind == UPGRADE)
        snprintf(rest, room, " %s%s%s%s%s task %u, lived %lld ms", ends[event->end], event->sigpipe ? " (SIGPIPE)" : "", event->finished ? ", finished" : "",
                 event->others ? ", others'" : "", event->early ? ", early" : "", event->task, (long long)event->lived_ms);
    else if (event->kind == BEGIN)
        snprintf(rest, room, "%s%s, %s, %s %u, rung %u", event->skippable ? " skippable" : "", event->shadow ? " in shadow" : "",
                 event->asks ? "asks" : decisions[event->decided], hints[event->hint], event->hint_serial, event->hint_rung);
    else if (event->kind == COURSE)
        snprintf(rest, room, " %s, %s %u, rung %u", decisions[event->decided], hints[event->hint], event->hint_serial, event->hint_rung);
    else if (event->kind == PASS)
        snprintf(rest, room, " %lld ns, wall clock %lld ns", (long long)event->ns, (long long)event->wall);
    return text;
}

void pair_print(const struct pair *pair)
{
    static const char *const phases[] = { "none", "launching", "held", "repairing", "halted", "finished", "terminating" };
    static const char *const modes[] = { "normal", "probation", "safe", "trial" };
    const struct model *m = &pair->model;
    printf("%-11s %-9s%s%s%s%s%s streak %u unknown %u reported %u strikes %u rung %u/%u attempts %u interruptions %u skips %u held_deaths %u "
           "good_runs %u safe_crashes %u retry_runs %u quiet %u ends %u quits %u unsteady %u stops %u\n",
           phases[m->phase], modes[m->mode], m->due ? " due" : "", m->reporting ? " reporting" : "", m->asking ? " asking" : "", m->late ? " late" : "", m->skippable ? " skippable" : "", m->streak,
           m->unknown, m->reported, m->report_strikes, m->rung, m->rung_count, m->attempts, m->interruptions, m->skips, m->held_deaths, m->good_runs,
           m->safe_crashes, m->retry_runs, m->quiet, m->ends, m->quits, m->unsteady, m->stops);
}
