/* Section E: crashes in, before and beside handlers, and of many threads at once. */
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "catalogue.h"
#include "overflow.h"

static void null_write(void) { *(volatile int *)(uintptr_t)lgf_zero = 1; }
static void null_read(void) { lgf_zero = *(volatile int *)(uintptr_t)lgf_zero; }

/* ---- handlers of the program ---- */

static void faults(int signal)
{
    (void)signal;
    null_write();
}
LGF_WAY fault_in_handler(void)
{
    signal(SIGUSR1, faults);
    raise(SIGUSR1);
}
static void have_faulting_handler(void) { signal(SIGSEGV, faults); }

static void hangs(int signal)
{
    (void)signal;
    lgf_wait();
}
static void have_hanging_handler(void) { signal(SIGSEGV, hangs); }

static void overflows(int signal)
{
    (void)signal;
    lgf_zero = lgf_overflow(0);
}
static void have_overflowing_handler(void)
{
    /* the second fault is delivered, as with sanitizers */
    struct sigaction action = { .sa_flags = SA_NODEFER | SA_ONSTACK };
    action.sa_handler = overflows;
    sigaction(SIGSEGV, &action, NULL);
}

static atomic_bool in_handler;
static void takes_its_time(int number)
{
    if (atomic_exchange(&in_handler, true))
        lgf_wait(); /* the first one ends the process */
    lgf_sleep_ms(200);
    signal(number, SIG_DFL);
}
static void have_slow_handler(void) { signal(SIGSEGV, takes_its_time); }
static void *fault_second(void *argument)
{
    while (!atomic_load(&in_handler))
        lgf_sleep_ms(1);
    null_write();
    return argument;
}
static void make_thread(void *(*body)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL) != 0)
        lgf_skip("no thread can be made");
}
LGF_WAY fault_while_handler_runs(void)
{
    make_thread(fault_second);
    null_read();
}

static void exits(int signal)
{
    (void)signal;
    _exit(66);
}
LGF_WAY handler_replaced(void)
{
    signal(SIGSEGV, exits);
    null_write();
}
/* Old code "keeps" a handler like this: signal() knows one argument only, and forgets SA_SIGINFO
 * and SA_ONSTACK. */
LGF_WAY handler_without_siginfo(void)
{
    void (*handler)(int) = signal(SIGSEGV, SIG_DFL);
    signal(SIGSEGV, handler);
    null_write();
}
LGF_WAY segv_ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    null_write();
}
/* Only the shared library sees the masks of the program, and the threads of thrd_create(). */
#ifdef LGF_SEES_NO_MASKS
#define LGF_BLOCKED LGF_UNSEEN(SIGSEGV, 'Y')
#define LGF_THRD LGF_UNSEEN(SIGSEGV, 'Y')
#else
#define LGF_THRD LGF_CRASH(SIGSEGV, YES, LG_CRASH_STACK_OVERFLOW)
#define LGF_BLOCKED LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE)
#endif
LGF_WAY segv_blocked(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    null_write();
}
LGF_WAY all_blocked(void)
{
    sigset_t set;
    sigfillset(&set);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    null_write();
}
LGF_WAY handler_blocks_all(void)
{
    struct sigaction action = { .sa_handler = faults };
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

/* ---- threads that libc makes ---- */

static void fault_at_notification(union sigval value)
{
    (void)value;
    null_write();
}
static int recurse_on_thrd(void *argument)
{
    (void)argument;
    lgf_zero = lgf_overflow(0);
    return 0;
}
LGF_WAY thrd_overflow(void)
{
    thrd_t thread;
    if (thrd_create(&thread, recurse_on_thrd, NULL) != thrd_success)
        lgf_skip("no thread can be made");
    thrd_join(thread, NULL);
}
static pthread_key_t destroyed;
static void fault_in_destructor(void *value)
{
    (void)value;
    null_write();
}
static void *has_value(void *argument)
{
    pthread_setspecific(destroyed, argument);
    return NULL;
}
LGF_WAY thread_destructor(void)
{
    pthread_t thread;
    if (pthread_key_create(&destroyed, fault_in_destructor) != 0 || pthread_create(&thread, NULL, has_value, &destroyed) != 0)
        lgf_skip("no thread can be made");
    pthread_join(thread, NULL);
}
static void *is_cancelled(void *argument)
{
    pthread_cleanup_push(fault_in_destructor, argument);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}
LGF_WAY thread_cleanup(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, is_cancelled, NULL) != 0 || pthread_cancel(thread) != 0)
        lgf_skip("no thread can be made");
    pthread_join(thread, NULL);
}
LGF_WAY timer_thread(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = fault_at_notification };
    const struct itimerspec soon = { .it_value = { 0, 1000 } };
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &soon, NULL) != 0)
        lgf_skip("no timer can be made");
    for (;;)
        pause();
}

/* ---- many threads ---- */

static pthread_barrier_t barrier;
static void *fault_at_barrier(void *argument)
{
    pthread_barrier_wait(&barrier);
    null_write();
    return argument;
}
static void fault_together(unsigned count)
{
    pthread_barrier_init(&barrier, NULL, count);
    for (unsigned i = 0; i < count; i++)
        make_thread(fault_at_barrier);
    lgf_wait();
}
LGF_WAY two_threads(void) { fault_together(2); }
LGF_WAY ten_threads(void) { fault_together(10); }
LGF_WAY twenty_threads(void) { fault_together(20); }

static atomic_bool loader_held;
static int hold(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size, (void)data;
    atomic_store(&loader_held, true);
    lgf_wait();
}
static void *hold_loader(void *argument)
{
    dl_iterate_phdr(hold, argument);
    return NULL;
}
LGF_WAY loader_lock_held(void)
{
    lgf_sleep_ms(50); /* by then LaunchGuard has read the table of modules */
    make_thread(hold_loader);
    while (!atomic_load(&loader_held))
        lgf_sleep_ms(1);
    null_read();
}

/* ---- the process ---- */

LGF_WAY not_dumpable(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    null_write();
}

static void be_traced(void)
{
    lgf_continue_in_child(0, NULL);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        lgf_skip("the process cannot be traced");
}

static void help_trace_and_leave(pid_t parent)
{
    if (ptrace(PTRACE_SEIZE, parent, NULL, (void *)(uintptr_t)PTRACE_O_EXITKILL) != 0)
        kill(parent, SIGTERM);
}
LGF_WAY debugger_kills(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    lgf_helper(help_trace_and_leave);
    lgf_wait();
}

#define FULL_CRASH(kind_) \
    .status = LGF_SIGNAL, .number = SIGSEGV, .kinds = { kind_ }, .record = LGF_RECORD_FULL, .address = LGF_ADDRESS_YES, \
    .ends = LGF_END(CRASH)

const struct lgf_entry lgf_handlers[] = {
    { LGF_NAMED("fault-in-handler", 'E', "faults in its handler of another signal", fault_in_handler),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE) },
    { LGF_NAMED("earlier-handler-faults", 'E', "faults, and the handler that it had before LaunchGuard faults too", null_read),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_READ), .prepare = have_faulting_handler, .traits = LGF_PREPARES },
    { LGF_NAMED("earlier-handler-hangs", 'E', "faults, and the handler that it had before LaunchGuard hangs", null_read),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_READ), .prepare = have_hanging_handler, .traits = LGF_PREPARES },
    { LGF_NAMED("earlier-handler-overflows", 'E', "faults, and the handler that it had before LaunchGuard recurses without end", null_read),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_READ), .prepare = have_overflowing_handler, .traits = LGF_PREPARES },
    { LGF_NAMED("fault-while-handler-runs", 'E', "faults on a second thread while the first one's handler runs", fault_while_handler_runs),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_READ), .prepare = have_slow_handler, .traits = LGF_PREPARES, .lasts_ms = 200 },
    { LGF_NAMED("handler-replaced", 'E', "replaces the handler by one that ends the process", handler_replaced),
      LGF_EXITS(66, LGF_END_SILENT, 'Y') },
    { LGF_NAMED("handler-without-siginfo", 'E', "restores LaunchGuard's handler with signal(), which loses its flags",
                handler_without_siginfo), LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE) },
    { LGF_NAMED("segv-ignored", 'E', "faults with SIGSEGV ignored", segv_ignored), LGF_UNSEEN(SIGSEGV, 'Y') },
    { LGF_NAMED("segv-blocked", 'E', "faults on a thread with SIGSEGV blocked", segv_blocked), LGF_BLOCKED },
    { LGF_NAMED("all-blocked", 'E', "faults on a thread that blocks all signals", all_blocked), LGF_BLOCKED },
    { LGF_NAMED("handler-blocks-all", 'E', "faults in a handler during which all signals are blocked", handler_blocks_all), LGF_BLOCKED },
    { LGF_NAMED("thrd-overflow", 'E', "recurses without end on a thread of thrd_create()", thrd_overflow), LGF_THRD, .traits = LGF_OWN_THREADS },
    { LGF_NAMED("thread-destructor", 'E', "faults while a thread's own values are destroyed", thread_destructor),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("thread-cleanup", 'E', "faults in the cleanup of a thread that is cancelled", thread_cleanup),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("timer-thread", 'E', "faults in the function of a timer, on a thread of libc", timer_thread), LGF_BLOCKED,
      .traits = LGF_OWN_THREADS },
    { LGF_NAMED("two-threads-fault", 'E', "faults on 2 threads at once", two_threads),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("ten-threads-fault", 'E', "faults on 10 threads at once", ten_threads),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("twenty-threads-fault", 'E', "faults on 20 threads at once", twenty_threads),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("loader-lock-held", 'E', "faults while another thread holds the dynamic linker's lock", loader_lock_held),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_READ), .traits = LGF_OWN_THREADS, .lasts_ms = 50 },
    { LGF_NAMED("not-dumpable", 'E', "faults in a process that others may not read", not_dumpable),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE) },
    { LGF_NAMED("traced", 'E', "faults under a debugger", null_write), FULL_CRASH(LG_CRASH_NULL_WRITE) | LGF_END(DEBUGGER),
      .launch = 'N', .prepare = be_traced, .traits = LGF_PREPARES },
    { LGF_NAMED("debugger-kills", 'E', "is killed by its debugger", debugger_kills), LGF_UNSEEN(SIGKILL, 'W'),
      .traits = LGF_OWN_THREADS },
    { .name = NULL },
};
