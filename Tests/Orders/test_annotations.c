/* Annotations: writers at once, a handler in a writer, a death, and a reader beside them. */
#include <string.h>

#include "launchguard/annotate.h"
#include "launchguard/reader.h"
#include "orders.h"
#include "read/reader.h"
#include "stand_ins.h"
#include "store/annotation.h"

static struct lg__annotations file;
static struct lg__annotation_memory memory;
static const struct lg__annotation_writer writer = { &file, &memory };
static struct lg__annotation_key keys[2];
static _Atomic uint32_t returned[ORDERS_THREADS + 1];
static const struct stand_in_section sections[] = { { LG__SECTION_ANNOTATIONS, &file, sizeof file } };

static void prepare(void)
{
    must(lg__annotation_key("k", &keys[0]) && lg__annotation_key("m", &keys[1]));
    orders_declare(&file, sizeof file, ORDERS_FILE);
    /* so few values that they come back */
    for (unsigned i = 3; i < LG__ANNOTATION_VALUES; i++)
        memory.taken[i] = 1;
    orders_declare(returned, sizeof returned, ORDERS_FILE);
}

static void prepare_set(void)
{
    prepare();
    must(lg__annotation_put(&writer, &keys[0], "0000000") == LG_OK);
}

static void prepare_checked(void)
{
    stand_in_checksums();
    prepare_set();
    orders_declare(file.values, sizeof file.values, ORDERS_FILE | ORDERS_RACY);
}

static void put(unsigned who, unsigned key, char what)
{
    const char text[] = { what, what, what, what, what, what, what, 0 };
    must(lg__annotation_put(&writer, &keys[key], text) == LG_OK);
    atomic_store_explicit(&returned[who], (uint32_t)what, memory_order_release);
}

static void puts_a(void)
{
    put(0, 0, 'a');
}

static void puts_b(void)
{
    put(1, 0, 'b');
}

static void puts_b_twice(void)
{
    put(1, 0, 'b');
    put(1, 0, 'b');
}

static void puts_other(void)
{
    put(1, 1, 'c');
}

static void removes(void)
{
    must(lg__annotation_put(&writer, &keys[0], NULL) == LG_OK);
}

static void redacts(void)
{
    must(lg__annotation_redact(&writer, &keys[0]) == LG_OK);
    atomic_store_explicit(&returned[1], 'r', memory_order_release);
}

static void puts_two(void)
{
    put(0, 0, 'a');
    put(0, 0, 'd');
}

static void interrupts(void)
{
    put(ORDERS_THREADS, 0, 'h');
    put(ORDERS_THREADS, 1, 'h');
}

/* Each key is there once, with a whole value. Returns the letter of the first key, 0: none. */
static char look(void)
{
    struct lg_reader reader;
    lg_annotation annotation;
    char found[2] = { 0, 0 };
    stand_in_reader(&reader, sections, 1);
    for (uint32_t i = 0; i < 64; i++) {
        const lg_status status = lg_reader_annotation(&reader, i, &annotation);
        if (status == LG_ERR_NOT_FOUND)
            break;
        must(status == LG_OK);
        const unsigned key = annotation.key[0] == 'm';
        must(strcmp(annotation.key, key ? "m" : "k") == 0);
        if (!annotation.value[0])
            continue;
        must(!found[key]);
        found[key] = annotation.value[0];
        for (int j = 0; j < 7; j++)
            must(annotation.value[j] == found[key]);
        must(!annotation.value[7]);
    }
    return found[0];
}

static void reads(void)
{
    (void)look();
}

static void is_set(void)
{
    const char letter = look();
    must(letter == 'a' || letter == 'b' || letter == 'd' || letter == 'h');
    must(!memory.turn || !(memory.turn & 3));
}

static void any(void)
{
    (void)look();
}

/* A value whose call returned is there, or a later one is. */
static void after_death(void)
{
    const char letter = look();
    must(letter != 0);
    if (returned[0] == 'a')
        must(letter == 'a' || letter == 'b' || letter == 'd' || letter == 'h');
    if (returned[0] == 'd')
        must(letter == 'd' || letter == 'h');
    if (returned[ORDERS_THREADS])
        must(letter != '0');
}

#define SECTIONS "Annotations"

static const struct scenario scenarios[] = {
    { .name = "death in a change", .sections = SECTIONS, .setup = prepare_set, .threads = { puts_two }, .dead = after_death },
    { .name = "a reader", .sections = SECTIONS ";Readers", .setup = prepare_checked, .threads = { puts_two, reads }, .stale = 3 },
    { .name = "one key, two writers", .sections = SECTIONS, .setup = prepare, .threads = { puts_a, puts_b }, .check = is_set, .switches = 2, .switches_of_all = 3 },
    { .name = "values that come back", .sections = SECTIONS, .setup = prepare, .threads = { puts_two, puts_b_twice }, .check = is_set, .switches = 1, .switches_of_all = 1, .stale = 1 },
    { .name = "two keys, two writers", .sections = SECTIONS, .setup = prepare, .threads = { puts_a, puts_other }, .check = is_set, .switches = 2, .switches_of_all = 3 },
    { .name = "one removes", .sections = SECTIONS, .setup = prepare_set, .threads = { puts_a, removes }, .check = any, .switches = 2, .switches_of_all = 3 },
    { .name = "one redacts", .sections = SECTIONS, .setup = prepare_set, .threads = { puts_a, redacts }, .check = any, .switches = 2, .switches_of_all = 3 },
    { .name = "a handler in a writer", .sections = SECTIONS, .setup = prepare, .threads = { puts_two }, .handler = interrupts, .check = is_set },
};

int main(int argc, char **argv)
{
    return orders_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
