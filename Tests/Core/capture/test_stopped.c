/* An earlier handler that stops all threads of the process by a signal, as the Swift runtime's
 * does: LaunchGuard's own threads can be stopped as well, and only then; the handler's deadline
 * holds with all of them stopped. */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIST_MAX 64
#define IDLE 3
#define LONG_MS 60000
#define HANDLER_MS 3000 /* a handler that is to be ended has stopped all threads by then */

static const int offered[] = { SIGUSR1, SIGUSR2, SIGPROF };
#define OFFERED (sizeof offered / sizeof offered[0])

static struct results {
    _Atomic int stopped;
    _Atomic int own;     /* of those, the watch thread */
    _Atomic uint64_t watch_blocked_inside, watch_blocked_later;
} *results;

static void fault(void)
{
    static volatile uintptr_t address = 0x18;
    *(volatile int *)address = 1;
}

/* ---- threads, by the kernel's files ---- */

static int list_threads(int tids[LIST_MAX])
{
    int count = 0;
    DIR *directory = opendir("/proc/self/task");
    for (struct dirent *entry; directory && (entry = readdir(directory)) && count < LIST_MAX;)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != (int)syscall(SYS_gettid))
            tids[count++] = atoi(entry->d_name);
    if (directory)
        closedir(directory);
    return count;
}

static uint64_t blocked_by(int tid, bool *ret_watch)
{
    char path[64], line[128], name[32] = "";
    uint64_t blocked = UINT64_MAX;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "Name:\t%31s", name);
        sscanf(line, "SigBlk:\t%" SCNx64, &blocked);
    }
    if (file)
        fclose(file);
    *ret_watch = strcmp(name, "launchguard") == 0;
    return blocked;
}

static uint64_t watch_blocked(void)
{
    int tids[LIST_MAX], count = list_threads(tids);
    for (int i = 0; i < count; i++) {
        bool is_watch;
        uint64_t blocked = blocked_by(tids[i], &is_watch);
        if (is_watch)
            return blocked;
    }
    return 0;
}

static bool blocks_all(uint64_t blocked)
{
    for (size_t i = 0; i < OFFERED; i++)
        if (!(blocked >> (offered[i] - 1) & 1))
            return false;
    return true;
}

/* ---- the earlier handler ---- */

static _Atomic uint32_t lock = 1; /* futex: the threads stand still */

static void stand(int number)
{
    int error = errno;
    (void)number;
    atomic_fetch_add(&results->stopped, 1);
    while (atomic_load(&lock))
        syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    errno = error;
}

static void stop_threads(void)
{
    int tids[LIST_MAX], count = list_threads(tids), asked = 0;
    struct sigaction action = { .sa_handler = stand };
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < OFFERED; i++)
        sigaction(offered[i], &action, NULL);
    for (int i = 0; i < count; i++) {
        bool is_watch;
        uint64_t blocked = blocked_by(tids[i], &is_watch);
        size_t n = 0;
#ifdef EMULATED
        if (blocks_all(blocked)) /* the emulator's own thread */
            continue;
#else
        /* a thread of LaunchGuard's takes no signal while it is at work */
        wait_until(!blocks_all(blocked = blocked_by(tids[i], &is_watch)));
#endif
        while (blocked >> (offered[n] - 1) & 1)
            n++;
        atomic_fetch_add(&results->own, is_watch);
        syscall(SYS_tgkill, getpid(), tids[i], offered[n]);
        asked++;
    }
    wait_until(atomic_load(&results->stopped) == asked);
}

static void stop_and_die(int number)
{
    stop_threads();
    signal(number, SIG_DFL);
}

static void stop_and_hang(int number)
{
    (void)number;
    stop_threads();
    for (;;)
        pause();
}

static sigjmp_buf outside;
static bool is_offered; /* the program has no use for one of the signals */

static void look_and_leave(int number)
{
    (void)number;
    if (is_offered)
        wait_until(!blocks_all(watch_blocked())); /* the watch thread sleeps */
    else
        pass_time(100, "a watch thread that took a signal of the program would do so in its sleep");
    atomic_store(&results->watch_blocked_inside, watch_blocked());
    siglongjmp(outside, 1);
}

/* ---- programs ---- */

static void *idle(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static void on_log(lg_level level, const char *category, const char *text, void *user)
{
    (void)level, (void)category, (void)text, (void)user;
}

/* With the threads that the core may have while a program runs: watch, teller, memory, window. */
static lg_session *start(void (*handler)(int), uint32_t handler_ms, bool threads)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    plain_signals();
    sigaction(SIGSEGV, &action, NULL);
    lg_options options = LG_OPTIONS_INIT;
    options.handler_ms = handler_ms;
    if (threads)
        options.on_log = on_log;
    lg_session *session = start_with(options);
    if (threads) {
        lg_memory_watch(session, 100, NULL, NULL);
        lg_heartbeat(session);
    }
    for (int i = 0; i < IDLE; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, idle, NULL);
    }
    wait_until(others_sleep());
    return session;
}

static void body_stopped(void *argument)
{
    start(stop_and_die, LONG_MS, argument != NULL);
    fault();
}

static void body_hangs(void *argument)
{
    start(stop_and_hang, HANDLER_MS, argument != NULL);
    fault();
}

static void block_all(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < OFFERED; i++)
        sigaddset(&set, offered[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

enum { UNUSED, HANDLED, AWAITED };

static void body_left(void *argument)
{
    int how = *(const int *)argument;
    is_offered = how == UNUSED;
    lg_session *session = start(look_and_leave, LONG_MS, true);
    for (size_t i = 0; how == HANDLED && i < OFFERED; i++)
        signal(offered[i], stand);
    if (how == AWAITED)
        block_all();
    if (sigsetjmp(outside, 1) == 0)
        fault();
    for (;;) {
        const uint64_t blocked = watch_blocked();
        atomic_store(&results->watch_blocked_later, blocked);
        if (blocks_all(blocked))
            break;
        lg_heartbeat(session);
        rest(10);
    }
}

/* ---- tests ---- */

static void check_record(void)
{
    lg_reader *reader = newest_run();
    lg_crash_info crash = crash_of(reader, LG_STAGE_DONE);
    assert_int_equal(crash.signal, SIGSEGV);
    assert_int_equal(crash.address, 0x18);
    lg_reader_close(reader);
}

static void test_all_threads_stop(void **state)
{
    (void)state;
    for (uintptr_t threads = 0; threads < 2; threads++) {
        state_make();
        memset(results, 0, sizeof *results);
        expect_signal(body_stopped, (void *)threads, SIGSEGV);
        assert_int_equal(results->own, 1);
        assert_true(results->stopped >= IDLE + 1 + 2 * (int)threads);
        check_record();
    }
}

static void test_the_deadline_holds(void **state)
{
    (void)state;
    for (uintptr_t threads = 0; threads < 2; threads++) {
        state_make();
        memset(results, 0, sizeof *results);
        expect_signal(body_hangs, (void *)threads, SIGSEGV);
        assert_int_equal(results->own, 1);
        check_record();
    }
}

static void test_no_signal_of_the_program(void **state)
{
    (void)state;
    for (int how = UNUSED; how <= AWAITED; how++) {
        state_make();
        memset(results, 0, sizeof *results);
        expect_exit(body_left, &how, 0);
        /* one signal, where the program has no use for it; and none later */
        assert_int_equal(!blocks_all(results->watch_blocked_inside), how == UNUSED);
        assert_true(blocks_all(results->watch_blocked_later));
    }
}

int main(void)
{
    results = shared_memory(sizeof *results);
    const struct CMUnitTest tests[] = { WITH_STATE(test_all_threads_stop), WITH_STATE(test_the_deadline_holds),
                                        WITH_STATE(test_no_signal_of_the_program) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
