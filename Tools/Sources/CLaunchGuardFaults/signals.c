/* Section D: signals that are sent. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalogue.h"

/* ---- by the process itself ---- */

static void send(int signal)
{
    kill(getpid(), signal);
    lgf_wait();
}

LGF_WAY raise_segv(void)
{
    raise(SIGSEGV);
    lgf_zero = 0;
}
LGF_WAY kill_self_segv(void) { send(SIGSEGV); }
LGF_WAY queued_segv(void)
{
    sigqueue(getpid(), SIGSEGV, (union sigval){ .sival_int = 7 });
    lgf_wait();
}
static void *wait_for_signal(void *argument)
{
    lgf_wait();
    return argument;
}
LGF_WAY pthread_kill_segv(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_signal, NULL) != 0)
        lgf_skip("no thread can be made");
    pthread_kill(thread, SIGSEGV);
    pthread_join(thread, NULL);
}
LGF_WAY broken_pipe(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        lgf_skip("no descriptor left");
    close(ends[0]);
    (void)!write(ends[1], "x", 1);
}
LGF_WAY terminate(void) { send(SIGTERM); }
LGF_WAY interrupt(void) { send(SIGINT); }
LGF_WAY hang_up(void) { send(SIGHUP); }
LGF_WAY quit(void) { send(SIGQUIT); }

/* Signals without a handler. */
#define REALTIME 40
LGF_WAY alarm_signal(void) { send(SIGALRM); }
LGF_WAY virtual_alarm(void) { send(SIGVTALRM); }
LGF_WAY profiling(void) { send(SIGPROF); }
LGF_WAY input_output(void) { send(SIGIO); }
LGF_WAY user_1(void) { send(SIGUSR1); }
LGF_WAY user_2(void) { send(SIGUSR2); }
LGF_WAY realtime(void) { send(REALTIME); }
LGF_WAY stack_fault(void) { send(SIGSTKFLT); }
LGF_WAY power_failure(void) { send(SIGPWR); }
LGF_WAY killed(void) { send(SIGKILL); }

/* ---- by others ---- */

static void help_segv(pid_t parent) { kill(parent, SIGSEGV); }
static void help_abort(pid_t parent) { kill(parent, SIGABRT); }
static void help_storm(pid_t parent)
{
    for (;;)
        kill(parent, SIGSEGV);
}
static void help_stop_and_kill(pid_t parent)
{
    kill(parent, SIGSTOP);
    lgf_sleep_ms(100);
    kill(parent, SIGKILL);
}
static struct lgf_sign terminated;
static void help_terminate_then_kill(pid_t parent)
{
    kill(parent, SIGTERM);
    lgf_sign_wait(&terminated);
    lgf_sleep_ms(100);
    kill(parent, SIGKILL);
}

static void from_helper(void (*helper)(pid_t))
{
    lgf_helper(helper);
    lgf_wait();
}
LGF_WAY external_segv(void) { from_helper(help_segv); }
LGF_WAY segv_storm(void) { from_helper(help_storm); }
LGF_WAY external_abort(void) { from_helper(help_abort); }
LGF_WAY stopped_then_killed(void) { from_helper(help_stop_and_kill); }

static void go_on(int signal)
{
    (void)signal;
    lgf_sign_give(&terminated); /* called when LaunchGuard has left its mark */
}
static void handle_terminate(void)
{
    lgf_sign_make(&terminated);
    signal(SIGTERM, go_on);
}
LGF_WAY stop_timeout(void) { from_helper(help_terminate_then_kill); }

/* A program that reads its configuration again when it is hung up. */
static volatile sig_atomic_t hung_up;
static void read_again(int signal)
{
    (void)signal;
    hung_up = 1;
}
static void handle_hang_up(void)
{
    lgf_sign_make(&terminated);
    signal(SIGHUP, read_again);
}
static void help_hang_up_then_kill(pid_t parent)
{
    kill(parent, SIGHUP);
    lgf_sign_wait(&terminated);
    kill(parent, SIGKILL);
}
LGF_WAY reloads_then_killed(void)
{
    lgf_helper(help_hang_up_then_kill);
    while (!hung_up)
        lgf_sleep_ms(1);
    lgf_sign_give(&terminated);
    lgf_wait();
}

static void leave(int signal)
{
    (void)signal;
    exit(0);
}
static void leave_when_terminated(void) { signal(SIGTERM, leave); }
static void ignore_terminate(void) { signal(SIGTERM, SIG_IGN); }
static void help_terminate_and_kill(pid_t parent)
{
    kill(parent, SIGTERM);
    kill(parent, SIGKILL);
}
LGF_WAY terminate_ignored(void) { from_helper(help_terminate_and_kill); }

LGF_WAY timer_expires(void)
{
    const struct itimerval soon = { .it_value = { 0, 10000 } };
    setitimer(ITIMER_REAL, &soon, NULL);
    lgf_wait();
}

/* The parent, for which the test waits, ends first; the kernel then kills the process that
 * LaunchGuard watches. */
static int started[2];
static void have_parent(void)
{
    char byte;
    if (pipe(started) != 0)
        lgf_skip("no descriptor left");
    pid_t parent = getpid(), child = fork();
    if (child < 0)
        lgf_skip("no process can be made");
    if (child > 0) {
        close(started[1]);
        (void)!read(started[0], &byte, 1);
        _exit(0);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}
LGF_WAY parent_dies(void)
{
    (void)!write(started[1], "x", 1);
    lgf_wait();
}

#define DEFAULT_DEATH(name_, summary_, run_, signal_) \
    { LGF_NAMED(name_, 'D', summary_, run_), LGF_UNSEEN(signal_, 'W'), .traits = LGF_OWN_THREADS }
#define TERMINATED(signal_) \
    .status = LGF_SIGNAL, .number = (signal_), .record = LGF_RECORD_NONE, .ends = LGF_END(TERMINATED), .launch = 'N'

const struct lgf_entry lgf_signals[] = {
    { LGF_NAMED("raise-segv", 'D', "raises SIGSEGV, which is no fault", raise_segv),
      LGF_CRASH(SIGSEGV, NO, LG_CRASH_SIGNAL_SELF), .traits = LGF_CORE },
    { LGF_NAMED("kill-self-segv", 'D', "sends SIGSEGV to itself", kill_self_segv),
      LGF_CRASH(SIGSEGV, NO, LG_CRASH_SIGNAL_SELF), .traits = LGF_CORE },
    { LGF_NAMED("queued-segv", 'D', "queues SIGSEGV to itself", queued_segv), LGF_CRASH_WEAK(SIGSEGV, LG_CRASH_SIGNAL_QUEUED) },
    { LGF_NAMED("pthread-kill-segv", 'D', "sends SIGSEGV to another of its threads", pthread_kill_segv),
      LGF_CRASH(SIGSEGV, NO, LG_CRASH_SIGNAL_SELF), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("external-segv", 'D', "is sent SIGSEGV by another process", external_segv),
      LGF_CRASH_WEAK(SIGSEGV, LG_CRASH_SIGNAL_EXTERNAL) },
    { LGF_NAMED("segv-storm", 'D', "is sent SIGSEGV over and over, also while its end is recorded", segv_storm),
      LGF_CRASH_WEAK(SIGSEGV, LG_CRASH_SIGNAL_EXTERNAL) },
    { LGF_NAMED("external-abort", 'D', "is sent SIGABRT by another process", external_abort),
      LGF_CRASH_WEAK(SIGABRT, LG_CRASH_SIGNAL_EXTERNAL) },
    { LGF_NAMED("sigterm", 'D', "is terminated", terminate), TERMINATED(SIGTERM) },
    { LGF_NAMED("sigint", 'D', "is interrupted", interrupt), TERMINATED(SIGINT) },
    { LGF_NAMED("sighup", 'D', "loses its terminal", hang_up), TERMINATED(SIGHUP) },
    { LGF_NAMED("sigquit", 'D', "is asked for a dump with SIGQUIT", quit), .status = LGF_SIGNAL, .number = SIGQUIT,
      .kinds = { LG_CRASH_QUIT }, .record = LGF_RECORD_FULL, .address = LGF_ADDRESS_NO,
      .ends = LGF_END(CRASH) | LGF_END(TERMINATED), .launch = 'N' },
    /* Whether SIGPIPE counts is an option of the launch. */
    { LGF_NAMED("sigpipe", 'D', "writes to a pipe without a reader", broken_pipe), LGF_CRASH_WEAK(SIGPIPE, LG_CRASH_PIPE) },
    DEFAULT_DEATH("sigalrm", "gets SIGALRM without a handler", alarm_signal, SIGALRM),
    DEFAULT_DEATH("sigvtalrm", "gets SIGVTALRM without a handler", virtual_alarm, SIGVTALRM),
    DEFAULT_DEATH("sigprof", "gets SIGPROF without a handler", profiling, SIGPROF),
    DEFAULT_DEATH("sigio", "gets SIGIO without a handler", input_output, SIGIO),
    DEFAULT_DEATH("sigusr1", "gets SIGUSR1 without a handler", user_1, SIGUSR1),
    DEFAULT_DEATH("sigusr2", "gets SIGUSR2 without a handler", user_2, SIGUSR2),
    DEFAULT_DEATH("sigrt", "gets a real-time signal without a handler", realtime, REALTIME),
    DEFAULT_DEATH("sigstkflt", "gets SIGSTKFLT without a handler", stack_fault, SIGSTKFLT),
    DEFAULT_DEATH("sigpwr", "gets SIGPWR without a handler", power_failure, SIGPWR),
    DEFAULT_DEATH("sigkill", "is killed", killed, SIGKILL),
    { LGF_NAMED("stop-timeout", 'D', "is terminated, takes its time, and is killed", stop_timeout), .status = LGF_SIGNAL,
      .number = SIGKILL, .record = LGF_RECORD_NONE, .ends = LGF_END(TERMINATED), .launch = 'N', .prepare = handle_terminate,
      .traits = LGF_PREPARES, .lasts_ms = 100 },
    { LGF_NAMED("sighup-reload", 'D', "handles SIGHUP, goes on, and is killed", reloads_then_killed), LGF_UNSEEN(SIGKILL, 'W'),
      .prepare = handle_hang_up, .traits = LGF_PREPARES | LGF_OWN_THREADS },
    { LGF_NAMED("sigterm-handled", 'D', "is terminated, and its handler calls exit(0)", terminate), LGF_EXITS(0, LGF_END(CLEAN), 'N'),
      .prepare = leave_when_terminated, .traits = LGF_PREPARES },
    { LGF_NAMED("sigterm-ignored", 'D', "ignores SIGTERM, and is killed", terminate_ignored), LGF_UNSEEN(SIGKILL, 'W'),
      .prepare = ignore_terminate, .traits = LGF_PREPARES | LGF_OWN_THREADS },
    { LGF_NAMED("timer-expires", 'D', "gets SIGALRM from a timer, without a handler", timer_expires), LGF_UNSEEN(SIGALRM, 'W'),
      .traits = LGF_OWN_THREADS },
    { LGF_NAMED("stopped-then-killed", 'D', "is stopped, then killed", stopped_then_killed), LGF_UNSEEN(SIGKILL, 'W'),
      .lasts_ms = 100 },
    { LGF_NAMED("parent-dies", 'D', "is killed because its parent ended", parent_dies), LGF_EXITS(0, LGF_END_SILENT, 'W'),
      .prepare = have_parent, .traits = LGF_PREPARES | LGF_OWN_THREADS },
    { .name = NULL },
};
