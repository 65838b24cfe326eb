/* The program decides the course of its launch: on_decide, lg_launch_protect() before the begin, a
 * ladder without the built-in rung; and what the rule does start by start. Each life is a process
 * that really dies. */
#include "scripted_life.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static lg_decision decision;
static enum act in_decide;
static lg_launch *begun;

static lg_decision decide(const lg_launch_info *info, const lg_report *last, void *user)
{
    (void)last, (void)user;
    tell("decide: %s %s, streak %u of %u", lg_launch_status_name(info->status), lg_launch_mode_name(info->mode), info->streak, info->repair_after);
    if (in_decide == PROTECT)
        tell("%s", lg_status_name(lg_launch_protect(begun, NULL)));
    else if (in_decide == FINISH)
        tell("%s", lg_status_name(lg_launch_finished(begun)));
    else
        act(in_decide);
    return decision;
}

static int make(void **state)
{
    decision = LG_DECISION_BY_RULE;
    in_decide = GO_ON;
    return life_make(state);
}
#define WITH_DECISIONS(function) cmocka_unit_test_setup_teardown(function, make, remove_state)
#define DECIDES .options.on_decide = decide

static void crash_times(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        lives_somehow(LIFE(.after = CRASH), SEGV);
}

static void test_by_rule(void **state)
{
    (void)state;
    lives(LIFE(DECIDES, .after = CRASH), SEGV, "decide: checking normal, streak 0 of 2;checking;a;b;");
    lives(LIFE(DECIDES, .after = CRASH), SEGV, "decide: checking normal, streak 1 of 2;checking;report 1;a;b;");
    lives(LIFE(DECIDES, .after = FINISH), 0,
          "decide: needs-repair normal, streak 2 of 2;needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;normal;");
    assert_int_equal(stored().events & LG_EVENT_DECIDED, 0);
}

static lg_decision decide_by_crash(const lg_launch_info *info, const lg_report *last, void *user)
{
    (void)info, (void)user;
    if (!last)
        tell("no trouble");
    else
        tell("run %d: %s %s%s, %s, %zu digits", (int)last->ordinal, lg_end_name(last->end), lg_crash_kind_name(last->kind),
             last->same_as_before ? " again" : "", strncmp(last->place, "test-", 5) == 0 && strstr(last->place, "+0x") ? "at its place" : last->place,
             strlen(last->fingerprint));
    return LG_DECISION_BY_RULE;
}

static void aborts(lg_launch *launch)
{
    (void)launch;
    abort();
}

static void report_by_crash(const lg_report_batch *batch, lg_completion *done, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < batch->report_count; i++)
        tell("%s%s%s", lg_crash_kind_name(batch->reports[i]->kind), batch->reports[i]->same_as_before ? " again" : "", batch->reports[i]->place[0] ? " there" : "");
    lg_complete(done, LG_OK);
}

/* What crashed, where, and whether it is the crash of the last time. */
static void test_by_crash(void **state)
{
    (void)state;
#define BY_CRASH .options.on_decide = decide_by_crash, .options.repair_after = 9, .options.report_after = 2, .options.on_report = report_by_crash
#define RUNS "checking;a;b;"
    lives(LIFE(BY_CRASH, .then = aborts), SIGABRT, "no trouble;" RUNS);
    lives(LIFE(BY_CRASH, .after = CRASH), SEGV, "run 1: crash abort.explicit, at its place, 32 digits;" RUNS);
    lives(LIFE(BY_CRASH, .after = CRASH), SEGV, "run 2: crash fault.null_write, at its place, 32 digits;checking;abort.explicit there;fault.null_write there;a;b;");
    lives(LIFE(BY_CRASH, .after = FINISH), 0,
          "run 3: crash fault.null_write again, at its place, 32 digits;checking;fault.null_write again there;a;b;normal;");
    lives(LIFE(BY_CRASH, .after = FINISH), 0, "no trouble;" RUNS "normal;");
}

static void test_go_on(void **state)
{
    (void)state;
    crash_times(2);
    decision = LG_DECISION_GO_ON;
    lives(LIFE(DECIDES, .after = CRASH), SEGV, "decide: needs-repair normal, streak 2 of 2;checking;report 2;a;b;");
    assert_true(stored().events & LG_EVENT_DECIDED);
    lives(LIFE(DECIDES, .after = FINISH), 0, "decide: needs-repair normal, streak 3 of 2;checking;report 3;a;b;normal;");
    assert_int_equal(stored().streak, 0);
    /* In safe mode it leaves out what safe mode leaves out. */
    crash_times(2);
    for (int i = 0; i < 4; i++)
        lives_somehow(LIFE(.in_small = FAIL, .in_large = FAIL, .after = CRASH), SEGV);
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    lives(LIFE(DECIDES, .a_flags = LG_TASK_UNSAFE, .after = FINISH), 0, "decide: needs-repair safe, streak 6 of 2;checking;report 6;b;normal;");
}

static void test_protect(void **state)
{
    (void)state;
    decision = LG_DECISION_PROTECT;
    lives(LIFE(DECIDES, .after = FINISH), 0,
          "decide: checking normal, streak 0 of 2;needs-repair;protect a;protect b;repairing;small;checking;a;b;normal;");
    assert_int_equal(stored().events, LG_EVENT_DECIDED | LG_EVENT_HELD | LG_EVENT_REPAIRED);
}

static void *says_yes(void *launch)
{
    await_status(launch, LG_LAUNCH_NEEDS_REPAIR);
    await_last_line("protect b");
    tell("yes");
    lg_launch_repair(launch);
    return NULL;
}

static void *says_skip(void *launch)
{
    await_status(launch, LG_LAUNCH_NEEDS_REPAIR);
    await_last_line("protect b");
    tell("skip");
    lg_launch_skip(launch);
    return NULL;
}

static void with_yes(lg_launch *launch)
{
    in_thread(says_yes, launch);
}

static void with_skip(lg_launch *launch)
{
    in_thread(says_skip, launch);
}

#define HELD_BY_HAND "decide: checking normal, streak 0 of 2;needs-repair;protect a;protect b;"

static void test_hold(void **state)
{
    (void)state;
    decision = LG_DECISION_HOLD;
    lives(LIFE(DECIDES, .before = with_yes, .after = FINISH), 0, HELD_BY_HAND "yes;repairing;small;checking;a;b;normal;");
    lives(LIFE(DECIDES, .before = with_skip, .after = FINISH), 0, HELD_BY_HAND "skip;checking;a;b;normal;");
    /* also where nothing can be tried; a yes then leads to safe mode */
    lives(LIFE(DECIDES, .no_repairs = true, .before = with_skip, .after = FINISH), 0, HELD_BY_HAND "skip;checking;a;b;normal;");
    lives(LIFE(DECIDES, .no_repairs = true, .before = with_yes, .after = FINISH), 0, HELD_BY_HAND "yes;checking;a;b;normal;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    /* and nobody answers */
    life_make(NULL);
    lives(LIFE(DECIDES, .options.hold_ms = 50, .options.callbacks = LG_CALLBACKS_CALLER, .after = FINISH), 0, HELD_BY_HAND "checking;a;b;normal;");
    assert_true(stored().events & LG_EVENT_EXPIRED);
}

static void test_dies_in_the_decision(void **state)
{
    (void)state;
    in_decide = CRASH;
    lives(LIFE(DECIDES), SEGV, "decide: checking normal, streak 0 of 2;");
    lives(LIFE(DECIDES), SEGV, "decide: checking normal, streak 1 of 2;");
    /* not a third time */
    lives(LIFE(DECIDES, .after = FINISH), 0, "needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;normal;");
    assert_int_equal(stored().decide_strikes, 0);
    /* killed while it is asked: unexplained, and a strike */
    in_decide = KILL;
    lives(LIFE(DECIDES), KILLED, "decide: checking normal, streak 0 of 2;");
    account();
    assert_int_equal(stored().unknown, 1);
    assert_int_equal(stored().decide_strikes, 1);
}

static void keep(lg_launch *launch)
{
    begun = launch;
}

/* Calls that on_decide makes itself. */
static void test_calls_in_the_decision(void **state)
{
    (void)state;
    in_decide = FINISH;
    lives(LIFE(DECIDES, .before = keep, .after = CRASH), SEGV, "decide: checking normal, streak 0 of 2;state;checking;a;b;");
    in_decide = PROTECT;
    lives(LIFE(DECIDES, .before = keep, .after = FINISH), 0,
          "decide: checking normal, streak 1 of 2;ok;needs-repair;report 1;protect a;protect b;repairing;small;checking;a;b;normal;");
    decision = LG_DECISION_GO_ON; /* has the last word */
    lives(LIFE(DECIDES, .before = keep, .after = FINISH), 0, "decide: checking normal, streak 0 of 2;ok;checking;a;b;normal;");
}

static void protect_now(lg_launch *launch)
{
    if (lg_launch_protect(launch, "the disk says no") != LG_OK)
        tell("refused");
}

static void test_protect_before_begin(void **state)
{
    (void)state;
    lives(LIFE(.before = protect_now, .after = FINISH), 0, "needs-repair;protect a;protect b;repairing;small;checking;a;b;normal;");
    assert_int_equal(stored().events, LG_EVENT_DECIDED | LG_EVENT_HELD | LG_EVENT_REPAIRED);
    lives(LIFE(.after = FINISH), 0, HEALTHY "normal;"); /* for one launch */
}

static void test_shadow(void **state)
{
    (void)state;
    decision = LG_DECISION_PROTECT;
    lives(LIFE(DECIDES, .options.shadow = 1, .after = FINISH), 0, "decide: checking normal, streak 0 of 2;checking;a;b;normal;");
}

/* docs/LAUNCH.md, "Start by start", as it stands there. */
static void test_start_by_start(void **state)
{
    (void)state;
    const struct life *crashes = LIFE(.in_b = CRASH);
    lives(crashes, SEGV, "checking;a;b;");
    lives(crashes, SEGV, "checking;report 1;a;b;");
    lives(LIFE(.in_b = CRASH, .after = FINISH), 0, "needs-repair;report 2;protect a;protect b;repairing;checking;a;normal;");
    lives(crashes, SEGV, "checking;a;b;");
    lives(crashes, SEGV, "checking;report 1;a;b;");
    lives(LIFE(.after = FINISH), 0, "needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;normal;");
    /* an essential task */
    life_make(NULL);
    crashes = LIFE(.in_b = CRASH, .b_flags = LG_TASK_ESSENTIAL);
    lives(crashes, SEGV, "checking;a;b;");
    lives(crashes, SEGV, "checking;report 1;a;b;");
    lives(crashes, SEGV, "needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;");
    lives(LIFE(.b_flags = LG_TASK_ESSENTIAL, .after = FINISH), 0, "needs-repair;report 1;protect a;protect b;repairing;large;checking;a;b;normal;");
    /* the first repair has the first turn, from the first crash on */
    life_make(NULL);
#define AT_ONCE .options.repair_after = 1, .options.leave_out_suspects = 0, .b_flags = LG_TASK_SUSPECT
    lives(LIFE(AT_ONCE, .in_b = CRASH), SEGV, "checking;a;b;");
    lives(LIFE(AT_ONCE, .after = FINISH), 0, "needs-repair;report 1;protect a;protect b;repairing;small;checking;a;b;normal;");
}

/* Row A20. */
static void test_terminated_between_two_crashes(void **state)
{
    (void)state;
    crash_times(1);
    lives(LIFE(.after = TERMINATE), TERMINATED, "checking;report 1;a;b;");
    account();
    assert_int_equal(stored().streak, 1);
    lives_somehow(LIFE(.after = CRASH), SEGV);
    account();
    assert_int_equal(stored().streak, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DECISIONS(test_by_rule), WITH_DECISIONS(test_by_crash),
        WITH_DECISIONS(test_go_on),
        WITH_DECISIONS(test_protect),
        WITH_DECISIONS(test_hold),
        WITH_DECISIONS(test_dies_in_the_decision),
        WITH_DECISIONS(test_calls_in_the_decision),
        WITH_DECISIONS(test_protect_before_begin),
        WITH_DECISIONS(test_shadow),
        WITH_DECISIONS(test_start_by_start),
        WITH_DECISIONS(test_terminated_between_two_crashes),
    };
    return cmocka_run_group_tests_name("decisions", tests, NULL, NULL);
}
