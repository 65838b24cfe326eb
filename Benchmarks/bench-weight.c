/* The weight of the library: memory, threads, files; the cost of a thread and of a fork.
 *
 * bench-weight DIR ROUNDS [LIBRARY]: the shared library, stripped */
#include "probes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { NOTHING, SHARED_NEVER, SHARED_STARTS, STATIC_NEVER, STATIC_STARTS, KINDS };
static const struct {
    const char *name;
    enum build build;
    const char *directory;
    int unstarted; /* the same program without a session */
} kinds[KINDS] = {
    [NOTHING] = { "links nothing", PLAIN, "-", -1 },
    [SHARED_NEVER] = { "links the shared library, never starts", SHARED, "-", NOTHING },
    [SHARED_STARTS] = { "links the shared library, in a session", SHARED, "shared", SHARED_NEVER },
    [STATIC_NEVER] = { "holds the static library, never starts", STATIC, "-", NOTHING },
    [STATIC_STARTS] = { "holds the static library, in a session", STATIC, "static", STATIC_NEVER },
};

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

static double library_kib = NAN, disk_kib[2];

static void print_files(const char *library)
{
    struct stat info;
    if (library && stat(library, &info) == 0)
        library_kib = (double)info.st_size / 1024;
    disk_kib[0] = history_newest_kib(directory_of(STATIC_STARTS));
    disk_kib[1] = history_newest_kib(directory_of(SHARED_STARTS));
    printf("\nFiles, KiB: the shared library, stripped %.1f; the run file of a clean end, on disk %.0f (static), %.0f (shared)\n", library_kib,
           disk_kib[0], disk_kib[1]);
}

static double more(unsigned figure, unsigned kind)
{
    return series_more(&series[figure][kind], &series[figure][kinds[kind].unstarted]);
}

static void put_figures(void)
{
    put_figure("library", library_kib, "strip did not work");
    put_figure("private", more(PRIVATE, SHARED_STARTS), NULL);
    put_figure("addresses", more(VIRTUAL, SHARED_STARTS) / 1024, NULL);
    put_figure("threads", more(THREADS, SHARED_STARTS), NULL);
    put_figure("file", disk_kib[1], NULL);
    put_figure("thread", series_ratio(&series[THREAD][SHARED_STARTS], &series[THREAD][NOTHING]), NULL);
    put_figure("fork", series_ratio(&series[FORK][SHARED_STARTS], &series[FORK][NOTHING]), NULL);
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
    if (count != 3 && count != 4)
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
            /* threads and forks beside a program that links nothing */
            int floor = kind && table >= THREAD ? NOTHING : kinds[kind].unstarted;
            print_line(&series[table][kind], floor < 0 ? NULL : &series[table][floor]);
        }
    }
    print_files(count == 4 ? arguments[3] : NULL);
    put_figures();
    return 0;
}
