/* Ordinary lives: what forgets a crash, what counts although no launch was under way, and what is
 * repetition enough to be a crash. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scripted_life.h"

#define QUIET .options.on_status = NULL, .options.on_report = NULL

static void set_elapsed(uint64_t hours)
{
    struct lg__ledger_payload book = stored_book();
    book.contexts[0].repair_boottime_ns = 1;
    book.contexts[0].rungs[1].series_wall_ns -= book.contexts[0].rungs[1].series_wall_ns ? hours * 3600000000000 : 0;
    store_book(&book);
}

/* ---- evidence forgets, and no clock ---- */

static void test_time_forgets_nothing(void **state)
{
    (void)state;
    lives(LIFE(QUIET, .after = CRASH), SEGV, "a;b;");
    account();
    set_elapsed(2400);
    lives(LIFE(QUIET, .after = CRASH), SEGV, "a;b;");
    lives(LIFE(QUIET, .after = FINISH), 0, "protect a;protect b;small;a;b;");
}

static void test_clean_ends_forget(void **state)
{
    (void)state;
    lives(LIFE(QUIET, .after = CRASH), SEGV, "a;b;");
    for (uint32_t quits = 0; quits < 3; quits++) {
        account();
        assert_int_equal(stored().streak, 1);
        assert_int_equal(stored().quits, quits);
        lives(LIFE(QUIET, .after = STOP), 0, "a;b;");
    }
    account();
    assert_int_equal(stored().streak, 0);
    /* So it is with unexplained ends, and with an announced end. */
    lives(LIFE(QUIET, .after = KILL), KILLED, "a;b;");
    for (int i = 0; i < 3; i++)
        lives(LIFE(QUIET), 0, "a;b;");
    account();
    assert_int_equal(stored().unknown, 0);
}

/* One or two clean ends may be a user who saw the program fail. */
static void test_few_clean_ends_do_not(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        lives(LIFE(QUIET, .after = CRASH), SEGV, "a;b;");
        lives(LIFE(QUIET, .after = STOP), 0, i ? "protect a;protect b;small;a;b;" : "a;b;");
        if (i == 0)
            lives(LIFE(QUIET, .after = STOP), 0, "a;b;");
    }
}

/* A program that is never up for as long as its window leaves safe mode all the same. */
static void test_short_runs_leave_safe_mode(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives(LIFE(QUIET, .no_repairs = true, .after = CRASH), SEGV, "a;b;");
    for (int i = 0; i < 6; i++) {
        lives_somehow(LIFE(QUIET, .no_repairs = true, .after = STOP), 0);
        assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    }
    account();
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_TRIAL);
    for (int i = 0; i < 3; i++)
        lives_somehow(LIFE(QUIET, .no_repairs = true, .after = STOP), 0);
    account();
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_NORMAL);
}

/* ---- after the mark ---- */

static void crash_after_finish(lg_launch *launch)
{
    lg_launch_finished(launch);
    crash();
}

#define SOON QUIET, .then = crash_after_finish

static void test_crashes_soon_after_the_launch(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives(LIFE(SOON), SEGV, "a;b;");
    account();
    assert_int_equal(stored().streak, 0);
    assert_int_equal(stored().unsteady, 2);
    /* Each repair is tried once, and not again although each of these launches is finished. */
    lives(LIFE(SOON), SEGV, "protect a;protect b;small;a;b;");
    lives(LIFE(SOON), SEGV, "protect a;protect b;large;a;b;");
    lives(LIFE(SOON), SEGV, "a;b;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    lives(LIFE(SOON), SEGV, "a;b;");
    lives_somehow(LIFE(QUIET, .in_give_up = GO_ON, .after = FINISH), 0);
    assert_true(stored().events & LG_EVENT_HALTED);
}

static void test_repair_that_helps_after_the_mark(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives(LIFE(SOON), SEGV, "a;b;");
    /* a clean end follows */
    lives(LIFE(QUIET, .after = FINISH), 0, "protect a;protect b;small;a;b;");
    account();
    assert_int_equal(stored().unsteady, 0);
    for (uint32_t i = 0; i < stored().rung_count; i++)
        assert_int_equal(stored().rungs[i].fate, LG__RUNG_UNTRIED);
    lives(LIFE(SOON), SEGV, "a;b;");
    lives(LIFE(QUIET, .after = FINISH), 0, "a;b;");
}

static void finish_another(lg_launch *launch)
{
    lg_launch *other;
    (void)launch;
    if (lg_launch_prepare(life_session, "other", NULL, &other) != LG_OK || lg_launch_begin(other) != LG_OK || lg_launch_finished(other) != LG_OK)
        _exit(96);
}

/* A crash of a launch is not held against a launch beside it that was finished before. */
static void test_crash_of_another_launch(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        lives_somehow(LIFE(QUIET, .no_repairs = true, .before = finish_another, .after = CRASH), SEGV);
    account();
    const struct lg__ledger_payload book = stored_book();
    for (uint32_t i = 0; i < book.context_count; i++)
        assert_int_equal(book.contexts[i].streak, strcmp(book.contexts[i].name, "main") == 0 ? 3 : 0);
    for (uint32_t i = 0; i < book.context_count; i++)
        assert_int_equal(book.contexts[i].unsteady, 0);
}

static void test_steady_time_is_an_option(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        lives(LIFE(SOON, .options.steady_ms = 0), SEGV, "a;b;");
    account();
    assert_int_equal(stored().unsteady, 0);
}

/* ---- before the begin ---- */

static void crash_now(lg_launch *launch)
{
    (void)launch;
    crash();
}

static lg_launch_info query(void)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_launch_query(state_path(""), "main", NULL, &info), LG_OK);
    return info;
}

static void query_before_begin(lg_launch *launch)
{
    (void)launch;
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    lg_launch_query(state_path(""), "main", NULL, &info);
    tell("%s %u", lg_launch_status_name(info.status), info.streak);
}

static void test_crashes_before_the_begin(void **state)
{
    (void)state;
    /* no launch has ever begun: nothing to count for */
    lives(LIFE(QUIET, .before = crash_now), SEGV, "");
    lives(LIFE(QUIET, .after = FINISH), 0, "a;b;");
    for (int i = 0; i < 2; i++)
        lives(LIFE(QUIET, .before = crash_now), SEGV, "");
    assert_int_equal(query().status, LG_LAUNCH_NEEDS_REPAIR);
    /* the answer is the same a moment later, in the living program */
    lives(LIFE(QUIET, .before = query_before_begin, .after = FINISH), 0, "needs-repair 2;protect a;protect b;small;a;b;");
}

/* ---- stops ---- */

static void test_stops_in_the_same_task(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= 4; i++) {
        lives(LIFE(.options.on_status = NULL, .in_b = TERMINATE), TERMINATED, i < 4 ? "a;b;" : "report 1;a;b;");
        account();
        assert_int_equal(stored().stops, i);
        assert_int_equal(stored().streak, i < 3 ? 0 : i - 2);
        assert_string_equal(stored().last_task, "b");
    }
    /* The task is the suspect. */
    lives(LIFE(QUIET, .after = FINISH), 0, "protect a;protect b;a;");
}

static void test_stops_elsewhere(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        lives(LIFE(QUIET, .in_a = i % 2 ? TERMINATE : GO_ON, .in_b = TERMINATE), TERMINATED, i % 2 ? "a;" : "a;b;");
    for (int i = 0; i < 6; i++)
        lives(LIFE(QUIET, .after = TERMINATE), TERMINATED, "a;b;"); /* in no task */
    account();
    assert_int_equal(stored().streak, 0);
}

/* ---- versions ---- */

static void test_versions_that_alternate(void **state)
{
    (void)state;
    lives(LIFE(QUIET, .version = "1", .after = CRASH), SEGV, "a;b;");
    /* a new version begins anew, a rollback does not */
    lives(LIFE(QUIET, .version = "2", .after = CRASH), SEGV, "a;b;");
    lives(LIFE(QUIET, .version = "1", .after = CRASH), SEGV, "a;b;");
    lives(LIFE(QUIET, .version = "2", .after = FINISH), 0, "protect a;protect b;small;a;b;");
    assert_int_equal(stored().crashes, 3);
    lives(LIFE(QUIET, .version = "3", .after = FINISH), 0, "a;b;");
    assert_int_equal(stored().crashes, 3);
}

/* ---- kills, reports and polite ends ---- */

static void test_killed_task_is_suspect(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        lives(LIFE(QUIET, .in_b = KILL), KILLED, "a;b;");
    lives(LIFE(QUIET, .after = FINISH), 0, "protect a;protect b;a;");
}

/* Unexplained ends are no reason to lose something, unless the user agrees. */
static void test_destructive_needs_evidence(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        lives(LIFE(QUIET, .small_flags = LG_REPAIR_DESTRUCTIVE, .after = KILL), KILLED, "a;b;");
    lives(LIFE(QUIET, .small_flags = LG_REPAIR_DESTRUCTIVE, .after = KILL), KILLED, "protect a;protect b;large;a;b;");
    lives(LIFE(QUIET, .small_flags = LG_REPAIR_DESTRUCTIVE, .after = KILL), KILLED, "a;b;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    assert_int_equal(stored().repairs, 1);
}

static void test_reports_go_on_over_repairs(void **state)
{
    (void)state;
#define THIRD .options.on_status = NULL, .options.report_after = 3
    for (int i = 0; i < 2; i++)
        lives(LIFE(THIRD, .after = CRASH), SEGV, "a;b;");
    assert_true(said("report_after is 3 and repair_after 2"));
    lives(LIFE(THIRD, .after = CRASH), SEGV, "protect a;protect b;small;a;b;");
    lives(LIFE(THIRD, .after = FINISH), 0, "report 1;protect a;protect b;large;a;b;");
}

static void close_politely(lg_launch *launch)
{
    (void)launch;
    lg_will_terminate(life_session);
    exit(0);
}

static void close_when_held(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)user;
    if (status == LG_LAUNCH_NEEDS_REPAIR)
        close_politely(launch);
}

/* A user who closes the program at each dialogue is let through in the end. */
static void test_polite_ends_at_the_dialogue(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives(LIFE(QUIET, .after = CRASH), SEGV, "a;b;");
    for (int i = 0; i < 3; i++)
        lives_somehow(LIFE(.options.on_report = NULL, .options.auto_repair = 0, .options.on_status = close_when_held), 0);
    lives(LIFE(.options.on_report = NULL, .options.auto_repair = 0, .options.on_status = close_when_held, .after = FINISH), 0, "a;b;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
}

static void test_give_up_that_crashes(void **state)
{
    (void)state;
#define NOTHING_HELPS QUIET, .no_repairs = true
    for (int i = 0; i < 4; i++)
        lives(LIFE(NOTHING_HELPS, .after = CRASH), SEGV, "a;b;");
    for (int i = 0; i < 2; i++)
        lives(LIFE(NOTHING_HELPS, .in_give_up = CRASH), SEGV, "give up;");
    lives(LIFE(NOTHING_HELPS, .in_give_up = CRASH, .after = FINISH), 0, "a;b;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LIFE(test_time_forgets_nothing), WITH_LIFE(test_clean_ends_forget), WITH_LIFE(test_few_clean_ends_do_not),
        WITH_LIFE(test_short_runs_leave_safe_mode), WITH_LIFE(test_crashes_soon_after_the_launch), WITH_LIFE(test_repair_that_helps_after_the_mark),
        WITH_LIFE(test_crash_of_another_launch), WITH_LIFE(test_steady_time_is_an_option), WITH_LIFE(test_crashes_before_the_begin), WITH_LIFE(test_stops_in_the_same_task),
        WITH_LIFE(test_stops_elsewhere), WITH_LIFE(test_versions_that_alternate), WITH_LIFE(test_killed_task_is_suspect),
        WITH_LIFE(test_destructive_needs_evidence), WITH_LIFE(test_reports_go_on_over_repairs), WITH_LIFE(test_polite_ends_at_the_dialogue),
        WITH_LIFE(test_give_up_that_crashes),
    };
    return cmocka_run_group_tests_name("ordinary_lives", tests, NULL, NULL);
}
