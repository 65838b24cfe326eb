/* The cost of one annotation, on one thread. bench-annotate DIR COUNT */
#include "common.h"

#include <launchguard/launchguard.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BATCH 2000
#define VALUES 128

static lg_session *session;
static char (*values)[592];
static unsigned at;
static const char text[41] = "the quick brown fox jumps over lazy dogs", *key = "key 0";

/* The least work of any code that stores a time, a key and a value. */
static void floor_call(void)
{
    char *value = values[at++ % VALUES];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    memcpy(value, &now, sizeof now);
    memcpy(value + 16, key, 6);
    memcpy(value + 80, text, sizeof text);
}

static void annotate(void)
{
    lg_annotate(session, key, text);
}

static void log_call(void)
{
    lg_log_write(session, LG_LEVEL_INFO, text, 40);
}

static double time_one(void (*call)(void), unsigned batch)
{
    uint64_t begin = now_ns();
    for (unsigned i = 0; i < batch; i++)
        call();
    return (double)(now_ns() - begin) / batch;
}

int main(int count, char **arguments)
{
    static struct series floor_one = { .name = "clock and copy into a warm shared map" }, one = { .name = "lg_annotate() of 40 bytes, the only key" },
                         last = { .name = "lg_annotate() of 40 bytes, the last of 64 keys" }, log_one = { .name = "lg_log_write() of 40 bytes" };
    if (count != 3)
        return 2;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.state_directory = arguments[1];
    FILE *file = tmpfile();
    if (lg_start(&options, &session) != LG_OK || !file || ftruncate(fileno(file), VALUES * sizeof *values) != 0)
        return 1;
    values = mmap(NULL, VALUES * sizeof *values, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (values == MAP_FAILED)
        return 1;
    for (int many = 0; many < 2; many++) {
        char name[16];
        for (unsigned i = 1; many && i < LG_ANNOTATIONS_MAX; i++) {
            snprintf(name, sizeof name, "key %u", i);
            lg_annotate(session, name, text);
        }
        key = many ? "key 63" : "key 0";
        for (int i = 0; i < atoi(arguments[2]) + 5; i++) { /* the first ones warm up */
            double floor_ns = time_one(floor_call, BATCH), ns = time_one(annotate, BATCH), log_ns = time_one(log_call, BATCH);
            if (i < 5)
                continue;
            if (!many) {
                series_add(&floor_one, floor_ns);
                series_add(&log_one, log_ns);
            }
            series_add(many ? &last : &one, ns);
        }
    }
    print_head("Annotations, one call", "ns");
    print_line(&floor_one, NULL);
    print_line(&one, &floor_one);
    print_line(&last, &floor_one);
    print_line(&log_one, &floor_one);
    return 0;
}
