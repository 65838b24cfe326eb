/* The program that is measured: without the library, with the shared one, with the static one.
 *
 * probe DESCRIPTOR WHAT DIRECTORY KEEP
 *   DESCRIPTOR  for the figures, as from shared_name(); "-": none
 *   DIRECTORY   of the state: a session begins there; "-": no session
 *   KEEP        ended runs that are kept. Without the library the floor of a start is measured,
 *               which makes its files first if KEEP is "make" */
#include "probe.h"

#include "common.h"
#include "floor.h"

#ifdef WITH_LAUNCHGUARD
#include <launchguard/launchguard.h>
#endif

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct probe_figures *figures;

/* ---- the start ---- */

static double cpu_us(void)
{
    struct timespec cpu;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    return (double)cpu.tv_sec * 1e6 + (double)cpu.tv_nsec / 1000;
}

static double faults(void)
{
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return (double)used.ru_minflt;
}

static bool start_session(const char *directory, const char *keep)
{
#ifdef WITH_LAUNCHGUARD
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.state_directory = directory;
    options.keep_runs = (uint32_t)atoi(keep);
    options.keep_bytes = UINT64_MAX / 2;
    return lg_start(&options, &session) == LG_OK;
#else
    return floor_start(directory, strcmp(keep, "make") == 0);
#endif
}

static void start(const char *directory, const char *keep)
{
#ifndef WITH_LAUNCHGUARD
    floor_prepare(directory);
#endif
    double faulted = faults(), cpu = cpu_us();
    uint64_t begin = now_ns();
    if (!start_session(directory, keep))
        _exit(1);
    uint64_t end = now_ns();
    cpu = cpu_us() - cpu;
    faulted = faults() - faulted;
    if (figures) {
        figures->start_us = (double)(end - begin) / 1000;
        figures->start_cpu_us = cpu;
        figures->start_faults = faulted;
    }
}

/* ---- what a program does then ---- */

static void *nothing(void *argument)
{
    return argument;
}

static void make_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        _exit(1);
}

static void make_child(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        _exit(1);
}

static double time_many(void (*call)(void), unsigned count)
{
    static struct series series;
    for (unsigned i = 0; i < count / 4; i++) /* to warm up */
        call();
    for (unsigned i = 0; i < count; i++) {
        uint64_t begin = now_ns();
        call();
        series_add(&series, (double)(now_ns() - begin) / 1000);
    }
    return series_median(&series);
}

/* A number after a word in a file of /proc. */
static double number_in(const char *path, const char *word)
{
    static char text[8192];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (size <= 0)
        _exit(1);
    close(file);
    text[size] = 0;
    const char *found = strstr(text, word);
    return found ? (double)atol(found + strlen(word)) : 0;
}

static void live(void)
{
    const struct timespec time = { .tv_nsec = 50000000 };
    nanosleep(&time, NULL);
}

int main(int count, char **arguments)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count != 5)
        return 2;
    const char *what = arguments[2];
    if (arguments[1][0] != '-')
        figures = shared_open(arguments[1], sizeof *figures);
    if (arguments[3][0] != '-')
        start(arguments[3], arguments[4]);
    if (strcmp(what, "live") == 0)
        live();
    if (strcmp(what, "weigh") == 0 && figures) {
        live();
        figures->private_kib = number_in("/proc/self/smaps_rollup", "Private_Dirty:");
        figures->virtual_kib = number_in("/proc/self/status", "VmSize:");
        figures->threads = number_in("/proc/self/status", "Threads:");
    }
    if (strcmp(what, "thread") == 0 && figures)
        figures->thread_us = time_many(make_thread, 300);
    if (strcmp(what, "fork") == 0 && figures)
        figures->fork_us = time_many(make_child, 60);
    if (figures)
        figures->left_ns = now_ns();
    return 0;
}
