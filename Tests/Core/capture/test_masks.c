/* Threads that block the signals of faults, or that libc made by itself: their crashes leave a
 * record, and masks, waiting signals and deaths are those that the program sees without
 * LaunchGuard. */
#include "harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "waiting.h"

/* sighold() and its relatives are what is tested. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define REQUIRE(condition) \
    do { \
        if (!(condition)) \
            _exit(__LINE__ % 90 + 100); \
    } while (0)

static volatile int zero;

static __attribute__((noinline)) void fault(void)
{
    *(volatile int *)(uintptr_t)(zero + 0x18) = 1;
}

static int overflow(int depth)
{
    volatile char space[256];
    space[0] = (char)depth;
    return zero ? 0 : overflow(depth + 1) + space[0];
}

static sigset_t all(void)
{
    sigset_t set;
    sigfillset(&set);
    return set;
}

static sigset_t one(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

static bool is_blocked(int number)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, number);
}

/* ---- the mask that the program sees ---- */

/* Bits that the kernel never blocks, or that libc keeps for itself. */
#define NEVER (UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1) | UINT64_C(3) << 31)

static uint64_t bits(const sigset_t *set)
{
    uint64_t word;
    memcpy(&word, set, sizeof word);
    return word & ~NEVER;
}

static sigset_t set_of(uint64_t word)
{
    sigset_t set;
    sigemptyset(&set);
    memcpy(&set, &word, sizeof word);
    return set;
}

/* Masks of all kinds: any, all, all but a few, the faults and a few. */
static uint64_t draw(unsigned short *seed)
{
    uint64_t any = 0, faults = 0;
    const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGSTKFLT };
    for (int i = 0; i < 4; i++)
        any = any << 16 | (uint64_t)(nrand48(seed) & 0xffff);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        faults |= UINT64_C(1) << (numbers[i] - 1);
    switch (nrand48(seed) % 5) {
    case 0: return UINT64_MAX;
    case 1: return UINT64_MAX & ~(any & faults);
    case 2: return any & faults;
    case 3: return any & ~faults;
    default: return any;
    }
}

static void body_reads(void *argument)
{
    unsigned short seed[3] = { 1, 2, (unsigned short)(uintptr_t)argument };
    uint64_t expected = 0;
    sigset_t before;
    start_session();
    before = set_of(0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int i = 0; i < 2000; i++) {
        const uint64_t word = draw(seed);
        const sigset_t set = set_of(word);
        const int how = (int[]){ SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK }[nrand48(seed) % 3];
        REQUIRE((nrand48(seed) % 2 ? pthread_sigmask : sigprocmask)(how, &set, &before) == 0);
        /* SIGSTKFLT alone: it is never sent, and its bit is LaunchGuard's */
        const uint64_t stkflt = UINT64_C(1) << (SIGSTKFLT - 1);
        REQUIRE(((bits(&before) ^ expected) & ~stkflt) == 0);
        expected = how == SIG_BLOCK ? expected | word : how == SIG_UNBLOCK ? expected & ~word : word;
        expected &= ~NEVER;
    }
    _exit(0);
}

static void test_reads_its_mask(void **state)
{
    (void)state;
    for (uintptr_t seed = 1; seed <= 5; seed++)
        expect_exit(body_reads, (void *)seed, 0);
}

static void *read_inherited(void *argument)
{
    const sigset_t *expected = argument;
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    REQUIRE(bits(&now) == bits(expected));
    return NULL;
}

static void on_usr1(int number)
{
    (void)number;
    REQUIRE(is_blocked(SIGSEGV) && is_blocked(SIGSYS));
}

static void body_places(void *argument)
{
    (void)argument;
    sigset_t expected = one(SIGBUS), before;
    struct sigaction action = { .sa_handler = on_usr1, .sa_mask = all() }, read_back;
    pthread_t thread;
    sigjmp_buf place;
    start_session();
    /* a thread inherits it */
    pthread_sigmask(SIG_SETMASK, &expected, NULL);
    pthread_create(&thread, NULL, read_inherited, &expected);
    pthread_join(thread, NULL);
    /* a fork too */
    if (fork() == 0) {
        read_inherited(&expected);
        _exit(0);
    }
    int status;
    wait(&status);
    REQUIRE(status == 0);
    /* a handler has it, and gives it back */
    pthread_sigmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    REQUIRE(!is_blocked(SIGSEGV) && !is_blocked(SIGBUS));
    REQUIRE(sigaction(SIGUSR1, NULL, &read_back) == 0 && bits(&read_back.sa_mask) == bits(&action.sa_mask));
    /* a jump restores it */
    if (sigsetjmp(place, 1) == 0) {
        expected = all();
        pthread_sigmask(SIG_BLOCK, &expected, NULL);
        REQUIRE(is_blocked(SIGSEGV));
        siglongjmp(place, 1);
    }
    REQUIRE(!is_blocked(SIGSEGV) && !is_blocked(SIGBUS));
    /* the older functions */
    REQUIRE(sighold(SIGFPE) == 0 && is_blocked(SIGFPE) && !is_blocked(SIGSEGV));
    REQUIRE(siggetmask() == 1 << (SIGFPE - 1) && sigblock(1 << (SIGSEGV - 1)) == 1 << (SIGFPE - 1));
    REQUIRE(sigsetmask(0) == (1 << (SIGFPE - 1) | 1 << (SIGSEGV - 1)) && !is_blocked(SIGSEGV));
    REQUIRE(sighold(SIGILL) == 0 && sigrelse(SIGILL) == 0 && !is_blocked(SIGILL));
    REQUIRE(sighold(0) == -1 && errno == EINVAL);
    REQUIRE(pthread_sigmask(77, &expected, &before) == EINVAL && sigprocmask(77, &expected, &before) == -1 && errno == EINVAL);
    _exit(0);
}

static void test_places(void **state)
{
    (void)state;
    expect_exit(body_places, NULL, 0);
}

/* ---- signals that are sent while they are blocked ---- */

static void send_from_child(int number)
{
    const pid_t to = getpid();
    if (fork() == 0)
        _exit(kill(to, number));
    int status;
    wait(&status);
    REQUIRE(status == 0);
}

static void *sleep_for_ever(void *argument)
{
    for (;;)
        pause();
    return argument;
}

enum { ONE_THREAD, MANY_THREADS, ALL_BLOCKED = 2, OF_ABORT = 4 };

static void body_waits(void *argument)
{
    const uintptr_t how = (uintptr_t)argument;
    const int number = how & OF_ABORT ? SIGABRT : SIGBUS;
    sigset_t blocked = how & ALL_BLOCKED ? all() : one(number);
    const sigset_t set = one(number);
    siginfo_t info;
    start_session();
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    for (int i = 0; how & MANY_THREADS && i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, sleep_for_ever, NULL);
    }
    const int descriptor = signalfd(-1, &set, 0);
    send_from_child(number);
    struct signalfd_siginfo read_info;
    REQUIRE(read(descriptor, &read_info, sizeof read_info) == sizeof read_info && read_info.ssi_signo == (uint32_t)number && (pid_t)read_info.ssi_pid != getpid());
    send_from_child(number);
    REQUIRE(sigwaitinfo(&set, &info) == number && info.si_pid != getpid() && info.si_pid > 0);
    raise(number);
    sigset_t pending;
    REQUIRE(sigpending(&pending) == 0 && sigismember(&pending, number) && is_blocked(number));
    REQUIRE(sigwaitinfo(&set, &info) == number && info.si_pid == getpid());
    _exit(0);
}

static void test_sent_ones_wait(void **state)
{
    (void)state;
    for (uintptr_t how = 0; how < 8; how++)
        expect_exit(body_waits, (void *)how, 0);
}

static void body_comes_later(void *argument)
{
    (void)argument;
    const sigset_t set = one(SIGSEGV);
    start_session();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGSEGV);
    REQUIRE(is_blocked(SIGSEGV));
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    _exit(0);
}

static void test_comes_when_it_is_unblocked(void **state)
{
    (void)state;
    expect_signal(body_comes_later, NULL, SIGSEGV);
    assert_int_equal(newest_crash(LG_STAGE_DONE).signal, SIGSEGV);
}

static _Atomic pid_t by;

static void *blocks_segv(void *argument)
{
    const sigset_t set = one(SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    atomic_store(&by, (pid_t)syscall(SYS_gettid));
    return sleep_for_ever(argument);
}

static bool is_blocked_by_kernel(pid_t tid, int number)
{
    char path[64], line[128];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    FILE *file = fopen(path, "re");
    REQUIRE(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "SigBlk: %llx", &mask) != 1) {}
    fclose(file);
    return mask >> (number - 1) & 1;
}

/* The kernel gives the signal to a thread that blocks it as the program sees it, and then to the
 * first one. */
static void body_passes_by(void *argument)
{
    const sigset_t set = one(SIGSEGV);
    pthread_t thread;
    (void)argument;
    start_session();
    pthread_create(&thread, NULL, blocks_segv, NULL);
    while (!atomic_load(&by))
        rest(1);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 8);
    kill(getpid(), SIGSEGV);
    while (!is_blocked_by_kernel(atomic_load(&by), SIGSEGV))
        rest(1);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
    sleep_for_ever(NULL); /* the other thread blocks the signal before it sends it again */
}

static void test_has_its_sender_after_it_waited(void **state)
{
    (void)state;
    expect_signal(body_passes_by, NULL, SIGSEGV);
    const lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.kind, LG_CRASH_SIGNAL_SELF);
    assert_int_equal(crash.code, SI_USER);
}

/* ---- faults ---- */

static void never(int number)
{
    (void)number;
    _exit(90);
}

static void body_no_handler(void *argument)
{
    const sigset_t set = all();
    lg_options options = LG_OPTIONS_INIT;
    options.keep_first = argument != NULL;
    signal(SIGSEGV, never);
    start_with(options);
    if (argument)
        signal(SIGSEGV, never);
    sigprocmask(SIG_SETMASK, &set, NULL);
    fault();
}

static void test_no_handler_is_asked(void **state)
{
    (void)state;
    for (uintptr_t keep_first = 0; keep_first < 2; keep_first++) {
        state_make();
        expect_signal(body_no_handler, (void *)keep_first, SIGSEGV);
        assert_int_equal(newest_crash(LG_STAGE_DONE).address, 0x18);
    }
}

/* ---- abort(), which not every libc lets through a mask ---- */

enum { WITH_SESSION = 1, WITH_HANDLER = 2, BLOCKS_ALL = 4, BY_LIBC = 8, AFTER_RAISE = 16, WAYS_TO_ABORT = 32 };

static void *abort_there(void *argument)
{
    const uintptr_t how = (uintptr_t)argument;
    const sigset_t set = how & BLOCKS_ALL ? all() : one(SIGABRT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (how & AFTER_RAISE)
        raise(SIGABRT); /* which waits */
    if (how & BY_LIBC)
        free((void *)((uintptr_t)malloc(64) + 8u + (unsigned)zero));
    abort();
}

static void body_aborts(void *argument)
{
    pthread_t thread;
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    if ((uintptr_t)argument & WITH_HANDLER)
        signal(SIGABRT, never);
    if ((uintptr_t)argument & WITH_SESSION)
        start_session();
    pthread_create(&thread, NULL, abort_there, argument);
    pthread_join(thread, NULL);
}

/* The program ends as without LaunchGuard, and leaves a record. */
static void test_abort_leaves_a_record(void **state)
{
    (void)state;
    for (uintptr_t how = WITH_SESSION; how < WAYS_TO_ABORT; how += 2) {
        const struct death without = run_child(body_aborts, (void *)(how & ~(uintptr_t)WITH_SESSION));
        state_make();
        const struct death with = run_child(body_aborts, (void *)how);
        assert_false(without.late || with.late);
        assert_int_equal(with.status, without.status);
        /* While a raise() waits the kernel has to block the signal. */
        if (!WIFSIGNALED(with.status) || how & AFTER_RAISE)
            continue;
        assert_int_equal(WTERMSIG(with.status), SIGABRT);
        const lg_crash_info crash = newest_crash(LG_STAGE_DONE);
        assert_int_equal(crash.signal, SIGABRT);
        assert_int_equal(crash.kind, how & BY_LIBC ? LG_CRASH_ABORT_HEAP : LG_CRASH_ABORT);
    }
}

static sigjmp_buf after_fault;
static bool is_allowed = true;

static void recover(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    REQUIRE(is_allowed);
    siglongjmp(after_fault, 1);
}

/* A handler that was seen to recover gets its faults before any record. */
static void body_after_many(void *argument)
{
    (void)argument;
    static volatile int faults;
    const sigset_t set = all();
    const struct sigaction action = { .sa_sigaction = recover, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    lg_options options = LG_OPTIONS_INIT;
    options.keep_first = 1;
    start_with(options);
    sigaction(SIGSEGV, &action, NULL);
    sigsetjmp(after_fault, 1);
    if (faults++ < 1000)
        fault();
    is_allowed = false;
    sigprocmask(SIG_SETMASK, &set, NULL);
    fault();
}

static void test_handler_that_recovers(void **state)
{
    (void)state;
    expect_signal(body_after_many, NULL, SIGSEGV);
    assert_int_equal(newest_crash(LG_STAGE_DONE).address, 0x18);
}

static void note_and_end(int number)
{
    (void)number;
    _exit(0);
}

/* As the worker threads of libdispatch do, here by the kernel alone: all but the faults. */
static void body_all_but_faults(void *argument)
{
    (void)argument;
    const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
    sigset_t set = all();
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigdelset(&set, numbers[i]);
    signal(SIGSEGV, note_and_end);
    start_session();
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &set, NULL, 8);
    fault();
}

static void test_all_but_faults(void **state)
{
    (void)state;
    expect_exit(body_all_but_faults, NULL, 0);
}

static void fault_in_handler(int number)
{
    (void)number;
    fault();
}

static void body_in_handler(void *argument)
{
    (void)argument;
    const struct sigaction action = { .sa_handler = fault_in_handler, .sa_mask = all() };
    start_session();
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void test_handler_that_blocks_all(void **state)
{
    (void)state;
    expect_signal(body_in_handler, NULL, SIGSEGV);
    assert_int_equal(newest_crash(LG_STAGE_DONE).address, 0x18);
}

/* ---- threads that libc makes ---- */

static void fault_at_notification(union sigval value)
{
    if (value.sival_ptr == (void *)1)
        zero = overflow(0);
    fault();
}

static void begin_timer(const struct sigevent *event)
{
    const struct itimerspec soon = { .it_value = { 0, 1000 } };
    timer_t timer;
    REQUIRE(timer_create(CLOCK_MONOTONIC, (struct sigevent *)event, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
}

static void begin_message(const struct sigevent *event)
{
    struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 1 };
    char name[32];
    snprintf(name, sizeof name, "/masks-%d", (int)getpid());
    const mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    REQUIRE(queue >= 0 && mq_unlink(name) == 0);
    REQUIRE(mq_notify(queue, event) == 0 && mq_send(queue, "x", 1, 0) == 0);
}

static int overflow_on_thrd(void *argument)
{
    (void)argument;
    return overflow(0);
}

/* As a program does that looks the function up in libc. */
static void *log_and_overflow(void *session)
{
    lg_log(session, LG_LEVEL_INFO, "the first call of this thread");
    zero = overflow(0);
    return NULL;
}

enum { TIMER, TIMER_OVERFLOW, MESSAGE, THRD, LIBC_THREAD, KINDS };

static void body_of_libc(void *argument)
{
    const uintptr_t kind = (uintptr_t)argument;
    const struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = fault_at_notification,
                                    .sigev_value.sival_ptr = (void *)(uintptr_t)(kind == TIMER_OVERFLOW) };
    lg_session *session = start_session();
    thrd_t thrd;
    pthread_t thread;
    if (kind == TIMER || kind == TIMER_OVERFLOW)
        begin_timer(&event);
    else if (kind == MESSAGE)
        begin_message(&event);
    else if (kind == THRD)
        thrd_create(&thrd, overflow_on_thrd, NULL);
    else {
        int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(dlopen("libc.so.6", RTLD_LAZY), "pthread_create");
        REQUIRE(create && create != pthread_create && create(&thread, NULL, log_and_overflow, session) == 0);
    }
    sleep_for_ever(NULL);
}

static void test_threads_of_libc(void **state)
{
    (void)state;
    for (uintptr_t kind = 0; kind < KINDS; kind++) {
        state_make();
        expect_signal(body_of_libc, (void *)kind, SIGSEGV);
        const bool overflows = kind != TIMER && kind != MESSAGE;
        assert_int_equal(newest_crash(LG_STAGE_DONE).kind, overflows ? LG_CRASH_STACK_OVERFLOW : LG_CRASH_NULL_OFFSET);
    }
}

static _Atomic int notified;

static void count_notification(union sigval value)
{
    atomic_fetch_add(&notified, value.sival_int);
}

/* More values than LaunchGuard keeps: each function gets its value. */
static void body_many(void *argument)
{
    (void)argument;
    int sum = 0;
    start_session();
    for (int i = 1; i <= 300; i++) {
        const struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = count_notification, .sigev_value.sival_int = i };
        begin_timer(&event);
        sum += i;
    }
    while (atomic_load(&notified) != sum)
        sched_yield();
    _exit(0);
}

static int give_back(void *argument)
{
    return *(int *)argument;
}

static void body_results(void *argument)
{
    (void)argument;
    int given = -77, result = 0;
    thrd_t thread;
    start_session();
    REQUIRE(thrd_create(&thread, give_back, &given) == thrd_success && thrd_join(thread, &result) == thrd_success && result == given);
    _exit(0);
}

static void test_they_work(void **state)
{
    (void)state;
    expect_exit(body_many, NULL, 0);
    expect_exit(body_results, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_reads_its_mask),
        WITH_STATE(test_places),
        WITH_STATE(test_sent_ones_wait),
        WITH_STATE(test_comes_when_it_is_unblocked),
        WITH_STATE(test_has_its_sender_after_it_waited),
        WITH_STATE(test_no_handler_is_asked),
        WITH_STATE(test_abort_leaves_a_record),
        WITH_STATE(test_all_but_faults),
        WITH_STATE(test_handler_that_recovers),
        WITH_STATE(test_handler_that_blocks_all),
        WITH_STATE(test_threads_of_libc),
        WITH_STATE(test_they_work),
    };
    return cmocka_run_group_tests_name("masks", tests, NULL, NULL);
}
