/* What the benchmarks share: a clock, children, medians, lines of the table. */
#ifndef COMMON_H
#define COMMON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t now_ns(void);

/* Run a program to its end, standard output and error into nothing; ends the benchmark if it hangs. Returns its wait status and
 * stores how long it took from spawn to wait. */
int run_child(char *const arguments[], uint64_t *ret_ns);

/* Memory shared with children that are started with shared_name() as an argument. */
void *shared_make(size_t size);
const char *shared_name(void);
void *shared_open(const char *name, size_t size);

/* A set of measurements. */
struct series {
    const char *name;
    size_t count;
    double values[4096];
};
void series_add(struct series *series, double value);
double series_median(struct series *series);

/* One line: name, median, 90th percentile, ratio to the median of `floor` (NULL: none). */
void print_head(const char *title, const char *unit);
void print_line(struct series *series, struct series *floor);

/* Recurse `depth` calls deep, then call `last`. */
void deeper(int depth, void (*last)(void));

#endif
