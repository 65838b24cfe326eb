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

enum { FLOOR, FEW_STATIC, FEW_SHARED, MANY_STATIC, MANY_SHARED, FLOOR_MAKES, FIRST_STATIC, FIRST_SHARED, STARTS };
static const struct {
    const char *name;
    enum build build;
    const char *directory; /* NULL: a new one each time */
    const char *keep;
    int floor;
} starts[STARTS] = {
    [FLOOR] = { "the floor: two files reopened", PLAIN, "floor", "reopen", -1 },
    [FEW_STATIC] = { "lg_start(), static, 10 ended runs", STATIC, "few-static", "10", FLOOR },
    [FEW_SHARED] = { "lg_start(), shared, 10 ended runs", SHARED, "few-shared", "10", FLOOR },
    [MANY_STATIC] = { "lg_start(), static, 10,000 ended runs", STATIC, "many-static", "10000", FLOOR },
    [MANY_SHARED] = { "lg_start(), shared, 10,000 ended runs", SHARED, "many-shared", "10000", FLOOR },
    [FLOOR_MAKES] = { "the floor that makes directories and files", PLAIN, NULL, "make", -1 },
    [FIRST_STATIC] = { "the first lg_start() of all, static", STATIC, NULL, "10", FLOOR_MAKES },
    [FIRST_SHARED] = { "the first lg_start() of all, shared", SHARED, NULL, "10", FLOOR_MAKES },
};
static struct series start_us[STARTS], start_cpu_us[STARTS], start_faults[STARTS];

static void start_once(unsigned kind, unsigned round)
{
    char name[64];
    if (starts[kind].directory)
        snprintf(name, sizeof name, "%s", starts[kind].directory);
    else
        snprintf(name, sizeof name, "new-%u-%u", kind, round);
    struct probe_figures figures = probe_run(starts[kind].build, "exit", path_of(name), starts[kind].keep);
    if (!starts[kind].directory) /* few files at a time */
        remove_tree(path_of(name));
    series_put(&start_us[kind], round, figures.start_us);
    series_put(&start_cpu_us[kind], round, figures.start_cpu_us);
    series_put(&start_faults[kind], round, figures.start_faults);
}

static void print_starts(const char *title, const char *unit, struct series series[])
{
    print_head(title, unit);
    for (unsigned i = 0; i < STARTS; i++) {
        series[i].name = starts[i].name;
        print_line(&series[i], starts[i].floor < 0 ? NULL : &series[starts[i].floor]);
    }
}

/* ---- the whole process ---- */

enum { NOTHING, SHARED_NEVER, SHARED_STARTS, STATIC_NEVER, STATIC_STARTS, LIVES };
static const struct {
    const char *name;
    enum build build;
    const char *directory;
    int floor;
} lives[LIVES] = {
    [NOTHING] = { "links nothing", PLAIN, NULL, -1 },
    [SHARED_NEVER] = { "links the shared library, never starts", SHARED, NULL, NOTHING },
    [SHARED_STARTS] = { "links the shared library, starts", SHARED, "few-shared", SHARED_NEVER },
    [STATIC_NEVER] = { "holds the static library, never starts", STATIC, NULL, NOTHING },
    [STATIC_STARTS] = { "holds the static library, starts", STATIC, "few-static", STATIC_NEVER },
};
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

/* They repeat where times do not. */
static void print_instructions(void)
{
    static char few_static[4096];
    snprintf(few_static, sizeof few_static, "%s", path_of("few-static"));
    double in_static = probe_instructions(STATIC, "lg_start", few_static, "10", place);
    double in_shared = probe_instructions(SHARED, "lg_start", path_of("few-shared"), "10", place);
    if (in_static > 0 && in_shared > 0)
        printf("\nInstructions of lg_start() on its thread, by callgrind: %.0f static, %.0f shared\n", in_static, in_shared);
    else
        printf("\nInstructions of lg_start(): not counted, for which valgrind has to be installed\n");
}

static void print_targets(void)
{
    print_targets_head();
    print_target("C  lg_start(), static, to its floor", series_ratio(&start_us[FEW_STATIC], &start_us[FLOOR]), "x", 1.3, false);
    print_target("C  lg_start(), shared, to its floor", series_ratio(&start_us[FEW_SHARED], &start_us[FLOOR]), "x", 1.3, false);
    print_target("C  static, 10,000 ended runs to 10", series_ratio(&start_us[MANY_STATIC], &start_us[FEW_STATIC]), "x", 1.1, false);
    print_target("C  shared, 10,000 ended runs to 10", series_ratio(&start_us[MANY_SHARED], &start_us[FEW_SHARED]), "x", 1.1, false);
    print_target("C  the first start, static, to its floor", series_ratio(&start_us[FIRST_STATIC], &start_us[FLOOR_MAKES]), "x", 1.5, false);
    print_target("C  the first start, shared, to its floor", series_ratio(&start_us[FIRST_SHARED], &start_us[FLOOR_MAKES]), "x", 1.5, false);
    for (unsigned figure = 0; figure < FIGURES; figure++) {
        static const char *const figures[FIGURES] = { "spawn to wait", "CPU time", "CPU time of 50 ms" };
        const struct series *series = life_us[figure];
        char name[96];
        snprintf(name, sizeof name, "C  a process that starts, static, %s, more", figures[figure]);
        print_target(name, series_more(&series[STATIC_STARTS], &series[STATIC_NEVER]), "us", 100, false);
        snprintf(name, sizeof name, "C  a process that starts, shared, %s, more", figures[figure]);
        print_target(name, series_more(&series[SHARED_STARTS], &series[SHARED_NEVER]), "us", 100, false);
        snprintf(name, sizeof name, "C  the shared library linked, %s, more", figures[figure]);
        print_target(name, series_more(&series[SHARED_NEVER], &series[NOTHING]), "us", 150, false);
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
    print_starts("Start, inside the process", "us", start_us);
    printf("  (the floor: open, map, one store, twice; one sigaltstack, 14 rt_sigaction. As many ended runs as the session keeps)\n");
    print_starts("The same, CPU time of the calling thread", "us", start_cpu_us);
    print_starts("The same, page faults of the calling thread", "", start_faults);
    print_instructions();
    print_lives("The whole process, from spawn to wait; \"starts\" beside the same program that never starts", life_us[WALL]);
    print_lives("The same, CPU time of all its threads", life_us[CPU]);
    print_lives("CPU time of a process that lives 50 ms longer, so that what was put off is counted", life_us[LONG_CPU]);
    print_targets();
    return 0;
}
