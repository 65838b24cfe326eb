/* The time that counts: neither the time in which a program was stopped nor the time of a hold; and
 * a heart without beats is no life. */
#include "scripted_life.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/internal.h"

#define MS UINT64_C(1000000)

static lg_run_context of_run(void)
{
    lg_run_context context;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_run_context(reader, 0, &context), LG_OK);
    lg_reader_close(reader);
    return context;
}

static uint64_t hang_mark(void)
{
    lg_run_info run;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    lg_reader_close(reader);
    return run.hang_ns;
}

/* ---- stopped ---- */

/* Stop this process from outside for a second, again and again. */
static void is_stopped(lg_launch *launch)
{
    pid_t self = getpid();
    pid_t helper = fork();
    if (helper == 0) {
        for (int i = 0; i < 3; i++) {
            usleep(30000);
            kill(self, SIGSTOP);
            usleep(700000);
            kill(self, SIGCONT);
        }
        _exit(0);
    }
    uint64_t begun = now_ns(), stopped = 0, last = begun;
    while (lg_launch_get_status(launch) == LG_LAUNCH_CHECKING) {
        uint64_t now = now_ns();
        if (now - last > 500 * MS)
            stopped += now - last;
        last = now;
        usleep(1000);
    }
    const uint64_t lived = now_ns() - begun - stopped;
    await_last_line("normal"); /* a thread of its own says so */
    if (lived < 200 * MS) /* each stop is worth one slice, of 25 ms, at most */
        tell("finished after %u ms of life, stopped for %u", (unsigned)(lived / MS), (unsigned)(stopped / MS));
    waitpid(helper, NULL, 0);
}

static void test_stopped(void **state)
{
    (void)state;
    lives(LIFE(.options.finish = LG_FINISH_TIME, .options.window_ms = 400, .then = is_stopped), 0, HEALTHY "normal;");
}

/* ---- held ---- */

static void *repairs_late(void *launch)
{
    await_status(launch, LG_LAUNCH_NEEDS_REPAIR);
    usleep(400000);
    lg_launch_repair(launch);
    return NULL;
}

static void repair_late(lg_launch *launch)
{
    in_thread(repairs_late, launch);
}

static void awaits_finish(lg_launch *launch)
{
    (void)launch;
    await_last_line("normal");
}

static void marks_and_waits(lg_launch *launch)
{
    tell("%s", lg_status_name(lg_launch_finished(launch)));
    tell("%s", lg_launch_status_name(lg_launch_get_status(launch)));
    await_last_line("normal");
    tell("%s", lg_status_name(lg_launch_finished(launch)));
}

static void test_held(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives_somehow(LIFE(.after = CRASH), SEGV);
    state_save();
    /* The report and the wait for consent: the window begins after them. */
    lives(LIFE(.options.finish = LG_FINISH_TIME, .options.window_ms = 200, .options.auto_repair = 0, .options.report_wait_ms = 300, .in_report = SILENT,
               .before = repair_late, .then = awaits_finish),
          0, "needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;normal;");
    lg_run_context context = of_run();
    assert_true(context.launching_ns - context.begun_ns >= 400 * MS);
    assert_true(context.finished_ns - context.launching_ns >= 190 * MS);
    /* A launch that is held long beyond its window, and killed: it has not survived the window. */
    state_restore();
    lives_somehow(LIFE(.options.window_ms = 20, .options.auto_repair = 0, .options.hold_ms = 300, .in_a = KILL), KILLED);
    context = of_run();
    assert_int_equal(context.finished_ns, 0);
    /* Protection in the middle of a launch: the time of that hold does not count either. */
    state_restore();
    lives_somehow(LIFE(.after = FINISH), 0);
    lives(LIFE(.options.finish = LG_FINISH_TIME, .options.window_ms = 200, .small_flags = LG_REPAIR_CONSENT, .large_flags = LG_REPAIR_CONSENT,
               .in_a = PROTECT, .before = repair_late, .then = awaits_finish),
          0, "checking;a;needs-repair;protect b;repairing;large;checking;b;normal;");
    context = of_run();
    assert_true(context.finished_ns - context.begun_ns >= 400 * MS + 150 * MS);
    /* The window does not pass during that hold either: a mark right after it has to wait for the
     * window. */
    state_restore();
    lives_somehow(LIFE(.after = FINISH), 0);
    lives(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 300, .small_flags = LG_REPAIR_CONSENT, .large_flags = LG_REPAIR_CONSENT,
               .in_a = PROTECT, .before = repair_late, .then = marks_and_waits),
          0, "checking;a;needs-repair;protect b;repairing;large;checking;b;ok;checking;normal;ok;");
    context = of_run();
    assert_true(context.finished_ns - context.launching_ns >= 290 * MS);
}

/* The program asked for protection: neither the time before nor a mark from before proves anything
 * about the time after the repair. */
static void protects_late(lg_launch *launch)
{
    usleep(350000);
    lg_launch_protect(launch, "late");
    await_last_line("normal");
}

static void protects_after_window(lg_launch *launch)
{
    usleep(400000);
    lg_launch_protect(launch, "later");
    lg_launch_wait(launch, UINT32_MAX);
    tell("%s", lg_status_name(lg_launch_finished(launch)));
    tell("%s", lg_launch_status_name(lg_launch_get_status(launch)));
    await_last_line("normal");
}

static void protects_after_mark(lg_launch *launch)
{
    lg_launch_finished(launch);
    lg_launch_protect(launch, "marked too early");
    lg_launch_wait(launch, UINT32_MAX);
    usleep(600000);
    tell("%s", lg_launch_status_name(lg_launch_get_status(launch)));
}

static void test_protected(void **state)
{
    (void)state;
    lives_somehow(LIFE(.options.finish = LG_FINISH_TIME, .options.window_ms = 400, .then = protects_late), 0);
    lg_run_context context = of_run();
    assert_true(context.finished_ns - context.launching_ns >= 390 * MS);
    lives_somehow(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 300, .then = protects_after_window), 0);
    assert_non_null(strstr(story, "ok;checking;"));
    context = of_run();
    assert_true(context.finished_ns - context.launching_ns >= 290 * MS);
    lives_somehow(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 300, .then = protects_after_mark), 0);
    assert_int_equal(of_run().finished_ns, 0);
}

/* ---- what finishes it ---- */

/* On a busy machine the time of a window is counted slowly. */
static void waits_and_marks(lg_launch *launch)
{
    usleep(400000);
    for (int i = 0; i < 20000 && launch->options.finish != LG_FINISH_MARK && !lg__window_has_passed(launch); i++)
        usleep(1000);
    tell("%s", lg_launch_status_name(lg_launch_get_status(launch)));
    tell("%s", lg_status_name(lg_launch_finished(launch)));
}

static void test_finish(void **state)
{
    (void)state;
    lives(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 300, .then = marks_and_waits), 0, HEALTHY "ok;checking;normal;ok;");
    lives(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 50, .then = waits_and_marks), 0, HEALTHY "checking;normal;ok;");
    lives(LIFE(.options.finish = LG_FINISH_MARK, .options.window_ms = 50, .then = waits_and_marks), 0, HEALTHY "checking;normal;ok;");
    lives(LIFE(.options.finish = LG_FINISH_TIME, .options.window_ms = 300, .then = marks_and_waits), 0, HEALTHY "ok;checking;normal;ok;");
    lives(LIFE(.options.finish = LG_FINISH_EITHER, .options.window_ms = 60000, .then = marks_and_waits), 0, HEALTHY "normal;ok;normal;ok;");
    lives(LIFE(.options.finish = LG_FINISH_EITHER, .options.window_ms = 50, .then = awaits_finish, .after = CRASH), SEGV, HEALTHY "normal;");
    account();
    assert_int_equal(stored().streak, 0);
    /* With both, a mark alone is not enough. */
    lives(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 60000, .after = FINISH), 0, "checking;report 0;a;b;");
    lives(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 60000, .then = NULL, .in_b = CRASH), SEGV, HEALTHY);
    assert_int_equal(of_run().marked, 0);
    account();
    assert_int_equal(stored().streak, 1);
}

/* ---- the heart ---- */

static void lives_without_heartbeat(lg_launch *launch)
{
    for (int i = 0; i < 2000 && !hang_mark(); i++)
        usleep(1000);
    usleep(300000);
    tell("%s", lg_launch_status_name(lg_launch_get_status(launch)));
}

static void heart_beats_again(lg_launch *launch)
{
    lives_without_heartbeat(launch);
    while (lg_launch_get_status(launch) != LG_LAUNCH_NORMAL) {
        lg_heartbeat(life_session);
        usleep(2000);
    }
    usleep(20000);
    tell(hang_mark() ? "hangs" : "lives");
}

static void marks_after_hang(lg_launch *launch)
{
    lives_without_heartbeat(launch);
    if (lg_launch_finished(launch) != LG_OK)
        tell("not finished");
}

/* Another launch, which needs fewer heartbeats, does not take the mark back. */
static void hangs_beside_another(lg_launch *launch)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *other;
    (void)launch;
    options.heartbeat_ms = 60000;
    if (lg_launch_prepare(life_session, "other", &options, &other) != LG_OK || lg_launch_begin(other) != LG_OK)
        _exit(90);
    while (!hang_mark())
        usleep(1000);
    unsigned lost = 0;
    for (int i = 0; i < 1000; i++, usleep(1000))
        lost += hang_mark() == 0;
    tell("%u", lost);
}

static void test_heartbeat(void **state)
{
    (void)state;
    lives(LIFE(.options.heartbeat_ms = 800, .then = hangs_beside_another, .after = KILL), KILLED, HEALTHY "0;");
    life_make(NULL);
#define HEART .options.heartbeat_ms = 100, .options.window_ms = 150
    lives(LIFE(HEART, .then = lives_without_heartbeat, .after = KILL), KILLED, HEALTHY "checking;");
    assert_true(hang_mark() > 0);
    lives(LIFE(HEART, .then = heart_beats_again, .after = KILL), KILLED, "checking;report 1;a;b;checking;normal;lives;");
    assert_int_equal(last_of_timeline().verdict.end, LG_END_HANG);
    assert_int_equal(hang_mark(), 0);
    account();
    assert_int_equal(stored().streak, 0);
    /* The program's own mark needs no heartbeat. */
    lives(LIFE(HEART, .then = marks_after_hang, .after = KILL), KILLED, HEALTHY "checking;normal;");
    account();
    assert_int_equal(last_of_timeline().verdict.end, LG_END_UNKNOWN);
    assert_int_equal(stored().streak, 0);
    /* Hangs are counted also where only a mark finishes the launch, and are not counted where they
     * should not be. */
    lives(LIFE(HEART, .options.finish = LG_FINISH_MARK, .then = lives_without_heartbeat, .after = KILL), KILLED, HEALTHY "checking;");
    account();
    assert_int_equal(stored().streak, 1);
    lives_somehow(LIFE(HEART, .options.count = LG_COUNT_CRASH, .then = lives_without_heartbeat, .after = KILL), KILLED);
    account();
    assert_int_equal(last_of_timeline().verdict.end, LG_END_HANG);
    assert_int_equal(stored().streak, 1);
}

/* A task that hangs is recorded as the one that hung. The heart has time enough for a busy machine
 * to come to that task. */
static void test_hanging_task(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            plain_signals();
            live((void *)(uintptr_t)LIFE(.options.heartbeat_ms = 2000, .options.window_ms = 3000, .options.report_after = 99, .in_b = HANG));
            _exit(1);
        }
        for (int waited = 0; waited < LIMIT_MS; waited++) {
            lg_run_info run;
            lg_reader *reader = NULL;
            const char *path = newest_run_path();
            bool hangs = path && lg_reader_open(path, &reader) == LG_OK && lg_reader_run(reader, &run) == LG_OK && run.pid == child && run.hang_ns;
            lg_reader_close(reader);
            if (hangs)
                break;
            usleep(1000);
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        account();
        assert_int_equal(last_of_timeline().verdict.end, LG_END_HANG);
        assert_string_equal(stored().last_task, "b");
    }
    lives(LIFE(.options.report_after = 99, .after = FINISH), 0, "needs-repair;protect a;protect b;repairing;checking;a;normal;");
}

/* ---- between runs ---- */

static void test_streak_gap(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives_somehow(LIFE(.after = CRASH), SEGV);
    account();
    state_save();
    static const struct { bool long_ago, other_boot; int64_t gap_ms; bool forgotten; } gaps[] = {
        { true, false, 60000, true }, { false, false, 60000, false }, { true, true, 60000, false }, { true, false, 0, false },
    };
    for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
        state_restore();
        struct lg__ledger_payload book = stored_book();
        if (gaps[i].long_ago)
            book.contexts[0].crash_boottime_ns = 1;
        if (gaps[i].other_boot)
            book.contexts[0].crash_boot_id[0] ^= 1;
        store_book(&book);
        lives(LIFE(.options.streak_gap_ms = gaps[i].gap_ms, .after = FINISH), 0,
              gaps[i].forgotten ? HEALTHY "normal;" : "needs-repair;report 2;protect a;protect b;repairing;small;checking;a;b;normal;");
    }
}

/* ---- the thread that counts the time ---- */

/* A program takes its signals by sigwait() or a descriptor, and blocks them for that, maybe late:
 * only its own thread then gets them. */
static void waits_for_signal(lg_launch *launch)
{
    (void)launch;
    sigset_t signals;
    const struct timespec second = { 1, 0 };
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGTERM);
    for (int i = 0; i < 2; i++)
        tell("%d", sigtimedwait(&signals, NULL, &second));
}

/* on_status is the program's code: it has a stack of the usual size wherever it is called. The
 * usual size differs from libc to libc. */
static void status_with_large_stack(lg_launch *launch, lg_launch_status status, void *user)
{
    pthread_attr_t usual;
    size_t size;
    pthread_attr_init(&usual);
    pthread_attr_getstacksize(&usual, &size);
    pthread_attr_destroy(&usual);
    volatile char room[size / 2];
    for (size_t i = size / 2; i > 1024; i -= 1024)
        room[i - 1] = (char)status;
    (void)room[0];
    life_status(launch, status, user);
}

static void awaits_told(lg_launch *launch)
{
    (void)launch;
    while (!story_is(HEALTHY "normal;"))
        usleep(500);
}

static void test_thread(void **state)
{
    (void)state;
    lives(LIFE(.options.window_ms = 50, .options.on_status = status_with_large_stack, .then = awaits_told), 0, HEALTHY "normal;");
    lives(LIFE(.options.window_ms = 10000, .then = waits_for_signal), 0, HEALTHY "10;15;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LIFE(test_stopped), WITH_LIFE(test_held), WITH_LIFE(test_finish), WITH_LIFE(test_heartbeat), WITH_LIFE(test_hanging_task),
        WITH_LIFE(test_streak_gap), WITH_LIFE(test_thread), WITH_LIFE(test_protected),
    };
    return cmocka_run_group_tests_name("clocks", tests, NULL, NULL);
}
