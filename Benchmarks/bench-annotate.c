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
static const char text[41] = "the quick brown fox jumps over lazy dogs", *key;

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

enum { FLOOR, ANNOTATE, LOG, KINDS };
static void (*const calls[KINDS])(void) = { floor_call, annotate, log_call };

/* `keys`: annotations that the session has then. */
static void measure(struct series series[KINDS], unsigned keys, unsigned rounds)
{
    static char name[16];
    for (unsigned i = 0; i < keys; i++) {
        snprintf(name, sizeof name, "key %u", i);
        lg_annotate(session, name, text);
    }
    key = name;
    for (unsigned i = 0; i < rounds + 5; i++) { /* the first ones warm up */
        unsigned order[KINDS];
        shuffle(order, KINDS);
        for (unsigned j = 0; j < KINDS; j++) {
            double ns = time_one(calls[order[j]], BATCH);
            if (i >= 5)
                series_put(&series[order[j]], i - 5, ns);
        }
    }
}

int main(int count, char **arguments)
{
    static struct series one[KINDS] = { { .name = "clock and copy into a warm shared map" }, { .name = "lg_annotate() of 40 bytes, the only key" },
                                        { .name = "lg_log_write() of 40 bytes" } },
                         last[KINDS] = { { .name = "clock and copy, beside 64 keys" }, { .name = "lg_annotate() of 40 bytes, the last of 64 keys" } };
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
    measure(one, 1, (unsigned)atoi(arguments[2]));
    measure(last, LG_ANNOTATIONS_MAX, (unsigned)atoi(arguments[2]));
    print_head("Annotations, one call, shared library", "ns");
    for (unsigned i = 0; i < KINDS; i++)
        print_line(&one[i], i == FLOOR ? NULL : &one[FLOOR]);
    print_line(&last[ANNOTATE], &last[FLOOR]);
    return 0;
}
