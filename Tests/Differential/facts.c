/* What a process finds when it starts: one line a fact, without the numbers of processes, pipes
 * and sockets. With a word as argument the facts of that kind alone. Built with -static and BARE,
 * nothing can be loaded into the program, which then shows the kernel's account of its signals,
 * too. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

extern char **environ;

static void print_line_of(const char *path, const char *name)
{
    char line[4096];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            printf("%s", line);
    if (file)
        fclose(file);
}

static void descriptors(void)
{
    char link[4096], name[64];
    int files[4096], count = 0;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder && (entry = readdir(folder)) && count < 4096;)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder))
            files[count++] = atoi(entry->d_name);
    if (folder)
        closedir(folder);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", files[i]);
        const ssize_t size = readlink(name, link, sizeof link - 1);
        link[size > 0 ? size : 0] = 0;
        link[strcspn(link, "[")] = 0;
        printf("descriptor %d: %s flags %x %x\n", files[i], link, (unsigned)fcntl(files[i], F_GETFL), (unsigned)fcntl(files[i], F_GETFD));
    }
}

static void signals(void)
{
    sigset_t blocked, pending;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    sigpending(&pending);
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action = { .sa_handler = SIG_DFL };
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            printf("signal %d: %s\n", number, action.sa_handler == SIG_IGN ? "ignored" : "handled");
        if (sigismember(&blocked, number) == 1)
            printf("signal %d: blocked\n", number);
        if (sigismember(&pending, number) == 1)
            printf("signal %d: pending\n", number);
    }
#ifdef BARE
    print_line_of("/proc/self/status", "SigBlk");
    print_line_of("/proc/self/status", "SigIgn");
    print_line_of("/proc/self/status", "SigCgt");
#endif
}

static void group(void)
{
    const int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    printf("leads its group: %d, is in that of its parent: %d\n", getpgrp() == getpid(), getpgrp() == getpgid(getppid()));
    printf("leads its session: %d, is in that of its parent: %d\n", getsid(0) == getpid(), getsid(0) == getsid(getppid()));
    printf("terminal: %s\n", terminal < 0 ? "none" : tcgetpgrp(terminal) == getpgrp() ? "in the foreground" : "in the background");
    for (int file = 0; file < 3; file++)
        printf("descriptor %d is a terminal: %d\n", file, isatty(file));
    struct termios modes;
    if (terminal >= 0 && tcgetattr(terminal, &modes) == 0)
        printf("modes: %x %x %x %x\n", modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag);
}

static void limits(void)
{
    static const struct { int number; const char *name; } all[] = {
        { RLIMIT_AS, "as" }, { RLIMIT_CORE, "core" }, { RLIMIT_CPU, "cpu" }, { RLIMIT_DATA, "data" }, { RLIMIT_FSIZE, "fsize" },
        { RLIMIT_MEMLOCK, "memlock" }, { RLIMIT_MSGQUEUE, "msgqueue" }, { RLIMIT_NICE, "nice" }, { RLIMIT_NOFILE, "nofile" },
        { RLIMIT_NPROC, "nproc" }, { RLIMIT_RSS, "rss" }, { RLIMIT_RTPRIO, "rtprio" }, { RLIMIT_RTTIME, "rttime" },
        { RLIMIT_SIGPENDING, "sigpending" }, { RLIMIT_STACK, "stack" } };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct rlimit limit = { 0, 0 };
        getrlimit((__rlimit_resource_t)all[i].number, &limit);
        printf("limit %s: %lld %lld\n", all[i].name, (long long)limit.rlim_cur, (long long)limit.rlim_max);
    }
}

static void process(void)
{
    static const char *const lines[] = { "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp:",
                                         "Threads", "CoreDumping", "Cpus_allowed:", "Umask" };
    char text[4096];
    int value = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        print_line_of("/proc/self/status", lines[i]);
    errno = 0;
    printf("nice %d policy %d personality %lx\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0), (unsigned long)personality(0xffffffff));
    printf("dumpable %d, timer slack %d\n", prctl(PR_GET_DUMPABLE), prctl(PR_GET_TIMERSLACK));
    prctl(PR_GET_PDEATHSIG, &value);
    printf("signal of the parent's death %d\n", value);
    prctl(PR_GET_CHILD_SUBREAPER, &value);
    printf("adopts %d\n", value);
    printf("folder %s\n", getcwd(text, sizeof text) ? text : "none");
    print_line_of("/proc/self/oom_score_adj", "");
    print_line_of("/proc/self/cgroup", "");
    print_line_of("/proc/self/coredump_filter", "");
}

static int compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void environment(void)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **sorted = calloc(count + 1, sizeof *sorted);
    memcpy(sorted, environ, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++)
        if (strncmp(sorted[i], "LAUNCHGUARD_", 12) != 0 && strncmp(sorted[i], "LD_PRELOAD=", 11) != 0)
            printf("variable %s\n", sorted[i]);
    free(sorted);
}

int main(int count, char **arguments)
{
    static const struct { const char *name; void (*print)(void); } kinds[] = {
        { "descriptors", descriptors }, { "signals", signals }, { "group", group }, { "limits", limits }, { "process", process },
        { "environment", environment } };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (count < 2 || strcmp(arguments[1], kinds[i].name) == 0)
            kinds[i].print();
    for (int i = 0; i < count; i++)
        printf("argument %s\n", arguments[i]);
    return fflush(stdout) != 0;
}
