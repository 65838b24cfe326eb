/* Every state of the launch machine, reached by real processes: the callbacks that run, their
 * order, and what the next start does. */
#include "scripted_life.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A thread that is begun has come to its callback by then, also on a busy machine. */
#define SOON_MS 3000
/* All callbacks of this thread come before the hold expires, however long they take. */
#define EXPIRES .options.hold_ms = 300, .options.callbacks = LG_CALLBACKS_CALLER
#define HOLD_REPAIR "needs-repair;protect a;protect b;repairing;small;"

static void crash_times(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        lives_somehow(LIFE(.after = CRASH), SEGV);
}

/* ---- thresholds ---- */

static void test_report_thresholds(void **state)
{
    (void)state;
    /* The threshold for reports equals that for repairs. */
    lives(LIFE(.options.report_after = 2, .after = CRASH), SEGV, HEALTHY);
    lives(LIFE(.options.report_after = 2, .after = CRASH), SEGV, HEALTHY);
    lives(LIFE(.options.report_after = 2, .after = FINISH), 0, "needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;normal;");
    /* The threshold for reports is larger: a report still comes, once for each new streak, and not
     * while the streak stays the same. */
    life_make(NULL);
#define ABOVE .options.report_after = 3, .no_repairs = true
    lives(LIFE(ABOVE, .after = CRASH), SEGV, HEALTHY);
    lives(LIFE(ABOVE, .after = CRASH), SEGV, HEALTHY);
    lives(LIFE(ABOVE, .after = CRASH), SEGV, HEALTHY); /* in safe mode */
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    lives(LIFE(ABOVE), 0, "checking;report 3;a;b;");
    lives(LIFE(ABOVE, .after = CRASH), SEGV, HEALTHY);
    lives(LIFE(ABOVE, .after = FINISH), 0, "needs-repair;report 4;give up;checking;a;b;normal;");
    /* The threshold for reports is smaller; and a launch without on_report. */
    life_make(NULL);
    lives(LIFE(.after = CRASH), SEGV, HEALTHY);
    lives(LIFE(.options.on_report = NULL, .after = CRASH), SEGV, HEALTHY);
    lives(LIFE(.after = FINISH), 0, "needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;normal;");
}

/* ---- by hand ---- */

static void *says_yes_at_once(void *argument)
{
    lg_launch *launch = argument;
    await_last_line("protect b"); /* the tasks got their protect actions: the launch waits */
    await_status(launch, LG_LAUNCH_NEEDS_REPAIR);
    tell("yes");
    /* one call: a second consent may come when the next question is asked, and answers that
     * question */
    if (lg_launch_repair(launch) != LG_OK)
        tell("impossible");
    return NULL;
}

static void yes(lg_launch *launch)
{
    in_thread(says_yes_at_once, launch);
}

static void *wishes_all_the_time(void *argument)
{
    lg_status (*wish)(lg_launch *) = life->options.user ? *(lg_status (**)(lg_launch *))life->options.user : lg_launch_repair;
    for (;;) {
        wish(argument);
        rest(0);
    }
    return NULL;
}

static lg_status (*const do_refuse)(lg_launch *) = lg_launch_refuse;
static lg_status (*const do_skip)(lg_launch *) = lg_launch_skip;
static lg_status (*const do_repaired)(lg_launch *) = lg_launch_repaired;

static void wish_all_the_time(lg_launch *launch)
{
    in_thread(wishes_all_the_time, launch);
}

static void none_is_possible(lg_launch *launch)
{
    if (lg_launch_repair(launch) != LG_ERR_STATE || lg_launch_refuse(launch) != LG_ERR_STATE || lg_launch_skip(launch) != LG_ERR_STATE ||
        lg_launch_repaired(launch) != LG_ERR_STATE ||
        lg_launch_try_safe(launch) != LG_ERR_STATE)
        tell("possible");
}

static void status_says_yes(lg_launch *launch, lg_launch_status status, void *user)
{
    life_status(launch, status, user);
    if (status == LG_LAUNCH_NEEDS_REPAIR && lg_launch_repair(launch) != LG_OK)
        tell("impossible");
}

static void status_says_yes_once(lg_launch *launch, lg_launch_status status, void *user)
{
    static bool said;
    life_status(launch, status, user);
    if (status != LG_LAUNCH_NEEDS_REPAIR || said)
        return;
    said = true;
    tell("yes");
    if (lg_launch_repair(launch) != LG_OK)
        tell("impossible");
}

static void test_by_hand(void **state)
{
    (void)state;
#define BY_HAND .options.auto_repair = 0, .options.report_after = 9
    crash_times(2);
    state_save();
    lives(LIFE(BY_HAND, .before = yes, .then = none_is_possible, .after = FINISH), 0,
          "needs-repair;protect a;protect b;yes;repairing;small;checking;a;b;normal;");
    /* A consent from the status callback covers the other attempts and the next rungs as well. */
    state_restore();
    lives(LIFE(BY_HAND, .options.on_status = status_says_yes, .in_small = FAIL, .after = FINISH), 0,
          "needs-repair;protect a;protect b;repairing;small;needs-repair;repairing;small;needs-repair;repairing;large;checking;a;b;normal;");
    /* A thread consents all the time: before the hold is reached, while a repair runs, and when all
     * is over. */
    state_restore();
    lives(LIFE(BY_HAND, .before = wish_all_the_time, .in_small = FAIL, .after = FINISH), 0,
          "needs-repair;protect a;protect b;repairing;small;needs-repair;repairing;small;needs-repair;repairing;large;checking;a;b;normal;");
    state_restore();
    lives(LIFE(BY_HAND, .options.user = (void *)(uintptr_t)&do_refuse, .before = wish_all_the_time, .after = FINISH), 0,
          "needs-repair;protect a;protect b;checking;a;b;normal;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    assert_true(stored().events & LG_EVENT_REFUSED);
    /* Two skips in a row, then safe mode. */
    state_restore();
    for (int skips = 0; skips < 3; skips++) {
        lives(LIFE(BY_HAND, .options.user = (void *)(uintptr_t)&do_skip, .before = wish_all_the_time, .after = CRASH), SEGV,
              "needs-repair;protect a;protect b;checking;a;b;");
        assert_int_equal(stored().mode, skips < 2 ? LG_LAUNCH_MODE_NORMAL : LG_LAUNCH_MODE_SAFE);
        assert_true(stored().events & LG_EVENT_SKIPPED);
    }
    /* No answer comes. */
    state_restore();
    lives(LIFE(BY_HAND, EXPIRES, .after = FINISH), 0, "needs-repair;protect a;protect b;checking;a;b;normal;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    assert_true(stored().events & LG_EVENT_EXPIRED);
}

/* H10: after the word of the program no repair counts as tried. */
static void test_repaired_by_itself(void **state)
{
    (void)state;
#define SAYS_REPAIRED BY_HAND, .options.user = (void *)(uintptr_t)&do_repaired, .before = wish_all_the_time
    crash_times(2);
    state_save();
    lives(LIFE(SAYS_REPAIRED, .after = FINISH), 0, "needs-repair;protect a;protect b;checking;a;b;normal;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_NORMAL);
    assert_int_equal(stored().rung, 0);
    assert_true(stored().events & LG_EVENT_REPAIRED);
    /* It was wrong: one more crash, and the first repair has its turn. */
    state_restore();
    lives(LIFE(SAYS_REPAIRED, .after = CRASH), SEGV, "needs-repair;protect a;protect b;checking;a;b;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_PROBATION);
    lives(LIFE(.options.report_after = 9, .after = FINISH), 0, "needs-repair;protect a;protect b;repairing;small;checking;a;b;normal;");
    /* It says so every time. */
    state_restore();
    for (int times = 0; times < 3; times++) {
        lives(LIFE(SAYS_REPAIRED, .after = CRASH), SEGV, "needs-repair;protect a;protect b;checking;a;b;");
        assert_int_equal(stored().mode, times < 2 ? LG_LAUNCH_MODE_PROBATION : LG_LAUNCH_MODE_SAFE);
    }
}

static void test_consent(void **state)
{
    (void)state;
    crash_times(2);
    state_save();
    /* The launch waits for a consent although repairs start by themselves. */
    lives(LIFE(.options.report_after = 9, .small_flags = LG_REPAIR_CONSENT, .before = yes, .after = FINISH), 0,
          "needs-repair;protect a;protect b;yes;repairing;small;checking;a;b;normal;");
    /* The consent covers the second attempt, but not another rung that needs one of its own. */
    state_restore();
    lives(LIFE(.options.report_after = 9, EXPIRES, .options.on_status = status_says_yes_once, .small_flags = LG_REPAIR_CONSENT,
               .large_flags = LG_REPAIR_CONSENT, .in_small = FAIL, .after = FINISH), 0,
          "needs-repair;yes;protect a;protect b;repairing;small;needs-repair;repairing;small;needs-repair;checking;a;b;normal;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    assert_true(stored().events & LG_EVENT_EXPIRED);
    /* A consent from an earlier launch, which died in the repair, does not cover the repair
     * either. */
    state_restore();
    lives_somehow(LIFE(.small_flags = LG_REPAIR_CONSENT, .in_small = CRASH, .before = yes), SEGV);
    lives(LIFE(.options.report_after = 9, EXPIRES, .small_flags = LG_REPAIR_CONSENT, .after = FINISH), 0,
          "needs-repair;protect a;protect b;checking;a;b;normal;");
}

/* ---- repairs that do not work ---- */

static void test_attempts(void **state)
{
    (void)state;
    static const struct { enum act act; int end; } ways[] = { { CRASH, SEGV }, { EXIT_7, -7 }, { QUICK_7, -7 }, { KILL, KILLED } };
    crash_times(2);
    lives_somehow(LIFE(.in_protect = TERMINATE), TERMINATED); /* the report says streak 2 */
    state_save();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        state_restore();
        for (int attempts = 0; attempts < 2; attempts++)
            lives(LIFE(.in_small = ways[i].act), ways[i].end, HOLD_REPAIR);
        for (int attempts = 0; attempts < 2; attempts++)
            lives(LIFE(.in_large = ways[i].act), ways[i].end, "needs-repair;protect a;protect b;repairing;large;");
        lives(LIFE(.after = FINISH), 0, HEALTHY "normal;"); /* safe mode */
        assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
        assert_int_equal(stored().repairs, 4);
    }
    /* Repairs that hang, and repairs that never answer. */
    for (int hangs = 0; hangs < 2; hangs++) {
        state_restore();
        lives(LIFE(.in_small = hangs ? HANG : SILENT, .in_large = FAIL, .timeout_ms = SOON_MS, .options.repair_grace_ms = 0,
                   .options.overrun = LG_OVERRUN_GO_ON, .after = FINISH), 0,
              HOLD_REPAIR "needs-repair;repairing;small;needs-repair;repairing;large;needs-repair;repairing;large;checking;a;b;normal;");
        assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    }
    /* The user or the machine ends the repair: twice that is no attempt, the third time it is. */
    state_restore();
    for (int times = 0; times < 3; times++) {
        lives(LIFE(.in_small = TERMINATE, .attempts = 1), TERMINATED, HOLD_REPAIR);
        account();
        assert_int_equal(stored().attempts, times < 2 ? 0 : 1);
        assert_int_equal(stored().streak, 2);
    }
    lives(LIFE(.attempts = 1, .after = FINISH), 0, "needs-repair;protect a;protect b;repairing;large;checking;a;b;normal;");
}

static void test_probation_climbs(void **state)
{
    (void)state;
    crash_times(2);
    lives(LIFE(.options.report_after = 9, .in_b = CRASH), SEGV, HOLD_REPAIR "checking;a;b;");
    lives(LIFE(.options.report_after = 9, .in_b = CRASH), SEGV, "needs-repair;protect a;protect b;repairing;large;checking;a;b;");
    /* now two crashes came in b: the built-in rung was not tried yet */
    lives(LIFE(.options.report_after = 9, .in_b = CRASH, .after = CRASH), SEGV, "needs-repair;protect a;protect b;repairing;checking;a;");
    lives(LIFE(.options.report_after = 9, .after = FINISH), 0, "checking;a;normal;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
}

/* Protect actions that hang: the launch waits for them until the deadline. No repair depends on
 * them. */
static void test_protect_hangs(void **state)
{
    (void)state;
    crash_times(2);
    state_save();
    lives(LIFE(.options.report_after = 9, .options.hold_ms = SOON_MS, .in_protect = HANG, .after = FINISH), 0,
          "needs-repair;protect a;repairing;small;checking;a;b;normal;");
    state_restore();
    lives(LIFE(.options.report_after = 9, .options.hold_ms = SOON_MS, .options.auto_repair = 0, .in_protect = HANG, .after = FINISH), 0,
          "needs-repair;protect a;checking;a;b;normal;");
    assert_true(stored().events & LG_EVENT_EXPIRED);
}

/* ---- safe mode, trial, halted ---- */

static void test_safe_mode_and_trial(void **state)
{
    (void)state;
#define NOTHING_HELPS .no_repairs = true, .options.report_after = 99, .b_flags = LG_TASK_UNSAFE
    for (int i = 0; i < 2; i++)
        lives(LIFE(NOTHING_HELPS, .after = CRASH), SEGV, HEALTHY);
    for (uint32_t runs = 2; runs <= 8; runs *= 2) {
        for (uint32_t i = 0; i < runs; i++) {
            lives(LIFE(NOTHING_HELPS, .after = FINISH), 0, "checking;a;normal;");
            assert_int_equal(stored().retry_runs, runs);
        }
        assert_int_equal(stored().mode, LG_LAUNCH_MODE_TRIAL);
        /* the trial fails: the next trial comes after twice as many launches */
        lives(LIFE(NOTHING_HELPS, .after = CRASH), SEGV, HEALTHY);
    }
    for (int i = 0; i < 8; i++) /* the most */
        lives(LIFE(NOTHING_HELPS, .after = FINISH), 0, "checking;a;normal;");
    lives(LIFE(NOTHING_HELPS, .after = FINISH), 0, HEALTHY "normal;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_NORMAL);
    assert_int_equal(stored().retry_runs, 2);
}

static void *tries_safe(void *argument)
{
    await_last_line("give up");
    await_status(argument, LG_LAUNCH_NEEDS_REPAIR);
    tell("try");
    if (lg_launch_repair(argument) != LG_ERR_STATE || lg_launch_try_safe(argument) != LG_OK)
        tell("impossible");
    return NULL;
}

static void try_safe(lg_launch *launch)
{
    in_thread(tries_safe, launch);
}

static void test_halted(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        lives(LIFE(NOTHING_HELPS, .after = CRASH), SEGV, i < 2 ? HEALTHY : "checking;a;");
    state_save();
    lives(LIFE(NOTHING_HELPS, .after = CRASH), SEGV, "needs-repair;give up;checking;a;");
    lives(LIFE(NOTHING_HELPS, .in_give_up = SILENT, .options.report_wait_ms = SOON_MS, .after = FINISH), 0, "needs-repair;give up;checking;a;normal;");
    lives(LIFE(NOTHING_HELPS, .after = FINISH), 0, "checking;a;normal;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_TRIAL);
    /* A launch without on_give_up. */
    state_restore();
    lives(LIFE(NOTHING_HELPS, .options.on_give_up = NULL, .after = FINISH), 0, "needs-repair;checking;a;normal;");
    /* The start of a supervised program waits for an answer. */
    state_restore();
    lives(LIFE(NOTHING_HELPS, .options.supervised = 1, .before = try_safe, .after = FINISH), 0, "needs-repair;give up;try;checking;a;normal;");
    state_restore();
    lives(LIFE(NOTHING_HELPS, .options.supervised = 1, EXPIRES, .after = FINISH), 0, "needs-repair;give up;checking;a;normal;");
    assert_true(stored().events & LG_EVENT_EXPIRED);
    /* Safe mode never gives up where the limit is 0. */
    state_restore();
    lives(LIFE(NOTHING_HELPS, .options.safe_crash_limit = 0, .after = FINISH), 0, "checking;a;normal;");
}

/* ---- time ---- */

static void move_series(int64_t hours)
{
    struct lg__ledger_payload book = stored_book();
    for (uint32_t i = 0; i < LG__RUNGS; i++)
        if (book.contexts[0].rungs[i].series_wall_ns)
            book.contexts[0].rungs[i].series_wall_ns += (uint64_t)(hours * 3600 * 1000000000);
    store_book(&book);
}

static void test_throttle(void **state)
{
    (void)state;
#define COSTLY .options.report_after = 99, .small_flags = LG_REPAIR_DESTRUCTIVE, .options.deescalate_runs = 1
    crash_times(2);
    lives(LIFE(COSTLY, .after = FINISH), 0, HOLD_REPAIR "checking;a;b;normal;");
    /* and the ladder starts at its first rung again */
    lives(LIFE(COSTLY, .after = FINISH), 0, HEALTHY "normal;");
    for (int i = 0; i < 2; i++)
        lives(LIFE(COSTLY, .after = CRASH), SEGV, HEALTHY);
    state_save();
    static const struct { int64_t hours; bool again; } clocks[] = { { 0, false }, { -23, false }, { 23, false }, { -25, true }, { 25, true }, { 500000, true } };
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        state_restore();
        move_series(clocks[i].hours);
        lives(LIFE(COSTLY, .after = FINISH), 0,
              clocks[i].again ? HOLD_REPAIR "checking;a;b;normal;" : "needs-repair;protect a;protect b;repairing;large;checking;a;b;normal;");
        assert_int_equal(!(stored().events & LG_EVENT_THROTTLED), clocks[i].again);
    }
    /* The second attempt of a series begins no new series. */
    state_restore();
    move_series(-25);
    lives_somehow(LIFE(COSTLY, .in_small = CRASH), SEGV);
    lives(LIFE(COSTLY, .after = FINISH), 0, HOLD_REPAIR "checking;a;b;normal;");
}

static void test_deescalation(void **state)
{
    (void)state;
    crash_times(2);
    lives(LIFE(.options.report_after = 99, .after = FINISH), 0, HOLD_REPAIR "checking;a;b;normal;");
    assert_int_equal(stored().rung, 2); /* a streak that comes back soon leads to the next rung */
    state_save();
    for (int by_time = 0; by_time < 2; by_time++) {
        state_restore();
        if (by_time) {
            struct lg__ledger_payload book = stored_book();
            book.contexts[0].repair_boottime_ns = 1;
            store_book(&book);
            lives_somehow(LIFE(.options.deescalate_ms = 1), 0);
        } else {
            for (int i = 0; i < 3; i++) {
                assert_int_equal(stored().rung, 2);
                lives(LIFE(.after = FINISH), 0, HEALTHY "normal;");
            }
        }
        assert_int_equal(stored().rung, 0);
    }
    state_restore();
    for (int i = 0; i < 4; i++)
        lives(LIFE(.options.deescalate_runs = 0, .options.deescalate_ms = 0, .after = FINISH), 0, HEALTHY "normal;");
    assert_int_equal(stored().rung, 2);
}

/* ---- kinds of launches ---- */

static void test_shadow(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        char expected[100];
        snprintf(expected, sizeof expected, i ? "checking;report %u;a;b;" : HEALTHY, i);
        lives(LIFE(.options.shadow = 1, .after = CRASH), SEGV, expected);
    }
    lg_reader *reader = newest_run();
    assert_true(log_has(reader, "launch main: in shadow; otherwise it would be held for rung 1, repair \"small\""));
    lg_reader_close(reader);
    account();
    assert_int_equal(stored().streak, 4);
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_NORMAL);
    assert_int_equal(stored().repairs, 0);
}

static void test_kill_switch(void **state)
{
    (void)state;
    crash_times(2);
    setenv("LAUNCH_UNPROTECTED", "1", 1);
    lives(LIFE(.options.kill_switch = "LAUNCH_UNPROTECTED", .after = CRASH), SEGV, "prepare unprotected;" HEALTHY);
    setenv("LAUNCH_UNPROTECTED", "0", 1);
    lives(LIFE(.options.kill_switch = "LAUNCH_UNPROTECTED", .after = FINISH), 0,
          "needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;normal;");
    unsetenv("LAUNCH_UNPROTECTED");
}

static void waits(lg_launch *launch)
{
    tell("wait %s", lg_status_name(lg_launch_wait(launch, UINT32_MAX)));
}

static void waits_too_short(lg_launch *launch)
{
    await_status(launch, LG_LAUNCH_REPAIRING);
    tell("wait %s", lg_status_name(lg_launch_wait(launch, 1)));
}

static void test_restart(void **state)
{
    (void)state;
    for (lg_hold hold = LG_HOLD_BLOCK; hold <= LG_HOLD_NONE; hold++) {
        life_make(NULL);
        crash_times(2);
        lives_somehow(LIFE(.options.hold = hold, .small_flags = LG_REPAIR_NEEDS_RESTART, .then = waits), 0);
        assert_non_null(strstr(story, "wait restart"));
        if (hold != LG_HOLD_NONE)
            assert_null(strstr(story, ";a;"));
        assert_int_equal(stored().phase, LG_PHASE_TERMINATING);
        lives(LIFE(.small_flags = LG_REPAIR_NEEDS_RESTART, .in_b = CRASH), SEGV, HEALTHY);
        lives(LIFE(.options.report_after = 9, .after = FINISH), 0, "needs-repair;protect a;protect b;repairing;large;checking;a;b;normal;");
    }
}

static void test_custody_and_none(void **state)
{
    (void)state;
    crash_times(2);
    state_save();
#define CUSTODY .options.hold = LG_HOLD_CUSTODY, .options.report_after = 9
    lives(LIFE(CUSTODY, .then = waits, .after = FINISH), 0, HOLD_REPAIR "checking;a;b;wait ok;normal;");
    /* nothing to hold */
    lives(LIFE(CUSTODY, .then = waits, .after = FINISH), 0, HEALTHY "wait ok;normal;");
    state_restore();
    lives_somehow(LIFE(CUSTODY, .in_small = HANG, .then = waits_too_short), 0);
    assert_non_null(strstr(story, "wait timeout"));
    assert_null(strstr(story, ";a;"));
    account();
    /* the process ended by exit(0) while the repair ran */
    assert_int_equal(stored().interruptions, 1);
    state_restore();
    lives_somehow(LIFE(.options.hold = LG_HOLD_NONE, .then = waits, .after = FINISH), 0);
    assert_non_null(strstr(story, "small"));
    assert_non_null(strstr(story, "b;"));
    assert_null(strstr(story, "protect"));
    assert_non_null(strstr(story, "wait ok;normal;"));
    assert_int_equal(stored().repairs, 1);
}

static pthread_t caller;

static lg_status tell_thread(void *user)
{
    (void)user;
    tell("%s", pthread_equal(pthread_self(), caller) ? "here" : "elsewhere");
    return LG_OK;
}

static void add_teller(lg_launch *launch)
{
    lg_task task = LG_TASK_INIT;
    caller = pthread_self();
    task.key = "teller";
    task.run = tell_thread;
    lg_launch_add_task(launch, &task);
}

/* In custody the tasks leave the caller's thread only where the launch is held, or reports. */
static void test_custody_stays_here(void **state)
{
    (void)state;
#define STAYS .options.hold = LG_HOLD_CUSTODY, .options.on_status = NULL, .before = add_teller, .then = waits
    lives(LIFE(STAYS, .options.on_report = NULL, .after = CRASH), SEGV, "a;b;here;wait ok;");
    /* news, and nobody asks */
    lives(LIFE(STAYS, .options.on_report = NULL, .after = CRASH), SEGV, "a;b;here;wait ok;");
    lives(LIFE(STAYS, .options.on_report = NULL, .after = FINISH), 0, "protect a;protect b;small;a;b;elsewhere;wait ok;");
}

/* ---- answers for the same repair ---- */

static lg_launch *answered;

/* All of them come before the launch looks for an answer. */
static void answer_all_ways(void *user)
{
    (void)user;
    tell("refuse %s", lg_status_name(lg_launch_refuse(answered)));
    tell("repair %s", lg_status_name(lg_launch_repair(answered)));
    tell("skip %s", lg_status_name(lg_launch_skip(answered)));
    tell("refuse %s", lg_status_name(lg_launch_refuse(answered)));
}

static void add_answers(lg_launch *launch)
{
    lg_task task = LG_TASK_INIT;
    answered = launch;
    task.key = "answers";
    task.run = tell_thread;
    task.protect = answer_all_ways;
    lg_launch_add_task(launch, &task);
}

/* The first answer wins, and the others say that they have no effect. */
static void test_one_answer_wins(void **state)
{
    (void)state;
    crash_times(2);
    lives_somehow(LIFE(.options.auto_repair = 0, .options.on_report = NULL, .options.on_status = NULL, .options.hold_ms = 500,
                       .before = add_answers, .after = FINISH), 0);
    assert_non_null(strstr(story, "refuse ok;repair state;skip state;refuse ok;"));
    const struct lg__ledger_context got = stored();
    assert_true(got.events & LG_EVENT_REFUSED);
    assert_int_equal(got.events & (LG_EVENT_SKIPPED | LG_EVENT_REPAIRED | LG_EVENT_REPAIR_FAILED), 0);
}

/* ---- every kind of death, at every place of every mode ---- */

static const struct place {
    const char *name;
    size_t at; /* of its act in struct life */
    lg_phase phase;
    bool reporting;
    const char *task;
} places[] = {
    { "on_report", offsetof(struct life, in_report), LG_PHASE_LAUNCHING, true, NULL },
    { "protect", offsetof(struct life, in_protect), LG_PHASE_HELD, false, NULL },
    { "repair", offsetof(struct life, in_small), LG_PHASE_REPAIRING, false, NULL },
    { "on_give_up", offsetof(struct life, in_give_up), LG_PHASE_HALTED, false, NULL },
    { "task", offsetof(struct life, in_a), LG_PHASE_LAUNCHING, false, "a" },
    { "begun", offsetof(struct life, after), LG_PHASE_LAUNCHING, false, NULL },
};

/* The events that bring a program into a mode. */
static const struct mode {
    const char *name;
    uint32_t crashes, finishes;
    bool repairs, halted;
    lg_launch_mode mode;
} modes[] = {
    { "normal", 1, 0, true, false, LG_LAUNCH_MODE_NORMAL },    { "held", 2, 0, true, false, LG_LAUNCH_MODE_NORMAL },
    { "probation", 3, 0, true, false, LG_LAUNCH_MODE_PROBATION }, { "safe", 3, 0, false, false, LG_LAUNCH_MODE_SAFE },
    { "trial", 2, 2, false, false, LG_LAUNCH_MODE_TRIAL },     { "halted", 4, 0, false, true, LG_LAUNCH_MODE_SAFE },
};

static void reach(const struct mode *mode)
{
    for (uint32_t i = 0; i < mode->crashes; i++)
        lives_somehow(LIFE(.no_repairs = !mode->repairs, .after = mode->mode == LG_LAUNCH_MODE_PROBATION && i == 2 ? EXIT_7 : CRASH),
                      mode->mode == LG_LAUNCH_MODE_PROBATION && i == 2 ? -7 : SEGV);
    for (uint32_t i = 0; i < mode->finishes; i++)
        lives_somehow(LIFE(.no_repairs = true, .after = FINISH), 0);
}

static bool is_reached(const struct mode *mode, const struct place *place)
{
    bool held = strcmp(mode->name, "held") == 0;
    if (place->phase == LG_PHASE_HALTED)
        return mode->halted;
    if (place->phase == LG_PHASE_HELD || place->phase == LG_PHASE_REPAIRING)
        return held;
    if (place->reporting)
        return mode->mode != LG_LAUNCH_MODE_PROBATION && mode->mode != LG_LAUNCH_MODE_TRIAL;
    return !held && !mode->halted;
}

static void test_every_death(void **state)
{
    (void)state;
    static const struct { enum act act; int end; lg_end as; } deaths[] = {
        { CRASH, SEGV, LG_END_CRASH },        { EXIT_7, -7, LG_END_EXIT },    { QUICK_7, -7, LG_END_UNKNOWN },
        { KILL, KILLED, LG_END_UNKNOWN }, { TERMINATE, TERMINATED, LG_END_TERMINATED },
    };
    unsigned checked = 0;
    for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        life_make(NULL);
        reach(&modes[m]);
        state_save();
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++)
            for (size_t d = 0; is_reached(&modes[m], &places[p]) && d < sizeof deaths / sizeof deaths[0]; d++) {
                state_restore();
                struct life dies = *LIFE(.no_repairs = !modes[m].repairs);
                *(enum act *)(void *)((char *)&dies + places[p].at) = deaths[d].act;
                lives_somehow(&dies, deaths[d].end);
                struct lg__ledger_payload before = stored_book();
                struct lg__ledger_context *context = &before.contexts[0];
                /* a hold may hear of the signal before that ends the program */
                const bool is_held = places[p].phase == LG_PHASE_HELD || places[p].phase == LG_PHASE_HALTED;
                const bool has_heard = is_held && deaths[d].act == TERMINATE && context->phase == LG_PHASE_TERMINATING;
                if (!places[p].reporting && !has_heard)
                    assert_int_equal(context->phase, places[p].phase);
                assert_int_equal(!!(context->flags & LG__CONTEXT_REPORTING), places[p].reporting);
                assert_int_equal(context->mode, modes[m].mode);
                /* The next start accounts for the death as the machine says: once. */
                struct lg__last_end last = { .end = deaths[d].as, .signal = deaths[d].as == LG_END_CRASH ? SIGSEGV : 0, .ordinal = before.last_ordinal,
                                             .task = places[p].task };
                bool counts = lg__ended_account(context, &last);
                for (int again = 0; again < 2; again++)
                    account();
                struct lg__ledger_payload after = stored_book();
                struct lg__ledger_context *got = &after.contexts[0];
                assert_memory_equal(context, got, sizeof *got);
                assert_int_equal(after.timeline_count, before.timeline_count + 2);
                const struct lg__ledger_run *run = &after.timeline[after.timeline_count - 2];
                assert_int_equal(run->end, deaths[d].as);
                assert_int_equal(run->counted, counts);
                checked++;
            }
    }
    assert_int_equal(checked, 75);
}

static void status_marks(lg_launch *launch, lg_launch_status status, void *user)
{
    life_status(launch, status, user);
    if (status == LG_LAUNCH_CHECKING && lg_launch_finished(launch) != LG_OK)
        tell("not marked");
}

/* The mark comes before the first task. A death before the last task has run is a launch crash. */
static void test_mark_before_the_tasks(void **state)
{
    (void)state;
    lives(LIFE(.options.on_status = status_marks, .options.report_after = 9, .options.repair_after = 9, .in_b = CRASH), SEGV, "checking;a;b;");
    lg_reader *reader = newest_run();
    lg_run_context context;
    assert_int_equal(lg_reader_run_context(reader, 0, &context), LG_OK);
    assert_int_equal(context.phase, LG_PHASE_LAUNCHING);
    assert_int_equal(context.marked, 0);
    assert_string_equal(context.task, "b");
    assert_true(log_has(reader, "launch main: marked as finished; that counts when the tasks have run"));
    lg_reader_close(reader);
    account();
    assert_int_equal(stored().streak, 1);
    lives(LIFE(.options.on_status = status_marks, .options.report_after = 9, .options.repair_after = 9, .in_b = KILL), KILLED, "checking;a;b;");
    account();
    assert_int_equal(stored().unknown, 1);
    lives(LIFE(.options.on_status = status_marks, .options.report_after = 9, .options.repair_after = 9, .after = CRASH), SEGV, "checking;a;b;normal;");
    account();
    assert_int_equal(stored().streak, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LIFE(test_report_thresholds), WITH_LIFE(test_by_hand), WITH_LIFE(test_repaired_by_itself), WITH_LIFE(test_consent),
        WITH_LIFE(test_attempts),          WITH_LIFE(test_probation_climbs), WITH_LIFE(test_protect_hangs),
        WITH_LIFE(test_safe_mode_and_trial),
        WITH_LIFE(test_halted),            WITH_LIFE(test_throttle), WITH_LIFE(test_deescalation),
        WITH_LIFE(test_shadow),            WITH_LIFE(test_kill_switch), WITH_LIFE(test_restart),
        WITH_LIFE(test_custody_and_none),  WITH_LIFE(test_custody_stays_here), WITH_LIFE(test_one_answer_wins), WITH_LIFE(test_every_death), WITH_LIFE(test_mark_before_the_tasks),
    };
    return cmocka_run_group_tests_name("phases", tests, NULL, NULL);
}
