/* The cost of lg_start(), inside the process and for the whole process.
 *
 * bench-start DIR ROUNDS */
#include "probes.h"

#include <stdio.h>
#include <stdlib.h>

#define FEW 10
#define MANY 10000

static const char *place;

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

/* ---- inside ---- */

static const struct {
    const char *name;
    enum build build;
    const char *directory; /* NULL: a new one each time */
    const char *keep;
    int floor;
} starts[] = {
    { "the floor: two files reopened", PLAIN, "floor", "reopen", -1 },
    { "lg_start(), static, 10 ended runs", STATIC, "few-static", "10", 0 },
    { "lg_start(), shared, 10 ended runs", SHARED, "few-shared", "10", 0 },
    { "lg_start(), static, 10,000 ended runs", STATIC, "many-static", "10000", 0 },
    { "lg_start(), shared, 10,000 ended runs", SHARED, "many-shared", "10000", 0 },
    { "the floor that makes directories and files", PLAIN, NULL, "make", -1 },
    { "the first lg_start() of all, static", STATIC, NULL, "10", 5 },
    { "the first lg_start() of all, shared", SHARED, NULL, "10", 5 },
};
#define STARTS (sizeof starts / sizeof starts[0])
static struct series start_us[STARTS], start_cpu_us[STARTS];

static void start_once(unsigned kind, unsigned round)
{
    char name[64];
    if (starts[kind].directory)
        snprintf(name, sizeof name, "%s", starts[kind].directory);
    else
        snprintf(name, sizeof name, "new-%u-%u", kind, round);
    struct probe_figures figures = probe_run(starts[kind].build, "exit", path_of(name), starts[kind].keep);
    series_put(&start_us[kind], round, figures.start_us);
    series_put(&start_cpu_us[kind], round, figures.start_cpu_us);
}

static void print_starts(const char *title, struct series series[])
{
    print_head(title, "us");
    for (unsigned i = 0; i < STARTS; i++) {
        series[i].name = starts[i].name;
        print_line(&series[i], starts[i].floor < 0 ? NULL : &series[starts[i].floor]);
    }
}

/* ---- the whole process ---- */

static const struct {
    const char *name;
    enum build build;
    const char *directory;
    int floor;
} lives[] = {
    { "links nothing", PLAIN, NULL, -1 },
    { "links the shared library, never starts", SHARED, NULL, 0 },
    { "links the shared library, starts", SHARED, "few-shared", 1 },
    { "holds the static library, never starts", STATIC, NULL, 0 },
    { "holds the static library, starts", STATIC, "few-static", 3 },
};
#define LIVES (sizeof lives / sizeof lives[0])
enum { WALL, CPU, LONG_CPU, FIGURES };
static struct series life_us[FIGURES][LIVES];

static void live_once(unsigned kind, bool longer, unsigned round)
{
    struct child child = probe_live(lives[kind].build, longer ? "live" : "exit", lives[kind].directory ? path_of(lives[kind].directory) : "-", "10");
    if (!longer)
        series_put(&life_us[WALL][kind], round, (double)child.took_ns / 1000);
    series_put(&life_us[longer ? LONG_CPU : CPU][kind], round, (double)child.cpu_ns / 1000);
}

static void print_lives(const char *title, struct series series[])
{
    print_head(title, "us");
    for (unsigned i = 0; i < LIVES; i++) {
        series[i].name = lives[i].name;
        print_line(&series[i], lives[i].floor < 0 ? NULL : &series[lives[i].floor]);
    }
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    place = arguments[1];
    unsigned rounds = (unsigned)atoi(arguments[2]), order[STARTS + 2 * LIVES];
    probes_open(arguments[0]);
    probe_live(PLAIN, "exit", path_of("floor"), "make");
    history_make(STATIC, path_of("few-static"), FEW, FEW);
    history_make(SHARED, path_of("few-shared"), FEW, FEW);
    history_make(STATIC, path_of("many-static"), MANY, rounds + 20);
    history_make(SHARED, path_of("many-shared"), MANY, rounds + 20);
    for (unsigned round = 0; round < rounds; round++) {
        shuffle(order, STARTS + 2 * LIVES);
        for (unsigned i = 0; i < STARTS + 2 * LIVES; i++)
            if (order[i] < STARTS)
                start_once(order[i], round);
            else
                live_once((order[i] - STARTS) % LIVES, order[i] >= STARTS + LIVES, round);
    }
    print_starts("Start, inside the process", start_us);
    printf("  (the floor: open, map, one store, twice; one sigaltstack, 14 rt_sigaction. As many ended runs as the session keeps)\n");
    print_starts("The same, CPU time of the calling thread", start_cpu_us);
    print_lives("The whole process, from spawn to wait; \"starts\" beside the same program that never starts", life_us[WALL]);
    print_lives("The same, CPU time of all its threads", life_us[CPU]);
    print_lives("CPU time of a process that lives 50 ms longer, so that what was put off is counted", life_us[LONG_CPU]);
    return 0;
}
