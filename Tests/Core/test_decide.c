/* The decision, a pure function: every rule by itself, then long random lives against the invariants. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "launch/decide.h"

static const uint32_t two_each[2] = { 2, 2 };
static const struct lg__ladder two_rungs = { 2, two_each };
static const struct lg__ladder no_rungs = { 0, NULL };
static const struct lg__thresholds usual = { 1, 2, 4 };

static struct lg__decision begin(struct lg__book_context *context)
{
    return lg__decide_begin(context, &usual, &two_rungs);
}

static bool end(struct lg__book_context *context, lg_end how)
{
    return lg__decide_account(context, how, false, 7);
}

static void crash_times(struct lg__book_context *context, int times)
{
    for (int i = 0; i < times; i++) {
        begin(context);
        assert_true(end(context, LG_END_CRASH));
    }
}

static void test_healthy(void **state)
{
    (void)state;
    struct lg__book_context context = { .streak = 0 };
    for (int i = 0; i < 5; i++) {
        struct lg__decision decision = begin(&context);
        assert_int_equal(decision.next, LG__NEXT_LAUNCH);
        assert_false(decision.report);
        lg__decide_finished(&context);
        assert_false(end(&context, LG_END_CLEAN));
    }
    assert_int_equal(context.launches, 5);
    assert_int_equal(context.streak, 0);
}

static void test_thresholds(void **state)
{
    (void)state;
    /* report below, equal to and above repair: it fires once per new value of the streak, whatever the repair does. */
    for (uint32_t report = 1; report <= 4; report++)
        for (uint32_t repair = 1; repair <= 4; repair++) {
            struct lg__book_context context = { .streak = 0 };
            const struct lg__thresholds thresholds = { report, repair, 0 };
            for (uint32_t crashes = 0; crashes <= 4; crashes++) {
                struct lg__decision decision = lg__decide_begin(&context, &thresholds, &no_rungs);
                assert_int_equal(context.streak, crashes);
                assert_int_equal(decision.report, crashes >= report);
                assert_int_equal(decision.next, LG__NEXT_LAUNCH); /* there is no rung */
                context.flags &= ~LG__CONTEXT_LAUNCHING;
                struct lg__book_context again = context;
                assert_false(lg__decide_begin(&again, &thresholds, &no_rungs).report); /* not twice */
                struct lg__book_context with = context;
                assert_int_equal(lg__decide_begin(&with, &thresholds, &two_rungs).next,
                                 crashes >= repair ? LG__NEXT_REPAIR : LG__NEXT_LAUNCH);
                context.flags |= LG__CONTEXT_LAUNCHING;
                assert_true(end(&context, LG_END_CRASH));
            }
        }
}

static void test_innocent_ends(void **state)
{
    (void)state;
    static const lg_end innocent[] = { LG_END_CLEAN, LG_END_TERMINATED, LG_END_EXIT, LG_END_REBOOT, LG_END_DEBUGGER, LG_END_RUNNING };
    struct lg__book_context context = { .streak = 0 };
    crash_times(&context, 1);
    for (size_t i = 0; i < sizeof innocent / sizeof innocent[0]; i++) {
        begin(&context);
        assert_false(end(&context, innocent[i]));
        assert_int_equal(context.streak, 1); /* unchanged: only a finished launch resets */
        assert_int_equal(context.unknown, 0);
    }
    begin(&context);
    lg__decide_finished(&context);
    assert_int_equal(context.streak, 0);
}

static void test_finished_by_evidence(void **state)
{
    (void)state;
    struct lg__book_context context = { .streak = 0 };
    crash_times(&context, 1);
    begin(&context);
    assert_false(lg__decide_account(&context, LG_END_CRASH, true, 9)); /* after the window: no launch crash */
    assert_int_equal(context.streak, 0);
}

static void test_unknown_ends(void **state)
{
    (void)state;
    struct lg__book_context context = { .streak = 0 };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(begin(&context).next, LG__NEXT_LAUNCH);
        assert_true(end(&context, LG_END_UNKNOWN));
        assert_int_equal(context.streak, 0);
    }
    assert_int_equal(begin(&context).next, LG__NEXT_REPAIR);
    struct lg__book_context off = { .unknown = 1000 };
    const struct lg__thresholds never = { 1, 2, 0 };
    assert_int_equal(lg__decide_begin(&off, &never, &two_rungs).next, LG__NEXT_LAUNCH);
}

static void test_repair_succeeds(void **state)
{
    (void)state;
    struct lg__book_context context = { .streak = 0 };
    crash_times(&context, 2);
    struct lg__decision decision = begin(&context);
    assert_int_equal(decision.next, LG__NEXT_REPAIR);
    assert_int_equal(decision.rung, 0);
    lg__decide_attempt(&context);
    assert_int_equal(lg__decide_attempted(&context, true, &two_rungs).next, LG__NEXT_LAUNCH);
    assert_true(context.flags & LG__CONTEXT_PROBATION);
    assert_int_equal(context.streak, 0);
    lg__decide_finished(&context);
    assert_false(context.flags & LG__CONTEXT_PROBATION);
    assert_int_equal(begin(&context).next, LG__NEXT_LAUNCH);
}

static void test_probation_climbs(void **state)
{
    (void)state;
    struct lg__book_context context = { .streak = 0 };
    crash_times(&context, 2);
    begin(&context);
    lg__decide_attempt(&context);
    lg__decide_attempted(&context, true, &two_rungs);
    assert_true(end(&context, LG_END_CRASH)); /* one crash is enough */
    struct lg__decision decision = begin(&context);
    assert_int_equal(decision.next, LG__NEXT_REPAIR);
    assert_int_equal(decision.rung, 1);
}

static void test_failures_climb(void **state)
{
    (void)state;
    struct lg__book_context context = { .streak = 0 };
    crash_times(&context, 2);
    struct lg__decision decision = begin(&context);
    static const uint32_t rungs[] = { 0, 0, 1, 1 };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(decision.next, LG__NEXT_REPAIR);
        assert_int_equal(decision.rung, rungs[i]);
        lg__decide_attempt(&context);
        decision = lg__decide_attempted(&context, false, &two_rungs);
    }
    assert_int_equal(decision.next, LG__NEXT_LAUNCH); /* held for ever helps nobody */
    assert_true(context.flags & LG__CONTEXT_EXHAUSTED);
    assert_true(end(&context, LG_END_CRASH));
    assert_int_equal(begin(&context).next, LG__NEXT_LAUNCH);
}

static void test_crash_during_repair(void **state)
{
    (void)state;
    struct lg__book_context context = { .streak = 0 };
    crash_times(&context, 2);
    static const uint32_t rungs[] = { 0, 0, 1, 1 };
    for (int i = 0; i < 4; i++) {
        struct lg__decision decision = begin(&context);
        assert_int_equal(decision.next, LG__NEXT_REPAIR);
        assert_int_equal(decision.rung, rungs[i]);
        lg__decide_attempt(&context);
        assert_true(end(&context, LG_END_CRASH));
        assert_int_equal(context.streak, 2); /* its own class: not a launch crash */
    }
    assert_int_equal(begin(&context).next, LG__NEXT_LAUNCH);
    assert_true(context.flags & LG__CONTEXT_EXHAUSTED);
}

static void test_interrupted_repair(void **state)
{
    (void)state;
    struct lg__book_context context = { .streak = 0 };
    crash_times(&context, 2);
    /* Ended by the user or the machine: three of these are one failed attempt. */
    for (int i = 0; i < 6; i++) {
        struct lg__decision decision = begin(&context);
        assert_int_equal(decision.next, LG__NEXT_REPAIR);
        assert_int_equal(decision.rung, 0);
        lg__decide_attempt(&context);
        assert_int_equal(end(&context, i % 2 ? LG_END_REBOOT : LG_END_TERMINATED), i % 3 == 2);
    }
    assert_int_equal(begin(&context).rung, 1);
}

static void test_upgrade_resets(void **state)
{
    (void)state;
    struct lg__book_context context = { .streak = 0 };
    crash_times(&context, 3);
    begin(&context);
    lg__decide_attempt(&context);
    uint64_t launches = context.launches, crashes = context.crashes;
    lg__decide_reset(&context);
    assert_int_equal(context.launches, launches);
    assert_int_equal(context.crashes, crashes);
    assert_int_equal(context.flags, 0);
    struct lg__decision decision = begin(&context);
    assert_int_equal(decision.next, LG__NEXT_LAUNCH);
    assert_false(decision.report);
}

/* Long random lives. Whatever happens: a healthy environment is back to normal after at most two launches; no repair begins
 * below the thresholds; a rung is never tried more often than its attempts allow between two successes. */
static void test_random_lives(void **state)
{
    (void)state;
    static const lg_end ends[] = { LG_END_CLEAN, LG_END_TERMINATED, LG_END_CRASH, LG_END_UNKNOWN, LG_END_REBOOT, LG_END_EXIT };
    uint32_t random = 12345, repairs = 0;
    for (int life = 0; life < 2000; life++) {
        struct lg__book_context context = { .streak = 0 };
        uint32_t tries[2] = { 0, 0 }, crashes = 0, unknowns = 0;
        bool open = false; /* the ladder was reached and not left */
        for (int run = 0; run < 60; run++) {
            struct lg__decision decision = begin(&context);
            bool died = false;
            while (decision.next == LG__NEXT_REPAIR) {
                repairs++;
                assert_true(open || crashes >= usual.repair_after || unknowns >= usual.unknown_after);
                open = true;
                assert_true(decision.rung < 2);
                random = random * 1664525 + 1013904223;
                uint32_t dice = random >> 24;
                if (++tries[decision.rung] > 2 * LG__INTERRUPTIONS_MAX)
                    fail_msg("rung %u was tried %u times", decision.rung, tries[decision.rung]);
                lg__decide_attempt(&context);
                if (dice < 60) {
                    end(&context, ends[dice % 6]);
                    died = true;
                    break;
                }
                decision = lg__decide_attempted(&context, dice < 120, &two_rungs);
                if (dice < 120) {
                    crashes = unknowns = 0; /* repaired: on probation */
                    tries[decision.rung] = 0;
                    memset(tries, 0, sizeof tries);
                }
            }
            if (died)
                continue;
            random = random * 1664525 + 1013904223;
            uint32_t dice = random >> 24;
            if (dice < 40) {
                lg__decide_finished(&context);
                crashes = unknowns = 0;
                open = false;
                memset(tries, 0, sizeof tries);
                end(&context, ends[dice % 6]);
                assert_int_equal(context.streak, 0);
            } else {
                lg_end how = ends[dice % 6];
                end(&context, how);
                crashes += how == LG_END_CRASH;
                unknowns += how == LG_END_UNKNOWN;
            }
        }
        /* From here on all is well: repairs succeed, launches finish. */
        for (int run = 0; run < 2; run++) {
            struct lg__decision decision = begin(&context);
            if (decision.next == LG__NEXT_REPAIR) {
                lg__decide_attempt(&context);
                assert_int_equal(lg__decide_attempted(&context, true, &two_rungs).next, LG__NEXT_LAUNCH);
            }
            lg__decide_finished(&context);
            end(&context, LG_END_CLEAN);
        }
        assert_int_equal(context.flags, 0);
        assert_int_equal(context.streak + context.unknown + context.rung + context.attempts, 0);
    }
    assert_true(repairs > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_healthy),          cmocka_unit_test(test_thresholds),        cmocka_unit_test(test_innocent_ends),
        cmocka_unit_test(test_finished_by_evidence), cmocka_unit_test(test_unknown_ends),  cmocka_unit_test(test_repair_succeeds),
        cmocka_unit_test(test_probation_climbs), cmocka_unit_test(test_failures_climb),    cmocka_unit_test(test_crash_during_repair),
        cmocka_unit_test(test_interrupted_repair), cmocka_unit_test(test_upgrade_resets),  cmocka_unit_test(test_random_lives),
    };
    return cmocka_run_group_tests_name("decide", tests, NULL, NULL);
}
