/* The weight of the library: memory, threads, files; the cost of a thread and of a fork.
 *
 * bench-weight DIR ROUNDS */
#include "probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum build build;
    const char *directory;
} kinds[] = {
    { "links nothing", PLAIN, "-" },
    { "links the shared library, never starts", SHARED, "-" },
    { "links the shared library, in a session", SHARED, "shared" },
    { "holds the static library, never starts", STATIC, "-" },
    { "holds the static library, in a session", STATIC, "static" },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

enum { PRIVATE, VIRTUAL, THREADS, THREAD, FORK, FIGURES };
static struct series series[FIGURES][KINDS];
static const char *place;

static const char *directory_of(unsigned kind)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/weight-%s", place, kinds[kind].directory);
    return kinds[kind].directory[0] == '-' ? "-" : path;
}

static void weigh(unsigned kind, unsigned round)
{
    struct probe_figures weight = probe_run(kinds[kind].build, "weigh", directory_of(kind), "10");
    series_put(&series[PRIVATE][kind], round, weight.private_kib);
    series_put(&series[VIRTUAL][kind], round, weight.virtual_kib);
    series_put(&series[THREADS][kind], round, weight.threads);
    series_put(&series[THREAD][kind], round, probe_run(kinds[kind].build, "thread", directory_of(kind), "10").thread_us);
    series_put(&series[FORK][kind], round, probe_run(kinds[kind].build, "fork", directory_of(kind), "10").fork_us);
}

int main(int count, char **arguments)
{
    static const struct {
        const char *title, *unit;
    } tables[FIGURES] = {
        { "Private dirty memory, of smaps_rollup after 50 ms", "KiB" },
        { "Address space, after 50 ms", "KiB" },
        { "Threads, after 50 ms", "" },
        { "pthread_create() and pthread_join(), median of 300 a process", "us" },
        { "fork(), _exit() and waitpid(), median of 60 a process", "us" },
    };
    unsigned order[KINDS];
    if (count != 3)
        return 2;
    place = arguments[1];
    unsigned rounds = (unsigned)atoi(arguments[2]);
    probes_open(arguments[0]);
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (kinds[kind].directory[0] != '-')
            history_make(kinds[kind].build, directory_of(kind), 10, 10);
    for (unsigned round = 0; round < rounds; round++) {
        shuffle(order, KINDS);
        for (unsigned i = 0; i < KINDS; i++)
            weigh(order[i], round);
    }
    for (unsigned table = 0; table < FIGURES; table++) {
        print_head(tables[table].title, tables[table].unit);
        for (unsigned kind = 0; kind < KINDS; kind++) {
            series[table][kind].name = kinds[kind].name;
            print_line(&series[table][kind], kind ? &series[table][0] : NULL);
        }
    }
    printf("\nDisk of the run file of a clean end, KiB: ");
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (kinds[kind].directory[0] != '-')
            printf(" %s %.0f", kinds[kind].directory, history_newest_kib(directory_of(kind)));
    printf("\n");
    return 0;
}
