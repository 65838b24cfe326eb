#include "common.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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

static void too_long(int signal)
{
    (void)signal;
    static const char message[] = "a child hangs; no figures\n";
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
        _exit(2);
    kill(0, SIGKILL); /* this process and its children are one group; run.sh sees to that */
}

int run_child(char *const arguments[], uint64_t *ret_ns)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    signal(SIGALRM, too_long);
    alarm(20);
    uint64_t begin = now_ns();
    if (posix_spawn(&child, arguments[0], &actions, NULL, arguments, environ) != 0)
        give_up(arguments[0]);
    if (waitpid(child, &status, 0) != child)
        give_up("waitpid");
    *ret_ns = now_ns() - begin;
    alarm(0);
    posix_spawn_file_actions_destroy(&actions);
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

void __attribute__((noinline)) deeper(int depth, void (*last)(void))
{
    if (depth > 1)
        deeper(depth - 1, last);
    else
        last();
    __asm__ volatile(""); /* no tail call: every depth is a frame */
}
