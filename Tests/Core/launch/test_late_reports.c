/* Ends that came while no launch was under way: on_report hears of them at the next start, and a
 * call lists the runs that the program has not learned of. */
#include "scripted_life.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void report(const lg_report_batch *batch, lg_completion *done, void *user)
{
    (void)user;
    tell("report %u", batch->streak);
    for (uint32_t i = 0; i < batch->report_count; i++)
        tell("%llu %s%s%s", (unsigned long long)batch->reports[i]->ordinal, lg_end_name(batch->reports[i]->end),
             batch->reports[i]->in_launch ? " in a launch" : "", access(batch->reports[i]->path, R_OK) == 0 ? "" : ", missing");
    lg_complete(done, LG_OK);
}

#define REPORTS .options.on_report = report, .options.on_status = NULL

static void crash_after_finish(lg_launch *launch)
{
    lg_launch_finished(launch);
    crash();
}

static void kill_after_finish(lg_launch *launch)
{
    lg_launch_finished(launch);
    raise(SIGKILL);
}

static void crash_now(lg_launch *launch)
{
    (void)launch;
    crash();
}

static void test_after_the_launch(void **state)
{
    (void)state;
    lives(LIFE(REPORTS, .then = crash_after_finish), SEGV, "a;b;");
    lives(LIFE(REPORTS, .then = kill_after_finish), KILLED, "report 0;1 crash;a;b;");
    assert_int_equal(stored().streak, 0);
    lives(LIFE(REPORTS, .after = FINISH), 0, "a;b;"); /* once; SIGKILL after a launch is no fault */
    /* before the begin: as in the launch that was begun last */
    lives(LIFE(REPORTS, .before = crash_now), SEGV, "");
    lives(LIFE(REPORTS, .after = CRASH), SEGV, "report 1;4 crash;a;b;");
    /* one of each, in one batch */
    lives(LIFE(REPORTS, .options.report_after = 2, .before = crash_now), SEGV, "");
    lives(LIFE(REPORTS, .options.report_after = 2, .after = FINISH), 0, "report 3;5 crash in a launch;6 crash;protect a;protect b;small;a;b;");
    assert_int_equal(stored().flags & LG__CONTEXT_LATE, 0);
}

/* A run does not count as reported before on_report is called: a death right before keeps it. */
static void test_is_not_lost(void **state)
{
    (void)state;
    lives(LIFE(REPORTS, .then = crash_after_finish), SEGV, "a;b;");
    account();
    assert_true(stored().flags & LG__CONTEXT_LATE);
    lives(LIFE(REPORTS, .before = crash_now), SEGV, "");
    lives(LIFE(REPORTS, .after = FINISH), 0, "report 1;1 crash;3 crash;a;b;");
}

static void test_upgrade(void **state)
{
    (void)state;
    lives(LIFE(REPORTS, .after = CRASH), SEGV, "a;b;");
    lives(LIFE(REPORTS, .version = "2.0", .after = FINISH), 0, "report 0;1 crash in a launch;a;b;");
    lives(LIFE(REPORTS, .then = crash_after_finish), SEGV, "a;b;");
    lives(LIFE(REPORTS, .version = "2.0", .after = FINISH), 0, "report 0;3 crash;a;b;");
    assert_int_equal(stored().streak, 0);
    /* nothing was reported before the upgrade either */
    lives(LIFE(REPORTS, .then = crash_after_finish), SEGV, "a;b;");
    account();
    lives(LIFE(REPORTS, .version = "2.0", .after = FINISH), 0, "report 0;5 crash;a;b;");
}

/* ---- runs that the program has not learned of ---- */

static void visit(const lg_report *run, void *user)
{
    (void)user;
    tell("%llu %s%s", (unsigned long long)run->ordinal, lg_end_name(run->end), run->in_launch ? " in a launch" : "");
}

static void list(lg_launch *launch)
{
    (void)launch;
    if (lg_reports_untold(life_session, visit, NULL) != LG_OK)
        tell("failed");
}

static void tell_two(lg_launch *launch)
{
    tell("%s", lg_status_name(lg_report_told(life_session, 2)));
    tell("%s", lg_status_name(lg_report_told(life_session, 2)));
    tell("%s", lg_status_name(lg_report_told(life_session, 77)));
    list(launch);
    raise(SIGKILL);
}

static void test_nobody_was_told(void **state)
{
    (void)state;
#define DEAF .options.on_report = NULL, .options.on_status = NULL
    lives(LIFE(DEAF, .after = CRASH), SEGV, "a;b;");
    lives(LIFE(DEAF, .then = kill_after_finish), KILLED, "a;b;");
    lives(LIFE(DEAF, .after = FINISH), 0, "a;b;");
    lives(LIFE(DEAF, .before = list, .then = tell_two), KILLED, "1 crash in a launch;2 unknown;a;b;ok;ok;not-found;1 crash in a launch;");
    /* the program knows the runs that on_report received */
    lives(LIFE(REPORTS, .options.report_after = 1, .before = crash_now), SEGV, "");
    lives(LIFE(REPORTS, .before = list, .then = list), 0, "1 crash in a launch;4 unknown in a launch;5 crash;report 1;1 crash in a launch;4 unknown in a launch;5 crash;a;b;");
}

static void test_refused(void **state)
{
    (void)state;
    lg_session *session;
    assert_int_equal(lg_reports_untold(NULL, visit, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_report_told(NULL, 1), LG_ERR_ARGUMENT);
    lg_start(NULL, &session);
    assert_int_equal(lg_reports_untold(session, visit, NULL), LG_ERR_UNPROTECTED);
    assert_int_equal(lg_report_told(session, 1), LG_ERR_UNPROTECTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LIFE(test_after_the_launch), WITH_LIFE(test_is_not_lost), WITH_LIFE(test_upgrade),
        WITH_LIFE(test_nobody_was_told),  WITH_LIFE(test_refused),
    };
    return cmocka_run_group_tests_name("late_reports", tests, NULL, NULL);
}
