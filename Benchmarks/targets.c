/* The targets, as ratios within one run wherever there is something to compare with. */
#include "results.h"

#include <stdio.h>

static void print_target(const char *name, double measured, const char *unit, double limit, bool at_least)
{
    bool reached = at_least ? measured >= limit : measured <= limit;
    printf("  %-66s %s %7.2f %-2s %9.2f  %s\n", name, at_least ? ">=" : "<=", limit, unit, measured, reached ? "yes" : "no");
}

static void print_time(const char *name, struct series *series, double limit_us)
{
    if (series->count)
        print_target(name, series_median(series), "us", limit_us, false);
    else
        print_missing(name, "no figures");
}

static void print_ratio(const char *name, struct series *over, struct series *under, double limit, bool at_least)
{
    if (over->count && under->count)
        print_target(name, series_median(over) / series_median(under), "x", limit, at_least);
    else
        print_missing(name, "no figures to compare");
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
    struct series *stages = usual->stages[0], *few = &usual->total[LG_FEW];
    printf("\nTargets (64 calls and one thread unless noted otherwise)\n  %-66s %13s %9s\n", "", "target", "measured");
    print_time("B1  entry -> header", &stages[SCENE_HEADER], 1);
    print_time("B2  entry -> frame-pointer frames", &stages[SCENE_FRAMES], 3);
    print_ratio("B2  entry -> DWARF frames, to libunwind's local cursor", &stages[SCENE_DWARF], &usual->written[LIBUNWIND], 1, false);
    print_ratio("B2  the aim after that: to backtrace()", &stages[SCENE_DWARF], &usual->written[BACKTRACE_ONLY], 1, false);
    print_ratio("B3  512 calls: entry -> DWARF frames, to libunwind's local cursor", &deep->stages[0][SCENE_DWARF],
                &deep->written[LIBUNWIND], 1, false);
    print_time("B3  the aim after that", &deep->stages[0][SCENE_DWARF], 100);
    print_ratio("B4  fault -> wait: backtrace_symbols_fd() to stages 1 to 5", &usual->total[BACKTRACE_COLD], few, 2, true);
    print_ratio("B4  the same, backtrace() called once before", &usual->total[BACKTRACE_WARM], few, 2, true);
    print_ratio("B4  the aim after that: stages 1 to 5 to no handler", few, &usual->total[NO_HANDLER], 1.25, false);
    print_ratio("B4  32 threads: everything to no handler", &many->total[LG_ALL], &many->total[NO_HANDLER], 3, false);
}
