/* Deaths that no signal handler can see, each in a real process: the marks in the run file, what a
 * witness adds, and the verdict of the next start. docs/ENDS.md names these tests. */
#include "ending_program.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"

#define SECOND_NS UINT64_C(1000000000)

/* Wait in a child until its own run file meets the condition. */
#define UNTIL(condition)                    \
    wait_until(({                           \
        const lg_run_info now = newest_info(); \
        condition;                          \
    }))

static bool log_has_part(uint64_t ordinal, const char *text)
{
    static lg_log_entry entry;
    lg_log_info info;
    lg_reader *reader = run_numbered(ordinal);
    bool found = false;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    for (uint64_t i = 0; !found && lg_reader_log_entry(reader, i, &entry) == LG_OK; i++)
        found = strstr(entry.text, text) != NULL;
    lg_reader_close(reader);
    return found;
}

/* The next start. Its own launch is not finished, so the counters stay as the account of the
 * previous run left them. */
static lg_timeline_entry account(void)
{
    expect_exit(body, WAY(EXIT_0), 0);
    return last_of_timeline();
}

/* The CPU time that a child saw last, where its kernel limits it to that many seconds. A hypervisor
 * that takes the processor away makes CPU time jump. Where it jumps across all the time in which
 * the watch thread could set the mark, nobody can, and the child runs once more. */
#define JUMPS 10
static struct {
    _Atomic uint64_t limit_s, used_ns;
} *cpu; /* shared with the child */

static bool cpu_time_jumped(void)
{
    uint64_t limit_ns = atomic_load(&cpu->limit_s) * SECOND_NS, used_ns = atomic_load(&cpu->used_ns);
    return limit_ns && used_ns < limit_ns / 20 * 19 && !newest_info().cpu_near_ns;
}

static struct death run_without_jump(void (*body)(void *), void *argument)
{
    for (int run = 1;; run++) {
        state_make();
        atomic_store(&cpu->limit_s, 0);
        struct death death = run_child(body, argument);
        if (!WIFSIGNALED(death.status) || WTERMSIG(death.status) != SIGKILL || !cpu_time_jumped())
            return death;
        printf("run %d: CPU time jumped from %llu ms to the limit\n", run, (unsigned long long)atomic_load(&cpu->used_ns) / 1000000u);
        assert_true(run < JUMPS);
    }
}

/* Run the program to its end twice: without a witness, and with one. */
static void expect_twice(void (*body)(void *), void *argument, lg_end end, lg_evidence evidence, lg_end witnessed_end, lg_evidence witnessed_evidence, int line)
{
    for (int witnessed = 0; witnessed < 2; witnessed++) {
        struct death death = run_without_jump(body, argument);
        assert_false(death.late);
        assert_false(WIFEXITED(death.status) && WEXITSTATUS(death.status) >= 90 && WEXITSTATUS(death.status) < 100);
        if (witnessed)
            assert_int_equal(lg_witness(state_path(""), newest_info().pid, death.status), LG_OK);
        expect_end_at(account(), witnessed ? witnessed_end : end, witnessed ? witnessed_evidence : evidence, line);
    }
}
#define EXPECT_TWICE(body, argument, end, evidence, witnessed_end, witnessed_evidence) expect_twice(body, argument, end, evidence, witnessed_end, witnessed_evidence, __LINE__)

/* Whether the last run counted for the launch: as a crash, as an unexplained end. */
static void expect_counted(bool as_crash, bool as_unknown)
{
    assert_int_equal(last_of_timeline().counted, as_crash || as_unknown);
    assert_int_equal(ledger_context("main").streak, as_crash);
    assert_int_equal(ledger_context("main").unknown, as_unknown);
}

/* ---- a program that was asked to end, and killed because it took too long ---- */

static void begin_keeping(int signal_number)
{
    signal(signal_number, nothing);
    begin();
}

static void body_slow_to_stop(void *argument)
{
    begin_keeping(SIGTERM);
    bool was_alone = !lg__capture_watched();
    raise(SIGTERM);
    if (!was_alone || !lg__capture_watched())
        _exit(90);
    UNTIL(now.term_alive_ns);
    if (argument)
        lg_will_terminate(session);
    raise(SIGKILL);
}

static void test_stop_timeout(void **state)
{
    (void)state;
    EXPECT_TWICE(body_slow_to_stop, NULL, LG_END_TERMINATED, LG_EVIDENCE_STOP_TIMEOUT, LG_END_TERMINATED, LG_EVIDENCE_STOP_TIMEOUT);
    expect_counted(false, false);
    EXPECT_TWICE(body_slow_to_stop, "announces it", LG_END_TERMINATED, LG_EVIDENCE_STOP_TIMEOUT, LG_END_TERMINATED, LG_EVIDENCE_STOP_TIMEOUT);
    state_make();
    expect_signal(body_slow_to_stop, NULL, SIGKILL);
    lg_run_info info = newest_info();
    lg_verdict verdict = newest_verdict();
    assert_int_equal(info.term_kept, 1);
    assert_true(info.term_alive_ns >= info.term_ns + SECOND_NS);
    assert_int_equal(verdict.signal, SIGTERM);
    assert_int_equal(verdict.monotonic_ns, info.term_alive_ns);
    assert_int_equal(info.term_pid, info.pid); /* raise() */
}

static void body_stamped_twice(void *argument)
{
    (void)argument;
    uint64_t first;
    begin_keeping(SIGTERM);
    raise(SIGTERM);
    UNTIL(now.term_alive_ns);
    first = newest_info().term_alive_ns;
    UNTIL(now.term_alive_ns > first);
    raise(SIGTERM); /* asked once more, and killed before the watch saw the program alive */
    raise(SIGKILL);
}

static void body_handler_ends(void *argument)
{
    begin_keeping(SIGINT);
    raise(SIGINT);
    if (argument)
        UNTIL(now.term_alive_ns);
    exit(0);
}

/* The last signal in the file ended the program, by its default action or by a handler that ends it
 * before a second has passed. */
static void test_stopped_at_once(void **state)
{
    (void)state;
    expect_signal(body_stamped_twice, NULL, SIGKILL);
    assert_true(newest_info().term_alive_ns && newest_info().term_alive_ns < newest_info().term_ns);
    expect_end(next_start(), LG_END_TERMINATED, LG_EVIDENCE_TERMINATE_MARK);
    EXPECT_TWICE(body, WAY(TERMINATE), LG_END_TERMINATED, LG_EVIDENCE_TERMINATE_MARK, LG_END_TERMINATED, LG_EVIDENCE_WITNESS);
    expect_counted(false, false);
    state_make();
    expect_signal(body, WAY(TERMINATE), SIGTERM);
    assert_int_equal(newest_info().term_kept, 0);
    assert_int_equal(newest_info().term_alive_ns, 0);
    EXPECT_TWICE(body_handler_ends, NULL, LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK, LG_END_CLEAN, LG_EVIDENCE_WITNESS);
    EXPECT_TWICE(body_handler_ends, "after a while", LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK, LG_END_CLEAN, LG_EVIDENCE_WITNESS);
}

static void end_at_once(int number)
{
    (void)number;
    _exit(0);
}

static void body_reloads(void *argument)
{
    begin_keeping(SIGHUP);
    raise(SIGHUP);
    UNTIL(now.term_alive_ns);
    end_by((enum way)(uintptr_t)argument);
}

/* A program that uses SIGHUP for something else lives on, and the later marks decide. */
static void test_signal_that_meant_something_else(void **state)
{
    (void)state;
    expect_end(after(body_reloads, WAY(CRASH)), LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD);
    expect_end(after(body_reloads, WAY(STOP)), LG_END_CLEAN, LG_EVIDENCE_STOP_MARK);
    expect_end(after(body_reloads, WAY(EXIT_7)), LG_END_EXIT, LG_EVIDENCE_EXIT_MARK);
    run_child(body_reloads, WAY(KILL));
    change_boot_id();
    expect_end(next_start(), LG_END_REBOOT, LG_EVIDENCE_BOOT_DIFFERS);
    run_child(body_reloads, WAY(WILL_RESTART));
    expect_end(next_start(), LG_END_CLEAN, LG_EVIDENCE_RESTART_ANNOUNCED);
}

static void body_reloads_and_is_killed(void *argument)
{
    (void)argument;
    begin_keeping(SIGHUP);
    raise(SIGHUP);
    raise(SIGKILL);
}

static void body_is_hung_up(void *argument)
{
    (void)argument;
    begin();
    raise(SIGHUP);
}

static void body_never_returns(void *argument)
{
    (void)argument;
    signal(SIGHUP, end_at_once);
    begin();
    raise(SIGHUP);
}

static void body_stop_and_hang_up(void *argument)
{
    (void)argument;
    signal(SIGHUP, nothing);
    begin_keeping(SIGTERM);
    raise(SIGTERM);
    raise(SIGHUP);
    if (newest_info().term_signal != SIGTERM)
        _exit(90);
    UNTIL(now.term_alive_ns > now.term_ns);
    raise(SIGKILL);
}

static void test_reload(void **state)
{
    (void)state;
    /* The handler returned, and the program went on. */
    EXPECT_TWICE(body_reloads_and_is_killed, NULL, LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, LG_END_KILLED, LG_EVIDENCE_WITNESS);
    EXPECT_TWICE(body_reloads, WAY(KILL), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, LG_END_KILLED, LG_EVIDENCE_WITNESS);
    expect_counted(false, true);
    EXPECT_TWICE(body_reloads, WAY(WILL_TERMINATE), LG_END_TERMINATED, LG_EVIDENCE_TERMINATION_ANNOUNCED, LG_END_KILLED, LG_EVIDENCE_WITNESS);
    /* Without a handler, or with one that does not return, it ended the program. */
    EXPECT_TWICE(body_is_hung_up, NULL, LG_END_TERMINATED, LG_EVIDENCE_TERMINATE_MARK, LG_END_TERMINATED, LG_EVIDENCE_WITNESS);
    EXPECT_TWICE(body_never_returns, NULL, LG_END_TERMINATED, LG_EVIDENCE_TERMINATE_MARK, LG_END_CLEAN, LG_EVIDENCE_WITNESS);
    /* A supervisor sends SIGHUP after SIGTERM. */
    EXPECT_TWICE(body_stop_and_hang_up, NULL, LG_END_TERMINATED, LG_EVIDENCE_STOP_TIMEOUT, LG_END_TERMINATED, LG_EVIDENCE_STOP_TIMEOUT);
}

/* ---- the order of the marks ---- */

/* Seconds after the start; 0: not marked. */
struct marks {
    int asked, alive, hung, cpu, memory, announced, job; /* a job near its deadline */
    int signal; /* that asked; 0: SIGTERM */
    lg_end end;
    lg_evidence evidence;
    lg_end witnessed_end; /* verdict with a witness that saw SIGKILL */
    lg_evidence witnessed_evidence;
};

static void set_mark(size_t at, int seconds)
{
    uint64_t when = seconds ? newest_info().monotonic_ns + (uint64_t)seconds * SECOND_NS : 0;
    write_state(at, &when, sizeof when);
}

static void set_word(size_t at, uint32_t word)
{
    write_state(at, &word, sizeof word);
}

/* The first job began with the program. */
static void set_job(int near_seconds)
{
    struct lg__deadline job = { .name = "upload", .number = near_seconds ? LG__DEADLINES : 0, .begun_ns = newest_info().monotonic_ns };
    job.near_ns = job.begun_ns + (uint64_t)near_seconds * SECOND_NS;
    int file = open(newest_run_path(), O_RDWR);
    assert_true(file >= 0);
    off_t at = section_at(file, LG__SECTION_PULSE) + (off_t)offsetof(struct lg__pulse, deadlines);
    assert_int_equal(pwrite(file, &job, sizeof job, at), sizeof job);
    close(file);
}

static void set_marks(const struct marks *marks)
{
    set_job(marks->job);
    set_mark(offsetof(struct lg__state, term_ns), marks->asked);
    set_word(offsetof(struct lg__state, term_signal), !marks->asked ? 0 : marks->signal ? marks->signal : SIGTERM);
    set_mark(offsetof(struct lg__state, term_alive_ns), marks->alive);
    set_mark(offsetof(struct lg__state, hang_ns), marks->hung);
    set_mark(offsetof(struct lg__state, cpu_near_ns), marks->cpu);
    set_mark(offsetof(struct lg__state, memory_near_ns), marks->memory);
    set_mark(offsetof(struct lg__state, announced_ns), marks->announced);
    set_word(offsetof(struct lg__state, announced), marks->announced ? LG__ANNOUNCED_TERMINATION : 0);
}

static void test_order_of_causes(void **state)
{
    (void)state;
#define ENDS(end, evidence, witnessed_end, witnessed_evidence) 0, ENDS_OF(end, evidence, witnessed_end, witnessed_evidence)
#define ENDS_OF(end, evidence, witnessed_end, witnessed_evidence) LG_END_##end, LG_EVIDENCE_##evidence, LG_END_##witnessed_end, LG_EVIDENCE_##witnessed_evidence
    static const struct marks rows[] = {
        /* asked, alive, hung, cpu, memory, announced, job */
        { 0, 0, 0, 0, 0, 0, 0, ENDS(UNKNOWN, NO_MARK, KILLED, WITNESS) },
        { 0, 0, 0, 0, 9, 0, 0, ENDS(UNKNOWN, NEAR_MEMORY_LIMIT, KILLED, WITNESS) },
        { 0, 0, 0, 0, 9, 0, 9, ENDS(UNKNOWN, DEADLINE, KILLED, DEADLINE) },
        { 5, 8, 0, 0, 9, 0, 9, ENDS(TERMINATED, STOP_TIMEOUT, TERMINATED, STOP_TIMEOUT) },
        { 0, 0, 0, 9, 0, 0, 9, ENDS(UNKNOWN, CPU_LIMIT, KILLED, CPU_LIMIT) },
        { 0, 0, 3, 0, 0, 0, 9, ENDS(HANG, HANG_MARK, HANG, HANG_MARK) },
        { 5, 8, 0, 9, 9, 0, 0, ENDS(TERMINATED, STOP_TIMEOUT, KILLED, CPU_LIMIT) },
        { 5, 8, 3, 9, 9, 0, 0, ENDS(HANG, HANG_MARK, HANG, HANG_MARK) },
        /* The program hangs because it is ending. */
        { 5, 8, 4, 9, 9, 0, 0, ENDS(TERMINATED, STOP_TIMEOUT, KILLED, CPU_LIMIT) },
        { 5, 8, 5, 0, 0, 0, 0, ENDS(TERMINATED, STOP_TIMEOUT, TERMINATED, STOP_TIMEOUT) },
        { 5, 8, 6, 0, 0, 0, 0, ENDS(TERMINATED, STOP_TIMEOUT, TERMINATED, STOP_TIMEOUT) },
        { 5, 300, 105, 0, 0, 0, 0, ENDS(TERMINATED, STOP_TIMEOUT, TERMINATED, STOP_TIMEOUT) },
        /* The program did not end because of that signal: its loop came round for longer than any
         * stop takes. */
        { 5, 300, 106, 0, 0, 0, 0, ENDS(HANG, HANG_MARK, HANG, HANG_MARK) },
        { 0, 0, 6, 0, 0, 7, 0, ENDS(TERMINATED, TERMINATION_ANNOUNCED, KILLED, WITNESS) },
        { 0, 0, 6, 0, 0, 8, 0, ENDS(TERMINATED, TERMINATION_ANNOUNCED, HANG, HANG_MARK) },
        /* The program was not seen alive after the signal: a program that SIGTERM ended has no
         * witness of SIGKILL. */
        { 5, 0, 3, 9, 9, 0, 0, ENDS(TERMINATED, TERMINATE_MARK, HANG, HANG_MARK) },
        { 5, 4, 0, 9, 9, 0, 0, ENDS(TERMINATED, TERMINATE_MARK, KILLED, CPU_LIMIT) },
        { 5, 5, 0, 0, 9, 0, 0, ENDS(TERMINATED, TERMINATE_MARK, TERMINATED, STOP_TIMEOUT) },
        { 5, 8, 3, 9, 9, 6, 0, ENDS(TERMINATED, STOP_TIMEOUT, HANG, HANG_MARK) },
        { 5, 0, 0, 0, 9, 6, 0, ENDS(TERMINATED, TERMINATE_MARK, TERMINATED, STOP_TIMEOUT) },
        { 0, 0, 0, 9, 9, 6, 0, ENDS(TERMINATED, TERMINATION_ANNOUNCED, KILLED, CPU_LIMIT) },
        /* The program went on after the signal, which was no request to end. */
        { 5, 6, 0, 0, 0, 0, 0, SIGHUP, ENDS_OF(UNKNOWN, NO_MARK, KILLED, WITNESS) },
        { 5, 6, 0, 0, 0, 0, 9, SIGHUP, ENDS_OF(UNKNOWN, DEADLINE, KILLED, DEADLINE) },
        { 5, 6, 6, 0, 0, 0, 0, SIGHUP, ENDS_OF(HANG, HANG_MARK, HANG, HANG_MARK) },
        { 5, 6, 0, 0, 0, 8, 0, SIGHUP, ENDS_OF(TERMINATED, TERMINATION_ANNOUNCED, KILLED, WITNESS) },
        { 5, 0, 0, 0, 0, 0, 0, SIGHUP, ENDS_OF(TERMINATED, TERMINATE_MARK, TERMINATED, STOP_TIMEOUT) },
        { 5, 105, 0, 0, 0, 0, 0, SIGINT, ENDS_OF(TERMINATED, STOP_TIMEOUT, TERMINATED, STOP_TIMEOUT) },
        { 5, 106, 0, 0, 0, 0, 0, SIGINT, ENDS_OF(UNKNOWN, NO_MARK, KILLED, WITNESS) },
        { 5, 106, 106, 0, 0, 0, 0, SIGINT, ENDS_OF(HANG, HANG_MARK, HANG, HANG_MARK) },
        { 5, 3600, 0, 0, 0, 0, 0, SIGTERM, ENDS_OF(TERMINATED, STOP_TIMEOUT, TERMINATED, STOP_TIMEOUT) },
    };
    run_child(body, WAY(KILL));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int32_t status = SIGKILL;
        set_marks(&rows[i]);
        set_word(offsetof(struct lg__state, witnessed), 0);
        lg_verdict verdict = newest_verdict();
        if (verdict.end != rows[i].end || verdict.evidence != rows[i].evidence)
            fail_msg("row %zu: %s, %s", i, lg_end_name(verdict.end), lg_evidence_sentence(verdict.evidence));
        write_state(offsetof(struct lg__state, witness_status), &status, sizeof status);
        set_word(offsetof(struct lg__state, witnessed), 1);
        verdict = newest_verdict();
        if (verdict.end != rows[i].witnessed_end || verdict.evidence != rows[i].witnessed_evidence)
            fail_msg("row %zu, with a witness: %s, %s", i, lg_end_name(verdict.end), lg_evidence_sentence(verdict.evidence));
        assert_int_equal(verdict.signal, verdict.evidence != LG_EVIDENCE_STOP_TIMEOUT ? SIGKILL : rows[i].signal ? rows[i].signal : SIGTERM);
    }
}

static void test_what_counts(void **state)
{
    (void)state;
    static const struct {
        struct marks marks;
        bool as_crash, as_unknown;
    } rows[] = {
        { { .asked = 5, .alive = 8 }, false, false },
        { { .hung = 3 }, true, false },
        { { .cpu = 3 }, false, true },
        { { .memory = 3 }, false, true },
        { { .job = 3 }, false, true },
        { { .asked = 5, .alive = 8, .cpu = 9 }, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        state_make();
        run_child(body, WAY(KILL));
        set_marks(&rows[i].marks);
        account();
        expect_counted(rows[i].as_crash, rows[i].as_unknown);
        /* A launch that was already over is not affected. */
        run_child(body, WAY(FINISH_AND_KILL));
        set_marks(&rows[i].marks);
        next_start();
        assert_int_equal(last_of_timeline().counted, 0);
    }
}

/* ---- CPU time ---- */

static void limit_cpu(rlim_t soft, rlim_t hard)
{
    const struct rlimit value = { soft, hard };
    if (setrlimit(RLIMIT_CPU, &value) != 0)
        _exit(94);
    atomic_store(&cpu->limit_s, hard);
}

static uint64_t used_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    atomic_store(&cpu->used_ns, (uint64_t)used.tv_sec * SECOND_NS + (uint64_t)used.tv_nsec);
    return atomic_load(&cpu->used_ns);
}

/* Near its limit the program burns in pieces until the mark is there: at full speed a watch thread
 * that gets no processor for a tenth of a second would come too late. */
static void body_burns(void *argument)
{
    rlim_t hard = (rlim_t)(uintptr_t)argument;
    signal(SIGXCPU, SIG_IGN);
    limit_cpu(1, hard);
    /* where root may: a program that gets no processor burns nothing */
    setpriority(PRIO_PROCESS, 0, -20);
    begin();
    struct lg__state *state = session->host.run.state;
    for (volatile unsigned i = 0;; i++)
        if (i % 262144 == 0 && used_ns() >= hard * SECOND_NS / 10 * 9 && !atomic_load(&state->cpu_near_ns))
            rest(1);
}

static void test_cpu_limit(void **state)
{
    (void)state;
    for (uintptr_t hard = 1; hard <= 2; hard++) {
        EXPECT_TWICE(body_burns, (void *)hard, LG_END_UNKNOWN, LG_EVIDENCE_CPU_LIMIT, LG_END_KILLED, LG_EVIDENCE_CPU_LIMIT);
        expect_counted(false, true);
        lg_reader *reader = run_numbered(1);
        lg_run_info info;
        lg_verdict verdict;
        assert_int_equal(lg_reader_run(reader, &info), LG_OK);
        assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
        lg_reader_close(reader);
        assert_int_equal(info.cpu_limit_s, hard);
        assert_true(log_has_part(1, "of CPU time are used, and at "));
        assert_true(info.cpu_used_ns >= hard * SECOND_NS / 10 * 9 && info.cpu_used_ns <= hard * SECOND_NS + SECOND_NS / 10);
        assert_true(info.cpu_near_ns > info.monotonic_ns);
        assert_true(info.witnessed_ns > info.cpu_near_ns);
        assert_int_equal(verdict.monotonic_ns, info.witnessed_ns);
        assert_int_equal(verdict.signal, SIGKILL); /* of the witness */
    }
}

/* Near the limit, and asleep: the limit is not what ends the program. */
static void body_idles_near_limit(void *argument)
{
    (void)argument;
    limit_cpu(2, 2);
    begin();
    struct lg__state *state = session->host.run.state;
    while (!atomic_load(&state->cpu_near_ns))
        if (used_ns() >= 2 * SECOND_NS / 10 * 9)
            rest(1);
    wait_until(!atomic_load(&state->cpu_near_ns));
    atomic_store(&cpu->limit_s, 0); /* the limit does not end it */
    raise(SIGKILL);
}

static void test_cpu_limit_of_an_idle_program(void **state)
{
    (void)state;
    EXPECT_TWICE(body_idles_near_limit, NULL, LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, LG_END_KILLED, LG_EVIDENCE_WITNESS);
    assert_int_equal(newest_info().cpu_used_ns, 0);
}

/* A limit far away is no cause, nor is a limit that was near and then raised. */
static void body_far_from_limit(void *argument)
{
    limit_cpu(1000, 1000);
    begin();
    if (argument) {
        set_mark(offsetof(struct lg__state, cpu_near_ns), 1);
        UNTIL(!now.cpu_near_ns);
    }
    raise(SIGKILL);
}

static void test_cpu_limit_that_is_not_near(void **state)
{
    (void)state;
    expect_end(after(body_far_from_limit, NULL), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    expect_end(after(body_far_from_limit, "was near"), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
}

/* ---- the marks of the watch thread, and the time of its next look ---- */

#define EXPECT(condition) ((condition) ? (void)0 : _exit(__LINE__ % 90 + 1))

static void body_watch(void *argument)
{
    (void)argument;
    struct lg_session *simulated;
    if (lg_simulate_start(&simulated) != LG_OK)
        _exit(95);
    struct lg__state *state = simulated->host.run.state;
    /* no request, no limit */
    EXPECT(lg__limits_look(simulated, 100 * SECOND_NS) == UINT64_MAX);
    atomic_store(&state->term_ns, 100 * SECOND_NS);
    atomic_store(&state->term_signal, SIGTERM);
    /* the program dies of the signal */
    EXPECT(lg__limits_look(simulated, 105 * SECOND_NS) == UINT64_MAX && !atomic_load(&state->term_alive_ns));
    atomic_store(&state->term_kept, 1);
    EXPECT(lg__limits_look(simulated, 99 * SECOND_NS) == SECOND_NS && !atomic_load(&state->term_alive_ns));
    EXPECT(lg__limits_look(simulated, 100 * SECOND_NS + 1) == SECOND_NS - 1 && !atomic_load(&state->term_alive_ns));
    EXPECT(lg__limits_look(simulated, 101 * SECOND_NS) == SECOND_NS && atomic_load(&state->term_alive_ns) == 101 * SECOND_NS);
    EXPECT(lg__limits_look(simulated, 150 * SECOND_NS) == SECOND_NS && atomic_load(&state->term_alive_ns) == 150 * SECOND_NS);
    EXPECT(lg__limits_look(simulated, 700 * SECOND_NS) == 10 * SECOND_NS);
    EXPECT(lg__limits_look(simulated, 100000 * SECOND_NS) == 60 * SECOND_NS);
    atomic_store(&state->term_signal, 0);
    /* The program needs all its processors to use up the rest of its time, except for the last
     * second. */
    limit_cpu(1000, 1000);
    uint64_t pause = lg__limits_look(simulated, SECOND_NS), all = 999 * SECOND_NS / lg__os_processors();
    EXPECT(pause <= all && pause > all - SECOND_NS && !atomic_load(&state->cpu_near_ns));
    EXPECT(lg__os_processors() >= 1 && lg__os_processors() <= (unsigned)sysconf(_SC_NPROCESSORS_CONF));
    lg_simulate_close(simulated);
    EXPECT(lg__limits_look(simulated, SECOND_NS) == UINT64_MAX);
}

/* Near its limit the program gets no processor for a while: the mark stays, for it may go on at
 * full speed before the next look. */
static void test_starves_near_the_cpu_limit(void **state)
{
    (void)state;
    struct lg__cpu_look look = { 0 };
    const uint64_t ms = SECOND_NS / 1000, begun = 100 * SECOND_NS + 20 * ms, pauses[] = { 10, 20, 40 };
    assert_int_equal(lg__limits_cpu(&look, 2, 1000 * ms, 4, 99 * SECOND_NS), 200 * ms);
    assert_int_equal(lg__limits_cpu(&look, 2, 1799 * ms, 4, 99 * SECOND_NS + 900 * ms), 10 * ms);
    assert_false(look.near);
    assert_int_equal(lg__limits_cpu(&look, 2, 1820 * ms, 4, 100 * SECOND_NS), SECOND_NS / 4);
    assert_true(look.near);
    /* too early for a rate */
    assert_int_equal(lg__limits_cpu(&look, 2, 1821 * ms, 4, 100 * SECOND_NS + ms), 10 * ms);
    assert_int_equal(lg__limits_cpu(&look, 2, 1840 * ms, 4, begun), SECOND_NS / 4);
    for (unsigned n = 1; n < 4; n++) {
        assert_int_equal(lg__limits_cpu(&look, 2, 1840 * ms, 4, begun + n * SECOND_NS / 4), SECOND_NS / 4);
        assert_true(look.near);
    }
    assert_int_equal(lg__limits_cpu(&look, 2, 1840 * ms, 4, begun + SECOND_NS), SECOND_NS / 2);
    assert_false(look.near);
    /* it works again, from the next look on */
    assert_int_equal(lg__limits_cpu(&look, 2, 1880 * ms, 4, begun + 3 * SECOND_NS / 2), SECOND_NS / 4);
    assert_true(look.near);
    /* the limit is raised */
    assert_int_equal(lg__limits_cpu(&look, 20, 1890 * ms, 4, begun + 2 * SECOND_NS), 17110 * ms / 4);
    assert_false(look.near);
    /* idle from the first look on: rarer and rarer */
    look = (struct lg__cpu_look){ 0 };
    for (unsigned n = 0; n < 3; n++)
        assert_int_equal(lg__limits_cpu(&look, 2, 1900 * ms, 4, begun + n * SECOND_NS), pauses[n] * ms);
    for (unsigned n = 3; n < 20; n++)
        lg__limits_cpu(&look, 2, 1900 * ms, 4, begun + n * SECOND_NS);
    assert_int_equal(look.pause_ns, 60 * SECOND_NS);
    assert_false(look.near);
}

static void test_what_the_watch_notes(void **state)
{
    (void)state;
    expect_exit(body_watch, NULL, 0);
}

/* ---- ends that leave no mark, and their verdict with a witness ---- */

static void body_quick_exit(void *argument)
{
    begin();
    quick_exit((int)(uintptr_t)argument);
}

static void body_missing_function(void *argument)
{
    (void)argument;
    begin();
    void *library = dlopen(LACKING, RTLD_LAZY | RTLD_LOCAL), *found = library ? dlsym(library, "lacking_calls") : NULL;
    void (*call)(void);
    if (!found)
        _exit(93);
    memcpy(&call, &found, sizeof call);
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO); /* the loader prints the reason there */
    call();
    _exit(92);
}

static void test_ends_without_a_trace(void **state)
{
    (void)state;
    EXPECT_TWICE(body, WAY(KILL), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, LG_END_KILLED, LG_EVIDENCE_WITNESS);
    expect_counted(false, true);
    EXPECT_TWICE(body, WAY(ALARM), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, LG_END_CRASH, LG_EVIDENCE_WITNESS);
    expect_counted(true, false);
    EXPECT_TWICE(body, WAY(EXIT_7_AT_ONCE), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, LG_END_EXIT, LG_EVIDENCE_WITNESS);
    assert_int_equal(last_of_timeline().verdict.code, 7);
    expect_counted(false, false);
    EXPECT_TWICE(body_quick_exit, (void *)3, LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, LG_END_EXIT, LG_EVIDENCE_WITNESS);
    assert_int_equal(last_of_timeline().verdict.code, 3);
    EXPECT_TWICE(body_quick_exit, (void *)0, LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, LG_END_CLEAN, LG_EVIDENCE_WITNESS);
    EXPECT_TWICE(body_missing_function, NULL, LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK, LG_END_EXIT, LG_EVIDENCE_WITNESS);
    assert_int_equal(last_of_timeline().verdict.code, 127);
}

static void body_killed_before_start(void *argument)
{
    (void)argument;
    raise(SIGKILL);
}

static void kill_at_start(const char *point)
{
    if (strcmp(point, "start: installed") == 0)
        raise(SIGKILL);
}

static void body_killed_in_start(void *argument)
{
    (void)argument;
    lg__fault_hook = kill_at_start;
    begin();
}

static void test_killed_before_and_in_the_start(void **state)
{
    (void)state;
    expect_exit(body, WAY(EXIT_0), 0);
    struct death death = run_child(body_killed_before_start, NULL);
    assert_int_equal(WTERMSIG(death.status), SIGKILL);
    /* the end is unknown, and the parent has no run to store a status in */
    assert_int_equal(count_runs(), 1);
    assert_int_equal(lg_witness(state_path(""), newest_info().pid + 1, death.status), LG_ERR_NOT_FOUND);
    expect_end(next_start(), LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK);
    /* Killed inside lg_start(): there is a run file, but the ledger does not know the run yet, and
     * no launch has begun that could count. */
    death = run_child(body_killed_in_start, NULL);
    assert_int_equal(newest_info().started, 0);
    assert_int_equal(newest_verdict().evidence, LG_EVIDENCE_NO_MARK);
    uint64_t ordinal = newest_info().ordinal;
    assert_int_equal(lg_witness(state_path(""), newest_info().pid, death.status), LG_OK);
    assert_int_equal(newest_verdict().end, LG_END_KILLED);
    assert_true(account().ordinal < ordinal);
    expect_counted(false, false);
}

/* ---- a thread that the kernel ends; a program that stands still because of others ---- */

static void *forbidden_call(void *argument)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof code[0], code };
    *(pid_t *)argument = (pid_t)syscall(SYS_gettid);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(96);
    syscall(SYS_getppid);
    _exit(91);
}

static void body_thread_is_ended(void *argument)
{
    pthread_t thread;
    static volatile pid_t tid;
    begin();
    if (pthread_create(&thread, NULL, forbidden_call, (void *)(uintptr_t)&tid) != 0)
        _exit(95);
    wait_until(tid && syscall(SYS_tgkill, getpid(), tid, 0) != 0);
    end_by((enum way)(uintptr_t)argument);
}

static void test_thread_ended_by_a_sandbox(void **state)
{
    (void)state;
    /* The end of one thread is no end of the run: the other threads live on, and the process ends
     * in its own way. */
    expect_exit(body_thread_is_ended, WAY(EXIT_0), 0);
    expect_end(next_start(), LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK);
    expect_signal(body_thread_is_ended, WAY(CRASH), SIGSEGV);
    expect_end(next_start(), LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD);
}

static bool is_stopped(pid_t process)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    (void)!read(file, line, sizeof line - 1);
    close(file);
    return strstr(line, ") T ");
}

static void body_is_stopped(void *argument)
{
    (void)argument;
    begin();
    pid_t self = getpid(), waker = fork();
    if (waker == 0) {
        wait_until(getppid() != self || is_stopped(self));
        kill(self, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    waitpid(waker, NULL, 0);
    lg_launch_finished(launch);
}

static void test_stopped_and_continued(void **state)
{
    (void)state;
    expect_exit(body_is_stopped, NULL, 0);
    assert_int_equal(newest_info().term_signal, 0);
    expect_end(next_start(), LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK);
    expect_counted(false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_stop_timeout),
        WITH_STATE(test_stopped_at_once),
        WITH_STATE(test_signal_that_meant_something_else),
        WITH_STATE(test_reload),
        WITH_STATE(test_order_of_causes),
        WITH_STATE(test_what_counts),
        WITH_STATE(test_what_the_watch_notes),
        cmocka_unit_test(test_starves_near_the_cpu_limit),
        WITH_STATE(test_cpu_limit),
        WITH_STATE(test_cpu_limit_of_an_idle_program),
        WITH_STATE(test_cpu_limit_that_is_not_near),
        WITH_STATE(test_ends_without_a_trace),
        WITH_STATE(test_killed_before_and_in_the_start),
        WITH_STATE(test_thread_ended_by_a_sandbox),
        WITH_STATE(test_stopped_and_continued),
    };
    cpu = mmap(NULL, sizeof *cpu, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (cpu == MAP_FAILED)
        return 1;
    return cmocka_run_group_tests_name("unseen", tests, NULL, NULL);
}
