/* Shared by the benchmarks: a clock, children, series of rounds, lines of the table. */
#ifndef COMMON_H
#define COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t now_ns(void);

/* One run of a program. */
struct child {
    char *const *arguments;
    char *const *environment; /* NULL: that of this process */
    /* standard error of the program; 0: /dev/null, as its standard output */
    int output;
    unsigned limit_ms;        /* limit after which the program is killed; 0: 20 seconds */
    bool hung;                /* out: the program was killed */
    uint64_t took_ns;         /* out: from spawn to wait */
    uint64_t ended_ns;        /* out: when the wait returned, as from now_ns() */
    uint64_t cpu_ns;          /* out: CPU time of all its threads, its end included */
};

/* Run a program to its end or to its limit. Returns its wait status. */
int child_run(struct child *child);

/* Run a program that has to work. If it hangs or fails, the benchmark ends without figures. */
void run_child(struct child *child);

/* Instructions of all calls of a function in a run of a program that works, as callgrind counts
 * them on the calling thread; 0: unknown, for example without valgrind. `directory` is for a file.
 */
double count_instructions(const char *function, char *const arguments[], const char *directory);

/* Remove a directory with all that it holds. */
void remove_tree(const char *directory);

/* Memory shared with children that are started with shared_name() as an argument. */
void *shared_make(size_t size);
const char *shared_name(void);
void *shared_open(const char *name, size_t size);

/* One kind of measurement, a value a round: NAN where a round has none. */
struct series {
    const char *name;
    size_t count;
    double values[4096];
};
void series_put(struct series *series, size_t round, double value);
void series_add(struct series *series, double value); /* of the next round */
double series_median(const struct series *series);
/* Medians of what a round has more than another series in the same round, and of the ratios. */
double series_more(const struct series *series, const struct series *floor);
double series_ratio(const struct series *series, const struct series *floor);

/* A random order of the numbers below `count`, for one round. */
void shuffle(unsigned order[], unsigned count);

/* One line: least and median; then, where there is a `floor`, median and quartiles of the ratios of
 * values of the same round. */
void print_head(const char *title, const char *unit);
void print_line(const struct series *series, const struct series *floor);

/* A line for a candidate that cannot be measured here. */
void print_missing(const char *name, const char *reason);

/* A figure of the table of budget.py, for the file that BENCH_FIGURES names. `unless`: why there is
 * none, where the value is NAN; NULL: not known. */
void put_figure(const char *name, double value, const char *unless);

#endif
