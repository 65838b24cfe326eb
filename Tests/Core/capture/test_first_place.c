/* lg_options.keep_first: handlers that the program installs after the start come after the record,
 * and the program sees its own actions. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* sigset() and its relatives are what is tested. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static lg_session *start_first(void)
{
    lg_options options = LG_OPTIONS_INIT;
    options.keep_first = 1;
    return start_with(options);
}

#define REQUIRE(condition) \
    do { \
        if (!(condition)) \
            _exit(__LINE__ % 90 + 100); \
    } while (0)

/* ---- what the program sees ---- */

static volatile sig_atomic_t calls;

static void count(int number)
{
    (void)number;
    calls++;
}

static void count_info(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_signo == number)
        calls++;
}

static bool has(int number, void (*handler)(int), int flags)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == handler && (now.sa_flags & ~0x04000000) == flags;
}

static bool is_default(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL && !(now.sa_flags & SA_SIGINFO);
}

static void body_view(void *argument)
{
    static const int numbers[] = { SIGSEGV, SIGABRT, SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGUSR1 };
    (void)argument;
    start_first();
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const int number = numbers[i];
        struct sigaction to = { .sa_sigaction = count_info, .sa_flags = (int)(SA_SIGINFO | SA_NODEFER | SA_RESETHAND) }, before, now;
        sigset_t mask;
        REQUIRE(is_default(number));
        sigaddset(&to.sa_mask, SIGUSR2);
        REQUIRE(sigaction(number, &to, &before) == 0 && before.sa_handler == SIG_DFL);
        REQUIRE(sigaction(number, NULL, &now) == 0 && now.sa_sigaction == count_info && sigismember(&now.sa_mask, SIGUSR2) == 1);
        REQUIRE((now.sa_flags & ~0x04000000) == to.sa_flags);
        /* one structure for both */
        now.sa_handler = count;
        now.sa_flags = 0;
        struct sigaction *volatile same = &now;
        REQUIRE(sigaction(number, same, &now) == 0 && now.sa_sigaction == count_info);
        REQUIRE(signal(number, SIG_IGN) == count);
        REQUIRE(has(number, SIG_IGN, SA_RESTART));
        REQUIRE(sysv_signal(number, count) == SIG_IGN);
        REQUIRE(has(number, count, (int)(SA_RESETHAND | SA_NODEFER)));
        REQUIRE(signal(number, count) == count && siginterrupt(number, 1) == 0);
        REQUIRE(has(number, count, 0));
        REQUIRE(signal(number, count) == count);
        REQUIRE(has(number, count, 0));
        REQUIRE(siginterrupt(number, 0) == 0 && has(number, count, SA_RESTART));
        REQUIRE(sigset(number, SIG_HOLD) == count);
        REQUIRE(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, number) == 1);
        REQUIRE(sigset(number, count) == SIG_HOLD);
        REQUIRE(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, number) == 0);
        calls = 0;
        kill(getpid(), number);
        REQUIRE(calls == 1);
        REQUIRE(sigignore(number) == 0);
        kill(getpid(), number);
        REQUIRE(calls == 1);
        REQUIRE(signal(number, SIG_DFL) == SIG_IGN && has(number, SIG_DFL, SA_RESTART));
    }
    REQUIRE(signal(SIGSEGV, SIG_ERR) == SIG_ERR && errno == EINVAL);
    REQUIRE(signal(0, count) == SIG_ERR && sigaction(-1, NULL, NULL) == -1 && sigaction(1000, NULL, NULL) == -1);
    exit(0);
}

static void test_view(void **state)
{
    (void)state;
    expect_exit(body_view, NULL, 0);
}

/* Without the option a later handler is all there is. */
static void body_off(void *argument)
{
    (void)argument;
    start_session();
    REQUIRE(!is_default(SIGSEGV));
    signal(SIGSEGV, count);
    kill(getpid(), SIGSEGV);
    REQUIRE(calls == 1);
    raise(SIGKILL);
}

static void test_off(void **state)
{
    (void)state;
    uint32_t crashes;
    expect_signal(body_off, NULL, SIGKILL);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_crash_count(reader, &crashes), LG_OK);
    assert_int_equal(crashes, 0);
    lg_reader_close(reader);
}

/* A program's own choice for SIGTERM, taken back: the mark of a request to end is there again. */
static void body_terminate(void *argument)
{
    (void)argument;
    start_first();
    signal(SIGTERM, count);
    kill(getpid(), SIGTERM);
    REQUIRE(calls == 1);
    signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
}

static void test_terminate(void **state)
{
    (void)state;
    lg_verdict verdict;
    expect_signal(body_terminate, NULL, SIGTERM);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    assert_int_equal(verdict.end, LG_END_TERMINATED);
    lg_reader_close(reader);
}

/* lg_stop() leaves what the program has. */
static void body_stopped(void *argument)
{
    (void)argument;
    lg_session *session = start_first();
    signal(SIGSEGV, count);
    lg_stop(session);
    REQUIRE(has(SIGSEGV, count, SA_RESTART) && is_default(SIGABRT));
    kill(getpid(), SIGSEGV);
    REQUIRE(calls == 1);
    signal(SIGSEGV, SIG_DFL);
    REQUIRE(has(SIGSEGV, SIG_DFL, SA_RESTART));
    exit(0);
}

static void test_stopped(void **state)
{
    (void)state;
    expect_exit(body_stopped, NULL, 0);
}

/* A child has the actions of the program, and changes its own. */
static void body_child(void *argument)
{
    int status;
    (void)argument;
    start_first();
    signal(SIGBUS, count);
    pid_t child = fork();
    if (child == 0) {
        REQUIRE(is_default(SIGSEGV) && has(SIGBUS, count, SA_RESTART));
        kill(getpid(), SIGBUS);
        REQUIRE(calls == 1);
        signal(SIGSEGV, count);
        raise(SIGSEGV);
        REQUIRE(calls == 2);
        _exit(0);
    }
    waitpid(child, &status, 0);
    REQUIRE(status == 0 && is_default(SIGSEGV) && calls == 0);
    exit(0);
}

static void test_child(void **state)
{
    (void)state;
    expect_exit(body_child, NULL, 0);
}

/* ---- handlers that end the process ---- */

/* How a handler of the program ends it: by what backtracers, virtual machines and libraries do. */
enum way { RETURNS, ONE_SHOT, RAISES, RAISES_INSIDE, KILLS, RESTORES, CHAINS, ABORTS, EXITS, EXITS_AT_ONCE, WAYS };
static enum way way;
static struct sigaction saved;

static void dump(int number, siginfo_t *info, void *context)
{
    switch (way) {
    case ONE_SHOT: return;
    case RAISES: /* blocked: it comes on the return */
        signal(number, SIG_DFL);
        raise(number);
        return;
    case RAISES_INSIDE:
        signal(number, SIG_DFL);
        raise(number);
        _exit(98);
    case KILLS: /* another thread may take it */
        signal(number, SIG_DFL);
        kill(getpid(), number);
        return;
    case RESTORES:
        sigaction(number, &saved, NULL);
        raise(number);
        return;
    case CHAINS:
        if (saved.sa_flags & SA_SIGINFO)
            saved.sa_sigaction(number, info, context);
        else if (saved.sa_handler == SIG_DFL)
            signal(number, SIG_DFL);
        return;
    case ABORTS: abort();
    case EXITS: exit(7);
    case EXITS_AT_ONCE: _exit(7);
    default: signal(number, SIG_DFL);
    }
}

static __attribute__((noinline)) void fault(void)
{
    *(volatile int *)(uintptr_t)0x18 = 1;
}

static void *wait_long(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static char *page;
static bool mending;

static void mend_or_dump(int number, siginfo_t *info, void *context)
{
    if (info->si_addr == page)
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
    else
        dump(number, info, context);
}

static void body_ends(void *argument)
{
    pthread_t thread;
    way = (enum way)((intptr_t)argument % WAYS);
    mending = (intptr_t)argument >= WAYS;
    start_first();
    struct sigaction action = { .sa_sigaction = mend_or_dump, .sa_flags = SA_SIGINFO };
    if (way == ONE_SHOT)
        action.sa_flags |= (int)SA_RESETHAND;
    if (way == RAISES_INSIDE)
        action.sa_flags |= SA_NODEFER;
    sigaction(SIGSEGV, &action, &saved);
    pthread_create(&thread, NULL, wait_long, NULL);
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; mending && i < 100; i++) {
        mprotect(page, 4096, PROT_READ);
        *(volatile char *)page = 1;
        if (way == ONE_SHOT)
            sigaction(SIGSEGV, &action, NULL);
    }
    fault();
    _exit(99);
}

static void test_ends(void **state)
{
    (void)state;
    /* then with a handler that was seen to recover */
    for (intptr_t i = 0; i < 2 * WAYS; i++) {
        const enum way as = (enum way)(i % WAYS);
        lg_verdict verdict;
        state_make();
        if (as == EXITS || as == EXITS_AT_ONCE)
            expect_exit(body_ends, (void *)i, 7);
        else
            expect_signal(body_ends, (void *)i, as == ABORTS ? SIGABRT : SIGSEGV);
        lg_reader *reader = newest_run();
        lg_crash_info crash;
        assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
        if (crash.kind != LG_CRASH_NULL_OFFSET || crash.signal != SIGSEGV || crash.address != 0x18 || crash.handled)
            fail_msg("way %d: the record is of kind %u, signal %d, handled %u", (int)i, crash.kind, crash.signal, crash.handled);
        if (!(crash.stages >> LG_STAGE_DONE & 1))
            fail_msg("way %d: the record ends early: %#x", (int)i, crash.stages);
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
        assert_int_equal(verdict.end, LG_END_CRASH);
        lg_reader_close(reader);
    }
}

/* ---- handlers that recover ---- */

static sigjmp_buf back;

static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void reset_and_mend(int number, siginfo_t *info, void *context)
{
    (void)context;
    signal(number, SIG_DFL);
    mprotect(info->si_addr, 4096, PROT_READ | PROT_WRITE);
}

static void body_lives(void *argument)
{
    (void)argument;
    lg_session *session = start_first();
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    for (volatile int i = 0; i < 50; i++) {
        signal(SIGSEGV, jump);
        if (sigsetjmp(back, 1) == 0)
            fault();
    }
    /* one that goes away and mends: the place is free until a check of the handlers */
    struct sigaction action = { .sa_sigaction = reset_and_mend, .sa_flags = SA_SIGINFO };
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    *(volatile char *)page = 1;
    REQUIRE(has(SIGSEGV, SIG_DFL, SA_RESTART));
    REQUIRE(lg_launch_prepare(session, "main", &options, &launch) == LG_OK);
    lg_launch_begin(launch);
    lg_launch_finished(launch);
    pass_time(1500, "the crash whose signal could have come again settles after a second");
    fault();
}

static void test_lives(void **state)
{
    (void)state;
    expect_signal(body_lives, NULL, SIGSEGV);
    lg_crash_info crash = newest_crash(LG_STAGE_DONE);
    assert_int_equal(crash.sequence, 52);
    assert_int_equal(crash.kind, LG_CRASH_NULL_OFFSET);
    assert_int_equal(crash.handled, 0);
}

/* ---- a signal that comes while a handler runs ---- */

static int another;

/* In a line of /proc/thread-self/status. */
static bool waits(const char *line)
{
    char text[4096];
    const int file = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    REQUIRE(size > 0);
    text[size] = '\0';
    const char *found = strstr(text, line);
    REQUIRE(found);
    return strtoull(found + strlen(line), NULL, 16) >> (another - 1) & 1;
}

/* The kernel gives the signal to the watch thread, as this one blocks it. */
static void send_another(int number)
{
    (void)number;
    wait_until(count_threads() == 2);
    kill(getpid(), another);
    wait_until(!waits("ShdPnd:") && waits("SigPnd:"));
}

static void body_another(void *argument)
{
    another = *(const int *)argument;
    start_first();
    struct sigaction action = { .sa_handler = send_another };
    sigfillset(&action.sa_mask);
    sigaction(SIGABRT, &action, NULL);
    signal(another, count);
    kill(getpid(), SIGABRT);
    REQUIRE(calls == 1);
    exit(0);
}

static void test_another(void **state)
{
    (void)state;
    int numbers[] = { SIGBUS, SIGSYS };
    for (size_t i = 0; i < 2; i++)
        expect_exit(body_another, &numbers[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_view),  WITH_STATE(test_off),  WITH_STATE(test_terminate), WITH_STATE(test_stopped),
        WITH_STATE(test_child), WITH_STATE(test_ends), WITH_STATE(test_lives), WITH_STATE(test_another),
    };
    return cmocka_run_group_tests_name("first_place", tests, NULL, NULL);
}
