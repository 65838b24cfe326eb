/* Accesses, made of what a thread may read and where a store may come. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void finish_stores(void)
{
    struct thread *me = self();
    const uint32_t count = me->pending;
    me->pending = 0;
    me->range = false;
    for (uint32_t i = 0; i < count; i++) {
        struct location *location = known(me->stores[i].at);
        uint8_t bytes[8];
        memcpy(bytes, location->at, location->size);
        check_write(location, true);
        if (memcmp(bytes, last_store(location)->bytes, location->size) == 0 && oldest_seen(location, 0) == location->count - 1)
            continue; /* no thread can tell */
        add_store(location, bytes, x->weak ? 0 : RELEASE, NULL);
    }
}

static bool is_unchanged(const struct thread *me)
{
    for (uint32_t i = 0; i < me->pending; i++)
        if (memcmp(me->stores[i].at, me->stores[i].before, me->stores[i].size) != 0)
            return false;
    return true;
}

void load_piece(uint8_t *where, uint32_t size, bool is_plain)
{
    struct thread *me = self();
    step_on(x->foot.loads, where);
    learn(&x->users, where);
    struct location *location = known(where);
    if (!location && !(x->kinds[where - x->begin] & ORDERS_RACY) && x->writers.now[where - x->begin])
        location = make_location(where, size);
    if (!location)
        return;
    check_read(location, is_plain);
    const uint32_t which = choose_store(location, oldest_seen(location, 0));
    const struct store *store = location->stores[which];
    take(location, store, x->weak ? 0 : ACQUIRE);
    show(location, store);
    if (which == location->count - 1)
        return;
    if (me->stale == sizeof me->shown / sizeof me->shown[0])
        leave(DROPPED);
    me->shown[me->stale++] = location;
}

/* What an aggregate is copied from is announced after what it is copied to: the store has not been
 * made yet then. */
void plain(volatile void *pointer, size_t size, bool stores, bool range, uintptr_t pc)
{
    if (x && x->self >= 0 && !stores && range && self()->range && is_unchanged(self())) {
        uint8_t *where = (uint8_t *)pointer;
        for (uint8_t *end = where + size; is_tracked(where) && where < end;) {
            const uint32_t length = piece_at(where, end);
            load_piece(where, length, true);
            where += length;
        }
        return;
    }
    if (!is_tracked(pointer))
        return;
    uint8_t *where = (uint8_t *)pointer, *end = where + size;
    cut(where);
    if (end < x->end)
        cut(end);
    bool depends = false;
    for (const uint8_t *each = where; each < end; each += piece_at(each, end))
        depends |= others(&x->writers, each);
    arrive(depends);
    for (uint32_t length; where < end; where += length) {
        length = piece_at(where, end);
        if (!stores) {
            load_piece(where, length, true);
            note("reads", where, 0, 0, pc);
            continue;
        }
        struct thread *me = self();
        struct location *location = known(where);
        learn(&x->writers, where);
        learn(&x->users, where);
        if (!location)
            make_location(where, length);
        if (me->pending == sizeof me->stores / sizeof me->stores[0])
            abort();
        struct piece *piece = &me->stores[me->pending++];
        piece->at = where;
        piece->size = length;
        memcpy(piece->before, where, length);
        me->range = range;
        note("writes", where, 0, 0, pc);
    }
}

uint64_t raw(void *where, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, where, size);
    return value;
}

static struct location *atomic_location(uint8_t *where, unsigned size)
{
    cut(where);
    if (where + size < x->end)
        cut(where + size);
    if (piece_at(where, where + size) != size) {
        fprintf(stderr, "%s: an atomic at %p is used in pieces\n", x->scenario->name, (void *)where);
        abort();
    }
    struct location *location = known(where);
    location = location ? location : make_location(where, size);
    location->is_atomic = true;
    return location;
}

static bool depends_at(const uint8_t *where, unsigned order)
{
    return others(&x->writers, where) || ((order & SC || !x->weak) && others(&x->users, where));
}

uint64_t atomic_load_at(uint8_t *where, unsigned size, int mo, uintptr_t pc)
{
    if (!is_tracked(where))
        return raw(where, size);
    unsigned order = order_at(pc, LOAD, order_of(mo));
    if (!x->weak)
        order = (order & SC) | ACQUIRE;
    arrive(depends_at(where, order & SC));
    learn(&x->users, where);
    struct location *location = atomic_location(where, size);
    check_read(location, false);
    step_on(order & SC ? x->foot.stores : x->foot.loads, where);
    x->foot.sc |= (order & SC) != 0;
    const uint32_t which = choose_store(location, oldest_seen(location, order));
    take(location, location->stores[which], order);
    if (order & SC) {
        self()->wrote = true;
        take_place(location, location->stores[which]);
    }
    note("loads", where, value_of(location->stores[which], size), location->count - 1 - which, pc);
    return value_of(location->stores[which], size);
}

void atomic_store_at(uint8_t *where, unsigned size, uint64_t value, int mo, uintptr_t pc)
{
    if (!is_tracked(where)) {
        memcpy(where, &value, size);
        return;
    }
    unsigned order = order_at(pc, STORE, order_of(mo));
    arrive(depends_at(where, order & SC));
    learn(&x->users, where);
    learn(&x->writers, where);
    if (!x->weak)
        order |= RELEASE;
    struct location *location = atomic_location(where, size);
    check_write(location, false);
    note("stores", where, value, 0, pc);
    add_store(location, &value, order, NULL);
    if (!x->weak && (order & SC))
        do_fence(ACQUIRE | RELEASE | SC);
}

/* A read-modify-write; with `expected` only from that value. A compare that fails is a load. */
uint64_t atomic_change_at(uint8_t *where, unsigned size, change *make, uint64_t operand, const uint64_t *expected, int mo, int failing, uintptr_t pc)
{
    if (!is_tracked(where)) {
        uint64_t old = raw(where, size), now = make(old, operand);
        if (!expected || old == *expected)
            memcpy(where, &now, size);
        return old;
    }
    unsigned order = order_at(pc, RMW, order_of(mo));
    const unsigned fails = !x->weak ? (unsigned)ACQUIRE : order_of(failing) & order;
    arrive(depends_at(where, SC));
    learn(&x->users, where);
    step_on(x->foot.stores, where);
    x->foot.sc |= (order & SC) != 0;
    struct location *location = atomic_location(where, size);
    if (!x->weak)
        do_fence(ACQUIRE | RELEASE | SC);
    if (!x->weak)
        order |= ACQUIRE | RELEASE;
    const uint32_t oldest = oldest_seen(location, order | LAST), oldest_failing = expected ? oldest_seen(location, fails) : location->count;
    uint32_t ways[STORES] = { 0 }, count = 0;
    for (uint32_t i = location->count; i-- > 0;) {
        const bool fits = !expected || value_of(location->stores[i], size) == *expected;
        const bool is_last = i == location->count - 1;
        const bool free = is_last || (x->weak && !location->stores[i + 1]->follows && location->stores[i + 1]->stamp - location->stores[i]->stamp > 1);
        if (fits ? free && i >= oldest : i >= oldest_failing)
            ways[count++] = i;
        if (!x->weak && fits && is_last)
            break;
    }
    const uint32_t way = choose_way(count);
    struct store *store = location->stores[ways[way]];
    const uint64_t old = value_of(store, size), now = make(old, operand);
    if (expected && old != *expected) {
        check_read(location, false);
        note("fails to change", where, old, location->count - 1 - ways[way], pc);
        take(location, store, fails);
        if (fails & SC)
            take_place(location, store);
        self()->wrote = true;
        return old;
    }
    learn(&x->writers, where);
    check_write(location, false);
    note("changes", where, now, location->count - 1 - ways[way], pc);
    take(location, store, order);
    add_store(location, &now, order, store);
    if (!x->weak)
        do_fence(ACQUIRE | RELEASE | SC);
    return old;
}
