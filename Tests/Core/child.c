#include "child.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>
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

void rest(unsigned ms)
{
    struct timespec left = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };
    while (nanosleep(&left, &left) != 0) {}
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
