/* What one breadcrumb costs, on one thread. bench-log DIR COUNT */
#include "common.h"

#include <launchguard/launchguard.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BATCH 2000
#define RING_BYTES 131072
#define ENTRY_BYTES 96 /* what an entry of 40 bytes takes, header and rounding included */

static lg_session *session;
static char *ring;
static size_t at;
static const char text[41] = "the quick brown fox jumps over lazy dogs";
static volatile unsigned rows = 41, milliseconds = 12;
static volatile int code = -3;
static const char *volatile name = "notes.db";

static char *entry_of_floor(void)
{
    char *entry = ring + at;
    at = at + 2 * ENTRY_BYTES <= RING_BYTES ? at + ENTRY_BYTES : 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    memcpy(entry, &now, sizeof now);
    return entry + sizeof now;
}

static void floor_text(void)
{
    memcpy(entry_of_floor(), text, 40);
}

static void floor_format(void)
{
    snprintf(entry_of_floor(), ENTRY_BYTES - sizeof(struct timespec), "opened %s: %u rows in %u ms, code %d", name, rows, milliseconds, code);
}

static void log_text(void)
{
    lg_log_write(session, LG_LEVEL_INFO, text, 40);
}

static void log_format(void)
{
    lg_log(session, LG_LEVEL_INFO, "opened %s: %u rows in %u ms, code %d", name, rows, milliseconds, code);
}

static const struct {
    const char *name;
    void (*call)(void);
    int floor;
} kinds[] = {
    { "clock_gettime and memcpy of 40 bytes into a mapped file", floor_text, -1 },
    { "lg_log_write() of 40 bytes", log_text, 0 },
    { "clock_gettime and snprintf of 4 arguments into a mapped file", floor_format, -1 },
    { "lg_log() with 4 arguments", log_format, 2 },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

int main(int count, char **arguments)
{
    static struct series series[KINDS];
    if (count != 3)
        return 2;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.state_directory = arguments[1];
    options.ring_bytes = RING_BYTES;
    FILE *file = tmpfile();
    if (lg_start(&options, &session) != LG_OK || !file || ftruncate(fileno(file), RING_BYTES) != 0)
        return 1;
    ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (ring == MAP_FAILED)
        return 1;
    for (int round = -3; round < atoi(arguments[2]); round++) /* the first ones warm up */
        for (size_t kind = 0; kind < KINDS; kind++) {
            uint64_t begin = now_ns();
            for (int i = 0; i < BATCH; i++)
                kinds[kind].call();
            uint64_t took = now_ns() - begin;
            if (round >= 0)
                series_add(&series[kind], (double)took / BATCH);
        }
    print_head("Ring log, one thread, each figure the mean of 2000 calls", "ns");
    for (size_t kind = 0; kind < KINDS; kind++) {
        series[kind].name = kinds[kind].name;
        print_line(&series[kind], kinds[kind].floor < 0 ? NULL : &series[kinds[kind].floor]);
    }
    return 0;
}
