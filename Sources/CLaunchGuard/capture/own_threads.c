/* Threads of LaunchGuard's own: libc's threads that wait for something, and the watch thread. They
 * are none of the program's: a process whose other threads have all ended ends.
 *
 * libc counts all threads that it made, and the kernel those that libc does not know as well. So
 * these threads look, from the end of the first thread on, whether only threads of their kind are
 * left, and end as well then. The first thread's end is a word in memory that the kernel clears. No
 * thread waits for that word: the kernel wakes one waiter only, which may be a pthread_join() of
 * the program. */
#include "capture/internal.h"
#include "capture/watch_thread.h"
#include "os/fault_point.h"

#include <pthread.h>

/* those that a launch and a memory watch may have at once, and more */
#define THREADS_MAX 40
/* threads that wait, or copy standard error: they go on while a crash is recorded */
static _Atomic int32_t waiting[THREADS_MAX];

/* The thread is ours; and it waits now. Between its waits it may run code of the program: a crash
 * there is one of the program, on that thread. */
static __thread bool is_own __attribute__((tls_model("initial-exec"))), is_exempt __attribute__((tls_model("initial-exec"))),
    is_alone __attribute__((tls_model("initial-exec")));

/* A wait looks this often whether the first thread has ended. */
#define LOOK_NS UINT64_C(100000000)

static void exchange(int32_t from, int32_t to)
{
    for (int i = 0; i < THREADS_MAX; i++) {
        int32_t is = from;
        if (atomic_compare_exchange_strong(&waiting[i], &is, to))
            return;
    }
}

void lg__capture_own_begin(void)
{
    is_own = true;
}

bool lg__own_threads_is_own(void)
{
    return is_own;
}

void lg__capture_exempt(void)
{
    is_exempt = true;
    exchange(0, lg__os_tid());
}

void lg__capture_exempt_no_more(void)
{
    exchange(lg__os_tid(), 0);
    is_exempt = false;
}

bool lg__capture_is_exempt(void)
{
    /* by its number: a signal may come before the first instruction of the watch thread */
    return is_exempt || lg__watch_thread_is(lg__os_tid());
}

/* ThreadSanitizer's runtime has one, on which neither instrumented code nor memcpy() works. */
static _Atomic int32_t never_asked;

void lg__capture_never_ask(int32_t tid)
{
    atomic_store(&never_asked, tid);
}

bool lg__own_threads_exempt(int32_t tid)
{
    if (lg__watch_thread_is(tid) || atomic_load(&never_asked) == tid)
        return true;
    for (int i = 0; i < THREADS_MAX; i++)
        if (atomic_load(&waiting[i]) == tid)
            return true;
    return false;
}

struct look {
    bool (*ends_first)(int32_t tid); /* that thread, not this one, ends the process */
    bool found;
};

static bool look_at_thread(uint32_t number, void *argument)
{
    struct look *look = argument;
    const int32_t tid = (int32_t)number;
    look->found = tid != lg__os_tid() && tid != lg__os_pid() && look->ends_first(tid);
    return !look->found;
}

static bool is_last(bool (*ends_first)(int32_t tid))
{
    struct look look = { ends_first, false };
    if (!lg__os_first_thread_ended())
        return false;
    /* not by the descriptor of the handler, which may be reading it */
    int directory = lg__os_open("/proc/self/task");
    if (directory < 0)
        return false;
    long count = lg__os_list_numbers(directory, look_at_thread, &look);
    lg__os_close(directory);
    return count > 0 && !look.found;
}

static bool is_of_program(int32_t tid)
{
    return !lg__own_threads_exempt(tid);
}

bool lg__capture_alone(void)
{
    /* for good: no thread is left that could make one of the program's */
    if (!is_alone && is_own)
        is_alone = is_last(is_of_program);
    return is_alone;
}

void lg__capture_sleep(const uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    lg__capture_exempt();
    lg__os_futex_wait(word, seen, timeout_ns);
    lg__capture_exempt_no_more();
}

bool lg__capture_wait(const uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    const uint64_t begun = lg__os_clock_ns(CLOCK_MONOTONIC);
    uint64_t passed = 0;
    bool alone = false;
    lg__capture_exempt();
    while (!alone && passed < timeout_ns && __atomic_load_n(word, __ATOMIC_SEQ_CST) == seen) {
        lg__os_futex_wait(word, seen, timeout_ns - passed < LOOK_NS ? timeout_ns - passed : LOOK_NS);
        LG_FAULT_POINT("own thread: looks");
        alone = lg__capture_alone();
        passed = lg__os_clock_ns(CLOCK_MONOTONIC) - begun;
    }
    lg__capture_exempt_no_more();
    return !alone;
}

/* The parent learns how the last thread ended, which has to be one of the program's. */
static void end_as_first_thread(bool known_to_libc)
{
    int status = 0, signal;
    if (!lg__os_first_thread_status(&status))
        return;
    if ((signal = status & 0x7f)) {
        lg__os_signal_default(signal);
        lg__os_signal_block(signal, false);
        lg__os_signal_send(lg__os_pid(), lg__os_tid(), signal);
    }
    if (signal || !known_to_libc)
        lg__os_exit(signal ? 128 + signal : status >> 8);
}

/* A thread that libc knows ends the process by itself, and calls the exit handlers. */
static bool is_known_to_libc(int32_t tid)
{
    return atomic_load(&never_asked) != tid;
}

void lg__capture_end_if_alone(void)
{
    if (is_last(is_known_to_libc))
        end_as_first_thread(false);
}

void lg__capture_own_end(void)
{
    if (!lg__capture_alone())
        return;
    end_as_first_thread(true);
    /* libc calls the program's exit handlers on this thread */
    lg__os_signals_set(0);
}
