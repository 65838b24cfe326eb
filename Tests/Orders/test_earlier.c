/* Earlier actions: writers that overtake a reader by a lap, writers at once, and a handler inside a
 * writer. */
#include "orders.h"

#include "capture/earlier.c"

static void put(uint64_t value)
{
    const struct lg__earlier action = { .handler = value, .flags = value, .mask = value };
    lg__earlier_set(SIGSEGV, &action);
}

static uint64_t get(void)
{
    const struct lg__earlier action = lg__earlier_of(SIGSEGV);
    must(action.handler == action.flags && action.handler == action.mask);
    return action.handler;
}

static void prepare(void)
{
    for (uint64_t i = 1; i <= VERSIONS; i++)
        put(i);
    orders_declare(actions[SIGSEGV].versions, sizeof actions[SIGSEGV].versions, ORDERS_RACY);
}

static void writes_a_lap(void)
{
    for (uint64_t i = 1; i <= VERSIONS; i++)
        put(VERSIONS + i);
}

static void looks(void)
{
    must(get() >= VERSIONS);
}

static void writes(void)
{
    const uint64_t value = 100 + orders_self();
    put(value);
    must(get() >= 100);
}

static void interrupts(void)
{
    (void)get();
    put(200);
    must(get() == 200);
}

static void writes_twice(void)
{
    put(100);
    const uint64_t now = get();
    must(now == 200 || now == 100);
    put(101);
}

static void one_is_last(void)
{
    must(get() >= 100);
    must(actions[SIGSEGV].whole == actions[SIGSEGV].begun);
}

#define SECTIONS "Earlier actions"

static const struct scenario scenarios[] = {
    { .name = "a lap during a look", .sections = SECTIONS, .setup = prepare, .threads = { writes_a_lap, looks } },
    { .name = "writers at once", .sections = SECTIONS, .setup = prepare, .threads = { writes, writes, looks }, .check = one_is_last },
    { .name = "a handler in a writer", .sections = SECTIONS, .setup = prepare, .threads = { writes_twice }, .handler = interrupts, .check = one_is_last },
};

int main(int argc, char **argv)
{
    return orders_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
