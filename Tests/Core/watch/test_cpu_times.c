/* The CPU time of each thread, in the record of a crash, in the stacks of a hang and in those of a
 * shortage of memory: one thread is busy, one is busy and blocks every signal, the others wait. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "launchguard/watch.h"
#include "os/fault_point.h"
#include "os/os.h"

#define BUSY_NS UINT64_C(300000000)
#define MASKED_NS UINT64_C(100000000)
#define WAITING 4

/* The figures that the threads of the child measured themselves. */
static struct figures {
    int32_t busy, masked, first;
    _Atomic uint64_t busy_ns, masked_ns, first_ns;
} *figures;

/* Without libc: a walk may not get through its function. */
static uint64_t own_cpu_ns(void)
{
    struct timespec used;
    lg__os_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)(uintptr_t)&used, 0, 0, 0, 0);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void *be_busy(void *argument)
{
    (void)argument;
    prctl(PR_SET_NAME, "busy");
    figures->busy = gettid();
    for (;;)
        figures->busy_ns = own_cpu_ns();
    return NULL;
}

static void *be_masked(void *argument)
{
    (void)argument;
    static const uint64_t all = UINT64_MAX;
    prctl(PR_SET_NAME, "masked");
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
    figures->masked = gettid();
    while (own_cpu_ns() < MASKED_NS)
        continue;
    figures->masked_ns = own_cpu_ns();
    for (;;)
        pause();
    return NULL;
}

/* Until each has used its time, however busy the machine is. */
static void start_threads(void)
{
    memset(figures, 0, sizeof *figures);
    start_waiting(WAITING);
    in_thread(be_busy, NULL);
    in_thread(be_masked, NULL);
    figures->first = gettid();
    wait_until(figures->busy_ns >= BUSY_NS && figures->masked_ns);
    figures->first_ns = own_cpu_ns();
}

static void body_crashes(void *argument)
{
    (void)argument;
    start_session();
    start_threads();
    crash();
}

static void body_hangs(void *argument)
{
    lg_snapshot_info snapshot;
    lg_options options = LG_OPTIONS_INIT;
    options.hang_running_ms = 150;
    lg_session *session = start_with(options);
    (void)argument;
    lg__fault_patience = 10; /* the masked thread costs a snapshot all of its time */
    start_threads();
    lg_heartbeat(session);
    wait_until(newest_snapshot(LG_SNAPSHOT_HANG, &snapshot));
    raise(SIGKILL);
}

/* Called at once, as at least a hundredth of any limit is in use. */
static void die_near_limit(const lg_memory *memory, void *user)
{
    (void)memory, (void)user;
    raise(SIGKILL);
}

static void body_runs_short(void *leave_out)
{
    lg_options options = LG_OPTIONS_INIT;
    options.leave_out = leave_out ? LG_LEAVE_OUT_THREADS : 0;
    lg_session *session = start_with(options);
    lg__fault_patience = 10; /* the masked thread costs a snapshot all of its time */
    start_threads();
    if (lg_memory_watch(session, 1, die_near_limit, NULL) != LG_OK)
        _exit(93);
    for (;;)
        pause();
}

/* kind 0: of the crash */
static lg_status thread_of(lg_reader *reader, uint32_t kind, uint32_t index, lg_thread_info *thread)
{
    return kind ? lg_reader_snapshot_thread(reader, (lg_snapshot_kind)kind, index, thread) : lg_reader_thread(reader, index, thread);
}

/* The busy thread is the hottest, all are known, and no time is longer than the thread can have
 * used. */
static void expect_times(uint32_t kind, unsigned others)
{
    lg_reader *reader = newest_run();
    lg_thread_info thread;
    uint64_t most = 0;
    int32_t hottest = 0;
    unsigned known = 0;
    for (uint32_t i = 0; thread_of(reader, kind, i, &thread) == LG_OK; i++) {
        known += thread.cpu_ns != 0;
        if (thread.cpu_ns > most) {
            most = thread.cpu_ns;
            hottest = thread.tid;
        }
        if (thread.tid == figures->masked) {
            assert_int_equal(thread.how, LG_THREAD_MASKED);
            assert_true(thread.cpu_ns >= figures->masked_ns && thread.cpu_ns < BUSY_NS);
        } else if (thread.tid != figures->busy && thread.tid != figures->first) {
            assert_true(thread.cpu_ns < MASKED_NS);
        }
    }
    assert_int_equal(known, others);
    assert_int_equal(hottest, figures->busy);
    assert_true(most >= BUSY_NS);
    lg_reader_close(reader);
}

static void test_crash(void **state)
{
    lg_threads_info threads;
    (void)state;
    expect_signal(body_crashes, NULL, SIGSEGV);
    expect_times(0, WAITING + 2);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_threads(reader, &threads), LG_OK);
    lg_reader_close(reader);
    assert_true(threads.crashed_cpu_ns >= figures->first_ns && threads.crashed_cpu_ns < BUSY_NS);
}

static void test_hang(void **state)
{
    (void)state;
    expect_signal(body_hangs, NULL, SIGKILL);
    expect_times(LG_SNAPSHOT_HANG, WAITING + 3);
}

static void test_memory(void **state)
{
    lg_snapshot_info snapshot;
    (void)state;
    expect_signal(body_runs_short, NULL, SIGKILL);
    assert_true(newest_snapshot(LG_SNAPSHOT_MEMORY, &snapshot));
    assert_int_equal(snapshot.sequence, 1);
    assert_int_equal(snapshot.tid, 0);
    assert_string_equal(snapshot.name, "");
    assert_int_equal(snapshot.listed, WAITING + 3);
    assert_int_equal(snapshot.stored, WAITING + 3);
    assert_int_equal(snapshot.since_ns, newest_info().memory_near_ns);
    assert_true(snapshot.taken_ns >= snapshot.since_ns);
    assert_int_equal(snapshot.resolved_ns, 0);
    assert_int_equal(newest_verdict().evidence, LG_EVIDENCE_NEAR_MEMORY_LIMIT);
    expect_times(LG_SNAPSHOT_MEMORY, WAITING + 3);
    lg_reader *reader = newest_run();
    lg_thread_info thread;
    lg_stack_info stack;
    unsigned walked = 0;
    for (uint32_t i = 0; lg_reader_snapshot_thread(reader, LG_SNAPSHOT_MEMORY, i, &thread) == LG_OK; i++)
        walked += lg_reader_snapshot_stack(reader, LG_SNAPSHOT_MEMORY, i, &stack) == LG_OK && stack.total >= 2;
    assert_int_equal(walked, WAITING + 2);
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    lg_reader_close(reader);
    assert_false(newest_snapshot(LG_SNAPSHOT_HANG, &snapshot));
    /* A program that leaves the threads alone has no snapshot. */
    expect_signal(body_runs_short, "leaves out", SIGKILL);
    reader = newest_run();
    assert_int_equal(lg_reader_snapshot(reader, LG_SNAPSHOT_MEMORY, &snapshot), LG_ERR_NOT_FOUND);
    lg_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_STATE(test_crash), WITH_STATE(test_hang), WITH_STATE(test_memory) };
    figures = shared_memory(sizeof *figures);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
