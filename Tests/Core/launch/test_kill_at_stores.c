/* SIGKILL at every store of the launch machine: a scripted sequence of runs is killed at each point
 * that it passes, one after the other. */
#include "scripted_life.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"

/* ---- the life ---- */

#define ASKS .options.auto_repair = 0

static void *skips(void *launch)
{
    await_status(launch, LG_LAUNCH_NEEDS_REPAIR);
    lg_launch_skip(launch);
    return NULL;
}

static void skip_it(lg_launch *launch)
{
    in_thread(skips, launch);
}

static void *refuses(void *launch)
{
    await_status(launch, LG_LAUNCH_NEEDS_REPAIR);
    while (lg_launch_get_status(launch) == LG_LAUNCH_NEEDS_REPAIR) {
        lg_launch_refuse(launch);
        rest(1);
    }
    return NULL;
}

static void refuse_it(lg_launch *launch)
{
    in_thread(refuses, launch);
}

static void announce(lg_launch *launch)
{
    (void)launch;
    lg_will_terminate(life_session);
}

static lg_decision decision;
static bool dies;

static lg_decision decide(const lg_launch_info *info, const lg_report *last, void *user)
{
    (void)info, (void)last, (void)user;
    tell("decide");
    if (dies)
        crash();
    return decision;
}

static void will_protect(lg_launch *launch)
{
    (void)launch;
    decision = LG_DECISION_PROTECT;
}

static void will_hold(lg_launch *launch)
{
    decision = LG_DECISION_HOLD;
    skip_it(launch);
}

static void will_go_on(lg_launch *launch)
{
    (void)launch;
    decision = LG_DECISION_GO_ON;
}

static void will_die(lg_launch *launch)
{
    (void)launch;
    dies = true;
}

static void finish_and_crash(lg_launch *launch)
{
    lg_launch_finished(launch);
    crash();
}

/* Everything that a launch may go through: runs, each with the end that it reaches where no kill
 * interrupts it. */
#define RUNS 31
static struct life script[RUNS];
static int script_ends[RUNS];
static const char *script_stories[RUNS];

static void write_script(void)
{
    unsigned i = 0;
#define NEXT(end, story, ...)        \
    script_ends[i] = end;            \
    script_stories[i] = story;       \
    script[i++] = *LIFE(__VA_ARGS__)
    NEXT(0, "decide;needs-repair;protect a;protect b;repairing;small;checking;a;b;normal;",
         .options.on_decide = decide, .before = will_protect, .after = FINISH);
    NEXT(0, "decide;needs-repair;protect a;protect b;checking;a;b;normal;",
         .options.on_decide = decide, .before = will_hold, .after = FINISH);
    NEXT(SEGV, "decide;",
         .options.on_decide = decide, .before = will_die);
    NEXT(0, "decide;checking;report 1;a;b;normal;",
         .options.on_decide = decide, .before = will_go_on, .after = FINISH);
    NEXT(SEGV, "checking;a;b;normal;",
         .then = finish_and_crash); /* the third good launch: the ladder is at its foot again */
    NEXT(SEGV, "checking;report 0;a;b;",
         .after = CRASH);
    NEXT(SEGV, "checking;report 1;a;b;",
         .in_b = CRASH);
    NEXT(TERMINATED, "needs-repair;report 2;protect a;protect b;repairing;small;",
         .in_small = TERMINATE); /* held, reported, repair interrupted */
    NEXT(SEGV, "needs-repair;protect a;protect b;repairing;small;",
         .in_small = CRASH); /* the repair crashes */
    NEXT(SEGV, "needs-repair;protect a;protect b;repairing;small;needs-repair;repairing;large;checking;a;b;",
         /* the repair fails, the next one works; then a crash on probation */
         .in_small = FAIL, .after = CRASH);
    NEXT(0, "checking;report 1;a;b;normal;",
         .in_large = FAIL, .after = FINISH); /* no rung left: safe mode, finished */
    NEXT(0, "checking;a;b;normal;",
         .after = FINISH); /* the second good launch leads to the trial */
    NEXT(SEGV, "checking;a;b;",
         .after = CRASH); /* the trial fails */
    NEXT(KILLED, "checking;report 2;a;b;",
         .after = KILL); /* unexplained in safe mode */
    NEXT(SEGV, "checking;a;b;",
         .after = CRASH);
    NEXT(SEGV, "checking;report 3;a;b;",
         .after = CRASH);
    NEXT(SEGV, "needs-repair;report 4;give up;",
         .in_give_up = CRASH); /* halted */
    NEXT(0, "needs-repair;report 5;give up;checking;a;b;normal;",
         .after = FINISH); /* give up, try safe */
    NEXT(0, "checking;a;b;normal;",
         .after = FINISH);
    NEXT(0, "checking;a;b;normal;",
         .after = FINISH);
    NEXT(0, "checking;a;b;normal;",
         .after = FINISH);
    NEXT(0, "checking;a;b;normal;",
         .after = FINISH); /* the trial succeeds */
    NEXT(0, "checking;a;needs-repair;protect b;repairing;small;checking;b;normal;",
         .in_a = PROTECT, .after = FINISH); /* the program asks for protection */
    NEXT(SEGV, "checking;a;b;",
         .b_flags = LG_TASK_SUSPECT, .in_b = CRASH);
    NEXT(SEGV, "checking;report 1;a;b;",
         .b_flags = LG_TASK_SUSPECT, .in_b = CRASH);
    NEXT(0, "needs-repair;report 2;protect a;protect b;checking;a;b;normal;",
         ASKS, .before = skip_it, .after = FINISH); /* skipped */
    NEXT(SEGV, "checking;a;b;",
         .after = CRASH);
    NEXT(SEGV, "checking;report 1;",
         .in_report = CRASH);
    NEXT(0, "needs-repair;report 2;protect a;protect b;checking;a;b;normal;",
         ASKS, .before = refuse_it, .after = FINISH); /* both refused: safe mode */
    NEXT(0, "checking;a;b;normal;",
         .then = announce); /* the end is announced */
    NEXT(0, "checking;a;b;normal;",
         .after = STOP);
    assert_int_equal(i, RUNS);
}

/* ---- points ---- */

/* Shared by parent and child. */
static struct shared {
    unsigned passed;  /* the number of points that this child has passed */
    unsigned kill_at; /* 0: never */
    char point[40];   /* the last point */
} *shared;

static bool is_store(const char *point)
{
    return strncmp(point, "ledger: ", 8) == 0 || strncmp(point, "run: ", 5) == 0;
}

static void at_point(const char *point)
{
    if (!is_store(point))
        return;
    /* Only one thread stores at a time: all points are inside the lock of the host or of the
     * launch. */
    shared->passed++;
    snprintf(shared->point, sizeof shared->point, "%s", point);
    if (shared->passed == shared->kill_at)
        kill(getpid(), SIGKILL);
}

static void live_with_points(void *argument)
{
    lg__fault_hook = at_point;
    live(argument);
}

/* The fields of a context that must be the same in two sequences with the same events. */
static void forget_moments(struct lg__ledger_context *context)
{
    context->repair_boottime_ns = 0;
    memset(context->repair_boot_id, 0, sizeof context->repair_boot_id);
    for (uint32_t i = 0; i < LG__RUNGS; i++)
        context->rungs[i].series_wall_ns = context->rungs[i].series_wall_ns ? 1 : 0;
}

static void assert_same(const struct lg__ledger_context *expected, const struct lg__ledger_context *got, const char *what, unsigned run, unsigned point)
{
    struct lg__ledger_context a = *expected, b = *got;
    forget_moments(&a);
    forget_moments(&b);
    for (size_t at = 0; at < sizeof a; at++)
        if (((const uint8_t *)&a)[at] != ((const uint8_t *)&b)[at])
            fail_msg("%s, run %u, killed at point %u (%s): byte %zu of the context is %u instead of %u", what, run, point, shared->point, at,
                     ((const uint8_t *)&b)[at], ((const uint8_t *)&a)[at]);
}

/* Contexts as they were stored in a run that was not killed, at each of its points. */
struct recorded {
    unsigned points;
    struct lg__ledger_context at[160];
    bool has[160];
};
static struct recorded *recorded;

static void record_point(const char *point)
{
    if (!is_store(point))
        return;
    at_point(point);
    unsigned i = shared->passed;
    recorded->points = i;
    if (i >= 160)
        return;
    /* The context in the file, as the next start would read it. */
    struct lg__ledger_payload book;
    recorded->has[i] = read_book(&book) && book.context_count > 0;
    if (recorded->has[i])
        recorded->at[i] = book.contexts[0];
}

static void live_and_record(void *argument)
{
    lg__fault_hook = record_point;
    live(argument);
}

/* The script without a kill, and the points that it passes. */
static void test_script(void **state)
{
    (void)state;
    write_script();
    for (unsigned run = 0; run < RUNS; run++)
        lives(&script[run], script_ends[run], script_stories[run]);
}

static void test_kill_at_every_store(void **state)
{
    (void)state;
    unsigned killed = 0;
    shared = shared_memory(sizeof *shared);
    recorded = shared_memory(sizeof *recorded);
    write_script();
    for (unsigned run = 0; run < RUNS; run++) {
        if (run)
            state_save();
        struct lg__ledger_payload before = { .context_count = 0 };
        if (run)
            before = stored_book();
        /* One sequence to its end. */
        memset(recorded, 0, sizeof *recorded);
        shared->passed = shared->kill_at = 0;
        if (script_ends[run])
            expect_signal(live_and_record, &script[run], script_ends[run]);
        else
            expect_exit(live_and_record, &script[run], 0);
        unsigned points = recorded->points;
        assert_true(points > 8 && points < 160);
        for (unsigned at = 1; at <= points; at++) {
            if (run)
                state_restore();
            else
                state_make();
            shared->passed = 0;
            shared->kill_at = at;
            struct death death = run_child(live_with_points, &script[run]);
            if (death.late || !WIFSIGNALED(death.status) || WTERMSIG(death.status) != SIGKILL || shared->passed != at)
                fail_msg("run %u was not killed at point %u of %u, but at %u: status %#x", run, at, points, shared->passed, (unsigned)death.status);
            killed++;
            struct lg__ledger_payload now;
            if (!read_book(&now)) { /* killed while the first ledger was made: there is none yet */
                assert_int_equal(run, 0);
                assert_false(recorded->has[at]);
                continue;
            }
            assert_int_equal(now.context_count > 0, recorded->has[at]);
            if (!recorded->has[at])
                continue;
            /* The same bytes as in the sequence that was not killed, at the same point, whole. */
            assert_same(&recorded->at[at], &now.contexts[0], "stored", run, at);
            struct lg__ledger_context left = now.contexts[0];
            lg_reader *reader;
            lg_ledger_info info;
            assert_int_equal(lg_reader_open(state_path("ledger.lg"), &reader), LG_OK);
            assert_int_equal(lg_reader_ledger(reader, &info), LG_OK);
            assert_int_equal(info.context_count, now.context_count);
            lg_reader_close(reader);
            /* the ledger has the killed run: the next start accounts for it */
            bool begun = now.last_ordinal != before.last_ordinal;
            /* The next start accounts for the killed run once, as the machine says. */
            bool finished = false;
            char task[LG__NAME_BYTES] = "";
            lg_end end = LG_END_UNKNOWN;
            if (begun) {
                lg_run_context context;
                lg_run_info of_run;
                reader = run_numbered(now.last_ordinal);
                bool has_context = lg_reader_run_context(reader, 0, &context) == LG_OK;
                finished = has_context && context.phase == LG_PHASE_FINISHED;
                snprintf(task, sizeof task, "%s", has_context ? context.task : "");
                assert_int_equal(lg_reader_run(reader, &of_run), LG_OK);
                if (of_run.stop_marked)
                    end = LG_END_CLEAN;
                else if (of_run.end_announced)
                    end = LG_END_TERMINATED;
                lg_reader_close(reader);
            } else {
                lg_verdict verdict;
                reader = run_numbered(now.last_ordinal);
                assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
                end = verdict.end;
                lg_reader_close(reader);
            }
            for (int again = 0; again < 2; again++)
                account();
            struct lg__ledger_payload after = stored_book();
            if (begun) {
                struct lg__last_end last = { .end = end, .finished = finished, .ordinal = now.last_ordinal, .lived_ns = LG__LIVED_UNKNOWN };
                last.early = left.phase == LG_PHASE_NONE && left.flags & LG__CONTEXT_BEGAN;
                last.task = task[0] ? task : NULL;
                left.flags |= left.phase != LG_PHASE_NONE ? LG__CONTEXT_BEGAN : 0;
                lg__ended_account(&left, &last);
                assert_same(&left, &after.contexts[0], "accounted", run, at);
            }
            uint32_t timeline = now.timeline_count + 2 < LG__TIMELINE ? now.timeline_count + 2 : LG__TIMELINE;
            assert_int_equal(after.timeline_count, timeline);
            const struct lg__ledger_run *entry = &after.timeline[timeline - 2];
            assert_int_equal(entry->ordinal, now.last_ordinal);
            assert_int_equal(entry->end, end);
            /* no run twice, none lost: the one before is the one that was the last before */
            if (timeline > 2)
                assert_int_equal(after.timeline[timeline - 3].ordinal, now.timeline[now.timeline_count - 1].ordinal);
            /* The totals never decrease. */
            assert_true(after.contexts[0].launches >= (run ? before.contexts[0].launches : 0));
            assert_true(after.contexts[0].crashes >= (run ? before.contexts[0].crashes : 0));
            assert_true(after.contexts[0].crashes <= (run ? before.contexts[0].crashes : 0) + 1);
            /* From every point of a kill good launches lead back to the normal one. */
            if (at % 8 == run % 8) {
                uint32_t most = after.contexts[0].retry_runs + 2;
                for (uint32_t i = 0; i < most; i++)
                    lives_somehow(LIFE(.after = FINISH), 0);
                assert_int_equal(stored().mode, LG_LAUNCH_MODE_NORMAL);
                assert_int_equal(stored().streak, 0);
            }
        }
        /* Go on with the sequence that was not killed. */
        if (run)
            state_restore();
        else
            state_make();
        shared->kill_at = 0;
        if (script_ends[run])
            expect_signal(live, &script[run], script_ends[run]);
        else
            expect_exit(live, &script[run], 0);
    }
    print_message("killed at %u points\n", killed);
    assert_true(killed > 300);
    account();
    struct lg__ledger_context last = stored();
    /* the refused repairs; the announced end and the stop are not counted */
    assert_int_equal(last.mode, LG_LAUNCH_MODE_SAFE);
    assert_int_equal(last.good_runs, 1);
    assert_int_equal(last.streak, 0);
}

/* ---- everything at once ---- */

static void *marks(void *argument)
{
    lg_launch *launch = argument;
    lg_status (*const calls[])(lg_launch *) = { lg_launch_finished, lg_launch_repair, lg_launch_refuse, lg_launch_skip, lg_launch_repaired, lg_launch_try_safe };
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    for (unsigned i = 0;; i++) {
        calls[i % 6](launch);
        if (i % 7 == 0)
            lg_launch_protect(launch, NULL);
        lg_launch_signal(launch, NULL, "event");
        lg_launch_get_info(launch, &info);
        if (i % 64 == 63)
            lg_heartbeat(life_session);
    }
    return NULL;
}

static _Atomic bool *started; /* shared */

static void mark_from_everywhere(lg_launch *launch)
{
    atomic_store(started, true);
    for (int i = 0; i < 8; i++)
        in_thread(marks, launch);
}

/* Eight threads mark the launch, and the process is killed at any moment. Two starts in a row are
 * not killed, because LaunchGuard would then suspect itself. The ledger stays whole, its totals
 * only grow, and few good launches lead back to the normal one. */
static void test_storm(void **state)
{
    (void)state;
    uint64_t launches = 0, crashes = 0;
    started = shared_memory(sizeof *started);
    for (unsigned round = 0; round < 60; round++) {
        atomic_store(started, false);
        struct life life = *LIFE(.options.hold_ms = 20, .options.window_ms = 10, .options.hold = (lg_hold)(round % 3), .options.on_status = NULL,
                                 .in_small = round % 2 ? FAIL : GO_ON, .before = mark_from_everywhere, .after = round % 4 ? HANG : CRASH);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            plain_signals();
            live(&life);
            _exit(0);
        }
        if (round % 2)
            wait_until(atomic_load(started));
        pass_us(2000 + 700 * (round % 30), "the child is killed at another moment in each round");
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        struct lg__ledger_payload book;
        if (!read_book(&book) || book.context_count == 0)
            continue;
        assert_true(book.contexts[0].launches >= launches && book.contexts[0].launches <= launches + 1);
        assert_true(book.contexts[0].crashes >= crashes && book.contexts[0].crashes <= crashes + 1);
        launches = book.contexts[0].launches;
        crashes = book.contexts[0].crashes;
    }
    assert_true(launches > 0);
    account();
    for (uint32_t i = 0, most = stored().retry_runs + 2; i < most; i++)
        lives_somehow(LIFE(.after = FINISH), 0);
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_NORMAL);
    assert_int_equal(stored().streak, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_LIFE(test_script),
                                        WITH_LIFE(test_kill_at_every_store),
                                        WITH_LIFE(test_storm) };
    return cmocka_run_group_tests_name("kill_at_stores", tests, NULL, NULL);
}
