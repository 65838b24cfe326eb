/* A run in which guards survived faults has a mark in the timeline, however it ended, and nothing
 * else is different from a run without (docs/LAUNCH.md, A21). */
#include "ending_program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "launch/evidence.h"
#include "launch/launch.h"

/* ---- in the child ---- */

enum events { NO_GUARDS, NO_EVENT, REPORTED_ONLY, SURVIVED };
struct plan {
    enum way way;
    enum events events;
};

static void live(void *argument)
{
    const struct plan *plan = argument;
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.policy = plan->events == REPORTED_ONLY ? LG_GUARD_REPORT : LG_GUARD_SURVIVE;
    options.quiet = 1;
    begin();
    if (plan->events != NO_GUARDS && lg_guard_start(session, &options) != LG_OK)
        _exit(97);
    if (plan->events >= REPORTED_ONLY && lg_guard_claim(LG_GUARD_STRING, NULL, "NULL", NULL, 0) != (plan->events == SURVIVED))
        _exit(96);
    end_by(plan->way);
}

/* ---- the mark ---- */

static lg_timeline_entry entry_of(enum way way, enum events events)
{
    struct plan plan = { way, events };
    return after(live, &plan);
}

static void test_each_end_has_the_mark(void **state)
{
    (void)state;
    static const enum way ways[] = { CRASH, ABORT, EXIT_0, EXIT_7, EXIT_7_AT_ONCE, STOP, TERMINATE, KILL, WILL_TERMINATE, FINISH_AND_KILL };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        for (enum events events = NO_GUARDS; events <= SURVIVED; events++) {
            state_make();
            const lg_timeline_entry entry = entry_of(ways[i], events);
            if (entry.degraded != (events == SURVIVED))
                fail_msg("way %d, events %d: degraded is %u", ways[i], events, entry.degraded);
        }
}

/* The next start does not read the file of a run that ended cleanly: the ledger alone has the
 * mark. */
static void test_a_clean_end_has_it_in_the_ledger(void **state)
{
    (void)state;
    struct plan plan = { EXIT_0, SURVIVED };
    expect_exit(live, &plan, 0);
    assert_int_equal(remove(newest_run_path()), 0);
    lg_timeline_entry entry = next_start();
    expect_end(entry, LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK);
    assert_int_equal(entry.degraded, 1);
    assert_int_equal(entry_of(EXIT_0, NO_EVENT).degraded, 0);
}

/* ---- nothing else ---- */

/* The counters of "main" after runs that end in these ways. */
static struct lg__ledger_context counters_after(const enum way *ways, size_t count, enum events events, uint32_t *ret_counted)
{
    state_make();
    *ret_counted = 0;
    for (size_t i = 0; i < count; i++) {
        struct plan plan = { ways[i], events };
        const struct death death = run_child(live, &plan);
        assert_false(death.late);
        if (i)
            *ret_counted |= last_of_timeline().counted << i;
    }
    *ret_counted |= next_start().counted << count;
    struct lg__ledger_context context = stored_context("main");
    /* what differs between any two lives: times, and the boot's clock */
    context.repair_boottime_ns = 0;
    return context;
}

static void test_streaks_are_the_same(void **state)
{
    (void)state;
    static const enum way lives[][3] = { { CRASH, CRASH, KILL }, { CRASH, EXIT_0, CRASH }, { CRASH, FINISH_AND_KILL, CRASH }, { KILL, KILL, CRASH },
                                         { EXIT_7, TERMINATE, STOP } };
    for (size_t i = 0; i < sizeof lives / sizeof lives[0]; i++) {
        uint32_t counted, counted_without;
        const struct lg__ledger_context with = counters_after(lives[i], 3, SURVIVED, &counted);
        const struct lg__ledger_context without = counters_after(lives[i], 3, NO_GUARDS, &counted_without);
        assert_int_equal(with.streak, without.streak);
        assert_int_equal(counted, counted_without);
        assert_memory_equal(&with, &without, sizeof with);
    }
}

/* The account of every end, in every phase and mode: the same context with the mark and without. */
static void test_no_row_asks_for_it(void **state)
{
    (void)state;
    unsigned changes = 0;
    for (uint32_t phase = 0; phase <= LG_PHASE_TERMINATING; phase++)
        for (uint32_t mode = 0; mode <= LG_LAUNCH_MODE_TRIAL; mode++)
            for (uint32_t end = 0; end <= LG_END_RUNNING; end++)
                for (uint32_t upgraded = 0; upgraded <= 1; upgraded++) {
                    static const struct lg__reached reached;
                    struct lg__last_run last = { .readable = true, .verdict = { .end = (lg_end)end, .signal = 11 } };
                    const struct lg__ledger_context before = { .name = "main", .phase = phase, .mode = mode, .streak = 1, .unknown = 3, .good_runs = 1,
                                                               .attempts = 1, .rung_count = 2, .repair_after = 2, .unknown_after = 4,
                                                               .safe_retry_max = 64, .retry_runs = 2, .count = LG_COUNT_DEFAULT | LG_COUNT_EXIT };
                    struct lg__ledger_context with = before, without = before;
                    const enum lg__account counts = lg__account_apply(&without, &last, 7, &reached, upgraded);
                    last.is_degraded = true;
                    assert_int_equal(lg__account_apply(&with, &last, 7, &reached, upgraded), counts);
                    assert_memory_equal(&with, &without, sizeof with);
                    changes += memcmp(&without, &before, sizeof before) != 0;
                }
    assert_true(changes > 100); /* the ends did something */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_each_end_has_the_mark, remove_state),
        WITH_STATE(test_a_clean_end_has_it_in_the_ledger),
        cmocka_unit_test_teardown(test_streaks_are_the_same, remove_state),
        cmocka_unit_test(test_no_row_asks_for_it),
    };
    return cmocka_run_group_tests_name("degraded", tests, NULL, NULL);
}
