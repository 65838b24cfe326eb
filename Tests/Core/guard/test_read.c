/* Guarded reads: a source that cannot be read ends the copy, and the caller gets an error; all else
 * crashes as before. */
#include "harness.h"
#include "start_guards.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/os.h"

#define PAGE ((size_t)4096)

/* ---- three pages, of which the last cannot be read ---- */

enum gap { UNMAPPED, PROTECTED, CUT, GAPS };

static uint8_t *make_gap(enum gap gap)
{
    uint8_t page[2 * PAGE];
    const int file = open(state_path("data"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (size_t i = 0; i < sizeof page; i++)
        page[i] = (uint8_t)(i * 7 + i / 251);
    if (write(file, page, sizeof page) != (ssize_t)sizeof page || ftruncate(file, (off_t)(3 * PAGE)) != 0)
        _exit(80);
    uint8_t *base = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED || (gap == CUT && ftruncate(file, (off_t)(2 * PAGE)) != 0) || (gap == UNMAPPED && munmap(base + 2 * PAGE, PAGE) != 0) ||
        (gap == PROTECTED && mprotect(base + 2 * PAGE, PAGE, PROT_NONE) != 0))
        _exit(81);
    return base;
}

/* Where a crash has to be: children share it with the test. */
static volatile uint64_t *address;

static __attribute__((noinline)) lg_status read_all(void *to, const void *from, size_t size, size_t *ret_copied)
{
    return lg_guard_read(to, from, size, ret_copied);
}

/* ---- lives ---- */

/* Every distance from the gap, with sources and destinations of every alignment. */
static void body_lives(void *argument)
{
    start_guards(LG_GUARD_SURVIVE, 1000000);
    uint8_t *base = make_gap((enum gap)(intptr_t)argument), to[3 * PAGE];
    for (size_t before = 0; before < 300; before++) {
        const uint8_t *from = base + 2 * PAGE - before;
        uint8_t *at = to + before % 17;
        size_t copied = 9999;
        memset(to, 0xa5, sizeof to);
        errno = 0;
        if (read_all(at, from, before + 1 + before % 5, &copied) != LG_ERR_SYSTEM || errno != EFAULT || copied != before)
            _exit(90);
        if (memcmp(at, from, before) != 0 || at[before] != 0xa5 || (at > to && at[-1] != 0xa5))
            _exit(91);
        if (read_all(at, from, before, &copied) != LG_OK || copied != before || memcmp(at, from, before) != 0)
            _exit(92);
    }
    size_t copied = 0;
    if (read_all(to, base + 5, 2 * PAGE - 5, &copied) != LG_OK || copied != 2 * PAGE - 5 || memcmp(to, base + 5, copied) != 0)
        _exit(93);
    if (read_all(to, base, 3 * PAGE, NULL) != LG_ERR_SYSTEM || memcmp(to, base, 2 * PAGE) != 0)
        _exit(94);
    /* no address, and one of the kernel */
    const uintptr_t odd[] = { 0, 8, (uintptr_t)UINT64_C(0xdeadbeefdeadbeef), (uintptr_t)UINT64_C(0xffff800000000000), UINTPTR_MAX };
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        if (read_all(to, (const void *)odd[i], 64, &copied) != LG_ERR_SYSTEM || copied != 0)
            _exit(95);
    _exit(read_all(NULL, NULL, 0, &copied) == LG_OK && copied == 0 ? 0 : 96);
}

static void test_lives(void **state)
{
    (void)state;
    for (enum gap gap = UNMAPPED; gap < GAPS; gap++) {
        state_make();
        expect_exit(body_lives, (void *)(intptr_t)gap, 0);
        lg_reader *reader = newest_run();
        lg_crash_info crash;
        assert_true(log_says(reader, "a guarded read met an address that cannot be read: 0x"));
        assert_int_equal(lg_reader_crash(reader, &crash), LG_ERR_NOT_FOUND);
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        lg_reader_close(reader);
        state_remove();
    }
    state_make();
}

/* The event is that of the caller, with the callers of the caller. */
static atomic_int events_seen;
static uint64_t sites[2], frames[2][2];

static void take_event(const lg_guard_event *event, void *user)
{
    (void)user;
    const int i = atomic_load(&events_seen);
    if (event->guard_class != LG_GUARD_MEMORY || event->action != LG_GUARD_SURVIVED || i == 2 || event->frame_count < 2)
        _exit(70);
    sites[i] = event->site;
    memcpy(frames[i], event->frames, sizeof frames[i]);
    atomic_store(&events_seen, i + 1);
}

static __attribute__((noinline)) uint64_t read_nothing(void)
{
    uint64_t to;
    lg_guard_read(&to, NULL, sizeof to, NULL);
    return to + (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static __attribute__((noinline)) uint64_t read_nothing_again(void)
{
    return read_nothing() + 1;
}

static void body_sites(void *argument)
{
    (void)argument;
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.policy = LG_GUARD_SURVIVE;
    options.quiet = 1;
    options.on_event = take_event;
    lg_session *session = start_session();
    uint8_t to[8];
    if (lg_guard_start(session, &options) != LG_OK)
        _exit(84);
    read_nothing_again();
    read_all(to, NULL, 8, NULL);
    lg_stop(session);
    const uint64_t functions[] = { (uint64_t)(uintptr_t)read_nothing, (uint64_t)(uintptr_t)read_all };
    if (atomic_load(&events_seen) != 2)
        _exit(90);
    for (size_t i = 0; i < 2; i++)
        if (sites[i] <= functions[i] || sites[i] > functions[i] + 100 || frames[i][0] != sites[i])
            _exit(91);
    const uint64_t caller = (uint64_t)(uintptr_t)read_nothing_again;
    _exit(frames[0][1] > caller && frames[0][1] < caller + 100 ? 0 : 92);
}

static void test_sites(void **state)
{
    (void)state;
    expect_exit(body_sites, NULL, 0);
}

/* ---- dies: each with the record of the fault ---- */

enum way { NOT_STARTED, CLASS_OFF, STOPPED, DENIED, REPORTED, FATAL, SPENT, DESTINATION_UNMAPPED, DESTINATION_READ_ONLY, DESTINATION_NO_ADDRESS, MEMCPY, WAYS };

static void body_dies(void *argument)
{
    const enum way way = (enum way)(intptr_t)argument;
    const lg_guard_policy policy = way == REPORTED ? LG_GUARD_REPORT : way == FATAL ? LG_GUARD_FATAL : LG_GUARD_SURVIVE;
    lg_session *session = way == NOT_STARTED ? start_session() : start_guards(policy, 2);
    uint8_t *base = make_gap(UNMAPPED), to[PAGE], *at = to;
    const char *const denied[] = { program_invocation_short_name };
    lg_guard_lists lists = LG_GUARD_LISTS_INIT;
    lists.denied_modules = denied;
    lists.denied_module_count = 1;
    if (way == DESTINATION_READ_ONLY && ((*(volatile uint8_t *)base = 1) != 1 || mprotect(base, PAGE, PROT_READ) != 0))
        _exit(82);
    if (way == CLASS_OFF)
        lg_guard_set_classes(session, LG_GUARDS_ALL & ~LG_GUARDS(LG_GUARD_MEMORY));
    if (way == DENIED)
        lg_guard_set_lists(session, &lists);
    for (int i = 0; i < 3 && way == SPENT; i++)
        read_nothing(); /* the third time is one too many */
    if (way == STOPPED) {
        read_nothing();
        lg_guard_stop(session);
    }
    *address = (uint64_t)(uintptr_t)(base + 2 * PAGE);
    const uint8_t *from = base + 2 * PAGE - 100;
    if (way >= DESTINATION_UNMAPPED && way <= DESTINATION_NO_ADDRESS) {
        at = way == DESTINATION_UNMAPPED ? base + 2 * PAGE : way == DESTINATION_READ_ONLY ? base : (uint8_t *)(uintptr_t)UINT64_C(0xdeadbeefdeadbeef);
        /* x86-64 does not say it */
        *address = way == DESTINATION_NO_ADDRESS && lg__arch == LG__ARCH_X86_64 ? 0 : (uint64_t)(uintptr_t)at;
        from = base + PAGE;
    }
    if (way == MEMCPY)
        memcpy(at, from, (size_t)(200 + (*address == 0)));
    else
        read_all(at, from, 200, NULL);
    _exit(to[0] == 0 ? 98 : 99);
}

/* By the walk with unwind tables. */
static bool has_frame(lg_reader *reader, const void *function, size_t size)
{
    const uint64_t begin = (uint64_t)(uintptr_t)function;
    uint64_t pc;
    for (uint32_t i = 0; lg_reader_frame(reader, LG_STAGE_DWARF, i, &pc) == LG_OK; i++)
        if (pc > begin && pc < begin + size)
            return true;
    return false;
}

static void test_dies(void **state)
{
    (void)state;
    for (enum way way = NOT_STARTED; way < WAYS; way++) {
        state_make();
        expect_signal(body_dies, (void *)(intptr_t)way, SIGSEGV);
        lg_reader *reader = newest_run();
        lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
        assert_int_equal(crash.signal, SIGSEGV);
        assert_int_equal(crash.sequence, 1);
        assert_int_equal(crash.address, way == SPENT ? 0 : *address);
        assert_int_equal(crash.kind, way == SPENT                   ? LG_CRASH_NULL_READ
                                     : way == DESTINATION_READ_ONLY ? LG_CRASH_READONLY_WRITE
                                     : way == DESTINATION_NO_ADDRESS && lg__arch == LG__ARCH_X86_64 ? LG_CRASH_NON_CANONICAL
                                                                     : LG_CRASH_UNMAPPED);
        /* the copy has no gap in its stack */
        assert_true(has_frame(reader, (const void *)(uintptr_t)body_dies, 2000));
        if (way != MEMCPY) {
            assert_true(has_frame(reader, (const void *)(uintptr_t)lg_guard_read, 100));
            assert_true(has_frame(reader, way == SPENT ? (const void *)(uintptr_t)read_nothing : (const void *)(uintptr_t)read_all, 100));
        }
        assert_int_equal(log_says(reader, "a guarded read met"), way == STOPPED || way == SPENT || way == REPORTED || way == FATAL);
        lg_reader_close(reader);
        state_remove();
    }
    state_make();
}

/* ---- a forked child: the guard is off there, and on in the parent ---- */

static void body_forks(void *argument)
{
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    uint8_t *base = make_gap(UNMAPPED), to[200];
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        if (read_all(to, base, sizeof to, NULL) != LG_OK)
            _exit(97);
        read_all(to, base + 2 * PAGE, sizeof to, NULL);
        _exit(98);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        _exit(90);
    _exit(read_all(to, base + 2 * PAGE, sizeof to, NULL) == LG_ERR_SYSTEM ? 0 : 91);
}

static void test_forks(void **state)
{
    (void)state;
    expect_exit(body_forks, NULL, 0);
}

/* ---- many threads, and one that crashes meanwhile ---- */

#define THREADS 4
#define READS 3000

static uint8_t *gap_base;
static atomic_int done, begun;
static bool ends_never;

static void *read_over_and_over(void *argument)
{
    uint8_t to[300];
    (void)argument;
    for (size_t i = 0; i < READS || ends_never; i++) {
        const size_t before = i % sizeof to;
        size_t copied;
        if (read_all(to, gap_base + 2 * PAGE - before, sizeof to, &copied) != LG_ERR_SYSTEM || copied != before)
            _exit(93);
        if (i == 20)
            atomic_fetch_add(&begun, 1);
    }
    atomic_fetch_add(&done, 1);
    return NULL;
}

static void body_threads(void *argument)
{
    ends_never = argument != NULL;
    start_guards(LG_GUARD_SURVIVE, 1000000);
    gap_base = make_gap(CUT);
    for (int i = 0; i < THREADS; i++)
        in_thread(read_over_and_over, NULL);
    wait_until(atomic_load(&begun) == THREADS);
    if (ends_never)
        crash();
    wait_until(atomic_load(&done) == THREADS);
}

static void test_threads(void **state)
{
    (void)state;
    expect_exit(body_threads, NULL, 0);
}

/* The record of the one crash is whole, and no read of another thread is part of it. */
static void test_crash_meanwhile(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        state_make();
        expect_signal(body_threads, &round, SIGSEGV);
        lg_reader *reader = newest_run();
        lg_threads_info threads;
        lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
        assert_int_equal(crash.kind, LG_CRASH_NULL_WRITE);
        assert_int_equal(crash.also_crashed_count, 0);
        assert_int_equal(crash.recrash_count, 0);
        assert_int_equal(lg_reader_threads(reader, &threads), LG_OK);
        assert_int_equal(threads.captured, THREADS);
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        lg_reader_close(reader);
        state_remove();
    }
    state_make();
}

/* A signal handler of the program reads, in a program with a handler for SIGSEGV. */
static atomic_int in_handler;

static void read_in_handler(int signal)
{
    uint8_t to[16];
    (void)signal;
    if (read_all(to, gap_base + 2 * PAGE - 3, sizeof to, NULL) == LG_ERR_SYSTEM)
        atomic_fetch_add(&in_handler, 1);
}

static void body_handler(void *argument)
{
    (void)argument;
    signal(SIGSEGV, hang);
    start_guards(LG_GUARD_SURVIVE, 0);
    gap_base = make_gap(PROTECTED);
    signal(SIGUSR1, read_in_handler);
    raise(SIGUSR1);
    _exit(atomic_load(&in_handler) == 1 ? 0 : 90);
}

static void test_handler(void **state)
{
    (void)state;
    expect_exit(body_handler, NULL, 0);
}

/* ---- of a registered mapping: the caller gets an error, and reads no zeros ---- */

static void body_registered(void *argument)
{
    (void)argument;
    uint8_t *base = make_gap(CUT), to[200];
    size_t copied;
    lg_session *session = start_guards(LG_GUARD_SURVIVE, 0);
    if (lg_guard_map(session, base, 3 * PAGE, PROT_READ | PROT_WRITE) != LG_OK)
        _exit(90);
    if (read_all(to, base + 2 * PAGE - 50, sizeof to, &copied) != LG_ERR_SYSTEM || copied != 50 || lg_guard_map_lost(base) != 0)
        _exit(91);
    /* as a destination it is what any store finds */
    if (read_all(base + 2 * PAGE, base, sizeof to, &copied) != LG_OK || memcmp(base + 2 * PAGE, base, sizeof to) != 0 || lg_guard_map_lost(base) != 1)
        _exit(92);
}

static void test_registered(void **state)
{
    (void)state;
    expect_exit(body_registered, NULL, 0);
}

/* ---- a session without handlers: a copy like any other ---- */

static void body_plain(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session = NULL;
    uint8_t *base, to[200];
    size_t copied = 0;
    options.app_id = "org.example.test";
    options.state_directory = argument ? "/proc/none" : state_path("state");
    options.capture = argument ? 0 : LG_CAPTURE_NONE;
    lg_start(&options, &session);
    if (lg_guard_start(session, NULL) != LG_ERR_UNPROTECTED || lg_guard_is_working(LG_GUARD_MEMORY))
        _exit(90);
    base = make_gap(UNMAPPED);
    if (read_all(to, base, sizeof to, &copied) != LG_OK || copied != sizeof to || memcmp(to, base, sizeof to) != 0)
        _exit(91);
    read_all(to, base + 2 * PAGE, sizeof to, NULL);
}

static void test_plain(void **state)
{
    (void)state;
    for (intptr_t way = 0; way < 2; way++)
        expect_signal(body_plain, (void *)way, SIGSEGV);
}

/* ---- limits ---- */

/* The kernel ends a thread that blocks the signal of its own fault. LaunchGuard does not see how
 * this one does that. */
static void body_blocked(void *argument)
{
    static const uint64_t set = UINT64_C(1) << (SIGSEGV - 1);
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    uint8_t *base = make_gap(UNMAPPED), to[8];
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, sizeof set);
    read_all(to, base + 2 * PAGE, sizeof to, NULL);
}

static void test_blocked(void **state)
{
    (void)state;
    expect_signal(body_blocked, NULL, SIGSEGV);
    assert_false(said("a guarded read met"));
}

static void body_blocks_by_libc(void *argument)
{
    sigset_t set;
    (void)argument;
    start_guards(LG_GUARD_SURVIVE, 0);
    uint8_t *base = make_gap(UNMAPPED), to[8];
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    read_all(to, base + 2 * PAGE, sizeof to, NULL);
}

static void test_blocks_by_libc(void **state)
{
    (void)state;
    expect_exit(body_blocks_by_libc, NULL, 0);
    assert_true(said("a guarded read met"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_lives), WITH_STATE(test_sites), WITH_STATE(test_dies), WITH_STATE(test_forks), WITH_STATE(test_threads), WITH_STATE(test_crash_meanwhile),
        WITH_STATE(test_handler), WITH_STATE(test_registered), WITH_STATE(test_plain), WITH_STATE(test_blocked),
        WITH_STATE(test_blocks_by_libc),
    };
    address = shared_memory(sizeof *address);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
