/* A program that is started again while its last process still dies counts, and so does one whose
 * primary ends before its launch begins. */
#include "harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"

static int from_first[2], to_first[2]; /* pipes */
static unsigned *turns;                /* shared with the children */
static uint32_t *streak;
static pid_t *successor;               /* 0: there is none yet */
static atomic_bool over;

static void send(const int pipe[2])
{
    if (write(pipe[1], "x", 1) != 1)
        _exit(90);
}

static void receive(const int pipe[2])
{
    char byte;
    if (read(pipe[0], &byte, 1) != 1)
        _exit(91);
}

static void begin_launch(lg_session *session)
{
    lg_launch *launch;
    if (lg_launch_prepare(session, "main", NULL, &launch) != LG_OK || lg_launch_begin(launch) != LG_OK)
        _exit(92);
}

/* ---- the first process ---- */

static void hold(const char *point)
{
    if (strcmp(point, "finish: dies") != 0)
        return;
    send(from_first);
    receive(to_first);
}

static void first_crashes(void)
{
    lg__fault_hook = hold;
    begin_launch(start_session());
    crash();
}

static void first_lives(void)
{
    begin_launch(start_session());
    send(from_first);
    for (;;)
        pause();
}

static void first_crashes_later(void)
{
    begin_launch(start_session());
    send(from_first);
    receive(to_first);
    crash();
}

/* Returns once the first process crashed, or has begun its launch. */
static pid_t start_first(void (*body)(void))
{
    fflush(NULL);
    pid_t first = fork();
    assert_true(first >= 0);
    if (first == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        plain_signals();
        body();
        _exit(93);
    }
    receive(from_first);
    *turns = 0;
    return first;
}

static void end_first(pid_t first, int signal)
{
    int status;
    if (signal == SIGKILL)
        kill(first, SIGKILL);
    assert_int_equal(waitpid(first, &status, 0), first);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signal);
}

/* ---- the second one ---- */

static void release_at_first_turn(const char *point)
{
    if (strcmp(point, "take over: turn") == 0 && (*turns)++ == 0)
        send(to_first);
}

static void second_counts(void *argument)
{
    lg_launch *launch;
    (void)argument;
    lg__fault_hook = release_at_first_turn;
    lg__fault_patience = 6;
    lg_session *session = start_session(); /* asserts full protection */
    if (lg_launch_prepare(session, "main", NULL, &launch) != LG_OK)
        _exit(94);
    *streak = lg_launch_streak(launch);
}

static void start_beside(lg_session **ret_session)
{
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.test";
    options.app_version = "1.0";
    options.state_directory = state_path("");
    lg__fault_hook = release_at_first_turn;
    if (lg_start(&options, ret_session) != LG_ERR_SECONDARY || lg_session_protection(*ret_session) != LG_PROTECTION_RECORD)
        _exit(95);
}

static void second_does_not_count(void *argument)
{
    lg_session *session;
    lg_launch *launch;
    lg__fault_patience = *(unsigned *)argument;
    start_beside(&session);
    if (lg_launch_prepare(session, "main", NULL, &launch) != LG_ERR_SECONDARY || lg_launch_begin(launch) != LG_OK)
        _exit(96);
}

/* The primary ends between lg_launch_prepare() and lg_launch_begin(). */
static void second_outlives(void *argument)
{
    lg_session *session;
    lg_launch *launch;
    lg_launch_info info = { .size = sizeof info };
    start_beside(&session);
    if (lg_launch_prepare(session, "main", NULL, &launch) != LG_ERR_SECONDARY)
        _exit(96);
    kill(*(pid_t *)argument, SIGKILL);
    wait_until(kill(*(pid_t *)argument, 0) != 0); /* the test has waited for it */
    if (lg_launch_begin(launch) != LG_OK || lg_session_protection(session) != LG_PROTECTION_FULL || lg_launch_get_info(launch, &info) != LG_OK)
        _exit(97);
    *streak = info.unknown;
    lg_launch *again;
    if (lg_launch_prepare(session, "main", NULL, &again) != LG_ERR_DUPLICATE || again != launch)
        _exit(98);
    crash();
}

/* Another process became the primary meanwhile. The crash of the one before is none of its own. */
static void second_sees_another(void *argument)
{
    lg_session *session;
    lg_launch *launch;
    (void)argument;
    start_beside(&session);
    send(to_first);
    wait_until(*(volatile pid_t *)successor != 0);
    if (lg_launch_prepare(session, "main", NULL, &launch) != LG_ERR_SECONDARY)
        _exit(96);
}

/* ---- the tests ---- */

static void test_start_waits_for_a_crash_under_way(void **state)
{
    (void)state;
    pid_t first = start_first(first_crashes);
    expect_exit(second_counts, NULL, 0);
    end_first(first, SIGSEGV);
    assert_true(*turns >= 1);
    assert_int_equal(*streak, 1);
    assert_int_equal(last_of_timeline().verdict.end, LG_END_CRASH);
}

static void test_wait_is_bounded(void **state)
{
    unsigned none = 0;
    (void)state;
    pid_t first = start_first(first_crashes);
    expect_exit(second_does_not_count, &none, 0);
    assert_int_equal(*turns, 0);
    send(to_first);
    end_first(first, SIGSEGV);
}

static void test_nobody_waits_for_a_living_primary(void **state)
{
    unsigned one = 1;
    (void)state;
    pid_t first = start_first(first_lives);
    expect_exit(second_does_not_count, &one, 0);
    assert_int_equal(*turns, 0);
    assert_true(newest_info().secondary);
    end_first(first, SIGKILL);
}

static void *wait_for_first(void *argument)
{
    int status;
    return waitpid(*(pid_t *)argument, &status, 0) > 0 && WIFSIGNALED(status) ? argument : NULL;
}

static void test_begin_takes_over(void **state)
{
    pthread_t thread;
    void *ended;
    (void)state;
    pid_t first = start_first(first_lives);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_first, &first), 0);
    expect_signal(second_outlives, &first, SIGSEGV);
    assert_int_equal(pthread_join(thread, &ended), 0);
    assert_non_null(ended);
    assert_int_equal(*streak, 1);
    assert_int_equal(last_of_timeline().ordinal, 1);
    assert_int_equal(newest_info().ordinal, 2);
    assert_false(newest_info().secondary);

    *turns = 0; /* the crash of the second is a launch crash */
    expect_exit(second_counts, NULL, 0);
    assert_int_equal(*streak, 1);
    assert_int_equal(last_of_timeline().ordinal, 2);
}

static void *succeed(void *first)
{
    int status;
    if (waitpid(*(pid_t *)first, &status, 0) <= 0 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        return NULL;
    pid_t next = fork();
    if (next == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        plain_signals();
        first_lives();
    }
    receive(from_first);
    *successor = next;
    wait_until(atomic_load(&over)); /* the successor dies with this thread */
    return first;
}

static void test_nobody_waits_for_the_crash_of_another(void **state)
{
    pthread_t thread;
    void *ended;
    (void)state;
    *successor = 0;
    pid_t first = start_first(first_crashes_later);
    assert_int_equal(pthread_create(&thread, NULL, succeed, &first), 0);
    expect_exit(second_sees_another, NULL, 0);
    assert_int_equal(*turns, 0);
    end_first(*successor, SIGKILL);
    atomic_store(&over, true);
    assert_int_equal(pthread_join(thread, &ended), 0);
    assert_non_null(ended);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_start_waits_for_a_crash_under_way),
        WITH_STATE(test_wait_is_bounded),
        WITH_STATE(test_nobody_waits_for_a_living_primary),
        WITH_STATE(test_begin_takes_over),
        WITH_STATE(test_nobody_waits_for_the_crash_of_another),
    };
    turns = shared_memory(sizeof *turns);
    streak = shared_memory(sizeof *streak);
    successor = shared_memory(sizeof *successor);
    if (pipe2(from_first, O_CLOEXEC) != 0 || pipe2(to_first, O_CLOEXEC) != 0)
        return 1;
    return cmocka_run_group_tests_name("take_over", tests, NULL, NULL);
}
