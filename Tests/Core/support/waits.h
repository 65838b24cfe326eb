/* Waiting, in tests and in programs of tests: for a condition, never for a time. In child.c. */
#ifndef WAITS_H
#define WAITS_H

#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);

/* Wait until the condition holds. A process that waits in vain, child or test, names the condition
 * on standard error and exits with IN_VAIN before its hard limit. Safe in a signal handler. */
#define IN_VAIN 124
#define wait_until(condition)                                                                                                                        \
    do {                                                                                                                                             \
        const uint64_t begin_of_wait = now_ns();                                                                                                     \
        while (!(condition))                                                                                                                         \
            rest_since(begin_of_wait, __FILE__ ":" AS_TEXT(__LINE__) ": waited in vain: " #condition "\n");                                          \
    } while (0)
#define AS_TEXT(line) AS_TEXT_OF(line)
#define AS_TEXT_OF(line) #line
void rest_since(uint64_t begin_ns, const char *complaint);
/* Sleep at least this long, whatever interrupts the sleep. Only for wait_until(), and for a thread
 * that paces itself in a loop. */
void rest(unsigned ms);
/* Sleep where the time itself is what the test is about: `why` says in what respect. */
void pass_time(unsigned ms, const char *why);
void pass_us(unsigned us, const char *why);

#endif
