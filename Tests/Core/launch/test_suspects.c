/* Tasks that crash: recorded at the next start, suspect after two crashes, left out of one
 * launch. */
#include "scripted_life.h"


static void next_time(const char *last_task)
{
    account();
    lg_launch_info info = ledger_context("main");
    assert_string_equal(info.last_task, last_task);
}

static void test_task_is_known(void **state)
{
    (void)state;
    lives(LIFE(.in_b = CRASH), SEGV, HEALTHY);
    lg_reader *reader = newest_run();
    lg_run_context context;
    assert_int_equal(lg_reader_run_context(reader, 0, &context), LG_OK);
    assert_string_equal(context.task, "b");
    assert_true(context.task_tid > 0);
    lg_reader_close(reader);
    next_time("b");
    assert_int_equal(last_of_timeline().attributed, 1);
    lives(LIFE(.in_a = CRASH), SEGV, "checking;report 1;a;");
    next_time("a");
    lives_somehow(LIFE(.after = CRASH), SEGV);
    next_time("");
    lives_somehow(LIFE(.in_b = KILL), KILLED);
    next_time("b");
}

#define QUIET .options.report_after = 99

static void test_suspect_is_left_out_once(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives(LIFE(QUIET, .in_b = CRASH), SEGV, HEALTHY);
    /* The built-in rung comes before the program's repairs, and calls nothing. */
    lives(LIFE(QUIET, .after = FINISH), 0, "needs-repair;protect a;protect b;repairing;checking;a;normal;");
    assert_true(stored().events & LG_EVENT_LEFT_OUT);
    lg_reader *reader = newest_run();
    assert_true(log_has(reader, "launch main: task \"b\" is left out"));
    assert_true(log_has(reader, "launch main: rung 0, repair \"leave out the suspect task\", attempt 1: repaired"));
    lg_reader_close(reader);
    /* The task is left out of this launch only. It stays suspect: a crash in it leads to the next
     * rung. */
    lives(LIFE(QUIET, .in_b = CRASH), SEGV, HEALTHY);
    lives(LIFE(QUIET, .in_b = CRASH), SEGV, HEALTHY);
    lives(LIFE(QUIET, .after = FINISH), 0, "needs-repair;protect a;protect b;repairing;small;checking;a;b;normal;");
    /* Good launches that ran the task clear it of suspicion. */
    for (int i = 0; i < 4; i++)
        lives(LIFE(QUIET, .after = FINISH), 0, HEALTHY "normal;");
    assert_int_equal(stored().suspect_count, 0);
    assert_int_equal(stored().rung, 0);
}

static void test_thresholds_of_suspicion(void **state)
{
    (void)state;
    /* One crash is enough where the task has the flag for that. */
    lives(LIFE(QUIET, .options.repair_after = 1, .b_flags = LG_TASK_SUSPECT, .in_b = CRASH), SEGV, HEALTHY);
    lives(LIFE(QUIET, .options.repair_after = 1, .b_flags = LG_TASK_SUSPECT, .after = FINISH), 0,
          "needs-repair;protect a;protect b;repairing;checking;a;normal;");
    /* Where the task is not suspect, the first rung is passed over. */
    life_make(NULL);
    lives(LIFE(QUIET, .options.repair_after = 1, .in_b = CRASH), SEGV, HEALTHY);
    lives(LIFE(QUIET, .options.repair_after = 1, .after = FINISH), 0, "needs-repair;protect a;protect b;repairing;small;checking;a;b;normal;");
    /* An essential task is never left out. */
    life_make(NULL);
    for (int i = 0; i < 2; i++)
        lives(LIFE(QUIET, .b_flags = LG_TASK_ESSENTIAL, .in_b = CRASH), SEGV, HEALTHY);
    lives(LIFE(QUIET, .b_flags = LG_TASK_ESSENTIAL, .after = FINISH), 0,
          "needs-repair;protect a;protect b;repairing;small;checking;a;b;normal;");
}

static void test_safe_mode_leaves_out(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives(LIFE(QUIET, .in_b = CRASH), SEGV, HEALTHY);
    /* on probation, without b */
    lives(LIFE(QUIET, .after = CRASH), SEGV, "needs-repair;protect a;protect b;repairing;checking;a;");
    lives(LIFE(QUIET, .in_small = FAIL, .in_large = FAIL, .a_flags = LG_TASK_UNSAFE, .after = FINISH), 0,
          "needs-repair;protect a;protect b;repairing;small;needs-repair;repairing;small;needs-repair;repairing;large;needs-repair;repairing;large;"
          "checking;normal;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    lg_ledger_suspect suspect;
    lg_reader *reader;
    assert_int_equal(lg_reader_open(state_path("ledger.lg"), &reader), LG_OK);
    assert_int_equal(lg_reader_ledger_suspect(reader, 0, 0, &suspect), LG_OK);
    assert_string_equal(suspect.key, "b");
    assert_int_equal(suspect.crashes, 2);
    lg_reader_close(reader);
}

static void test_protect_by_a_task(void **state)
{
    (void)state;
    /* In one process, without a crash: hold the launch, run the protect actions of the tasks that
     * have not run, repair, go on. */
    lives(LIFE(.in_a = PROTECT, .after = FINISH), 0, "checking;a;needs-repair;protect b;repairing;small;checking;b;normal;");
    assert_true(stored().events & LG_EVENT_PROTECTED);
    /* The request is stored before it has any effect: where the process is killed in a protect
     * action, the next launch is held. */
    life_make(NULL);
    lives(LIFE(.in_a = PROTECT, .in_protect = KILL), KILLED, "checking;a;needs-repair;protect b;");
    lives(LIFE(.after = FINISH), 0, "needs-repair;protect a;protect b;repairing;small;checking;a;b;normal;");
    life_make(NULL);
    lives(LIFE(.in_a = PROTECT_AND_FAIL, .a_flags = LG_TASK_ESSENTIAL), 0, "checking;a;needs-repair;repairing;small;checking;begin failed;");
}

static void leaves_out_b(lg_launch *launch)
{
    if (lg_launch_leave_out(launch, "b") != LG_OK)
        tell("refused");
}

static void test_program_leaves_out(void **state)
{
    (void)state;
    lives(LIFE(QUIET, .before = leaves_out_b, .after = CRASH), SEGV, "checking;a;");
    lg_reader *reader = newest_run();
    assert_true(log_has(reader, "launch main: task \"b\" is left out by the program's configuration"));
    assert_false(log_has(reader, "launch main: task \"b\" is left out"));
    lg_reader_close(reader);
    account();
    assert_int_equal(last_of_timeline().events[0], LG_EVENT_OMITTED);
    /* The wish of the program is for one launch, and holds for an essential task. */
    life_make(NULL);
    lives(LIFE(QUIET, .after = FINISH), 0, HEALTHY "normal;");
    assert_int_equal(stored().events, 0);
    lives(LIFE(QUIET, .before = leaves_out_b, .a_flags = LG_TASK_ESSENTIAL, .b_flags = LG_TASK_ESSENTIAL, .after = FINISH), 0, "checking;a;normal;");
    /* A good launch without the task does not clear it of suspicion. */
    lives(LIFE(QUIET, .in_b = CRASH), SEGV, HEALTHY);
    lives(LIFE(QUIET, .before = leaves_out_b, .after = FINISH), 0, "checking;a;normal;");
    assert_int_equal(stored().suspect_count, 1);
    /* The rung that leaves out the suspect task would change nothing. */
    lives(LIFE(QUIET, .in_b = CRASH), SEGV, HEALTHY);
    lives(LIFE(QUIET, .in_b = CRASH), SEGV, HEALTHY);
    lives(LIFE(QUIET, .before = leaves_out_b, .after = FINISH), 0, "needs-repair;protect a;repairing;small;checking;a;normal;");
}

static lg_status crashes_late(void *user)
{
    (void)user;
    tell("late");
    crash();
    return LG_OK;
}

static void adds_late(lg_launch *launch)
{
    lg_task late = LG_TASK_INIT;
    late.key = "late";
    late.flags = LG_TASK_LATE;
    late.run = crashes_late;
    if (lg_launch_add_task(launch, &late) == LG_ERR_STATE)
        tell("refused");
}

static void finishes_and_adds_late(lg_launch *launch)
{
    lg_launch_finished(launch);
    adds_late(launch);
}

static void stops_and_adds_late(lg_launch *launch)
{
    if (life->after == FINISH)
        lg_launch_finished(launch);
    lg_stop(life_session);
    adds_late(launch);
}

static void test_late_task_is_known(void **state)
{
    (void)state;
    lives(LIFE(QUIET, .then = adds_late), SEGV, HEALTHY "late;");
    next_time("late");
    assert_int_equal(stored().streak, 1);
    assert_int_equal(stored().suspect_count, 1);
    assert_string_equal(stored().suspects[0].key, "late");
    lives(LIFE(QUIET, .then = finishes_and_adds_late), SEGV, HEALTHY "normal;late;");
    account();
    assert_int_equal(stored().streak, 0);
    lives(LIFE(QUIET, .then = stops_and_adds_late), 0, "checking;report 0;a;b;normal;refused;");
    lives(LIFE(QUIET, .then = stops_and_adds_late, .after = FINISH), 0, HEALTHY "normal;refused;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LIFE(test_task_is_known), WITH_LIFE(test_suspect_is_left_out_once), WITH_LIFE(test_thresholds_of_suspicion),
        WITH_LIFE(test_safe_mode_leaves_out), WITH_LIFE(test_protect_by_a_task), WITH_LIFE(test_program_leaves_out), WITH_LIFE(test_late_task_is_known),
    };
    return cmocka_run_group_tests_name("suspects", tests, NULL, NULL);
}
