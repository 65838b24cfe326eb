#include "common.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static volatile pid_t running;
static volatile sig_atomic_t expired;

static void too_long(int signal)
{
    (void)signal;
    if (running <= 0) { /* no child yet: look again later */
        alarm(1);
        return;
    }
    expired = 1;
    /* the child is reaped only after `running` is 0, so the pid still belongs to it */
    kill(running, SIGKILL);
}

int child_run(struct child *child)
{
    posix_spawn_file_actions_t actions;
    struct sigaction action = { .sa_handler = too_long, .sa_flags = SA_RESTART };
    unsigned limit_ms = child->limit_ms ? child->limit_ms : 20000;
    struct itimerval limit = { .it_value = { limit_ms / 1000, (suseconds_t)(limit_ms % 1000) * 1000 } };
    static const struct itimerval none;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (child->output)
        posix_spawn_file_actions_adddup2(&actions, child->output, STDERR_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    expired = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &limit, NULL);
    uint64_t begin = now_ns();
    if (posix_spawn(&pid, child->arguments[0], &actions, NULL, child->arguments, child->environment ? child->environment : environ) != 0)
        give_up(child->arguments[0]);
    running = pid;
    siginfo_t ended;
    if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) != 0)
        give_up("waitid");
    child->ended_ns = now_ns();
    child->took_ns = child->ended_ns - begin;
    running = 0;
    setitimer(ITIMER_REAL, &none, NULL);
    if (waitpid(pid, &status, 0) != pid)
        give_up("waitpid");
    posix_spawn_file_actions_destroy(&actions);
    child->hung = expired != 0;
    return status;
}

int run_child(char *const arguments[], uint64_t *ret_ns)
{
    struct child child = { .arguments = arguments };
    int status = child_run(&child);
    if (child.hung) {
        fprintf(stderr, "%s hangs; no figures\n", arguments[0]);
        exit(1);
    }
    *ret_ns = child.took_ns;
    return status;
}

/* An inherited descriptor: no file is left behind. */
static char descriptor[16];

void *shared_make(size_t size)
{
    int file = memfd_create("bench", 0);
    if (file < 0 || ftruncate(file, (off_t)size) != 0)
        give_up("memfd_create");
    snprintf(descriptor, sizeof descriptor, "%d", file);
    return shared_open(descriptor, size);
}

const char *shared_name(void)
{
    return descriptor;
}

void *shared_open(const char *name, size_t size)
{
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, atoi(name), 0);
    if (shared == MAP_FAILED)
        give_up("mmap");
    return shared;
}

void series_add(struct series *series, double value)
{
    if (series->count < sizeof series->values / sizeof series->values[0])
        series->values[series->count++] = value;
}

static int less(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double percentile(struct series *series, unsigned percent)
{
    if (series->count == 0)
        return 0;
    qsort(series->values, series->count, sizeof series->values[0], less);
    return series->values[(series->count - 1) * percent / 100];
}

double series_median(struct series *series)
{
    return percentile(series, 50);
}

void print_head(const char *title, const char *unit)
{
    printf("\n%s\n  %-62s %9s %9s %7s\n", title, "", unit, "90 %", "ratio");
}

void print_line(struct series *series, struct series *floor)
{
    printf("  %-62s %9.1f %9.1f", series->name, series_median(series), percentile(series, 90));
    if (floor)
        printf(" %7.2f", series_median(series) / series_median(floor));
    printf("\n");
}

void print_missing(const char *name, const char *reason)
{
    printf("  %-62s not measured: %s\n", name, reason);
}
