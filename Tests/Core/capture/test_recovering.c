/* Programs that live with their faults: a handler that recovers is called after header, context and
 * frames alone, no other thread is interrupted, and the fault from which it does not recover has
 * the whole record. */
#include "harness.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/fault_point.h"

#define LONG_MS 60000
#define FAULTS 3000
#define IDLE 8

static char *page;      /* what the program writes to, and protects again */
static int *true_fault; /* an address that no handler mends */

/* ---- handlers ---- */

/* How the handler ends where it cannot recover. */
enum end { RESETS, ABORTS, EXITS, CRASHES, HANGS, ENDS };
static enum end end_of_handler;

/* A handler that is slow and recovers is none that hangs: the deadline of a handler is looked at
 * when one hangs. */
static atomic_bool hangs;

static void hook_until_hangs(const char *point)
{
    if (strcmp(point, "deadline: over") == 0)
        wait_until(atomic_load(&hangs));
}

static bool mends(const siginfo_t *info)
{
    if ((char *)info->si_addr < page || (char *)info->si_addr >= page + 4096)
        return false;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    return true;
}

static void mend_or_end(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (mends(info))
        return;
    switch (end_of_handler) {
    case ABORTS: abort();
    case EXITS: exit(7);
    case CRASHES: __builtin_trap();
    case HANGS:
        atomic_store(&hangs, true);
        hang(number);
        break;
    default: signal(number, SIG_DFL);
    }
}

static void jump_or_reset(int number, siginfo_t *info, void *context)
{
    (void)context;
    if ((char *)info->si_addr >= page && (char *)info->si_addr < page + 4096)
        siglongjmp(escape, 1);
    signal(number, SIG_DFL);
}

static void install(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    true_fault = (int *)(uintptr_t)0x18;
    sigaction(SIGSEGV, &action, NULL);
}

static void start_patiently(void)
{
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = options.handler_ms = LONG_MS;
    start_with(options);
}

static void live_with_faults(int count)
{
    for (int i = 0; i < count; i++) {
        mprotect(page, 4096, PROT_READ);
        *(volatile char *)page = (char)i;
    }
}

static void jump_out_of_faults(int count)
{
    for (volatile int i = 0; i < count; i++) {
        mprotect(page, 4096, PROT_READ);
        if (sigsetjmp(escape, 1) == 0)
            *(volatile char *)page = 1;
    }
}

static __attribute__((noinline)) void fault(void)
{
    *(volatile int *)true_fault = 1;
}

/* ---- threads that must not notice ---- */

static atomic_int begun, woken;

/* pause() returns only after a signal handler. */
static void *idle(void *argument)
{
    atomic_fetch_add(&begun, 1);
    for (;;) {
        pause();
        atomic_fetch_add(&woken, 1);
    }
    return argument;
}

static void make_idle_threads(void)
{
    for (int i = 0; i < IDLE; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, idle, NULL);
    }
    wait_until(atomic_load(&begun) == IDLE && others_sleep()); /* they pause */
}

static bool small; /* there is little space for files, and none for the other threads */

/* The first record has asked them all, and they pause again. */
static void await_first_record(void)
{
    wait_until((small || atomic_load(&woken) >= IDLE) && others_sleep());
}

/* ---- the whole life ---- */

static void body_life(void *argument)
{
    const struct rlimit size = { 106496, 106496 };
    if (small)
        setrlimit(RLIMIT_FSIZE, &size);
    end_of_handler = (enum end)(intptr_t)argument;
    install(mend_or_end);
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = LONG_MS;
    options.handler_ms = end_of_handler == HANGS ? 300 : LONG_MS;
    start_with(options);
    if (end_of_handler == HANGS) {
        lg__fault_patience = 100; /* the watch thread looks, and no timer of the thread itself */
        lg__fault_hook = hook_until_hangs;
    }
    make_idle_threads();
    live_with_faults(1); /* until it has recovered once, nothing is known about the handler */
    await_first_record();
    const int before = atomic_load(&woken);
    live_with_faults(small ? 20 : FAULTS);
    if (atomic_load(&woken) != before && !small)
        _exit(90);
    fault();
    _exit(91);
}

/* The last record is that of the true fault, whole, with all threads. */
static void assert_whole(lg_reader *reader)
{
    lg_threads_info threads;
    lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(crash.brief, 0);
    assert_int_equal(crash.kind, LG_CRASH_NULL_OFFSET);
    assert_int_equal(crash.address, 0x18);
    assert_int_equal(crash.signal, SIGSEGV);
    assert_int_equal(crash.handled, 0);
    assert_int_equal(crash.sequence, FAULTS + 2);
    assert_int_equal(crash.recrash_count, 0);
    assert_int_equal(lg_reader_threads(reader, &threads), LG_OK);
    assert_int_equal(threads.captured, IDLE);
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
}

static void test_true_crash(void **state)
{
    (void)state;
    for (enum end end = RESETS; end <= CRASHES; end++) {
        state_make();
        if (end == EXITS)
            expect_exit(body_life, (void *)(intptr_t)end, 7);
        else
            expect_signal(body_life, (void *)(intptr_t)end, end == ABORTS ? SIGABRT : end == CRASHES ? TRAP_SIGNAL : SIGSEGV);
        lg_reader *reader = newest_run();
        assert_whole(reader);
        lg_verdict verdict;
        assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
        assert_int_equal(verdict.end, LG_END_CRASH);
        lg_reader_close(reader);
    }
}

/* A handler that hangs: the process ends at the handler's deadline, with what there is. */
static void test_hangs(void **state)
{
    (void)state;
    expect_signal(body_life, (void *)(intptr_t)HANGS, SIGSEGV);
    lg_reader *reader = newest_run();
    lg_crash_info crash = crash_of(reader, LG_STAGE_FRAMES);
    assert_int_equal(crash.brief, 1);
    assert_int_equal(crash.sequence, FAULTS + 2);
    lg_reader_close(reader);
}

/* A file without brief records: each crash has the record that there is. */
static void test_small_file(void **state)
{
    (void)state;
    small = true;
    expect_signal(body_life, (void *)(intptr_t)HANGS, SIGSEGV);
    small = false;
    lg_reader *reader = newest_run();
    lg_crash_info crash;
    assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
    assert_int_equal(crash.brief, 0);
    assert_int_equal(crash.sequence, 22);
    assert_true(crash.stages >> LG_STAGE_DONE & 1);
    lg_reader_close(reader);
}

/* Every fault is left by a jump. */
static void body_jumps(void *argument)
{
    (void)argument;
    install(jump_or_reset);
    start_patiently();
    make_idle_threads();
    jump_out_of_faults(2);
    await_first_record();
    const int before = atomic_load(&woken);
    jump_out_of_faults(FAULTS - 1);
    if (atomic_load(&woken) != before)
        _exit(90);
    fault();
    _exit(91);
}

static void test_jumps(void **state)
{
    (void)state;
    expect_signal(body_jumps, NULL, SIGSEGV);
    lg_reader *reader = newest_run();
    assert_whole(reader);
    lg_reader_close(reader);
}

/* ---- many threads at once ---- */

#define WORKERS 6

/* Each with a page of its own; the handler finds it by the address. */
static char *pages;
static size_t page_bytes;

static void mend_any(int number, siginfo_t *info, void *context)
{
    const uintptr_t at = (uintptr_t)info->si_addr & ~(uintptr_t)(page_bytes - 1), first = (uintptr_t)pages;
    (void)context;
    if (at >= first && at < first + WORKERS * page_bytes)
        mprotect((void *)at, page_bytes, PROT_READ | PROT_WRITE);
    else
        signal(number, SIG_DFL);
}

static atomic_int working;

static void *work(void *argument)
{
    char *mine = argument;
    for (int i = 0;; i++) {
        mprotect(mine, 4096, PROT_READ);
        *(volatile char *)mine = (char)i;
        if (i == 200)
            atomic_fetch_add(&working, 1);
    }
    return NULL;
}

static void body_workers(void *argument)
{
    (void)argument;
    install(mend_any);
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, WORKERS * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_patiently();
    for (int i = 0; i < WORKERS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, pages + (size_t)i * page_bytes);
    }
    wait_until(atomic_load(&working) == WORKERS);
    abort();
}

static void test_workers(void **state)
{
    (void)state;
    expect_signal(body_workers, NULL, SIGABRT);
    lg_reader *reader = newest_run();
    lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(crash.signal, SIGABRT);
    assert_int_equal(crash.brief, 0);
    assert_int_equal(crash.also_crashed_count, 0);
    assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
    lg_reader_close(reader);
}

/* ---- the program lives on longer than any handler may take ---- */

/* The thread left its handler by longjmp, and is deep in other calls. */
enum { AND_LIVES, WITHOUT_ALTSTACK, AND_ANOTHER_CRASHES };

/* The thread is looked at when the time of the handler is over and the thread has left. */
static atomic_bool has_left, looked;

static void hook_until_left(const char *point)
{
    static bool was_over;
    if (strcmp(point, "deadline: over") == 0) {
        was_over = true;
        wait_until(atomic_load(&has_left));
    } else if (was_over && (strcmp(point, "watch: sleeps") == 0 || strcmp(point, "watch: leaves") == 0)) {
        atomic_store(&looked, true);
    }
}

static void *aborts(void *argument)
{
    (void)argument;
    abort();
}

static void body_lives_on(void *argument)
{
    static const stack_t none = { .ss_flags = SS_DISABLE };
    lg_options options = LG_OPTIONS_INIT;
    options.deadline_ms = LONG_MS;
    options.handler_ms = 200;
    signal(SIGSEGV, jump_out);
    start_with(options);
    lg__fault_patience = 100; /* as above */
    lg__fault_hook = hook_until_left;
    if (argument == (void *)WITHOUT_ALTSTACK)
        sigaltstack(&none, NULL);
    if (sigsetjmp(escape, 1) == 0)
        crash();
    volatile char space[65536];
    space[0] = 1;
    atomic_store(&has_left, true);
    wait_until(atomic_load(&looked));
    /* then another thread crashes, and its earlier handler does not return */
    if (argument == (void *)AND_ANOTHER_CRASHES) {
        pthread_t thread;
        pthread_create(&thread, NULL, aborts, NULL);
        pthread_join(thread, NULL);
    }
    exit(space[0] - 1);
}

static void test_lives_on(void **state)
{
    (void)state;
    expect_exit(body_lives_on, (void *)AND_LIVES, 0);
    state_make();
    expect_exit(body_lives_on, (void *)WITHOUT_ALTSTACK, 0);
    state_make();
    expect_signal(body_lives_on, (void *)AND_ANOTHER_CRASHES, SIGABRT);
    lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.signal, SIGABRT);
    assert_int_equal(crash.sequence, 2);
    assert_int_equal(crash.also_crashed_count, 0);
}

/* ---- a thread ends in its handler ---- */

static void ends_thread(int signal)
{
    (void)signal;
    pthread_exit(NULL);
}

static void *crash_in_thread(void *argument)
{
    (void)argument;
    crash();
    return NULL;
}

static void body_thread_ends_in_handler(void *argument)
{
    pthread_t thread;
    (void)argument;
    signal(SIGSEGV, ends_thread);
    start_patiently();
    lg__fault_patience = 100; /* the exit waits for a look at the last thread */
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, crash_in_thread, NULL) != 0 || pthread_join(thread, NULL) != 0)
            _exit(91);
    exit(0);
}

static void test_thread_ends_in_handler(void **state)
{
    (void)state;
    /* often, as the last thread may still be ending in the kernel when the process exits */
    for (int round = 0; round < 20; round++) {
        expect_exit(body_thread_ends_in_handler, NULL, 0);
        assert_int_equal(newest_verdict().end, LG_END_CLEAN);
    }
}

/* ---- killed while the rest is written ---- */

static const char *stop_at;

static void kill_at(const char *point)
{
    static bool ends; /* the first fault has a whole record of its own */
    ends |= strcmp(point, "recovering: ends") == 0;
    if (ends && strcmp(point, stop_at) == 0)
        raise(SIGKILL);
}

static void body_killed(void *argument)
{
    stop_at = argument;
    lg__fault_hook = kill_at;
    body_life((void *)(intptr_t)RESETS);
}

static void test_killed(void **state)
{
    (void)state;
    static const struct {
        const char *point;
        lg_stage stage;
        uint32_t brief; /* it stays until the whole record is there */
    } points[] = { { "recovering: ends", LG_STAGE_FRAMES, 1 }, { "handler: process", LG_STAGE_FRAMES, 1 },
                   { "recovering: recorded", LG_STAGE_DONE, 0 } };
    for (size_t i = 0; i < 3; i++) {
        state_make();
        expect_signal(body_killed, (void *)(uintptr_t)points[i].point, SIGKILL);
        lg_reader *reader = newest_run();
        lg_crash_info crash = crash_of(reader, points[i].stage);
        assert_int_equal(crash.sequence, FAULTS + 2);
        assert_int_equal(crash.brief, points[i].brief);
        assert_int_equal(crash.address, 0x18);
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        lg_reader_close(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_true_crash), WITH_STATE(test_hangs), WITH_STATE(test_small_file), WITH_STATE(test_jumps), WITH_STATE(test_workers),
        WITH_STATE(test_lives_on), WITH_STATE(test_thread_ends_in_handler), WITH_STATE(test_killed),
    };
    return cmocka_run_group_tests_name("recovering", tests, NULL, NULL);
}
