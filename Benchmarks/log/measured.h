/* The results of one run of a writer's program for the driver, in shared memory. */
#ifndef MEASURED_H
#define MEASURED_H

#include <stdbool.h>

#define WIDTHS 3 /* 1, 2 and 4 threads */
#define THREADS_MAX 4
#define KILLED_AFTER 1000 /* entries */
#define COUNTED_CALLS 1000

static const unsigned widths[WIDTHS] = { 1, 2, 4 };

struct figures {
    double ns;                /* of a call in the median block of calls */
    double calls_us;          /* all threads together, from the first call to the last */
    double middle, p99, p999; /* single calls, ns */
};

struct measured {
    bool done;
    bool counter; /* single calls were timed with the cycle counter */
    struct figures of[WIDTHS];
};

#endif
