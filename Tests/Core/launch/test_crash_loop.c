/* The launch for real: processes that crash, hang, exit, are killed or terminated, and the starts
 * after them. */
#include "harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "store/crc32c.h"
#include "store/format.h"

/* The lines that a child's callbacks report to the test, in memory that both share. */
static char *story;
#define STORY_BYTES 4096

static void tell(const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    strncat(story, line, STORY_BYTES - strlen(story) - 1);
    strncat(story, ";", STORY_BYTES - strlen(story) - 1);
}

static int make(void **state)
{
    if (!story)
        story = shared_memory(STORY_BYTES);
    story[0] = 0;
    return make_state(state);
}

/* ---- a program with one context ---- */

enum how { CRASH_IN_TASK, CRASH_AFTER, FINISH, TERMINATE, KILL, EXIT_7, EXIT_0, HOLD_WINDOW, CRASH_AFTER_WINDOW, STOP, CRASH_SLOWLY };

struct program {
    enum how how;
    const char *version;
    lg_status repair_answers;    /* what the first repair answers */
    bool repair_crashes, repair_hangs, repair_silent, repair_twice, repair_other_thread;
    uint32_t report_after, repair_after, unknown_after;
    int64_t window_ms;
    lg_finish finish;
    uint32_t timeout_ms, attempts;
};

#define LONG_MS 3600000 /* no window passes before the child's end that the test does not name */

/* The defaults first, then the values that a test gives. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define PROGRAM(...) (&(struct program){ .version = "1.0", .report_after = 1, .repair_after = 2, \
                                         .unknown_after = LG_UNKNOWN_AFTER_DEFAULT, .window_ms = LONG_MS, __VA_ARGS__ })

static const struct program *program;

static void on_report(const lg_report_batch *batch, lg_completion *done, void *user)
{
    (void)user;
    tell("report %s %u of %u", batch->context, batch->streak, batch->report_count);
    for (uint32_t i = 0; i < batch->report_count; i++)
        if (access(batch->reports[i]->path, R_OK) != 0)
            tell("missing %s", batch->reports[i]->path);
    lg_complete(done, LG_OK);
}

static atomic_bool repair_returned;

static void *answer_later(void *argument)
{
    wait_until(repair_returned);
    lg_complete(argument, LG_OK);
    return NULL;
}

static void first_repair(lg_completion *done, void *user)
{
    tell("%s", (const char *)user);
    if (program->repair_crashes)
        crash();
    if (program->repair_hangs)
        for (;;)
            pause();
    if (program->repair_silent)
        return;
    if (program->repair_other_thread) {
        pthread_t thread;
        pthread_create(&thread, NULL, answer_later, done);
        repair_returned = true;
        return;
    }
    lg_complete_text(done, program->repair_answers, "no space");
    if (program->repair_twice)
        lg_complete_text(done, LG_ERR_FAILED, "no space");
}

static void second_repair(lg_completion *done, void *user)
{
    tell("%s", (const char *)user);
    lg_complete(done, LG_OK);
}

static void on_status(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch, (void)user;
    tell("%s", lg_launch_status_name(status));
}

static lg_status task(void *user)
{
    tell("task %s", (const char *)user);
    if (program->how == CRASH_IN_TASK && strcmp(user, "b") == 0)
        crash();
    return LG_OK;
}

/* An earlier handler that works for longer than the window of the launch. */
static void works_long(int number)
{
    pass_time((unsigned)program->window_ms * 2, "the window passes while the handler works");
    signal(number, SIG_DFL);
}

/* On a busy machine the time of a window is counted slowly. */
static void await_window(void)
{
    if (program->finish == LG_FINISH_MARK)
        pass_time((unsigned)program->window_ms + 200, "a window would have passed");
    else
        wait_until(strstr(story, "normal;"));
}

static void run_program(void *argument)
{
    program = argument;
    if (program->how == CRASH_SLOWLY)
        signal(SIGSEGV, works_long);
    lg_session *session = start_version(program->version);
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.report_after = program->report_after;
    options.repair_after = program->repair_after;
    options.unknown_after = program->unknown_after;
    options.window_ms = program->window_ms;
    options.finish = program->finish;
    options.on_report = on_report;
    options.on_status = on_status;
    options.repair_grace_ms = 0;
    options.overrun = LG_OVERRUN_GO_ON;
    lg_launch *launch;
    if (lg_launch_prepare(session, "main", &options, &launch) != LG_OK)
        _exit(92);
    lg_repair large = LG_REPAIR_INIT, small = LG_REPAIR_INIT;
    large.name = "large";
    large.impact = 50;
    large.run = second_repair;
    large.user = "repair large";
    small.name = "small";
    small.impact = 10;
    small.run = first_repair;
    small.user = "repair small";
    small.timeout_ms = program->timeout_ms;
    small.attempts = program->attempts;
    if (lg_launch_add_repair(launch, &large) != LG_OK || lg_launch_add_repair(launch, &small) != LG_OK ||
        lg_launch_add_repair(launch, &small) != LG_ERR_DUPLICATE)
        _exit(91);
    lg_task tasks[2] = { LG_TASK_INIT, LG_TASK_INIT };
    static char *keys[2] = { "a", "b" };
    for (int i = 0; i < 2; i++) {
        tasks[i].key = keys[i];
        tasks[i].run = task;
        tasks[i].user = keys[i];
        if (lg_launch_add_task(launch, &tasks[i]) != LG_OK)
            _exit(90);
    }
    if (lg_launch_finished(launch) != LG_ERR_STATE || lg_launch_begin(launch) != LG_OK || lg_launch_begin(launch) != LG_ERR_STATE ||
        lg_launch_add_task(launch, &tasks[0]) == LG_OK)
        _exit(89);
    switch (program->how) {
    case CRASH_IN_TASK:
    case CRASH_SLOWLY:
    case CRASH_AFTER: crash(); break;
    case FINISH: lg_launch_finished(launch); break;
    case TERMINATE: raise(SIGTERM); break;
    case KILL: raise(SIGKILL); break;
    case EXIT_7: exit(7);
    case EXIT_0: exit(0);
    case HOLD_WINDOW: await_window(); break;
    case CRASH_AFTER_WINDOW: await_window(); abort();
    case STOP: lg_stop(session); break;
    }
}

/* Run the program; assert its end and the lines of its callbacks. */
static void expect(const struct program *given, int signal, const char *expected)
{
    story[0] = 0;
    if (signal)
        expect_signal(run_program, (void *)(uintptr_t)given, signal);
    else
        expect_exit(run_program, (void *)(uintptr_t)given, given->how == EXIT_7 ? 7 : 0);
    assert_string_equal(story, expected);
}

#define HEALTHY "checking;task a;task b;"

static void test_crash_crash_repair(void **state)
{
    (void)state;
    expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, HEALTHY);
    expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, "checking;report main 1 of 1;task a;task b;");
    assert_int_equal(last_of_timeline().verdict.end, LG_END_CRASH);
    assert_int_equal(last_of_timeline().counted, 1);
    expect(PROGRAM(.how = FINISH), 0,
           "needs-repair;report main 2 of 1;repairing;repair small;checking;task a;task b;normal;");
    lg_launch_info context = ledger_context("main");
    assert_int_equal(context.streak, 0);
    assert_int_equal(context.crashes, 2);
    assert_int_equal(context.repairs, 1);
    assert_int_equal(context.status, LG_LAUNCH_NORMAL);
    expect(PROGRAM(.how = FINISH), 0, HEALTHY "normal;");
    assert_true(last_of_timeline().events[0] & LG_EVENT_REPAIRED); /* the previous run */
    expect(PROGRAM(.how = FINISH), 0, HEALTHY "normal;");
    assert_false(last_of_timeline().events[0] & LG_EVENT_REPAIRED);
}

static void test_task_is_known(void **state)
{
    (void)state;
    expect(PROGRAM(.how = CRASH_IN_TASK), SIGSEGV, "checking;task a;task b;");
    lg_reader *reader = newest_run();
    lg_run_context context;
    assert_int_equal(lg_reader_run_context(reader, 0, &context), LG_OK);
    assert_string_equal(context.name, "main");
    assert_string_equal(context.task, "b");
    assert_int_equal(context.phase, LG_PHASE_LAUNCHING);
    lg_reader_close(reader);
}

static void test_probation(void **state)
{
    (void)state;
    expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, HEALTHY);
    expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, "checking;report main 1 of 1;task a;task b;");
    expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, "needs-repair;report main 2 of 1;repairing;repair small;checking;task a;task b;");
    /* On probation one crash is enough, and the next rung is tried. */
    expect(PROGRAM(.how = FINISH), 0, "needs-repair;report main 1 of 1;repairing;repair large;checking;task a;task b;normal;");
}

static void test_repair_fails(void **state)
{
    (void)state;
    expect(PROGRAM(.how = CRASH_AFTER, .repair_after = 1), SIGSEGV, HEALTHY);
    expect(PROGRAM(.how = FINISH, .repair_after = 1, .repair_answers = LG_ERR_FAILED), 0,
           "needs-repair;report main 1 of 1;repairing;repair small;needs-repair;repairing;repair small;needs-repair;repairing;repair large;"
           "checking;task a;task b;normal;");
    lg_reader *reader = newest_run();
    assert_true(log_has(reader, "launch main: repair \"small\" failed: no space"));
    assert_true(log_has(reader, "launch main: rung 1, repair \"small\", attempt 2: failed"));
    lg_reader_close(reader);
    /* also in the ledger, until the next launch that begins; then of its run */
    expect(PROGRAM(.how = FINISH), 0, HEALTHY "normal;");
    assert_string_equal(last_of_timeline().reason, "no space");
    expect(PROGRAM(.how = FINISH), 0, HEALTHY "normal;");
    assert_string_equal(last_of_timeline().reason, "");
}

static void test_repair_silent_or_hanging(void **state)
{
    (void)state;
    for (int hangs = 0; hangs < 2; hangs++) {
        make(NULL);
        expect(PROGRAM(.how = CRASH_AFTER, .repair_after = 1), SIGSEGV, HEALTHY);
        expect(PROGRAM(.how = FINISH, .repair_after = 1, .repair_silent = !hangs, .repair_hangs = hangs, .timeout_ms = 3000, .attempts = 1), 0,
               "needs-repair;report main 1 of 1;repairing;repair small;needs-repair;repairing;repair large;checking;task a;task b;normal;");
    }
}

static void test_repair_answers_oddly(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        make(NULL);
        expect(PROGRAM(.how = CRASH_AFTER, .repair_after = 1), SIGSEGV, HEALTHY);
        expect(PROGRAM(.how = FINISH, .repair_after = 1, .repair_twice = twice, .repair_other_thread = !twice), 0,
               "needs-repair;report main 1 of 1;repairing;repair small;checking;task a;task b;normal;");
        lg_reader *reader = newest_run();
        /* It did not, or the answer came late. */
        assert_false(log_has(reader, "launch main: repair \"small\" failed: no space"));
        lg_reader_close(reader);
    }
}

static void test_crash_during_repair(void **state)
{
    (void)state;
    expect(PROGRAM(.how = CRASH_AFTER, .repair_after = 1), SIGSEGV, HEALTHY);
    expect(PROGRAM(.how = FINISH, .repair_after = 1, .repair_crashes = true), SIGSEGV, "needs-repair;report main 1 of 1;repairing;repair small;");
    /* The run file, the ledger and the breadcrumb number the rungs alike. */
    lg_run_context of_run;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_run_context(reader, 0, &of_run), LG_OK);
    assert_int_equal(of_run.rung, 1);
    assert_int_equal(ledger_context("main").rung, 1);
    lg_reader_close(reader);
    /* The crash is recognised: the second attempt of the same rung, then the next rung. No new
     * report: the streak is the same. */
    expect(PROGRAM(.how = FINISH, .repair_after = 1, .repair_crashes = true), SIGSEGV, "needs-repair;repairing;repair small;");
    lg_timeline_entry entry = last_of_timeline();
    assert_int_equal(entry.verdict.end, LG_END_CRASH);
    assert_int_equal(entry.repairing, 1);
    expect(PROGRAM(.how = FINISH, .repair_after = 1), 0, "needs-repair;repairing;repair large;checking;task a;task b;normal;");
    reader = newest_run();
    assert_true(log_has(reader, "launch main: rung 2, repair \"large\", attempt 1: repaired"));
    lg_reader_close(reader);
}

static void test_innocent_ends(void **state)
{
    (void)state;
    static const struct { enum how how; int signal; lg_end end; } ends[] = {
        { TERMINATE, SIGTERM, LG_END_TERMINATED }, { EXIT_0, 0, LG_END_CLEAN }, { EXIT_7, 0, LG_END_EXIT },
        { STOP, 0, LG_END_CLEAN },                 { FINISH, 0, LG_END_CLEAN },
    };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        for (int times = 0; times < 3; times++)
            expect(PROGRAM(.how = ends[i].how), ends[i].signal, ends[i].how == FINISH || ends[i].how == STOP ? HEALTHY "normal;" : HEALTHY);
        assert_int_equal(last_of_timeline().verdict.end, ends[i].end);
        assert_int_equal(last_of_timeline().counted, 0);
        assert_int_equal(ledger_context("main").streak, 0);
        assert_int_equal(ledger_context("main").unknown, 0);
    }
}

static void test_killed(void **state)
{
    (void)state;
    expect(PROGRAM(.how = KILL, .unknown_after = 2), SIGKILL, HEALTHY);
    expect(PROGRAM(.how = KILL, .unknown_after = 2), SIGKILL, HEALTHY);
    assert_int_equal(last_of_timeline().verdict.end, LG_END_UNKNOWN);
    assert_int_equal(last_of_timeline().verdict.evidence, LG_EVIDENCE_NO_MARK);
    /* Deaths that lead to a repair are reported before it, and the breadcrumb has the reason. */
    expect(PROGRAM(.how = FINISH, .unknown_after = 2), 0, "needs-repair;report main 0 of 2;repairing;repair small;checking;task a;task b;normal;");
    assert_int_equal(ledger_context("main").unknown, 0);
    lg_reader *reader = newest_run();
    assert_true(log_has(reader, "launch main: a repair is needed (streak 0 of 2, unknown 2 of 2)"));
    assert_true(log_has(reader, "launch main: report (streak 0, unknown 2) answered"));
    lg_reader_close(reader);
    /* Once, also where the repair fails. */
    make(NULL);
    for (int i = 0; i < 2; i++)
        expect(PROGRAM(.how = KILL, .unknown_after = 2), SIGKILL, HEALTHY);
    expect(PROGRAM(.how = FINISH, .unknown_after = 2, .repair_crashes = true), SIGSEGV, "needs-repair;report main 0 of 2;repairing;repair small;");
    expect(PROGRAM(.how = FINISH, .unknown_after = 2), 0, "needs-repair;repairing;repair small;checking;task a;task b;normal;");
}

static void test_window(void **state)
{
    (void)state;
    /* The launch finishes by time alone; a crash after that is no launch crash. */
    expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, HEALTHY);
    expect(PROGRAM(.how = HOLD_WINDOW, .window_ms = 1000), 0, "checking;report main 1 of 1;task a;task b;normal;");
    expect(PROGRAM(.how = CRASH_AFTER_WINDOW, .window_ms = 1000), SIGABRT, HEALTHY "normal;");
    expect(PROGRAM(.how = FINISH), 0, "checking;report main 0 of 1;task a;task b;normal;");
    assert_int_equal(last_of_timeline().verdict.end, LG_END_CRASH);
    assert_int_equal(last_of_timeline().counted, 0);
    assert_int_equal(last_of_timeline().late, 1);
    /* Only by mark: the time has no effect. Only by time: the mark has no effect. Both: the mark
     * waits for the time. */
    expect(PROGRAM(.how = CRASH_AFTER_WINDOW, .window_ms = 1000, .finish = LG_FINISH_MARK), SIGABRT, HEALTHY);
    expect(PROGRAM(.how = FINISH, .finish = LG_FINISH_TIME), 0, "checking;report main 1 of 1;task a;task b;");
    expect(PROGRAM(.how = FINISH, .finish = LG_FINISH_BOTH), 0, HEALTHY);
    assert_int_equal(ledger_context("main").streak, 1);
    expect(PROGRAM(.how = FINISH, .window_ms = 0), 0, HEALTHY "normal;");
    assert_int_equal(ledger_context("main").streak, 0);
}

/* The window passes while the earlier handler of a crash runs: the crash belongs to the launch. */
static void test_window_passes_in_handler(void **state)
{
    (void)state;
    expect(PROGRAM(.how = CRASH_SLOWLY, .window_ms = 1000), SIGSEGV, HEALTHY);
    expect(PROGRAM(.how = CRASH_SLOWLY, .window_ms = 1000), SIGSEGV, "checking;report main 1 of 1;task a;task b;");
    assert_int_equal(ledger_context("main").streak, 1);
    expect(PROGRAM(.how = FINISH), 0,
           "needs-repair;report main 2 of 1;repairing;repair small;checking;task a;task b;normal;");
}

static void test_upgrade(void **state)
{
    (void)state;
    expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, HEALTHY);
    expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, "checking;report main 1 of 1;task a;task b;");
    expect(PROGRAM(.how = FINISH, .version = "1.1"), 0, "checking;report main 0 of 1;task a;task b;normal;");
    lg_timeline_entry entry = last_of_timeline();
    /* An upgrade resets the counters, and changes nothing of how the run ended, nor the totals. */
    assert_int_equal(ledger_context("main").crashes, 2);
    assert_int_equal(entry.verdict.end, LG_END_CRASH);
    assert_int_equal(entry.verdict.evidence, LG_EVIDENCE_CRASH_RECORD);
    assert_int_equal(entry.verdict.signal, SIGSEGV);
    assert_int_equal(entry.events[0], LG_EVENT_REPORTED | LG_EVENT_UPGRADED);
    assert_int_equal(entry.counted, 1);
    assert_int_equal(entry.late, 0);
    assert_string_equal(entry.app_version, "1.0");
    /* A streak that was reported for the old version is not reported again. */
    expect(PROGRAM(.how = CRASH_AFTER, .version = "1.1"), SIGSEGV, HEALTHY);
    expect(PROGRAM(.how = FINISH, .version = "1.1"), 0, "checking;report main 1 of 1;task a;task b;normal;");
}

/* Rewrite the boot id in a run file, as if the machine had been booted since. */
static void change_boot_id(void)
{
    struct lg__header header;
    struct lg__identity identity;
    int file = open(newest_run_path(), O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pread(file, &header, sizeof header, 0), sizeof header);
    off_t at = 0;
    for (uint32_t i = 0; i < header.section_count; i++)
        if (header.sections[i].kind == LG__SECTION_IDENTITY)
            at = (off_t)header.sections[i].offset;
    assert_int_equal(pread(file, &identity, sizeof identity, at), sizeof identity);
    identity.boot_id[0] ^= 0xff;
    identity.crc = lg__crc32c(0, &identity, offsetof(struct lg__identity, crc));
    assert_int_equal(pwrite(file, &identity, sizeof identity, at), sizeof identity);
    close(file);
}

static void test_reboot(void **state)
{
    (void)state;
    expect(PROGRAM(.how = KILL), SIGKILL, HEALTHY);
    change_boot_id();
    expect(PROGRAM(.how = FINISH), 0, HEALTHY "normal;");
    assert_int_equal(last_of_timeline().verdict.end, LG_END_REBOOT);
    assert_int_equal(ledger_context("main").unknown, 0);
    /* A crash before a power cut is a crash. */
    expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, HEALTHY);
    change_boot_id();
    expect(PROGRAM(.how = FINISH), 0, "checking;report main 1 of 1;task a;task b;normal;");
    assert_int_equal(last_of_timeline().verdict.end, LG_END_CRASH);
}

/* ---- the run file is gone ---- */

static void test_run_file_gone(void **state)
{
    (void)state;
    /* The ledger's own mark shows that the end was a crash. */
    expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, HEALTHY);
    assert_int_equal(unlink(newest_run_path()), 0);
    expect_exit(run_program, PROGRAM(.how = EXIT_0), 0);
    assert_int_equal(last_of_timeline().verdict.end, LG_END_CRASH);
    assert_int_equal(last_of_timeline().verdict.evidence, LG_EVIDENCE_CRASH_MARK);
    assert_int_equal(ledger_context("main").streak, 1);
    /* Without that mark the end is unknown. */
    expect_signal(run_program, PROGRAM(.how = KILL), SIGKILL);
    assert_int_equal(unlink(newest_run_path()), 0);
    expect_exit(run_program, PROGRAM(.how = EXIT_0), 0);
    assert_int_equal(last_of_timeline().verdict.end, LG_END_UNKNOWN);
    assert_int_equal(last_of_timeline().verdict.evidence, LG_EVIDENCE_FILE_UNREADABLE);
    assert_int_equal(ledger_context("main").streak, 1);
}

/* ---- contexts ---- */

static void two_contexts(void *argument)
{
    lg_session *session = start_session();
    lg_launch *a, *b, *again;
    lg_launch_prepare(session, "a", NULL, &a);
    lg_launch_prepare(session, "b", NULL, &b);
    if (lg_launch_prepare(session, "a", NULL, &again) != LG_ERR_DUPLICATE || again != a)
        _exit(92);
    lg_launch_begin(a);
    lg_launch_finished(a);
    lg_launch_begin(b);
    if (argument)
        crash();
}

static void test_contexts(void **state)
{
    (void)state;
    expect_signal(two_contexts, (void *)1, SIGSEGV);
    expect_exit(two_contexts, NULL, 0);
    assert_int_equal(ledger_context("a").streak, 0); /* the launch was finished */
    assert_int_equal(ledger_context("b").streak, 1);
    assert_int_equal(ledger_context("a").crashes, 0);
}

/* ---- SIGKILL at every store of the ledger ---- */

static int stores_until_kill;

static void hook_store(const char *point)
{
    if (strncmp(point, "ledger: ", 8) == 0 && --stores_until_kill == 0)
        raise(SIGKILL);
}

static void killed_at_store(void *argument)
{
    lg__fault_hook = hook_store;
    run_program(argument);
}

static void test_kill_at_every_store(void **state)
{
    (void)state;
    int killed = 0;
    for (int at = 1; at < 100; at++) {
        make(NULL);
        expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, HEALTHY);
        expect(PROGRAM(.how = CRASH_AFTER), SIGSEGV, "checking;report main 1 of 1;task a;task b;");
        stores_until_kill = at;
        struct death death = run_child(killed_at_store, (void *)(uintptr_t)PROGRAM(.how = FINISH));
        assert_false(death.late);
        /* Wherever the kill came, the ledger holds one of the two neighbouring states: no count is
         * lost or doubled. */
        lg_launch_info context = ledger_context("main");
        assert_true(context.crashes == 1 || context.crashes == 2);
        if (WIFEXITED(death.status)) {
            assert_int_equal(context.crashes, 2);
            assert_int_equal(context.streak, 0);
            break;
        }
        killed++;
        assert_int_equal(WTERMSIG(death.status), SIGKILL);
        /* The next start repairs, or has repaired. */
        stores_until_kill = 0;
        expect_exit(run_program, (void *)(uintptr_t)PROGRAM(.how = FINISH), 0);
        assert_int_equal(ledger_context("main").crashes, 2);
        assert_int_equal(ledger_context("main").streak, 0);
    }
    assert_true(killed >= 20);
}

int main(void)
{
    #define LAUNCH_TEST(function) cmocka_unit_test_setup_teardown(function, make, remove_state)
    const struct CMUnitTest tests[] = {
        LAUNCH_TEST(test_crash_crash_repair), LAUNCH_TEST(test_task_is_known),   LAUNCH_TEST(test_probation),
        LAUNCH_TEST(test_repair_fails),       LAUNCH_TEST(test_repair_silent_or_hanging), LAUNCH_TEST(test_repair_answers_oddly),
        LAUNCH_TEST(test_crash_during_repair), LAUNCH_TEST(test_innocent_ends),  LAUNCH_TEST(test_killed),
        LAUNCH_TEST(test_window), LAUNCH_TEST(test_window_passes_in_handler),             LAUNCH_TEST(test_upgrade),         LAUNCH_TEST(test_reboot),
        LAUNCH_TEST(test_run_file_gone),      LAUNCH_TEST(test_contexts),        LAUNCH_TEST(test_kill_at_every_store),
    };
    return cmocka_run_group_tests_name("crash_loop", tests, NULL, NULL);
}
