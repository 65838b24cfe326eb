/* The cost of a crash: from the fault to each commit of the handler, and to the wait of the parent.
 *
 * bench-crash DIR ROUNDS [quick]: quick is 64 calls, without other handlers */
#include "peers.h"
#include "record.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One scene: all series in microseconds. */
static struct result {
    int depth, threads;
    unsigned frames[PEERS];               /* of the program's calls, in the record */
    struct series total[PEERS];           /* from the fault to the wait of the parent */
    /* from the fault to the handler; this series and the next only for handlers with a clock */
    struct series entered[PEERS];
    struct series written[PEERS];         /* from there to its record */
    /* LaunchGuard with everything, and with stages 1 to 5: from entry to each commit */
    struct series stages[2][SCENE_STAMPS];
} results[] = {
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
    snprintf(title, sizeof title, "A crash %d calls deep, %d thread%s", result->depth,
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
        snprintf(name, sizeof name, peer > LG_OFF_SHARED ? "%s, %u frames%s" : "%s", total->name, result->frames[peer], few);
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

static void print_inside(const char *what, const struct result *result, const char *left, const char *right)
{
    char title[96];
    snprintf(title, sizeof title, "Inside %s, %d calls, %d thread%s, us", what, result->depth, result->threads, result->threads == 1 ? "" : "s");
    printf("\n%-59s %12s %12s\n", title, left, right);
}

static void print_stages(struct result *result)
{
    print_inside("the handler", result, "everything", "stages 1-5");
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
    print_inside("other handlers", result, "fault->entry", "->written");
    for (int peer = 0; peer < PEERS; peer++)
        if (result->written[peer].count) {
            printf("  %-57s", peer_name((enum peer)peer));
            print_cell(&result->entered[peer]);
            print_cell(&result->written[peer]);
            printf("\n");
        }
}

static struct result *find(int depth, int threads)
{
    for (size_t i = 0; i < RESULTS; i++)
        if (results[i].depth == depth && results[i].threads == threads)
            return &results[i];
    abort();
}

static void put_figures(void)
{
    struct result *usual = find(64, 1), *deep = find(512, 1), *many = find(64, 32);
    struct series *total = usual->total, *none = &total[NO_HANDLER], *inside = usual->stages[0];
    const char *unless = quick ? "left out of the quick table" : NULL;
    put_figure("off", series_ratio(&total[LG_OFF_SHARED], none), NULL);
    put_figure("few", series_ratio(&total[LG_FEW_SHARED], none), NULL);
    put_figure("all", series_ratio(&total[LG_ALL_SHARED], none), NULL);
    put_figure("threads", series_ratio(&many->total[LG_ALL_SHARED], &many->total[NO_HANDLER]), unless);
    put_figure("symbols", series_ratio(&total[BACKTRACE_COLD], &total[LG_FEW_SHARED]), unless);
    put_figure("libunwind", series_ratio(&inside[SCENE_DWARF], &usual->written[LIBUNWIND]), peer_missing(LIBUNWIND) ? peer_missing(LIBUNWIND) : unless);
    put_figure("header", series_median(&inside[SCENE_HEADER]), NULL);
    put_figure("frames", series_median(&inside[SCENE_FRAMES]), NULL);
    put_figure("dwarf", series_median(&inside[SCENE_DWARF]), NULL);
    put_figure("deep", series_median(&deep->stages[0][SCENE_DWARF]), unless);
    put_figure("process", series_median(&inside[SCENE_PROCESS]), NULL);
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
    put_figures();
    return 0;
}
