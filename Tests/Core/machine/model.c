/* docs/LAUNCH.md as a second machine. The letters in the margin name the rows of that page. */
#include "model.h"

#include <string.h>

enum { INTERRUPTIONS_MAX = 3, SKIPS_MAX = 2, HELD_DEATHS_MAX = 2, REPORT_STRIKES_MAX = 2, DECIDE_STRIKES_MAX = 2,
       GIVE_UP_STRIKES_MAX = 2, QUITS_ENOUGH = 3, STOPS_ENOUGH = 3, SAFE_CRASHES_ENOUGH = 2 };
static const uint64_t day = 86400ull * 1000 * 1000 * 1000, millisecond = 1000 * 1000;

enum class { COUNTED, UNEXPLAINED, INNOCENT };

static void more(uint32_t *counter)
{
    if (*counter < UINT32_MAX)
        ++*counter;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* True if the moment is in this boot and at least `ms` ago, and `ms` is not "never". */
static bool long_ago(struct model_time moment, struct model_time now, uint64_t ms)
{
    if (ms == 0 || moment.boot == 0 || moment.boot != now.boot || now.ns < moment.ns)
        return false;
    return (now.ns - moment.ns) / millisecond >= ms;
}

static enum class class_of(const struct model *m, const struct model_last *last)
{
    const struct model_policy *count = &m->policy;
    bool counted = false;
    if (last->others)
        return INNOCENT;
    switch (last->end) {
    case END_CRASH: counted = last->sigpipe ? count->count_sigpipe : count->count_crash; break;
    case END_HANG: counted = count->count_hang; break;
    case END_OOM: counted = count->count_oom; break;
    case END_EXIT: counted = count->count_exit; break;
    case END_UNKNOWN:
    case END_KILLED: return UNEXPLAINED;
    default: break;
    }
    return counted ? COUNTED : INNOCENT;
}

/* ---- Terms that several rows use ---- */

static void next_rung(struct model *m)
{
    m->rung = least(m->rung + 1, m->rung_count);
    m->attempts = m->interruptions = 0;
}

/* Leave a rung whose repair did not help, or which the user did not want. */
static void climb_after(struct model *m, bool refused)
{
    if (m->rung < m->rung_count) {
        m->rungs[m->rung].tried = !refused;
        m->rungs[m->rung].failed = false;
        m->rungs[m->rung].refused = refused;
    }
    next_rung(m);
}

static void go_safe(struct model *m)
{
    for (uint32_t i = 0; i < m->rung_count; i++)
        m->rungs[i].refused = false;
    m->mode = SAFE;
    m->due = false;
    m->good_runs = m->safe_crashes = m->unknown = m->skips = m->held_deaths = 0;
    m->told = false;
    m->rung = m->attempts = m->interruptions = 0;
    m->hint_repair = m->hint_hold = false;
    m->phase = LAUNCHING;
}

static bool is_fresh(const struct model *m, uint32_t at)
{
    return at != m->rung || (m->attempts == 0 && m->interruptions == 0);
}

static bool may_be_tried(const struct model *m, uint32_t at, struct model_time now)
{
    const struct model_rung *rung = &m->rungs[at];
    if (rung->tried || rung->refused || rung->attempts == 0 || (at == m->rung && m->attempts >= rung->attempts))
        return false;
    if (rung->built_in && !m->skippable)
        return false;
    if (rung->destructive && m->unexplained && !rung->consent && !m->by_hand)
        return false;
    if (rung->destructive && is_fresh(m, at) && rung->series != 0) {
        uint64_t distance = now.wall > rung->series ? now.wall - rung->series : rung->series - now.wall;
        return distance >= day;
    }
    return true;
}

/* repair_after - 1 */
static uint32_t below_repair(const struct model *m)
{
    return m->policy.repair_after == 0 ? 0 : m->policy.repair_after - 1;
}

/* false: none may be tried, and rung is the number of rungs. */
static bool look_for_a_rung(struct model *m, struct model_time now)
{
    uint32_t found = m->rung_count;
    if (m->rung < m->rung_count && m->attempts >= m->rungs[m->rung].attempts) {
        m->rungs[m->rung].tried = m->rungs[m->rung].failed = true;
        m->rungs[m->rung].refused = false;
    }
    for (uint32_t step = 0; step < m->rung_count && found == m->rung_count; step++) {
        uint32_t at = (m->rung + step) % m->rung_count; /* upwards, then from the foot */
        if (m->rung == m->rung_count)
            at = step;
        if (may_be_tried(m, at, now))
            found = at;
    }
    if (found < m->rung_count && m->rungs[found].destructive && is_fresh(m, found))
        for (uint32_t at = found; at-- > 0;)
            if (may_be_tried(m, at, now))
                found = at;
    if (found != m->rung)
        m->attempts = m->interruptions = 0;
    m->rung = found;
    return found < m->rung_count;
}

static void choose_a_rung(struct model *m, struct model_time now, bool empty)
{
    if (look_for_a_rung(m, now) || empty)
        m->phase = HELD;
    else
        go_safe(m);
}

static void give_attempt_back(struct model *m)
{
    if (m->attempts > 0)
        m->attempts--;
}

static void forget_streak(struct model *m)
{
    m->streak = m->unknown = m->report_strikes = m->decide_strikes = m->give_up_strikes = 0;
    m->told = false;
    m->first_run = 0;
}

static void offer_all(struct model *m)
{
    for (uint32_t i = 0; i < m->rung_count; i++)
        m->rungs[i].tried = m->rungs[i].failed = m->rungs[i].refused = false;
}

static bool is_partial(const struct model *m)
{
    for (uint32_t i = 0; i < m->suspect_count; i++)
        if (m->suspects[i].left_out)
            return true;
    return false;
}

static void clear(struct model *m)
{
    forget_streak(m);
    m->ends = m->reported = m->stops = 0;
    m->attempts = m->interruptions = 0;
    m->skips = m->held_deaths = m->safe_crashes = 0;
    m->due = m->unexplained = false;
    /* A launch from which the built-in rung left a task out is no good one for the ladder. */
    struct model_rung *rung = m->mode == PROBATION && m->rung < m->rung_count ? &m->rungs[m->rung] : NULL;
    if (rung && ((rung->built_in && is_partial(m)) || m->unsteady > 0)) {
        rung->tried = true;
        rung->failed = rung->refused = false;
        return;
    }
    if (m->unsteady == 0)
        offer_all(m);
}

static void forget_suspects(struct model *m)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->suspect_count; i++)
        if (m->suspects[i].left_out)
            m->suspects[kept++] = m->suspects[i];
    m->suspect_count = kept;
}

/* The effect of a death on the task in which it came. */
static void note_task(struct model *m, const char *key)
{
    memset(m->last_task, 0, sizeof m->last_task);
    if (key)
        strncpy(m->last_task, key, sizeof m->last_task - 1);
}

static void blame(struct model *m, const char *key)
{
    uint32_t at = 0;
    while (at < m->suspect_count && strcmp(m->suspects[at].key, key) != 0)
        at++;
    if (at == m->suspect_count) { /* a new one */
        if (at < MODEL_SUSPECTS)
            m->suspect_count++;
        else /* the first of those with the fewest crashes makes room */
            for (uint32_t i = at = 0; i < MODEL_SUSPECTS; i++)
                if (m->suspects[i].crashes < m->suspects[at].crashes)
                    at = i;
        m->suspects[at] = (struct model_suspect){ .crashes = 0 };
        strncpy(m->suspects[at].key, key, MODEL_NAME - 1);
    }
    more(&m->suspects[at].crashes);
}

/* ---- Account ---- */

static void probation_failed(struct model *m) /* A14 from the colon on */
{
    m->mode = NORMAL;
    m->due = true;
    climb_after(m, false);
}

static void double_retry(struct model *m)
{
    m->retry_runs = m->retry_runs > UINT32_MAX / 2 ? m->policy.safe_retry_max : least(2 * m->retry_runs, m->policy.safe_retry_max);
}

static void trial_failed(struct model *m) /* A16 from the colon on */
{
    m->mode = NORMAL;
    m->due = true;
    m->good_runs = m->unknown = 0;
    m->told = false;
    double_retry(m);
}

static bool unknown_is_enough(const struct model *m)
{
    return m->policy.unknown_after != 0 && m->unknown >= m->policy.unknown_after;
}

static bool new_ends(const struct model *m)
{
    return m->ends >= m->policy.report_after && m->ends > m->reported;
}

static bool account_repairing(struct model *m, enum model_end end, const char *task)
{
    m->due = m->due || !m->hint_repair; /* V5 */
    switch (task ? END_NONE : end) { /* the end of a task that ran beside it: A6 */
    case END_CRASH: /* A5 */
    case END_HANG:
    case END_OOM:
    case END_UNKNOWN:
    case END_KILLED:
    case END_EXIT:
        if (m->hint_repair)
            m->rung = m->attempts = m->interruptions = 0;
        return true;
    default: /* A4, A6 */
        if (m->hint_repair) {
            m->rung = m->attempts = m->interruptions = 0;
            return false;
        }
        more(&m->interruptions);
        if (m->interruptions < INTERRUPTIONS_MAX)
            give_attempt_back(m);
        else
            m->interruptions = 0;
        return end != END_DEBUGGER;
    }
}

static void account_launching(struct model *m, enum class class, enum model_end end)
{
    if (class == INNOCENT) { /* A20 */
        if (end == END_CLEAN) {
            more(&m->quits);
            if (m->quits >= QUITS_ENOUGH) {
                model_finish(m);
                m->phase = NONE;
            }
        }
        return;
    }
    m->quits = 0;
    const bool counted = class == COUNTED;
    more(counted ? &m->streak : &m->unknown);
    const bool again = !counted && m->unexplained; /* one more of what the repair was for */
    switch (m->mode) {
    case NORMAL: /* A12, A13 */
        break;
    case PROBATION: /* A14, A15 */
        if (counted || again || unknown_is_enough(m))
            probation_failed(m);
        break;
    case TRIAL: /* A16, A17 */
        if (counted || again || unknown_is_enough(m)) {
            trial_failed(m);
            m->unexplained = !counted;
        }
        break;
    case SAFE: /* A18, A19 */
        if (counted || again || unknown_is_enough(m)) {
            more(&m->safe_crashes);
            if (!counted) {
                m->unknown = 0;
                m->told = false;
            }
        }
        break;
    }
}

static void account_dead(struct model *m, enum model_phase phase, enum class class, enum model_end end, bool reporting)
{
    switch (phase) {
    case HELD: /* A7, A8, A9 */
        if (class == COUNTED)
            more(&m->streak);
        if (class != INNOCENT && !reporting)
            more(&m->held_deaths);
        if (class == INNOCENT && !m->hint_hold && !m->hint_repair && (end == END_CLEAN || end == END_TERMINATED || end == END_REBOOT))
            more(&m->skips);
        break;
    case HALTED: /* A10, A11 */
        if (class == COUNTED)
            more(&m->streak);
        break;
    default:
        account_launching(m, class, end);
        break;
    }
}

static enum model_account account_outside(struct model *m, enum class class)
{
    m->phase = NONE;
    m->late = m->late || class == COUNTED;
    return class == COUNTED ? IS_LATE : COUNTS_NOT;
}

/* The launch was finished. */
static void account_finished(struct model *m, enum class class, const struct model_last *last)
{
    const bool is_known = last->lived_ms != MODEL_NOT_KNOWN;
    if (class == COUNTED && is_known && last->lived_ms < m->policy.steady_ms) { /* A22 */
        more(&m->unsteady);
        m->unexplained = false;
        if (m->mode != NORMAL) {
            if (m->mode == TRIAL)
                m->good_runs = m->retry_runs;
            if (m->good_runs > 0)
                m->good_runs--;
            m->mode = SAFE;
            m->streak = 0;
            more(&m->safe_crashes);
        } else {
            m->due = m->due || m->unsteady >= m->policy.repair_after;
        }
        return;
    }
    /* A23 */
    bool whole = m->mode == NORMAL;
    for (uint32_t i = 0; i < m->suspect_count; i++)
        whole = whole && !m->suspects[i].left_out;
    const bool lives_on = last->end == END_CLEAN || (is_known && last->lived_ms >= m->policy.steady_ms);
    if (lives_on && m->mode != NORMAL)
        m->safe_crashes = 0;
    if (lives_on && m->unsteady > 0 && whole) {
        m->unsteady = 0;
        m->retry_runs = m->policy.safe_retry_runs;
        offer_all(m);
    }
}

enum model_account model_account(struct model *m, const struct model_last *last)
{
    enum model_phase phase = m->phase;
    enum class class = class_of(m, last);
    const bool reporting = m->reporting && !m->owes; /* A3: it was entered */
    const bool asking = m->asking, giving_up = m->giving_up, leaving = m->leaving && phase == TERMINATING;
    bool stop = false;
    m->reporting = m->asking = m->giving_up = m->leaving = false; /* at any end */

    /* A21: no row below asks whether the run was degraded, and the machine never learns it. */
    if (phase == FINISHED || (phase == LAUNCHING && last->finished)) { /* A2 */
        if (phase == LAUNCHING)
            model_finish(m);
        account_finished(m, class, last);
        return account_outside(m, class);
    }
    if (phase == NONE && last->early && class != INNOCENT) /* A24 */
        phase = LAUNCHING;
    if ((phase == LAUNCHING || leaving) && last->task && !last->others) { /* A25 */
        stop = last->end == END_TERMINATED || (leaving && (last->end == END_KILLED || last->end == END_UNKNOWN));
        if (stop) {
            if (strcmp(m->last_task, last->task) != 0)
                m->stops = 0;
            more(&m->stops);
            class = m->stops >= STOPS_ENOUGH ? COUNTED : INNOCENT;
        }
    }
    if (stop || (leaving && last->end == END_CLEAN))
        phase = LAUNCHING;
    if (phase == NONE || phase == TERMINATING) /* A1 */
        return account_outside(m, class);
    m->phase = NONE;
    if (class != INNOCENT) { /* A3 */
        if (reporting)
            more(&m->report_strikes);
        if (asking)
            more(&m->decide_strikes);
        if (giving_up)
            more(&m->give_up_strikes);
    }
    if (class != INNOCENT || stop)
        note_task(m, last->task);
    if (class != INNOCENT && last->task)
        blame(m, last->task);
    if (phase == REPAIRING)
        return account_repairing(m, last->end, last->task) ? COUNTS : COUNTS_NOT;

    if (class == COUNTED) {
        if (m->streak == 0)
            m->first_run = last->run;
        m->crashes++;
        more(&m->ends);
    }
    account_dead(m, phase, class, last->end, reporting);
    m->unexplained = m->unexplained && class != COUNTED;
    return class == COUNTED || (class == UNEXPLAINED && phase != HALTED) ? COUNTS : COUNTS_NOT;
}

static bool is_news(const struct model *m)
{
    return new_ends(m) || (unknown_is_enough(m) && !m->told) || m->late;
}

enum model_account model_upgrade(struct model *m, const struct model_last *last)
{
    const enum model_account account = model_account(m, last);
    const struct model totals = { .hint_serial = m->hint_serial, .launches = m->launches, .crashes = m->crashes, .repairs = m->repairs, .late = is_news(m) || m->owes };
    const struct model_policy old = m->policy;
    *m = totals;
    m->policy.count_crash = old.count_crash;
    m->policy.count_hang = old.count_hang;
    m->policy.count_oom = old.count_oom;
    m->policy.count_exit = old.count_exit;
    m->policy.count_sigpipe = old.count_sigpipe;
    return account;
}

/* ---- Begin ---- */

static void take_over(struct model *m, const struct model_launch *launch)
{
    struct model_rung old[MODEL_RUNGS];
    memcpy(old, m->rungs, sizeof old);
    m->policy = launch->policy;
    m->skippable = launch->skippable;
    m->shadow = launch->shadow;
    m->by_hand = launch->by_hand;
    memset(m->rungs, 0, sizeof m->rungs);
    for (uint32_t i = 0; i < launch->rung_count; i++) {
        m->rungs[i] = launch->rungs[i];
        m->rungs[i].series = 0;
        m->rungs[i].tried = m->rungs[i].failed = m->rungs[i].refused = false;
        for (uint32_t j = m->rung_count; j-- > 0;)
            if (strcmp(old[j].name, launch->rungs[i].name) == 0) {
                m->rungs[i].series = old[j].series;
                m->rungs[i].tried = old[j].tried;
                m->rungs[i].failed = old[j].failed;
                m->rungs[i].refused = old[j].refused;
            }
    }
    m->rung_count = launch->rung_count;
    m->rung = least(m->rung, m->rung_count);
    m->launches++;
    for (uint32_t i = 0; i < m->suspect_count; i++)
        m->suspects[i].left_out = false;
}

/* The way from safe mode. */
static void try_normal(struct model *m)
{
    m->mode = TRIAL;
    m->streak = below_repair(m);
    m->good_runs = 0;
}

static bool is_needed(const struct model *m)
{
    return m->due || m->streak >= m->policy.repair_after || unknown_is_enough(m);
}

/* V2 */
static bool repairs_by_hint(struct model *m, const struct model_hint *hint, struct model_time now)
{
    struct model_rung *rung = &m->rungs[hint->rung], before = *rung;
    if (m->hint_serial == hint->serial || m->held_deaths >= HELD_DEATHS_MAX || (m->mode != NORMAL && m->mode != SAFE))
        return false;
    if (unknown_is_enough(m) && m->streak < m->policy.repair_after)
        m->unexplained = true;
    rung->tried = rung->failed = rung->refused = false;
    if (!may_be_tried(m, hint->rung, now)) {
        *rung = before;
        return false;
    }
    if (m->rung != hint->rung)
        m->attempts = m->interruptions = 0;
    m->rung = hint->rung;
    m->hint_serial = hint->serial;
    if (m->mode == SAFE || is_needed(m))
        m->due = true;
    else
        m->hint_repair = true;
    m->mode = NORMAL;
    m->phase = HELD;
    return true;
}

/* V2 to V4; true: it is held. */
static bool by_hint(struct model *m, const struct model_hint *hint, struct model_time now)
{
    switch (hint->kind) {
    case HINT_REPAIRS: return repairs_by_hint(m, hint, now);
    case HINT_SAFE: /* V3 */
        if (hint->serial != m->hint_serial) {
            if (m->mode != SAFE) {
                m->unexplained = m->unexplained || m->streak == 0;
                go_safe(m);
            }
            m->hint_safe = true;
            m->hint_serial = hint->serial;
        }
        return false;
    case HINT_HOLDS: /* V4 */
        if (m->held_deaths >= HELD_DEATHS_MAX)
            return false;
        m->hint_hold = true;
        m->phase = HELD;
        return true;
    default: return false;
    }
}

static void by_rule(struct model *m, const struct model_hint *hint, struct model_time now)
{
    if (by_hint(m, hint, now))
        return;
    if (hint->kind == HINT_LEAVES_OUT && m->unsteady == 0) { /* V1 */
        m->phase = LAUNCHING;
        return;
    }
    if (m->mode == SAFE) {
        m->phase = LAUNCHING; /* B7 */
        const uint32_t limit = m->policy.safe_crash_limit;
        if (m->safe_crashes < (limit ? limit : SAFE_CRASHES_ENOUGH))
            return;
        if (!look_for_a_rung(m, now)) { /* B6 */
            m->rung = m->attempts = m->interruptions = 0;
            m->phase = limit ? HALTED : LAUNCHING;
            return;
        }
        /* else as B10 and B11 */
        m->due = true;
        m->mode = NORMAL;
    }
    if (m->mode == TRIAL) { /* B8 */
        m->phase = LAUNCHING;
        return;
    }
    if (!is_needed(m)) { /* B9 */
        m->phase = LAUNCHING;
        return;
    }
    if (unknown_is_enough(m) && m->streak < m->policy.repair_after)
        m->unexplained = true;
    if (m->held_deaths >= HELD_DEATHS_MAX || m->skips > SKIPS_MAX) { /* B10 */
        go_safe(m);
        return;
    }
    m->mode = NORMAL; /* B11 */
    m->due = true;
    choose_a_rung(m, now, false);
}

/* V5; false: the hold is none of a hint's alone. */
static bool hint_is_over(struct model *m, struct model_time now)
{
    if (!m->hint_repair && !m->hint_hold)
        return false;
    if (m->hint_repair)
        m->rung = m->attempts = m->interruptions = 0;
    m->hint_repair = m->hint_hold = false;
    by_rule(m, &(struct model_hint){ .kind = NO_HINT }, now);
    return true;
}

void model_course(struct model *m, enum model_decision decision, const struct model_hint *hint, struct model_time now)
{
    m->asking = false;
    if (m->shadow) { /* Shadow */
        m->phase = LAUNCHING;
        m->mode = NORMAL;
        return;
    }
    if (decision == BY_RULE || (m->mode == SAFE && decision != GO_ON)) { /* D1 */
        by_rule(m, hint, now);
        return;
    }
    if (decision == GO_ON) { /* D2 */
        m->phase = LAUNCHING;
        return;
    }
    if (m->mode == PROBATION) /* D3, D4 */
        climb_after(m, false);
    m->mode = NORMAL;
    m->due = true;
    m->unexplained = false;
    if (m->held_deaths >= HELD_DEATHS_MAX || m->skips > SKIPS_MAX) {
        go_safe(m);
        return;
    }
    choose_a_rung(m, now, decision == HOLD);
}

void model_begin(struct model *m, const struct model_launch *launch, struct model_time now, struct model *ret_rule)
{
    take_over(m, launch); /* B1 */
    const struct model_policy *policy = &m->policy;
    const bool stayed = m->hint_safe;
    m->hint_repair = m->hint_hold = false;
    m->hint_safe = m->mode == SAFE && launch->hint.kind == HINT_SAFE;
    if (m->mode == SAFE && stayed && !m->hint_safe) /* V3 */
        try_normal(m);
    if (m->retry_runs == 0) /* B2 */
        m->retry_runs = policy->safe_retry_runs;
    m->retry_runs = least(m->retry_runs, policy->safe_retry_max);
    /* B4 */
    if (m->mode == NORMAL && !m->due && m->rung > 0 && long_ago(m->repaired, now, policy->deescalate_ms))
        m->rung = m->attempts = m->interruptions = 0;
    /* B5 */
    const bool news = is_news(m);
    m->reporting = m->report_strikes < REPORT_STRIKES_MAX && (news || m->owes);
    if (m->reporting) {
        m->owes = true;
        m->again = !news;
    }
    *ret_rule = *m;
    by_rule(ret_rule, &launch->hint, now);
    m->asking = launch->asks && m->decide_strikes < DECIDE_STRIKES_MAX; /* B5a */
    if (m->asking)
        m->phase = LAUNCHING;
    else
        model_course(m, launch->decided, &launch->hint, now);
}

void model_told(struct model *m) /* R1 */
{
    if (new_ends(m))
        m->reported = m->ends;
    m->told = m->told || unknown_is_enough(m);
    m->owes = m->late = false;
}

void model_reported(struct model *m) /* R2 */
{
    m->owes = m->owes && !m->again;
    m->reporting = false;
}

bool model_give_up(struct model *m) /* R3 */
{
    m->giving_up = m->give_up_strikes < GIVE_UP_STRIKES_MAX;
    return m->giving_up;
}

void model_gave_up(struct model *m) /* R4 */
{
    m->giving_up = false;
}

/* ---- While it is held ---- */

void model_attempt(struct model *m, struct model_time now) /* H1 */
{
    if (m->hint_hold && hint_is_over(m, now))
        return;
    if (m->rung == m->rung_count) {
        go_safe(m);
        return;
    }
    m->rungs[m->rung].series = now.wall;
    more(&m->attempts);
    m->repairs++;
    m->phase = REPAIRING;
}

void model_attempted(struct model *m, bool ok, struct model_time now)
{
    if (!ok) { /* H3 */
        if (!hint_is_over(m, now))
            choose_a_rung(m, now, false);
        return;
    }
    /* H2 */
    forget_streak(m);
    m->attempts = m->interruptions = 0;
    m->skips = m->held_deaths = m->quiet = 0;
    m->due = false;
    m->hint_repair = m->hint_hold = false;
    m->repaired = now;
    m->mode = PROBATION;
    m->phase = m->rungs[m->rung].restart ? TERMINATING : LAUNCHING;
}

void model_overrun(struct model *m) /* H3a */
{
    climb_after(m, false);
    go_safe(m);
}

void model_refuse(struct model *m, struct model_time now) /* H4 */
{
    if (hint_is_over(m, now))
        return;
    climb_after(m, true);
    choose_a_rung(m, now, false);
}

void model_skip(struct model *m, struct model_time now)
{
    if (hint_is_over(m, now))
        return;
    if (m->skips >= SKIPS_MAX) { /* H6 */
        go_safe(m);
        return;
    }
    m->skips++; /* H5 */
    m->due = false;
    m->streak = least(m->streak, below_repair(m));
    m->unsteady = least(m->unsteady, below_repair(m));
    m->unknown = 0;
    m->told = false;
    m->mode = NORMAL;
    m->phase = LAUNCHING;
}

void model_repaired(struct model *m, struct model_time now) /* H10 */
{
    if (hint_is_over(m, now))
        return;
    if (m->skips >= SKIPS_MAX) {
        go_safe(m);
        return;
    }
    m->skips++;
    forget_streak(m);
    m->attempts = m->interruptions = m->held_deaths = m->quiet = 0;
    m->due = false;
    m->hint_repair = m->hint_hold = false;
    m->repaired = now;
    m->mode = PROBATION;
    m->rung = m->rung_count;
    m->phase = LAUNCHING;
}

void model_expired(struct model *m, struct model_time now)
{
    if (m->phase == HALTED) /* H8 */
        model_try_safe(m);
    else if (!hint_is_over(m, now)) /* H7 */
        go_safe(m);
}

void model_try_safe(struct model *m) /* H8 */
{
    m->phase = LAUNCHING;
}

void model_protect(struct model *m, struct model_time now, bool empty) /* H9 */
{
    if (m->mode == SAFE)
        return;
    if (m->mode == PROBATION)
        climb_after(m, false);
    m->mode = NORMAL;
    m->due = true;
    m->unexplained = false;
    choose_a_rung(m, now, empty);
}

/* ---- Finish and terminate ---- */

void model_finish(struct model *m)
{
    m->phase = FINISHED;
    m->quits = 0;
    switch (m->mode) {
    case SAFE: /* F1 */
        forget_streak(m);
        m->safe_crashes = m->unsteady > 0 ? m->safe_crashes : 0;
        if (m->hint_safe)
            return;
        more(&m->good_runs);
        if (m->good_runs >= m->retry_runs)
            try_normal(m);
        return;
    case TRIAL: /* F2 */
        clear(m);
        m->mode = NORMAL;
        m->rung = 0;
        if (m->unsteady > 0)
            double_retry(m);
        else
            m->retry_runs = m->policy.safe_retry_runs;
        break;
    case PROBATION: /* F3 */
        clear(m);
        m->mode = NORMAL;
        m->rung = m->rung == m->rung_count ? 0 : least(m->rung + 1, m->rung_count - 1);
        m->quiet = 0;
        break;
    case NORMAL: /* F4 */
        clear(m);
        more(&m->quiet);
        if (m->policy.deescalate_runs != 0 && m->quiet >= m->policy.deescalate_runs)
            m->rung = 0;
        break;
    }
    forget_suspects(m);
}

void model_terminate(struct model *m)
{
    /* F5; F6 and the others: nothing */
    if (m->phase != LAUNCHING && m->phase != HELD && m->phase != HALTED)
        return;
    if (m->phase == HELD && !m->hint_repair && !m->hint_hold)
        more(&m->skips);
    m->leaving = m->phase == LAUNCHING;
    m->phase = TERMINATING;
}

enum model_status model_status(const struct model *m)
{
    switch (m->phase) {
    case LAUNCHING: return IS_CHECKING;
    case HELD:
    case HALTED: return IS_NEEDS_REPAIR;
    case REPAIRING: return IS_REPAIRING;
    default: return IS_NORMAL;
    }
}
