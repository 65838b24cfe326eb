/* Deadlines of jobs: another process will kill the program when a deadline has passed.
 *
 * The time of a job is counted by CLOCK_BOOTTIME, and goes on while the process is stopped or the
 * machine asleep. The clock of the other process may be in another machine; CLOCK_BOOTTIME is never
 * after it. An early warning costs nothing. */
#include "capture/capture.h"
#include "launchguard/watch.h"
#include "os/os.h"
#include "session/session.h"
#include "walk/walk.h"

/* The part of the time that has passed when a job is about to overrun. */
#define NEAR_TENTHS 9u

/* The number of a job contains its place; the rest of the number is a counter. */
#define TAKEN UINT64_C(1) /* a place that is being filled in or cleared */

static struct job {
    _Atomic uint64_t number; /* 0: free */
    /* CLOCK_BOOTTIME, when nine tenths have passed; these three are set before the number, and a
     * reader compares the number again after them */
    _Atomic uint64_t due_ns;
    _Atomic uint64_t begun_ns; /* CLOCK_MONOTONIC */
    _Atomic int32_t tid;
    _Atomic uint64_t task; /* Swift task that does the job; 0: none */
    _Atomic uint64_t near_ns; /* CLOCK_MONOTONIC when that was found; 0: it was not */
} jobs[LG__DEADLINES];

static _Atomic uint64_t jobs_begun;

static struct lg__deadline *job_copy(struct lg_session *session, const struct job *job)
{
    return &session->host.run.pulse->deadlines[job - jobs];
}

static struct job *claim_job(void)
{
    for (uint32_t i = 0; i < LG__DEADLINES; i++) {
        uint64_t nobody = 0;
        if (atomic_compare_exchange_strong(&jobs[i].number, &nobody, TAKEN))
            return &jobs[i];
    }
    return NULL;
}

static void copy_name(char to[LG__NAME_BYTES], const char *name)
{
    size_t size = strnlen(name, LG_NAME_MAX);
    bool cut = size == LG_NAME_MAX && name[size];
    while (cut && size > 0 && ((unsigned char)name[size] & 0xc0) == 0x80)
        size--; /* not in the middle of a character */
    memset(to, 0, LG__NAME_BYTES);
    memcpy(to, name, size);
}

lg_status lg_deadline_begin(lg_session *session, const char *name, uint32_t milliseconds, uint64_t *ret_deadline)
{
    if (!ret_deadline)
        return LG_ERR_ARGUMENT;
    *ret_deadline = 0;
    if (!session || !name || milliseconds < 1 || milliseconds > 86400000)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status;
    lg__capture_called();
    if (session->host.simulated) { /* a simulated session has no watch thread */
        *ret_deadline = UINT64_MAX;
        return LG_OK;
    }
    struct job *job = claim_job();
    if (!job)
        return LG_ERR_LIMIT;
    lg__log_thread_want(session);
    struct lg__deadline *copy = job_copy(session, job);
    uint64_t number = (atomic_fetch_add(&jobs_begun, 1) + 1) * LG__DEADLINES + (uint64_t)(job - jobs);
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), near = (uint64_t)milliseconds * 1000000u / 10u * NEAR_TENTHS;
    const int32_t self = lg__os_tid();
    atomic_store_explicit(&job->due_ns, lg__os_clock_ns(CLOCK_BOOTTIME) + near, memory_order_relaxed);
    atomic_store_explicit(&job->begun_ns, now, memory_order_relaxed);
    atomic_store_explicit(&job->tid, self, memory_order_relaxed);
    atomic_store_explicit(&job->task, 0, memory_order_relaxed);
    atomic_store(&job->near_ns, 0);
    copy_name(copy->name, name);
    atomic_store(&copy->begun_ns, now);
    atomic_store(&copy->near_ns, 0);
    atomic_store(&copy->limit_ms, milliseconds);
    atomic_store(&copy->tid, self);
    atomic_store(&copy->number, number);
    atomic_store(&job->number, number);
    lg__wake_at(&session->host, now + near);
    *ret_deadline = number;
    return LG_OK;
}

lg_status lg_deadline_of_task(lg_session *session, uint64_t deadline, const void *task)
{
    const uint64_t at = (uint64_t)(uintptr_t)task;
    if (!session)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status;
    if (session->host.simulated)
        return deadline == UINT64_MAX ? LG_OK : LG_ERR_NOT_FOUND;
    struct job *job = &jobs[deadline % LG__DEADLINES];
    if (deadline <= TAKEN || atomic_load(&job->number) != deadline)
        return LG_ERR_NOT_FOUND;
    if (lg__async_task(at, lg__memory_copy) != LG__ASYNC_TASK_RUNS)
        return LG_ERR_ARGUMENT;
    atomic_store(&job->task, at);
    return LG_OK;
}

static void job_name(struct lg_session *session, const struct job *job, char name[LG__NAME_BYTES])
{
    memcpy(name, job_copy(session, job)->name, LG_NAME_MAX);
    name[LG_NAME_MAX] = 0; /* whatever the file says */
}

/* Tenths of a second since then. */
static unsigned tenths_since(uint64_t begun_ns)
{
    return (unsigned)((lg__os_clock_ns(CLOCK_MONOTONIC) - begun_ns) / 100000000);
}

lg_status lg_deadline_end(lg_session *session, uint64_t deadline)
{
    char name[LG__NAME_BYTES];
    uint64_t number = deadline;
    if (!session)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status;
    lg__capture_called();
    if (session->host.simulated)
        return deadline == UINT64_MAX ? LG_OK : LG_ERR_NOT_FOUND;
    struct job *job = &jobs[deadline % LG__DEADLINES];
    if (deadline <= TAKEN || !atomic_compare_exchange_strong(&job->number, &number, TAKEN))
        return LG_ERR_NOT_FOUND;
    struct lg__deadline *copy = job_copy(session, job);
    uint64_t near_ns = atomic_exchange(&job->near_ns, 0), begun_ns = atomic_load_explicit(&job->begun_ns, memory_order_relaxed);
    unsigned length = tenths_since(begun_ns);
    job_name(session, job, name);
    atomic_store(&copy->number, 0);
    atomic_store(&copy->near_ns, 0);
    atomic_store(&job->number, 0);
    if (near_ns) {
        lg__snapshot_resolve(LG_SNAPSHOT_DEADLINE, begun_ns);
        lg__host_log(&session->host, LG_LEVEL_NOTICE, "job \"%s\", which was about to overrun its deadline, has ended after %u.%u s", name, length / 10,
                     length % 10);
        lg__host_hand_over(&session->host);
    }
    return LG_OK;
}

/* ---- on the watch thread ---- */

static void report_near_deadline(struct lg_session *session, struct job *job, uint64_t number)
{
    struct lg__deadline *copy = job_copy(session, job);
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), begun_ns = atomic_load(&job->begun_ns);
    char name[LG__NAME_BYTES];
    job_name(session, job, name);
    const struct lg__snapshot_wish wish = { LG_SNAPSHOT_DEADLINE, atomic_load(&job->tid), name, begun_ns, atomic_load(&job->task) };
    uint32_t limit_ms = atomic_load(&copy->limit_ms);
    atomic_store(&copy->near_ns, now);
    atomic_store(&job->near_ns, now);
    /* the job has just ended, and its thread may not have seen the mark */
    if (atomic_load(&job->number) != number) {
        atomic_store(&job->near_ns, 0);
        atomic_store(&copy->near_ns, 0);
        return;
    }
    unsigned length = tenths_since(begun_ns);
    lg__snapshot_take(&wish);
    if (atomic_load(&job->number) != number)
        lg__snapshot_resolve(LG_SNAPSHOT_DEADLINE, begun_ns);
    lg__host_log(&session->host, LG_LEVEL_WARNING, "job \"%s\" of thread %d is about to overrun its deadline of %u ms: %u.%u s have passed", name, wish.tid,
                 limit_ms, length / 10, length % 10);
}

uint64_t lg__job_deadlines_look(struct lg_session *session)
{
    uint64_t sleep = LG__NEVER;
    for (uint32_t i = 0; i < LG__DEADLINES; i++) {
        uint64_t number = atomic_load(&jobs[i].number);
        if (number <= TAKEN || atomic_load(&jobs[i].near_ns))
            continue;
        uint64_t due = atomic_load(&jobs[i].due_ns), now = lg__os_clock_ns(CLOCK_BOOTTIME);
        if (atomic_load(&jobs[i].number) != number)
            continue;
        if (now >= due)
            report_near_deadline(session, &jobs[i], number);
        else if (due - now < sleep)
            sleep = due - now;
    }
    return sleep;
}
