/* What a breadcrumb of 40 bytes costs where several threads write. bench-log-threads DIR ROUNDS */
#include "common.h"

#include <launchguard/launchguard.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 4
#define BATCH 4000
#define ENTRY_BYTES 64
#define FLOOR_BYTES 262144

static lg_session *session;
static char *ring;
static _Atomic size_t ticket;
static int file;
static const char text[41] = "the quick brown fox jumps over lazy dogs";

static void make_entry(char entry[ENTRY_BYTES])
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    memcpy(entry, &now, sizeof now);
    memcpy(entry + sizeof now, text, 40);
}

/* What every writer into one ring has to do. */
static void floor_call(void)
{
    char entry[ENTRY_BYTES] = { 0 };
    make_entry(entry);
    size_t at = atomic_fetch_add_explicit(&ticket, ENTRY_BYTES, memory_order_relaxed) % FLOOR_BYTES;
    memcpy(ring + at, entry, sizeof entry);
}

static void log_call(void)
{
    lg_log_write(session, LG_LEVEL_INFO, text, 40);
}

static void write_call(void)
{
    char entry[ENTRY_BYTES] = { 0 };
    make_entry(entry);
    if (write(file, entry, sizeof entry) != sizeof entry)
        abort();
}

static const struct {
    const char *name;
    void (*call)(void);
    unsigned batch;
} kinds[] = {
    { "clock, ticket and copy of 64 bytes", floor_call, BATCH },
    { "lg_log_write() of 40 bytes", log_call, BATCH },
    { "clock and write(2) of 64 bytes, O_APPEND", write_call, BATCH / 10 },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* Single calls, the clock's own time included; all threads of all rounds. */
struct calls {
    _Atomic size_t count;
    uint32_t ns[1 << 21];
};
static struct calls calls[KINDS];
static double took[THREADS_MAX];
static pthread_barrier_t start;

struct worker {
    size_t kind;
    unsigned number;
};

static void *work(void *argument)
{
    const struct worker *worker = argument;
    void (*call)(void) = kinds[worker->kind].call;
    unsigned batch = kinds[worker->kind].batch;
    struct calls *of = &calls[worker->kind];
    for (unsigned i = 0; i < 100; i++)
        call(); /* this thread's first: its lane, its pages */
    pthread_barrier_wait(&start);
    uint64_t begin = now_ns();
    for (unsigned i = 0; i < batch; i++)
        call();
    took[worker->number] = (double)(now_ns() - begin) / batch;
    pthread_barrier_wait(&start);
    size_t at = atomic_fetch_add(&of->count, batch);
    for (unsigned i = 0; i < batch; i++) {
        uint64_t before = now_ns();
        call();
        uint64_t ns = now_ns() - before;
        if (at + i < sizeof of->ns / sizeof of->ns[0])
            of->ns[at + i] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
    }
    return NULL;
}

static double run_threads(size_t kind, unsigned count)
{
    pthread_t threads[THREADS_MAX];
    struct worker workers[THREADS_MAX];
    double sum = 0;
    pthread_barrier_init(&start, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct worker){ kind, i };
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += took[i];
    }
    return sum / count;
}

static int by_size(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void print_calls(size_t kind)
{
    struct calls *of = &calls[kind];
    size_t most = sizeof of->ns / sizeof of->ns[0], count = of->count < most ? of->count : most;
    qsort(of->ns, count, sizeof of->ns[0], by_size);
    printf("    single calls: median %u, 99 %% %u, 99.9 %% %u\n", of->ns[count / 2], of->ns[count - count / 100], of->ns[count - count / 1000]);
}

int main(int count, char **arguments)
{
    static const unsigned widths[] = { 1, 2, 4 };
    static struct series series[KINDS];
    if (count != 3)
        return 2;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.state_directory = arguments[1];
    char path[4096];
    snprintf(path, sizeof path, "%s/appended", arguments[1]);
    FILE *floor_file = tmpfile();
    if (lg_start(&options, &session) != LG_OK || !floor_file || ftruncate(fileno(floor_file), FLOOR_BYTES) != 0)
        return 1;
    ring = mmap(NULL, FLOOR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(floor_file), 0);
    file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (ring == MAP_FAILED || file < 0)
        return 1;
    for (size_t width = 0; width < sizeof widths / sizeof widths[0]; width++) {
        memset(series, 0, sizeof series);
        memset(calls, 0, sizeof calls);
        for (int round = -3; round < atoi(arguments[2]); round++) /* the first ones warm up */
            for (size_t kind = 0; kind < KINDS; kind++) {
                double ns = run_threads(kind, widths[width]);
                if (round >= 0)
                    series_add(&series[kind], ns);
                else
                    calls[kind].count = 0;
                if (ftruncate(file, 0) != 0)
                    return 1;
            }
        char title[100];
        snprintf(title, sizeof title, "Ring log, %u thread%s at once, a call of each", widths[width], width ? "s" : "");
        print_head(title, "ns");
        for (size_t kind = 0; kind < KINDS; kind++) {
            series[kind].name = kinds[kind].name;
            print_line(&series[kind], kind ? &series[0] : NULL);
            print_calls(kind);
        }
    }
    unlink(path);
    return 0;
}
