/* Sets of what a thread knows and does. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void join(struct view *to, const uint32_t *at, uint32_t count, uint32_t from)
{
    for (uint32_t i = to->count; i < count; i++)
        to->at[i] = 0;
    to->count = to->count > count ? to->count : count;
    for (uint32_t i = from; i < count; i++)
        to->at[i] = to->at[i] > at[i] ? to->at[i] : at[i];
}

uint32_t at(const struct view *view, uint32_t index)
{
    return index < view->count ? view->at[index] : 0;
}

void raise_to(struct view *view, uint32_t index, uint32_t stamp)
{
    for (; view->count <= index; view->count++)
        view->at[view->count] = 0;
    view->at[index] = view->at[index] > stamp ? view->at[index] : stamp;
}

void *room(size_t size)
{
    void *result = x->arena + x->arena_used;
    x->arena_used += (size + 7) & ~(size_t)7;
    if (x->arena_used > ARENA_BYTES) {
        fprintf(stderr, "a run needs too much memory\n");
        abort();
    }
    return result;
}

struct kept keep(const struct view *view)
{
    struct kept result = { view->count, room(view->count * sizeof(uint32_t)) };
    memcpy(result.at, view->at, view->count * sizeof(uint32_t));
    return result;
}

void step_on(uint64_t *set, const volatile void *where)
{
    const uint64_t hash = ((uintptr_t)where >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 55;
    set[hash / 64] |= UINT64_C(1) << hash % 64;
}

void merge(struct footprint *to, const struct footprint *from)
{
    for (int i = 0; i < HASHES / 64; i++) {
        to->loads[i] |= from->loads[i];
        to->stores[i] |= from->stores[i];
    }
    to->fence |= from->fence;
    to->sc |= from->sc;
}

/* Whether a thread that was explored first, and sleeps, may do something else after this. A load
 * before the store of the sleeper is one that comes after it and takes the older store. */
bool wakes(const struct footprint *done, const struct footprint *asleep)
{
    uint64_t common = 0;
    for (int i = 0; i < HASHES / 64; i++)
        common |= done->stores[i] & (asleep->loads[i] | asleep->stores[i]);
    return common || (done->fence && (asleep->fence || asleep->sc)) || (asleep->fence && done->sc);
}
