/* Long random sequences of launches of large programs: the machine is compared with its model. Some
 * sequences are then checked in particular. A number as argument sets the number of sequences.
 * Every number that a ledger may hold is tried, damaged ones too: both machines must not trust
 * these numbers, and must agree on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"

#define DAY (24 * HOUR)

static unsigned lives = 2000;
static const unsigned events_of_a_life = 500;

/* ---- Dice ---- */

static uint64_t dice;

static uint32_t roll(uint32_t sides)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(((dice >> 32) * sides) >> 32);
}

#define ONE_OF(values) (values)[roll((uint32_t)(sizeof(values) / sizeof(values)[0]))]

static uint32_t edge(void)
{
    static const uint32_t edges[] = { 0, 1, 2, 3, 63, 64, 65, 0x7fffffff, 0x80000000, UINT32_MAX - 1, UINT32_MAX };
    return ONE_OF(edges);
}

/* ---- Programs ---- */

static struct model_policy random_policy(void)
{
    static const uint64_t times[] = { 0, 1, HOUR / MS, 6 * HOUR / MS, DAY / MS, INT64_MAX, UINT64_MAX };
    struct model_policy policy = { .report_after = 1 + roll(5), .repair_after = 1 + roll(4), .unknown_after = roll(5), .safe_retry_runs = 1 + roll(4),
                                   .safe_retry_max = roll(4) ? 64 : 4 + roll(3), .safe_crash_limit = roll(4), .deescalate_runs = roll(4),
                                   .deescalate_ms = ONE_OF(times), .steady_ms = roll(5) ? 60000 : ONE_OF(times) };
    if (roll(20) == 0)
        policy.report_after = 1 + edge() / 2, policy.unknown_after = edge();
    const uint32_t count = roll(8) ? 7 : roll(32);
    policy.count_crash = count & 1, policy.count_hang = count & 2, policy.count_oom = count & 4;
    policy.count_exit = roll(2), policy.count_sigpipe = roll(2);
    return policy;
}

/* Some of the program's repairs, so that their places change when the program changes. */
static struct pair_program random_program(const struct model_launch *all)
{
    struct model_launch launch = usual_launch();
    launch.policy = random_policy();
    const uint32_t share = roll(9);
    for (uint32_t i = 1; i < all->rung_count; i++)
        if (roll(8) < share)
            launch.rungs[launch.rung_count++] = all->rungs[i];
    return program_of(&launch);
}

static struct model_launch random_repairs(void)
{
    struct model_launch all = usual_launch();
    for (uint32_t count = roll(MODEL_RUNGS); all.rung_count <= count;)
        add_rung(&all, roll(8) ? 1 + roll(3) : 100, roll(3) == 0, roll(4) == 0);
    return all;
}

/* ---- Events ---- */

static struct pair_event random_pass(void)
{
    static const uint64_t times[] = { 1, MS, HOUR, 6 * HOUR - 1, 6 * HOUR, DAY - 1, DAY, DAY + 1, 3 * DAY };
    static const int64_t jumps[] = { (int64_t)DAY, 1 - (int64_t)DAY, -(int64_t)DAY, -1 - (int64_t)DAY, -3 * (int64_t)DAY, 10 };
    const int64_t ns = (int64_t)ONE_OF(times);
    return (struct pair_event){ .kind = PASS, .ns = ns, .wall = roll(6) ? ns : ONE_OF(jumps) };
}

static struct pair_event random_event(void)
{
    static const enum pair_kind kinds[] = { BEGIN, BEGIN, BEGIN, BEGIN, COURSE, COURSE, TOLD, TOLD, REPORTED, REPORTED, ACCOUNT, ATTEMPT, ATTEMPT, ATTEMPT, DONE_OK, DONE_FAILED, OVERRUN,
                                            REFUSE, SKIP, REPAIRED, EXPIRE, TRY, PROTECT, FINISH, FINISH, TERMINATE, LEAVE_OUT, GIVE_UP, GAVE_UP, PASS, REBOOT };
    static const enum model_end often[] = { END_CRASH, END_CRASH, END_CLEAN, END_UNKNOWN, END_TERMINATED, END_EXIT, END_HANG };
    struct pair_event event = { .kind = ONE_OF(kinds) };
    if (event.kind == PASS)
        return random_pass();
    if (event.kind == REBOOT && roll(100) == 0)
        event.kind = UPGRADE;
    event.skippable = roll(2);
    event.empty = roll(2);
    event.shadow = roll(20) == 0;
    event.by_hand = roll(4) == 0;
    event.early = roll(12) == 0;
    event.lived_ms = roll(3) ? roll(90000) : MODEL_NOT_KNOWN;
    event.hint = roll(3) ? NO_HINT : (enum model_hint_kind)roll(5);
    event.hint_serial = 1 + roll(4);
    event.hint_rung = roll(MODEL_RUNGS);
    event.asks = event.kind == BEGIN && roll(3) == 0;
    event.decided = roll(4) ? BY_RULE : roll(4);
    event.end = roll(3) ? ONE_OF(often) : roll(END_COUNT);
    event.sigpipe = event.end == END_CRASH && roll(6) == 0;
    event.finished = roll(12) == 0;
    event.others = roll(12) == 0;
    event.task = roll(2) ? roll(12) : 0;
    return event;
}

/* ---- Damage ---- */

#define BOTH(field) (void)(roll(3) == 0 && (r->field = m->field = edge()))

static void damage_moment(struct model_time *moment, uint64_t *ret_ns, uint8_t id[16], const struct model_time *now)
{
    const uint64_t ns[] = { 1, now->ns, now->ns + 1, UINT64_MAX };
    *moment = (struct model_time){ .boot = now->boot, .ns = ONE_OF(ns) };
    *ret_ns = moment->ns;
    memcpy(id, moment_of(*moment).boot_id, 16);
}

/* Values that no launch leaves behind, within the limits of lg__ledger_payload_load(). */
static void damage(struct pair *pair)
{
    struct model *m = &pair->model;
    struct lg__ledger_context *r = &pair->real;
    static const uint32_t phases[] = { LG_PHASE_NONE, LG_PHASE_LAUNCHING, LG_PHASE_HELD, LG_PHASE_REPAIRING, LG_PHASE_HALTED, LG_PHASE_FINISHED,
                                       LG_PHASE_TERMINATING };
    m->phase = roll(7), r->phase = phases[m->phase];
    m->mode = roll(4), r->mode = m->mode;
    m->due = roll(2), m->reporting = roll(2), m->told = roll(2), m->owes = roll(2), m->again = roll(2);
    m->asking = roll(2), m->late = roll(2);
    m->hint_repair = roll(2), m->hint_hold = roll(2), m->hint_safe = roll(2);
    r->flags = (r->flags & ~(LG__CONTEXT_DUE | LG__CONTEXT_REPORTING | LG__CONTEXT_TOLD | LG__CONTEXT_OWES | LG__CONTEXT_AGAIN | LG__CONTEXT_ASKING |
                             LG__CONTEXT_LATE | LG__CONTEXT_HINT_REPAIR | LG__CONTEXT_HINT_HOLD | LG__CONTEXT_HINT_SAFE)) |
               (m->hint_repair ? LG__CONTEXT_HINT_REPAIR : 0) | (m->hint_hold ? LG__CONTEXT_HINT_HOLD : 0) | (m->hint_safe ? LG__CONTEXT_HINT_SAFE : 0) |
               (m->due ? LG__CONTEXT_DUE : 0) | (m->asking ? LG__CONTEXT_ASKING : 0) | (m->late ? LG__CONTEXT_LATE : 0) |
               (m->reporting ? LG__CONTEXT_REPORTING : 0) | (m->told ? LG__CONTEXT_TOLD : 0) | (m->owes ? LG__CONTEXT_OWES : 0) |
               (m->again ? LG__CONTEXT_AGAIN : 0);
    BOTH(streak), BOTH(unknown), BOTH(reported), BOTH(report_strikes), BOTH(decide_strikes), BOTH(give_up_strikes), BOTH(ends), BOTH(attempts), BOTH(interruptions), BOTH(skips), BOTH(held_deaths);
    BOTH(good_runs), BOTH(safe_crashes), BOTH(retry_runs), BOTH(quiet), BOTH(quits), BOTH(unsteady), BOTH(stops), BOTH(hint_serial);
    m->policy.repair_after = r->repair_after = edge();
    m->policy.unknown_after = r->unknown_after = edge();
    m->policy.safe_retry_max = r->safe_retry_max = edge();
    m->rung = r->rung = roll(m->rung_count + 1);
    for (uint32_t i = 0; i < m->rung_count; i++)
        if (roll(4) == 0)
            m->rungs[i].series = r->rungs[i].series_wall_ns = roll(2) ? UINT64_MAX : pair->now.wall + 1;
    for (uint32_t i = 0; i < m->suspect_count; i++)
        BOTH(suspects[i].crashes);
    if (roll(4) == 0)
        damage_moment(&m->repaired, &r->repair_boottime_ns, r->repair_boot_id, &pair->now);
}

/* ---- Lives ---- */

static void check(bool holds, unsigned life, unsigned number, const struct pair *pair, const struct pair_event *event)
{
    if (holds)
        return;
    pair_print(pair);
    fail_msg("life %u, event %u: %s", life, number, event_text(event));
}

static unsigned live(unsigned life, bool damaged)
{
    dice = life + 1;
    const struct model_launch all = random_repairs();
    struct pair_program program = random_program(&all);
    struct pair pair = pair_new();
    unsigned held = 0;
    for (unsigned number = 0; number < events_of_a_life; number++) {
        struct pair_event event;
        do
            event = random_event();
        while (!pair_allows(&pair, &event) || (pair.model.phase == NONE && event.kind == ACCOUNT && !event.early && !damaged));
        if (damaged && event.kind == ACCOUNT && roll(4) == 0)
            damage(&pair);
        if (event.kind == BEGIN && roll(10) == 0)
            program = random_program(&all);
        check(pair_apply(&pair, &program, &event), life, number, &pair, &event);
        check(pair.real.rung <= pair.real.rung_count && pair.real.suspect_count <= LG__SUSPECTS && (damaged || pair.real.reported <= pair.real.ends),
              life, number, &pair, &event);
        held += pair.real.phase == LG_PHASE_HELD;
    }
    return held;
}

static void test_long_lives(void **state)
{
    (void)state;
    unsigned held = 0;
    for (unsigned life = 0; life < lives; life++)
        held += live(life, false);
    printf("lives 0 to %u of %u events each, held %u times\n", lives - 1, events_of_a_life, held);
    assert_true(held > lives);
}

static void test_damaged_lives(void **state)
{
    (void)state;
    for (unsigned life = lives; life < 2 * lives; life++)
        live(life, true);
    printf("lives %u to %u, damaged now and then\n", lives, 2 * lives - 1);
}

/* ---- Some lives in particular, on the real machine ---- */

static struct lg__last_end an_end(lg_end end)
{
    return (struct lg__last_end){ .end = end, .signal = end == LG_END_CRASH ? 11 : 0, .ordinal = 1, .lived_ns = LG__LIVED_UNKNOWN };
}

/* Nine ends that do not count, in every order. */
static void innocent_run(struct lg__ledger_context *context, const struct lg__policy *policy, unsigned way)
{
    static const lg_end ends[] = { LG_END_CLEAN, LG_END_TERMINATED, LG_END_EXIT, LG_END_REBOOT, LG_END_DEBUGGER, LG_END_CRASH, LG_END_CRASH, LG_END_CRASH,
                                   LG_END_CRASH };
    struct lg__last_end last = an_end(ends[way]);
    const struct lg__moment now = { .boottime_ns = 5 * HOUR };
    lg__decide_begin(context, policy, &now, NULL);
    assert_int_equal(context->phase, LG_PHASE_LAUNCHING);
    assert_int_equal(context->mode, LG_LAUNCH_MODE_NORMAL);
    assert_int_equal(context->flags & LG__CONTEXT_DUE, 0);
    if (way == 5)
        lg__decide_finished(context); /* a crash of a finished launch */
    last.finished = way == 6;
    last.others = way == 7;
    if (way == 8)
        lg__decide_terminating(context);
    assert_int_equal(lg__ended_account(context, &last), way == 5 || way == 6 || way == 8 ? LG__ACCOUNT_LATE : LG__ACCOUNT_NOTHING);
}

static void innocent_runs(const struct lg__ledger_context *before, const struct lg__policy *policy, unsigned runs, unsigned *count)
{
    for (unsigned way = 0; way < 9; way++) {
        struct lg__ledger_context context = *before;
        innocent_run(&context, policy, way);
        if (runs > 1)
            innocent_runs(&context, policy, runs - 1, count);
        else
            ++*count;
    }
}

static void test_innocent_runs(void **state)
{
    (void)state;
    struct model_launch launch = usual_launch();
    add_rung(&launch, 1, false, false);
    launch.policy.repair_after = launch.policy.unknown_after = 1;
    const struct lg__ledger_context fresh = { .streak = 0 };
    const struct pair_program program = program_of(&launch);
    unsigned count = 0;
    innocent_runs(&fresh, &program.real, 6, &count);
    printf("%u sequences of six innocent runs, no repair\n", count);
}

static void test_every_attempt_is_used(void **state)
{
    (void)state;
    static const lg_end ends[] = { LG_END_CRASH, LG_END_HANG, LG_END_OOM, LG_END_UNKNOWN, LG_END_KILLED, LG_END_EXIT };
    for (unsigned ladder = 0; ladder < 500; ladder++) {
        dice = ladder;
        struct model_launch launch = usual_launch();
        for (uint32_t i = 1 + roll(LG__RUNGS - 1); i > 0; i--)
            add_rung(&launch, 1 + roll(5), roll(2), roll(2));
        struct pair_program program = program_of(&launch);
        program.real.skippable = true;
        struct lg__ledger_context context = { .streak = 2 };
        const struct lg__moment now = { .boottime_ns = 5 * HOUR, .wall_ns = 1000 * DAY };
        uint32_t tried[LG__RUNGS] = { 0 };
        lg__decide_begin(&context, &program.real, &now, NULL);
        while (context.phase == LG_PHASE_HELD) {
            tried[context.rung]++;
            lg__decide_reported(&context);
            lg__decide_attempt(&context, &now);
            if (roll(2)) {
                lg__decide_attempted(&context, false, &now);
                continue;
            }
            const struct lg__last_end last = an_end(ONE_OF(ends));
            assert_true(lg__ended_account(&context, &last));
            lg__decide_begin(&context, &program.real, &now, NULL);
        }
        assert_int_equal(context.mode, LG_LAUNCH_MODE_SAFE);
        for (uint32_t i = 0; i < launch.rung_count; i++)
            assert_int_equal(tried[i], launch.rungs[i].attempts);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        lives = (unsigned)strtoul(argv[1], NULL, 10);
    setvbuf(stdout, NULL, _IOLBF, 0);
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_long_lives), cmocka_unit_test(test_damaged_lives), cmocka_unit_test(test_innocent_runs),
                                        cmocka_unit_test(test_every_attempt_is_used) };
    return cmocka_run_group_tests_name("random_lives", tests, NULL, NULL);
}
