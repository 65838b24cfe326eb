/* Run loops that hang: children with short thresholds that hang, come back, are stopped, debugged
 * or killed, and the contents of their run files. */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/question.h"
#include "os/fault_point.h"
#include "os/os.h"

#define THRESHOLD_MS 150
#define NEVER_MS 1500 /* of a loop that must not hang: no thread waits so long for a processor */
#define LONG_MS 3600000

static lg_session *session;

/* The program has more thread-local data than a thread of LaunchGuard has stack, and libc takes the
 * room for the data from the stack. */
static __thread volatile char large[100000];

static void start(uint32_t launching_ms, uint32_t running_ms, uint32_t leave_out)
{
    lg_options options = LG_OPTIONS_INIT;
    options.hang_launching_ms = launching_ms;
    options.hang_running_ms = running_ms;
    options.leave_out = leave_out;
    options.deadline_ms = 60000; /* a thread has a tenth of it for an answer */
    options.handler_ms = 100;
    lg__fault_patience = 20;
    large[sizeof large - 1] = 1;
    session = start_with(options);
}

static lg_launch *begin_launch(uint32_t heartbeat_ms)
{
    lg_launch *launch;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.window_ms = 60000;
    options.heartbeat_ms = heartbeat_ms;
    if (lg_launch_prepare(session, "main", &options, &launch) != LG_OK || lg_launch_begin(launch) != LG_OK)
        _exit(98);
    return launch;
}

static void wait_for_hang(void)
{
    wait_until(newest_info().hang_ns && said("it hangs"));
}

static void expect_verdict(lg_end end, lg_evidence evidence)
{
    lg_verdict verdict = newest_verdict();
    assert_int_equal(verdict.end, end);
    assert_int_equal(verdict.evidence, evidence);
}

/* ---- the place of the hang: a section of its own, with known bounds ---- */

extern char __start_hanging[], __stop_hanging[];
static volatile bool come_back;

/* Also calls the function that begins the hang: so the place is right, however long the way from
 * the begin to the wait takes. */
__attribute__((noinline, section("hanging"))) static void hang_after(void (*begin)(void))
{
    begin();
    while (!come_back)
        poll(NULL, 0, 1);
    __asm__ volatile("" ::: "memory");
}

static void begun(void) {}

static void hang_here(void)
{
    hang_after(begun);
}

static void beat(void)
{
    if (lg_heartbeat(session) != LG_OK)
        _exit(96);
}

/* Index of the thread in the snapshot; its stack is asserted to lead through hang_after() where
 * it is to. */
static uint32_t thread_of(lg_reader *reader, int32_t tid, bool hangs)
{
    lg_thread_info thread;
    uint32_t index = 0;
    while (lg_reader_snapshot_thread(reader, LG_SNAPSHOT_HANG, index, &thread) == LG_OK && thread.tid != tid)
        index++;
    assert_int_equal(thread.tid, tid);
    assert_int_equal(thread.how, LG_THREAD_CAPTURED);
    uint64_t pc;
    uint32_t inside = 0;
    for (uint32_t i = 0; lg_reader_snapshot_frame(reader, LG_SNAPSHOT_HANG, index, i, &pc) == LG_OK; i++)
        inside += pc > (uint64_t)(uintptr_t)__start_hanging && pc <= (uint64_t)(uintptr_t)__stop_hanging;
    assert_int_equal(inside, hangs);
    return index;
}

static void *kill_when_hanging(void *argument)
{
    (void)argument;
    wait_for_hang();
    kill(getpid(), SIGKILL);
    return NULL;
}

/* ---- hangs that the process does not survive ---- */

static void body_hangs_and_is_killed(void *argument)
{
    const char *when = argument;
    bool launching = strcmp(when, "launching") == 0;
    start(launching ? THRESHOLD_MS : LONG_MS, launching ? LONG_MS : THRESHOLD_MS, strcmp(when, "alone") == 0 ? LG_LEAVE_OUT_THREADS : 0);
    prctl(PR_SET_NAME, "player");
    in_thread(kill_when_hanging, NULL);
    lg_launch *launch = begin_launch(0);
    if (!launching)
        lg_launch_finished(launch);
    hang_after(beat);
}

/* The next start. Its own launch is not finished, so the counters stay as the account of the
 * previous run left them. */
static void body_only_begins(void *argument)
{
    (void)argument;
    start(LONG_MS, LONG_MS, 0);
    begin_launch(0);
}

static void test_hang_and_kill(void **state)
{
    static const char *const when[] = { "launching", "running", "alone" };
    (void)state;
    for (size_t i = 0; i < sizeof when / sizeof when[0]; i++) {
        state_make();
        expect_signal(body_hangs_and_is_killed, (void *)(uintptr_t)when[i], SIGKILL);
        expect_verdict(LG_END_HANG, LG_EVIDENCE_HANG_MARK);
        lg_reader *reader = newest_run();
        lg_snapshot_info snapshot;
        lg_run_info run;
        lg_heartbeat_info heartbeat;
        assert_int_equal(lg_reader_run(reader, &run), LG_OK);
        assert_int_equal(lg_reader_snapshot(reader, LG_SNAPSHOT_HANG, &snapshot), LG_OK);
        assert_int_equal(snapshot.tid, run.pid);
        assert_string_equal(snapshot.name, "player");
        assert_true(snapshot.complete && !snapshot.given_up && !snapshot.error && !snapshot.resolved_ns);
        assert_int_equal(snapshot.since_ns, run.hang_ns);
        assert_true(snapshot.taken_ns - snapshot.since_ns >= THRESHOLD_MS * 1000000ull);
        /* the two threads of the test */
        assert_int_equal(snapshot.stored, i == 2 ? 1 : 2);
        assert_int_equal(snapshot.captured, snapshot.stored);
        assert_int_equal(thread_of(reader, run.pid, true), 0);
        lg_register value;
        assert_int_equal(lg_reader_snapshot_register(reader, LG_SNAPSHOT_HANG, 0, 0, &value), LG_OK);
        assert_int_equal(lg_reader_snapshot(reader, LG_SNAPSHOT_DEADLINE, &snapshot), LG_ERR_NOT_FOUND);
        assert_int_equal(lg_reader_heartbeat(reader, 0, &heartbeat), LG_OK);
        assert_int_equal(heartbeat.tid, run.pid);
        assert_string_equal(heartbeat.name, "player");
        assert_int_equal(heartbeat.hang_ns, run.hang_ns);
        assert_int_equal(heartbeat.beat_ns, run.hang_ns);
        assert_int_equal(lg_reader_heartbeat(reader, 1, &heartbeat), LG_ERR_NOT_FOUND);
        assert_true(said("main thread \"player\""));
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        lg_reader_close(reader);
        if (i == 1) { /* the parent knows the end of the run, and nothing else */
            assert_int_equal(lg_witness(state_path(""), run.pid, SIGKILL), LG_OK);
            expect_verdict(LG_END_HANG, LG_EVIDENCE_HANG_MARK);
            assert_int_equal(newest_verdict().signal, SIGKILL);
        }
        expect_exit(body_only_begins, NULL, 0);
        lg_timeline_entry entry = last_of_timeline();
        bool launching = strcmp(when[i], "launching") == 0;
        assert_int_equal(entry.verdict.end, LG_END_HANG);
        assert_int_equal(entry.verdict.evidence, LG_EVIDENCE_HANG_MARK);
        assert_int_equal(entry.counted, launching);
        assert_int_equal(ledger_context("main").streak, launching);
        assert_int_equal(ledger_context("main").unknown, 0);
    }
}

/* ---- hangs that pass ---- */

static void *call_back_when_hanging(void *argument)
{
    (void)argument;
    wait_for_hang();
    come_back = true;
    return NULL;
}

/* The breadcrumb of the first hang is still there; the stacks are those of the second. */
static void *call_back_when_taken_again(void *argument)
{
    lg_snapshot_info snapshot;
    (void)argument;
    wait_until(newest_snapshot(LG_SNAPSHOT_HANG, &snapshot) && snapshot.sequence == 2);
    come_back = true;
    return NULL;
}

static void body_hangs_and_comes_back(void *argument)
{
    const char *how = argument;
    lg_snapshot_info snapshot;
    start(LONG_MS, THRESHOLD_MS, 0);
    in_thread(call_back_when_hanging, NULL);
    hang_after(beat);
    if (strcmp(how, "pause") == 0)
        lg_heartbeat_pause(session);
    else
        lg_heartbeat(session);
    if (newest_info().hang_ns || !newest_snapshot(LG_SNAPSHOT_HANG, &snapshot) || !snapshot.resolved_ns ||
        snapshot.resolved_ns - snapshot.since_ns < THRESHOLD_MS * 1000000ull)
        _exit(1);
    if (strcmp(how, "again") == 0) { /* a second one takes the place of the first */
        come_back = false;
        in_thread(call_back_when_taken_again, NULL);
        hang_here();
        lg_heartbeat(session);
        /* the hang was recorded before: the mark alone may have been seen */
        wait_until(newest_snapshot(LG_SNAPSHOT_HANG, &snapshot) && snapshot.sequence == 2);
        if (newest_info().hang_ns)
            _exit(2);
    }
    kill(getpid(), SIGKILL);
}

static void test_hang_that_passes(void **state)
{
    (void)state;
    static const char *const how[] = { "beat", "pause", "again" };
    for (size_t i = 0; i < 3; i++) {
        state_make();
        expect_signal(body_hangs_and_comes_back, (void *)(uintptr_t)how[i], SIGKILL);
        expect_verdict(LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
        assert_true(said(i == 1 ? "pauses after " : "has come back after "));
        assert_true(said("the hang is over"));
        lg_reader *reader = newest_run();
        thread_of(reader, newest_info().pid, true);
        lg_reader_close(reader);
    }
}

/* ---- no hang ---- */

/* Run `body` in a process of its own. */
static void from_outside(void (*body)(pid_t parent))
{
    pid_t parent = getpid();
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        body(parent);
        _exit(0);
    }
}

static void stop_and_continue(pid_t parent)
{
    kill(parent, SIGSTOP);
    pass_time(2 * NEVER_MS, "a stop that is longer than the threshold");
    kill(parent, SIGCONT);
}

static void beat_for(unsigned ms)
{
    uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + ms * 1000000ull;
    while (lg__os_clock_ns(CLOCK_MONOTONIC) < until) {
        lg_heartbeat(session);
        rest(2);
    }
}

static void body_is_stopped(void *argument)
{
    (void)argument;
    int status;
    start(LONG_MS, NEVER_MS, 0);
    lg_heartbeat(session);
    from_outside(stop_and_continue);
    while (waitpid(-1, &status, WNOHANG) == 0)
        beat_for(10);
    beat_for(2 * NEVER_MS);
    kill(getpid(), SIGKILL);
}

static void body_pauses(void *argument)
{
    (void)argument;
    start(LONG_MS, NEVER_MS, 0);
    lg_heartbeat(session);
    lg_heartbeat_pause(session);
    pass_time(2 * NEVER_MS, "a hang would be seen by then");
    kill(getpid(), SIGKILL);
}

static void body_never_beats(void *argument)
{
    (void)argument;
    start(THRESHOLD_MS, THRESHOLD_MS, 0);
    lg_heartbeat_pause(session);
    pass_time(3 * THRESHOLD_MS, "a hang would be seen by then");
    kill(getpid(), SIGKILL);
}

static void test_no_hang(void **state)
{
    (void)state;
    static void (*const bodies[])(void *) = { body_is_stopped, body_pauses, body_never_beats };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        state_make();
        expect_signal(bodies[i], NULL, SIGKILL);
        assert_false(said("it hangs"));
        expect_verdict(LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
        lg_snapshot_info snapshot;
        assert_false(newest_snapshot(LG_SNAPSHOT_HANG, &snapshot));
    }
}

static uint64_t *let_go_ns; /* when the debugger lets the program go on */

static void body_is_traced(void *argument)
{
    (void)argument;
    int status;
    start(LONG_MS, THRESHOLD_MS, 0);
    lg_heartbeat(session);
    lg_heartbeat_pause(session);
    pid_t parent = getpid();
    int pipes[2];
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (pipe(pipes) != 0)
        _exit(95);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (ptrace(PTRACE_SEIZE, parent, 0, 0) != 0)
            _exit(77);
        if (write(pipes[1], "", 1) != 1)
            _exit(1);
        pass_time(4 * THRESHOLD_MS, "a hang would be seen by then");
        *let_go_ns = now_ns();
        if (write(pipes[1], "", 1) != 1)
            _exit(1);
        if (ptrace(PTRACE_INTERRUPT, parent, 0, 0) == 0) {
            waitpid(parent, &status, __WALL);
            ptrace(PTRACE_DETACH, parent, 0, 0);
        }
        _exit(0);
    }
    close(pipes[1]);
    char byte;
    if (read(pipes[0], &byte, 1) != 1) {
        wait(&status);
        _exit(WEXITSTATUS(status));
    }
    lg_heartbeat(session);
    struct pollfd goes = { .fd = pipes[0], .events = POLLIN };
    for (;;) {
        const bool hangs = newest_info().hang_ns; /* seen before the debugger goes */
        if (poll(&goes, 1, 1) == 1)
            break;
        if (hangs)
            _exit(2);
    }
    wait_for_hang(); /* once the debugger lets the program go on */
    kill(getpid(), SIGKILL);
}

static void test_no_hang_under_a_debugger(void **state)
{
    (void)state;
    let_go_ns = shared_memory(sizeof *let_go_ns);
    struct death death = run_child(body_is_traced, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
        skip_because("this user may not trace a process");
    expect_death(death, SIGKILL);
    expect_verdict(LG_END_HANG, LG_EVIDENCE_HANG_MARK);
    lg_snapshot_info snapshot;
    assert_true(newest_snapshot(LG_SNAPSHOT_HANG, &snapshot));
    assert_true(snapshot.taken_ns >= *let_go_ns);
}

/* ---- several heartbeats ---- */

static _Atomic int32_t hanging_tid;

static void *hang_in_thread(void *argument)
{
    prctl(PR_SET_NAME, "worker");
    hanging_tid = (int32_t)gettid();
    hang_after(beat);
    if (!argument)
        lg_heartbeat(session);
    return NULL;
}

static void body_one_of_two_hangs(void *argument)
{
    (void)argument;
    pthread_t worker;
    start(LONG_MS, NEVER_MS, 0);
    lg_heartbeat(session);
    pthread_create(&worker, NULL, hang_in_thread, "and ends");
    while (!said("it hangs"))
        beat_for(4);
    uint64_t since = newest_info().hang_ns;
    beat_for(NEVER_MS);
    if (!since || newest_info().hang_ns != since)
        _exit(1); /* the other's heartbeats do not take the mark back */
    come_back = true;
    pthread_join(worker, NULL);
    if (newest_info().hang_ns)
        _exit(2);
    lg_reader *reader = newest_run();
    lg_heartbeat_info heartbeat;
    if (lg_reader_heartbeat(reader, 1, &heartbeat) != LG_ERR_NOT_FOUND || lg_reader_heartbeat(reader, 0, &heartbeat) != LG_OK || heartbeat.tid != getpid())
        _exit(3);
    thread_of(reader, hanging_tid, true);
    thread_of(reader, getpid(), false);
    lg_reader_close(reader);
}

static void test_one_of_two(void **state)
{
    (void)state;
    expect_exit(body_one_of_two_hangs, NULL, 0);
    assert_true(said("thread \"worker\""));
    assert_true(said("has ended after"));
}

/* Both loops hang: the mark stays until the second one has come back, and the snapshot is that of
 * the first. */
static void body_both_hang(void *argument)
{
    (void)argument;
    pthread_t worker;
    lg_snapshot_info first, second;
    start(LONG_MS, THRESHOLD_MS, 0);
    pthread_create(&worker, NULL, hang_in_thread, NULL);
    wait_until(newest_snapshot(LG_SNAPSHOT_HANG, &first) && said("it hangs"));
    lg_heartbeat(session);
    wait_until(said("main thread"));
    come_back = true;
    pthread_join(worker, NULL);
    if (!newest_info().hang_ns || !newest_snapshot(LG_SNAPSHOT_HANG, &second) || second.sequence != first.sequence || !second.resolved_ns)
        _exit(1);
    lg_heartbeat(session);
    if (newest_info().hang_ns)
        _exit(2);
}

static void test_both(void **state)
{
    (void)state;
    expect_exit(body_both_hang, NULL, 0);
}

static pthread_barrier_t barrier;

static void *beat_and_wait(void *argument)
{
    (void)argument;
    lg_status status = lg_heartbeat(session);
    lg_heartbeat_pause(session);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return (void *)(uintptr_t)status;
}

static void body_too_many(void *argument)
{
    (void)argument;
    pthread_t threads[LG_HEARTBEATS_MAX];
    lg_heartbeat_info heartbeat;
    start(LONG_MS, LONG_MS, 0);
    for (int round = 0; round < 3; round++) {
        pthread_barrier_init(&barrier, NULL, LG_HEARTBEATS_MAX + 1);
        for (int i = 0; i < LG_HEARTBEATS_MAX; i++)
            pthread_create(&threads[i], NULL, beat_and_wait, NULL);
        pthread_barrier_wait(&barrier);
        lg_reader *reader = newest_run();
        if (lg_heartbeat(session) != LG_ERR_LIMIT || lg_heartbeat_pause(session) != LG_OK ||
            lg_reader_heartbeat(reader, LG_HEARTBEATS_MAX - 1, &heartbeat) != LG_OK || !heartbeat.paused)
            _exit(1);
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < LG_HEARTBEATS_MAX; i++) {
            void *status;
            pthread_join(threads[i], &status);
            if (status != (void *)LG_OK)
                _exit(2);
        }
        if (lg_reader_heartbeat(reader, 0, &heartbeat) != LG_ERR_NOT_FOUND)
            _exit(3);
        lg_reader_close(reader);
    }
    if (lg_heartbeat(session) != LG_OK)
        _exit(4);
}

static void test_too_many(void **state)
{
    (void)state;
    expect_exit(body_too_many, NULL, 0);
}

/* ---- a thread that the kernel ends ---- */

static void *be_killed_alone(void *argument)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
    (void)argument;
    prctl(PR_SET_NAME, "sandboxed");
    lg_heartbeat(session);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
    syscall(SYS_getpriority, 0, 0);
    _exit(1);
}

static void body_thread_is_killed(void *argument)
{
    (void)argument;
    lg_heartbeat_info heartbeat;
    start(LONG_MS, THRESHOLD_MS, 0);
    in_thread(be_killed_alone, NULL);
    wait_until(said("the kernel ended thread"));
    lg_reader *reader = newest_run();
    if (newest_info().hang_ns || lg_reader_heartbeat(reader, 0, &heartbeat) != LG_ERR_NOT_FOUND)
        _exit(2);
    lg_reader_close(reader);
}

static void test_thread_killed_by_the_kernel(void **state)
{
    (void)state;
    struct death death = run_child(body_thread_is_killed, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
        skip_because("the kernel takes no seccomp filter");
    assert_false(death.late);
    assert_true(WIFEXITED(death.status) && WEXITSTATUS(death.status) == 0);
    assert_true(said("\"sandboxed\""));
    assert_false(said("it hangs"));
}

/* A thread ends just when it is looked at, and another gets its heartbeat. */
static pthread_t ends;
static _Atomic int turn;

static void *beat_and_end(void *argument)
{
    (void)argument;
    lg_heartbeat(session);
    wait_until(turn);
    return NULL;
}

static void *beat_and_pause(void *argument)
{
    (void)argument;
    lg_heartbeat(session);
    lg_heartbeat_pause(session);
    turn = 2;
    return wait_for_ever(NULL);
}

/* On the watch thread, which libc does not know: the first thread does what is to be done. */
static void hook_ends(const char *point)
{
    if (strcmp(point, "heartbeat: is gone?") != 0 || turn)
        return;
    turn = 1;
    wait_until(turn == 3);
}

static void body_ends_when_looked_at(void *argument)
{
    (void)argument;
    lg_heartbeat_info heartbeat;
    start(LONG_MS, THRESHOLD_MS, 0);
    lg__fault_hook = hook_ends;
    if (pthread_create(&ends, NULL, beat_and_end, NULL) != 0)
        _exit(97);
    wait_until(turn == 1);
    pthread_join(ends, NULL);
    in_thread(beat_and_pause, NULL);
    wait_until(turn == 2);
    turn = 3;
    /* The next heartbeat that the watch looks at shows that it is past the first. */
    lg_heartbeat(session);
    in_thread(call_back_when_hanging, NULL);
    hang_here();
    lg_heartbeat_pause(session);
    lg_reader *reader = newest_run();
    _exit(said("the kernel ended thread") ? 1 : lg_reader_heartbeat(reader, 0, &heartbeat) != LG_OK || !heartbeat.paused ? 2 : lg_reader_heartbeat(reader, 1, &heartbeat) != LG_OK ? 3 : 0);
}

static void test_ends_when_looked_at(void **state)
{
    (void)state;
    expect_exit(body_ends_when_looked_at, NULL, 0);
}

/* ---- the watch ---- */

static void body_armed(void *argument)
{
    (void)argument;
    uint64_t deadline;
    start(LONG_MS, LONG_MS, 0);
    lg_heartbeat(session);
    lg_deadline_begin(session, "long", 86400000, &deadline);
}

static void test_exits_promptly(void **state)
{
    (void)state;
    expect_exit(body_armed, NULL, 0);
}

/* A number from a file of the thread in /proc, after a key. */
static unsigned long long figure(long tid, const char *file, const char *key)
{
    char path[64], line[256];
    unsigned long long value = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/%s", tid, file);
    FILE *stream = fopen(path, "r");
    while (stream && fgets(line, sizeof line, stream))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%llu", &value) == 1)
            break;
    if (stream)
        fclose(stream);
    return value;
}

/* The only thread beside the first. */
static long other_thread(void)
{
    long found = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(tasks));)
        if (entry->d_name[0] != '.' && atol(entry->d_name) != (long)getpid())
            found = atol(entry->d_name);
    closedir(tasks);
    return found;
}

static void body_idle(void *argument)
{
    (void)argument;
    start(THRESHOLD_MS, THRESHOLD_MS, 0);
    lg_heartbeat(session);
    lg_heartbeat_pause(session);
    long watch = other_thread();
    pass_time(4 * THRESHOLD_MS, "the count that it had begun");
    unsigned long long switches = figure(watch, "status", "voluntary_ctxt_switches:"), ran = figure(watch, "schedstat", "");
    const uint64_t begin = now_ns();
    pass_time(2500, "so that a watch that looks at each threshold would be seen");
    switches = figure(watch, "status", "voluntary_ctxt_switches:") - switches;
    const double seconds = (double)(now_ns() - begin) / 1e9;
    printf("the watch over %.1f s while all pause: %llu switches, %llu us of CPU time\n", seconds, switches, (figure(watch, "schedstat", "") - ran) / 1000);
    /* The watch thread looks at the handlers 1, 3 and 7 s after the start. */
    exit((double)switches <= seconds ? 0 : 1);
}

static void test_sleeps(void **state)
{
    (void)state;
    expect_exit(body_idle, NULL, 0);
}

/* The watch looks at a loop that beats four times in a threshold, and these looks wake no other
 * thread. */
static void body_beats(void *argument)
{
    (void)argument;
    start(LONG_MS, 400, 0);
    lg_heartbeat(session);
    long watch = other_thread();
    beat_for(200);
    unsigned long long switches = figure(watch, "status", "voluntary_ctxt_switches:"), ran = figure(watch, "schedstat", "");
    uint64_t begin = lg__os_clock_ns(CLOCK_MONOTONIC);
    beat_for(2000);
    double thresholds = (double)(lg__os_clock_ns(CLOCK_MONOTONIC) - begin) / 400e6;
    switches = figure(watch, "status", "voluntary_ctxt_switches:") - switches;
    printf("the watch over %.1f thresholds of a loop that beats: %llu switches, %llu us of CPU time\n", thresholds, switches,
           (figure(watch, "schedstat", "") - ran) / 1000);
    exit((double)switches <= 5 * thresholds + 4 ? 0 : 1);
}

static void test_does_not_wake(void **state)
{
    (void)state;
    expect_exit(body_beats, NULL, 0);
}

/* ---- what other threads notice ---- */

static _Atomic int interrupted, went_on;
static int pipes[2];

static void *wait_in_poll(void *argument)
{
    (void)argument;
    struct pollfd wait = { .fd = pipes[0], .events = POLLIN };
    int ready;
    while ((ready = poll(&wait, 1, -1)) < 0 && errno == EINTR)
        interrupted++;
    went_on += ready == 1;
    return NULL;
}

static void *wait_in_read(void *argument)
{
    (void)argument;
    char byte;
    went_on += read(pipes[0], &byte, 1) == 1; /* never EINTR */
    return NULL;
}

static void *spin(void *argument)
{
    (void)argument;
    while (!come_back) {}
    went_on++;
    return NULL;
}

static void body_others_go_on(void *argument)
{
    (void)argument;
    void *(*const functions[])(void *) = { wait_in_poll, wait_in_read, spin, wait_in_read };
    pthread_t threads[4];
    start(LONG_MS, THRESHOLD_MS, 0);
    if (pipe(pipes) != 0)
        _exit(95);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, functions[i], NULL);
    in_thread(call_back_when_hanging, NULL);
    lg_heartbeat(session);
    hang_here();
    lg_heartbeat(session);
    if (write(pipes[1], "12345678", 8) != 8)
        _exit(95);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    exit(went_on == 4 && interrupted <= 1 ? 0 : 1);
}

static void test_others_go_on(void **state)
{
    (void)state;
    expect_exit(body_others_go_on, NULL, 0);
    lg_snapshot_info snapshot;
    assert_true(newest_snapshot(LG_SNAPSHOT_HANG, &snapshot));
    assert_int_equal(snapshot.stored, 6);
    assert_int_equal(snapshot.captured + snapshot.silent, 6);
}

/* ---- locks that the hanging thread holds ---- */

static int hang_in_callback(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)info, (void)size, (void)argument;
    hang_here();
    return 1;
}

static void body_hangs_with_the_loaders_lock(void *argument)
{
    (void)argument;
    start(LONG_MS, THRESHOLD_MS, 0);
    lg_modules_refresh(session); /* the preparing thread needs the lock */
    in_thread(kill_when_hanging, NULL);
    lg_heartbeat(session);
    dl_iterate_phdr(hang_in_callback, NULL);
}

static void test_loaders_lock(void **state)
{
    (void)state;
    expect_signal(body_hangs_with_the_loaders_lock, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    thread_of(reader, newest_info().pid, true);
    lg_reader_close(reader);
}

/* ---- a launch with a heartbeat of its own ---- */

static lg_launch *hanging_launch;

static void begin_hanging_launch(void)
{
    hanging_launch = begin_launch(THRESHOLD_MS);
}

static void body_launch_without_heartbeat(void *argument)
{
    lg_snapshot_info snapshot;
    start(LONG_MS, LONG_MS, 0);
    in_thread(argument ? call_back_when_hanging : kill_when_hanging, NULL);
    hang_after(begin_hanging_launch);
    if (argument && strcmp(argument, "beat") == 0)
        lg_heartbeat(session);
    else if (argument)
        lg_launch_finished(hanging_launch);
    wait_until(!argument || (!newest_info().hang_ns && newest_snapshot(LG_SNAPSHOT_HANG, &snapshot) && snapshot.resolved_ns));
    kill(getpid(), SIGKILL);
}

static void test_launch_heartbeat(void **state)
{
    (void)state;
    expect_signal(body_launch_without_heartbeat, NULL, SIGKILL);
    expect_verdict(LG_END_HANG, LG_EVIDENCE_HANG_MARK);
    lg_reader *reader = newest_run();
    thread_of(reader, newest_info().pid, true);
    lg_reader_close(reader);
    static const char *const how[] = { "beat", "finish" };
    for (size_t i = 0; i < 2; i++) {
        state_make();
        expect_signal(body_launch_without_heartbeat, (void *)(uintptr_t)how[i], SIGKILL);
        expect_verdict(LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    }
}

/* ---- crashes while a snapshot is taken ---- */

static const char *crash_at;
static volatile unsigned crash_after;
static _Atomic bool crash_now;
static __thread bool will_crash;

static void *crash_when_told(void *argument)
{
    (void)argument;
    will_crash = true;
    while (!crash_now) {}
    for (volatile unsigned i = 0; i < crash_after; i++) {}
    *(volatile int *)8 = 1;
    return NULL;
}

static void hook_crash(const char *point)
{
    /* where no thread came to that point in the snapshot's time, at the snapshot's end */
    if (strcmp(point, crash_at) != 0 && strcmp(point, "snapshot: taken") != 0)
        return;
    crash_now = true;
    /* the snapshot goes on with the crash under way */
    while (crash_after == 0 && !will_crash && !lg__capture_busy()) {}
}

struct round {
    const char *point;
    unsigned delay;
};

static void body_crashes_in_a_snapshot(void *argument)
{
    const struct round *round = argument;
    crash_at = round->point;
    crash_after = round->delay;
    start(LONG_MS, 100, 0);
    lg__fault_hook = hook_crash;
    in_thread(crash_when_told, NULL);
    start_waiting(6); /* one that has not begun blocks every signal */
    lg_heartbeat(session);
    hang_here();
}

/* Where a thread stands for a snapshot: its stack in the record of a crash shows the program and
 * not this. */
static bool is_standing(uint64_t pc)
{
    return pc - (uint64_t)(uintptr_t)lg__question_handler < 1024;
}

static void test_crash_in_a_snapshot(void **state)
{
    (void)state;
    static const char *const points[] = { "snapshot: stands", "snapshot: walk", "snapshot: taken" };
    unsigned given_up = 0, silent = 0, rounds = 45;
    for (unsigned i = 0; i < rounds; i++) {
        const struct round round = { points[i % 3], i % 2 ? i * i * 400 % 200000 : 0 };
        state_make();
        expect_signal(body_crashes_in_a_snapshot, (void *)(uintptr_t)&round, SIGSEGV);
        lg_reader *reader = newest_run();
        lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
        lg_threads_info threads;
        lg_thread_info thread;
        lg_stack_info stack;
        lg_snapshot_info snapshot;
        assert_int_equal(crash.signal, SIGSEGV);
        assert_int_equal(crash.address, 8);
        assert_int_equal(crash.skipped, 0);
        assert_int_equal(crash.recrash_count + crash.also_crashed_count, 0);
        assert_int_equal(lg_reader_threads(reader, &threads), LG_OK);
        assert_int_equal(threads.listed, 7);
        assert_int_equal(threads.captured + threads.silent, 7);
        silent += threads.silent;
        for (uint32_t k = 0; k < threads.stored; k++) {
            uint64_t pc;
            uint32_t inside = 0, standing = 0;
            assert_int_equal(lg_reader_thread(reader, k, &thread), LG_OK);
            if (thread.how != LG_THREAD_CAPTURED)
                continue;
            assert_int_equal(lg_reader_thread_stack(reader, k, &stack), LG_OK);
            assert_int_equal(stack.truncated, 0);
            for (uint32_t f = 0; lg_reader_thread_frame(reader, k, f, &pc) == LG_OK; f++, standing += is_standing(pc))
                inside += pc > (uint64_t)(uintptr_t)__start_hanging && pc <= (uint64_t)(uintptr_t)__stop_hanging;
            assert_int_equal(inside, thread.tid == newest_info().pid);
            if (inside && i % 6 == 0) /* the thread stood there when the crash came */
                assert_int_equal(standing, 0);
        }
        assert_int_equal(lg_reader_snapshot(reader, LG_SNAPSHOT_HANG, &snapshot), LG_OK);
        given_up += !snapshot.complete || snapshot.given_up;
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        lg_reader_close(reader);
        expect_verdict(LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD);
    }
    printf("%u of %u snapshots were given up for a crash, %u threads did not get to answer in time\n", given_up, rounds, silent);
    /* these come on a busy machine; a thread that cannot answer from its place at all would be
     * silent in every third round */
    assert_true(silent <= rounds / 5);
    /* where the watch thread itself waits for the crash, the snapshot is given up for certain */
    assert_true(given_up >= rounds / 7);
}

/* A walk that faults costs that stack alone. */
static void hook_fault(const char *point)
{
    static unsigned walks;
    if (strcmp(point, "snapshot: walk") == 0 && walks++ % 2 == 0)
        *(volatile int *)8 = 1;
}

static void body_walks_fault(void *argument)
{
    (void)argument;
    start(LONG_MS, 100, 0);
    lg__fault_hook = hook_fault;
    for (int i = 0; i < 3; i++)
        in_thread(wait_for_ever, NULL);
    in_thread(call_back_when_hanging, NULL);
    lg_heartbeat(session);
    hang_here();
    lg_heartbeat(session);
}

static void test_walk_that_faults(void **state)
{
    (void)state;
    expect_exit(body_walks_fault, NULL, 0);
    lg_reader *reader = newest_run();
    lg_crash_info crash;
    lg_stack_info stack;
    unsigned cut = 0;
    assert_int_equal(lg_reader_crash(reader, &crash), LG_ERR_NOT_FOUND);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(lg_reader_snapshot_stack(reader, LG_SNAPSHOT_HANG, i, &stack), LG_OK);
        cut += stack.truncated && strcmp(stack.reason, "the walk itself crashed") == 0;
    }
    assert_int_equal(cut, 3);
    lg_reader_close(reader);
}

/* ---- beside libraries and handlers that use the same signals ---- */

/* A thread that leaves a crash by longjmp is watched again, once it is clear that the earlier
 * handler was left. */
static void body_hangs_after_a_crash(void *argument)
{
    (void)argument;
    struct sigaction action = { .sa_handler = jump_out, .sa_flags = SA_ONSTACK };
    lg_snapshot_info snapshot;
    sigaction(SIGSEGV, &action, NULL);
    start(LONG_MS, THRESHOLD_MS, 0);
    if (sigsetjmp(escape, 1) == 0)
        *(volatile int *)8 = 1;
    lg_heartbeat(session);
    in_thread(call_back_when_hanging, NULL);
    hang_here();
    lg_heartbeat(session);
    _exit(!newest_snapshot(LG_SNAPSHOT_HANG, &snapshot) || snapshot.given_up || snapshot.captured < 2);
}

static void test_hang_after_a_crash(void **state)
{
    (void)state;
    expect_exit(body_hangs_after_a_crash, NULL, 0);
}

/* libc sends the same signal to all threads, just when LaunchGuard takes the signal for the first
 * time: libc waits for each of them. */
static void hook_set_user(const char *point)
{
    if (strcmp(point, "threads: signal taken") == 0 && setresuid((uid_t)-1, (uid_t)-1, (uid_t)-1) != 0)
        _exit(1);
}

static void body_sets_user(void *argument)
{
    (void)argument;
    start(LONG_MS, THRESHOLD_MS, 0);
    lg__fault_hook = hook_set_user;
    lg_heartbeat(session);
    in_thread(call_back_when_hanging, NULL);
    hang_here();
}

static void test_sets_user(void **state)
{
    (void)state;
    expect_exit(body_sets_user, NULL, 0);
}

/* ---- a program that gives up its rights ---- */

static unsigned threads_of_root(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        char path[64], line[256];
        unsigned user = 0;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/status", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "Uid: %u", &user) == 1)
                count += user == 0;
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return count;
}

static void body_gives_up_rights(void *argument)
{
    (void)argument;
    if (geteuid() != 0)
        _exit(77);
    start(LONG_MS, LONG_MS, 0);
    lg_heartbeat(session);
    if (threads_of_root() != 2 || setresuid(65534, 65534, 65534) != 0)
        _exit(1);
    wait_until(threads_of_root() == 0);
    lg_heartbeat(session);
    _exit(count_threads() != 2 || threads_of_root() != 0);
}

/* The watch thread, which libc's setresuid() does not know, does not keep them. */
static void test_gives_up_rights(void **state)
{
    (void)state;
    struct death death = run_child(body_gives_up_rights, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 77)
        skip_because("only root has rights to give up");
    assert_false(death.late);
    assert_int_equal(death.status, 0);
}

/* ---- calls that do nothing ---- */

static void body_refused(void *argument)
{
    (void)argument;
    lg_options nonsense = LG_OPTIONS_INIT;
    lg_session *none;
    int status;
    if (lg_start(&nonsense, &none) != LG_ERR_OPTION || lg_heartbeat(none) != LG_ERR_UNPROTECTED || lg_heartbeat_pause(none) != LG_ERR_UNPROTECTED ||
        lg_heartbeat(NULL) != LG_ERR_ARGUMENT || lg_heartbeat_pause(NULL) != LG_ERR_ARGUMENT)
        _exit(1);
    start(LONG_MS, THRESHOLD_MS, 0);
    lg_heartbeat(session);
    pid_t child = fork();
    if (child == 0)
        _exit(lg_heartbeat(session) == LG_ERR_FORKED && lg_heartbeat_pause(session) == LG_ERR_FORKED ? 0 : 1);
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(2);
    lg_stop(session);
    if (lg_heartbeat(session) != LG_ERR_CLOSED || lg_heartbeat_pause(session) != LG_ERR_CLOSED)
        _exit(3);
    pass_time(2 * THRESHOLD_MS, "a hang would be seen by then");
    _exit(newest_info().hang_ns ? 4 : 0);
}

static void test_refused(void **state)
{
    (void)state;
    expect_exit(body_refused, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_hang_and_kill), WITH_STATE(test_hang_that_passes), WITH_STATE(test_no_hang), WITH_STATE(test_no_hang_under_a_debugger),
        WITH_STATE(test_one_of_two), WITH_STATE(test_both), WITH_STATE(test_too_many), WITH_STATE(test_thread_killed_by_the_kernel),
        WITH_STATE(test_exits_promptly), WITH_STATE(test_sleeps), WITH_STATE(test_does_not_wake), WITH_STATE(test_others_go_on), WITH_STATE(test_loaders_lock),
        WITH_STATE(test_launch_heartbeat), WITH_STATE(test_crash_in_a_snapshot), WITH_STATE(test_walk_that_faults),
        WITH_STATE(test_ends_when_looked_at), WITH_STATE(test_hang_after_a_crash), WITH_STATE(test_sets_user), WITH_STATE(test_gives_up_rights),
        WITH_STATE(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
