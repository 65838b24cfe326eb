/* A session has no thread until there is something to watch. The process ends through libc where a
 * thread of libc waits beside the watch thread. */
#include "ending_program.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"

#define EXPECT(condition) ((condition) ? (void)0 : _exit(__LINE__ % 90 + 1))

static void finish_launch(void)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    options.finish = LG_FINISH_MARK;
    EXPECT(lg_launch_prepare(session, "main", &options, &launch) == LG_OK && lg_launch_begin(launch) == LG_OK && lg_launch_finished(launch) == LG_OK);
}

/* ---- no thread ---- */

static void body_alone(void *argument)
{
    (void)argument;
    session = start_session();
    EXPECT(count_threads() == 1);
    finish_launch();
    lg_log(session, LG_LEVEL_INFO, "alone");
    EXPECT(count_threads() == 1);
    /* EINVAL: the process has more than one thread */
    EXPECT(unshare(CLONE_NEWUSER) == 0 || errno != EINVAL);
    pid_t child = fork();
    int status;
    if (child == 0)
        _exit(count_threads() != 1);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    EXPECT(lg_stop(session) == LG_OK && count_threads() == 1);
}

static void test_alone(void **state)
{
    (void)state;
    expect_exit(body_alone, NULL, 0);
}

/* ---- a thread while there is something to watch ---- */

static void await_threads(unsigned count)
{
    wait_until(count_threads() == count);
}

static void body_comes_and_goes(void *argument)
{
    (void)argument;
    session = start_session();
    for (int i = 0; i < 20; i++) {
        uint64_t job;
        lg_heartbeat(session);
        EXPECT(lg__capture_watched());
        await_threads(2);
        lg_heartbeat_pause(session);
        EXPECT(lg_deadline_begin(session, "job", 40, &job) == LG_OK);
        await_threads(1); /* the job is about to overrun */
        EXPECT(said("is about to overrun"));
        EXPECT(lg_deadline_end(session, job) == LG_OK);
    }
    lg_heartbeat(session);
    lg_stop(session);
    await_threads(1);
}

static void test_comes_and_goes(void **state)
{
    (void)state;
    expect_exit(body_comes_and_goes, NULL, 0);
}

/* ---- the window of a launch that nobody listens to ---- */

static lg_launch *open_window(int64_t window_ms)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    options.window_ms = window_ms;
    EXPECT(lg_launch_prepare(session, "main", &options, &launch) == LG_OK && lg_launch_begin(launch) == LG_OK);
    return launch;
}

/* The watch thread looks at nothing before the program has seen the window open. */
static atomic_bool seen_open;

static void hook_until_seen(const char *point)
{
    if (strcmp(point, "watch: wakes") == 0)
        wait_until(atomic_load(&seen_open));
}

static void body_window(void *argument)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    (void)argument;
    session = start_session();
    lg__fault_hook = hook_until_seen;
    lg_launch *launch = open_window(100);
    EXPECT(lg__capture_watched() && lg_launch_get_status(launch) == LG_LAUNCH_CHECKING);
    atomic_store(&seen_open, true);
    await_threads(1);
    EXPECT(lg_launch_get_status(launch) == LG_LAUNCH_NORMAL);
    EXPECT(lg_launch_get_info(launch, &info) == LG_OK && info.status == LG_LAUNCH_NORMAL && info.streak == 0);
    if (!argument)
        kill(getpid(), SIGKILL);
    EXPECT(lg_launch_protect(launch, "too late") == LG_ERR_STATE);
    EXPECT(lg_launch_finished(launch) == LG_OK);
}

static void test_window(void **state)
{
    (void)state;
    /* no call stored that the launch is finished: the run file says so */
    expect_signal(body_window, NULL, SIGKILL);
    expect_exit(body_window, "calls", 0);
    assert_int_equal(last_of_timeline().launching, 0);
    assert_int_equal(ledger_context("main").unknown, 0);
}

/* ---- signals that the program would die of ---- */

static void body_dies_of_a_request(void *argument)
{
    session = start_session();
    lg_heartbeat(session);
    await_threads(2);
    kill(getpid(), (int)(intptr_t)argument);
    for (;;)
        pause();
}

static void test_dies_of_a_request(void **state)
{
    (void)state;
    const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM };
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        expect_signal(body_dies_of_a_request, (void *)(intptr_t)signals[i], signals[i]);
}

/* ---- a crash right after the start ---- */

static void body_crashes_at_once(void *argument)
{
    if (argument)
        signal(SIGSEGV, hang);
    lg_options options = LG_OPTIONS_INIT;
    options.handler_ms = 200;
    session = start_with(options);
    *(volatile int *)8 = 1;
}

static void test_crashes_at_once(void **state)
{
    (void)state;
    for (uintptr_t hangs = 0; hangs < 2; hangs++) {
        lg_module module;
        lg_stack_info stack;
        state_make();
        expect_signal(body_crashes_at_once, (void *)hangs, SIGSEGV);
        lg_reader *reader = newest_run();
        assert_int_equal(lg_reader_module(reader, 0, &module), LG_OK);
        assert_non_null(strstr(module.path, "test-watch-no-thread"));
        assert_int_equal(lg_reader_module(reader, 1, &module), LG_OK);
        assert_int_equal(lg_reader_stack(reader, LG_STAGE_DWARF, &stack), LG_OK);
        assert_int_equal(stack.truncated, 0);
        lg_reader_close(reader);
    }
}

/* ---- a sandbox that refuses threads and timers costs the deadline and not the record ---- */

static void refuse(uint32_t how, uint32_t call, uint32_t other)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, how),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof code[0], code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
}

static void body_refused(void *argument)
{
    session = start_session();
    refuse(argument ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | EPERM, SYS_clone, SYS_timer_create);
    lg_heartbeat(session);
    EXPECT(count_threads() == 1);
    crash();
}

static void test_refused(void **state)
{
    (void)state;
    for (uintptr_t how = 0; how < 2; how++) {
        state_make();
        struct death death = run_child(body_refused, (void *)how);
        if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
            skip_because("the kernel takes no seccomp filter");
        expect_death(death, SIGSEGV);
        newest_crash(LG_STAGE_DONE);
    }
}

/* ---- where threads alone are refused, an earlier handler that hangs is ended all the same ---- */

static void body_handler_unwatched(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    (void)argument;
    plain_signals();
    signal(SIGSEGV, hang);
    /* the program has a use for each signal by which our threads could be stopped */
    signal(SIGPROF, hang);
    signal(SIGUSR1, hang);
    signal(SIGUSR2, hang);
    options.handler_ms = 100;
    session = start_with(options);
    refuse(SECCOMP_RET_ERRNO | EAGAIN, SYS_clone, SYS_clone3);
    crash();
}

static void test_handler_unwatched(void **state)
{
    (void)state;
    struct death death = run_child(body_handler_unwatched, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
        skip_because("the kernel takes no seccomp filter");
    expect_death(death, SIGSEGV);
    newest_crash(LG_STAGE_DONE);
}

/* ---- a thread of libc waits where the watch thread looks ---- */

static atomic_int looks;

static bool first_thread_has_ended(void)
{
    return lg__os_first_thread_ended();
}

static void hold_until_watched(const char *point)
{
    if (strcmp(point, "watch: sleeps") == 0 && first_thread_has_ended() && count_threads() == 3)
        atomic_fetch_add(&looks, 1);
    if (strcmp(point, "own thread: looks") == 0 && first_thread_has_ended())
        wait_until(atomic_load(&looks) >= 2);
}

static void hears(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch, (void)status, (void)user;
}

static void marks_the_exit(void)
{
    lg_annotate(session, "exit", "handlers ran");
}

static void body_ends_by_its_threads(void *argument)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    options.on_status = hears;
    options.window_ms = 86400000;
    session = start_session();
    atexit(marks_the_exit);
    lg__fault_hook = hold_until_watched;
    EXPECT(lg_launch_prepare(session, "main", &options, &launch) == LG_OK && lg_launch_begin(launch) == LG_OK);
    pthread_exit(argument);
}

/* The watch thread calls no exit handler, so it leaves the end to the thread of libc that waits. */
static void test_libc_ends(void **state)
{
    lg_annotation annotation;
    (void)state;
    expect_exit(body_ends_by_its_threads, NULL, 0);
    assert_int_equal(newest_verdict().end, LG_END_CLEAN);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_annotation(reader, 0, &annotation), LG_OK);
    lg_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_alone), WITH_STATE(test_comes_and_goes), WITH_STATE(test_window), WITH_STATE(test_dies_of_a_request),
        WITH_STATE(test_crashes_at_once), WITH_STATE(test_refused),
        WITH_STATE(test_handler_unwatched), WITH_STATE(test_libc_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
