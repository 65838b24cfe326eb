/* Faults of memory. */
#include "bugs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef NEWER /* a later version of the program */
KEPT long item_count(const long *list)
{
    long count = 0;
    while (list[count])
        count++;
    return count;
}
#endif

struct item {
    volatile long value;
    long pad[600];
};

/* ---- one load ---- */

KEPT long item_value(const struct item *item)
{
    return item->value + 1;
}

KEPT long item_double(const struct item *item) { long value = item_value(item); STAY; return 2 * value; }
KEPT long row_width(const struct item *item) { long value = item_double(item); STAY; return value + 4; }
KEPT long table_width(const struct item *item) { long value = row_width(item); STAY; return value + 8; }
KEPT long page_width(const struct item *item) { long value = table_width(item); STAY; return value + 16; }
KEPT long paper_width(const struct item *item) { long value = table_width(item); STAY; return value + 32; }

static const struct item *volatile given;

static void near_one(long at) { given = (const struct item *)at; item_double(given); STAY; }
static void near_other(long at) { given = (const struct item *)at; item_value(given); STAY; }
static void two_away(long at) { given = (const struct item *)at; row_width(given); STAY; }
static void far_one(long at) { given = (const struct item *)at; page_width(given); STAY; }
static void far_other(long at) { given = (const struct item *)at; paper_width(given); STAY; }
static void far_in_thread(long at) { in_thread(far_one, at, 256 << 10); }

static void at_protected(long unused)
{
    (void)unused;
    far_one((long)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void at_freed(long bytes)
{
    struct item *volatile item = malloc((size_t)bytes);
    free((void *)item);
    far_one((long)item);
}

/* ---- two functions of one shape, with callers of one shape ---- */

KEPT long next_year(const volatile long *year) { return *year + 1; }
KEPT long next_decade(const volatile long *year) { return *year + 10; }
static long *volatile year;
static void shape_one(long unused) { (void)unused; next_year(year); STAY; }
static void shape_other(long unused) { (void)unused; next_decade(year); STAY; }

/* ---- one place, several indices ---- */

KEPT long element(const volatile long *list, long index) { return list[index] + 1; }
static long *volatile nowhere;
static void at_index(long index) { element(nowhere, index); STAY; }

/* ---- one function, several lines ---- */

static volatile long zero;

KEPT long total(const volatile long *first, const volatile long *second, long *result)
{
    long sum = *first;
    sum += 3 * *second;
    if (second == first)
        sum = sum / zero;
    *result = sum;
    STAY;
    return sum;
}

static const long some = 7;
static void total_of(long which)
{
    long result;
    switch (which) {
    case 1: total(nowhere, &some, &result); break;
    case 2: total(&some, nowhere, &result); break;
    case 3: total(&some, &some, &result); break;
    default: total(&some, (const long *)"12345678", nowhere);
    }
    STAY;
}

/* ---- functions of libc ---- */

static char *volatile text;
static volatile size_t size;

KEPT size_t length_of(const char *of) { size_t length = strlen(of); STAY; return length; }
KEPT void measure(long which) { zero = (long)(which == 1 ? length_of(text) : 0); STAY; zero = 2 * (long)length_of(text); STAY; }
static void measure_one(long which) { measure(which); STAY; }

KEPT void copy_title(void) { memcpy(text, (void *)copy_title, size); STAY; }
KEPT size_t lengths(long which) { size_t sum = which == 1 ? strlen(text) : 5; STAY; if (which == 2) sum += 2 * strlen(text); return sum; }
static void copy_of(long bytes) { size = (size_t)bytes; copy_title(); STAY; }
static void lengths_of(long which) { lengths(which); STAY; }

/* ---- calls through a pointer ---- */

static void (*volatile callback)(void);
KEPT void notify(void) { callback(); STAY; }
static void call_at(long at) { callback = (void (*)(void))(at == 1 ? (long)&callback : at); notify(); STAY; }

/* ---- the heap ---- */

KEPT void release(void *first, void *second) { free(first); STAY; free(second); STAY; }

static void free_twice(long bytes)
{
    void *volatile block = malloc((size_t)bytes), *volatile after = malloc(64);
    release(block, block);
    release(after, NULL);
}

static void free_inside(long unused)
{
    (void)unused;
    char *volatile block = malloc(256);
    void *volatile inside = block + 8;
    release(inside, NULL);
}

const struct bug memory_bugs[] = {
    { "null", far_one, 0 },
    { "null near one", near_one, 0 },
    { "null near other", near_other, 0 },
    { "null two away", two_away, 0 },
    { "null far other", far_other, 0 },
    { "null in thread", far_in_thread, 0 },
    { "wild", far_one, 0x414141414000 },
    { "wild high", far_one, 0x4141414141414141 },
    { "protected", at_protected, 0 },
    { "freed", at_freed, 1 << 20 },
    { "shape one", shape_one, 0 },
    { "shape other", shape_other, 0 },
    { "index 0", at_index, 0 },
    { "index 5", at_index, 5 },
    { "total first", total_of, 1 },
    { "total second", total_of, 2 },
    { "total divided", total_of, 3 },
    { "total result", total_of, 4 },
    { "copy short", copy_of, 10 },
    { "copy long", copy_of, 10000 },
    { "length first", lengths_of, 1 },
    { "length second", lengths_of, 2 },
    { "wrapper first", measure_one, 1 },
    { "wrapper second", measure_one, 2 },
    { "call null", call_at, 0 },
    { "call wild", call_at, 0x414141414000 },
    { "call data", call_at, 1 },
    { "free twice small", free_twice, 24 },
    { "free twice large", free_twice, 5000 },
    { "free inside", free_inside, 0 },
    { NULL, NULL, 0 },
};
