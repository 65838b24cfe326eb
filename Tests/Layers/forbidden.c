/* A handler that breaks the rules: directly, through another function, and through an address. The
 * test of the check itself. */
#include <stdlib.h>

void on_crash(int signal);

static __attribute__((noinline)) int compare(const void *left, const void *right)
{
    return left < right ? rand() : 0;
}

static __attribute__((noinline)) void helper(void *bytes)
{
    qsort(bytes, 2, 1, compare);
}

void on_crash(int signal)
{
    char *bytes = malloc((size_t)signal);
    helper(bytes);
}
