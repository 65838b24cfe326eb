#include "common.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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
    struct rusage used;
    if (wait4(pid, &status, 0, &used) != pid)
        give_up("wait4");
    child->cpu_ns = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000u + (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000u;
    posix_spawn_file_actions_destroy(&actions);
    child->hung = expired != 0;
    return status;
}

void run_child(struct child *child)
{
    int status = child_run(child);
    if (status == 0)
        return;
    for (char *const *argument = child->arguments; *argument; argument++)
        fprintf(stderr, "%s ", *argument);
    fprintf(stderr, "%s (status %x); no figures\n", child->hung ? "hangs" : "fails", (unsigned)status);
    exit(1);
}

#define ARGUMENTS_MAX 8

double count_instructions(const char *function, char *const arguments[], const char *directory)
{
    char file[4096], output[4200], toggle[128], line[256];
    unsigned long long total = 0;
    snprintf(file, sizeof file, "%s/counted", directory);
    snprintf(output, sizeof output, "--callgrind-out-file=%s", file);
    snprintf(toggle, sizeof toggle, "--toggle-collect=%s", function);
    char *all[5 + ARGUMENTS_MAX + 1] = { "/usr/bin/env", "valgrind", "--tool=callgrind", toggle, output };
    for (unsigned i = 0; i < ARGUMENTS_MAX && arguments[i]; i++)
        all[5 + i] = arguments[i];
    struct child child = { .arguments = all };
    int status = child_run(&child);
    FILE *counted = fopen(file, "re");
    if (!counted)
        return 0;
    while (fgets(line, sizeof line, counted) && sscanf(line, "totals: %llu", &total) != 1)
        ;
    fclose(counted);
    unlink(file);
    return status == 0 && !child.hung ? (double)total : 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

void remove_tree(const char *directory)
{
    nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
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

#define VALUES_MAX (sizeof((struct series *)0)->values / sizeof(double))

void series_put(struct series *series, size_t round, double value)
{
    while (series->count <= round && series->count < VALUES_MAX)
        series->values[series->count++] = NAN;
    if (round < VALUES_MAX)
        series->values[round] = value;
}

void series_add(struct series *series, double value)
{
    series_put(series, series->count, value);
}

static int less(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Summary of the rounds that have a value. */
struct summary {
    double least, quartile, median, third_quartile;
};

static struct summary summarize(double values[], size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[used++] = values[i];
    if (used == 0)
        return (struct summary){ NAN, NAN, NAN, NAN };
    qsort(values, used, sizeof values[0], less);
    return (struct summary){ values[0], values[(used - 1) / 4], values[(used - 1) / 2], values[(used - 1) * 3 / 4] };
}

static struct summary summary_of(const struct series *series)
{
    static double values[VALUES_MAX];
    memcpy(values, series->values, series->count * sizeof values[0]);
    return summarize(values, series->count);
}

double series_median(const struct series *series)
{
    return summary_of(series).median;
}

struct comparison {
    struct summary more, ratio;
};

static struct comparison compare(const struct series *series, const struct series *floor)
{
    static double more[VALUES_MAX], ratios[VALUES_MAX];
    size_t count = floor->count < series->count ? floor->count : series->count;
    for (size_t i = 0; i < count; i++) {
        more[i] = series->values[i] - floor->values[i];
        ratios[i] = series->values[i] / floor->values[i];
    }
    return (struct comparison){ summarize(more, count), summarize(ratios, count) };
}

double series_more(const struct series *series, const struct series *floor)
{
    return compare(series, floor).more.median;
}

double series_ratio(const struct series *series, const struct series *floor)
{
    return compare(series, floor).ratio.median;
}

void shuffle(unsigned order[], unsigned count)
{
    static bool seeded;
    if (!seeded)
        srandom((unsigned)now_ns());
    seeded = true;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = (unsigned)random() % (i + 1);
        order[i] = order[at];
        order[at] = i;
    }
}

void print_head(const char *title, const char *unit)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s%s", title, *unit ? ", " : "", unit);
    printf("\n%-60s %9s %9s %7s   quartiles\n", text, "least", "median", "ratio");
}

void print_line(const struct series *series, const struct series *floor)
{
    struct summary own = summary_of(series);
    printf("  %-58s %9.1f %9.1f", series->name, own.least, own.median);
    if (floor) {
        struct comparison to = compare(series, floor);
        printf(" %7.2f %6.2f-%.2f", to.ratio.median, to.ratio.quartile, to.ratio.third_quartile);
    }
    printf("\n");
    fflush(stdout);
}

void print_missing(const char *name, const char *reason)
{
    printf("  %-58s not measured: %s\n", name, reason);
}

void put_figure(const char *name, double value, const char *unless)
{
    const char *path = getenv("BENCH_FIGURES");
    FILE *file = path ? fopen(path, "ae") : NULL;
    if (!file)
        return;
    if (isnan(value))
        fprintf(file, "%s\t-\t%s\n", name, unless ? unless : "the table has no value");
    else
        fprintf(file, "%s\t%.6g\n", name, value);
    fclose(file);
}
