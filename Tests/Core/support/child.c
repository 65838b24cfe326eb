#include "child.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile int zero;

void crash(void)
{
    *(volatile int *)(uintptr_t)zero = 1;
}

void hang(int signal)
{
    (void)signal;
    for (;;)
        pause();
}

sigjmp_buf escape;

void jump_out(int signal)
{
    (void)signal;
    siglongjmp(escape, 1);
}

unsigned count_threads(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
#ifdef EMULATED
    count--; /* the emulator's own */
#endif
    return count;
}

bool others_sleep(void)
{
    bool sleep = true;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(tasks));) {
        char path[300], state = 'S';
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == gettid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
        FILE *file = fopen(path, "re");
        sleep &= file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && state == 'S';
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return sleep;
}

static bool is_stopped(pid_t pid)
{
    char path[64], state = 'R';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    const bool is = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && state == 'T';
    if (file)
        fclose(file);
    return is;
}

void start_waker(const _Atomic uint64_t *until_ns)
{
    const pid_t parent = getpid();
    if (fork() != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        wait_until(getppid() != parent || (is_stopped(parent) && now_ns() > atomic_load(until_ns)));
        if (getppid() != parent)
            _exit(0);
        kill(parent, SIGCONT);
    }
}

void in_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument) != 0)
        _exit(98);
    pthread_detach(thread);
}

void *wait_for_ever(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static void *say_and_wait(void *running)
{
    atomic_fetch_add((atomic_uint *)running, 1);
    return wait_for_ever(NULL);
}

void start_waiting(unsigned count)
{
    static atomic_uint running;
    unsigned until = running + count;
    for (unsigned i = 0; i < count; i++)
        in_thread(say_and_wait, &running);
    wait_until(running >= until);
}
