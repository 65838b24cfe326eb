/* The targets, as ratios within one run wherever there is something to compare with. */
#include "results.h"

#include <stdio.h>

static void print_time(const char *name, struct series *series, double limit_us)
{
    print_target(name, series_median(series), "us", limit_us, false);
}

static void print_ratio(const char *name, struct series *over, struct series *under, double limit, bool at_least)
{
    print_target(name, series_ratio(over, under), "x", limit, at_least);
}

static struct result *find(struct result *results, size_t count, int depth, int threads)
{
    static struct result none;
    for (size_t i = 0; i < count; i++)
        if (results[i].depth == depth && results[i].threads == threads)
            return &results[i];
    return &none;
}

void print_targets(struct result *results, size_t count)
{
    struct result *usual = find(results, count, 64, 1), *deep = find(results, count, 512, 1), *many = find(results, count, 64, 32);
    struct series *stages = usual->stages[0], *total = usual->total, *few = &total[LG_FEW], *none = &total[NO_HANDLER];
    printf("\n64 calls and one thread unless noted otherwise; stages are of the static library");
    print_targets_head();
    print_time("B1  entry -> header", &stages[SCENE_HEADER], 1);
    print_time("B2  entry -> frame-pointer frames", &stages[SCENE_FRAMES], 3);
    print_time("B2  entry -> DWARF frames", &stages[SCENE_DWARF], 30);
    print_ratio("B2  entry -> DWARF frames, to libunwind's local cursor", &stages[SCENE_DWARF], &usual->written[LIBUNWIND], 1, false);
    print_time("B3  512 calls: entry -> DWARF frames", &deep->stages[0][SCENE_DWARF], 100);
    print_ratio("B3  512 calls: entry -> DWARF frames, to libunwind's local cursor", &deep->stages[0][SCENE_DWARF],
                &deep->written[LIBUNWIND], 1, false);
    print_ratio("B4  fault -> wait: backtrace_symbols_fd() to stages 1 to 5", &total[BACKTRACE_COLD], few, 2, true);
    print_ratio("B4  the same, backtrace() called once before", &total[BACKTRACE_WARM], few, 2, true);
    print_ratio("B4  stages 1 to 5 to no handler, static", few, none, 1.25, false);
    print_ratio("B4  stages 1 to 5 to no handler, shared", &total[LG_FEW_SHARED], none, 1.25, false);
    print_ratio("B4  everything to no handler, static", &total[LG_ALL], none, 2, false);
    print_ratio("B4  everything to no handler, shared", &total[LG_ALL_SHARED], none, 2, false);
    print_ratio("B4  32 threads: everything to no handler, static", &many->total[LG_ALL], &many->total[NO_HANDLER], 2, false);
    print_ratio("B4  32 threads: everything to no handler, shared", &many->total[LG_ALL_SHARED], &many->total[NO_HANDLER], 2, false);
}
