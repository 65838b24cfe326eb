/* Processes for entries: helpers, a life in a child, waiting, giving up. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "catalogue.h"

/* Without stdio, whose locks and buffers may belong to a thread that dies. */
static void say(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static LGF_NORETURN void leave(const char *kind, const char *reason, int code)
{
    say("launchguard-faults: "), say(kind), say(reason), say("\n");
    exit(code);
}

void lgf_skip(const char *reason) { leave("cannot run here: ", reason, LGF_SKIPPED); }
void lgf_wrong(const char *what) { leave("went wrong: ", what, 1); }

void lgf_sign_make(struct lgf_sign *ret_sign)
{
    if (pipe(ret_sign->ends) != 0)
        lgf_skip("no descriptor left");
}

void lgf_sign_give(const struct lgf_sign *sign)
{
    (void)!write(sign->ends[1], "x", 1);
}

void lgf_sign_wait_for_thread(const struct lgf_sign *sign)
{
    char byte;
    while (read(sign->ends[0], &byte, 1) < 0 && errno == EINTR) {}
}

void lgf_sign_wait(const struct lgf_sign *sign)
{
    close(sign->ends[1]);
    lgf_sign_wait_for_thread(sign);
}

void lgf_wait(void)
{
    for (;;)
        pause();
}

void lgf_sleep_ms(unsigned ms)
{
    struct timespec rest = { ms / 1000, (long)(ms % 1000) * 1000000 };
    while (nanosleep(&rest, &rest) != 0) {}
}

/* A child that ends at the latest with its parent. */
static pid_t bound_child(void)
{
    pid_t parent = getpid(), child = fork();
    if (child < 0)
        lgf_skip("no process can be made");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        /* In a new pid namespace the parent is invisible, and no other process can have taken its
         * place before this call. */
        if (getpid() != 1 && getppid() != parent)
            _exit(1);
    }
    return child;
}

pid_t lgf_helper(void (*helper)(pid_t parent))
{
    pid_t child = bound_child();
    if (child != 0)
        return child;
    helper(getppid());
    _exit(0);
}

static LGF_NORETURN void end_as(int status)
{
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    const struct rlimit none = { 0, 0 };
    sigset_t all;
    setrlimit(RLIMIT_CORE, &none); /* the child had its own */
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    kill(getpid(), WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

void lgf_continue_in_child(int flags, void (*watch)(pid_t child))
{
    if (flags && unshare(flags) != 0)
        lgf_skip("the kernel refuses a new namespace, which needs root");
    pid_t child = bound_child();
    if (child == 0)
        return;
    int status;
    if (watch)
        watch(child);
    while (waitpid(child, &status, 0) == child) {
        if (!WIFSTOPPED(status))
            end_as(status);
        /* The child is traced: it gets each signal as if it were not. */
        ptrace(PTRACE_CONT, child, NULL, (void *)(uintptr_t)WSTOPSIG(status));
    }
    _exit(1);
}
