/* The shared library. Its functions fault in the same way. */
#include "bugs.h"

#define SHARED __attribute__((visibility("default")))

SHARED long library_sum(const long *list, long count)
{
    long sum = 0;
    for (long i = 0; i <= count; i++)
        sum += 5 * list[i];
    return sum;
}

SHARED long library_last(const long *list, long count)
{
    return list[count] + 1;
}
