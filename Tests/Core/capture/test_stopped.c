/* An earlier handler that stops all threads of the process by a signal, as the Swift runtime's
 * does: it finds each thread of the program able to take the signal, and LaunchGuard's threads
 * never; the handler's deadline holds. */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
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
#define HANDLER_MS 3000 /* a handler that is to be ended has stopped the threads by then */

/* The Swift runtime stops a thread by the first of these that the thread does not block. */
static const int stopping[] = { SIGUSR1, SIGUSR2, SIGPROF };
#define STOPPING (sizeof stopping / sizeof stopping[0])

static struct results {
    _Atomic int stopped;
    _Atomic int blocking; /* threads that block all of the signals */
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

static uint64_t blocked_by(int tid)
{
    char path[64], line[128];
    uint64_t blocked = UINT64_MAX;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "SigBlk:\t%" SCNx64, &blocked);
    if (file)
        fclose(file);
    return blocked;
}

static bool blocks_all(uint64_t blocked)
{
    for (size_t i = 0; i < STOPPING; i++)
        if (!(blocked >> (stopping[i] - 1) & 1))
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
    for (size_t i = 0; i < STOPPING; i++)
        sigaction(stopping[i], &action, NULL);
    for (int i = 0; i < count; i++) {
        const uint64_t blocked = blocked_by(tids[i]);
        size_t n = 0;
        if (blocks_all(blocked)) {
            atomic_fetch_add(&results->blocking, 1);
            continue;
        }
        while (blocked >> (stopping[n] - 1) & 1)
            n++;
        syscall(SYS_tgkill, getpid(), tids[i], stopping[n]);
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
        assert_int_equal(results->stopped, IDLE);
        /* the watch thread, and the others */
        assert_true(results->blocking >= 1 + 2 * (int)threads);
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
        assert_int_equal(results->stopped, IDLE);
        check_record();
    }
}

int main(void)
{
    results = shared_memory(sizeof *results);
    const struct CMUnitTest tests[] = { WITH_STATE(test_all_threads_stop), WITH_STATE(test_the_deadline_holds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
