/* A program for the tests of `launchguard run`: it shows what it was given, and ends in the given
 * way.
 *
 *   probe facts               what a parent hands on, one fact a line
 *   probe exit STATUS
 *   probe die SIGNAL          by the signal's default action, without a core file
 *   probe fault | abort
 *   probe signals [NOT …]     "ready", then a line for each signal that comes, but for these; ends
 *                             at the last real-time signal
 *   probe orphan              an orphan ends with status 3; "gone" once somebody has waited for it
 *   probe threads             starts threads until it cannot, and prints how many
 *   probe deep                handles a fault in a thread's large stack with most of it: status 7
 *   probe sleep               for an hour */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waiting.h"

extern char **environ;
#define LOG_FILE 60 /* beyond what the tests give */
static int output = 1;

static void print_hex(const char *name, const char *text)
{
    dprintf(output, "%s ", name);
    for (; *text; text++)
        dprintf(output, "%02x", (unsigned char)*text);
    dprintf(output, "\n");
}

static void print_status(void)
{
    static const char *const wanted[] = { "SigBlk:", "SigIgn:", "Umask:", "CapEff:", "NoNewPrivs:", "Cpus_allowed:", "Groups:" };
    char line[4096];
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
                dprintf(output, "%s", line);
    if (file)
        fclose(file);
}

static void print_files(void)
{
    char path[64], target[4096];
    for (int file = 0; file < LOG_FILE; file++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        ssize_t size = readlink(path, target, sizeof target);
        if (size >= 0)
            dprintf(output, "file %d %.*s flags %d\n", file, (int)size, target, fcntl(file, F_GETFD));
    }
}

static int facts(int count, char **arguments)
{
    char folder[4096];
    print_files();
    for (int i = 1; i < count; i++)
        print_hex("argument", arguments[i]);
    for (char **variable = environ; *variable; variable++)
        print_hex("variable", *variable);
    print_status();
    for (int limit = 0; limit < RLIM_NLIMITS; limit++) {
        struct rlimit value;
        if (getrlimit(limit, &value) == 0)
            dprintf(output, "limit %d %llu %llu\n", limit, (unsigned long long)value.rlim_cur, (unsigned long long)value.rlim_max);
    }
    dprintf(output, "nice %d\n", getpriority(PRIO_PROCESS, 0));
    print_hex("folder", getcwd(folder, sizeof folder));
    return 0;
}

static void tell(int number)
{
    char line[32];
    const int size = snprintf(line, sizeof line, "signal %d\n", number);
    if (write(output, line, (size_t)size) < 0 || number == SIGRTMAX)
        _exit(0);
}

static _Noreturn void signals(int count, char **but)
{
    struct sigaction action = { .sa_handler = tell };
    sigfillset(&action.sa_mask);
    for (int number = 1; number <= SIGRTMAX; number++) {
        int wanted = number != SIGCHLD;
        for (int i = 0; i < count; i++)
            wanted = wanted && atoi(but[i]) != number;
        if (wanted)
            sigaction(number, &action, NULL);
    }
    dprintf(output, "ready\n");
    for (;;)
        pause();
}

static int orphan(void)
{
    int ends[2];
    pid_t process = 0;
    if (pipe(ends) != 0)
        return 1;
    const pid_t parent = fork();
    if (parent == 0) {
        const pid_t self = getpid();
        process = fork();
        if (process == 0) {
            wait_until(getppid() != self);
            _exit(3);
        }
        _exit(write(ends[1], &process, sizeof process) != sizeof process);
    }
    waitpid(parent, NULL, 0);
    if (read(ends[0], &process, sizeof process) != sizeof process)
        return 1;
    wait_until(kill(process, 0) != 0);
    dprintf(output, "gone %d\n", (int)process);
    return 0;
}

static void *stay(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static int threads(void)
{
    pthread_t thread;
    int count = 0;
    while (count < 2000 && pthread_create(&thread, NULL, stay, NULL) == 0)
        count++;
    dprintf(output, "%d\n", count);
    _exit(0);
}

#define LARGE ((size_t)64 << 20)

static void use_most(int number)
{
    volatile char room[LARGE / 2];
    for (size_t at = sizeof room; at >= 4096; at -= 4096)
        room[at - 1] = (char)number;
    _exit(7);
}

static void *fault(void *argument)
{
    *(volatile int *)argument = 0;
    return argument;
}

static int deep(void)
{
    const struct sigaction action = { .sa_handler = use_most };
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, LARGE);
    sigaction(SIGSEGV, &action, NULL);
    if (pthread_create(&thread, &attributes, fault, (void *)(uintptr_t)8) != 0)
        return 1;
    return pthread_join(thread, NULL);
}

static int die(int number)
{
    const struct rlimit none = { 0, 0 };
    sigset_t one;
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    kill(getpid(), number);
    return 99;
}

int main(int count, char **arguments)
{
    const char *way = count > 1 ? arguments[1] : "", *log = getenv("PROBE_LOG");
    const struct rlimit none = { 0, 0 };
    if (log) {
        const int file = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        output = fcntl(file, F_DUPFD_CLOEXEC, LOG_FILE);
        close(file);
    }
    if (strcmp(way, "facts") == 0)
        return facts(count, arguments);
    if (strcmp(way, "exit") == 0)
        return atoi(arguments[2]);
    if (strcmp(way, "die") == 0)
        return die(atoi(arguments[2]));
    if (strcmp(way, "signals") == 0)
        signals(count - 2, arguments + 2);
    if (strcmp(way, "orphan") == 0)
        return orphan();
    if (strcmp(way, "threads") == 0)
        return threads();
    if (strcmp(way, "deep") == 0)
        return deep();
    if (strcmp(way, "sleep") == 0)
        for (;;)
            pause();
    setrlimit(RLIMIT_CORE, &none);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "fault") == 0)
        *(volatile int *)(uintptr_t)count = 0;
    return 2;
}
