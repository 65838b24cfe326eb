/* Lives by dice: programs, bugs, and the people, supervisors, updates, clocks and power around a
 * device. */
#include <string.h>

#include "life.h"
#include "launchguard/task.h"
#include "seeds.h"

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *dice, uint32_t sides)
{
    dice->state = mix_seed(dice->state);
    return (uint32_t)((dice->state >> 32) * sides >> 32);
}

static bool percent(struct dice *dice, uint32_t share)
{
    return roll(dice, 100) < share;
}

static struct program draw_program(struct dice *dice)
{
    struct program program = { .report_after = 1 + roll(dice, 3), .repair_after = 1 + roll(dice, 3), .safe_retry_runs = 1 + roll(dice, 3),
                               .safe_crash_limit = percent(dice, 10) ? 0 : 1 + roll(dice, 3), .deescalate_runs = roll(dice, 5),
                               .by_hand = percent(dice, 40), .supervised = percent(dice, 20), .leaves_out = percent(dice, 80), .asks = percent(dice, 50),
                               .repair_count = roll(dice, REPAIRS + 1) };
    program.unknown_after = percent(dice, 10) ? 0 : 2 * program.repair_after;
    if (percent(dice, 50)) /* the defaults */
        program.report_after = 1, program.repair_after = 2, program.unknown_after = 4, program.safe_retry_runs = 2, program.safe_crash_limit = 2,
        program.deescalate_runs = 3;
    for (uint32_t i = 0; i < program.repair_count; i++)
        program.repairs[i] = (struct repair){ .attempts = 1 + roll(dice, 2), .destructive = percent(dice, i == 0 ? 15 : 40), .consent = percent(dice, 15),
                                              .restart = percent(dice, 20) };
    static const uint32_t runs[] = { 32, 32, 8, 4, 1 };
    program.limits = (struct lg__retention_limits){ runs[roll(dice, 5)], percent(dice, 80) ? UINT64_MAX : (5 + roll(dice, 20)) * FILE_BYTES };
    program.delivers = percent(dice, 50);
    program.neighbour = percent(dice, 50);
    program.neighbour_first = percent(dice, 50);
    for (unsigned i = 0; i < TASKS; i++) {
        static const uint32_t flags[] = { 0, 0, LG_TASK_ESSENTIAL, LG_TASK_SUSPECT, LG_TASK_UNSAFE };
        program.tasks[i] = flags[roll(dice, 5)];
    }
    return program;
}

static struct bug draw_bug(struct dice *dice, const struct program *program, bool first)
{
    static const enum bug_where places[] = { BEFORE_BEGIN, IN_TASK, IN_TASK, IN_TASK, IN_TASK, LATE, LATE, AFTER_MARK, AFTER_MARK },
                                callbacks[] = { IN_DECIDE, IN_REPORT, IN_PROTECT, IN_REPAIR, IN_GIVE_UP };
    static const lg_end ends[] = { LG_END_CRASH, LG_END_CRASH, LG_END_CRASH, LG_END_HANG, LG_END_OOM, LG_END_KILLED, LG_END_UNKNOWN, LG_END_TERMINATED };
    struct bug bug = { .where = first || percent(dice, 40) ? places[roll(dice, 9)] : callbacks[roll(dice, 5)] };
    bug.task = roll(dice, bug.where == IN_REPAIR && program->repair_count ? program->repair_count : TASKS);
    bug.end = bug.where == IN_TASK ? ends[roll(dice, 8)] : bug.where == AFTER_MARK ? ends[roll(dice, 5)] : ends[roll(dice, 7)];
    bug.only_offline = percent(dice, 8);
    bug.only_full = percent(dice, 4);
    bug.every = percent(dice, 8) ? 2 + roll(dice, 4) : 1;
    if (percent(dice, 40))
        bug.cures |= CURE_SAFE;
    if (percent(dice, 30))
        bug.cures |= CURE_UPDATE;
    if (percent(dice, 20))
        bug.cures |= CURE_TIME;
    if (bug.where == IN_TASK && percent(dice, 80))
        bug.cures |= CURE_LEFT_OUT;
    for (uint32_t i = 0; i < program->repair_count; i++)
        if (percent(dice, 40))
            bug.cures |= CURE_REPAIR << i;
    bug.days = 1 + roll(dice, 40);
    return bug;
}

/* A season: the surroundings behave in one way for a while. */
enum season { CALM, IMPATIENT, AWAY, REFUSING, PUTTING_OFF, KILLING, QUITTING, CUTTING, CLOCKS, SUPERVISOR, UPDATES, ALTERNATING, CLUMSY, DISKS, WILD, SEASONS };

static uint32_t usual_gap(struct dice *dice)
{
    static const uint32_t most[] = { 60, 3600, 12 * 3600, 48 * 3600 };
    return 1 + roll(dice, most[roll(dice, 4)]);
}

/* `share`: of its starts in which the season shows, in per cent. */
static struct start draw_start(struct dice *dice, enum season season, uint32_t share, uint8_t *version)
{
    struct start start = { .gap_s = usual_gap(dice), .reboots = percent(dice, 20), .offline = percent(dice, 10),
                           .uptime_s = percent(dice, 30) ? roll(dice, 50) : 60 + roll(dice, 4 * 3600), .meddles_in = (uint8_t)roll(dice, TASKS) };
    static const uint8_t later[] = { NOTHING, NOTHING, NOTHING, STOP, KILL, POWER_CUT };
    start.ends = later[roll(dice, 6)];
    const bool often = percent(dice, share);
    switch (season == WILD ? (enum season)roll(dice, WILD) : season) {
    case IMPATIENT:
        start.gap_s = 1;
        start.reboots = false;
        start.answer = often ? KILLS : CONSENTS;
        break;
    case AWAY:
        start.answer = IS_AWAY;
        start.gap_s = percent(dice, 20) ? 7 * 86400 : start.gap_s;
        break;
    case REFUSING: start.answer = often ? REFUSES : SAYS_REPAIRED; break;
    case PUTTING_OFF: start.answer = often ? NOT_NOW : CLOSES; break;
    case KILLING:
        start.answer = KILLS;
        start.meddles = often ? KILL : NOTHING;
        start.repair_ends = often ? KILL : NOTHING;
        break;
    case QUITTING:
        start.answer = CLOSES;
        start.meddles = often ? QUIT : NOTHING;
        start.repair_ends = often ? QUIT : NOTHING;
        break;
    case CUTTING:
        start.answer = often ? CUTS_POWER : CONSENTS;
        start.meddles = often ? POWER_CUT : NOTHING;
        start.repair_ends = often ? POWER_CUT : NOTHING;
        start.reboots = true;
        break;
    case CLOCKS:
        start.jump_h = often ? (int32_t)roll(dice, 2) * 24 * 365 * 40 - 24 * 365 * 20 : 0;
        start.reboots = percent(dice, 70);
        break;
    case SUPERVISOR:
        start.gap_s = 1 + roll(dice, 10);
        start.meddles = often ? STOP : NOTHING;
        start.answer = percent(dice, 50) ? STOPS : CONSENTS;
        start.repair_ends = percent(dice, 20) ? STOP : NOTHING;
        break;
    case UPDATES: *version = (uint8_t)(percent(dice, 30) ? *version + 1 : percent(dice, 10) && *version ? *version - 1 : *version); break;
    case ALTERNATING: *version ^= 1; break;
    case CLUMSY:
        start.repair_fails = often;
        start.meddles = percent(dice, 10) ? DEBUGGED : NOTHING;
        start.repair_ends = percent(dice, 10) ? DEBUGGED : NOTHING;
        break;
    case DISKS: start.disk = (uint8_t)(often ? 1 + roll(dice, 3) : DISK_WELL); break;
    default: break;
    }
    start.version = *version;
    return start;
}

struct life life_draw(uint64_t seed)
{
    struct dice dice = { seed };
    struct life life;
    memset(&life, 0, sizeof life);
    life.seed = seed;
    life.program = draw_program(&dice);
    life.bug_count = roll(&dice, BUGS + 1);
    const bool traceless = percent(&dice, 10);
    for (unsigned i = 0; i < life.bug_count; i++) {
        life.bugs[i] = draw_bug(&dice, &life.program, i == 0);
        if (traceless && life.bugs[i].where >= IN_TASK)
            life.bugs[i].end = LG_END_UNKNOWN;
    }
    life.start_count = 40 + roll(&dice, STARTS_MOST - 40 + 1);
    uint8_t version = 1;
    uint32_t share = 0;
    for (unsigned i = 0, left = 0, season = CALM; i < life.start_count; i++, left--) {
        if (!left) {
            left = 4 + roll(&dice, 50);
            season = percent(&dice, 45) ? CALM : roll(&dice, SEASONS);
            share = percent(&dice, 30) ? 100 : 60;
        }
        life.starts[i] = draw_start(&dice, (enum season)season, share, &version);
    }
    for (unsigned i = 0; i < life.bug_count; i++)
        life.starts[roll(&dice, life.start_count * 3 / 4)].onset = (uint8_t)(i + 1);
    for (unsigned left = percent(&dice, 30) ? 1 + roll(&dice, 6) : 0; left > 0; left--) {
        struct start *start = &life.starts[roll(&dice, life.start_count)];
        start->hint = (uint8_t)(1 + roll(&dice, LG_HINT_HOLD_BELOW + 1));
        start->hint_what = (uint8_t)roll(&dice, 5); /* not all are there */
        start->hint_days = (uint8_t)(1 + roll(&dice, 30));
    }
    return life;
}
