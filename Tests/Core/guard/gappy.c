#include "gappy.h"

static int add(int a, int b)
{
    return a + b;
}

const struct gappy_operations gappy_operations = { .add = add };

int gappy_twice(int number)
{
    return 2 * number;
}

long gappy_call(long (*function)(long), long argument)
{
    return function(argument) + 1;
}

long gappy_call_too(long (*function)(long), long argument)
{
    return function(argument) + 2;
}
