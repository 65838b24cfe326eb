/* The locations of memory, which accesses divide it into. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread *self(void)
{
    return &x->threads[x->self];
}

bool is_tracked(const volatile void *where)
{
    return x && x->self >= 0 && (const uint8_t *)where >= x->begin && (const uint8_t *)where < x->end;
}

struct location *known(const uint8_t *where)
{
    uint16_t number = x->location_at[where - x->begin];
    return number ? &x->locations[number - 1] : NULL;
}

uint32_t index_of(const struct location *location)
{
    return CLOCKS + (uint32_t)(location - x->locations);
}

struct store *last_store(const struct location *location)
{
    return location->stores[location->count - 1];
}

struct location *make_location(uint8_t *where, uint32_t size)
{
    if (x->location_count == LOCATIONS) {
        fprintf(stderr, "%s: too many locations\n", x->scenario->name);
        abort();
    }
    struct location *location = &x->locations[x->location_count++];
    memset(location, 0, offsetof(struct location, stores));
    memset(location->plain_reads, 0, 4 * sizeof location->plain_reads);
    location->at = where;
    location->size = size;
    location->kinds = x->kinds[where - x->begin];
    struct store *first = room(sizeof *first);
    memset(first, 0, sizeof *first);
    first->thread = ORDERS_THREADS;
    memcpy(first->bytes, where, size);
    location->stores[location->count++] = first;
    x->location_at[where - x->begin] = (uint16_t)x->location_count;
    return location;
}

void cut(const uint8_t *where)
{
    if (x->cut[where - x->begin])
        return;
    x->cut[where - x->begin] = 1;
    leave(RESTART);
}

/* From `where` to the end of its location, at most to `end`. */
uint32_t piece_at(const uint8_t *where, const uint8_t *end)
{
    const uint8_t *to = where + 1;
    while (to < end && !x->cut[to - x->begin])
        to++;
    return (uint32_t)(to - where);
}

void show(struct location *location, const struct store *store)
{
    memcpy(location->at, store->bytes, location->size);
}

/* A round of runs goes by what earlier rounds have learned. */
void learn(struct users *set, const uint8_t *where)
{
    const uint8_t bit = (uint8_t)(1u << x->self);
    if (set->now[where - x->begin] & bit)
        return;
    set->next[where - x->begin] |= bit;
    x->learned = true;
}

void learn_next(struct users *set)
{
    memcpy(set->now, set->next, (size_t)(x->end - x->begin));
}

bool others(const struct users *set, const uint8_t *where)
{
    return set->now[where - x->begin] & ~(1u << x->self);
}
