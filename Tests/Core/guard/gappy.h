/* A plugin that lacks some of its functions. */
#ifndef GAPPY_H
#define GAPPY_H

struct gappy_operations {
    int (*add)(int, int);
    int (*subtract)(int, int);                 /* lacks it */
    double (*scale)(double, int, const char *); /* lacks it */
};
extern const struct gappy_operations gappy_operations;

int gappy_twice(int number);
/* Calls of the plugin's code. */
long gappy_call(long (*function)(long), long argument);
long gappy_call_too(long (*function)(long), long argument);

#endif
