/* A life, start by start. Beside the machine runs a tally of its own: what was an end, what is
 * evidence of health, and which remedies were tried. The invariants compare the two. */
#include "life.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/terms.h"
#include "launchguard/task.h"

#define DAY_NS (86400 * SECOND_NS)
#define CURED_WITHIN 8u
/* An invariant's bound on starts; README.md says where each comes from. */
#define NORMAL_WITHIN 10u
#define BLOCKED_WITHIN 32u
#define TRIED_WITHIN 40u

#define NAME(name) #name,
const char *const row_names[ROWS] = { ROW_TABLE(NAME) };
const char *const broken_names[BROKEN] = {
    [WHOLE] = "nothing", [INNOCENT_HELD] = "an innocent device is held, or in safe mode", [NOT_CURED] = "a remedy helps, and the program is dead after eight starts",
    [NOT_REACHED] = "a remedy would help, and none is tried", [NEVER_TRIED] = "a repair would cure, and is never tried", [SAFE_TOO_EARLY] = "safe mode, and a repair was not tried",
    [NOT_NORMAL_AGAIN] = "the trouble is over, and the launch is not normal again",
    [WRONG_ACCOUNT] = "an end is not counted as it should be", [WRONG_TOTAL] = "a total is wrong", [WRONG_VERSION] = "the counters are reset for a version that crashed, or not for a new one", [HELD_FOR_EVER] = "a hold does not end",
    [BLOCKED_FOR_EVER] = "start after start is held", [HINT_AGAIN] = "a hint is followed twice, or when it is over",
    [HINT_NOT_FOLLOWED] = "a hint is not followed", [HINT_LEFT] = "a hint that is in force is left", [DESTRUCTIVE_FIRST] = "a destructive repair runs, and a milder one was not tried",
    [DESTRUCTIVE_UNEXPLAINED] = "a destructive repair runs without consent, for unexplained ends alone", [DESTRUCTIVE_AGAIN] = "a destructive repair runs twice in a day",
    [NEIGHBOUR_HELD] = "a launch pays for what happened in another", [LAST_LOST] = "the file of the last run is gone",
    [FIRST_LOST] = "the file of a streak's first run is gone", [BAD_LOST] = "a bad end's file is gone, and few came after it",
    [OWED_LOST] = "the file of a run that is owed a report is gone", [TOO_MANY_FILES] = "the files of runs are too many, or too large",
};

/* Where a run ended. */
enum at { AT_BEFORE, AT_HELD, AT_REPAIRING, AT_HALTED, AT_LAUNCH, AT_FINISHED, AT_RESTART };
enum outcome { LIVED, DIED, NEITHER };

struct world {
    const struct life *life;
    struct device device;
    struct lg__ledger_context *context;
    struct figures *figures;
    struct trace *trace;
    const struct start *start;
    enum broken broken;
    uint64_t true_ns;
    bool fresh; /* no word of the trace belongs to this start yet */

    struct {
        bool begun, gone;
        uint8_t version;
        uint64_t since_ns;
        unsigned chances;
    } bugs[BUGS];

    /* the end that is not accounted yet */
    struct {
        enum at at;
        lg_end end;
        const char *task;
        uint32_t lived_s;
        lg_launch_mode mode; /* of the launch; after the mark: as it was left */
        bool left_out, in_report, by_hint; /* the repair was a hint's alone */
        bool neighbour, neighbour_normal; /* its launch was finished; and normal */
    } last;

    /* the tally */
    uint32_t counted, unexplained, unsteady, quits, stops;
    const char *stop_task;
    bool open, began, explained; /* explained: not all ends of the trouble are unexplained */
    uint32_t since_counted, since_soon, since_unexplained; /* since the last repair */
    uint64_t crashes, ends, launches, repairs;
    bool has_crashed[UINT8_MAX + 1]; /* the version */
    unsigned crashed_versions;

    /* of the neighbour: ends before any begin, and ends of no launch soon after its mark */
    uint32_t neighbour_early, neighbour_soon;
    bool neighbour_open;

    /* what is known of the run files, by ordinal */
    struct {
        bool had_file, bad, owed;
    } runs[STARTS_MOST + 2];
    uint64_t tight, full; /* the last run whose start found the disk so */

    /* remedies */
    bool tried[REPAIRS + 1], spent[REPAIRS + 1], left_out;
    unsigned last_rung;
    uint64_t attempted_ns[REPAIRS + 1];  /* true time; 0: never */
    uint64_t attempted_wall_ns[REPAIRS + 1];

    lg_hint_kind hint;       /* in force for this start */
    uint32_t followed;       /* serial of the last hint that was followed once */
    bool stays_safe;         /* a hint in force keeps it in safe mode */
    bool hinted;             /* a hint has its say in this start */
    bool died_held;          /* in a hint's hold, since the last launch that was finished */

    /* of this start, and of the starts so far in a row */
    int killer;        /* the bug that ended it; -1: none did */
    bool repaired, let_through, was_held, safe;
    int row_killer;
    unsigned row, row_repaired, good, blocked, waiting;
    unsigned put_off; /* times that the user or a death put the repair off */
    bool row_repairs;
};

/* ---- trace ---- */

static void write_trace(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void write_trace(struct trace *trace, const char *format, ...)
{
    va_list arguments;
    if (!trace)
        return;
    if (trace->room - trace->size < 256)
        trace->text = realloc(trace->text, trace->room += 4096);
    va_start(arguments, format);
    trace->size += (size_t)vsnprintf(trace->text + trace->size, trace->room - trace->size, format, arguments);
    va_end(arguments);
}

static void word(struct world *w, const char *text)
{
    write_trace(w->trace, " %s", text);
    w->fresh = false;
}

static const char *end_word(lg_end end)
{
#define END_WORD(identifier, value, name) [value] = name,
    static const char *const words[] = { LG_END_TABLE(END_WORD) };
    return words[end];
}

void trace_program(const struct life *life, struct trace *trace)
{
    const struct program *p = &life->program;
    write_trace(trace, "launchguard simulate --report-after %u --repair-after %u --unknown-after %u --safe-retry-runs %u --safe-crash-limit %u --deescalate-runs %u",
                p->report_after, p->repair_after, p->unknown_after, p->safe_retry_runs, p->safe_crash_limit, p->deescalate_runs);
    write_trace(trace, "%s%s%s%s", p->by_hand ? " --by-hand" : "", p->supervised ? " --supervised" : "", p->leaves_out ? "" : " --repairs-first",
                p->repair_count ? "" : " --no-repairs");
    for (uint32_t i = 0; i < p->repair_count; i++)
        write_trace(trace, " --repair %c:%u:attempts=%u%s%s%s", 'A' + (int)i, 10 * i, p->repairs[i].attempts, p->repairs[i].destructive ? ",destructive" : "",
                    p->repairs[i].consent ? ",consent" : "", p->repairs[i].restart ? ",restart" : "");
    for (unsigned i = 0; i < TASKS; i++)
        write_trace(trace, " --task %s%s", device_tasks[i],
                    p->tasks[i] & LG_TASK_ESSENTIAL ? ":essential" : p->tasks[i] & LG_TASK_SUSPECT ? ":suspect" : p->tasks[i] & LG_TASK_UNSAFE ? ":unsafe" : "");
}

/* ---- small things ---- */

static void see(struct world *w, enum row row)
{
    if (w->figures)
        w->figures->rows[row]++;
}

static void breaks(struct world *w, enum broken broken)
{
    if (w->broken == WHOLE)
        w->broken = broken;
}

static bool counts(lg_end end)
{
    return end == LG_END_CRASH || end == LG_END_HANG || end == LG_END_OOM;
}

static bool is_unexplained(lg_end end)
{
    return end == LG_END_KILLED || end == LG_END_UNKNOWN;
}

static unsigned most(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* ---- bugs ---- */

static bool is_active(const struct world *w, unsigned index)
{
    const struct bug *bug = &w->life->bugs[index];
    if (!w->bugs[index].begun || w->bugs[index].gone)
        return false;
    if (bug->cures & CURE_UPDATE && w->start->version != w->bugs[index].version)
        return false;
    return !(bug->cures & CURE_TIME) || w->true_ns - w->bugs[index].since_ns < bug->days * DAY_NS;
}

/* The bug that acts in this place of this start; -1: none. */
static int acting(struct world *w, enum bug_where where, unsigned task)
{
    for (unsigned i = 0; i < w->life->bug_count; i++) {
        const struct bug *bug = &w->life->bugs[i];
        if (bug->where != where || ((where == IN_TASK || where == IN_REPAIR) && bug->task != task) || !is_active(w, i))
            continue;
        if ((bug->only_offline && !w->start->offline) || (bug->only_full && w->start->disk != DISK_FULL))
            continue;
        if (w->safe && bug->cures & CURE_SAFE && where >= IN_TASK)
            continue;
        if (w->bugs[i].chances++ % bug->every == 0)
            return (int)i;
    }
    return -1;
}

static bool repair_crashes(const struct world *w, unsigned repair)
{
    for (unsigned i = 0; i < w->life->bug_count; i++)
        if (w->life->bugs[i].where == IN_REPAIR && w->life->bugs[i].task == repair && is_active(w, i))
            return true;
    return false;
}

static bool is_throttled(const struct world *w, unsigned rung)
{
    const uint64_t wall = w->device.now.wall_ns, last = w->attempted_wall_ns[rung];
    return last && (wall > last ? wall - last : last - wall) < DAY_NS;
}

static bool is_asked_for(const struct world *w, unsigned rung)
{
    return w->life->program.repairs[rung - 1].consent || w->life->program.by_hand;
}

/* Beyond doubt: since the last repair the ends that count are enough, or the unexplained ones are
 * not. */
static bool may_destroy(const struct world *w, unsigned rung)
{
    const struct program *program = &w->life->program;
    const bool few = !program->unknown_after || w->since_unexplained < program->unknown_after;
    return is_asked_for(w, rung) || w->since_counted >= program->repair_after || (few && w->since_counted + w->since_soon > 0);
}

/* A repair would cure that bug for good, is not spent, and is allowed now. */
static bool is_mendable(const struct world *w, unsigned index)
{
    const struct bug *bug = &w->life->bugs[index];
    const struct program *program = &w->life->program;
    for (unsigned rung = 1; rung <= program->repair_count; rung++) {
        if (!(bug->cures & CURE_REPAIR << (rung - 1)) || w->spent[rung] || repair_crashes(w, rung - 1))
            continue;
        if (!program->repairs[rung - 1].destructive || (!is_throttled(w, rung) && may_destroy(w, rung)))
            return true;
    }
    return false;
}

/* A remedy would cure that bug, is not spent, and is allowed now. */
static bool is_curable(const struct world *w, unsigned index)
{
    const struct bug *bug = &w->life->bugs[index];
    const struct program *program = &w->life->program;
    if (bug->where == BEFORE_BEGIN)
        return false; /* no launch, and no remedy */
    if (bug->cures & CURE_SAFE)
        return true;
    if (bug->where == IN_TASK && bug->cures & CURE_LEFT_OUT && program->leaves_out && !(program->tasks[bug->task] & LG_TASK_ESSENTIAL))
        return true;
    return is_mendable(w, index);
}

/* ---- the tally ---- */

static void forget_tried(struct world *w)
{
    memset(w->tried, 0, sizeof w->tried);
    memset(w->spent, 0, sizeof w->spent);
}

/* A launch that was finished, or that clean ends show to work. */
static void tally_finish(struct world *w, lg_launch_mode mode, bool left_out)
{
    w->died_held = false;
    w->quits = 0;
    w->since_counted = w->since_unexplained = 0;
    if (mode == LG_LAUNCH_MODE_SAFE)
        return;
    w->counted = w->unexplained = w->stops = w->put_off = 0;
    w->ends = 0;
    if (w->unsteady)
        return;
    w->open = w->explained = false;
    if (!left_out)
        forget_tried(w);
}

static void tally_bad(struct world *w, bool counted)
{
    if (counted) {
        w->counted++;
        w->since_counted++;
        w->ends++;
        w->crashes++;
        w->explained = true;
    } else {
        w->unexplained++;
        w->since_unexplained++;
    }
}

static enum lg__account tally_launch(struct world *w)
{
    const lg_end end = w->last.end;
    bool stop = end == LG_END_TERMINATED && w->last.task, counted = counts(end);
    if (stop) {
        w->stops = w->stops && w->stop_task == w->last.task ? w->stops + 1 : 1;
        w->stop_task = w->last.task;
        counted = w->stops >= 3;
        see(w, counted ? A25_third_stop : A25_stop);
    }
    if (counted || is_unexplained(end)) {
        static const enum row rows[][2] = { [LG_LAUNCH_MODE_NORMAL] = { A13_normal_unexplained, A12_normal_counted },
                                            [LG_LAUNCH_MODE_PROBATION] = { A15_probation_unexplained, A14_probation_counted },
                                            [LG_LAUNCH_MODE_SAFE] = { A19_safe_unexplained, A18_safe_counted },
                                            [LG_LAUNCH_MODE_TRIAL] = { A17_trial_unexplained, A16_trial_counted } };
        see(w, rows[w->last.mode][counted]);
        tally_bad(w, counted);
        w->quits = 0;
        w->stop_task = w->last.task;
        return LG__ACCOUNT_COUNTS;
    }
    if (end == LG_END_CLEAN) {
        see(w, A20_quit);
        if (++w->quits >= 3) {
            see(w, A20_three_quits);
            tally_finish(w, w->last.mode, w->last.mode == LG_LAUNCH_MODE_PROBATION && w->last.left_out);
        }
    }
    return LG__ACCOUNT_NOTHING;
}

static enum lg__account tally_held(struct world *w)
{
    const bool counted = counts(w->last.end), unexplained = is_unexplained(w->last.end);
    see(w, counted ? A7_held_counted : unexplained ? A8_held_unexplained : w->last.end == LG_END_REBOOT ? A9_held_power : A9_held_closed);
    if (counted)
        tally_bad(w, true);
    if (counted || unexplained)
        w->stop_task = NULL;
    w->put_off += !w->last.in_report;
    return counted || unexplained ? LG__ACCOUNT_COUNTS : LG__ACCOUNT_NOTHING;
}

static enum lg__account tally_repairing(struct world *w)
{
    const bool dies = counts(w->last.end) || is_unexplained(w->last.end);
    see(w, dies ? A5_repair_dies : w->last.end == LG_END_DEBUGGER ? A4_debugger : A6_interrupted);
    if (dies)
        w->stop_task = NULL;
    return w->last.end == LG_END_DEBUGGER || (w->last.by_hint && !dies) ? LG__ACCOUNT_NOTHING : LG__ACCOUNT_COUNTS;
}

static enum lg__account tally_halted(struct world *w)
{
    const bool counted = counts(w->last.end);
    see(w, counted ? A10_halted_counted : A11_halted_other);
    if (counted)
        tally_bad(w, true);
    if (counted || is_unexplained(w->last.end))
        w->stop_task = NULL;
    return counted ? LG__ACCOUNT_COUNTS : LG__ACCOUNT_NOTHING;
}

static enum lg__account tally_finished(struct world *w)
{
    const bool counted = counts(w->last.end), known = w->last.lived_s != UINT32_MAX;
    see(w, A2_finished);
    if (counted && known && w->last.lived_s < STEADY_S) {
        see(w, A22_unsteady);
        w->unsteady++;
        w->since_soon++;
        w->explained = true;
    } else if (((known && w->last.lived_s >= STEADY_S) || w->last.end == LG_END_CLEAN) && w->last.mode == LG_LAUNCH_MODE_NORMAL && w->unsteady && !w->last.left_out) {
        see(w, A23_steady);
        w->unsteady = 0;
        w->open = w->explained = false;
        forget_tried(w);
    }
    return counted ? LG__ACCOUNT_LATE : LG__ACCOUNT_NOTHING;
}

static enum lg__account tally(struct world *w)
{
    const struct program *program = &w->life->program;
    enum lg__account account = LG__ACCOUNT_NOTHING;
    switch (w->last.at) {
    case AT_BEFORE:
        see(w, w->began ? A24_early : A1_before_begin);
        account = w->began ? tally_launch(w) : LG__ACCOUNT_NOTHING; /* no policy is known yet */
        break;
    case AT_LAUNCH: account = tally_launch(w); break;
    case AT_HELD: account = tally_held(w); break;
    case AT_REPAIRING: account = tally_repairing(w); break;
    case AT_HALTED: account = tally_halted(w); break;
    case AT_FINISHED: account = tally_finished(w); break;
    case AT_RESTART: break;
    }
    w->open |= w->counted >= program->repair_after || (program->unknown_after && w->unexplained >= program->unknown_after) || w->unsteady >= program->repair_after;
    return account;
}

static void tally_neighbour(struct world *w)
{
    const bool counted = counts(w->last.end), known = w->last.lived_s != UINT32_MAX, own = w->last.end == LG_END_CRASH && w->start->disk != DISK_FULL;
    if (w->last.at == AT_BEFORE)
        w->neighbour_early += w->began;
    else if (w->last.at == AT_FINISHED && w->last.neighbour && counted && !own && known && w->last.lived_s < STEADY_S)
        w->neighbour_soon++;
    else if (w->last.neighbour_normal && w->last.at == AT_FINISHED && !counted && ((known && w->last.lived_s >= STEADY_S) || w->last.end == LG_END_CLEAN))
        w->neighbour_soon = 0;
}

static void tally_anew(struct world *w)
{
    w->neighbour_early = w->neighbour_soon = 0;
    w->neighbour_open = false;
    w->counted = w->unexplained = w->unsteady = w->quits = w->stops = 0;
    w->since_counted = w->since_soon = w->since_unexplained = 0;
    w->stop_task = NULL;
    w->open = w->explained = false;
    w->ends = 0;
    forget_tried(w);
    memset(w->attempted_ns, 0, sizeof w->attempted_ns);
    memset(w->attempted_wall_ns, 0, sizeof w->attempted_wall_ns);
    w->row = w->row_repaired = w->waiting = w->put_off = w->blocked = 0;
    w->row_repairs = false;
}

static void check_totals(struct world *w)
{
    const struct lg__ledger_context *c = w->context;
    if (c->crashes != w->crashes || c->ends != w->ends || c->launches != w->launches || c->repairs != w->repairs)
        breaks(w, WRONG_TOTAL);
}

/* ---- ends ---- */

/* In a launch that ends, the neighbour's has been over for so long. */
#define NEIGHBOUR_S 5u

static void end_run(struct world *w, enum at at, lg_end way, const char *in_task, uint32_t lived_s)
{
    char text[32];
    struct end end = { .end = way, .task = in_task, .lived_s = at < AT_FINISHED ? NEIGHBOUR_S : lived_s, .own = at > AT_BEFORE };
    end = device_end(&w->device, &w->life->program, end);
    if (w->fresh && end.task && end.end != LG_END_CLEAN && end.end != LG_END_REBOOT && end.end != LG_END_DEBUGGER)
        snprintf(text, sizeof text, "%s-in:%s", end_word(end.end), end.task);
    else
        snprintf(text, sizeof text, "%s", at == AT_BEFORE ? "crash-before-begin" : end_word(end.end));
    word(w, text);
    w->last.at = at;
    w->last.end = end.end;
    w->last.task = end.task;
    w->last.lived_s = at < AT_FINISHED ? UINT32_MAX : end.lived_s;
    w->last.mode = (lg_launch_mode)w->context->mode;
    w->last.left_out = w->left_out;
    w->last.by_hint = w->context->flags & LG__CONTEXT_HINT_REPAIR;
    w->died_held = w->died_held || (at == AT_HELD && w->hinted);
    w->last.in_report = w->killer >= 0 && w->life->bugs[w->killer].where == IN_REPORT;
    w->last.neighbour = w->life->program.neighbour && device_neighbour(&w->device)->phase == LG_PHASE_FINISHED;
    w->last.neighbour_normal = w->last.neighbour && device_neighbour(&w->device)->mode == LG_LAUNCH_MODE_NORMAL;
    w->runs[w->device.runs].had_file = w->start->disk != DISK_FULL;
    w->runs[w->device.runs].bad = lg_end_is_bad(end.end);
    w->runs[w->device.runs].owed = w->runs[w->device.runs].bad && w->life->program.delivers;
    if (w->figures)
        w->figures->ends++;
}

static void end_in_callback(struct world *w, enum at at, lg_end end, const char *text)
{
    end_run(w, at, end, NULL, UINT32_MAX);
    if (w->trace && end == LG_END_CRASH) { /* the word says more */
        w->trace->size -= strlen(" crash");
        write_trace(w->trace, " %s", text);
    }
}

static lg_end end_of_meddling(uint8_t meddling)
{
    static const lg_end ends[] = { LG_END_CLEAN, LG_END_CLEAN, LG_END_TERMINATED, LG_END_KILLED, LG_END_REBOOT, LG_END_DEBUGGER };
    return ends[meddling];
}

/* ---- the ladder ---- */

static void check_destructive(struct world *w, unsigned rung)
{
    const struct program *program = &w->life->program;
    if (!w->open && !(w->context->flags & LG__CONTEXT_HINT_REPAIR))
        breaks(w, INNOCENT_HELD);
    if (rung == 0 || !program->repairs[rung - 1].destructive)
        return;
    if (w->last_rung == rung && w->spent[rung])
        return; /* the series goes on */
    if (w->attempted_ns[rung] && is_throttled(w, rung) && w->true_ns - w->attempted_ns[rung] < DAY_NS)
        breaks(w, DESTRUCTIVE_AGAIN);
    if (w->hinted)
        return; /* the vendor knows better */
    for (unsigned milder = 1; milder < rung; milder++)
        if (!w->tried[milder] && (!program->repairs[milder - 1].destructive || (!is_throttled(w, milder) && is_asked_for(w, milder))))
            breaks(w, DESTRUCTIVE_FIRST);
    if (!w->tried[0] && w->context->flags & LG__CONTEXT_SKIPPABLE)
        breaks(w, DESTRUCTIVE_FIRST);
    if (!is_asked_for(w, rung) && !w->explained)
        breaks(w, DESTRUCTIVE_UNEXPLAINED);
}

static void cure(struct world *w, unsigned rung)
{
    for (unsigned i = 0; rung && i < w->life->bug_count; i++)
        if (w->bugs[i].begun && w->life->bugs[i].cures & CURE_REPAIR << (rung - 1))
            w->bugs[i].gone = true;
}

/* One attempt. false: the run has ended. */
static bool attempt(struct world *w)
{
    const unsigned rung = w->context->rung;
    const struct start *start = w->start;
    if (w->context->flags & LG__CONTEXT_HINT_HOLD) { /* the user wants it to run */
        see(w, V5_left);
        lg__decide_attempt(w->context, &w->device.now);
        return true;
    }
    check_destructive(w, rung);
    w->row_repairs = w->row_repairs || !(w->context->flags & LG__CONTEXT_HINT_REPAIR);
    lg__decide_attempt(w->context, &w->device.now);
    see(w, H1_attempt);
    if (w->context->phase != LG_PHASE_REPAIRING) {
        breaks(w, HELD_FOR_EVER);
        return true;
    }
    w->repairs++;
    w->repaired = true;
    w->tried[rung] = w->spent[rung] = true;
    w->last_rung = rung;
    w->attempted_ns[rung] = w->true_ns;
    w->attempted_wall_ns[rung] = w->device.now.wall_ns;
    if (w->figures)
        w->figures->repairs++;
    if (rung > 0) {
        w->killer = acting(w, IN_REPAIR, rung - 1);
        if (w->killer >= 0) {
            end_in_callback(w, AT_REPAIRING, w->life->bugs[w->killer].end, "crash-in-repair");
            return false;
        }
        if (start->repair_ends != NOTHING) {
            end_run(w, AT_REPAIRING, end_of_meddling(start->repair_ends), NULL, UINT32_MAX);
            return false;
        }
        if (start->repair_fails) {
            see(w, w->context->flags & LG__CONTEXT_HINT_REPAIR ? V5_failed : H3_failed);
            word(w, "fail");
            lg__decide_attempted(w->context, false, &w->device.now);
            return true;
        }
        word(w, "ok");
        cure(w, rung);
    } else {
        see(w, rung_0);
        device_leave_out_suspect(&w->device, &w->life->program);
        w->left_out = true;
    }
    w->open = true; /* it is on probation now, whoever asked for the repair */
    lg__decide_attempted(w->context, true, &w->device.now);
    w->since_counted = w->since_soon = w->since_unexplained = w->put_off = 0;
    see(w, H2_repaired);
    if (w->context->phase == LG_PHASE_TERMINATING) {
        see(w, H2_restart);
        end_run(w, AT_RESTART, LG_END_CLEAN, NULL, UINT32_MAX);
        return false;
    }
    return true;
}

/* The user's answer. false: the run has ended. */
static bool answer(struct world *w, bool *consented)
{
    const bool halted = w->context->phase == LG_PHASE_HALTED;
    const enum at at = halted ? AT_HALTED : AT_HELD;
    switch ((enum answer)w->start->answer) {
    case REFUSES:
        if (halted)
            break;
        see(w, H4_refused);
        w->tried[w->context->rung] = true;
        word(w, "refuse");
        lg__decide_refuse(w->context, &w->device.now);
        return true;
    case NOT_NOW:
        if (halted)
            break;
        see(w, w->context->skips < LG__SKIPS_MAX ? H5_not_now : H6_not_now_again);
        word(w, "skip");
        w->put_off++;
        lg__decide_skip(w->context, &w->device.now);
        return true;
    case SAYS_REPAIRED:
        see(w, H10_says_repaired);
        word(w, "repaired");
        w->put_off++;
        lg__decide_repaired(w->context, &w->device.now);
        if (w->context->mode == LG_LAUNCH_MODE_PROBATION)
            w->since_counted = w->since_soon = w->since_unexplained = 0;
        return true;
    case IS_AWAY:
        if (w->context->flags & LG__CONTEXT_HINT_HOLD && w->device.hint.expires_ns > w->device.now.wall_ns) {
            end_run(w, at, LG_END_CLEAN, NULL, UINT32_MAX); /* it stays held */
            return false;
        }
        see(w, halted ? H8_deadline : H7_deadline);
        word(w, "timeout");
        lg__decide_expired(w->context, &w->device.now);
        return true;
    case KILLS: end_run(w, at, LG_END_KILLED, NULL, UINT32_MAX); return false;
    case CLOSES: end_run(w, at, LG_END_CLEAN, NULL, UINT32_MAX); return false;
    case STOPS: end_run(w, at, LG_END_TERMINATED, NULL, UINT32_MAX); return false;
    case CUTS_POWER: end_run(w, at, LG_END_REBOOT, NULL, UINT32_MAX); return false;
    default: break;
    }
    if (halted) {
        see(w, H8_try_safe);
        word(w, "try-safe");
        lg__decide_try_safe(w->context);
    } else {
        word(w, "repair");
        *consented = true;
    }
    return true;
}

/* The hold, as long as there is one. false: the run has ended. */
static bool hold(struct world *w)
{
    bool consented = false;
    for (unsigned rounds = 0; w->context->phase == LG_PHASE_HELD || w->context->phase == LG_PHASE_HALTED; rounds++) {
        const bool halted = w->context->phase == LG_PHASE_HALTED;
        if (rounds > 16) {
            breaks(w, HELD_FOR_EVER);
            return true;
        }
        if (rounds == 0 && !halted && (w->killer = acting(w, IN_PROTECT, 0)) >= 0) {
            end_in_callback(w, AT_HELD, w->life->bugs[w->killer].end, "crash-in-protect");
            return false;
        }
        if (halted && lg__decide_give_up(w->context)) {
            if ((w->killer = acting(w, IN_GIVE_UP, 0)) >= 0) {
                see(w, A3_give_up);
                end_in_callback(w, AT_HALTED, w->life->bugs[w->killer].end, "crash-in-give-up");
                return false;
            }
            lg__decide_gave_up(w->context);
        }
        if (!device_waits(&w->device, &w->life->program, consented)) {
            if (halted)
                lg__decide_try_safe(w->context);
            else if (!attempt(w))
                return false;
        } else {
            const bool asked = consented;
            if (!answer(w, &consented))
                return false;
            /* the consent is for the rung that waits, whatever else covers it */
            if (!halted && consented && (!asked || w->context->phase == LG_PHASE_HELD) && w->start->answer == CONSENTS && !attempt(w))
                return false;
        }
    }
    return true;
}

/* ---- a start ---- */

static bool die(struct world *w, enum at at, const char *task, uint32_t lived_s)
{
    if (w->killer < 0)
        return false;
    end_run(w, at, w->life->bugs[w->killer].end, task, lived_s);
    return true;
}

/* The tasks run. Returns whether all did. */
static bool run_tasks(struct world *w)
{
    for (unsigned i = 0; i < TASKS; i++) {
        if (device_leaves_out(&w->device, &w->life->program, i)) {
            const bool by_hint = w->hint == LG_HINT_LEAVE_OUT && w->device.hint.what == i;
            if (by_hint)
                see(w, V1_left_out);
            w->left_out = w->left_out || (by_hint && lg__terms_left_out(w->context));
            continue;
        }
        if (w->start->meddles != NOTHING && (w->start->meddles_in == i || i + 1 == TASKS)) {
            end_run(w, AT_LAUNCH, end_of_meddling(w->start->meddles), device_tasks[i], UINT32_MAX);
            return false;
        }
        w->killer = acting(w, IN_TASK, i);
        if (die(w, AT_LAUNCH, device_tasks[i], UINT32_MAX))
            return false;
    }
    w->killer = acting(w, LATE, 0);
    return !die(w, AT_LAUNCH, NULL, UINT32_MAX);
}

static void finish(struct world *w)
{
    const lg_launch_mode mode = (lg_launch_mode)w->context->mode;
    const enum row rows[] = { [LG_LAUNCH_MODE_NORMAL] = F4_normal, [LG_LAUNCH_MODE_PROBATION] = F3_probation, [LG_LAUNCH_MODE_SAFE] = F1_safe,
                              [LG_LAUNCH_MODE_TRIAL] = F2_trial };
    see(w, rows[mode]);
    lg__decide_finished(w->context);
    if (mode == LG_LAUNCH_MODE_SAFE && w->context->mode == LG_LAUNCH_MODE_TRIAL)
        see(w, F1_to_trial);
    tally_finish(w, mode, mode == LG_LAUNCH_MODE_PROBATION && w->left_out);
    word(w, "finish");
}

static enum outcome live_on(struct world *w)
{
    w->killer = acting(w, AFTER_MARK, 0);
    if (w->killer >= 0) {
        const lg_end end = w->life->bugs[w->killer].end;
        end_run(w, AT_FINISHED, end, NULL, counts(end) ? w->start->uptime_s % STEADY_S : UINT32_MAX);
        return DIED;
    }
    const lg_end end = end_of_meddling(w->start->ends);
    const bool known = end == LG_END_CLEAN || end == LG_END_TERMINATED;
    if (known && end != LG_END_CLEAN && w->start->uptime_s >= STEADY_S)
        word(w, "wait:60s");
    end_run(w, AT_FINISHED, end, NULL, known ? w->start->uptime_s : UINT32_MAX);
    return LIVED;
}

static void look_at_begin(struct world *w)
{
    const struct lg__ledger_context *c = w->context;
    const bool held = c->phase == LG_PHASE_HELD, safe = c->mode == LG_LAUNCH_MODE_SAFE;
    if (!w->open && !w->hinted && (held || safe || c->phase == LG_PHASE_HALTED))
        breaks(w, INNOCENT_HELD);
    see(w, held ? B11_held : c->phase == LG_PHASE_HALTED ? B6_halted : safe ? B7_safe : c->mode == LG_LAUNCH_MODE_TRIAL ? B8_trial :
               c->mode == LG_LAUNCH_MODE_PROBATION ? B9_probation : B9_normal);
    if (c->events & LG_EVENT_THROTTLED)
        see(w, throttled);
    w->was_held = held;
    if (held && w->figures)
        w->figures->held++;
}

/* Safe mode comes when no repair is left, or when the user does not let them run. */
static void check_safe(struct world *w)
{
    const struct program *program = &w->life->program;
    for (unsigned rung = 1; rung <= program->repair_count && !w->put_off; rung++)
        if (!w->tried[rung] && (!program->repairs[rung - 1].destructive || (!is_throttled(w, rung) && is_asked_for(w, rung))))
            breaks(w, SAFE_TOO_EARLY);
    w->put_off = 0;
}

static void launch_neighbour(struct world *w)
{
    if (!w->life->program.neighbour)
        return;
    const bool troubled = w->neighbour_early >= 2 || w->neighbour_soon >= 2;
    const bool normal = device_launch_neighbour(&w->device) == LG_LAUNCH_MODE_NORMAL;
    w->neighbour_open = (w->neighbour_open && !normal) || troubled;
    if (!normal && !w->neighbour_open)
        breaks(w, NEIGHBOUR_HELD);
    w->neighbour_early = 0;
}

/* What a hint has done to the begin of a launch. */
static void look_at_hint(struct world *w, lg_launch_mode mode, uint32_t held_deaths, const char *last_task)
{
    struct lg__ledger_context *c = w->context;
    const struct hint *hint = &w->device.hint;
    const bool held = c->phase == LG_PHASE_HELD, is_new = hint->serial != w->followed, asked = c->flags & LG__CONTEXT_HINT_REPAIR;
    const bool repairs = c->events & LG_EVENT_HINT_REPAIR, tired = held_deaths >= LG__HELD_DEATHS_MAX;
    w->hinted = false;
    if ((repairs && (w->hint != LG_HINT_REPAIR || !is_new)) || (c->flags & LG__CONTEXT_HINT_HOLD && w->hint != LG_HINT_HOLD_BELOW))
        breaks(w, HINT_AGAIN);
    switch (w->hint) {
    case LG_HINT_LEAVE_OUT:
        if (c->unsteady || hint->what >= TASKS || strcmp(last_task, device_tasks[hint->what]) != 0)
            break;
        see(w, V1_spared);
        if (held || c->phase == LG_PHASE_HALTED)
            breaks(w, HINT_NOT_FOLLOWED);
        break;
    case LG_HINT_REPAIR:
        if (!repairs)
            break;
        see(w, asked ? V2_repair : V2_needed);
        if (!held || c->rung != hint->what + 1)
            breaks(w, HINT_NOT_FOLLOWED);
        w->hinted = true;
        w->followed = hint->serial;
        break;
    case LG_HINT_SAFE_MODE:
        if (is_new && (c->mode != LG_LAUNCH_MODE_SAFE && !(c->events & LG_EVENT_SAFE) && !held))
            breaks(w, HINT_NOT_FOLLOWED);
        if (!is_new && w->stays_safe && (mode == LG_LAUNCH_MODE_TRIAL || c->mode == LG_LAUNCH_MODE_TRIAL))
            breaks(w, HINT_LEFT);
        see(w, is_new ? V3_goes_safe : V3_stays_safe);
        w->open = w->open || is_new;
        w->followed = hint->serial;
        w->stays_safe = c->mode == LG_LAUNCH_MODE_SAFE && (is_new || mode == LG_LAUNCH_MODE_SAFE);
        return;
    case LG_HINT_HOLD_BELOW:
        if (held != !tired && !held)
            breaks(w, HINT_NOT_FOLLOWED);
        w->hinted = c->flags & LG__CONTEXT_HINT_HOLD;
        if (w->hinted)
            see(w, V4_held);
        break;
    default: break;
    }
    if (w->stays_safe && mode == LG_LAUNCH_MODE_SAFE) {
        see(w, V3_over);
        if (c->mode == LG_LAUNCH_MODE_SAFE)
            breaks(w, HINT_NOT_FOLLOWED);
    }
    w->stays_safe = false;
}

static void take_hint(struct world *w)
{
    if (!w->start->hint)
        return;
    w->device.hint = (struct hint){ (lg_hint_kind)(w->start->hint - 1), w->device.hint.serial + 1, w->start->hint_what,
                                    w->device.now.wall_ns + w->start->hint_days * DAY_NS, { .crc = 0 } };
    device_take_hint(&w->device);
    write_trace(w->trace, " #a-hint:%u:%u:%u-days", w->start->hint - 1u, w->start->hint_what, w->start->hint_days);
}

static enum outcome start_once(struct world *w)
{
    if ((w->killer = acting(w, BEFORE_BEGIN, 0)) >= 0) {
        end_run(w, AT_BEFORE, LG_END_CRASH, NULL, UINT32_MAX);
        return DIED;
    }
    const lg_launch_mode mode = (lg_launch_mode)w->context->mode;
    const bool was_safe = mode == LG_LAUNCH_MODE_SAFE;
    const uint32_t held_deaths = w->context->held_deaths;
    char last_task[LG__NAME_BYTES];
    memcpy(last_task, w->context->last_task, sizeof last_task);
    if (w->life->program.neighbour_first)
        launch_neighbour(w);
    device_begin(&w->device, &w->life->program);
    w->began = true;
    w->launches++;
    w->left_out = false;
    if (w->context->flags & LG__CONTEXT_ASKING) {
        if ((w->killer = acting(w, IN_DECIDE, 0)) >= 0) {
            see(w, A3_decide);
            end_in_callback(w, AT_LAUNCH, w->life->bugs[w->killer].end, "crash-in-decide");
            return DIED;
        }
        device_course(&w->device, &w->life->program);
    }
    look_at_hint(w, mode, held_deaths, last_task);
    look_at_begin(w);
    if (!was_safe && w->context->mode == LG_LAUNCH_MODE_SAFE && w->hint != LG_HINT_SAFE_MODE) {
        see(w, B10_go_safe);
        check_safe(w);
    }
    if (w->context->flags & LG__CONTEXT_REPORTING) {
        see(w, B5_report);
        lg__decide_told(w->context);
        if ((w->killer = acting(w, IN_REPORT, 0)) >= 0) {
            see(w, A3_report);
            end_in_callback(w, w->context->phase == LG_PHASE_HELD ? AT_HELD : w->context->phase == LG_PHASE_HALTED ? AT_HALTED : AT_LAUNCH,
                            w->life->bugs[w->killer].end, "crash-in-report");
            return DIED;
        }
        lg__decide_reported(w->context);
    }
    if (!hold(w))
        return w->killer >= 0 ? DIED : NEITHER;
    w->let_through = true;
    w->safe = w->context->mode == LG_LAUNCH_MODE_SAFE;
    if (!run_tasks(w))
        return w->killer >= 0 ? DIED : NEITHER;
    finish(w);
    if (!w->life->program.neighbour_first)
        launch_neighbour(w);
    return live_on(w);
}

/* ---- starts in a row ---- */

static bool is_quiet(const struct start *start)
{
    return start->disk != DISK_FULL && start->answer == CONSENTS && start->repair_ends == NOTHING && !start->repair_fails && start->meddles == NOTHING && start->jump_h == 0;
}

/* The vendor wants no normal launch. */
static bool is_against(const struct world *w)
{
    return w->hint == LG_HINT_SAFE_MODE || w->hint == LG_HINT_HOLD_BELOW;
}

static unsigned reach_of(const struct world *w)
{
    const struct program *program = &w->life->program;
    const struct bug *bug = &w->life->bugs[w->row_killer];
    const unsigned limit = program->safe_crash_limit > 2 ? program->safe_crash_limit : 2;
    if (is_unexplained(bug->end))
        return limit * program->unknown_after + 2; /* in safe mode so many are one crash */
    return (bug->end == LG_END_TERMINATED ? 2 : 0) + program->repair_after + limit + 2;
}

static void look_at_row(struct world *w, enum outcome outcome)
{
    const bool quiet = is_quiet(w->start) && !is_against(w);
    const int killer = w->killer;
    const bool restart = outcome == NEITHER && w->last.at == AT_RESTART;
    const bool of_callback = killer >= 0 && w->life->bugs[killer].where >= IN_DECIDE && w->life->bugs[killer].where <= IN_GIVE_UP;
    if (outcome == LIVED && quiet && w->row_repaired && w->figures) {
        w->figures->cured++;
        w->figures->until_cured[w->row_repaired + 1 < LONGEST ? w->row_repaired + 1 : LONGEST - 1]++;
    } else if (outcome == LIVED && quiet && w->repaired && w->figures) {
        w->figures->cured++;
        w->figures->until_cured[1]++;
    }
    if (!quiet || outcome == LIVED || of_callback || (outcome == NEITHER && !restart) || (killer >= 0 && (killer != w->row_killer || !is_curable(w, (unsigned)killer)))) {
        w->row = w->row_repaired = 0;
        w->row_repairs = false;
        w->row_killer = killer;
        if (!quiet || outcome != DIED || of_callback || !is_curable(w, (unsigned)killer))
            return;
    }
    w->row++;
    w->row_repaired += w->row_repairs;
    if (w->row_killer < 0)
        return;
    const bool hidden = is_unexplained(w->life->bugs[w->row_killer].end) &&
                        (w->life->program.unknown_after == 0 || w->life->bugs[w->row_killer].where == AFTER_MARK);
    if (hidden)
        return; /* what is not counted is no evidence */
    if (w->row_repaired >= CURED_WITHIN)
        breaks(w, NOT_CURED);
    if (!w->row_repairs && w->row > reach_of(w) && !w->died_held)
        breaks(w, NOT_REACHED);
    if (w->figures && !w->row_repairs)
        w->figures->most_reach = most(w->figures->most_reach, w->row);
}

/* A repair that would cure for good has its turn, also where safe mode or the built-in rung lets
 * the program live. */
static void look_at_waiting(struct world *w, enum outcome outcome)
{
    bool mendable = false, others = false;
    for (unsigned i = 0; i < w->life->bug_count; i++) {
        const struct bug *bug = &w->life->bugs[i];
        const bool loops = bug->where >= IN_TASK && bug->every == 1 && !bug->only_offline && !is_unexplained(bug->end) && is_active(w, i) && is_mendable(w, i);
        mendable = mendable || loops;
        others = others || (w->killer == (int)i && !loops);
    }
    const bool whole = outcome == LIVED && !w->safe && !w->left_out;
    w->waiting = mendable && is_quiet(w->start) && w->hint == LG_HINT_WITHDRAWN && !whole && !others ? w->waiting + 1 : 0;
    if (w->figures)
        w->figures->most_waiting = most(w->figures->most_waiting, w->waiting);
    if (w->waiting > TRIED_WITHIN)
        breaks(w, NEVER_TRIED);
}

static void look_at_good(struct world *w, enum outcome outcome)
{
    w->good = outcome == LIVED && is_quiet(w->start) && !is_against(w) ? w->good + 1 : 0;
    const bool normal = w->context->mode == LG_LAUNCH_MODE_NORMAL && (!w->was_held || w->hinted);
    if (w->good && !normal && w->figures)
        w->figures->most_normal = most(w->figures->most_normal, w->good);
    if (w->good > NORMAL_WITHIN && !normal)
        breaks(w, NOT_NORMAL_AGAIN);
}

static void look_at_holds(struct world *w)
{
    const bool in_callback = w->killer >= 0 && w->life->bugs[w->killer].where >= IN_DECIDE && w->life->bugs[w->killer].where <= IN_GIVE_UP;
    if (w->hint == LG_HINT_HOLD_BELOW && w->last.at == AT_HELD && !counts(w->last.end) && !is_unexplained(w->last.end))
        w->blocked = 0; /* as the vendor wants it */
    else if (w->last.at == AT_HELD || w->last.at == AT_REPAIRING || in_callback)
        w->blocked++;
    else if (w->let_through)
        w->blocked = 0;
    if (w->figures)
        w->figures->most_blocked = most(w->figures->most_blocked, w->blocked);
    if (w->blocked > BLOCKED_WITHIN)
        breaks(w, BLOCKED_FOR_EVER);
}

/* ---- files ---- */

static void look_at_files(struct world *w)
{
    const struct device *device = &w->device;
    const struct lg__retention_limits *limits = &w->life->program.limits;
    const uint64_t last = device->runs - 1;
    if (w->start->disk == DISK_TIGHT)
        w->tight = last;
    if (w->start->disk == DISK_FULL)
        w->full = last;
    if (w->runs[last].had_file && !device_has_file(device, last))
        breaks(w, LAST_LOST);
    for (uint32_t i = 0; i < device->ledger.context_count; i++) {
        const uint64_t first = device->ledger.contexts[i].first_ordinal;
        if (first > w->full && w->runs[first].had_file && !device_has_file(device, first))
            breaks(w, FIRST_LOST);
    }
    uint32_t bad = 0;
    const uint32_t kept = limits->runs - limits->runs / 4;
    for (uint64_t run = last; run > w->tight && run > w->full && limits->bytes == UINT64_MAX; run--) {
        if (!w->runs[run].bad || !w->runs[run].had_file)
            continue;
        bad += !w->runs[run].owed;
        if ((w->runs[run].owed || bad < kept) && !device_has_file(device, run))
            breaks(w, w->runs[run].owed ? OWED_LOST : BAD_LOST);
    }
    if (device->file_count > limits->runs + device->beyond + device->ledger.context_count)
        breaks(w, TOO_MANY_FILES);
    if (w->figures)
        w->figures->most_files = most(w->figures->most_files, device->file_count);
}

static void report(struct world *w)
{
    device_report(&w->device);
    for (uint64_t run = 0; run < w->device.runs; run++)
        w->runs[run].owed = false;
}

/* ---- time ---- */

static void time_passes(struct world *w)
{
    const struct start *start = w->start;
    const uint64_t gap = start->gap_s * SECOND_NS;
    struct lg__moment *now = &w->device.now;
    w->true_ns += gap;
    now->boottime_ns += gap;
    now->wall_ns += gap + (uint64_t)start->jump_h * 3600 * SECOND_NS;
    if (start->reboots || w->last.end == LG_END_REBOOT) {
        memset(now->boot_id, 0, sizeof now->boot_id);
        memcpy(now->boot_id, &w->true_ns, sizeof w->true_ns);
        now->boottime_ns = 20 * SECOND_NS;
    }
    if (start->gap_s >= 3600 && w->device.has_run)
        write_trace(w->trace, " wait:%uh", start->gap_s / 3600 < 2400 ? start->gap_s / 3600 : 2400);
    if (start->jump_h)
        write_trace(w->trace, " #the-wall-clock-jumps:%dh", start->jump_h);
    if (w->last.at == AT_FINISHED && w->last.lived_s != UINT32_MAX)
        w->true_ns += w->last.lived_s * SECOND_NS;
}

static void begin_bug(struct world *w)
{
    const unsigned index = w->start->onset - 1u;
    if (!w->start->onset || index >= w->life->bug_count || w->bugs[index].begun)
        return;
    w->bugs[index].begun = true;
    w->bugs[index].version = w->start->version;
    w->bugs[index].since_ns = w->true_ns;
}

static void account(struct world *w)
{
    const bool had_run = w->device.has_run;
    const uint32_t before = w->device.version;
    bool anew;
    const enum lg__account real = device_start(&w->device, &w->life->program, w->start->version, (enum disk)w->start->disk, &anew);
    if (had_run && before != w->start->version && w->crashed_versions <= LG__CRASHED_PROGRAMS && anew == w->has_crashed[w->start->version])
        breaks(w, WRONG_VERSION);
    if (had_run) {
        const enum lg__account expected = tally(w);
        tally_neighbour(w);
        if (real != expected)
            breaks(w, WRONG_ACCOUNT);
        if (expected != LG__ACCOUNT_NOTHING && !w->has_crashed[before]) {
            w->has_crashed[before] = true;
            w->crashed_versions++;
        }
    }
    if (had_run && before != w->start->version)
        see(w, anew ? upgrade_anew : version_known);
    if (!anew)
        return;
    tally_anew(w);
    write_trace(w->trace, " upgrade");
}

enum broken live(const struct life *life, struct figures *figures, struct trace *trace, unsigned *ret_start)
{
    static struct world world;
    struct world *w = &world;
    memset(w, 0, sizeof *w);
    *w = (struct world){ .life = life, .figures = figures, .trace = trace, .row_killer = -1 };
    device_new(&w->device, &life->program);
    w->context = device_context(&w->device);
    unsigned i = 0;
    for (; i < life->start_count && w->broken == WHOLE; i++) {
        w->start = &life->starts[i];
        time_passes(w);
        w->fresh = true;
        if (w->start->disk == DISK_READ_ONLY) {
            begin_bug(w); /* no session, and no trace of this start */
            continue;
        }
        account(w);
        look_at_files(w);
        if (!w->start->offline)
            report(w);
        begin_bug(w);
        take_hint(w);
        w->hint = device_hint(&w->device, &life->program);
        w->hinted = false;
        w->killer = -1;
        w->repaired = w->let_through = w->was_held = w->safe = false;
        const enum outcome outcome = start_once(w);
        look_at_row(w, outcome);
        look_at_waiting(w, outcome);
        look_at_good(w, outcome);
        look_at_holds(w);
        check_totals(w);
    }
    if (figures) {
        figures->lives++;
        figures->device_s += w->true_ns / SECOND_NS;
        figures->starts += i;
    }
    if (ret_start)
        *ret_start = i;
    return w->broken;
}
