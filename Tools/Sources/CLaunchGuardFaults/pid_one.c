/* Section E: the first process of a pid namespace, which survives its own signals and the default
 * actions. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "catalogue.h"

static struct lgf_sign lives, was_sent;

static void become_first(void (*watch)(pid_t))
{
    lgf_sign_make(&lives);
    lgf_sign_make(&was_sent);
    lgf_continue_in_child(CLONE_NEWPID | CLONE_NEWNS, watch);
    if (getpid() != 1)
        lgf_wrong("not the first process of its pid namespace");
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mount("proc", "/proc", "proc", 0, NULL) != 0)
        lgf_skip("/proc cannot be mounted");
}
static void become_first_outside(void) { lgf_continue_in_child(CLONE_NEWPID, NULL); }

/* The first process gets the signal after its start: before that, the kernel keeps the signal
 * away. */
static void send_child(pid_t child, int signal)
{
    lgf_sign_wait(&lives);
    kill(child, signal);
    lgf_sign_give(&was_sent);
}
static void abort_child(pid_t child) { send_child(child, SIGABRT); }
static void terminate_child(pid_t child) { send_child(child, SIGTERM); }

static void become_first_alone(void) { become_first(NULL); }
static void become_first_aborted(void) { become_first(abort_child); }
static void become_first_terminated(void) { become_first(terminate_child); }

LGF_WAY fault(void) { *(volatile int *)(uintptr_t)lgf_zero = 1; }
LGF_WAY raise_segv(void) { raise(SIGSEGV); }
LGF_WAY call_abort(void) { abort(); }
LGF_WAY live_on(void)
{
    lgf_sign_give(&lives);
    lgf_sign_wait(&was_sent);
    lgf_sleep_ms(300); /* the kernel may give the signal to another thread, which passes it on */
}

#define FIRST(prepare_) \
    .prepare = (prepare_), .traits = LGF_PREPARES | LGF_OWN_THREADS, .needs = LGF_NEEDS_ROOT | LGF_NEEDS_NAMESPACE
#define EXIT_CRASH(code_, kind_, launch_) \
    .status = LGF_EXIT, .number = (code_), .kinds = { kind_ }, .record = LGF_RECORD_FULL, .address = LGF_ADDRESS_NO, \
    .ends = LGF_END(CRASH), .launch = (launch_)

const struct lgf_entry lgf_pid_one[] = {
    { LGF_NAMED("pid-one-fault", 'E', "faults as process 1", fault), LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE),
      FIRST(become_first_alone) },
    { LGF_NAMED("pid-one-outer-proc", 'E', "faults as process 1 where /proc shows the processes outside", fault),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE), FIRST(become_first_outside) },
    { LGF_NAMED("pid-one-raise", 'E', "raises SIGSEGV as process 1, which would survive it", raise_segv),
      EXIT_CRASH(128 + SIGSEGV, LG_CRASH_SIGNAL_SELF, 'Y'), FIRST(become_first_alone) },
    { LGF_NAMED("pid-one-abort", 'E', "calls abort() as process 1", call_abort), EXIT_CRASH(128 + SIGABRT, LG_CRASH_ABORT, 'Y'),
      FIRST(become_first_alone) },
    { LGF_NAMED("pid-one-external-abort", 'E', "is sent SIGABRT as process 1, and survives it", live_on),
      .status = LGF_EXIT, .number = 0, .kinds = { LG_CRASH_SIGNAL_EXTERNAL }, .record = LGF_RECORD_FULL, .address = LGF_ADDRESS_NO,
      .ends = LGF_END(CLEAN), .launch = 'N', FIRST(become_first_aborted), .lasts_ms = 300 },
    { LGF_NAMED("pid-one-sigterm", 'E', "is sent SIGTERM as process 1, and survives it", live_on),
      LGF_EXITS(0, LGF_END(CLEAN), 'N'), FIRST(become_first_terminated), .lasts_ms = 300 },
    { .name = NULL },
};
