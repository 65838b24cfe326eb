/* The cost of a crash: from the fault to each commit of the handler, and to the wait of the parent.
 *
 * bench-crash DIR ROUNDS [quick]: quick is 64 calls, without other handlers */
#include "record.h"
#include "results.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct result results[] = {
    { .depth = 10, .threads = 1 },  { .depth = 64, .threads = 1 },  { .depth = 512, .threads = 1 },
    { .depth = 10, .threads = 32 }, { .depth = 64, .threads = 32 }, { .depth = 512, .threads = 32 },
};
#define RESULTS (sizeof results / sizeof results[0])

static const struct {
    enum scene_stamp stamp;
    const char *name;
} stages[] = {
    { SCENE_HEADER, "entry -> header committed" },
    { SCENE_CONTEXT, "entry -> registers, stack and code bytes committed" },
    { SCENE_FRAMES, "entry -> frame-pointer frames committed" },
    { SCENE_DWARF, "entry -> DWARF frames committed" },
    { SCENE_MESSAGES, "entry -> messages committed" },
    { SCENE_THREADS, "entry -> threads committed" },
    { SCENE_STACKS, "entry -> their stacks walked" },
    { SCENE_PROCESS, "entry -> process committed" },
    { SCENE_DONE, "entry -> record complete" },
};
#define STAGES (sizeof stages / sizeof stages[0])

/* Failures of each handler. A handler that fails twice is given up. */
static unsigned failures[PEER_RUNS];
static bool quick;

static bool crash(enum peer peer, const struct result *result, double *ret_us)
{
    struct peer_end end = peer_crash(peer, result->depth, result->threads, "fault", 10000);
    *ret_us = end.total_us;
    if (!end.hung && (end.status & 127) == SIGSEGV)
        return true;
    failures[peer]++;
    fprintf(stderr, "bench-crash: %s: %s (status %x)\n", peer_name(peer), end.hung ? "hangs" : "does not die of SIGSEGV", (unsigned)end.status);
    return false;
}

static void put_interval(struct series *series, unsigned round, enum scene_stamp from, enum scene_stamp to)
{
    const uint64_t *stamps = peer_shared->stamps;
    if (stamps[from] && stamps[to])
        series_put(series, round, (double)(stamps[to] - stamps[from]) / 1000);
}

static void play_one(struct result *result, enum peer peer, unsigned round)
{
    double total_us;
    if (!crash(peer, result, &total_us))
        return;
    if (peer >= PEERS) {
        struct series *inside = result->stages[peer == LG_ALL_STAMPS ? 0 : 1];
        put_interval(&inside[SCENE_FAULT], round, SCENE_FAULT, SCENE_ENTRY);
        for (int stamp = SCENE_HEADER; stamp < SCENE_STAMPS; stamp++)
            put_interval(&inside[stamp], round, SCENE_ENTRY, (enum scene_stamp)stamp);
        return;
    }
    series_put(&result->total[peer], round, total_us);
    put_interval(&result->entered[peer], round, SCENE_FAULT, SCENE_ENTRY);
    put_interval(&result->written[peer], round, SCENE_ENTRY, SCENE_DONE);
    if (result->frames[peer] == 0)
        result->frames[peer] = record_frames();
}

static bool is_played(enum peer peer, int round, int rounds)
{
    if (quick && peer > LG_ALL_SHARED && peer < PEERS)
        return false;
    return !peer_missing(peer) && failures[peer] < 2 && round < peer_rounds(peer, rounds);
}

static void play(struct result *result, int round, int rounds)
{
    unsigned order[PEER_RUNS];
    shuffle(order, PEER_RUNS);
    for (unsigned i = 0; i < PEER_RUNS; i++)
        if (is_played((enum peer)order[i], round, rounds))
            play_one(result, (enum peer)order[i], (unsigned)round);
}

static void print_totals(struct result *result, int rounds)
{
    char title[128], name[96];
    snprintf(title, sizeof title, "Crash %d calls deep, %d thread%s: from the fault to the wait of the parent", result->depth,
             result->threads, result->threads == 1 ? "" : "s");
    print_head(title, "us");
    for (int peer = 0; peer < PEERS; peer++) {
        struct series *total = &result->total[peer];
        const char *reason = peer_missing((enum peer)peer);
        total->name = peer_name((enum peer)peer);
        if (total->count == 0) {
            if (!quick)
                print_missing(total->name, reason ? reason : "the handler failed");
            continue;
        }
        char few[32] = "";
        if (total->count < (size_t)rounds)
            snprintf(few, sizeof few, ", n = %zu", total->count);
        snprintf(name, sizeof name, peer > LG_OFF_SHARED ? "%s (frames: %u%s)" : "%s", total->name, result->frames[peer], few);
        total->name = name;
        print_line(total, peer ? &result->total[NO_HANDLER] : NULL);
    }
}

static void print_cell(struct series *series)
{
    if (series->count)
        printf(" %12.1f", series_median(series));
    else
        printf(" %12s", "-");
}

static void print_stages(struct result *result)
{
    printf("\n  %-57s %12s %12s\n", "Inside LaunchGuard's handler, static with fault points, us", "everything", "stages 1-5");
    printf("  %-57s", "fault -> entry of the handler");
    print_cell(&result->stages[0][SCENE_FAULT]);
    print_cell(&result->stages[1][SCENE_FAULT]);
    for (size_t i = 0; i < STAGES; i++) {
        printf("\n  %-57s", stages[i].name);
        print_cell(&result->stages[0][stages[i].stamp]);
        print_cell(&result->stages[1][stages[i].stamp]);
    }
    printf("\n");
    if (quick)
        return;
    printf("\n  %-57s %12s %12s\n", "Inside other handlers, us", "fault->entry", "->written");
    for (int peer = 0; peer < PEERS; peer++)
        if (result->written[peer].count) {
            printf("  %-57s", peer_name((enum peer)peer));
            print_cell(&result->entered[peer]);
            print_cell(&result->written[peer]);
            printf("\n");
        }
}

int main(int count, char **arguments)
{
    if (count != 3 && count != 4)
        return 2;
    int rounds = atoi(arguments[2]);
    quick = count == 4;
    peers_open(arguments[0], arguments[1]);
    for (size_t i = 0; i < RESULTS; i++) {
        if (quick && results[i].depth != 64)
            continue;
        for (int round = 0; round < rounds; round++)
            play(&results[i], round, rounds);
        print_totals(&results[i], rounds);
        print_stages(&results[i]);
        fflush(stdout);
    }
    print_targets(results, RESULTS);
    return 0;
}
