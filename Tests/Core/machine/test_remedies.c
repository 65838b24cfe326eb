/* No loop is for ever: whatever the user, the dialogue and the callbacks did before, a program that
 * some remedy helps lives again within eight starts of the first one that lets remedies run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "launch/ended.h"
#include "launchguard/repair.h"
#include "store/given.h"

#define HOUR UINT64_C(3600000000000)
#define STARTS_MOST 8u
#define SAFE_MODE 3u /* as a remedy, after the rungs 0 to 2 */

static struct lg__policy policy;
static struct lg__moment now;
static struct lg__ledger_context context;
static unsigned starts;
/* of the bug */
static unsigned cure;
static bool spares_safe_mode;

static void start(void)
{
    starts++;
    lg__decide_begin(&context, &policy, &now, NULL);
    if (context.flags & LG__CONTEXT_REPORTING)
        lg__decide_told(&context);
    lg__decide_reported(&context);
}

static void end_by(lg_end end)
{
    lg__ended_account(&context, &(struct lg__last_end){ .end = end, .signal = 11, .ordinal = starts });
}

/* The launch runs its tasks: it is finished, or crashes. Returns whether it is cured. */
static bool launch(bool repaired)
{
    const bool safe = context.mode == LG_LAUNCH_MODE_SAFE;
    /* safe mode leaves suspect tasks out, as rung 0 does */
    const bool cured = (repaired && context.rung == cure) || (safe && (cure == SAFE_MODE || cure == 0));
    if (cured || (safe && spares_safe_mode)) {
        lg__decide_finished(&context);
        end_by(LG_END_CLEAN);
    } else {
        end_by(LG_END_CRASH);
    }
    return cured;
}

/* A start in which each repair runs when it is its turn. */
static bool start_and_repair(void)
{
    bool repaired = false;
    start();
    while (context.phase == LG_PHASE_HELD) {
        lg__decide_attempt(&context, &now);
        if (context.phase != LG_PHASE_REPAIRING)
            break;
        lg__decide_attempted(&context, true, &now);
        repaired = true;
        if (context.phase == LG_PHASE_TERMINATING) { /* the repair needs a restart */
            end_by(LG_END_CLEAN);
            start();
        }
    }
    if (context.phase == LG_PHASE_HALTED)
        lg__decide_try_safe(&context);
    return launch(repaired);
}

static void crash_until_held(void)
{
    for (start(); context.phase == LG_PHASE_LAUNCHING; start())
        launch(false);
    assert_int_equal(context.phase, LG_PHASE_HELD);
}

/* ---- What happened before ---- */

static void nothing(void) {}

static void nobody_answers(void)
{
    crash_until_held();
    lg__decide_expired(&context, &now);
    launch(false);
}

static void is_refused(void)
{
    crash_until_held();
    while (context.phase == LG_PHASE_HELD)
        lg__decide_refuse(&context, &now);
    launch(false);
}

static void not_now(void)
{
    for (unsigned i = 0; i < 3; i++) {
        crash_until_held();
        lg__decide_skip(&context, &now);
        launch(false);
    }
}

static void dies_while_held(lg_end end)
{
    crash_until_held();
    for (unsigned i = 0; i < 2; i++) {
        end_by(end);
        start();
    }
    assert_int_equal(context.mode, LG_LAUNCH_MODE_SAFE);
    launch(false);
}

static void is_killed_while_held(void) { dies_while_held(LG_END_KILLED); }
static void crashes_while_held(void) { dies_while_held(LG_END_CRASH); }

/* A repair seemed to help. The same bug, or another one, comes back. */
static void helped_once(void)
{
    crash_until_held();
    lg__decide_attempt(&context, &now);
    lg__decide_attempted(&context, true, &now);
    lg__decide_finished(&context);
    end_by(LG_END_CLEAN);
}

static void reports_crash(void)
{
    for (unsigned i = 0; i < 4; i++) {
        lg__decide_begin(&context, &policy, &now, NULL);
        if (context.flags & LG__CONTEXT_REPORTING)
            lg__decide_told(&context);
        if (context.phase != LG_PHASE_HELD && context.phase != LG_PHASE_LAUNCHING)
            break;
        end_by(LG_END_CRASH);
    }
}

/* The last series of the destructive repair began 23 hours ago; then time passes. */
static void is_throttled(void)
{
    crash_until_held();
    context.rungs[2].series_wall_ns = now.wall_ns - 23 * HOUR;
    for (unsigned i = 0; i < 6 && context.mode != LG_LAUNCH_MODE_SAFE; i++) {
        lg__decide_expired(&context, &now);
        launch(false);
        start_and_repair();
    }
    now.wall_ns += 2 * HOUR;
}

static const struct {
    const char *name;
    void (*happens)(void);
} before[] = {
    { "nothing", nothing }, { "nobody answers", nobody_answers }, { "every repair is refused", is_refused }, { "not now, three times", not_now },
    { "killed twice while held", is_killed_while_held }, { "crashed twice while held", crashes_while_held }, { "a repair helped once", helped_once },
    { "on_report crashes", reports_crash }, { "throttled", is_throttled },
};

static void prepare(void)
{
    policy = (struct lg__policy){ .report_after = 1, .repair_after = 2, .unknown_after = 4, .count = LG_COUNT_DEFAULT, .safe_retry_runs = 2,
                                  .safe_retry_max = LG__GIVEN_RETRY_RUNS_MAX, .safe_crash_limit = 2, .deescalate_runs = 3, .skippable = true, .rung_count = 3,
                                  .rungs = { { .name = "", .attempts = 1, .flags = LG__RUNG_BUILT_IN },
                                             { .name = "cache", .attempts = 1 },
                                             { .name = "everything", .attempts = 1, .flags = LG_REPAIR_DESTRUCTIVE | LG_REPAIR_NEEDS_RESTART } } };
    now = (struct lg__moment){ .boot_id = { 1 }, .boottime_ns = HOUR, .wall_ns = 1000 * HOUR };
    context = (struct lg__ledger_context){ .streak = 0 };
}

static void test_every_remedy_is_reached(void **state)
{
    (void)state;
    unsigned most = 0;
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        for (cure = 0; cure <= SAFE_MODE; cure++)
            for (int safe = 0; safe < 2; safe++) {
                spares_safe_mode = safe;
                prepare();
                before[i].happens();
                starts = 0;
                bool cured = false;
                while (!cured && starts < 40)
                    cured = start_and_repair();
                most = starts > most ? starts : most;
                if (!cured || starts > STARTS_MOST)
                    fail_msg("%s; remedy %u; %s in safe mode: %u starts%s", before[i].name, cure, safe ? "lives" : "crashes", starts, cured ? "" : ", in vain");
            }
    printf("cured within %u starts\n", most);
}

/* A repair that helped is forgotten as tried: the next trouble may use it again. */
static void test_a_good_launch_forgets(void **state)
{
    (void)state;
    prepare();
    policy.skippable = false;
    helped_once();
    for (uint32_t i = 0; i < context.rung_count; i++)
        assert_int_equal(context.rungs[i].fate, LG__RUNG_UNTRIED);
}

/* Mild before destructive, also where the ladder is up from an earlier trouble. */
static void test_mild_before_destructive(void **state)
{
    (void)state;
    prepare();
    policy.skippable = false;
    cure = SAFE_MODE + 1; /* nothing helps */
    helped_once(); /* rung 1: the ladder stands at rung 2 */
    assert_int_equal(context.rung, 2);
    crash_until_held();
    assert_int_equal(context.rung, 1);
}

/* After a repair for unexplained ends one more of them is enough. A destructive repair then needs
 * consent. */
static void one_more_of_the_same(uint32_t consent)
{
    prepare();
    policy.skippable = false;
    policy.rungs[2].flags |= consent;
    for (unsigned i = 0; i < policy.unknown_after; i++) {
        start();
        end_by(LG_END_KILLED);
    }
    start();
    assert_int_equal(context.phase, LG_PHASE_HELD);
    lg__decide_attempt(&context, &now);
    lg__decide_attempted(&context, true, &now);
    end_by(LG_END_KILLED);
    start();
    assert_int_equal(context.phase, consent ? LG_PHASE_HELD : LG_PHASE_LAUNCHING);
    assert_int_equal(context.mode, consent ? LG_LAUNCH_MODE_NORMAL : LG_LAUNCH_MODE_SAFE);
    assert_int_equal(context.rung, consent ? 2 : 0);
}

static void test_one_more_of_the_same(void **state)
{
    (void)state;
    one_more_of_the_same(LG_REPAIR_CONSENT);
    one_more_of_the_same(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_remedy_is_reached), cmocka_unit_test(test_a_good_launch_forgets), cmocka_unit_test(test_mild_before_destructive),
        cmocka_unit_test(test_one_more_of_the_same),
    };
    return cmocka_run_group_tests_name("remedies", tests, NULL, NULL);
}
