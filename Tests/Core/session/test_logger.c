/* lg_options.on_log: the program's own logger gets what LaunchGuard says, and may make any call. */
#include "harness.h"

#undef NDEBUG /* this test aborts by assert() */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <launchguard/watch.h>

#include "os/os.h"
#include "session/session.h"

#define EXPECT(condition) ((condition) ? (void)0 : _exit(__LINE__ % 90 + 1))

/* The messages that on_log got, in memory that the test shares with its children. */
static struct {
    _Atomic uint32_t calls, size;
    _Atomic int32_t tid; /* of the last call */
    char lines[65536];   /* "LEVEL TEXT\n" each */
} *got;

static lg_session *session;
static lg_launch *launch;
static void (*and_then)(const char *text); /* what else on_log does */

static void on_log(lg_level level, const char *category, const char *text, void *user)
{
    static _Atomic int depth;
    EXPECT(atomic_fetch_add(&depth, 1) == 0);
    EXPECT(strcmp(category, "launchguard") == 0 && user == &session && !strchr(text, '\n') && strlen(text) <= LG_ON_LOG_MAX);
    got->size += (uint32_t)snprintf(got->lines + got->size, sizeof got->lines - got->size, "%d %s\n", (int)level, text);
    got->tid = lg__os_tid();
    got->calls++;
    /* takes the locks of the launch and of the host */
    lg_launch_info info;
    lg_task_state state;
    if (launch && lg_launch_get_info(launch, &info) == LG_OK)
        lg_launch_task_state(launch, "any", &state);
    if (and_then)
        and_then(text);
    atomic_fetch_sub(&depth, 1);
}

static bool was_told(const char *part)
{
    return strstr(got->lines, part);
}

/* on_log may run on another thread at the moment, which goes on with it. */
static void await(const char *part)
{
    wait_until(was_told(part));
}

static void forget(void)
{
    memset(got, 0, sizeof *got);
}

static int make(void **state)
{
    got = shared_memory(sizeof *got);
    return make_state(state);
}
#define LOGGED(function) cmocka_unit_test_setup_teardown(function, make, remove_state)

static void start(void)
{
    session = start_with((lg_options){ .size = sizeof(lg_options), .on_log = on_log, .log_user = &session });
}

/* ---- a launch, from crash to safe mode ---- */

static void fails(lg_completion *done, void *user)
{
    (void)user;
    lg_complete_text(done, LG_ERR_FAILED, "the cache\nis locked");
}

static lg_status task_fails(void *user)
{
    (void)user;
    return LG_ERR_FAILED;
}

static void prepare(void)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_repair repair = LG_REPAIR_INIT;
    lg_task task = LG_TASK_INIT;
    options.finish = LG_FINISH_MARK;
    options.auto_repair = 1;
    repair.name = "clear cache";
    repair.run = fails;
    task.key = "any";
    task.run = task_fails;
    EXPECT(lg_launch_prepare(session, "main", &options, &launch) == LG_OK);
    EXPECT(lg_launch_add_repair(launch, &repair) == LG_OK && lg_launch_add_task(launch, &task) == LG_OK);
}

static void body_crashes(void *argument)
{
    (void)argument;
    start();
    prepare();
    lg_launch_begin(launch);
    crash();
}

static void body_repairs(void *argument)
{
    (void)argument;
    start();
    EXPECT(was_told("50 the last run (number 2, "));
    prepare();
    lg_launch_begin(launch);
    await("40 launch main: a repair is needed (streak 2 of 2, unknown 0 of 4)\n");
    await("60 launch main: repair \"clear cache\" failed: the cache is locked\n");
    await("clear cache\", attempt 1: failed\n");
    await("60 launch main: task \"any\" failed\n");
    EXPECT(lg_launch_protect(launch, "a test") == LG_OK);
    await("the program asks for protection, which has no effect in safe mode: a test\n");
    lg_launch_finished(launch);
    await("20 launch main: normal\n");
    signal(SIGILL, SIG_IGN);
    lg_heartbeat(session);
    await("50 SIGILL is ignored: a fault will end the process without a record\n");
    kill(getpid(), SIGKILL);
}

/* The ring log and on_log got the same, but for line feeds, the prefix, and the last run. */
static void expect_same_as_log(lg_reader *reader)
{
    lg_log_info log;
    lg_log_entry entry;
    const char *line = got->lines;
    unsigned last_run = 0;
    assert_int_equal(lg_reader_log(reader, &log), LG_OK);
    assert_true(log.entries > 5);
    for (uint64_t i = 0; i < log.entries; i++) {
        char expected[LG_LOG_TEXT_MAX + 16];
        for (; strstr(line, "the last run ") && strstr(line, "the last run ") < strchr(line, '\n'); last_run++)
            line = strchr(line, '\n') + 1;
        assert_int_equal(lg_reader_log_entry(reader, i, &entry), LG_OK);
        const char *text = entry.text;
        if (strncmp(text, "launchguard: ", 13) == 0)
            text += 13;
        int size = snprintf(expected, sizeof expected, "%d %s", (int)entry.level, text);
        for (char *at = expected; *at; at++)
            *at = *at == '\n' ? ' ' : *at;
        assert_int_equal(strncmp(line, expected, (size_t)size), 0);
        assert_int_equal(line[size], '\n');
        line += size + 1;
    }
    assert_string_equal(line, "");
    assert_int_equal(last_run, 1);
}

static void test_launch(void **state)
{
    (void)state;
    expect_signal(body_crashes, NULL, SIGSEGV);
    assert_false(was_told("the last run"));
    expect_signal(body_crashes, NULL, SIGSEGV);
    assert_true(was_told("50 the last run (number 1, "));
    assert_true(was_told(") has the end \"crash\": the run file holds a crash record; signal 11, fault.null_write\n"));
    forget();
    expect_signal(body_repairs, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    expect_same_as_log(reader);
    lg_reader_close(reader);
}

/* A call says all before it returns. */
static lg_status marks_early(void *user)
{
    (void)user;
    EXPECT(lg_launch_finished(launch) == LG_OK && was_told("30 launch main: marked as finished; "));
    return LG_OK;
}

static void body_marks(void *argument)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_task task = LG_TASK_INIT;
    (void)argument;
    start();
    options.finish = LG_FINISH_MARK;
    EXPECT(lg_launch_prepare(session, "main", &options, &launch) == LG_OK);
    task.key = "first";
    task.run = marks_early;
    EXPECT(lg_launch_add_task(launch, &task) == LG_OK);
    task.key = "second";
    task.run = task_fails;
    EXPECT(lg_launch_add_task(launch, &task) == LG_OK && lg_launch_begin(launch) == LG_OK);
    EXPECT(was_told("60 launch main: task \"second\" failed\n") && was_told("20 launch main: normal\n"));
}

static void test_before_the_call_returns(void **state)
{
    (void)state;
    expect_exit(body_marks, NULL, 0);
}

/* ---- the last run ---- */

static void body_aborts(void *argument)
{
    (void)argument;
    start();
    assert(session == NULL);
}

static void body_ends(void *argument)
{
    (void)argument;
    start();
}

static void body_survives(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jump_out);
    start();
    if (sigsetjmp(escape, 1) == 0)
        crash();
    lg_heartbeat(session);
    kill(getpid(), SIGTERM);
}

static void body_notes_crash(void *argument)
{
    (void)argument;
    start();
    lg_crash_note(session, "TypeError");
}

static void test_last_words(void **state)
{
    (void)state;
    expect_signal(body_aborts, NULL, SIGABRT);
    expect_exit(body_ends, NULL, 0);
    assert_true(was_told("50 the last run said before its crash: "));
    assert_true(was_told(": Assertion `session == NULL' failed.\n"));
    forget();
    expect_exit(body_ends, NULL, 0);
    assert_int_equal(got->calls, 0);
}

static void test_last_run(void **state)
{
    (void)state;
    expect_exit(body_ends, NULL, 0);
    expect_exit(body_ends, NULL, 0);
    assert_int_equal(got->calls, 0); /* after a clean end */
    expect_signal(body_survives, NULL, SIGTERM);
    expect_exit(body_ends, NULL, 0);
    assert_true(was_told("30 the last run (number 3, "));
    assert_true(was_told("\"terminated\""));
    assert_true(was_told("50 the last run survived crashes before its end: its file holds 1 of them\n"));
    expect_exit(body_notes_crash, NULL, 0);
    expect_exit(body_ends, NULL, 0);
    assert_true(was_told("50 the last run noted a crash of its own: TypeError\n"));
}

/* ---- problems of a start ---- */

static void body_mistakes(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    options.on_log = on_log;
    options.log_user = &session;
    options.app_id = "no good";
    EXPECT(lg_start(&options, &session) == LG_ERR_OPTION);
    EXPECT(got->calls == 1 && was_told("60 lg_start: app_id must have"));
    options.app_id = "org.example.logger";
    options.size = 4; /* nothing in it is known */
    EXPECT(lg_start(&options, &session) == LG_ERR_OPTION && got->calls == 1);
    options.size = sizeof options;
    options.state_directory = "/proc/nowhere";
    EXPECT(lg_start(&options, &session) != LG_OK && got->calls == 2 && was_told("60 /proc/nowhere"));
    start();
    EXPECT(got->calls == 2);
    EXPECT(lg_start(&options, &session) == LG_ERR_ALREADY && got->calls == 2);
}

static void test_problems(void **state)
{
    (void)state;
    expect_exit(body_mistakes, NULL, 0);
}

static void body_second(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    options.on_log = on_log;
    options.log_user = &session;
    options.app_id = "org.example.test";
    options.state_directory = state_path("");
    EXPECT(lg_start(&options, &session) == LG_ERR_SECONDARY);
    EXPECT(got->calls == 1 && strncmp(got->lines, "40 ", 3) == 0);
    lg__host_log(&session->host, LG_LEVEL_INFO, "beside the first one");
    lg__host_hand_over(&session->host);
    EXPECT(was_told("30 beside the first one\n"));
}

/* A program that runs twice. */
static void test_second(void **state)
{
    (void)state;
    pid_t first = fork();
    if (first == 0) {
        alarm(60);
        plain_signals();
        start_session();
        got->tid = getpid();
        wait_for_ever(NULL);
    }
    wait_until(got->tid);
    expect_exit(body_second, NULL, 0);
    kill(first, SIGKILL);
    assert_int_equal(waitpid(first, NULL, 0), first);
}

static void crash_here(const char *text)
{
    if (strstr(text, "the last run ("))
        crash();
}

static void body_crashes_in_logger(void *argument)
{
    (void)argument;
    and_then = crash_here;
    start();
    _exit(1);
}

/* It is recorded as any crash, and LaunchGuard does not take it for its own. */
static void test_crash_in_logger(void **state)
{
    (void)state;
    expect_signal(body_crashes, NULL, SIGSEGV);
    for (int i = 0; i < 20; i++) {
        expect_signal(body_crashes_in_logger, NULL, SIGSEGV);
        assert_int_equal(newest_crash(LG_STAGE_DONE).tid, newest_info().pid);
    }
    forget();
    expect_exit(body_ends, NULL, 0);
    assert_true(was_told("the last run (number 21, "));
    assert_int_equal(last_of_timeline().verdict.end, LG_END_CRASH);
}

/* ---- calls from on_log ---- */

static void asks_once(const char *text)
{
    static bool asked;
    if (strstr(text, "checking") && !asked) {
        asked = true;
        EXPECT(lg_launch_protect(launch, "once") == LG_OK);
        EXPECT(!was_told("the program asks for protection"));
        got->tid = 0;
    }
}

static void always_asks(const char *text)
{
    (void)text;
    lg_log(session, LG_LEVEL_INFO, "from on_log");
    lg_launch_protect(launch, "again");
}

static void body_calls(void *argument)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    and_then = argument ? always_asks : asks_once;
    start();
    options.finish = LG_FINISH_MARK;
    EXPECT(lg_launch_prepare(session, "main", &options, &launch) == LG_OK);
    EXPECT(lg_launch_begin(launch) == LG_OK);
    EXPECT(was_told("the program asks for protection"));
    _exit(0);
}

static void test_calls(void **state)
{
    (void)state;
    expect_exit(body_calls, NULL, 0);
    assert_true(was_told("the program asks for protection: once\n"));
    forget();
    expect_exit(body_calls, "always", 0); /* it comes to an end */
}

/* ---- no more ---- */

static void forks(const char *text)
{
    int status;
    (void)text;
    and_then = NULL;
    lg__host_log(&session->host, LG_LEVEL_INFO, "for both");
    pid_t child = fork();
    if (child == 0) {
        and_then = always_asks;
        return; /* into LaunchGuard, which calls nobody here any more */
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

static void body_ends_early(void *argument)
{
    const char *how = argument;
    pid_t self = getpid();
    start();
    if (strcmp(how, "fork") == 0) {
        and_then = forks;
        lg__host_log(&session->host, LG_LEVEL_INFO, "forks");
        lg__host_hand_over(&session->host);
        EXPECT(got->calls == (getpid() == self ? 2 : 1));
        if (getpid() != self)
            _exit(0);
    } else {
        lg__host_log(&session->host, LG_LEVEL_INFO, "before the end");
        lg_stop(session);
        EXPECT(got->calls == 1 && was_told("before the end"));
        lg__host_log(&session->host, LG_LEVEL_INFO, "after the end");
        lg__host_hand_over(&session->host);
        EXPECT(got->calls == 1);
    }
}

static void test_no_more(void **state)
{
    (void)state;
    expect_exit(body_ends_early, "fork", 0);
    forget();
    expect_exit(body_ends_early, "stop", 0);
}

/* ---- what the watch thread says ---- */

static void body_hangs(void *argument)
{
    (void)argument;
    session = start_with((lg_options){ .size = sizeof(lg_options), .on_log = on_log, .log_user = &session, .hang_running_ms = 100 });
    EXPECT(count_threads() == 1);
    EXPECT(lg_heartbeat(session) == LG_OK);
    await("it hangs\n"); /* this thread calls nothing */
    EXPECT(got->tid != lg__os_tid());
    lg_heartbeat(session);
    await("the hang is over\n");
    uint64_t deadline;
    EXPECT(lg_deadline_begin(session, "job", 100, &deadline) == LG_OK);
    await("is about to overrun its deadline of 100 ms");
    lg_stop(session);
    wait_until(count_threads() == 1);
}

static void body_leaves_it_alone(void *argument)
{
    (void)argument;
    start();
    EXPECT(lg_heartbeat(session) == LG_OK);
    pthread_exit(NULL);
}

static void body_crashes_in_teller(void *argument)
{
    (void)argument;
    session = start_with((lg_options){ .size = sizeof(lg_options), .on_log = on_log, .log_user = &session, .hang_running_ms = 100 });
    and_then = (void (*)(const char *))abort;
    EXPECT(lg_heartbeat(session) == LG_OK);
    for (;;)
        pause();
}

static void test_watch(void **state)
{
    (void)state;
    expect_exit(body_hangs, NULL, 0);
    expect_signal(body_crashes_in_teller, NULL, SIGABRT);
    assert_int_not_equal(newest_crash(LG_STAGE_DONE).tid, newest_info().pid);
}

/* Its thread keeps no process alive. */
static void test_keeps_no_process(void **state)
{
    (void)state;
    expect_exit(body_leaves_it_alone, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOGGED(test_launch), LOGGED(test_before_the_call_returns), LOGGED(test_last_words), LOGGED(test_last_run), LOGGED(test_problems), LOGGED(test_second), LOGGED(test_crash_in_logger), LOGGED(test_calls),
        LOGGED(test_no_more), LOGGED(test_watch), LOGGED(test_keeps_no_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
