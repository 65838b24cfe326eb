/* Answers of threads that come too late for their question: none of them counts for the next one.
 * Each test holds threads at fault points. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "capture/internal.h"
#include "os/fault_point.h"

#define LONG_MS 60000 /* a thread has a tenth of it for its answer */

/* The threads of a child: two crash one after the other, and survive; one is asked by both. */
enum role { OTHER, FIRST, SECOND, ASKED };
static __thread enum role role;
static __thread sigjmp_buf way_out;
static lg_session *session;

/* Counts of events on the threads of a child. */
static _Atomic unsigned asked, clears, late, answered, pauses, survived, crashes, locks, taken;

static void await(_Atomic unsigned *count, unsigned least)
{
    wait_until(atomic_load(count) >= least);
}

static void jumps(int number)
{
    (void)number;
    if (role == SECOND && atomic_load(&crashes))
        await(&taken, 1); /* the full record is still that of this crash */
    siglongjmp(way_out, 1);
}

static void jumps_too(int number)
{
    jumps(number);
}

static void survive(void)
{
    if (sigsetjmp(way_out, 1) == 0) {
        if (role == SECOND)
            __builtin_trap(); /* no handler was seen to recover from that signal */
        crash();
    }
    lg_deadline_end(session, 2); /* any call: the thread is outside its handler */
    atomic_fetch_add(&survived, 1);
}

static bool is_at(const char *point, const char *name)
{
    return strcmp(point, name) == 0;
}

static void *pauses_or_crashes(void *argument)
{
    role = ASKED;
    prctl(PR_SET_NAME, "asked");
    for (;;) {
        atomic_fetch_add(&pauses, 1);
        if (!argument)
            pause();
        else if (atomic_load(&crashes))
            argument = NULL, survive();
    }
    return argument;
}

static void *crashes_second(void *argument)
{
    role = SECOND;
    await(&survived, 1);
    survive();
    return argument;
}

static void two_crashes(void (*hook)(const char *), void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = options.handler_ms = LONG_MS;
    signal(SIGSEGV, jumps);
    signal(TRAP_SIGNAL, jumps_too);
    role = FIRST;
    prctl(PR_SET_NAME, "first");
    session = start_with(options);
    alarm(LONG_MS / 1000 - 5); /* a thread that nobody lets go stands until the deadline */
    lg__fault_hook = hook;
    in_thread(pauses_or_crashes, argument);
    await(&pauses, 1);
    if (!argument)
        wait_until(others_sleep()); /* it pauses */
    in_thread(crashes_second, NULL); /* the kernel lists the threads in this order */
    survive();
    await(&survived, argument ? 3 : 2);
    await(&pauses, 2); /* the thread goes on once it is not asked any more */
    _exit(0);
}

/* The second crash, which has the full record. */
static lg_crash_info select_second(lg_reader *reader)
{
    lg_crash_info crash;
    for (uint32_t i = 0; lg_reader_select_crash(reader, i) == LG_OK; i++)
        if (lg_reader_crash(reader, &crash) == LG_OK && !crash.brief)
            break;
    assert_int_equal(crash.sequence, 2);
    return crash;
}

/* The record of the second crash has the two other threads, each once, with its own name; they have
 * all captured themselves. */
static void check_threads(void)
{
    lg_run_info run;
    lg_thread_info threads[8];
    lg_status status;
    uint32_t count = 0;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    const lg_crash_info crash = select_second(reader);
    assert_int_equal(crash.stages >> LG_STAGE_THREADS & 1, 1);
    for (uint32_t i = 0; (status = lg_reader_thread(reader, i, &threads[count])) != LG_ERR_NOT_FOUND; i++) {
        if (status == LG_ERR_INCOMPLETE)
            continue;
        assert_int_equal(status, LG_OK);
        const lg_thread_info *thread = &threads[count++];
        assert_true(count <= 2);
        assert_string_equal(thread->name, thread->tid == run.pid ? "first" : "asked");
        assert_int_equal(thread->how, LG_THREAD_CAPTURED);
    }
    assert_int_equal(count, 2);
    assert_int_not_equal(threads[0].tid, threads[1].tid);
    lg_reader_close(reader);
}

/* ---- the first crash leaves a question open: its stage crashed ---- */

static void hook_open(const char *point)
{
    static __thread unsigned times;
    if (role == FIRST && is_at(point, "threads: asked")) {
        await(&asked, 1);
        crash();
    }
    if (role == ASKED && is_at(point, "thread: asked") && times++ == 0) {
        atomic_fetch_add(&asked, 1);
        await(&clears, 1);
    }
    /* The place is cleared for another thread, and that thread not yet asked. The late answer would
     * take the place now, and be written when that thread's is whole; it does not, and the thread
     * pauses again. */
    if (role == SECOND && is_at(point, "question: cleared") && atomic_fetch_add(&clears, 1) == 0)
        wait_until(atomic_load(&late) || atomic_load(&pauses) > 1);
    if (role == ASKED && is_at(point, "question: writes")) {
        atomic_fetch_add(&late, 1);
        await(&answered, 1);
    }
    if (role == FIRST && is_at(point, "thread: answered"))
        atomic_fetch_add(&answered, 1);
}

static void body_open(void *argument)
{
    two_crashes(hook_open, argument);
}

static void test_open(void **state)
{
    (void)state;
    expect_exit(body_open, NULL, 0);
    check_threads();
}

/* ---- an answer to the first crash is finished while the second one asks ---- */

static const char *finishes_at;

static void hook_late(const char *point)
{
    static __thread unsigned times;
    if (role == FIRST && is_at(point, "threads: asked")) {
        await(&asked, 1);
        crash();
    }
    if (role == ASKED && is_at(point, finishes_at) && times++ == 0) {
        atomic_fetch_add(&asked, 1);
        await(&clears, 1);
        atomic_fetch_add(&late, 1);
    }
    if (role == SECOND && is_at(point, "question: cleared") && atomic_fetch_add(&clears, 1) == 0)
        await(&pauses, 2); /* the late answer is over */
    if (role == ASKED && is_at(point, "thread: answered") && atomic_load(&clears) > 1)
        atomic_fetch_add(&answered, 1);
    /* The one answer that is missing comes when the late one would have been counted for it. Before
     * that the watch thread may ask: on a busy machine the first crash takes long. */
    if (role == FIRST && is_at(point, "thread: asked") && atomic_load(&clears)) {
        await(&answered, 1);
        pass_time(100, "a crash that had counted the late answer would go on without this one");
    }
}

static void body_late(void *argument)
{
    finishes_at = argument;
    two_crashes(hook_late, NULL);
}

static void test_late_writing(void **state)
{
    (void)state;
    expect_exit(body_late, "question: writes", 0);
    check_threads();
}

static void test_late_counting(void **state)
{
    (void)state;
    expect_exit(body_late, "question: stands", 0);
    check_threads();
}

/* ---- a thread that waits for the lock finds its number in a place that is being cleared ---- */

static void hook_stale(const char *point)
{
    if (role == SECOND && is_at(point, "threads: asks")) {
        atomic_fetch_add(&crashes, 1);
        await(&locks, 1);
    }
    if (role == ASKED && is_at(point, "lock: another's"))
        atomic_fetch_add(&locks, 1);
    if (role == ASKED && is_at(point, "lock: taken"))
        atomic_fetch_add(&taken, 1);
    if (role == SECOND && is_at(point, "question: clears") && atomic_fetch_add(&clears, 1) == 0) {
        const unsigned before = atomic_load(&locks);
        wait_until(atomic_load(&late) || atomic_load(&locks) >= before + 3);
    }
    if (role == ASKED && is_at(point, "question: answers") && atomic_load(&clears) == 1 && atomic_fetch_add(&late, 1) == 0)
        await(&asked, 1);
    /* the other thread's question is open, and its signal not yet sent: the late answer would be
     * written now; it is not, and its thread waits for the lock again */
    if (role == SECOND && is_at(point, "question: asked") && atomic_load(&asked) == 0) {
        const unsigned before = atomic_load(&locks);
        atomic_fetch_add(&asked, 1);
        wait_until(!atomic_load(&late) || atomic_load(&answered) || atomic_load(&locks) > before);
    }
    if (role == ASKED && is_at(point, "question: writes") && atomic_load(&late))
        atomic_fetch_add(&answered, 1);
}

static void body_stale(void *argument)
{
    two_crashes(hook_stale, argument);
}

static void test_stale(void **state)
{
    expect_exit(body_stale, state, 0);
    check_threads();
}

/* ---- a note of the first crash is finished after one of the second ---- */

static void hook_note(const char *point)
{
    if (role == FIRST && is_at(point, "handler: context")) {
        atomic_fetch_add(&crashes, 1);
        await(&asked, 1);
    }
    if (role == ASKED && is_at(point, "run: note") && atomic_fetch_add(&asked, 1) == 0)
        await(&answered, 1);
    if (role == SECOND && is_at(point, "handler: context"))
        crash(); /* leaves a note */
    if (role == SECOND && is_at(point, "handler: frames")) {
        atomic_fetch_add(&answered, 1);
        await(&locks, 2); /* the thread waits for the lock again: its note is written */
    }
    if (role == ASKED && is_at(point, "lock: another's"))
        atomic_fetch_add(&locks, 1);
    if (role == ASKED && is_at(point, "lock: taken"))
        atomic_fetch_add(&taken, 1);
}

static void body_note(void *argument)
{
    two_crashes(hook_note, argument);
}

static void test_note(void **state)
{
    lg_note note;
    unsigned found[3] = { 0 };
    expect_exit(body_note, state, 0);
    lg_reader *reader = newest_run();
    lg_crash_info crash = select_second(reader);
    for (uint32_t i = 0; lg_reader_note(reader, i, &note) == LG_OK; i++) {
        found[note.kind]++;
        assert_int_equal(note.kind == LG_NOTE_RECRASH, note.tid == crash.tid);
    }
    assert_int_equal(found[LG_NOTE_RECRASH], 1);
    assert_int_equal(found[LG_NOTE_ALSO_CRASHED], 1);
    lg_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_open),
        WITH_STATE(test_late_writing),
        WITH_STATE(test_late_counting),
        WITH_STATE(test_stale),
        WITH_STATE(test_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
