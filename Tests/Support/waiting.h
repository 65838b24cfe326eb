/* Programs under test wait for a condition and never for a time. Whoever started the program bounds
 * its life. */
#ifndef WAITING_H
#define WAITING_H

#include <errno.h>
#include <time.h>

/* Sleep at least this long. Only for wait_until(), and for a thread that paces itself in a loop. */
static inline void rest(unsigned ms)
{
    struct timespec left = { ms / 1000, ms % 1000 * 1000000L };
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

#define wait_until(condition)                                                                                                                        \
    do {                                                                                                                                             \
        while (!(condition))                                                                                                                         \
            rest(1);                                                                                                                                 \
    } while (0)

/* Sleep where the time itself is what the test is about: `why` says in what respect. */
static inline void pass_time(unsigned ms, const char *why)
{
    (void)why;
    rest(ms);
}

#endif
