/* lg_witness_finished(): another process finishes the launch of a program, and what a death means
 * before and after. */
#include "ending_program.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the program: as another process, mark this one. */
static lg_status marked_by_another(const char *context)
{
    const pid_t program = getpid(), other = fork();
    int status = 0;
    if (other == 0)
        _exit(lg_witness_finished(state_path(""), program, context));
    return waitpid(other, &status, 0) == other && WIFEXITED(status) ? (lg_status)WEXITSTATUS(status) : LG_ERR_FAILED;
}

static void must_be(lg_status status, lg_status expected)
{
    if (status != expected)
        _exit(97);
}

static void start_launch(lg_finish finish, int64_t window_ms)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    session = start_session();
    options.window_ms = window_ms;
    options.finish = finish;
    options.unknown_after = 1;
    must_be(lg_launch_prepare(session, "main", &options, &launch), LG_OK);
}

static void body_marked(void *argument)
{
    begin();
    must_be(marked_by_another("main"), LG_OK);
    must_be(marked_by_another("main"), LG_OK);
    end_by((enum way)(uintptr_t)argument);
}

/* The next start accounts for the run, and leaves its own launch open. */
static lg_end end_of(void (*program)(void *), void *argument)
{
    struct death death = run_child(program, argument);
    assert_false(death.late);
    assert_false(WIFEXITED(death.status) && WEXITSTATUS(death.status) >= 90);
    expect_exit(body, WAY(EXIT_0), 0);
    return last_of_timeline().verdict.end;
}

static void test_mark_counts(void **state)
{
    (void)state;
    static const struct { enum way way; lg_end end; } rows[] = {
        { CRASH, LG_END_CRASH }, { KILL, LG_END_UNKNOWN }, { EXIT_7_AT_ONCE, LG_END_UNKNOWN }, { TERMINATE, LG_END_TERMINATED }, { EXIT_0, LG_END_CLEAN },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        state_make();
        /* with a streak that a finished launch forgets */
        assert_int_equal(end_of(body, WAY(CRASH)), LG_END_CRASH);
        assert_int_equal(ledger_context("main").streak, 1);
        assert_int_equal(end_of(body_marked, WAY(rows[i].way)), rows[i].end);
        assert_int_equal(ledger_context("main").streak, 0);
        assert_int_equal(ledger_context("main").unknown, 0);
        state_remove();
    }
}

static void test_no_mark(void **state)
{
    (void)state;
    end_of(body, WAY(CRASH));
    end_of(body, WAY(KILL));
    assert_int_equal(ledger_context("main").streak, 1);
    assert_int_equal(ledger_context("main").unknown, 1);
}

static void body_refused(void *argument)
{
    (void)argument;
    start_launch(LG_FINISH_TIME, 3600000);
    must_be(marked_by_another("main"), LG_ERR_STATE);
    must_be(lg_launch_begin(launch), LG_OK);
    must_be(marked_by_another("main"), LG_ERR_STATE);
    must_be(marked_by_another("other"), LG_ERR_NOT_FOUND);
    must_be(lg_witness_finished(state_path(""), getppid(), "main"), LG_ERR_NOT_FOUND);
    must_be(lg_witness_finished(state_path("missing"), getpid(), "main"), LG_ERR_NOT_FOUND);
    must_be(lg_witness_finished("", getpid(), "main"), LG_ERR_ARGUMENT);
    must_be(lg_witness_finished(state_path(""), 0, "main"), LG_ERR_ARGUMENT);
    must_be(lg_witness_finished(state_path(""), getpid(), ""), LG_ERR_ARGUMENT);
    end_by(CRASH);
}

static void test_refused(void **state)
{
    (void)state;
    run_child(body_refused, NULL);
    assert_int_equal(lg_witness_finished(state_path(""), newest_info().pid, "main"), LG_ERR_STATE);
    expect_exit(body, WAY(EXIT_0), 0);
    assert_int_equal(ledger_context("main").streak, 1);
}

/* With both conditions the window has to pass as well. */
static void body_both(void *argument)
{
    start_launch(LG_FINISH_BOTH, argument ? 3600000 : 50);
    must_be(lg_launch_begin(launch), LG_OK);
    must_be(marked_by_another("main"), LG_OK);
    if (!argument)
        wait_until(lg_launch_get_status(launch) == LG_LAUNCH_NORMAL);
    end_by(CRASH);
}

static void test_both(void **state)
{
    (void)state;
    end_of(body_both, NULL);
    assert_int_equal(ledger_context("main").streak, 0);
    end_of(body_both, state);
    assert_int_equal(ledger_context("main").streak, 1);
}

/* The program learns of the mark by its next call. */
static void body_learns(void *argument)
{
    (void)argument;
    begin();
    must_be(lg_launch_get_status(launch) == LG_LAUNCH_CHECKING ? LG_OK : LG_ERR_FAILED, LG_OK);
    must_be(marked_by_another("main"), LG_OK);
    must_be(lg_launch_get_status(launch) == LG_LAUNCH_NORMAL ? LG_OK : LG_ERR_FAILED, LG_OK);
    must_be(lg_launch_protect(launch, "it broke"), LG_ERR_STATE);
    end_by(CRASH);
}

static void test_learns(void **state)
{
    (void)state;
    end_of(body_learns, NULL);
    assert_int_equal(ledger_context("main").streak, 0);
}

/* The ledger is as it was, and readers see that the launch is finished. */
static void expect_seen(uint32_t streak)
{
    lg_reader *reader;
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    must_be(lg_reader_open(state_path("ledger.lg"), &reader), LG_OK);
    must_be(lg_reader_ledger_last_run(reader, ""), LG_ERR_ARGUMENT);
    for (int with_run = 0; with_run < 3; with_run++) { /* a second time changes nothing */
        must_be(lg_reader_ledger_context(reader, 0, &info), LG_OK);
        must_be(info.status == (with_run ? LG_LAUNCH_NORMAL : LG_LAUNCH_CHECKING) && info.streak == (with_run ? 0 : streak) ? LG_OK : LG_ERR_FAILED, LG_OK);
        must_be(lg_reader_ledger_last_run(reader, state_path("")), LG_OK);
    }
    lg_reader_close(reader);
}

static void body_seen(void *argument)
{
    (void)argument;
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    begin();
    must_be(marked_by_another("main"), LG_OK);
    expect_seen(1);
    must_be(lg_launch_query(state_path(""), "main", NULL, &info), LG_OK);
    must_be(info.status == LG_LAUNCH_NORMAL && info.streak == 0 ? LG_OK : LG_ERR_FAILED, LG_OK);
    end_by(KILL);
}

static void test_seen_from_outside(void **state)
{
    (void)state;
    end_of(body, WAY(CRASH));
    assert_false(WIFEXITED(run_child(body_seen, NULL).status));
    expect_seen(1);
    lg_reader *run = newest_run();
    assert_int_equal(lg_reader_ledger_last_run(run, state_path("")), LG_ERR_STATE);
    lg_reader_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mark_counts), WITH_STATE(test_no_mark), WITH_STATE(test_refused), WITH_STATE(test_both), WITH_STATE(test_learns),
        WITH_STATE(test_seen_from_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
