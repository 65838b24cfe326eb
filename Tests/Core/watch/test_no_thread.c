/* A session has no thread until there is something to watch, and that thread does not count as one
 * of the program's. */
#include "ending_program.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture.h"

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
    while (count_threads() != count)
        rest(1);
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

static void body_window(void *argument)
{
    lg_launch_info info;
    (void)argument;
    session = start_session();
    lg_launch *launch = open_window(100);
    EXPECT(lg__capture_watched() && lg_launch_get_status(launch) == LG_LAUNCH_CHECKING);
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

/* ---- a process ends when its own threads have ended ---- */

static int exit_handlers;

static void leaves_a_mark(void)
{
    if (exit_handlers++ == 0)
        lg_annotate(session, "exit", "handlers ran");
}

static void *ends(void *argument)
{
    rest(20);
    return argument;
}

/* What may have a thread of ours. From LISTENS on, libc knows that thread. */
enum { NO_WATCH, HEARTBEAT, JOB, TERM, WINDOW, LISTENS, MEMORY, STDERR, HELD, WAYS };

static struct ending {
    bool stopped;   /* lg_stop() came before */
    bool by_kernel; /* a sandbox ends the threads */
} ending;

static void ignore(int number)
{
    (void)number;
}

static void hears(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch, (void)status, (void)user;
}

static void never(lg_completion *done, void *user)
{
    (void)done, (void)user;
}

/* A launch that waits for consent, on a thread of libc. */
static void hold_launch(void)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_repair repair = LG_REPAIR_INIT;
    lg_launch *launch;
    options.hold = LG_HOLD_CUSTODY;
    options.auto_repair = 0;
    repair.name = "never";
    repair.run = never;
    EXPECT(lg_launch_prepare(session, "main", &options, &launch) == LG_OK && lg_launch_add_repair(launch, &repair) == LG_OK);
    EXPECT(lg_launch_begin(launch) == LG_OK);
    while (lg_launch_get_status(launch) == LG_LAUNCH_NORMAL)
        rest(1);
    EXPECT(lg_launch_protect(launch, "a test") == LG_OK);
    while (lg_launch_get_status(launch) != LG_LAUNCH_NEEDS_REPAIR)
        rest(1);
}

static void occupy(uintptr_t way)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    uint64_t job;
    switch (way) {
    case HEARTBEAT: lg_heartbeat(session); break;
    case JOB: lg_deadline_begin(session, "job", 86400000, &job); break;
    case TERM: raise(SIGTERM); break;
    case WINDOW: open_window(86400000); break;
    case LISTENS:
        options.window_ms = 86400000;
        options.on_status = hears;
        EXPECT(lg_launch_prepare(session, "main", &options, &launch) == LG_OK && lg_launch_begin(launch) == LG_OK);
        break;
    case MEMORY: EXPECT(lg_memory_watch(session, 100, NULL, NULL) == LG_OK); break;
    case HELD: hold_launch(); break;
    default: break;
    }
}

static void *is_killed(void *argument)
{
    rest(20);
    syscall(SYS_personality, 0xffffffff);
    return argument;
}

static void forbid_personality(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_personality, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof code[0], code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
}

static void body_threads_end(void *argument)
{
    const uintptr_t way = (uintptr_t)argument;
    pthread_t thread;
    signal(SIGTERM, ignore);
    session = way == STDERR ? start_keeping_stderr() : start_session();
    if (way < WINDOW || way == MEMORY || way == STDERR)
        finish_launch();
    atexit(leaves_a_mark);
    occupy(way);
    if (ending.stopped)
        lg_stop(session);
    if (ending.by_kernel)
        forbid_personality();
    EXPECT(pthread_create(&thread, NULL, ending.by_kernel ? is_killed : ends, NULL) == 0 && pthread_detach(thread) == 0);
    if (ending.by_kernel)
        is_killed(NULL);
    pthread_exit(NULL);
}

static void test_threads_end(void **state)
{
    (void)state;
    for (int stopped = 0; stopped < 2; stopped++)
        for (uintptr_t way = 0; way < WAYS; way++) {
            ending = (struct ending){ .stopped = stopped };
            state_make();
            expect_exit(body_threads_end, (void *)way, 0);
            assert_int_equal(newest_verdict().end, LG_END_CLEAN);
            lg_annotation annotation;
            lg_reader *reader = newest_run();
            /* the exit handlers ran; a session that is stopped stores nothing more */
            assert_int_equal(lg_reader_annotation(reader, 0, &annotation), stopped ? LG_ERR_NOT_FOUND : LG_OK);
            lg_reader_close(reader);
        }
}

/* libc does not see such an end: the kernel ends a process whose last thread ends, and says so of
 * the first one. */
static void test_kernel_ends_threads(void **state)
{
    (void)state;
    for (uintptr_t way = 0; way < WAYS; way++) {
        ending = (struct ending){ .by_kernel = true };
        state_make();
        struct death death = run_child(body_threads_end, (void *)way);
        if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
            skip_because("the kernel takes no seccomp filter");
        expect_death(death, SIGSYS);
    }
}

/* ---- the first thread has ended, and others live ---- */

static void *lives(void *argument)
{
    rest(100);
    EXPECT(newest_verdict().end == LG_END_RUNNING);
    return argument;
}

static void body_goes_on(void *argument)
{
    pthread_t thread;
    session = start_session();
    EXPECT(pthread_create(&thread, NULL, lives, NULL) == 0);
    pthread_exit(argument);
}

static void test_lives_without_its_first_thread(void **state)
{
    (void)state;
    expect_exit(body_goes_on, NULL, 0);
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

static void body_refused(void *argument)
{
    const uint32_t how = argument ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, how),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof code[0], code };
    session = start_session();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_alone), WITH_STATE(test_comes_and_goes), WITH_STATE(test_window), WITH_STATE(test_threads_end), WITH_STATE(test_kernel_ends_threads),
        WITH_STATE(test_lives_without_its_first_thread), WITH_STATE(test_dies_of_a_request),
        WITH_STATE(test_crashes_at_once), WITH_STATE(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
