/* The least work of a ring log in a shared mapping: a clock, one ticket for all threads, a copy of
 * 64 bytes. Modes: clock (the system's), counter (the CPU's), format (the system's clock, and
 * snprintf of four arguments); nothing, for the cost of the measurement itself; additions, which
 * show by their time how much of its core the machine gives this program. */
#include "counter.h"
#include "writer.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES 262144

struct entry {
    uint64_t time, ticket;
    uint32_t level, thread;
    char text[TEXT_BYTES];
};
_Static_assert(sizeof(struct entry) == 64, "one cache line");

static struct entry *ring;
static _Atomic uint64_t ticket;
static _Thread_local uint32_t thread;

static void open_ring(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/ring", directory);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || posix_fallocate(file, 0, RING_BYTES) != 0)
        writer_fail(path);
    ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (ring == MAP_FAILED)
        writer_fail("mmap");
    memset(ring, 0, RING_BYTES);
}

static void open_counted(const char *directory)
{
    if (!counter_steady())
        writer_fail("no steady cycle counter");
    open_ring(directory);
}

static inline struct entry *begin_entry(uint64_t time)
{
    uint64_t mine = atomic_fetch_add_explicit(&ticket, 1, memory_order_relaxed);
    struct entry *entry = &ring[mine % (RING_BYTES / sizeof(struct entry))];
    if (!thread)
        thread = (uint32_t)gettid();
    entry->time = time;
    entry->ticket = mine;
    entry->level = 30;
    entry->thread = thread;
    return entry;
}

static inline uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void append_clock(const char *text)
{
    memcpy(begin_entry(clock_ns())->text, text, TEXT_BYTES);
}

static void append_counter(const char *text)
{
    memcpy(begin_entry(counter_read())->text, text, TEXT_BYTES);
}

static void append_format(const char *text)
{
    (void)text;
    snprintf(begin_entry(clock_ns())->text, TEXT_BYTES, "opened %s: %u rows in %u ms, code %d", writer_arguments.name, writer_arguments.rows,
             writer_arguments.milliseconds, writer_arguments.code);
}

/* As many independent instructions as an entry of LaunchGuard has: a core that another thread uses
 * as well takes longer for them. */
static void append_additions(const char *text)
{
    uint64_t a = 1, b = 2, c = 3, d = 4;
    (void)text;
#define FOUR "add $1, %0\n add $1, %1\n add $1, %2\n add $1, %3\n"
#if defined(__x86_64__)
    __asm__ volatile(FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR
                         FOUR FOUR FOUR FOUR FOUR
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
#else
    for (int i = 0; i < 29; i++)
        __asm__ volatile("add %0, %0, #1\n add %1, %1, #1\n add %2, %2, #1\n add %3, %3, #1\n" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
#endif
}

static void append_nothing(const char *text)
{
    __asm__ volatile("" : : "r"(text) : "memory");
}

const struct writer writers[] = {
    { "clock", open_ring, append_clock, 0, NULL },
    { "counter", open_counted, append_counter, 0, NULL },
    { "format", open_ring, append_format, 0, NULL },
    { "nothing", NULL, append_nothing, 0, NULL },
    { "additions", NULL, append_additions, 0, NULL },
    { 0 },
};
