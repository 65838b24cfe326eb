/* A process ends when its own threads have ended, whatever threads LaunchGuard has, and as it would
 * have ended without LaunchGuard. With the shared and with the static library. */
#include "harness.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(condition) ((condition) ? (void)0 : _exit(__LINE__ % 90 + 1))

static lg_session *session;

/* Each way is tried so often. */
static int rounds = 1;

static lg_launch *begin(const lg_launch_options *options, const lg_repair *repair)
{
    lg_launch *launch;
    EXPECT(lg_launch_prepare(session, "main", options, &launch) == LG_OK);
    EXPECT(!repair || lg_launch_add_repair(launch, repair) == LG_OK);
    EXPECT(lg_launch_begin(launch) == LG_OK);
    return launch;
}

static void finish_launch(void)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.finish = LG_FINISH_MARK;
    EXPECT(lg_launch_finished(begin(&options, NULL)) == LG_OK);
}

static int exit_handlers;

static void leaves_a_mark(void)
{
    if (exit_handlers++ == 0)
        lg_annotate(session, "exit", "handlers ran");
}

static bool first_thread_has_ended(void)
{
    char path[64], state = 'X';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
    FILE *file = fopen(path, "re");
    EXPECT(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
    fclose(file);
    return state == 'Z' || state == 'X';
}

static void *ends(void *argument)
{
    wait_until(first_thread_has_ended());
    return argument;
}

/* Features that may have a thread of ours. From LISTENS on, libc knows that thread. */
enum { NO_WATCH, HEARTBEAT, JOB, TERM, WINDOW, LISTENS, MEMORY, STDERR, HELD, WAYS };

static struct ending {
    bool stopped;    /* lg_stop() came before */
    bool by_kernel;  /* a sandbox ends the threads */
    bool first_last; /* and the first one after the other */
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
    options.hold = LG_HOLD_CUSTODY;
    options.auto_repair = 0;
    repair.name = "never";
    repair.run = never;
    lg_launch *launch = begin(&options, &repair);
    wait_until(lg_launch_get_status(launch) != LG_LAUNCH_NORMAL);
    EXPECT(lg_launch_protect(launch, "a test") == LG_OK);
    wait_until(lg_launch_get_status(launch) == LG_LAUNCH_NEEDS_REPAIR);
}

static void occupy(uintptr_t way)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    uint64_t job;
    options.window_ms = 86400000;
    switch (way) {
    case HEARTBEAT: lg_heartbeat(session); break;
    case JOB: lg_deadline_begin(session, "job", 86400000, &job); break;
    case TERM: raise(SIGTERM); break;
    case WINDOW: begin(&options, NULL); break;
    case LISTENS:
        options.on_status = hears;
        begin(&options, NULL);
        break;
    case MEMORY: EXPECT(lg_memory_watch(session, 100, NULL, NULL) == LG_OK); break;
    case HELD: hold_launch(); break;
    default: break;
    }
}

static atomic_int other_thread;

static void *is_killed(void *argument)
{
    if (gettid() != getpid())
        atomic_store(&other_thread, gettid());
    if (ending.first_last && gettid() == getpid())
        wait_until(atomic_load(&other_thread) && syscall(SYS_tgkill, getpid(), atomic_load(&other_thread), 0) != 0);
    else if (!ending.first_last && gettid() != getpid())
        wait_until(first_thread_has_ended());
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
    double longest_ms = 0;
    for (int round = 0; round < 2 * rounds; round++)
        for (uintptr_t way = 0; way < WAYS; way++) {
            lg_annotation annotation;
            ending = (struct ending){ .stopped = round % 2 };
            remove_state(state);
            make_state(state);
            struct death death = run_child(body_threads_end, (void *)way);
            longest_ms = death.ms > longest_ms ? death.ms : longest_ms;
            assert_false(death.late);
            assert_int_equal(death.status, 0);
            const lg_verdict verdict = newest_verdict();
            if (verdict.end != LG_END_CLEAN)
                fail_msg("way %d, stopped %d: end %d by evidence %d", (int)way, ending.stopped, (int)verdict.end, (int)verdict.evidence);
            /* the exit handlers ran; a session that is stopped stores nothing more */
            lg_reader *reader = newest_run();
            assert_int_equal(lg_reader_annotation(reader, 0, &annotation), ending.stopped ? LG_ERR_NOT_FOUND : LG_OK);
            lg_reader_close(reader);
        }
    print_message("the longest of %d lives took %.0f ms\n", 2 * rounds * WAYS, longest_ms);
}

/* libc does not see such an end: the kernel ends a process whose last thread ends, and says so of
 * the first one. */
static void test_kernel_ends_threads(void **state)
{
    (void)state;
    for (uintptr_t i = 0; i < 2 * WAYS; i++) {
        const uintptr_t way = i / 2;
        ending = (struct ending){ .by_kernel = true, .first_last = i % 2 };
        remove_state(state);
        make_state(state);
        struct death death = run_child(body_threads_end, (void *)way);
        if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
            skip_because("the kernel takes no seccomp filter");
        expect_death(death, SIGSYS);
    }
}

/* ---- a thread of ours that runs code of the program ---- */

static void aborts_when_normal(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch, (void)user;
    if (status == LG_LAUNCH_NORMAL)
        abort();
}

static lg_status aborts(void *user)
{
    (void)user;
    abort();
}

static void reports(const lg_report_batch *batch, lg_completion *done, void *user)
{
    (void)batch, (void)user;
    lg_complete(done, LG_OK);
}

enum { ON_STATUS, IN_LAUNCH, IN_TASK };

static void body_aborts(void *argument)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_task task = LG_TASK_INIT;
    lg_launch *launch;
    const uintptr_t where = (uintptr_t)argument;
    session = start_session();
    options.window_ms = where == ON_STATUS ? 50 : 86400000;
    options.on_status = where == ON_STATUS ? aborts_when_normal : NULL;
    options.on_report = reports;
    options.hold = LG_HOLD_CUSTODY; /* with a report to make, the tasks run on a thread of ours */
    task.key = "task";
    task.run = aborts;
    EXPECT(lg_launch_prepare(session, "main", &options, &launch) == LG_OK);
    EXPECT(where != IN_TASK || lg_launch_add_task(launch, &task) == LG_OK);
    EXPECT(lg_launch_begin(launch) == LG_OK);
    if (where == IN_LAUNCH)
        abort();
    for (;;)
        pause();
}

static bool first_thread_aborted(uintptr_t where)
{
    expect_signal(body_aborts, (void *)where, SIGABRT);
    return newest_crash(LG_STAGE_DONE).tid == newest_info().pid;
}

/* The crash is that of the thread that called abort(). */
static void test_aborts(void **state)
{
    (void)state;
    assert_false(first_thread_aborted(ON_STATUS));
    assert_true(first_thread_aborted(IN_LAUNCH));
    assert_false(first_thread_aborted(IN_TASK));
}

/* ---- the first thread has ended, and others live ---- */

static void *lives(void *argument)
{
    wait_until(first_thread_has_ended());
    pass_time(200, "LaunchGuard's threads look each tenth of a second whether others live");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_threads_end),
        WITH_STATE(test_kernel_ends_threads),
        WITH_STATE(test_aborts),
        WITH_STATE(test_lives_without_its_first_thread),
    };
    const char *wanted = getenv("LAUNCHGUARD_ENDS");
    rounds = wanted ? atoi(wanted) : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
