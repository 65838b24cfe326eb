/* Shared by the programs that log in one way each: threads, clocks, an end by SIGKILL.
 *
 *   writer-NAME MODE DIRECTORY time MEMORY       fill a struct measured; common.h explains MEMORY
 *   writer-NAME MODE DIRECTORY die PIPE NUMBER   append KILLED_AFTER entries, write to PIPE, wait
 *   writer-NAME MODE DIRECTORY count             COUNTED_CALLS calls, to count instructions */
#include "../common.h"
#include "counter.h"
#include "measured.h"
#include "writer.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARM_NS 2000000
#define TIMED_NS 10000000
#define BLOCK 512 /* calls between two looks at the clock */
#define BLOCKS 16384
#define SINGLE_CALLS 20000

struct writer_arguments writer_arguments = { "notes.db", 41, 12, -3 };

static const struct writer *writer;
static const char text[TEXT_BYTES + 1] = "the quick brown fox jumps over lazy dogs";

void writer_fail(const char *what)
{
    perror(what);
    _exit(3);
}

/* ---- Threads that start together ---- */

static unsigned width;
static atomic_uint arrived;

/* A thread that sleeps would begin some 50 us late, which is longer than thousands of calls: so it
 * spins. Where threads outnumber CPUs, it yields. */
static void meet(void)
{
    unsigned ticket = atomic_fetch_add(&arrived, 1), all = (ticket / width + 1) * width;
    for (unsigned spins = 0; atomic_load_explicit(&arrived, memory_order_acquire) < all; spins++)
        if (spins > 1000)
            sched_yield();
}

static void settle_together(bool first)
{
    meet();
    if (first && writer->settle)
        writer->settle();
    meet();
}

/* Number of calls, in whole blocks, that one thread may make before all settle. */
static unsigned burst_of_thread(void)
{
    return writer->burst ? writer->burst / width / BLOCK * BLOCK : UINT32_MAX;
}

/* ---- One thread ---- */

struct worker {
    bool first;
    uint64_t calls, begin_ns, end_ns;
    unsigned blocks, singles;
    uint32_t block_ns[BLOCKS];    /* of the first blocks */
    uint32_t ticks[SINGLE_CALLS]; /* of each single call */
};
static struct worker workers[THREADS_MAX];
static bool counter;

static uint32_t clamp(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static void call_for(struct worker *worker, uint64_t limit_ns)
{
    unsigned most = burst_of_thread();
    void (*append)(const char *) = writer->append;
    worker->calls = worker->blocks = 0;
    worker->end_ns = worker->begin_ns = now_ns();
    do {
        uint64_t begin = worker->end_ns;
        for (unsigned i = 0; i < BLOCK; i++)
            append(text);
        worker->calls += BLOCK;
        worker->end_ns = now_ns();
        if (worker->blocks < BLOCKS)
            worker->block_ns[worker->blocks++] = clamp(worker->end_ns - begin);
    } while (worker->end_ns - worker->begin_ns < limit_ns && worker->calls + BLOCK <= most);
}

/* From one reading of the clock to the next: a call, the reading itself and a store. Nothing is
 * subtracted. The writer "nothing" shows the cost of the reading. */
static void call_singly(struct worker *worker)
{
    unsigned most = burst_of_thread();
    uint64_t end = now_ns() + TIMED_NS;
    for (worker->singles = 0; worker->singles < SINGLE_CALLS && worker->singles + BLOCK <= most; ) {
        uint64_t before = counter ? counter_read_in_order() : now_ns();
        for (unsigned i = 0; i < BLOCK && worker->singles < SINGLE_CALLS; i++) {
            writer->append(text);
            uint64_t after = counter ? counter_read_in_order() : now_ns();
            worker->ticks[worker->singles++] = clamp(after - before);
            before = after;
        }
        if (now_ns() > end)
            break;
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    /* touch these pages before the clock runs */
    memset(worker->block_ns, 1, sizeof worker->block_ns);
    memset(worker->ticks, 1, sizeof worker->ticks);
    call_for(worker, WARM_NS);
    settle_together(worker->first);
    call_for(worker, TIMED_NS);
    settle_together(worker->first);
    call_singly(worker);
    settle_together(worker->first);
    return NULL;
}

/* ---- All threads ---- */

static int by_size(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The value that `share` of 1000 do not exceed. */
static double rank(uint32_t *values, size_t count, size_t share)
{
    qsort(values, count, sizeof values[0], by_size);
    return count ? values[(count - 1) * share / 1000] : 0;
}

/* The times of single calls are in ticks. */
static void summarise(struct figures *ret_figures)
{
    static uint32_t blocks[THREADS_MAX * BLOCKS], ticks[THREADS_MAX * SINGLE_CALLS];
    uint64_t begin = UINT64_MAX, end = 0, calls = 0;
    size_t block_count = 0, singles = 0;
    for (unsigned i = 0; i < width; i++) {
        const struct worker *worker = &workers[i];
        begin = worker->begin_ns < begin ? worker->begin_ns : begin;
        end = worker->end_ns > end ? worker->end_ns : end;
        calls += worker->calls;
        memcpy(blocks + block_count, worker->block_ns, worker->blocks * sizeof blocks[0]);
        block_count += worker->blocks;
        memcpy(ticks + singles, worker->ticks, worker->singles * sizeof ticks[0]);
        singles += worker->singles;
    }
    ret_figures->ns = rank(blocks, block_count, 500) / BLOCK;
    ret_figures->calls_us = (double)calls * 1000 / (double)(end - begin);
    ret_figures->middle = rank(ticks, singles, 500);
    ret_figures->p99 = rank(ticks, singles, 990);
    ret_figures->p999 = rank(ticks, singles, 999);
}

static void run_threads(void)
{
    pthread_t threads[THREADS_MAX];
    arrived = 0;
    for (unsigned i = 0; i < width; i++) {
        workers[i].first = i == 0;
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            writer_fail("pthread_create");
    }
    for (unsigned i = 0; i < width; i++)
        pthread_join(threads[i], NULL);
}

static void measure(struct measured *measured)
{
    counter = counter_steady();
    uint64_t ns = now_ns(), ticks = counter_read();
    for (unsigned of = 0; of < WIDTHS; of++) {
        width = widths[of];
        run_threads();
        summarise(&measured->of[of]);
    }
    double tick_ns = counter ? (double)(now_ns() - ns) / (double)(counter_read() - ticks) : 1;
    for (unsigned of = 0; of < WIDTHS; of++) {
        measured->of[of].middle *= tick_ns;
        measured->of[of].p99 *= tick_ns;
        measured->of[of].p999 *= tick_ns;
    }
    measured->counter = counter;
    measured->done = true;
}

/* ---- Ends ---- */

static _Noreturn void die(int pipe, unsigned kill)
{
    char numbered[TEXT_BYTES + 1];
    for (unsigned i = 0; i < KILLED_AFTER; i++) {
        snprintf(numbered, sizeof numbered, "kill %03u entry %04u of a thousand, or so", kill % 1000, i % 10000);
        writer->append(numbered);
    }
    if (write(pipe, "", 1) != 1)
        writer_fail("pipe");
    for (;;)
        pause();
}

__attribute__((noinline, noclone)) void counted_call(void);
void counted_call(void)
{
    writer->append(text);
}

/* The first half warms up, under a name that is not counted. A moment later a library that times by
 * the CPU's counter does so. */
static void count_calls(void)
{
    for (int i = 0; i < 2 * COUNTED_CALLS; i++) {
        if (i == COUNTED_CALLS)
            sleep(1);
        i < COUNTED_CALLS ? writer->append(text) : counted_call();
    }
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    for (writer = writers; writer->mode && strcmp(writer->mode, arguments[1]) != 0; writer++)
        ;
    if (!writer->mode)
        return 2;
    if (writer->open)
        writer->open(arguments[2]);
    if (strcmp(arguments[3], "time") == 0 && count == 5)
        measure(shared_open(arguments[4], sizeof(struct measured)));
    else if (strcmp(arguments[3], "die") == 0 && count == 6)
        die(atoi(arguments[4]), (unsigned)atoi(arguments[5]));
    else if (strcmp(arguments[3], "count") == 0)
        count_calls();
    else
        return 2;
    _exit(0);
}
