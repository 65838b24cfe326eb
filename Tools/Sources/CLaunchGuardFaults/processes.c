/* Section E: ends without a crash, children, daemons. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalogue.h"
#include "lazy.h"

extern char **environ;

static void null_write(void) { *(volatile int *)(uintptr_t)lgf_zero = 1; }

/* ---- exits ---- */

LGF_WAY nothing(void) {}
LGF_WAY exit_0(void) { exit(0); }
LGF_WAY exit_7(void) { exit(7); }
LGF_WAY exit_now(void) { _exit(3); }
LGF_WAY exit_quick(void) { quick_exit(4); }
static void *exit_6(void *argument)
{
    exit(6);
    return argument;
}
LGF_WAY exit_on_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, exit_6, NULL) != 0)
        lgf_skip("no thread can be made");
    pthread_join(thread, NULL);
}
LGF_WAY live(void)
{
    char byte;
    (void)!write(STDOUT_FILENO, "live\n", 5);
    while (read(STDIN_FILENO, &byte, 1) > 0) {}
}

static void lock_twice(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
}
static void kill_later(pid_t parent)
{
    lgf_sleep_ms(300);
    kill(parent, SIGKILL);
}
LGF_WAY exit_hangs(void)
{
    lgf_helper(kill_later);
    atexit(lock_twice);
    exit(0);
}

LGF_WAY lazy_symbol_missing(void) { lgf_call_missing_function(); }

LGF_WAY exec_over_itself(void)
{
    char state[4096] = "";
    if (lgf_session)
        snprintf(state, sizeof state, "%s", lg_session_state_directory(lgf_session));
    char *arguments[] = { "launchguard-faults", "return-from-main", "--state", state, NULL };
    if (!lgf_session)
        arguments[2] = "--no-guard", arguments[3] = NULL;
    execv("/proc/self/exe", arguments);
    lgf_skip("the program cannot execute itself");
}

LGF_WAY exec_other(void)
{
    execl("/bin/true", "true", NULL);
    lgf_skip("/bin/true cannot be executed");
}

static void *live_a_moment(void *argument)
{
    lgf_sleep_ms(20);
    return argument;
}
LGF_WAY main_thread_leaves(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, live_a_moment, NULL) != 0)
        lgf_skip("no thread can be made");
    pthread_exit(NULL);
}

LGF_WAY fault_at_exit(void)
{
    atexit(null_write);
    exit(0);
}

/* ---- children ---- */

static void wait_for_crash(pid_t child)
{
    int status;
    if (child < 0)
        lgf_skip("no process can be made");
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        lgf_wrong("the child did not die of SIGSEGV");
}
LGF_WAY fork_child_crashes(void)
{
    pid_t child = fork();
    if (child == 0) {
        null_write();
        _exit(1);
    }
    wait_for_crash(child);
}
LGF_WAY vfork_child_crashes(void)
{
    pid_t child = vfork();
    if (child == 0) {
        null_write();
        _exit(1);
    }
    wait_for_crash(child);
}
LGF_WAY spawn_fails(void)
{
    pid_t child;
    char *arguments[] = { "no-such-program", NULL };
    if (posix_spawn(&child, "/no/such/program", NULL, NULL, arguments, environ) == 0)
        lgf_wrong("a program that does not exist was started");
}

/* A daemon: the first parent leaves, and no process waits for the grandchild. */
static bool become_daemon(bool first_leaves_by_exit)
{
    int done[2];
    char byte;
    if (pipe(done) != 0)
        lgf_skip("no descriptor left");
    pid_t child = fork();
    if (child < 0)
        lgf_skip("no process can be made");
    if (child > 0) {
        close(done[1]);
        waitpid(child, NULL, 0);
        /* ends with the daemon, so that a process that waits for this one finds everything done */
        (void)!read(done[0], &byte, 1);
        if (!first_leaves_by_exit)
            _exit(0);
        return false;
    }
    close(done[0]);
    if (fork() != 0)
        _exit(0);
    return true;
}
LGF_WAY daemon_after_start(void)
{
    if (become_daemon(true))
        null_write();
}
LGF_WAY daemon_during_launch(void)
{
    if (daemon(1, 1) != 0)
        lgf_skip("no process can be made");
    _exit(0);
}
static void daemon_before(void) { become_daemon(false); }

static struct lgf_sign has_started;
static void hold_ledger(pid_t parent)
{
    (void)parent;
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.launchguard.faults";
    options.state_directory = lgf_options.state;
    lg_start(&options, &session);
    lgf_sign_give(&has_started);
    lgf_wait();
}
static void have_first_instance(void)
{
    lgf_sign_make(&has_started);
    lgf_helper(hold_ledger);
    lgf_sign_wait(&has_started);
}
LGF_WAY second_instance(void)
{
    if (lgf_options.guard && lgf_start_status != LG_ERR_SECONDARY)
        lgf_wrong("LaunchGuard does not recognise the second instance");
    null_write();
}

const struct lgf_entry lgf_processes[] = {
    { LGF_NAMED("return-from-main", 'E', "returns from main after the launch", nothing), LGF_EXITS(0, LGF_END(CLEAN), 'N'),
      .phase = "finished" },
    { LGF_NAMED("live", 'E', "prints \"live\", and lives until its standard input ends", live), LGF_EXITS(0, LGF_END(CLEAN), 'N'),
      .phase = "finished" },
    { LGF_NAMED("exit-0", 'E', "calls exit(0) during the launch", exit_0), LGF_EXITS(0, LGF_END(CLEAN), 'W'), .phase = "launching" },
    /* Whether an exit status that is not 0 counts is an option of the launch. */
    { LGF_NAMED("exit-7", 'E', "calls exit(7) during the launch", exit_7), LGF_EXITS(7, LGF_END(EXIT), 'W'), .phase = "launching" },
    { LGF_NAMED("exit-now", 'E', "calls _exit(3) during the launch", exit_now), LGF_EXITS(3, LGF_END_SILENT, 'W'),
      .phase = "launching" },
    { LGF_NAMED("exit-quick", 'E', "calls quick_exit(4) during the launch", exit_quick),
      LGF_EXITS(4, LGF_END_SILENT | LGF_END(EXIT), 'W'), .phase = "launching" },
    { LGF_NAMED("exit-on-thread", 'E', "calls exit(6) on another thread", exit_on_thread), LGF_EXITS(6, LGF_END(EXIT), 'N'),
      .phase = "finished", .traits = LGF_OWN_THREADS },
    { LGF_NAMED("exit-hangs", 'E', "hangs in a function that exit() calls, and is killed", exit_hangs), .status = LGF_SIGNAL,
      .number = SIGKILL, .record = LGF_RECORD_NONE, .ends = LGF_END_SILENT | LGF_END(HANG), .launch = 'W', .lasts_ms = 300 },
    { LGF_NAMED("lazy-symbol-missing", 'E', "calls a function that its library lacks; no signal, no exit", lazy_symbol_missing),
      LGF_EXITS(127, LGF_END_SILENT, 'Y'), .needs = LGF_NEEDS_X86_64 },
    { LGF_NAMED("exec-over-itself", 'E', "executes its own program in its place and ends well", exec_over_itself),
      LGF_EXITS(0, LGF_END(CLEAN), 'N') },
    { LGF_NAMED("exec-other", 'E', "executes another program in its place", exec_other), LGF_EXITS(0, LGF_END_SILENT, 'W') },
    { LGF_NAMED("main-thread-leaves", 'E', "ends its first thread, later the last one", main_thread_leaves),
      LGF_EXITS(0, LGF_END(CLEAN), 'N'), .traits = LGF_OWN_THREADS },
    { LGF_NAMED("fault-at-exit", 'E', "faults in a function that exit() calls", fault_at_exit),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE) },
    { LGF_NAMED("fork-child-crashes", 'E', "has a forked child that crashes", fork_child_crashes), LGF_EXITS(0, LGF_END(CLEAN), 'N') },
    { LGF_NAMED("vfork-child-crashes", 'E', "has a vforked child that crashes", vfork_child_crashes),
      LGF_EXITS(0, LGF_END(CLEAN), 'N') },
    { LGF_NAMED("spawn-fails", 'E', "starts a program that does not exist", spawn_fails), LGF_EXITS(0, LGF_END(CLEAN), 'N') },
    { LGF_NAMED("daemon-after-start", 'E', "becomes a daemon after the start, and the daemon crashes", daemon_after_start),
      LGF_EXITS(0, LGF_END(CLEAN), 'W') },
    { LGF_NAMED("daemon-during-launch", 'E', "calls daemon() during the launch", daemon_during_launch),
      LGF_EXITS(0, LGF_END(UNKNOWN), 'N'), .phase = "launching", .traits = LGF_OWN_THREADS },
    { LGF_NAMED("daemon-before-start", 'E', "becomes a daemon, starts LaunchGuard, and crashes", null_write), .status = LGF_EXIT,
      .kinds = { LG_CRASH_NULL_WRITE }, .record = LGF_RECORD_FULL, .address = LGF_ADDRESS_YES, .ends = LGF_END(CRASH),
      .launch = 'Y', .prepare = daemon_before, .traits = LGF_PREPARES },
    { LGF_NAMED("second-instance", 'E', "crashes as the second instance of the application", second_instance),
      .status = LGF_SIGNAL, .number = SIGSEGV, .kinds = { LG_CRASH_NULL_WRITE }, .record = LGF_RECORD_FULL,
      .address = LGF_ADDRESS_YES, .ends = LGF_END(CRASH), .launch = 'N', .prepare = have_first_instance, .traits = LGF_PREPARES },
    { .name = NULL },
};
