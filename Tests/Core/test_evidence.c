/* How a run ended, row by row: children that end in every way, and what the next start makes of it. */
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "store/book.h"
#include "store/crc32c.h"
#include "store/format.h"

static volatile int zero;

static int make(void **state)
{
    (void)state;
    state_make();
    return 0;
}

static int clean(void **state)
{
    (void)state;
    state_remove();
    return 0;
}

/* ---- a program with one launch ---- */

static lg_session *session;
static lg_launch *launch;

static void begin_counting(uint32_t count)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    session = start_session();
    options.window_ms = 0;
    options.count = count;
    if (lg_launch_prepare(session, "main", &options, &launch) != LG_OK || lg_launch_begin(launch) != LG_OK)
        _exit(98);
}

static void begin(void)
{
    begin_counting(LG_COUNT_DEFAULT);
}

static void crash(void)
{
    *(volatile int *)(uintptr_t)zero = 1;
}

static void body_nothing(void *argument)
{
    (void)argument;
    begin();
    lg_launch_finished(launch);
}

/* The next start, which accounts for the run before it; what it made of it. */
static lg_timeline_entry next_start(void)
{
    expect_exit(body_nothing, NULL, 0);
    return last_of_timeline();
}

/* Run a program to its end and have the next one account for it. */
static lg_timeline_entry after(void (*body)(void *), void *argument)
{
    struct death death = run_child(body, argument);
    assert_false(death.late);
    assert_false(WIFEXITED(death.status) && WEXITSTATUS(death.status) >= 90);
    return next_start();
}

#define expect_end(entry, what, why) expect_end_at(entry, what, why, __LINE__)
static void expect_end_at(lg_timeline_entry entry, lg_end end, lg_evidence evidence, int line)
{
    if (entry.verdict.end != end || entry.verdict.evidence != evidence)
        fail_msg("line %d: it ended as \"%s\" (%s), not as \"%s\" (%s)", line, lg_end_name(entry.verdict.end),
                 lg_evidence_sentence(entry.verdict.evidence), lg_end_name(end), lg_evidence_sentence(evidence));
}

static lg_run_info newest_info(void)
{
    lg_run_info info;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_run(reader, &info), LG_OK);
    lg_reader_close(reader);
    return info;
}

static lg_verdict newest_verdict(void)
{
    lg_verdict verdict;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    lg_reader_close(reader);
    return verdict;
}

/* Where a section of the newest run begins in its file. */
static off_t section_at(int file, uint32_t kind)
{
    struct lg__header header;
    assert_int_equal(pread(file, &header, sizeof header, 0), sizeof header);
    for (uint32_t i = 0; i < header.section_count; i++)
        if (header.sections[i].kind == kind)
            return (off_t)header.sections[i].offset;
    fail_msg("no section %u", kind);
    return 0;
}

static void write_state(size_t at, const void *value, size_t size)
{
    int file = open(newest_run_path(), O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, value, size, section_at(file, LG__SECTION_STATE) + (off_t)at), size);
    close(file);
}

/* As if the machine had been booted since. */
static void change_boot_id(void)
{
    struct lg__identity identity;
    int file = open(newest_run_path(), O_RDWR);
    assert_true(file >= 0);
    off_t at = section_at(file, LG__SECTION_IDENTITY);
    assert_int_equal(pread(file, &identity, sizeof identity, at), sizeof identity);
    identity.boot_id[0] ^= 0xff;
    identity.crc = lg__crc32c(0, &identity, offsetof(struct lg__identity, crc));
    assert_int_equal(pwrite(file, &identity, sizeof identity, at), sizeof identity);
    close(file);
}

/* A context as it is stored. */
static struct lg__book_context stored_context(const char *name)
{
    static struct lg__slot slots[2];
    uint32_t kinds[2] = { LG__SECTION_SLOT_A, LG__SECTION_SLOT_B };
    uint64_t generation[2];
    int file = open(state_path("ledger.lg"), O_RDONLY);
    assert_true(file >= 0);
    for (int i = 0; i < 2; i++) {
        memset(&slots[i], 0, sizeof slots[i]);
        assert_int_equal(pread(file, &slots[i], sizeof slots[i], section_at(file, kinds[i])), sizeof slots[i]);
        generation[i] = lg__book_check(&slots[i]) ? slots[i].generation : 0;
    }
    close(file);
    const struct lg__book *book = &slots[generation[1] > generation[0]].book;
    for (uint32_t i = 0; i < book->context_count; i++)
        if (strcmp(book->contexts[i].name, name) == 0)
            return book->contexts[i];
    fail_msg("no context \"%s\"", name);
    return book->contexts[0];
}

/* ---- ends that the run file alone tells ---- */

enum way { CRASH, ABORT, PIPE_SIGNAL, EXIT_0, EXIT_7, EXIT_7_AT_ONCE, STOP, STOP_AND_EXIT_5, TERMINATE, INTERRUPT, KILL, DUMP,
           WILL_TERMINATE, WILL_RESTART, WILL_BOTH, WILL_TERMINATE_AND_CRASH, WILL_TERMINATE_AND_EXIT_7, ALARM, FINISH_AND_KILL };

static void nothing(int signal)
{
    (void)signal;
}

static void end_by(enum way way)
{
    switch (way) {
    case CRASH: crash(); break;
    case ABORT: abort();
    case PIPE_SIGNAL: raise(SIGPIPE); break;
    case EXIT_0: exit(0);
    case EXIT_7: exit(7);
    case EXIT_7_AT_ONCE: _exit(7);
    case STOP: lg_stop(session); exit(0);
    case STOP_AND_EXIT_5: lg_stop(session); _exit(5);
    case TERMINATE: raise(SIGTERM); break;
    case INTERRUPT: raise(SIGINT); break;
    case DUMP: raise(SIGQUIT); break;
    case ALARM: raise(SIGALRM); break;
    case WILL_TERMINATE: lg_will_terminate(session); break;
    case WILL_RESTART: lg_will_restart(session); break;
    case WILL_BOTH: lg_will_restart(session); lg_will_terminate(session); lg_will_terminate(session); break;
    case WILL_TERMINATE_AND_CRASH: lg_will_terminate(session); crash(); break;
    case WILL_TERMINATE_AND_EXIT_7: lg_will_terminate(session); exit(7);
    case FINISH_AND_KILL: lg_launch_finished(launch); break;
    case KILL: break;
    }
    raise(SIGKILL);
}

static void body(void *argument)
{
    begin();
    end_by((enum way)(uintptr_t)argument);
}

static void body_counts_exit(void *argument)
{
    begin_counting(LG_COUNT_DEFAULT | LG_COUNT_EXIT);
    end_by((enum way)(uintptr_t)argument);
}

#define WAY(way) ((void *)(uintptr_t)(way))

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
        /* What is announced does not count; how it really ended is told. */
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

static void test_moment_of_the_end(void **state)
{
    (void)state;
    uint8_t boot_id[16];
    assert_true(lg__os_boot_id(boot_id));
    uint64_t before = lg__os_clock_ns(CLOCK_BOOTTIME);
    run_child(body, WAY(CRASH));
    uint64_t behind = lg__os_clock_ns(CLOCK_BOOTTIME);
    expect_exit(body, WAY(EXIT_0), 0);
    struct lg__book_context context = stored_context("main");
    assert_memory_equal(context.crash_boot_id, boot_id, sizeof boot_id);
    assert_true(context.crash_boottime_ns > before && context.crash_boottime_ns < behind);
    /* Not known: the start stands for it. */
    run_child(body, WAY(KILL));
    uint64_t start = newest_info().boottime_ns;
    expect_exit(body, WAY(EXIT_0), 0);
    assert_int_equal(stored_context("main").crash_boottime_ns, start);
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
    /* Of a run in which it was not begun nothing is told, and nothing counts. */
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
    /* A mark that was left before it tells more. */
    run_child(body, WAY(WILL_RESTART));
    change_boot_id();
    expect_end(next_start(), LG_END_CLEAN, LG_EVIDENCE_RESTART_ANNOUNCED);
    /* The hang that nobody could end but by the switch is the machine's. */
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
    /* Of a launch that was finished nobody can say so. */
    run_child(body, WAY(FINISH_AND_KILL));
    mark_hang();
    expect_end(next_start(), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    assert_int_equal(last_of_timeline().counted, 0);
    /* Whoever ended it by a signal that asks for it is known. */
    run_child(body, WAY(TERMINATE));
    mark_hang();
    expect_end(next_start(), LG_END_TERMINATED, LG_EVIDENCE_TERMINATE_MARK);
}

static void body_without_heartbeat(void *argument)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    session = start_session();
    options.heartbeat_ms = 40;
    if (lg_launch_prepare(session, "main", &options, &launch) != LG_OK || lg_launch_begin(launch) != LG_OK)
        _exit(98);
    for (int i = 0; i < 100 && (argument || !newest_info().hang_ns); i++) {
        if (argument)
            lg_heartbeat(session);
        usleep(10000);
    }
    raise(SIGKILL);
}

static void test_hang_for_real(void **state)
{
    (void)state;
    expect_end(after(body_without_heartbeat, NULL), LG_END_HANG, LG_EVIDENCE_HANG_MARK);
    expect_end(after(body_without_heartbeat, "beats"), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
}

/* ---- a crash that was survived, a debugger ---- */

static sigjmp_buf escape;

static void jump_out(int signal)
{
    (void)signal;
    siglongjmp(escape, 1);
}

static void body_survives(void *argument)
{
    (void)argument;
    signal(SIGSEGV, jump_out);
    begin();
    if (sigsetjmp(escape, 1) == 0)
        crash();
    lg_heartbeat(session);
    raise(SIGKILL);
}

static void test_survived(void **state)
{
    (void)state;
    expect_end(after(body_survives, NULL), LG_END_UNKNOWN, LG_EVIDENCE_HANDLED);
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
        skip_because("nobody may be traced here");
    assert_true(WIFSIGNALED(status));
    /* It comes before the witness: who debugs may kill. */
    assert_int_equal(lg_witness(state_path(""), child, status), LG_OK);
    expect_end(next_start(), LG_END_DEBUGGER, LG_EVIDENCE_TRACER);
    assert_int_equal(last_of_timeline().counted, 0);
}

/* ---- a program that executes itself ---- */

static const char *self;

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

/* The program that took its place, and may do so `times` more. */
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

/* All these runs have the pid of one process; the newest is meant. */
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

/* Becomes a daemon; the test waits for the end of the pipe. */
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
    (void)!write(alive[1], "c", 1);
    crash();
}

static void run_daemon(void *argument)
{
    char byte = 0;
    assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
    expect_exit(body_daemon, argument, 0);
    close(alive[1]);
    assert_int_equal(read(alive[0], &byte, 1), 1);
    assert_int_equal(read(alive[0], &byte, 1), 0);
    close(alive[0]);
}

static void test_daemon(void **state)
{
    (void)state;
    run_daemon(NULL); /* it starts its session when it has become one */
    assert_int_equal(count_runs(), 1);
    expect_end(next_start(), LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD);
    assert_int_equal(last_of_timeline().counted, 1);
    state_make();
    run_daemon("first"); /* the daemon is a forked child: the session is that of the process that has left */
    assert_int_equal(count_runs(), 1);
    expect_end(next_start(), LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK);
    assert_int_equal(last_of_timeline().counted, 0);
}

/* ---- memory ---- */

static char group[4096 + 64];

static bool store(const char *name, const char *value)
{
    char path[sizeof group + 64];
    snprintf(path, sizeof path, "%s/%s", group, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool stored = file >= 0 && write(file, value, strlen(value)) == (ssize_t)strlen(value);
    if (file >= 0)
        close(file);
    return stored;
}

static bool make_group(const char *mount, const char *prefix, const char *limit)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *at = strstr(line, prefix);
        if (!at || (prefix[0] == '0' && at != line))
            continue;
        found = true;
        snprintf(group, sizeof group, "%s%s/launchguard-test-%d", mount, at + strlen(prefix), (int)getpid());
    }
    if (file)
        fclose(file);
    if (!found || mkdir(group, 0700) != 0)
        return false;
    if (store(limit, "50331648")) {
        store("memory.swap.max", "0");
        return true;
    }
    rmdir(group);
    return false;
}

/* Removes the group when the test is over, whatever became of it: it lives as long as somebody has the other end of the pipe. */
static void leave_janitor(void)
{
    int end[2];
    char byte;
    fflush(NULL);
    assert_int_equal(pipe(end), 0); /* inherited by all children */
    pid_t janitor = fork();
    assert_true(janitor >= 0);
    if (janitor == 0) {
        plain_signals();
        setsid();
        close(end[1]);
        (void)!read(end[0], &byte, 1);
        for (int i = 0; i < 500 && rmdir(group) != 0; i++)
            usleep(10000);
        _exit(0);
    }
    close(end[0]);
}

static void join_group(void)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)getpid());
    if (!store("cgroup.procs", number))
        _exit(95);
}

static void body_eats(void *argument)
{
    join_group();
    begin();
    static volatile char *block; /* the compiler must not leave out what nobody reads */
    size_t page = 0;
    while (!argument) {
        if (page % (1 << 20) == 0)
            block = malloc(1 << 20);
        block[page % (1 << 20)] = 1;
        page += 4096;
    }
    raise(SIGKILL);
}

static void body_in_group(void *argument)
{
    (void)argument;
    lg_verdict verdict;
    join_group();
    lg_reader *reader = newest_run();
    if (lg_reader_verdict(reader, &verdict) != LG_OK || verdict.end != LG_END_OOM || verdict.evidence != LG_EVIDENCE_OOM_COUNTER)
        _exit(90);
    lg_reader_close(reader);
    begin();
}

static void body_in_group_plain(void *argument)
{
    (void)argument;
    join_group();
    begin();
}

static void test_memory(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("only root makes a cgroup");
    if (!make_group("/sys/fs/cgroup", "0::", "memory.max") && !make_group("/sys/fs/cgroup/memory", ":memory:", "memory.limit_in_bytes"))
        skip_because("no cgroup with a memory limit can be made");
    leave_janitor();
    expect_signal(body_eats, NULL, SIGKILL);
    assert_int_equal(newest_info().oom_known, 1);
    assert_int_equal(newest_info().oom_kills, 0);
    /* From another group nothing can be seen, and nothing is claimed. */
    assert_int_equal(newest_verdict().end, LG_END_UNKNOWN);
    expect_exit(body_in_group, NULL, 0);
    lg_timeline_entry entry = last_of_timeline();
    expect_end(entry, LG_END_OOM, LG_EVIDENCE_OOM_COUNTER);
    assert_int_equal(entry.counted, 1);
    assert_int_equal(ledger_context("main").streak, 1);
    /* The count of before the start is not held against it. */
    expect_signal(body_eats, "is killed", SIGKILL);
    assert_int_equal(newest_info().oom_kills, 1);
    expect_exit(body_in_group_plain, NULL, 0);
    expect_end(last_of_timeline(), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    /* Nor is that of another group: a run outside of it that was killed is no matter of the group's count, which is larger than its own. */
    expect_signal(body, WAY(KILL), SIGKILL);
    expect_exit(body_in_group_plain, NULL, 0);
    expect_end(last_of_timeline(), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    /* Whoever waited saw a SIGKILL; the count tells whose. */
    struct death death = run_child(body_eats, NULL);
    assert_int_equal(WTERMSIG(death.status), SIGKILL);
    assert_int_equal(lg_witness(state_path(""), newest_info().pid, death.status), LG_OK);
    expect_exit(body_in_group_plain, NULL, 0);
    expect_end(last_of_timeline(), LG_END_OOM, LG_EVIDENCE_WITNESS);
}

/* ---- a witness ---- */

static void exit_7(int signal)
{
    (void)signal;
    _exit(7);
}

static void body_handler_exits(void *argument)
{
    (void)argument;
    signal(SIGSEGV, exit_7);
    begin();
    crash();
}

static void body_slow_to_end(void *argument)
{
    (void)argument;
    signal(SIGTERM, nothing);
    begin();
    raise(SIGTERM);
    raise(SIGKILL);
}

static void test_witness(void **state)
{
    (void)state;
    static const struct {
        void (*body)(void *);
        enum way way;
        lg_end end;
        lg_evidence evidence;
        int signal, code;
        lg_crash_kind kind;
        bool counted, unknown;
    } rows[] = {
        { body, EXIT_0, LG_END_CLEAN, LG_EVIDENCE_WITNESS, 0, 0, 0, false, false },
        { body, EXIT_7_AT_ONCE, LG_END_EXIT, LG_EVIDENCE_WITNESS, 0, 7, 0, false, false },
        { body_counts_exit, EXIT_7_AT_ONCE, LG_END_EXIT, LG_EVIDENCE_WITNESS, 0, 7, 0, true, false },
        { body, KILL, LG_END_KILLED, LG_EVIDENCE_WITNESS, SIGKILL, 0, 0, false, true },
        { body, FINISH_AND_KILL, LG_END_KILLED, LG_EVIDENCE_WITNESS, SIGKILL, 0, 0, false, false },
        { body, TERMINATE, LG_END_TERMINATED, LG_EVIDENCE_WITNESS, SIGTERM, 0, 0, false, false },
        { body, INTERRUPT, LG_END_TERMINATED, LG_EVIDENCE_WITNESS, SIGINT, 0, 0, false, false },
        { body, DUMP, LG_END_TERMINATED, LG_EVIDENCE_WITNESS, SIGQUIT, 0, 0, false, false },
        { body, ALARM, LG_END_CRASH, LG_EVIDENCE_WITNESS, SIGALRM, 0, 0, true, false },
        { body, CRASH, LG_END_CRASH, LG_EVIDENCE_WITNESS, SIGSEGV, 1, LG_CRASH_NULL_WRITE, true, false },
        { body, WILL_TERMINATE, LG_END_KILLED, LG_EVIDENCE_WITNESS, SIGKILL, 0, 0, false, false },
        /* After lg_stop() the status is exact, and counts for nothing. */
        { body_counts_exit, STOP_AND_EXIT_5, LG_END_EXIT, LG_EVIDENCE_WITNESS, 0, 5, 0, false, false },
        /* A handler that ends the program does not undo the crash; the impatience of who asked for the end is no mystery. */
        { body_handler_exits, 0, LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD, SIGSEGV, 1, LG_CRASH_NULL_WRITE, true, false },
        { body_slow_to_end, 0, LG_END_TERMINATED, LG_EVIDENCE_TERMINATE_MARK, SIGTERM, 0, 0, false, false },
        { body_survives, 0, LG_END_KILLED, LG_EVIDENCE_WITNESS, SIGKILL, 0, 0, false, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        state_make();
        struct death death = run_child(rows[i].body, WAY(rows[i].way));
        assert_false(death.late);
        int32_t pid = newest_info().pid;
        assert_int_equal(lg_witness(state_path(""), pid, death.status), LG_OK);
        assert_int_equal(lg_witness(state_path(""), pid, death.status), LG_ERR_ALREADY);
        assert_int_equal(newest_info().witnessed, 1);
        assert_int_equal(newest_info().wait_status, death.status);
        expect_exit(body, WAY(EXIT_0), 0);
        lg_timeline_entry entry = last_of_timeline();
        if (entry.verdict.end != rows[i].end || entry.verdict.evidence != rows[i].evidence)
            fail_msg("row %zu: %s, %s", i, lg_end_name(entry.verdict.end), lg_evidence_sentence(entry.verdict.evidence));
        assert_int_equal(entry.verdict.signal, rows[i].signal);
        assert_int_equal(entry.verdict.code, rows[i].code);
        assert_int_equal(entry.verdict.kind, rows[i].kind);
        assert_int_equal(entry.counted, rows[i].counted || rows[i].unknown);
        assert_int_equal(ledger_context("main").streak, rows[i].counted);
        assert_int_equal(ledger_context("main").unknown, rows[i].unknown);
    }
}

/* The witness finds nothing that it may write to, and writes nothing. */
static void expect_witness(const char *directory, int32_t pid, int status, lg_status expected)
{
    static char before[1 << 21], behind[1 << 21];
    const char *path = newest_run_path();
    ssize_t size = -1;
    int file = path ? open(path, O_RDONLY) : -1;
    if (file >= 0)
        size = read(file, before, sizeof before);
    assert_int_equal(lg_witness(directory, pid, status), expected);
    if (file >= 0) {
        assert_int_equal(pread(file, behind, sizeof behind, 0), size);
        assert_memory_equal(before, behind, (size_t)size);
        close(file);
    }
}

/* Change the header of the newest run, its checksum right again. */
static void change_header(void (*change)(struct lg__header *header))
{
    struct lg__header header;
    int file = open(newest_run_path(), O_RDWR);
    assert_int_equal(pread(file, &header, sizeof header, 0), sizeof header);
    change(&header);
    header.crc = lg__crc32c(0, &header, offsetof(struct lg__header, crc));
    assert_int_equal(pwrite(file, &header, sizeof header, 0), sizeof header);
    close(file);
}

static struct lg__section *state_of(struct lg__header *header)
{
    for (uint32_t i = 0; i < header->section_count; i++)
        if (header->sections[i].kind == LG__SECTION_STATE)
            return &header->sections[i];
    fail();
    return NULL;
}

static void state_outside(struct lg__header *header) { state_of(header)->offset = header->total_bytes; }
static void state_far_outside(struct lg__header *header) { state_of(header)->offset = UINT64_MAX - 63; }
static void state_too_small(struct lg__header *header) { state_of(header)->size = 64; }
static void state_crooked(struct lg__header *header) { state_of(header)->offset += 8; }
static void state_nowhere(struct lg__header *header) { state_of(header)->kind = 99; }
static void from_the_future(struct lg__header *header) { header->major++; }
static void flagged(struct lg__header *header) { header->incompat_flags = 1; }

static void body_waits(void *argument)
{
    (void)argument;
    begin();
    (void)!write(alive[1], "b", 1);
    for (;;)
        pause();
}

static void test_witness_of_nothing(void **state)
{
    (void)state;
    const int killed = SIGKILL, stopped = 0x137f;
    expect_witness(state_path(""), 1, killed, LG_ERR_NOT_FOUND); /* there is no folder of runs yet */
    expect_witness(state_path("nowhere"), 1, killed, LG_ERR_NOT_FOUND);
    expect_witness("", 1, killed, LG_ERR_ARGUMENT);
    expect_witness(NULL, 1, killed, LG_ERR_ARGUMENT);
    run_child(body, WAY(KILL));
    int32_t pid = newest_info().pid;
    expect_witness(state_path(""), 0, killed, LG_ERR_ARGUMENT);
    expect_witness(state_path(""), -pid, killed, LG_ERR_ARGUMENT);
    expect_witness(state_path(""), pid, stopped, LG_ERR_ARGUMENT);
    expect_witness(state_path(""), pid, 0xffff, LG_ERR_ARGUMENT); /* continued */
    expect_witness(state_path(""), pid + 1, killed, LG_ERR_NOT_FOUND);
    /* Of another boot there is nobody whom anybody could have waited for. */
    change_boot_id();
    expect_witness(state_path(""), pid, killed, LG_ERR_NOT_FOUND);
    change_boot_id();
    static const struct {
        void (*change)(struct lg__header *header);
        lg_status expected;
    } changes[] = {
        { state_outside, LG_ERR_DAMAGED }, { state_far_outside, LG_ERR_DAMAGED }, { state_too_small, LG_ERR_DAMAGED },
        { state_crooked, LG_ERR_DAMAGED }, { state_nowhere, LG_ERR_DAMAGED },     { from_the_future, LG_ERR_NEWER },
        { flagged, LG_ERR_NEWER },
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        state_make();
        run_child(body, WAY(KILL));
        pid = newest_info().pid;
        change_header(changes[i].change);
        expect_witness(state_path(""), pid, killed, changes[i].expected);
    }
    for (off_t size = 0; size < 8448; size += 1111) { /* cut in or before the state */
        state_make();
        run_child(body, WAY(KILL));
        pid = newest_info().pid;
        assert_int_equal(truncate(newest_run_path(), size), 0);
        expect_witness(state_path(""), pid, killed, LG_ERR_DAMAGED);
        struct stat info;
        assert_int_equal(stat(newest_run_path(), &info), 0);
        assert_int_equal(info.st_size, size);
    }
    /* Links of both kinds, and a folder that is one. */
    state_make();
    run_child(body, WAY(KILL));
    pid = newest_info().pid;
    assert_int_equal(link(newest_run_path(), state_path("elsewhere")), 0);
    expect_witness(state_path(""), pid, killed, LG_ERR_DAMAGED);
    char name[1024];
    snprintf(name, sizeof name, "%s", newest_run_path());
    assert_int_equal(unlink(name), 0);
    assert_int_equal(symlink(state_path("elsewhere"), name), 0);
    assert_int_equal(lg_witness(state_path(""), pid, killed), LG_ERR_LINK);
    assert_int_equal(rename(state_path("runs"), state_path("other")), 0);
    assert_int_equal(symlink(state_path("other"), state_path("runs")), 0);
    assert_int_equal(lg_witness(state_path(""), pid, killed), LG_ERR_LINK);
}

static void test_witness_of_the_living(void **state)
{
    (void)state;
    char byte;
    int status;
    assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        plain_signals();
        body_waits(NULL);
    }
    assert_int_equal(read(alive[0], &byte, 1), 1);
    lg_status told = lg_witness(state_path(""), child, SIGKILL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(told, LG_ERR_STATE);
    assert_int_equal(lg_witness(state_path(""), child, status), LG_OK);
    close(alive[0]);
    close(alive[1]);
}

static void as_nobody(void *argument)
{
    const int32_t *pid = argument;
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(1);
    if (lg_witness(state_path(""), *pid, SIGKILL) != LG_ERR_PERMISSION)
        _exit(2);
    _exit(0);
}

static void body_as_nobody(void *argument)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(99);
    body(argument);
}

static void test_witness_and_owners(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("only root can be two users");
    run_child(body, WAY(KILL));
    int32_t pid = newest_info().pid;
    expect_exit(as_nobody, &pid, 0);
    assert_int_equal(newest_info().witnessed, 0);
    /* A supervisor that is root tells of anybody's process, but not through a file that its owner did not make. */
    state_make();
    assert_int_equal(chown(state_path(""), 65534, 65534), 0);
    expect_signal(body_as_nobody, WAY(KILL), SIGKILL);
    pid = newest_info().pid;
    assert_int_equal(chown(newest_run_path(), 0, 0), 0);
    assert_int_equal(lg_witness(state_path(""), pid, SIGKILL), LG_ERR_OWNER);
    assert_int_equal(chown(newest_run_path(), 65534, 65534), 0);
    assert_int_equal(lg_witness(state_path(""), pid, SIGKILL), LG_OK);
    assert_int_equal(newest_info().witnessed, 1);
}

int main(int count, char **words)
{
    self = "/proc/self/exe";
    if (count == 4 && strcmp(words[1], "--again") == 0)
        return again(words[2], atoi(words[3]));
    #define EVIDENCE_TEST(function) cmocka_unit_test_setup_teardown(function, make, clean)
    const struct CMUnitTest tests[] = {
        EVIDENCE_TEST(test_rows),
        EVIDENCE_TEST(test_exit_counts_where_asked_for),
        EVIDENCE_TEST(test_moment_of_the_end),
        EVIDENCE_TEST(test_announced),
        EVIDENCE_TEST(test_events_of_a_launch),
        EVIDENCE_TEST(test_announced_where_nothing_is_recorded),
        EVIDENCE_TEST(test_reboot),
        EVIDENCE_TEST(test_hang_mark),
        EVIDENCE_TEST(test_hang_for_real),
        EVIDENCE_TEST(test_survived),
        EVIDENCE_TEST(test_debugger),
        EVIDENCE_TEST(test_exec_over_itself),
        EVIDENCE_TEST(test_witness_of_the_newest_run),
        EVIDENCE_TEST(test_fork),
        EVIDENCE_TEST(test_daemon),
        EVIDENCE_TEST(test_memory),
        EVIDENCE_TEST(test_witness),
        EVIDENCE_TEST(test_witness_of_nothing),
        EVIDENCE_TEST(test_witness_of_the_living),
        EVIDENCE_TEST(test_witness_and_owners),
    };
    struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    return cmocka_run_group_tests_name("evidence", tests, NULL, NULL);
}
