/* The cost of lg_start(), inside the process and for the whole process.
 *
 * bench-start DIR ROUNDS [FILE_SYSTEM]: its name, for the titles and the figures */
#include "probes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FEW 10
#define MANY 10000

static const char *place, *file_system = "this file system";

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

static const char *on_file_system(const char *format)
{
    static char text[128];
    snprintf(text, sizeof text, format, file_system);
    return text;
}

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
enum { WALL, CPU, LONG_CPU, EXIT, FIGURES };
static struct series life_us[FIGURES][LIVES];

static void live_once(unsigned kind, bool longer, unsigned round)
{
    struct probe_figures figures;
    struct child child = probe_live(lives[kind].build, longer ? "live" : "exit", lives[kind].directory ? path_of(lives[kind].directory) : "-", "10", &figures);
    if (!longer) {
        series_put(&life_us[WALL][kind], round, (double)child.took_ns / 1000);
        series_put(&life_us[EXIT][kind], round, (double)(child.ended_ns - figures.left_ns) / 1000);
    }
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
static double print_instructions(void)
{
    static char few_static[4096];
    snprintf(few_static, sizeof few_static, "%s", path_of("few-static"));
    double in_static = probe_instructions(STATIC, "lg_start", few_static, "10", place);
    double in_shared = probe_instructions(SHARED, "lg_start", path_of("few-shared"), "10", place);
    if (in_static > 0 && in_shared > 0)
        printf("\nInstructions of lg_start() on its thread, by callgrind: %.0f static, %.0f shared\n", in_static, in_shared);
    else
        printf("\nInstructions of lg_start(): not counted, for which valgrind has to be installed\n");
    return in_shared > 0 ? in_shared : NAN;
}

static void put(const char *name, double value, const char *unless)
{
    char whole[128];
    snprintf(whole, sizeof whole, "%s.%s", name, file_system);
    put_figure(whole, value, unless);
}

static void put_figures(double instructions)
{
    put("instructions", instructions, "valgrind is not installed");
    put("few", series_median(&start_us[FEW_SHARED]), NULL);
    put("many", series_median(&start_us[MANY_SHARED]), NULL);
    put("few-faults", series_median(&start_faults[FEW_SHARED]), NULL);
    put("many-faults", series_median(&start_faults[MANY_SHARED]), NULL);
    put("first", series_ratio(&start_us[FIRST_SHARED], &start_us[FLOOR_MAKES]), NULL);
    put("exit", series_more(&life_us[EXIT][SHARED_STARTS], &life_us[EXIT][SHARED_NEVER]), NULL);
    put("process", series_more(&life_us[CPU][SHARED_STARTS], &life_us[CPU][SHARED_NEVER]), NULL);
    put("linked", series_more(&life_us[CPU][SHARED_NEVER], &life_us[CPU][NOTHING]), NULL);
}

int main(int count, char **arguments)
{
    if (count != 3 && count != 4)
        return 2;
    place = arguments[1];
    if (count == 4)
        file_system = arguments[3];
    unsigned rounds = (unsigned)atoi(arguments[2]), order[STARTS + 2 * LIVES];
    probes_open(arguments[0]);
    probe_live(PLAIN, "exit", path_of("floor"), "make", NULL);
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
    print_starts(on_file_system("Start on %s, inside the process"), "us", start_us);
    print_starts(on_file_system("CPU time of a start on %s, calling thread"), "us", start_cpu_us);
    print_starts(on_file_system("Page faults of a start on %s, calling thread"), "", start_faults);
    const double instructions = print_instructions();
    print_lives(on_file_system("A process on %s, from spawn to wait"), life_us[WALL]);
    print_lives(on_file_system("A process on %s, CPU time"), life_us[CPU]);
    print_lives(on_file_system("A process on %s that lives 50 ms longer, CPU time"), life_us[LONG_CPU]);
    print_lives(on_file_system("An exit on %s, to the wait of the parent"), life_us[EXIT]);
    put_figures(instructions);
    return 0;
}
