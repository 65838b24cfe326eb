/* The cost of a fault that the program's own handler mends, as a collector's write barrier does:
 * without LaunchGuard, and in a session, with one thread and with eight idle ones.
 * bench-faults DIR ROUNDS */
#include "common.h"

#include <launchguard/launchguard.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAULTS 1000
#define IDLE 8

static char *page;

static void mend(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void *idle(void *argument)
{
    for (;;)
        pause();
    return argument;
}

/* Nanoseconds of one fault, in the median of many. */
static double fault(void)
{
    static struct series faults;
    faults.count = 0;
    for (size_t i = 0; i < FAULTS; i++) {
        mprotect(page, 4096, PROT_READ);
        uint64_t begin = now_ns();
        *(volatile char *)page = 1;
        series_put(&faults, i, (double)(now_ns() - begin));
    }
    return series_median(&faults);
}

enum { NAKED, SESSION, NAKED_THREADS, SESSION_THREADS, KINDS };

/* In a child: both of a pair. */
static void measure(const char *directory, unsigned threads, double *values)
{
    struct sigaction action = { .sa_sigaction = mend, .sa_flags = SA_SIGINFO };
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    options.app_id = "org.example.faults";
    options.state_directory = directory;
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    for (unsigned i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, idle, NULL) != 0)
            _exit(1);
    }
    usleep(5000);
    fault(); /* to warm up */
    values[0] = fault();
    if (lg_start(&options, &session) != LG_OK)
        _exit(1);
    fault(); /* from the second one on the handler is known to recover */
    values[1] = fault();
}

int main(int count, char **arguments)
{
    static struct series series[KINDS] = { [NAKED] = { .name = "a fault and its handler" }, [SESSION] = { .name = "the same in a session" },
                                           [NAKED_THREADS] = { .name = "a fault and its handler, 8 idle threads" },
                                           [SESSION_THREADS] = { .name = "the same in a session" } };
    if (count != 3)
        return 2;
    double *values = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const unsigned rounds = (unsigned)atoi(arguments[2]);
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned kind = 0; kind < KINDS; kind += 2) {
            int status = 1;
            pid_t child = fork();
            if (child == 0) {
                alarm(20);
                measure(arguments[1], kind ? IDLE : 0, values);
                exit(0);
            }
            if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
                return 1;
            series_put(&series[kind], round, values[0]);
            series_put(&series[kind + 1], round, values[1]);
        }
    print_head("A fault that the program's own handler mends", "ns");
    for (unsigned i = 0; i < KINDS; i++)
        print_line(&series[i], i % 2 ? &series[i - 1] : NULL);
    put_figure("fault", series_ratio(&series[SESSION], &series[NAKED]), NULL);
    put_figure("threads", series_ratio(&series[SESSION_THREADS], &series[NAKED_THREADS]), NULL);
    return 0;
}
