/* Waiting, in tests and in the programs that tests start: for a condition, never for a time. */
#ifndef WAITING_H
#define WAITING_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A process that waits in vain, child or test, exits with this before its hard limit. */
#define IN_VAIN 124
#define IN_VAIN_AFTER_NS UINT64_C(100000000000)

/* CLOCK_MONOTONIC. */
static inline uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void pass_ns(uint64_t ns)
{
    struct timespec left = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

/* Sleep at least this long, whatever interrupts the sleep. Only for wait_until(), and for a thread
 * that paces itself in a loop. */
static inline void rest(unsigned ms)
{
    pass_ns((uint64_t)ms * 1000000u);
}

/* Sleep where the time itself is what the test is about: `why` says in what respect. */
static inline void pass_time(unsigned ms, const char *why)
{
    (void)why;
    pass_ns((uint64_t)ms * 1000000u);
}
static inline void pass_us(unsigned us, const char *why)
{
    (void)why;
    pass_ns((uint64_t)us * 1000u);
}

static inline void rest_since(uint64_t begin_ns, const char *complaint)
{
    rest(1);
    if (now_ns() - begin_ns < IN_VAIN_AFTER_NS)
        return;
    (void)!write(STDERR_FILENO, complaint, strlen(complaint));
    _exit(IN_VAIN);
}

/* Wait until the condition holds. A process that waits in vain names the condition on standard
 * error. Safe in a signal handler. */
#define wait_until(condition)                                                                                                                        \
    do {                                                                                                                                             \
        const uint64_t begin_of_wait = now_ns();                                                                                                     \
        while (!(condition))                                                                                                                         \
            rest_since(begin_of_wait, __FILE__ ":" AS_TEXT(__LINE__) ": waited in vain: " #condition "\n");                                          \
    } while (0)
#define AS_TEXT(line) AS_TEXT_OF(line)
#define AS_TEXT_OF(line) #line

#endif
