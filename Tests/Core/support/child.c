#include "child.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Below the hard limit of a child. */
#define WAIT_NS UINT64_C(100000000000)

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

uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void rest_us(unsigned us)
{
    struct timespec left = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };
    while (nanosleep(&left, &left) != 0) {}
}

void rest(unsigned ms)
{
    rest_us(ms * 1000);
}

void rest_since(uint64_t begin_ns, const char *complaint)
{
    if (now_ns() - begin_ns > WAIT_NS) {
        ssize_t written = write(STDERR_FILENO, complaint, strlen(complaint));
        (void)written;
        _exit(IN_VAIN);
    }
    rest(1);
}

void pass_us(unsigned us, const char *why)
{
    (void)why;
    rest_us(us);
}

void pass_time(unsigned ms, const char *why)
{
    pass_us(ms * 1000, why);
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
