/* Jobs with a deadline: near the deadline, past it, ended in time; and the marks in the file when
 * the program is killed because of one. */
#include "ending_program.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"

#define LIMIT_OF_JOB_MS 200
#define LONG_MS 86400000

/* The job with this index among the stored ones; false: there are fewer. */
static bool job_now(uint32_t index, lg_deadline_info *ret_job)
{
    lg_reader *reader = newest_run();
    lg_status status = lg_reader_deadline(reader, index, ret_job);
    lg_reader_close(reader);
    return status == LG_OK;
}

/* ---- the place where the job works ---- */

extern char __start_working[], __stop_working[];
static volatile bool works, enough;

__attribute__((noinline, section("working"))) static void work_here(void)
{
    while (!enough)
        works = true;
    __asm__ volatile("" ::: "memory");
}

/* The watch thread looks at nothing before the job works. */
static void hook_until_job_works(const char *point)
{
    if (strcmp(point, "watch: wakes") == 0)
        wait_until(works);
}

static void *kill_when_near(void *argument)
{
    (void)argument;
    wait_until(said("is about to overrun"));
    kill(getpid(), SIGKILL);
    return NULL;
}

static void *upload(void *argument)
{
    uint64_t deadline;
    (void)argument;
    prctl(PR_SET_NAME, "uploader");
    if (lg_deadline_begin(session, "upload", LIMIT_OF_JOB_MS, &deadline) != LG_OK)
        _exit(96);
    work_here();
    return NULL;
}

static void body_is_killed_for_it(void *argument)
{
    uint64_t other;
    (void)argument;
    session = start_session();
    lg__fault_patience = 100;
    lg__fault_hook = hook_until_job_works;
    lg_deadline_begin(session, "nightly", LONG_MS, &other);
    in_thread(upload, NULL);
    in_thread(kill_when_near, NULL);
    for (;;)
        pause();
}

static void test_killed(void **state)
{
    (void)state;
    lg_deadline_info job;
    lg_snapshot_info snapshot;
    lg_thread_info thread;
    uint64_t pc;
    uint32_t inside = 0;
    expect_signal(body_is_killed_for_it, NULL, SIGKILL);
    assert_true(job_now(0, &job));
    assert_string_equal(job.name, "nightly");
    assert_true(job.near_ns == 0 && job.limit_ms == LONG_MS);
    assert_true(job_now(1, &job));
    assert_string_equal(job.name, "upload");
    assert_int_equal(job.limit_ms, LIMIT_OF_JOB_MS);
    assert_true(job.near_ns - job.begun_ns >= LIMIT_OF_JOB_MS * 900000ull);
    assert_false(job_now(2, &job));
    assert_true(job_now(1, &job) && newest_snapshot(LG_SNAPSHOT_DEADLINE, &snapshot));
    assert_string_equal(snapshot.name, "upload");
    assert_int_equal(snapshot.tid, job.tid);
    assert_int_equal(snapshot.since_ns, job.begun_ns);
    assert_true(snapshot.stored == 1 && snapshot.captured == 1 && !snapshot.resolved_ns && !snapshot.given_up);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_snapshot_thread(reader, LG_SNAPSHOT_DEADLINE, 0, &thread), LG_OK);
    assert_int_equal(thread.tid, job.tid);
    assert_string_equal(thread.name, "uploader");
    for (uint32_t i = 0; lg_reader_snapshot_frame(reader, LG_SNAPSHOT_DEADLINE, 0, i, &pc) == LG_OK; i++)
        inside += pc >= (uint64_t)(uintptr_t)__start_working && pc <= (uint64_t)(uintptr_t)__stop_working;
    assert_int_equal(inside, 1);
    assert_int_equal(lg_reader_snapshot(reader, LG_SNAPSHOT_HANG, &snapshot), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    lg_reader_close(reader);
    assert_true(said("job \"upload\" of thread "));
}

/* ---- a job that a task of Swift does ---- */

/* As the runtime has them. */
static struct {
    struct context {
        const void *parent, *resume_parent;
    } contexts[3] __attribute__((aligned(16)));
    struct task {
        uint64_t words[4];
        uint32_t flags, id;
        uint64_t others[2];
        const void *resume, *context;
        uint64_t private[3], status;
        uint64_t rest[8];
    } task __attribute__((aligned(16)));
} fake;

enum task_now { WAITS, WAITS_IN_RUNTIME, RUNS, LOOPS, NOWHERE, NO_TASK, UNKNOWN_BITS, IS_GONE, TASKS };

static void no_code(void) {}

/* Begins as a task that runs must. */
static void make_task(void)
{
    fake.contexts[0] = (struct context){ &fake.contexts[1], (const void *)job_now };
    fake.contexts[1] = (struct context){ &fake.contexts[2], (const void *)upload };
    fake.contexts[2] = (struct context){ NULL, (const void *)no_code };
    fake.task = (struct task){ .words = { 1, 3 }, .flags = 0x2001500, .id = 7, .resume = (const void *)work_here, .context = &fake.contexts[0], .status = 0x815 };
}

static void change_task(enum task_now now)
{
    fake.task.status = now == RUNS ? 0x815 : now == UNKNOWN_BITS ? 0x100004015 : 0x4015;
    if (now == WAITS_IN_RUNTIME)
        fake.contexts[0].resume_parent = fake.task.resume;
    if (now == LOOPS)
        fake.contexts[2].parent = &fake.contexts[0];
    if (now == NOWHERE)
        fake.contexts[1].resume_parent = &fake;
    if (now == NO_TASK)
        fake.task.flags |= 1;
}

static void body_task(void *argument)
{
    const enum task_now now = (enum task_now)(intptr_t)argument;
    uint64_t deadline;
    session = start_session();
    make_task();
    struct task *task = &fake.task;
    if (now == IS_GONE) {
        task = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *task = fake.task;
    }
    lg_deadline_begin(session, "upload", LIMIT_OF_JOB_MS, &deadline);
    if (lg_deadline_of_task(session, deadline, task) != LG_OK || lg_deadline_of_task(session, deadline + 1, task) != LG_ERR_NOT_FOUND ||
        lg_deadline_of_task(session, 0, task) != LG_ERR_NOT_FOUND || lg_deadline_of_task(NULL, deadline, task) != LG_ERR_ARGUMENT)
        _exit(96);
    change_task(now);
    if (now != RUNS && lg_deadline_of_task(session, deadline, &fake.task) != LG_ERR_ARGUMENT)
        _exit(97);
    if (now == IS_GONE)
        munmap(task, 4096);
    wait_until(said("is about to overrun"));
    raise(SIGKILL);
}

static void test_task(void **state)
{
    (void)state;
    for (enum task_now now = WAITS; now < TASKS; now++) {
        const void *const functions[] = { (const void *)work_here, (const void *)job_now, (const void *)upload, (const void *)no_code };
        const uint32_t count = now == WAITS ? 4 : 3;
        lg_snapshot_info snapshot;
        lg_thread_info thread;
        lg_stack_info stack;
        uint64_t pc;
        state_make();
        expect_signal(body_task, (void *)(intptr_t)now, SIGKILL);
        assert_true(newest_snapshot(LG_SNAPSHOT_DEADLINE, &snapshot));
        lg_reader *reader = newest_run();
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        assert_int_equal(lg_reader_snapshot_thread(reader, LG_SNAPSHOT_DEADLINE, 0, &thread), LG_OK);
        assert_int_equal(lg_reader_snapshot_stack(reader, LG_SNAPSHOT_DEADLINE, 0, &stack), LG_OK);
        assert_int_equal(thread.tid, snapshot.tid);
        if (thread.how != (now <= WAITS_IN_RUNTIME ? LG_THREAD_TASK : LG_THREAD_CAPTURED))
            fail_msg("task %d is shown in the way %d", (int)now, (int)thread.how);
        assert_int_equal(stack.method, now <= WAITS_IN_RUNTIME ? LG_STAGE_ASYNC : LG_STAGE_DWARF);
        for (uint32_t i = 0; now <= WAITS_IN_RUNTIME && i < count; i++) {
            assert_int_equal(lg_reader_snapshot_frame(reader, LG_SNAPSHOT_DEADLINE, 0, i, &pc), LG_OK);
            assert_int_equal(pc, (uint64_t)(uintptr_t)functions[now == WAITS_IN_RUNTIME && i ? i + 1 : i]);
        }
        if (now <= WAITS_IN_RUNTIME)
            assert_true(stack.stored == count && !stack.truncated);
        lg_reader_close(reader);
    }
}

/* ---- the verdict of the next start ---- */

enum { FINISHED = 1, ENDED = 2, WITNESSED = 4, LEAVES = 8 };

static void body_overruns(void *argument)
{
    unsigned how = (unsigned)(uintptr_t)argument;
    uint64_t deadline;
    begin();
    if (how & FINISHED)
        lg_launch_finished(launch);
    lg_deadline_begin(session, "upload", LIMIT_OF_JOB_MS, &deadline);
    wait_until(said("is about to overrun"));
    if (how & ENDED)
        lg_deadline_end(session, deadline);
    if (how & LEAVES)
        _exit(0);
    raise(SIGKILL);
}

static void test_verdict(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 16; how++) {
        lg_deadline_info job = { .near_ns = 0 };
        lg_run_info run;
        lg_verdict verdict;
        state_make();
        struct death death = run_child(body_overruns, (void *)(uintptr_t)how);
        if (!(how & LEAVES))
            expect_death(death, SIGKILL);
        assert_int_equal(job_now(0, &job), !(how & ENDED));
        lg_reader *reader = newest_run();
        assert_int_equal(lg_reader_run(reader, &run), LG_OK);
        lg_reader_close(reader);
        if (how & WITNESSED)
            assert_int_equal(lg_witness(state_path(""), run.pid, death.status), LG_OK);
        reader = newest_run();
        assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
        assert_int_equal(lg_reader_run(reader, &run), LG_OK);
        lg_reader_close(reader);
        bool known = how & WITNESSED, killed = known && !(how & LEAVES), clean = known && (how & LEAVES);
        bool late = !(how & ENDED) && !clean; /* a late job kills nobody */
        assert_int_equal(verdict.end, killed ? LG_END_KILLED : clean ? LG_END_CLEAN : LG_END_UNKNOWN);
        assert_int_equal(verdict.evidence, late ? LG_EVIDENCE_DEADLINE : known ? LG_EVIDENCE_WITNESS : LG_EVIDENCE_NO_MARK);
        assert_int_equal(verdict.signal, killed ? SIGKILL : 0);
        assert_int_equal(verdict.monotonic_ns, known ? run.witnessed_ns : late ? job.near_ns : 0);
        /* the launch of this start is not finished: the counters stay as the account left them */
        expect_exit(body, WAY(EXIT_0), 0);
        lg_timeline_entry entry = last_of_timeline();
        assert_int_equal(entry.verdict.end, verdict.end);
        assert_int_equal(entry.verdict.evidence, verdict.evidence);
        /* Unexplained where a launch was under way: counted in a counter of its own. */
        bool counts = !(how & FINISHED) && !clean;
        assert_int_equal(entry.counted, counts);
        assert_int_equal(ledger_context("main").unknown, counts);
        assert_int_equal(ledger_context("main").streak, 0);
    }
}

/* ---- jobs that end ---- */

/* The log has the time that the job took, in tenths of a second, which this much is. */
static bool said_to_end_after(unsigned tenths)
{
    char text[100];
    snprintf(text, sizeof text, "job \"late\", which was about to overrun its deadline, has ended after %u.%u s", tenths / 10, tenths % 10);
    return said(text);
}

static void body_ends_late(void *argument)
{
    uint64_t deadline, begin = now_ns();
    lg_deadline_info job;
    lg_snapshot_info snapshot;
    (void)argument;
    session = start_session();
    lg_deadline_begin(session, "late", LIMIT_OF_JOB_MS, &deadline);
    wait_until(said("is about to overrun"));
    if (!job_now(0, &job) || !job.near_ns || lg_deadline_end(session, deadline) != LG_OK || job_now(0, &job))
        _exit(1);
    if (!newest_snapshot(LG_SNAPSHOT_DEADLINE, &snapshot) || !snapshot.resolved_ns ||
        snapshot.resolved_ns - snapshot.since_ns < LIMIT_OF_JOB_MS * 900000ull)
        _exit(2);
    const unsigned most = (unsigned)((now_ns() - begin) / 100000000);
    unsigned tenths = LIMIT_OF_JOB_MS * 9 / 1000;
    while (tenths <= most && !said_to_end_after(tenths))
        tenths++;
    if (tenths > most)
        _exit(4);
    if (lg_deadline_end(session, deadline) != LG_ERR_NOT_FOUND)
        _exit(3);
}

/* Jobs that end in time leave nothing. A job in the place of another is not ended by the other's
 * number. */
static void body_ends_in_time(void *argument)
{
    uint64_t first, second, begin = now_ns();
    lg_deadline_info job;
    lg_snapshot_info snapshot;
    (void)argument;
    session = start_session();
    while (now_ns() - begin < 3 * LIMIT_OF_JOB_MS * 1000000ull) {
        if (lg_deadline_begin(session, "first", 60000, &first) != LG_OK || lg_deadline_end(session, first) != LG_OK ||
            lg_deadline_begin(session, "second", LONG_MS, &second) != LG_OK || first == second ||
            lg_deadline_end(session, first) != LG_ERR_NOT_FOUND || !job_now(0, &job) || strcmp(job.name, "second") != 0 ||
            lg_deadline_end(session, second) != LG_OK || job_now(0, &job))
            _exit(1);
    }
    if (newest_snapshot(LG_SNAPSHOT_DEADLINE, &snapshot) || said("deadline"))
        _exit(2);
}

static void test_ended(void **state)
{
    (void)state;
    expect_exit(body_ends_late, NULL, 0);
    state_make();
    expect_exit(body_ends_in_time, NULL, 0);
}

/* ---- time while the process is stopped counts: another program watches the clock ---- */

#define STOPPED_JOB_MS 2000
/* shared with the process that stops this one */
static struct stop { atomic_bool asked, over; } *stop;
static atomic_bool begun, looked;

/* The process is stopped, for longer than the job may take, just before a look of the watch thread.
 * This look alone finds the job near its deadline, however long the process lived. */
static void hook_stop(const char *point)
{
    static bool stopped;
    if (strcmp(point, "watch: wakes") == 0 && atomic_load(&begun) && !stopped) {
        stopped = true;
        atomic_store(&stop->asked, true);
        wait_until(atomic_load(&stop->over));
    } else if (stopped && (strcmp(point, "watch: sleeps") == 0 || strcmp(point, "watch: leaves") == 0)) {
        atomic_store(&looked, true);
        wait_until(false); /* no second look */
    }
}

static void body_is_stopped(void *argument)
{
    uint64_t deadline;
    lg_deadline_info job;
    (void)argument;
    session = start_session();
    const pid_t self = getpid();
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        wait_until(atomic_load(&stop->asked));
        kill(self, SIGSTOP);
        pass_time(STOPPED_JOB_MS, "the time of a job goes on while the process is stopped");
        atomic_store(&stop->over, true);
        kill(self, SIGCONT);
        _exit(0);
    }
    lg__fault_hook = hook_stop;
    lg_deadline_begin(session, "stopped", STOPPED_JOB_MS, &deadline);
    atomic_store(&begun, true);
    lg_heartbeat(session); /* wakes the watch thread */
    wait_until(atomic_load(&looked));
    _exit(!job_now(0, &job) ? 1 : !job.near_ns ? 2 : !said("is about to overrun") ? 3 : 0);
}

static void test_stopped(void **state)
{
    (void)state;
    expect_exit(body_is_stopped, NULL, 0);
}

/* ---- many jobs ---- */

static void *begin_and_end(void *argument)
{
    (void)argument;
    uint64_t deadline;
    for (int i = 0; i < 20000; i++) {
        lg_status status = lg_deadline_begin(session, "short", 1 + (uint32_t)i % 3, &deadline);
        if (status == LG_ERR_LIMIT)
            continue;
        if (status != LG_OK || lg_deadline_end(session, deadline) != LG_OK)
            _exit(1);
    }
    return NULL;
}

static void body_many(void *argument)
{
    pthread_t threads[4];
    uint64_t deadlines[LG_DEADLINES_MAX + 1];
    lg_deadline_info job;
    (void)argument;
    session = start_session();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, begin_and_end, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    if (job_now(0, &job))
        _exit(2);
    for (uint32_t i = 0; i < LG_DEADLINES_MAX; i++)
        if (lg_deadline_begin(session, "one of many", LONG_MS, &deadlines[i]) != LG_OK)
            _exit(3);
    if (lg_deadline_begin(session, "too many", LONG_MS, &deadlines[LG_DEADLINES_MAX]) != LG_ERR_LIMIT || deadlines[LG_DEADLINES_MAX] != 0 ||
        !job_now(LG_DEADLINES_MAX - 1, &job) || job_now(LG_DEADLINES_MAX, &job))
        _exit(4);
    if (lg_deadline_end(session, deadlines[7]) != LG_OK || lg_deadline_begin(session, "again", LONG_MS, &deadlines[7]) != LG_OK)
        _exit(5);
}

static void test_many(void **state)
{
    (void)state;
    expect_exit(body_many, NULL, 0);
}

static void body_refused(void *argument)
{
    char name[101];
    uint64_t deadline = 1, none;
    lg_deadline_info job;
    lg_options nonsense = LG_OPTIONS_INIT;
    (void)argument;
    if (lg_start(&nonsense, &session) != LG_ERR_OPTION || lg_deadline_begin(session, "x", 1, &none) != LG_ERR_UNPROTECTED || none != 0 ||
        lg_deadline_end(session, 40) != LG_ERR_UNPROTECTED)
        _exit(1);
    session = start_session();
    if (lg_deadline_begin(session, "x", 0, &deadline) != LG_ERR_ARGUMENT || deadline != 0 ||
        lg_deadline_begin(session, "x", 86400001, &deadline) != LG_ERR_ARGUMENT || lg_deadline_begin(session, NULL, 1, &deadline) != LG_ERR_ARGUMENT ||
        lg_deadline_begin(NULL, "x", 1, &deadline) != LG_ERR_ARGUMENT || lg_deadline_begin(session, "x", 1, NULL) != LG_ERR_ARGUMENT ||
        lg_deadline_end(NULL, 1) != LG_ERR_ARGUMENT)
        _exit(2);
    for (uint64_t number = 0; number < 100; number++)
        if (lg_deadline_end(session, number) != LG_ERR_NOT_FOUND || lg_deadline_end(session, UINT64_MAX - number) != LG_ERR_NOT_FOUND)
            _exit(3);
    memset(name, 'n', 100);
    name[100] = 0;
    memcpy(name + 62, "\xc3\xa4", 2); /* a character that would be cut in the middle */
    if (lg_deadline_begin(session, name, LONG_MS, &deadline) != LG_OK || !job_now(0, &job) || strlen(job.name) != 62)
        _exit(4);
    name[63] = 0;
    lg_deadline_end(session, deadline);
    if (lg_deadline_begin(session, name, LONG_MS, &deadline) != LG_OK || !job_now(0, &job) || strcmp(job.name, name) != 0)
        _exit(5);
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(lg_deadline_end(session, deadline) == LG_ERR_FORKED && lg_deadline_begin(session, "x", 1, &none) == LG_ERR_FORKED ? 0 : 1);
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(6);
    lg_stop(session);
    if (lg_deadline_begin(session, "x", 1, &none) != LG_ERR_CLOSED || lg_deadline_end(session, deadline) != LG_ERR_CLOSED)
        _exit(7);
}

static void test_refused(void **state)
{
    (void)state;
    expect_exit(body_refused, NULL, 0);
}

int main(void)
{
    stop = shared_memory(sizeof *stop);
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_killed), WITH_STATE(test_task), WITH_STATE(test_verdict), WITH_STATE(test_ended), WITH_STATE(test_stopped), WITH_STATE(test_many),
        WITH_STATE(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
