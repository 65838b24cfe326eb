/* The time that counts: neither the time in which a program was stopped nor the time of a hold; and
 * a heartbeat without beats is no life. */
#include "scripted_life.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "launch/internal.h"
#include "os/fault_point.h"

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

/* ---- the watch thread, which counts the time of a window: tests let it look, or hold it ---- */

static atomic_bool stands, let_go;

static bool is_at(const char *point, const char *name)
{
    return strcmp(point, name) == 0;
}

static void stand_until_let_go(void)
{
    atomic_store(&stands, true);
    wait_until(atomic_load(&let_go));
}

/* From this launching on (a hold is followed by another one) the watch thread looks twice, which
 * is worth a quarter of a window at most, and then stands. */
static int held_launching;

static void hook_two_looks(const char *point)
{
    static atomic_int launchings;
    static int looks;
    if (is_at(point, "run: launching"))
        atomic_fetch_add(&launchings, 1);
    else if (is_at(point, "watch: looked") && atomic_load(&launchings) >= held_launching && looks++ >= 2)
        stand_until_let_go();
}

static void hold_first(lg_launch *launch)
{
    (void)launch;
    held_launching = 1;
    lg__fault_hook = hook_two_looks;
}

static void hold_second(lg_launch *launch)
{
    (void)launch;
    held_launching = 2;
    lg__fault_hook = hook_two_looks;
}

/* The looks of the watch thread that are over. */
static atomic_uint looks_over;

static void hook_count_looks(const char *point)
{
    if (is_at(point, "watch: sleeps") || is_at(point, "watch: leaves"))
        atomic_fetch_add(&looks_over, 1);
}

/* ---- stopped ---- */

#define STOPS 3
#define STOP_MS 700
#define STOPPED_WINDOW_MS 400
/* shared with the process that stops this one */
static struct stops { atomic_int asked, over; } *stops;
static const lg_launch *stopped_launch;

/* The process is stopped between two looks at a window that is open. */
static void hook_stop(const char *point)
{
    static int count;
    if (!is_at(point, "watch: looked") || !stopped_launch->window.seen_ns || count == STOPS)
        return;
    atomic_store(&stops->asked, ++count);
    wait_until(atomic_load(&stops->over) == count);
}

static void stop_from_outside(lg_launch *launch)
{
    const pid_t self = getpid();
    *stops = (struct stops){ .asked = 0 };
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 1; i <= STOPS; i++) {
            wait_until(atomic_load(&stops->asked) == i);
            kill(self, SIGSTOP);
            pass_time(STOP_MS, "this time does not count, though it is longer than the window");
            atomic_store(&stops->over, i);
            kill(self, SIGCONT);
        }
        _exit(0);
    }
    stopped_launch = launch;
    lg__fault_hook = hook_stop;
}

static void awaits_finish(lg_launch *launch)
{
    (void)launch;
    atomic_store(&let_go, true); /* all tasks have run */
    await_last_line("normal");
}

static void test_stopped(void **state)
{
    (void)state;
    lives(LIFE(.options.finish = LG_FINISH_TIME, .options.window_ms = STOPPED_WINDOW_MS, .before = stop_from_outside, .then = awaits_finish), 0,
          HEALTHY "normal;");
    /* each stop is worth two slices at most, a slice a sixteenth of the window */
    const lg_run_context context = of_run();
    assert_int_equal(stops->over, STOPS);
    assert_true(context.finished_ns - context.launching_ns >= (STOPS * STOP_MS + STOPPED_WINDOW_MS - STOPS * STOPPED_WINDOW_MS / 8) * MS);
}

/* ---- held ---- */

static void *repairs_late(void *launch)
{
    await_status(launch, LG_LAUNCH_NEEDS_REPAIR);
    pass_time(400, "the time of a hold does not count, though it is longer than the window");
    lg_launch_repair(launch);
    return NULL;
}

static void repair_late(lg_launch *launch)
{
    in_thread(repairs_late, launch);
}

static void repair_late_and_hold(lg_launch *launch)
{
    hold_second(launch);
    repair_late(launch);
}

/* The window is open when the mark comes: the watch thread stands. */
static void marks_and_waits(lg_launch *launch)
{
    if (lg__fault_hook)
        wait_until(atomic_load(&stands));
    tell("%s", lg_status_name(lg_launch_finished(launch)));
    tell("%s", lg_launch_status_name(lg_launch_get_status(launch)));
    atomic_store(&let_go, true);
    await_last_line("normal");
    tell("%s", lg_status_name(lg_launch_finished(launch)));
}

static void is_killed_in_window(lg_launch *launch)
{
    (void)launch;
    wait_until(atomic_load(&stands));
    act(KILL);
}

/* A window does not pass before the program asks for protection: the watch thread stands. */
static void *lets_go_when_held(void *launch)
{
    await_status(launch, LG_LAUNCH_NEEDS_REPAIR);
    atomic_store(&let_go, true);
    return repairs_late(launch);
}

static void hold_and_repair_late(lg_launch *launch)
{
    hold_first(launch);
    in_thread(lets_go_when_held, launch);
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
    /* A launch that is held long beyond its window, and killed soon after it: it has not survived
     * the window. */
    state_restore();
    lives_somehow(LIFE(.options.window_ms = 100, .options.auto_repair = 0, .options.hold_ms = 300, .before = hold_first, .then = is_killed_in_window),
                  KILLED);
    context = of_run();
    assert_int_equal(context.finished_ns, 0);
    /* Protection in the middle of a launch: the time of that hold does not count either. */
    state_restore();
    lives_somehow(LIFE(.after = FINISH), 0);
    lives(LIFE(.options.finish = LG_FINISH_TIME, .options.window_ms = 200, .small_flags = LG_REPAIR_CONSENT, .large_flags = LG_REPAIR_CONSENT,
               .in_a = PROTECT, .before = hold_and_repair_late, .then = awaits_finish),
          0, "checking;a;needs-repair;protect b;repairing;large;checking;b;normal;");
    context = of_run();
    assert_true(context.finished_ns - context.begun_ns >= 400 * MS + 150 * MS);
    /* The window does not pass during that hold either: a mark right after it has to wait for the
     * window. */
    state_restore();
    lives_somehow(LIFE(.after = FINISH), 0);
    lives(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 300, .small_flags = LG_REPAIR_CONSENT, .large_flags = LG_REPAIR_CONSENT,
               .in_a = PROTECT, .before = repair_late_and_hold, .then = marks_and_waits),
          0, "checking;a;needs-repair;protect b;repairing;large;checking;b;ok;checking;normal;ok;");
    context = of_run();
    assert_true(context.finished_ns - context.launching_ns >= 290 * MS);
}

/* The program asked for protection: neither the time before nor a mark from before proves anything
 * about the time after the repair. */
static const lg_launch *nearly_passed;

/* The watch thread stands when three quarters of the window have passed. */
static void hook_near_its_end(const char *point)
{
    if (is_at(point, "watch: looked") && !atomic_load(&stands) && nearly_passed->window.counted_ns >= lg__window_ns(nearly_passed) / 4 * 3)
        stand_until_let_go();
}

static void hold_near_its_end(lg_launch *launch)
{
    nearly_passed = launch;
    lg__fault_hook = hook_near_its_end;
}

static void protects_late(lg_launch *launch)
{
    wait_until(atomic_load(&stands));
    lg_launch_protect(launch, "late");
    atomic_store(&let_go, true);
    await_last_line("normal");
}

static void protects_after_window(lg_launch *launch)
{
    wait_until(lg__window_has_passed(launch));
    lg_launch_protect(launch, "later");
    lg_launch_wait(launch, UINT32_MAX);
    marks_and_waits(launch);
}

static void protects_after_mark(lg_launch *launch)
{
    lg_launch_finished(launch);
    lg_launch_protect(launch, "marked too early");
    atomic_store(&let_go, true);
    lg_launch_wait(launch, UINT32_MAX);
    wait_until(lg__window_has_passed(launch));
    wait_until(!lg__capture_watched()); /* what follows from it has been done */
    tell("%s", lg_launch_status_name(lg_launch_get_status(launch)));
}

static void test_protected(void **state)
{
    (void)state;
    lives_somehow(LIFE(.options.finish = LG_FINISH_TIME, .options.window_ms = 400, .before = hold_near_its_end, .then = protects_late), 0);
    lg_run_context context = of_run();
    assert_true(context.finished_ns - context.launching_ns >= 390 * MS);
    lives_somehow(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 300, .before = hold_second, .then = protects_after_window), 0);
    assert_non_null(strstr(story, "ok;checking;normal;ok;"));
    context = of_run();
    assert_true(context.finished_ns - context.launching_ns >= 290 * MS);
    lives_somehow(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 300, .before = hold_first, .then = protects_after_mark), 0);
    /* the status of the second launching, and that after its window */
    assert_non_null(strstr(story, "checking;checking;"));
    assert_int_equal(of_run().finished_ns, 0);
}

/* ---- what finishes it ---- */

static void waits_and_marks(lg_launch *launch)
{
    atomic_store(&let_go, true);
    if (launch->options.finish == LG_FINISH_MARK)
        pass_time(400, "the window of 50 ms, which would finish the launch if not the mark alone did");
    else
        wait_until(lg__window_has_passed(launch));
    tell("%s", lg_launch_status_name(lg_launch_get_status(launch)));
    tell("%s", lg_status_name(lg_launch_finished(launch)));
}

static void test_finish(void **state)
{
    (void)state;
    lives(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 300, .before = hold_first, .then = marks_and_waits), 0,
          HEALTHY "ok;checking;normal;ok;");
    lives(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 50, .before = hold_first, .then = waits_and_marks), 0, HEALTHY "checking;normal;ok;");
    lives(LIFE(.options.finish = LG_FINISH_MARK, .options.window_ms = 50, .before = hold_first, .then = waits_and_marks), 0, HEALTHY "checking;normal;ok;");
    lives(LIFE(.options.finish = LG_FINISH_TIME, .options.window_ms = 300, .before = hold_first, .then = marks_and_waits), 0,
          HEALTHY "ok;checking;normal;ok;");
    lives(LIFE(.options.finish = LG_FINISH_EITHER, .options.window_ms = 60000, .then = marks_and_waits), 0, HEALTHY "normal;ok;normal;ok;");
    lives(LIFE(.options.finish = LG_FINISH_EITHER, .options.window_ms = 50, .before = hold_first, .then = awaits_finish, .after = CRASH), SEGV, HEALTHY "normal;");
    account();
    assert_int_equal(stored().streak, 0);
    /* With both, a mark alone is not enough. */
    lives(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 60000, .after = FINISH), 0, "checking;report 0;a;b;");
    lives(LIFE(.options.finish = LG_FINISH_BOTH, .options.window_ms = 60000, .then = NULL, .in_b = CRASH), SEGV, HEALTHY);
    assert_int_equal(of_run().marked, 0);
    account();
    assert_int_equal(stored().streak, 1);
}

/* ---- the heartbeat ---- */

static void lives_without_heartbeat(lg_launch *launch)
{
    wait_until(hang_mark());
    pass_time(300, "the window of 150 ms, were the program taken for alive without a heartbeat");
    tell("%s", lg_launch_status_name(lg_launch_get_status(launch)));
}

static void beats_again(lg_launch *launch)
{
    lives_without_heartbeat(launch);
    while (lg_launch_get_status(launch) != LG_LAUNCH_NORMAL) {
        lg_heartbeat(life_session);
        rest(2);
    }
    await_last_line("normal");
    pass_time(200, "a launch that is finished needs no heartbeat within 100 ms any more");
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
    lg__fault_hook = hook_count_looks;
    options.heartbeat_ms = 60000;
    if (lg_launch_prepare(life_session, "other", &options, &other) != LG_OK || lg_launch_begin(other) != LG_OK)
        _exit(90);
    wait_until(hang_mark());
    const unsigned looks = atomic_load(&looks_over);
    unsigned lost = 0;
    for (; atomic_load(&looks_over) < looks + 5; rest(1))
        lost += hang_mark() == 0;
    tell("%u", lost);
}

/* The watch thread has found that the launch hangs, and has not yet marked it. */
static void hook_before_mark(const char *point)
{
    if (is_at(point, "window: hangs") && !atomic_load(&stands))
        stand_until_let_go();
    hook_count_looks(point);
}

/* Before the launch: on a busy machine it may hang before its begin returns. */
static void watch_the_mark(lg_launch *launch)
{
    (void)launch;
    lg__fault_hook = hook_before_mark;
}

enum { FINISHES, PAUSES };
static int excuse;

/* A finished launch and a pause take the mark of a hang back; here the mark comes after them. */
static void is_marked_too_late(lg_launch *launch)
{
    wait_until(atomic_load(&stands));
    if (excuse == FINISHES)
        lg_launch_finished(launch);
    else
        lg_heartbeat_pause(life_session);
    const unsigned looks = atomic_load(&looks_over);
    atomic_store(&let_go, true);
    wait_until(atomic_load(&looks_over) > looks);
    tell(hang_mark() ? "hangs" : "lives");
}

static void test_late_mark(void **state)
{
    (void)state;
    for (excuse = FINISHES; excuse <= PAUSES; excuse++) {
        lives(LIFE(.options.finish = LG_FINISH_MARK, .options.heartbeat_ms = 100, .before = watch_the_mark, .then = is_marked_too_late,
                   .after = KILL), KILLED,
              excuse == FINISHES ? HEALTHY "normal;lives;" : HEALTHY "lives;");
        account();
        assert_int_equal(last_of_timeline().verdict.end, LG_END_UNKNOWN);
        life_make(NULL);
    }
}

static void test_heartbeat(void **state)
{
    (void)state;
    lives(LIFE(.options.heartbeat_ms = 800, .then = hangs_beside_another, .after = KILL), KILLED, HEALTHY "0;");
    life_make(NULL);
#define HEART .options.heartbeat_ms = 100, .options.window_ms = 150
    lives(LIFE(HEART, .then = lives_without_heartbeat, .after = KILL), KILLED, HEALTHY "checking;");
    assert_true(hang_mark() > 0);
    lives(LIFE(HEART, .then = beats_again, .after = KILL), KILLED, "checking;report 1;a;b;checking;normal;lives;");
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

/* The watch thread looks at nothing until the second task runs. */
static void hook_until_second_task(const char *point)
{
    static atomic_int tasks;
    if (is_at(point, "run: task set"))
        atomic_fetch_add(&tasks, 1);
    else if (is_at(point, "watch: looked"))
        wait_until(atomic_load(&tasks) == 2);
}

static void *is_killed_for_hang(void *argument)
{
    wait_until(hang_mark());
    act(KILL);
    return argument;
}

static void be_killed_for_hang(lg_launch *launch)
{
    (void)launch;
    lg__fault_hook = hook_until_second_task;
    in_thread(is_killed_for_hang, NULL);
}

/* A task that hangs is recorded as the one that hung. */
static void test_hanging_task(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        lives_somehow(LIFE(.options.heartbeat_ms = 200, .options.window_ms = 300, .options.report_after = 99, .in_b = HANG,
                           .before = be_killed_for_hang),
                      KILLED);
        account();
        assert_int_equal(last_of_timeline().verdict.end, LG_END_HANG);
        assert_string_equal(stored().last_task, "b");
    }
    lives(LIFE(.options.report_after = 99, .after = FINISH), 0, "needs-repair;protect a;protect b;repairing;checking;a;normal;");
}

/* ---- the thread that counts the time ---- */

/* A program takes its signals by sigwait() or a descriptor, and blocks them for that, maybe late:
 * only its own thread then gets them. */
static void waits_for_signal(lg_launch *launch)
{
    (void)launch;
    sigset_t signals;
    const struct timespec minute = { 60, 0 };
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGTERM);
    for (int i = 0; i < 2; i++)
        tell("%d", sigtimedwait(&signals, NULL, &minute));
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
    wait_until(story_is(HEALTHY "normal;"));
}

static void test_thread(void **state)
{
    (void)state;
    lives(LIFE(.options.window_ms = 50, .options.on_status = status_with_large_stack, .then = awaits_told), 0, HEALTHY "normal;");
    lives(LIFE(.options.window_ms = 60000, .then = waits_for_signal), 0, HEALTHY "10;15;");
}

int main(void)
{
    stops = shared_memory(sizeof *stops);
    const struct CMUnitTest tests[] = {
        WITH_LIFE(test_stopped), WITH_LIFE(test_held), WITH_LIFE(test_finish), WITH_LIFE(test_heartbeat), WITH_LIFE(test_late_mark),
        WITH_LIFE(test_hanging_task), WITH_LIFE(test_thread), WITH_LIFE(test_protected),
    };
    return cmocka_run_group_tests_name("clocks", tests, NULL, NULL);
}
