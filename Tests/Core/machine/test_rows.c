/* Rows of docs/LAUNCH.md that a reader may want to see by name, and the events of the timeline,
 * which the model does not have. test_all_states.c and test_random_lives.c compare the machine with
 * the page in every state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "launch/ended.h"
#include "launchguard/repair.h"
#include "read/context.h"

#define HOUR UINT64_C(3600000000000)

/* the usual ladder: a built-in rung, a gentle repair, a destructive one that needs a restart */
static struct lg__policy policy;
static struct lg__moment now;

static int set_up(void **state)
{
    (void)state;
    policy = (struct lg__policy){ .report_after = 1, .repair_after = 2, .unknown_after = 4, .count = LG_COUNT_DEFAULT, .safe_retry_runs = 2,
                                  .safe_retry_max = 64, .safe_crash_limit = 2, .deescalate_runs = 3, .rung_count = 3,
                                  .rungs = { { .name = "", .attempts = 1, .flags = LG__RUNG_BUILT_IN },
                                             { .name = "cache", .attempts = 1 },
                                             { .name = "everything", .attempts = 1, .flags = LG_REPAIR_DESTRUCTIVE | LG_REPAIR_NEEDS_RESTART } } };
    now = (struct lg__moment){ .boot_id = { 1 }, .boottime_ns = HOUR, .wall_ns = 1000 * HOUR };
    return 0;
}

static void begin(struct lg__ledger_context *context)
{
    lg__decide_begin(context, &policy, &now, NULL);
    if (context->flags & LG__CONTEXT_REPORTING)
        lg__decide_told(context);
    lg__decide_reported(context);
}

static void crash(struct lg__ledger_context *context, const char *task)
{
    const struct lg__last_end last = { .end = LG_END_CRASH, .signal = 11, .ordinal = context->launches, .task = task };
    assert_true(lg__ended_account(context, &last));
}

static struct lg__ledger_context crashed_twice(void)
{
    struct lg__ledger_context context = { .streak = 0 };
    for (int i = 0; i < 2; i++) {
        begin(&context);
        crash(&context, NULL);
    }
    begin(&context);
    return context;
}

/* Two crashes, a gentle repair, a crash on probation, the next repair, a launch that is
 * finished. */
static void test_a_usual_story(void **state)
{
    (void)state;
    struct lg__ledger_context context = crashed_twice();
    assert_int_equal(context.phase, LG_PHASE_HELD);
    assert_int_equal(context.rung, 1); /* nothing to leave out */
    assert_int_equal(context.events, LG_EVENT_REPORTED | LG_EVENT_HELD);
    lg__decide_attempt(&context, &now);
    lg__decide_attempted(&context, true, &now);
    assert_int_equal(context.mode, LG_LAUNCH_MODE_PROBATION);
    assert_int_equal(context.events, LG_EVENT_REPORTED | LG_EVENT_HELD | LG_EVENT_REPAIRED);
    crash(&context, "database");
    assert_string_equal(context.last_task, "database");
    begin(&context);
    assert_int_equal(context.rung, 2);
    lg__decide_attempt(&context, &now);
    lg__decide_attempted(&context, true, &now);
    assert_int_equal(context.phase, LG_PHASE_TERMINATING);
    assert_true(context.events & LG_EVENT_RESTART);
    assert_int_equal(lg__ended_account(&context, &(struct lg__last_end){ .end = LG_END_CRASH, .signal = 11 }), LG__ACCOUNT_LATE);
    begin(&context);
    assert_int_equal(context.events, LG_EVENT_REPORTED);
    lg__decide_finished(&context);
    assert_int_equal(context.mode, LG_LAUNCH_MODE_NORMAL);
    assert_int_equal(context.streak + context.suspect_count, 0);
    static const struct lg__ledger_suspect none[LG__SUSPECTS];
    assert_memory_equal(context.suspects, none, sizeof none);
}

static void test_answers_are_noted(void **state)
{
    (void)state;
    const struct lg__ledger_context held = crashed_twice();
    struct lg__ledger_context context = held;
    lg__decide_skip(&context, &now);
    assert_true(context.events & LG_EVENT_SKIPPED);
    context = held;
    lg__decide_refuse(&context, &now);
    assert_true(context.events & LG_EVENT_REFUSED);
    assert_int_equal(context.rung, 2);
    context = held;
    lg__decide_expired(&context, &now);
    assert_true(context.events & LG_EVENT_EXPIRED && context.events & LG_EVENT_SAFE);
    context = held;
    lg__decide_attempt(&context, &now);
    lg__decide_attempted(&context, false, &now);
    assert_true(context.events & LG_EVENT_REPAIR_FAILED);
    assert_false(context.events & LG_EVENT_REPAIRED);
}

static void test_throttled(void **state)
{
    (void)state;
    struct lg__ledger_context context = crashed_twice();
    context.rungs[2].series_wall_ns = now.wall_ns - 23 * HOUR;
    lg__decide_refuse(&context, &now);
    assert_int_equal(context.mode, LG_LAUNCH_MODE_SAFE);
    assert_true(context.events & LG_EVENT_THROTTLED);
}

static void test_protected(void **state)
{
    (void)state;
    struct lg__ledger_context context = { .streak = 0 };
    begin(&context);
    lg__decide_protect(&context, &now, false);
    assert_int_equal(context.events, LG_EVENT_PROTECTED | LG_EVENT_HELD);
    lg__decide_expired(&context, &now);
    const uint32_t events = context.events;
    context.events = 0;
    lg__decide_protect(&context, &now, false);
    assert_true(events & LG_EVENT_SAFE);
    assert_int_equal(context.events, 0); /* nothing is left to try */
}

static void test_safe_mode(void **state)
{
    (void)state;
    struct lg__ledger_context context = { .mode = LG_LAUNCH_MODE_SAFE };
    for (int i = 0; i < 2; i++) {
        begin(&context);
        for (uint32_t rung = 0; rung < context.rung_count; rung++)
            context.rungs[rung].fate = LG__RUNG_TRIED;
        assert_true(context.events & LG_EVENT_SAFE);
        assert_false(context.events & LG_EVENT_HALTED);
        crash(&context, NULL);
    }
    begin(&context);
    assert_int_equal(context.phase, LG_PHASE_HALTED);
    assert_true(context.events & LG_EVENT_HALTED && context.events & LG_EVENT_SAFE);
    lg__decide_try_safe(&context);
    lg__decide_finished(&context);
    lg__ended_account(&context, &(struct lg__last_end){ .end = LG_END_CLEAN });
    begin(&context);
    lg__decide_finished(&context);
    lg__ended_account(&context, &(struct lg__last_end){ .end = LG_END_CLEAN });
    begin(&context);
    assert_int_equal(context.events, LG_EVENT_TRIAL);
}

/* Values that a newer version may have stored: they have no row, and no effect. */
/* The events that the answers of on_decide add. */
static void test_decisions(void **state)
{
    (void)state;
    static const struct { lg_decision decision; uint32_t events; lg_phase phase; } ways[] = {
        { LG_DECISION_BY_RULE, LG_EVENT_HELD, LG_PHASE_HELD },
        { LG_DECISION_GO_ON, LG_EVENT_DECIDED, LG_PHASE_LAUNCHING },
        { LG_DECISION_PROTECT, LG_EVENT_DECIDED | LG_EVENT_HELD, LG_PHASE_HELD },
        { LG_DECISION_HOLD, LG_EVENT_DECIDED | LG_EVENT_HELD, LG_PHASE_HELD },
    };
    struct lg__policy asks = policy;
    asks.asks = true;
    asks.window_ms = 70;
    asks.finish = LG_FINISH_BOTH;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct lg__ledger_context context = { .streak = 2, .reported = 2, .reason = "of the launch before" }, rule;
        lg__decide_begin(&context, &asks, &now, &rule);
        assert_int_equal(context.phase, LG_PHASE_LAUNCHING);
        assert_int_equal(context.flags, LG__CONTEXT_ASKING);
        assert_string_equal(context.reason, "");
        assert_int_equal(context.window_ms, 70);
        assert_int_equal(context.finish, LG_FINISH_BOTH);
        assert_int_equal(rule.phase, LG_PHASE_HELD);
        assert_int_equal(rule.events, LG_EVENT_HELD);
        lg__decide_course(&context, ways[i].decision, &(struct lg__hinted){ LG_HINT_WITHDRAWN, 0, 0 }, &now);
        assert_int_equal(context.phase, ways[i].phase);
        assert_int_equal(context.events, ways[i].events);
        assert_int_equal(context.streak, 2);
    }
    /* in safe mode and in a trial */
    struct lg__ledger_context context = { .mode = LG_LAUNCH_MODE_SAFE };
    asks.asks = false;
    asks.decision = LG_DECISION_GO_ON;
    lg__decide_begin(&context, &asks, &now, NULL);
    assert_int_equal(context.events, LG_EVENT_DECIDED | LG_EVENT_SAFE);
    context = (struct lg__ledger_context){ .mode = LG_LAUNCH_MODE_TRIAL };
    lg__decide_begin(&context, &asks, &now, NULL);
    assert_int_equal(context.events, LG_EVENT_DECIDED | LG_EVENT_TRIAL);
    /* held with nothing to try, and the program asks for it all the same */
    context = (struct lg__ledger_context){ .streak = 0 };
    asks.decision = LG_DECISION_HOLD;
    asks.rung_count = 1;
    lg__decide_begin(&context, &asks, &now, NULL);
    assert_int_equal(context.phase, LG_PHASE_HELD);
    assert_int_equal(context.rung, 1);
    lg__decide_attempt(&context, &now);
    assert_int_equal(context.phase, LG_PHASE_LAUNCHING);
    assert_int_equal(context.mode, LG_LAUNCH_MODE_SAFE);
    assert_int_equal(context.events, LG_EVENT_DECIDED | LG_EVENT_HELD | LG_EVENT_SAFE);
}

/* A20: a SIGTERM between two crashes leaves the streak as it is. */
static void test_terminated_in_between(void **state)
{
    (void)state;
    struct lg__ledger_context context = { .streak = 0 };
    begin(&context);
    crash(&context, NULL);
    begin(&context);
    assert_int_equal(lg__ended_account(&context, &(struct lg__last_end){ .end = LG_END_TERMINATED, .signal = 15 }), LG__ACCOUNT_NOTHING);
    assert_int_equal(context.streak, 1);
    begin(&context);
    crash(&context, NULL);
    assert_int_equal(context.streak, 2);
}

static void test_phases_without_a_row(void **state)
{
    (void)state;
    for (uint32_t phase = LG_PHASE_TERMINATING + 1; phase < 20; phase++) {
        struct lg__ledger_context context = { .phase = phase };
        assert_int_equal(lg__reader_context_status(lg__reader_context_state(context.phase)), LG_LAUNCH_NORMAL);
        assert_false(lg__ended_account(&context, &(struct lg__last_end){ .end = LG_END_CRASH, .signal = 11 }));
        assert_int_equal(context.phase, LG_PHASE_NONE);
        assert_int_equal(context.streak, 0);
    }
}

/* A rung number past the end of the ladder, as a ledger may hold it, and a launch without a
 * ladder. */
static void test_no_rung(void **state)
{
    (void)state;
    struct lg__ledger_context context = { .phase = LG_PHASE_REPAIRING, .rung = 3, .rung_count = 3, .attempts = 1 };
    context.rungs[3].series_wall_ns = 7;
    assert_false(lg__ended_account(&context, &(struct lg__last_end){ .end = LG_END_DEBUGGER }));
    assert_int_equal(context.attempts, 0);
    assert_int_equal(context.rungs[3].series_wall_ns, 7);
    context = (struct lg__ledger_context){ .phase = LG_PHASE_LAUNCHING, .mode = LG_LAUNCH_MODE_PROBATION };
    lg__decide_finished(&context);
    assert_int_equal(context.rung, 0);
}

static void crash_of_a_launch(struct lg__ledger_context *context, const char *task)
{
    context->phase = LG_PHASE_LAUNCHING;
    context->count = LG_COUNT_DEFAULT;
    crash(context, task);
}

static void test_nine_suspects(void **state)
{
    (void)state;
    static const char *const tasks[] = { "0", "1", "2", "3", "4", "5", "6", "7", "0", "3" };
    struct lg__ledger_context context = { .streak = 0 };
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++)
        crash_of_a_launch(&context, tasks[i]);
    context.suspects[1].left_out = 1;
    crash_of_a_launch(&context, "8");
    assert_int_equal(context.suspect_count, LG__SUSPECTS);
    static const struct lg__ledger_suspect ninth = { .key = "8", .crashes = 1 };
    /* the first of the suspects with one crash was replaced */
    assert_memory_equal(&context.suspects[1], &ninth, sizeof ninth);
    assert_int_equal(context.suspects[0].crashes, 2);
    assert_int_equal(context.suspects[3].crashes, 2);
    /* all of them, and none after the last one */
    context.suspects[0].left_out = context.suspects[7].left_out = 1;
    begin(&context);
    assert_int_equal(context.suspects[0].left_out + context.suspects[7].left_out, 0);
    lg__decide_finished(&context);
    assert_int_equal(context.suspect_count, 0);
}

static void test_a_key_that_is_too_long(void **state)
{
    (void)state;
    char key[LG__NAME_BYTES + 8];
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = 0;
    struct lg__ledger_context context = { .streak = 0 };
    crash_of_a_launch(&context, key);
    assert_int_equal(strlen(context.last_task), LG__NAME_BYTES - 1);
    assert_int_equal(strlen(context.suspects[0].key), LG__NAME_BYTES - 1);
}

static void test_reset_keeps_the_name(void **state)
{
    (void)state;
    struct lg__ledger_context context = crashed_twice();
    strcpy(context.name, "player");
    context.reported_ordinal = 7;
    lg__decide_reset(&context);
    const struct lg__ledger_context fresh = { .name = "player", .launches = 3, .crashes = 2, .reported_ordinal = 7, .count = LG_COUNT_DEFAULT };
    assert_memory_equal(&context, &fresh, sizeof fresh);
}

/* A new version that dies before its first begin is counted too. */
static void test_early_after_an_upgrade(void **state)
{
    (void)state;
    struct lg__ledger_context context = { .streak = 0 };
    begin(&context);
    context.flags |= LG__CONTEXT_BEGAN;
    lg__ended_upgrade(&context, &(struct lg__last_end){ .end = LG_END_CLEAN });
    const struct lg__last_end early = { .end = LG_END_CRASH, .signal = 11, .early = true };
    assert_int_equal(lg__ended_account(&context, &early), LG__ACCOUNT_COUNTS);
    assert_int_equal(context.streak, 1);
}

/* A power cut at each dialogue: a hold is not for ever. */
static void test_power_cuts_while_held(void **state)
{
    (void)state;
    struct lg__ledger_context context = crashed_twice();
    for (unsigned i = 0; i < LG__SKIPS_MAX + 1; i++) {
        assert_int_equal(context.phase, LG_PHASE_HELD);
        lg__ended_account(&context, &(struct lg__last_end){ .end = LG_END_REBOOT });
        begin(&context);
    }
    assert_int_equal(context.mode, LG_LAUNCH_MODE_SAFE);
}

/* Without a limit nothing halts, and what was not tried is offered all the same. */
static void test_safe_mode_without_a_limit(void **state)
{
    (void)state;
    policy.safe_crash_limit = 0;
    struct lg__ledger_context context = crashed_twice();
    lg__decide_expired(&context, &now);
    for (unsigned i = 0; i < LG__SAFE_CRASHES_ENOUGH; i++) {
        assert_int_equal(context.mode, LG_LAUNCH_MODE_SAFE);
        crash(&context, NULL);
        begin(&context);
    }
    assert_int_equal(context.phase, LG_PHASE_HELD);
}

/* The built-in rung may be tried again after a launch in which every task ran. */
static void test_a_whole_launch_forgets_the_built_in_rung(void **state)
{
    (void)state;
    policy.skippable = true;
    struct lg__ledger_context context = { .streak = 0 };
    for (int i = 0; i < 2; i++) {
        begin(&context);
        crash(&context, "maps");
    }
    begin(&context);
    assert_int_equal(context.rung, 0);
    lg__decide_attempt(&context, &now);
    lg__decide_attempted(&context, true, &now);
    context.suspects[0].left_out = 1;
    lg__ended_account(&context, &(struct lg__last_end){ .end = LG_END_CLEAN }); /* the user quits */
    begin(&context);
    assert_int_equal(context.mode, LG_LAUNCH_MODE_PROBATION);
    lg__decide_finished(&context);
    assert_int_equal(context.rungs[0].fate, LG__RUNG_UNTRIED);
}

/* V1 to V5. */
static void hinted(lg_hint_kind kind, uint32_t serial, uint32_t rung)
{
    policy.hint = (struct lg__hinted){ kind, serial, rung };
}

static void end(struct lg__ledger_context *context, lg_end how)
{
    const struct lg__last_end last = { .end = how, .lived_ns = LG__LIVED_UNKNOWN };
    lg__ended_account(context, &last);
}

static void test_a_hint_spares_a_repair(void **state)
{
    (void)state;
    struct lg__ledger_context context = crashed_twice();
    assert_int_equal(context.phase, LG_PHASE_HELD);
    end(&context, LG_END_CLEAN);
    hinted(LG_HINT_LEAVE_OUT, 1, 0);
    begin(&context);
    assert_int_equal(context.phase, LG_PHASE_LAUNCHING);
    assert_int_equal(context.streak, 2);
    lg__decide_finished(&context);
    assert_int_equal(context.streak + context.ends, 0);
}

static void test_the_repair_of_a_hint(void **state)
{
    (void)state;
    struct lg__ledger_context context = { .streak = 0 };
    hinted(LG_HINT_REPAIR, 7, 2);
    begin(&context);
    assert_int_equal(context.phase, LG_PHASE_HELD);
    assert_int_equal(context.rung, 2);
    assert_int_equal(context.events, LG_EVENT_HELD | LG_EVENT_HINT_REPAIR);
    assert_int_equal(context.hint_serial, 7);
    lg__decide_attempt(&context, &now);
    lg__decide_attempted(&context, false, &now);
    assert_int_equal(context.phase, LG_PHASE_LAUNCHING);
    assert_int_equal(context.rung + context.attempts, 0);
    lg__decide_finished(&context);
    end(&context, LG_END_CLEAN);
    begin(&context); /* once */
    assert_int_equal(context.phase, LG_PHASE_LAUNCHING);
    assert_int_equal(context.events, 0);
    lg__decide_finished(&context);
    end(&context, LG_END_CLEAN);
    hinted(LG_HINT_REPAIR, 8, 2); /* destructive, and tried today */
    begin(&context);
    assert_int_equal(context.phase, LG_PHASE_LAUNCHING);
    assert_int_equal(context.events, LG_EVENT_THROTTLED);
    assert_int_equal(context.hint_serial, 7);
    lg__decide_finished(&context);
    end(&context, LG_END_CLEAN);
    hinted(LG_HINT_REPAIR, 3, 1); /* of another key */
    begin(&context);
    assert_int_equal(context.phase, LG_PHASE_HELD);
    assert_int_equal(context.hint_serial, 3);
}

static void test_the_safe_mode_of_a_hint(void **state)
{
    (void)state;
    struct lg__ledger_context context = { .streak = 0 };
    hinted(LG_HINT_SAFE_MODE, 1, 0);
    for (int i = 0; i < 5; i++) {
        begin(&context);
        assert_int_equal(context.mode, LG_LAUNCH_MODE_SAFE);
        assert_int_equal(context.events, LG_EVENT_SAFE | LG_EVENT_HINT_SAFE_MODE);
        lg__decide_finished(&context);
        end(&context, LG_END_CLEAN);
    }
    hinted(LG_HINT_WITHDRAWN, 0, 0);
    begin(&context);
    assert_int_equal(context.mode, LG_LAUNCH_MODE_TRIAL);
    assert_int_equal(context.events, LG_EVENT_TRIAL);
    lg__decide_finished(&context);
    assert_int_equal(context.mode, LG_LAUNCH_MODE_NORMAL);
}

static void test_the_hold_of_a_hint(void **state)
{
    (void)state;
    struct lg__ledger_context context = { .streak = 0 };
    hinted(LG_HINT_HOLD_BELOW, 1, 0);
    for (int i = 0; i < 5; i++) {
        begin(&context);
        assert_int_equal(context.phase, LG_PHASE_HELD);
        assert_int_equal(context.events, LG_EVENT_HELD | LG_EVENT_HINT_HOLD_BELOW);
        lg__decide_terminating(&context);
        assert_int_equal(context.skips, 0);
        end(&context, LG_END_CLEAN);
    }
    begin(&context);
    lg__decide_refuse(&context, &now);
    assert_int_equal(context.phase, LG_PHASE_LAUNCHING);
    assert_int_equal(context.rungs[0].fate, LG__RUNG_UNTRIED);
    for (int i = 0; i < 2; i++) {
        context.phase = LG_PHASE_NONE;
        begin(&context);
        assert_int_equal(context.phase, LG_PHASE_HELD);
        crash(&context, NULL);
    }
    begin(&context); /* two deaths in the hold */
    assert_int_equal(context.phase, LG_PHASE_LAUNCHING);
    assert_int_equal(context.events, LG_EVENT_REPORTED | LG_EVENT_SAFE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_hint_spares_a_repair, set_up), cmocka_unit_test_setup(test_the_repair_of_a_hint, set_up),
        cmocka_unit_test_setup(test_the_safe_mode_of_a_hint, set_up), cmocka_unit_test_setup(test_the_hold_of_a_hint, set_up),
        cmocka_unit_test_setup(test_a_usual_story, set_up),        cmocka_unit_test_setup(test_answers_are_noted, set_up), cmocka_unit_test_setup(test_throttled, set_up),
        cmocka_unit_test_setup(test_protected, set_up),            cmocka_unit_test_setup(test_safe_mode, set_up),         cmocka_unit_test_setup(test_phases_without_a_row, set_up),
        cmocka_unit_test_setup(test_nine_suspects, set_up),        cmocka_unit_test_setup(test_a_key_that_is_too_long, set_up),
        cmocka_unit_test_setup(test_reset_keeps_the_name, set_up), cmocka_unit_test_setup(test_no_rung, set_up),
        cmocka_unit_test_setup(test_decisions, set_up),            cmocka_unit_test_setup(test_terminated_in_between, set_up),
        cmocka_unit_test_setup(test_early_after_an_upgrade, set_up), cmocka_unit_test_setup(test_power_cuts_while_held, set_up),
        cmocka_unit_test_setup(test_safe_mode_without_a_limit, set_up), cmocka_unit_test_setup(test_a_whole_launch_forgets_the_built_in_rung, set_up),
    };
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
