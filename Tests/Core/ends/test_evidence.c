/* The end of a run, row by row: children that end in every way, and the verdict of the next
 * start. */
#include "ending_program.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/evidence.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"

/* ---- ends that follow from the run file alone ---- */

static void test_rows(void **state)
{
    (void)state;
    static const struct {
        enum way way;
        lg_end end;
        lg_evidence evidence;
        int signal, code;
        bool counted, unknown;
    } rows[] = {
        { CRASH, LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, SIGSEGV, 1, true, false },
        { ABORT, LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, SIGABRT, -6, true, false },
        { PIPE_SIGNAL, LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, SIGPIPE, -6, false, false },
        { DUMP, LG_END_TERMINATED, LG_EVIDENCE_DUMP_RECORD, SIGQUIT, 0, false, false },
        { STOP, LG_END_CLEAN, LG_EVIDENCE_STOP_MARK, 0, 0, false, false },
        { EXIT_0, LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK, 0, 0, false, false },
        { EXIT_7, LG_END_EXIT, LG_EVIDENCE_EXIT_MARK, 0, 7, false, false },
        { TERMINATE, LG_END_TERMINATED, LG_EVIDENCE_TERMINATE_MARK, SIGTERM, 0, false, false },
        { INTERRUPT, LG_END_TERMINATED, LG_EVIDENCE_TERMINATE_MARK, SIGINT, 0, false, false },
        { WILL_TERMINATE, LG_END_TERMINATED, LG_EVIDENCE_TERMINATION_ANNOUNCED, 0, 0, false, false },
        { WILL_RESTART, LG_END_CLEAN, LG_EVIDENCE_RESTART_ANNOUNCED, 0, 0, false, false },
        { WILL_BOTH, LG_END_TERMINATED, LG_EVIDENCE_TERMINATION_ANNOUNCED, 0, 0, false, false },
        /* An announcement does not count; the real end is recorded. */
        { WILL_TERMINATE_AND_CRASH, LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, SIGSEGV, 1, false, false },
        { WILL_TERMINATE_AND_EXIT_7, LG_END_EXIT, LG_EVIDENCE_EXIT_MARK, 0, 7, false, false },
        { KILL, LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, 0, 0, false, true },
        { EXIT_7_AT_ONCE, LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, 0, 0, false, true },
        { FINISH_AND_KILL, LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, 0, 0, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        state_make();
        struct death death = run_child(body, WAY(rows[i].way));
        assert_false(death.late);
        lg_verdict verdict = newest_verdict();
        assert_int_equal(verdict.end, rows[i].end);
        assert_int_equal(verdict.evidence, rows[i].evidence);
        expect_exit(body, WAY(EXIT_0), 0);
        lg_timeline_entry entry = last_of_timeline();
        if (entry.verdict.end != rows[i].end || entry.verdict.evidence != rows[i].evidence)
            fail_msg("row %zu", i);
        assert_int_equal(entry.verdict.signal, rows[i].signal);
        assert_int_equal(entry.verdict.code, rows[i].code);
        assert_int_equal(entry.counted, rows[i].counted || rows[i].unknown);
        assert_int_equal(ledger_context("main").streak, rows[i].counted);
        assert_int_equal(ledger_context("main").unknown, rows[i].unknown);
        bool announced = rows[i].way >= WILL_TERMINATE && rows[i].way <= WILL_TERMINATE_AND_EXIT_7;
        assert_int_equal(entry.launching, rows[i].way != STOP && rows[i].way != FINISH_AND_KILL && !announced);
    }
}

/* ---- the process ends while its file is read ---- */

static pid_t read_process;
static int end_now, asked, ends_at;

static void end_meanwhile(const char *point)
{
    if (strcmp(point, "reader: process") != 0 || asked++ != ends_at)
        return;
    assert_int_equal(write(end_now, "e", 1), 1);
    assert_int_equal(waitpid(read_process, NULL, 0), read_process);
}

static void test_ends_meanwhile(void **state)
{
    (void)state;
    static const struct {
        bool crashes;
        lg_end end;
    } rows[] = { { false, LG_END_CLEAN }, { true, LG_END_CRASH } };
    for (size_t i = 0; i < 4; i++) {
        int begun[2], end[2];
        char byte;
        lg_reader *reader;
        lg_verdict verdict;
        lg_run_info info;
        state_make();
        assert_true(pipe2(begun, O_CLOEXEC) == 0 && pipe2(end, O_CLOEXEC) == 0);
        read_process = fork();
        if (read_process == 0) {
            signal(SIGSEGV, SIG_DFL); /* not the one of the test framework */
            close(end[1]);            /* it ends with the test, too */
            begin();
            if (write(begun[1], "b", 1) != 1 || read(end[0], &byte, 1) != 1)
                _exit(90);
            if (rows[i % 2].crashes)
                crash();
            exit(0);
        }
        assert_int_equal(read(begun[0], &byte, 1), 1);
        assert_int_equal(lg_reader_open(newest_run_path(), &reader), LG_OK);
        end_now = end[1];
        asked = 0;
        ends_at = (int)(i / 2); /* before the first question for the process, or the second */
        lg__fault_hook = end_meanwhile;
        assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
        lg__fault_hook = NULL;
        assert_int_equal(verdict.end, rows[i % 2].end);
        assert_int_equal(lg_reader_run(reader, &info), LG_OK);
        assert_int_equal(info.exit_marked, !rows[i % 2].crashes);
        lg_reader_close(reader);
        for (int k = 0; k < 2; k++) {
            close(begun[k]);
            close(end[k]);
        }
    }
}

/* ---- a clean end, noted in the ledger ---- */

static void body_crashes_at_exit(void *argument)
{
    (void)argument;
    atexit(crash); /* after LaunchGuard's own handler */
    begin();
    exit(0);
}

static void change_clean_end(void)
{
    struct lg__hot hot;
    int file = open(state_path("ledger.lg"), O_RDWR | O_CLOEXEC);
    off_t at = section_at(file, LG__SECTION_HOT);
    assert_int_equal(pread(file, &hot, sizeof hot, at), sizeof hot);
    assert_true(hot.clean_end.ordinal);
    hot.clean_end.ended_ns ^= 1;
    assert_int_equal(pwrite(file, &hot, sizeof hot, at), sizeof hot);
    close(file);
}

static void test_clean_end_in_the_ledger(void **state)
{
    (void)state;
    expect_exit(body, WAY(EXIT_0), 0);
    lg_run_info info = newest_info();
    assert_int_equal(unlink(newest_run_path()), 0); /* the next start does not miss it */
    lg_timeline_entry entry = next_start();
    expect_end(entry, LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK);
    assert_int_equal(entry.verdict.monotonic_ns, info.end_ns);
    assert_int_equal(entry.wall_ns, info.wall_ns);
    assert_int_equal(entry.duration_ns, info.end_ns - info.monotonic_ns);
    assert_int_equal(entry.launching, 1);
    /* a crash after the end is in the run file */
    expect_signal(body_crashes_at_exit, NULL, SIGSEGV);
    expect_end(next_start(), LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD);
    /* what is not whole is not used */
    expect_exit(body, WAY(EXIT_0), 0);
    change_clean_end();
    assert_int_equal(unlink(newest_run_path()), 0);
    expect_end(next_start(), LG_END_UNKNOWN, LG_EVIDENCE_FILE_UNREADABLE);
}

static void test_exit_counts_where_asked_for(void **state)
{
    (void)state;
    run_child(body_counts_exit, WAY(EXIT_7));
    assert_int_equal(after(body_counts_exit, WAY(EXIT_0)).counted, 0);
    run_child(body_counts_exit, WAY(EXIT_7));
    expect_exit(body_counts_exit, WAY(EXIT_0), 0);
    expect_end(last_of_timeline(), LG_END_EXIT, LG_EVIDENCE_EXIT_MARK);
    assert_int_equal(last_of_timeline().counted, 1);
    assert_int_equal(ledger_context("main").streak, 1);
}

static void test_announced(void **state)
{
    (void)state;
    expect_signal(body, WAY(WILL_TERMINATE), SIGKILL);
    assert_int_equal(stored_context("main").phase, LG_PHASE_TERMINATING);
    lg_reader *reader = newest_run();
    lg_run_context context;
    assert_int_equal(lg_reader_run_context(reader, 0, &context), LG_OK);
    assert_int_equal(context.phase, LG_PHASE_TERMINATING);
    lg_reader_close(reader);
    assert_int_equal(newest_info().end_announced, 1);
    assert_true(newest_info().announced_ns > newest_info().monotonic_ns);
    assert_int_equal(lg_will_terminate(NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_will_restart(NULL), LG_ERR_ARGUMENT);
}

/* ---- a process killed while it announces its end; many threads that announce it at once ---- */

static int points_until_kill;

static void hook_store(const char *point)
{
    if (strncmp(point, "ledger: ", 8) == 0 && --points_until_kill == 0)
        raise(SIGKILL);
}

static void body_killed_while_it_announces(void *argument)
{
    begin();
    points_until_kill = (int)(intptr_t)argument;
    lg__fault_hook = hook_store;
    lg_will_terminate(session);
    lg__fault_hook = NULL;
}

static void test_killed_while_it_announces(void **state)
{
    (void)state;
    int killed = 0;
    for (intptr_t at = 1;; at++) {
        state_make();
        struct death death = run_child(body_killed_while_it_announces, (void *)at);
        if (WIFEXITED(death.status))
            break;
        killed++;
        expect_end(next_start(), LG_END_TERMINATED, LG_EVIDENCE_TERMINATION_ANNOUNCED);
        assert_int_equal(last_of_timeline().counted, 0);
    }
    assert_true(killed >= 4);
}

static void *announce(void *argument)
{
    for (int i = 0; i < 200; i++)
        if (argument)
            lg_will_restart(session);
        else
            lg_will_terminate(session);
    return NULL;
}

static void *finish(void *argument)
{
    for (int i = 0; i < 200; i++)
        lg_launch_finished(argument);
    return NULL;
}

static void body_many_announce(void *argument)
{
    (void)argument;
    pthread_t threads[8];
    begin();
    for (intptr_t i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, i < 7 ? announce : finish, i < 7 ? (void *)(i % 2) : launch);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    raise(SIGKILL);
}

static void test_many_announce(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        lg_timeline_entry entry = after(body_many_announce, NULL);
        assert_true(entry.verdict.evidence == LG_EVIDENCE_TERMINATION_ANNOUNCED || entry.verdict.evidence == LG_EVIDENCE_RESTART_ANNOUNCED);
        assert_int_equal(entry.counted, 0);
    }
}

static void body_without_launch(void *argument)
{
    (void)argument;
    start_session();
}

static void test_events_of_a_launch(void **state)
{
    (void)state;
    expect_signal(body, WAY(CRASH), SIGSEGV);
    expect_exit(body, WAY(EXIT_0), 0);
    expect_exit(body_without_launch, NULL, 0);
    assert_int_equal(last_of_timeline().events[0], LG_EVENT_REPORTED);
    assert_int_equal(last_of_timeline().launching, 1);
    /* A run without this launch records nothing about the launch, and nothing is counted. */
    expect_exit(body_without_launch, NULL, 0);
    assert_int_equal(last_of_timeline().events[0], 0);
    assert_int_equal(last_of_timeline().launching, 0);
}

static void body_after_stop(void *argument)
{
    (void)argument;
    begin();
    lg_stop(session);
    if (lg_will_terminate(session) != LG_ERR_CLOSED || lg_will_restart(session) != LG_ERR_CLOSED)
        _exit(90);
    lg_options nonsense = LG_OPTIONS_INIT;
    lg_session *same;
    if (lg_start(&nonsense, &same) != LG_ERR_ALREADY)
        _exit(91);
}

static void body_unprotected(void *argument)
{
    (void)argument;
    lg_options nonsense = LG_OPTIONS_INIT;
    lg_session *none;
    if (lg_start(&nonsense, &none) != LG_ERR_OPTION || lg_will_terminate(none) != LG_ERR_UNPROTECTED)
        _exit(90);
}

static void test_announced_where_nothing_is_recorded(void **state)
{
    (void)state;
    expect_exit(body_after_stop, NULL, 0);
    assert_int_equal(newest_info().end_announced, 0);
    expect_exit(body_unprotected, NULL, 0);
}

static void test_reboot(void **state)
{
    (void)state;
    run_child(body, WAY(KILL));
    change_boot_id();
    expect_end(next_start(), LG_END_REBOOT, LG_EVIDENCE_BOOT_DIFFERS);
    assert_int_equal(last_of_timeline().counted, 0);
    /* An earlier mark is stronger evidence. */
    run_child(body, WAY(WILL_RESTART));
    change_boot_id();
    expect_end(next_start(), LG_END_CLEAN, LG_EVIDENCE_RESTART_ANNOUNCED);
    /* A hang that only the power switch could end counts for the machine, not for the program. */
    run_child(body, WAY(KILL));
    uint64_t since = 1;
    write_state(offsetof(struct lg__state, hang_ns), &since, sizeof since);
    change_boot_id();
    expect_end(next_start(), LG_END_REBOOT, LG_EVIDENCE_BOOT_DIFFERS);
}

/* ---- hang ---- */

static void mark_hang(void)
{
    lg_run_info info = newest_info();
    uint64_t since = info.monotonic_ns + 5000000000u;
    write_state(offsetof(struct lg__state, hang_ns), &since, sizeof since);
}

static void test_hang_mark(void **state)
{
    (void)state;
    run_child(body, WAY(KILL));
    mark_hang();
    assert_int_equal(newest_verdict().end, LG_END_HANG);
    expect_exit(body, WAY(EXIT_0), 0);
    lg_timeline_entry entry = last_of_timeline();
    expect_end(entry, LG_END_HANG, LG_EVIDENCE_HANG_MARK);
    assert_int_equal(entry.duration_ns, 5000000000u);
    assert_int_equal(entry.counted, 1);
    assert_int_equal(ledger_context("main").streak, 1);
    /* A hang after the launch was finished is recorded as well, and is not counted. */
    run_child(body, WAY(FINISH_AND_KILL));
    mark_hang();
    expect_end(next_start(), LG_END_HANG, LG_EVIDENCE_HANG_MARK);
    assert_int_equal(last_of_timeline().counted, 0);
    assert_int_equal(ledger_context("main").streak, 0);
    /* The sender of a termination signal is known. */
    run_child(body, WAY(TERMINATE));
    mark_hang();
    expect_end(next_start(), LG_END_TERMINATED, LG_EVIDENCE_TERMINATE_MARK);
}

static void body_without_heartbeat(void *argument)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    session = start_session();
    options.heartbeat_ms = argument ? 1000 : 40;
    if (lg_launch_prepare(session, "main", &options, &launch) != LG_OK || lg_launch_begin(launch) != LG_OK)
        _exit(98);
    if (!argument)
        wait_until(newest_info().hang_ns && newest_info().hung_alive_ns > newest_info().hang_ns + UINT64_C(1500000000));
    for (const uint64_t begin = now_ns(); argument && now_ns() - begin < UINT64_C(1500000000);) {
        rest(10);
        lg_heartbeat(session); /* takes back the mark of a hang after a rest that was too long */
    }
    raise(SIGKILL);
}

static void test_hang_for_real(void **state)
{
    (void)state;
    run_child(body_without_heartbeat, NULL);
    lg_run_info info = newest_info();
    assert_int_equal(newest_verdict().monotonic_ns, info.hung_alive_ns);
    assert_int_equal(lg_witness(state_path(""), info.pid, SIGKILL), LG_OK);
    info = newest_info();
    assert_true(info.witnessed_ns > info.hung_alive_ns);
    assert_int_equal(newest_verdict().monotonic_ns, info.witnessed_ns);
    expect_end(next_start(), LG_END_HANG, LG_EVIDENCE_HANG_MARK);
    assert_int_equal(last_of_timeline().duration_ns, info.witnessed_ns - info.monotonic_ns);
    expect_end(after(body_without_heartbeat, "beats"), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
}

/* ---- a crash that was survived, a debugger ---- */

static void test_survived(void **state)
{
    (void)state;
    expect_end(after(body_survives, NULL), LG_END_UNKNOWN, LG_EVIDENCE_HANDLED);
}

/* A brief record counts: its frames and its thread decide to which context the crash belongs. */
static void test_several_crashes(void **state)
{
    (void)state;
    lg_reader *reader;
    lg_crash_info crash;
    lg_run_context contexts[3] = {
        { .name = "of the record", .phase = LG_PHASE_LAUNCHING, .modules = "libexample.so.1" },
        { .name = "of the brief record", .phase = LG_PHASE_LAUNCHING, .modules = "parts" },
        { .name = "of its thread", .phase = LG_PHASE_LAUNCHING, .task = "task", .task_tid = 4712 },
    };
    struct lg__last_run last;
    lg__evidence_read(GOLDEN "/briefs.lgrun", false, false, &last);
    assert_true(last.readable && last.has_tid);
    assert_int_equal(last.verdict.end, LG_END_CRASH);
    assert_int_equal(last.verdict.signal, SIGBUS);
    assert_int_equal(last.tid, 4712);
    assert_int_equal(lg_reader_open(GOLDEN "/briefs.lgrun", &reader), LG_OK);
    assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
    assert_int_equal(lg__attribution_of(reader, &crash, contexts, 3), 1u << 1);
    contexts[1].phase = LG_PHASE_FINISHED;
    assert_int_equal(lg__attribution_of(reader, &crash, contexts, 3), 1u << 2);
    assert_int_equal(lg_reader_select_crash(reader, 1), LG_OK);
    assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
    assert_int_equal(crash.sequence, 1);
    assert_int_equal(lg__attribution_of(reader, &crash, contexts, 3), 1u << 0);
    lg_reader_close(reader);
}

static void test_debugger(void **state)
{
    (void)state;
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        plain_signals();
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(99);
        begin();
        crash();
        _exit(0);
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, NULL, (void *)(uintptr_t)WSTOPSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
        skip_because("this user may not trace a process");
    assert_true(WIFSIGNALED(status));
    /* A debugger is stronger evidence than a witness, as a debugger may kill. */
    assert_int_equal(lg_witness(state_path(""), child, status), LG_OK);
    expect_end(next_start(), LG_END_DEBUGGER, LG_EVIDENCE_TRACER);
    assert_int_equal(last_of_timeline().counted, 0);
}

/* ---- a program that replaces itself by execve() ---- */

static const char self[] = "/proc/self/exe";

static void body_exec(void *argument)
{
    begin_counting(LG_COUNT_DEFAULT | LG_COUNT_EXIT);
    if (strcmp(argument, "restart") == 0)
        lg_will_restart(session);
    if (strcmp(argument, "stop") == 0)
        lg_stop(session);
    if (strcmp(argument, "hangup") == 0) {
        signal(SIGHUP, nothing);
        raise(SIGHUP);
    }
    execl(self, self, "--again", state_path(""), "0", NULL);
    _exit(97);
}

/* The program that replaced it, and may replace itself `times` more. */
static int again(const char *directory, int times)
{
    char left[16];
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.test";
    options.app_version = "1.0";
    options.state_directory = directory;
    if (lg_start(&options, &session) != LG_OK || lg_session_protection(session) != LG_PROTECTION_FULL)
        return 96;
    snprintf(left, sizeof left, "%d", times - 1);
    if (times > 0)
        execl(self, self, "--again", directory, left, NULL);
    return 0;
}

static void test_exec_over_itself(void **state)
{
    (void)state;
    expect_exit(body_exec, "", 0);
    expect_end(last_of_timeline(), LG_END_EXIT, LG_EVIDENCE_EXEC);
    assert_int_equal(last_of_timeline().counted, 0);
    expect_exit(body_exec, "hangup", 0);
    expect_end(last_of_timeline(), LG_END_EXIT, LG_EVIDENCE_EXEC);
    expect_exit(body_exec, "restart", 0);
    expect_end(last_of_timeline(), LG_END_CLEAN, LG_EVIDENCE_RESTART_ANNOUNCED);
    expect_exit(body_exec, "stop", 0);
    expect_end(last_of_timeline(), LG_END_CLEAN, LG_EVIDENCE_STOP_MARK);
    assert_int_equal(ledger_context("main").streak, 0);
}

static void body_exec_often(void *argument)
{
    (void)argument;
    execl(self, self, "--again", state_path(""), "9", NULL);
    _exit(97);
}

/* All these runs have the pid of one process; the pid means the newest. */
static void test_witness_of_the_newest_run(void **state)
{
    (void)state;
    expect_exit(body_exec_often, NULL, 0);
    assert_int_equal(count_runs(), 10);
    assert_int_equal(newest_info().ordinal, 10);
    assert_int_equal(lg_witness(state_path(""), newest_info().pid, 0), LG_OK);
    assert_int_equal(newest_info().witnessed, 1);
    for (uint64_t ordinal = 1; ordinal < 10; ordinal++) {
        lg_run_info info;
        lg_reader *reader = run_numbered(ordinal);
        assert_int_equal(lg_reader_run(reader, &info), LG_OK);
        lg_reader_close(reader);
        assert_int_equal(info.witnessed, 0);
    }
}

/* ---- forked children ---- */

static void body_fork(void *argument)
{
    (void)argument;
    int status;
    begin();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (lg_will_terminate(session) != LG_ERR_FORKED || lg_will_restart(session) != LG_ERR_FORKED)
            _exit(90);
        crash();
    }
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
        _exit(90);
    lg_launch_finished(launch);
}

static void test_fork(void **state)
{
    (void)state;
    expect_exit(body_fork, NULL, 0);
    assert_int_equal(count_runs(), 1);
    assert_int_equal(newest_info().end_announced, 0);
    expect_end(next_start(), LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK);
}

/* Become a daemon, which says its number and crashes when the test is ready. The test waits for the
 * daemon's own end: its files are closed one after the other, the ledger maybe last. */
static int alive[2];

static void daemonise(void)
{
    fflush(NULL);
    if (fork() != 0)
        exit(0);
    setsid();
    if (fork() != 0)
        _exit(0);
}

static void body_daemon(void *argument)
{
    close(alive[0]);
    if (argument)
        begin();
    daemonise();
    lg_session *own;
    lg_options options = LG_OPTIONS_INIT;
    if (argument && lg_start(&options, &own) != LG_ERR_FORKED)
        _exit(1);
    if (!argument)
        begin();
    const pid_t self = getpid();
    char go;
    (void)!write(alive[1], &self, sizeof self);
    (void)!read(alive[1], &go, 1);
    crash();
}

static void run_daemon(void *argument)
{
    pid_t daemon = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, alive), 0);
    expect_exit(body_daemon, argument, 0);
    close(alive[1]);
    assert_int_equal(read(alive[0], &daemon, sizeof daemon), sizeof daemon);
    struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, daemon, 0), .events = POLLIN };
    assert_true(end.fd >= 0);
    close(alive[0]);
    assert_int_equal(poll(&end, 1, LIMIT_MS), 1);
    close(end.fd);
}

static void test_daemon(void **state)
{
    (void)state;
    run_daemon(NULL); /* the session starts in the daemon */
    assert_int_equal(count_runs(), 1);
    expect_end(next_start(), LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD);
    assert_int_equal(last_of_timeline().counted, 1);
    state_make();
    /* the daemon is a forked child: the session is that of the process that exited */
    run_daemon("first");
    assert_int_equal(count_runs(), 1);
    expect_end(next_start(), LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK);
    assert_int_equal(last_of_timeline().counted, 0);
}

/* ---- a crash by the word of somebody else ---- */

static const char *const noted_type = "a type that is longer than the room for it \u2013\u2014 cut";

/* Note a crash, then end by WAY(...). */
static void body_notes(void *argument)
{
    begin();
    if (lg_crash_note(session, noted_type) != LG_OK || lg_crash_note(session, "another") != LG_ERR_ALREADY)
        _exit(90);
    end_by((enum way)(uintptr_t)argument);
}

static void note_and_leave(int signal)
{
    (void)signal;
    lg_crash_note(session, NULL);
    _exit(1);
}

static void body_notes_in_a_handler(void *argument)
{
    (void)argument;
    begin();
    signal(SIGSEGV, note_and_leave); /* in place of LaunchGuard's */
    crash();
}

static void test_noted(void **state)
{
    (void)state;
    static const struct {
        enum way way;
        lg_evidence evidence;
    } rows[] = { { KILL, LG_EVIDENCE_CRASH_NOTE }, { EXIT_0, LG_EVIDENCE_CRASH_NOTE }, { EXIT_7_AT_ONCE, LG_EVIDENCE_CRASH_NOTE },
                 { STOP, LG_EVIDENCE_CRASH_NOTE }, { TERMINATE, LG_EVIDENCE_CRASH_NOTE }, { DUMP, LG_EVIDENCE_CRASH_NOTE },
                 { CRASH, LG_EVIDENCE_CRASH_RECORD }, { ABORT, LG_EVIDENCE_CRASH_RECORD } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        state_make();
        struct death death = run_child(body_notes, WAY(rows[i].way));
        assert_false(death.late || (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 90));
        lg_run_info info = newest_info();
        assert_true(info.crash_noted_ns > info.monotonic_ns);
        assert_string_equal(info.crash_type, "a type that is longer than the room for it \u2013");
        if (i == 0) /* a witness does not know better */
            assert_int_equal(lg_witness(state_path(""), info.pid, death.status), LG_OK);
        expect_end(next_start(), LG_END_CRASH, rows[i].evidence);
        /* lg_stop() ended the launch, and the run: what comes after it counts for no launch */
        assert_int_equal(last_of_timeline().counted, rows[i].way != STOP);
        assert_int_equal(ledger_context("main").crashes, rows[i].way != STOP);
    }
}

static void test_noted_in_a_handler(void **state)
{
    (void)state;
    for (int run = 1; run <= 2; run++) {
        struct death death = run_child(body_notes_in_a_handler, NULL);
        assert_true(WIFEXITED(death.status) && WEXITSTATUS(death.status) == 1);
        expect_exit(body, WAY(EXIT_0), 0);
        expect_end(last_of_timeline(), LG_END_CRASH, LG_EVIDENCE_CRASH_NOTE);
        assert_int_equal(ledger_context("main").streak, run);
    }
    /* Where the run file is gone, the ledger knows of the crash. */
    run_child(body_notes_in_a_handler, NULL);
    assert_int_equal(unlink(newest_run_path()), 0);
    expect_end(next_start(), LG_END_CRASH, LG_EVIDENCE_CRASH_MARK);
}

/* ---- a program with a crash reporter of its own ---- */

/* The kernel's action for each signal, and the blocked signals, without libc's view of them. */
static void read_signals(struct lg__os_disposition ret_signals[64], uint64_t *ret_blocked)
{
    for (int signal = 1; signal < 64; signal++)
        ret_signals[signal] = lg__os_signal_now(signal);
    *ret_blocked = lg__os_signals_blocked();
}

static bool hang_has_stacks(lg_reader *reader)
{
    lg_snapshot_info info;
    return lg_reader_snapshot(reader, LG_SNAPSHOT_HANG, &info) == LG_OK && info.captured > 0;
}

static void body_captures_nothing(void *argument)
{
    static struct lg__os_disposition before[64], after[64];
    uint64_t blocked_before, blocked_after;
    lg_options options = LG_OPTIONS_INIT;
    options.app_version = "1.0"; /* that of start_session() */
    options.capture = LG_CAPTURE_NONE;
    options.keep_first = 1;
    options.hang_launching_ms = options.hang_running_ms = 100;
    for (int signal = 1; signal < 32; signal++)
        if (sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL) != 0 && signal != SIGKILL && signal != SIGSTOP)
            _exit(90);
    signal(SIGSEGV, note_and_leave);
    signal(SIGTERM, nothing);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGFPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    read_signals(before, &blocked_before);
    session = start_with(options);
    lg_launch_options launch_options = LG_LAUNCH_OPTIONS_INIT;
    launch_options.window_ms = 0;
    if (lg_session_protection(session) != LG_PROTECTION_FULL || lg_launch_prepare(session, "main", &launch_options, &launch) != LG_OK ||
        lg_launch_begin(launch) != LG_OK || lg_thread_register() != LG_OK || lg_heartbeat(session) != LG_OK)
        _exit(91);
    struct lg__snapshot *hang = &session->host.run.snapshots->snapshots[LG_SNAPSHOT_HANG - 1];
    wait_until(atomic_load(&hang->counted)); /* the watch has done with the hang */
    raise(SIGTERM);
    if (lg_heartbeat(session) != LG_OK || lg_heartbeat_pause(session) != LG_OK)
        _exit(92);
    read_signals(after, &blocked_after);
    for (int signal = 1; signal < 64; signal++)
        if (before[signal].handler != after[signal].handler || before[signal].flags != after[signal].flags)
            _exit(93);
    if (blocked_before != blocked_after)
        _exit(94);
    end_by((enum way)(uintptr_t)argument);
}

static void test_capture_none(void **state)
{
    (void)state;
    lg_reader *reader;
    lg_crash_info crash;
    for (int run = 1; run <= 2; run++) {
        struct death death = run_child(body_captures_nothing, WAY(CRASH));
        assert_false(death.late);
        assert_int_equal(death.status, 1 << 8); /* by its own handler */
        assert_int_equal(lg_reader_open(newest_run_path(), &reader), LG_OK);
        assert_int_equal(lg_reader_crash(reader, &crash), LG_ERR_NOT_FOUND);
        assert_false(hang_has_stacks(reader));
        lg_reader_close(reader);
        assert_int_equal(newest_info().term_signal, 0);
        expect_exit(body, WAY(EXIT_0), 0);
        expect_end(last_of_timeline(), LG_END_CRASH, LG_EVIDENCE_CRASH_NOTE);
        assert_int_equal(ledger_context("main").streak, run);
    }
    /* A crash that nobody noted. */
    state_make();
    struct death death = run_child(body_captures_nothing, WAY(ABORT));
    assert_true(WIFSIGNALED(death.status) && WTERMSIG(death.status) == SIGABRT);
    expect_end(next_start(), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    assert_int_equal(last_of_timeline().counted, 1);
    expect_end(after(body_captures_nothing, WAY(STOP)), LG_END_CLEAN, LG_EVIDENCE_STOP_MARK);
}

/* daemon() in the wrong order: its parent is gone, and the program goes on in the child. */
static void body_daemon_in_launch(void *argument)
{
    struct lg__state *state;
    const char *how = argument;
    begin();
    state = session->host.run.state;
    if (strcmp(how, "after the launch") == 0)
        lg_launch_finished(launch);
    if (strcmp(how, "helper") == 0) { /* a child beside the program */
        int status;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        if (!atomic_load(&state->forked_ns) || waitpid(child, &status, 0) != child)
            _exit(90);
        wait_until(!atomic_load(&state->forked_ns));
        raise(SIGKILL);
    }
    fflush(NULL);
    if (daemon(1, 1) != 0)
        _exit(91);
    const bool right = lg_launch_finished(launch) == LG_OK && lg_will_terminate(session) == LG_ERR_FORKED;
    (void)!write(alive[1], right ? "y" : "n", 1);
    _exit(0);
}

static struct death run_daemon_in_launch(const char *how)
{
    char right = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, alive), 0);
    struct death death = run_child(body_daemon_in_launch, (void *)(uintptr_t)how);
    close(alive[1]);
    if (WIFEXITED(death.status)) {
        assert_int_equal(read(alive[0], &right, 1), 1);
        assert_int_equal(right, 'y');
        assert_int_equal(read(alive[0], &right, 1), 0); /* it is gone */
    }
    close(alive[0]);
    return death;
}

static void test_daemon_during_a_launch(void **state)
{
    (void)state;
    for (int marked = 0; marked < 6;) { /* more than any threshold */
        struct death death = run_daemon_in_launch("");
        assert_true(WIFEXITED(death.status) && WEXITSTATUS(death.status) == 0);
        if (!newest_info().forked_ns) { /* the parent had to wait for a processor before it left */
            next_start();
            continue;
        }
        marked++;
        expect_exit(body, WAY(EXIT_0), 0);
        expect_end(last_of_timeline(), LG_END_UNKNOWN, LG_EVIDENCE_FORK);
        assert_int_equal(last_of_timeline().counted, 0);
    }
    assert_int_equal(ledger_context("main").unknown, 0);
    assert_int_equal(ledger_context("main").mode, LG_LAUNCH_MODE_NORMAL);
    struct death death = run_daemon_in_launch("");
    assert_int_equal(lg_witness(state_path(""), newest_info().pid, death.status), LG_OK);
    expect_end(next_start(), LG_END_CLEAN, LG_EVIDENCE_WITNESS);
    /* Without a launch nothing is lost, and nothing noted. */
    run_daemon_in_launch("after the launch");
    expect_end(next_start(), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    assert_int_equal(last_of_timeline().counted, 0);
    /* A program that forks a helper and is killed later did not become a daemon. */
    death = run_daemon_in_launch("helper");
    assert_true(WIFSIGNALED(death.status) && WTERMSIG(death.status) == SIGKILL);
    expect_end(next_start(), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    assert_int_equal(last_of_timeline().counted, 1);
}

int main(int count, char **words)
{
    if (count == 4 && strcmp(words[1], "--again") == 0)
        return again(words[2], atoi(words[3]));
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_rows),
        WITH_STATE(test_clean_end_in_the_ledger), WITH_STATE(test_ends_meanwhile),
        WITH_STATE(test_exit_counts_where_asked_for),
        WITH_STATE(test_announced),
        WITH_STATE(test_killed_while_it_announces),
        WITH_STATE(test_many_announce),
        WITH_STATE(test_events_of_a_launch),
        WITH_STATE(test_announced_where_nothing_is_recorded),
        WITH_STATE(test_reboot),
        WITH_STATE(test_hang_mark),
        WITH_STATE(test_hang_for_real),
        WITH_STATE(test_survived),
        WITH_STATE(test_several_crashes),
        WITH_STATE(test_debugger),
        WITH_STATE(test_exec_over_itself),
        WITH_STATE(test_witness_of_the_newest_run),
        WITH_STATE(test_fork),
        WITH_STATE(test_daemon),
        WITH_STATE(test_daemon_during_a_launch),
        WITH_STATE(test_noted),
        WITH_STATE(test_noted_in_a_handler),
        WITH_STATE(test_capture_none),
    };
    return cmocka_run_group_tests_name("evidence", tests, NULL, NULL);
}
