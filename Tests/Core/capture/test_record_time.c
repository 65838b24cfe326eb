/* The time for a record is over while its thread records. A process that was stopped meanwhile goes
 * on: its record ends early, and its earlier handler mends the fault as without LaunchGuard. A
 * stage of our own that hangs is left in the same way; one that may call code of others ends the
 * process. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/deadline.h"
#include "capture/internal.h"
#include "capture/question.h"
#include "os/fault_point.h"

#define LONG_MS 60000
#define RECORD_MS 200 /* from the fault point on; the stages before it have the long time */
#define WAITS_MS 2000 /* a thread that waits for the lock has so much more (wait_for_lock.c) */
#define ITS_OWN 7     /* exit status of a program that lives */

static struct way {
    const char *point;
    unsigned last_stage; /* committed at the end */
    bool watched, brief, mends, hangs;
    enum { IN_STAGE, IN_READ, IN_CHANGE, IN_QUESTION } where;
} way;

static const char *const where_names[] = { "", ", in a read", ", in a change of the header", ", in a question" };

static struct shared {
    _Atomic uint64_t over_ns; /* the process is stopped until then */
    _Atomic unsigned stops;
} *shared;

static char *page;
static _Atomic unsigned overs, sleeps, waits, turns, faulting;

/* ---- the stop, or the endless wait ---- */

/* The time of the record is short from here on. */
static void shorten(struct lg__crash *crash)
{
    lg__fixed.options.deadline_ms = RECORD_MS;
    if (crash->owes) { /* the watch thread keeps its time */
        atomic_store(&crash->deadline_ns, now_ns() + RECORD_MS * UINT64_C(1000000));
        return;
    }
    const bool has_signal = strcmp(way.point, "handler: context") != 0 && strcmp(way.point, "handler: frames") != 0;
    lg__deadline_disarm();
    atomic_store(&crash->deadline_ns, 0);
    lg__deadline_arm(crash);
    if (has_signal)
        lg__deadline_arm_signal(crash);
}

/* The watch thread sleeps until the deadline. */
static void prepare_watch(void)
{
    const unsigned before = atomic_load(&sleeps);
    lg__capture_wake_watch();
    wait_until(atomic_load(&sleeps) > before);
}

/* The signal of the deadline comes after the stop, however long the way to here took. */
static void stop_at(struct lg__crash *crash, uint64_t longer_ms)
{
    const unsigned before = atomic_load(&overs);
    atomic_store(&crash->deadline_ns, now_ns() + RECORD_MS * UINT64_C(1000000));
    atomic_store(&shared->over_ns, atomic_load(&crash->deadline_ns) + (longer_ms + 20) * 1000000);
    raise(SIGSTOP);
    if (way.watched) /* it looks first */
        wait_until(atomic_load(&overs) > before);
    lg__os_signal_block(LG__QUESTION_SIGNAL, false);
}

static void stop_in_read(void *crash)
{
    stop_at(crash, 0);
}

/* The stage is left at the next signal, when the header is whole again. */
static void stop_in_change(struct lg__crash *crash)
{
    const unsigned before = atomic_load(&overs);
    lg__run_uncommit_stage(&lg__fixed.options.run, 0, LG_STAGE_HEADER);
    stop_at(crash, 0);
    lg__run_commit(&lg__fixed.options.run, 0, LG_STAGE_HEADER, sizeof(struct lg__crash_header));
    wait_until(atomic_load(&overs) > before + 1);
}

/* A question that nobody waits for: its handler has to be left as it was entered. */
static void ask_self(void)
{
    lg__os_signal_block(LG__QUESTION_SIGNAL, false);
    lg__os_signal_ask(getpid(), lg__os_tid(), LG__QUESTION_SIGNAL, (uint64_t)LG__ASKER_WATCH << 24 | LG__QUESTION_LOOK);
}

static bool is_in_question(void)
{
    struct lg__crash crash = { .tid = 0 };
    uint64_t visits;
    lg__question_visited(&crash);
    return !lg__question_is_outside(&crash, 0, &visits);
}

static void hook(const char *point)
{
    if (strcmp(point, "deadline: over") == 0)
        atomic_fetch_add(&overs, 1);
    else if (strcmp(point, "watch: sleeps") == 0)
        atomic_fetch_add(&sleeps, 1);
    if (way.where == IN_QUESTION && strcmp(point, "snapshot: answers") == 0)
        stop_at(lg__crash_current(), 0);
    /* a fault of the next record must not come back to the read that was left */
    if (way.where == IN_READ && atomic_load(&shared->stops) && strcmp(point, "handler: header") == 0 && lg__memory_mark())
        _exit(91);
    if (strcmp(point, way.point) != 0 || lg__crash_current()->owes != way.brief || atomic_load(&shared->stops))
        return;
    atomic_fetch_add(&shared->stops, 1);
    lg__os_signal_block(LG__QUESTION_SIGNAL, true);
    shorten(lg__crash_current());
    if (way.watched)
        prepare_watch();
    if (way.hangs) {
        lg__os_signal_block(LG__QUESTION_SIGNAL, false);
        hang(0);
    }
    if (way.where == IN_READ)
        lg__memory_guarded(stop_in_read, lg__crash_current());
    else if (way.where == IN_CHANGE)
        stop_in_change(lg__crash_current());
    else if (way.where == IN_QUESTION)
        ask_self();
    else
        stop_at(lg__crash_current(), 0);
}

/* ---- programs ---- */

static void mend(int number)
{
    (void)number;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void *turn(void *argument)
{
    for (;; atomic_fetch_add(&turns, 1))
        rest(1);
    return argument;
}

static void fault(void)
{
    mprotect(page, 4096, PROT_READ);
    *(volatile char *)page = 1;
}

static void begin(void (*handler)(int), void (*at_points)(const char *point))
{
    lg_options options = LG_OPTIONS_INIT;
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_waker(&shared->over_ns);
    if (handler)
        signal(SIGSEGV, handler);
    options.deadline_ms = options.handler_ms = LONG_MS;
    lg_session *session = start_with(options);
    lg__fault_patience = 100; /* no SIGKILL soon after the deadline */
    if (way.watched) {
        lg_heartbeat(session);
        wait_until(lg__capture_watched());
    }
    in_thread(turn, NULL);
    wait_until(atomic_load(&turns));
    lg__fault_hook = at_points;
}

static void body(void *argument)
{
    (void)argument;
    begin(way.mends ? mend : NULL, hook);
    if (way.brief)
        fault();
    fault();
    if (atomic_load(&shared->stops) != 1)
        _exit(90);
    if (is_in_question())
        _exit(92);
    /* other threads go on, and so does the crash core */
    const unsigned before = atomic_load(&turns);
    wait_until(atomic_load(&turns) > before + 3);
    fault();
    exit(ITS_OWN);
}

/* ---- tests ---- */

/* Of the crash that the stop cut. */
static void check_record(void)
{
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_select_crash(reader, 0), LG_OK);
    const lg_crash_info crash = crash_of(reader, way.last_stage);
    assert_int_equal(crash.signal, SIGSEGV);
    assert_int_equal(crash.handled, way.mends && !(way.hangs && way.last_stage == LG_STAGE_MESSAGES));
    assert_int_equal(crash.recrash_count, 0);
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    lg_reader_close(reader);
}

static void run_way(bool lives)
{
    print_message("             %s at \"%s\"%s%s%s%s\n", way.hangs ? "hangs" : "stops", way.point, where_names[way.where],
                  way.watched ? ", watched" : "", way.brief ? ", brief" : "", way.mends ? ", mends" : "");
    state_make();
    memset(shared, 0, sizeof *shared);
    if (lives)
        expect_exit(body, NULL, ITS_OWN);
    else
        expect_signal(body, NULL, SIGSEGV);
    assert_int_equal(shared->stops, 1);
    assert_int_equal(newest_verdict().end == LG_END_CRASH, !lives);
}

static const struct place {
    const char *point;
    unsigned last_stage;
} places[] = {
    /* the time is over before the signal is there, and the next stage begins with that */
    { "handler: context", LG_STAGE_FRAMES },
    { "handler: frames", LG_STAGE_FRAMES },
    { "handler: before dwarf", LG_STAGE_FRAMES },
    { "handler: dwarf", LG_STAGE_DWARF },
    { "handler: messages", LG_STAGE_MESSAGES },
    { "threads: asked", LG_STAGE_MESSAGES },
    { "handler: threads", LG_STAGE_THREADS },
    { "handler: thread stacks", LG_STAGE_THREADS },
    { "process: before map", LG_STAGE_THREADS },
    { "handler: process", LG_STAGE_PROCESS },
    { "handler: done", LG_STAGE_DONE },
};
#define PLACES (sizeof places / sizeof places[0])

static void stop_everywhere(bool mends)
{
    for (int watched = 0; watched < 2; watched++)
        for (size_t i = 0; i < PLACES; i++) {
            way = (struct way){ places[i].point, places[i].last_stage, .watched = watched, .mends = mends };
            run_way(mends);
            check_record();
        }
}

static void test_goes_on_where_the_handler_mends(void **state)
{
    (void)state;
    stop_everywhere(true);
}

static void test_dies_as_without_a_stop(void **state)
{
    (void)state;
    stop_everywhere(false);
}

/* The watch thread alone keeps the time of a brief record. */
static void test_brief_record(void **state)
{
    (void)state;
    static const char *const points[] = { "handler: context", "handler: frames" };
    for (size_t i = 0; i < 2; i++) {
        way = (struct way){ points[i], .watched = true, .brief = true, .mends = true };
        run_way(true);
    }
}

static void test_moments_of_a_stage(void **state)
{
    (void)state;
    way = (struct way){ "handler: before dwarf", LG_STAGE_FRAMES, .mends = true, .where = IN_READ };
    run_way(true);
    check_record();
    way = (struct way){ "handler: dwarf", LG_STAGE_DWARF, .mends = true, .where = IN_CHANGE };
    run_way(true);
    check_record();
    way = (struct way){ "handler: dwarf", LG_STAGE_DWARF, .mends = true, .where = IN_QUESTION };
    run_way(true);
    check_record();
}

static void test_stage_that_hangs(void **state)
{
    (void)state;
    for (int watched = 0; watched < 2; watched++) {
        way = (struct way){ "handler: threads", LG_STAGE_THREADS, .watched = watched, .mends = true, .hangs = true };
        run_way(true);
        check_record();
        way = (struct way){ "handler: messages", LG_STAGE_MESSAGES, .watched = watched, .mends = true, .hangs = true };
        run_way(false);
        check_record();
    }
}

/* ---- a second thread waits for the lock meanwhile, for longer than any record may take ---- */

static void *faults_too(void *argument)
{
    atomic_store(&faulting, 1);
    *(volatile char *)argument = 1;
    atomic_store(&faulting, 2);
    return NULL;
}

static char *other_page;

static void mend_both(int number)
{
    mend(number);
    mprotect(other_page, 4096, PROT_READ | PROT_WRITE);
}

static void hook_waits(const char *point)
{
    if (strcmp(point, "lock: another's") == 0)
        atomic_fetch_add(&waits, 1);
    if (strcmp(point, way.point) != 0 || lg__crash_current()->tid != getpid() || atomic_load(&shared->stops))
        return;
    lg__fixed.options.deadline_ms = RECORD_MS; /* of the other thread's wait, too */
    in_thread(faults_too, other_page);
    wait_until(atomic_load(&waits) > 1);
    atomic_fetch_add(&shared->stops, 1);
    shorten(lg__crash_current());
    stop_at(lg__crash_current(), WAITS_MS);
    const unsigned before = atomic_load(&waits);
    wait_until(atomic_load(&waits) > before + 1); /* it looks first */
}

static void body_waits(void *argument)
{
    (void)argument;
    other_page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    begin(mend_both, hook_waits);
    fault();
    wait_until(atomic_load(&faulting) == 2);
    exit(ITS_OWN);
}

static void test_other_thread_waits(void **state)
{
    (void)state;
    way = (struct way){ "handler: frames", LG_STAGE_FRAMES, .mends = true };
    memset(shared, 0, sizeof *shared);
    expect_exit(body_waits, NULL, ITS_OWN);
    assert_int_equal(shared->stops, 1);
}

int main(void)
{
    shared = shared_memory(sizeof *shared);
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_goes_on_where_the_handler_mends), WITH_STATE(test_dies_as_without_a_stop), WITH_STATE(test_brief_record),
        WITH_STATE(test_moments_of_a_stage), WITH_STATE(test_stage_that_hangs), WITH_STATE(test_other_thread_waits),
    };
    return cmocka_run_group_tests_name("record time", tests, NULL, NULL);
}
