#include "session/retention_choice.h"

#include <stdlib.h>

/* A device that starts well each day shows what a good run looks like, and keeps its crashes. */
#define QUIET_PART 4u

enum rank { FIRST, OWED, NEWEST, TOLD, QUIET };

static uint32_t quiet_least(uint32_t limit)
{
    return limit / QUIET_PART;
}

static int newest_first(const void *left, const void *right)
{
    const struct lg__ended_run *a = left, *b = right;
    return a->ordinal > b->ordinal ? -1 : a->ordinal < b->ordinal;
}

static int by_rank(const void *left, const void *right)
{
    const struct lg__ended_run *a = left, *b = right;
    return a->rank != b->rank ? (a->rank > b->rank ? 1 : -1) : newest_first(left, right);
}

void lg__retention_choice_order(struct lg__ended_run *runs, uint32_t count, uint32_t limit)
{
    uint32_t quiet = 0;
    bool newest = true;
    if (count)
        qsort(runs, count, sizeof *runs, newest_first);
    for (uint32_t i = 0; i < count; i++) {
        struct lg__ended_run *run = &runs[i];
        const bool beyond = run->quiet && quiet >= quiet_least(limit);
        run->rank = run->first ? FIRST : run->owed ? OWED : newest ? NEWEST : beyond ? QUIET : TOLD;
        quiet += run->quiet;
        newest = newest && run->first;
    }
    if (count)
        qsort(runs, count, sizeof *runs, by_rank);
}

/* The newest of the owed runs for which there is room stay owed. */
static void bound_owed(struct lg__ended_run *runs, uint32_t count, uint64_t most)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        if (runs[i].rank == OWED) {
            bytes += runs[i].size;
            runs[i].owed = bytes <= most;
        }
}

void lg__retention_choice_make(struct lg__ended_run *runs, uint32_t count, const struct lg__retention_limits *limits)
{
    uint64_t bytes = 0;
    uint32_t kept = 0;
    lg__retention_choice_order(runs, count, limits->runs);
    bound_owed(runs, count, limits->bytes);
    lg__retention_choice_order(runs, count, limits->runs);
    for (uint32_t i = 0; i < count; i++) {
        struct lg__ended_run *run = &runs[i];
        bytes += run->size;
        run->gives_way = run->rank > NEWEST && (kept >= limits->runs || bytes > limits->bytes);
        kept += run->rank >= NEWEST && !run->gives_way;
    }
}

/* Sort the runs. Returns how many from the end may give way, one a start, with no look at the runs
 * that are still to come. */
static uint32_t sort_safely(struct lg__ended_run *runs, uint32_t count, uint32_t limit, uint64_t unused)
{
    const uint32_t least = quiet_least(limit);
    uint32_t quiet = 0, listed = 0;
    for (uint32_t i = 0; i < count; i++)
        quiet += runs[i].quiet && !runs[i].owed;
    if (quiet && quiet >= least) {
        lg__retention_choice_order(runs, count, 0);
        for (uint32_t i = 0; i < count; i++)
            listed += runs[i].rank == QUIET;
        return listed ? listed : count == 1;
    }
    /* Runs that are still to come may be quiet, and would give way before one with a bad end as
     * soon as there are enough of them. */
    lg__retention_choice_order(runs, count, limit);
    listed = least > quiet ? least - quiet : !quiet;
    return unused ? 0 : listed < count ? listed : count;
}

struct lg__retention_forecast lg__retention_choice_foresee(struct lg__ended_run *runs, uint32_t count, const struct lg__retention_limits *limits,
                                                    uint64_t bytes, uint64_t own)
{
    uint32_t owed = 0, listed = 0;
    for (uint32_t i = 0; i < count; i++)
        owed += runs[i].owed;
    struct lg__retention_forecast forecast = { .unused = count - owed < limits->runs ? limits->runs - (count - owed) : 0 };
    const uint32_t most = sort_safely(runs, count, limits->runs, forecast.unused);
    for (; forecast.starts < LG__FORESEEN_STARTS; forecast.starts++) {
        bytes += own;
        /* from now on each start needs the bytes of an older run */
        if (owed && bytes > limits->bytes && forecast.starts < forecast.unused)
            forecast.unused = forecast.starts;
        if (forecast.starts >= forecast.unused) {
            if (listed == LG__OLDEST || listed == most)
                break;
            bytes -= runs[count - 1 - listed++].size;
        }
        /* the size of the owed runs is measured when one of them has to give way */
        if (bytes > limits->bytes && !owed)
            break;
    }
    return forecast;
}
