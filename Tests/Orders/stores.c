/* What a thread may read, and where a store may come. */
#include "model.h"

#include <string.h>

static void race(const struct location *location, const uint32_t *times, bool plain)
{
    if (!plain || (location->kinds & ORDERS_RACY))
        return;
    for (int i = 0; i < ORDERS_THREADS; i++)
        if (i != x->self && times[i] > at(&self()->sees, (uint32_t)i))
            wrong("data race", location->at);
}

static uint32_t tick(void)
{
    struct view *sees = &self()->sees;
    raise_to(sees, (uint32_t)x->self, at(sees, (uint32_t)x->self) + 1);
    return at(sees, (uint32_t)x->self);
}

void check_read(struct location *location, bool plain)
{
    race(location, location->plain_writes, true);
    race(location, location->writes, plain);
    (plain ? location->plain_reads : location->reads)[x->self] = tick();
}

void check_write(struct location *location, bool plain)
{
    race(location, location->plain_writes, true);
    race(location, location->plain_reads, true);
    race(location, location->writes, plain);
    race(location, location->reads, plain);
    (plain ? location->plain_writes : location->writes)[x->self] = tick();
}

/* A sequentially consistent load has its place in the total order of such accesses where it is
 * made, or earlier: right after what its thread has made or learned of. It need not see a store of
 * that order that comes after its place. */
static bool must_see(const struct store *store)
{
    return store->sc && store->sc <= at(&self()->sees, PLACE);
}

/* The first store that the thread can still see. */
uint32_t oldest_seen(const struct location *location, unsigned order)
{
    const uint32_t index = index_of(location), fences = order & SC ? at(&x->sc_fences, index) : 0;
    uint32_t least = at(&self()->sees, index), i = location->count - 1;
    least = least > fences ? least : fences;
    while (i > 0 && location->stores[i]->stamp > least && !((order & SC) && (order & LAST ? location->stores[i]->sc != 0 : must_see(location->stores[i]))))
        i--;
    return i;
}

/* What a sequentially consistent load has taken, and stores before that, have earlier places. */
void take_place(const struct location *location, const struct store *taken)
{
    for (uint32_t i = 0; i < location->count && location->stores[i]->stamp <= taken->stamp; i++)
        raise_to(&self()->sees, PLACE, location->stores[i]->sc);
}

void take(const struct location *location, const struct store *store, unsigned order)
{
    struct thread *me = self();
    raise_to(&me->sees, index_of(location), store->stamp);
    join(order & ACQUIRE ? &me->sees : &me->acquires, store->released.at, store->released.count, 0);
    if (store->thread != x->self)
        join(&me->before, store->order.at, store->order.count, CLOCKS);
    join(&me->did, store->order.at, store->order.count, CLOCKS);
}

/* One of so many ways, of which the first takes the last store. */
uint32_t choose_way(uint32_t count)
{
    if (count > 1 && x->scenario->stale && x->stale_left == 0) {
        x->bounded = true;
        count = 1;
    }
    const uint32_t way = orders_choose(count);
    if (way && x->scenario->stale)
        x->stale_left--;
    return way;
}

/* Of stores with the same value the first one stands for all: it binds the reader least. */
uint32_t choose_store(const struct location *location, uint32_t oldest)
{
    uint32_t ways[STORES], count = 0;
    for (uint32_t i = location->count; i-- > oldest;) {
        uint32_t same = 0;
        while (same < count && memcmp(location->stores[ways[same]]->bytes, location->stores[i]->bytes, 8) != 0)
            same++;
        ways[same] = i;
        count += same == count;
    }
    return ways[choose_way(count)];
}

uint64_t value_of(const struct store *store, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, store->bytes, size);
    return value;
}

/* A store at the place of the order of modification that is chosen, or right after `read`. */
void add_store(struct location *location, const void *bytes, unsigned order, const struct store *read)
{
    struct thread *me = self();
    const uint32_t index = index_of(location);
    step_on(x->foot.stores, location->at);
    x->foot.sc |= (order & SC) != 0;
    if (location->count == STORES)
        leave(DROPPED);
    uint32_t place = location->count;
    if (read) {
        while (location->stores[place - 1] != read)
            place--;
    } else if (x->weak && others(&x->writers, location->at)) {
        uint32_t places[STORES], count = 0;
        for (uint32_t i = location->count, oldest = oldest_seen(location, order | LAST); i > oldest; i--)
            if (i == location->count || (!location->stores[i]->follows && location->stores[i]->stamp - location->stores[i - 1]->stamp > 1))
                places[count++] = i;
        place = places[orders_choose(count)];
    }
    const uint32_t before = location->stores[place - 1]->stamp, after = place < location->count ? location->stores[place]->stamp : before + 2 * STAMPS;
    struct store *store = room(sizeof *store);
    memset(store, 0, sizeof *store);
    store->stamp = before + (after - before) / 2;
    memcpy(store->bytes, bytes, location->size);
    store->follows = read;
    store->thread = (uint8_t)x->self;
    if (order & SC) {
        raise_to(&x->sc, index, store->stamp);
        store->sc = ++x->places;
        raise_to(&me->sees, PLACE, x->places);
    }
    raise_to(&me->sees, index, store->stamp);
    raise_to(&me->did, index, store->stamp);
    struct view *released = order & RELEASE ? &me->sees : &me->releases;
    const uint32_t was = at(released, index);
    raise_to(released, index, store->stamp);
    if (read) {
        x->both.count = 0;
        join(&x->both, released->at, released->count, 0);
        join(&x->both, read->released.at, read->released.count, 0);
        store->released = keep(&x->both);
    } else {
        store->released = keep(released);
    }
    if (!(order & RELEASE))
        released->at[index] = was;
    x->both.count = 0;
    join(&x->both, me->before.at, me->before.count, CLOCKS);
    if (order & RELEASE)
        join(&x->both, me->did.at, me->did.count, CLOCKS);
    raise_to(&x->both, index, store->stamp);
    store->order = keep(&x->both);
    if (read && (order & ACQUIRE)) /* nothing later comes before it */
        join(&me->before, store->order.at, store->order.count, CLOCKS);
    memmove(&location->stores[place + 1], &location->stores[place], (location->count - place) * sizeof location->stores[0]);
    location->stores[place] = store;
    location->count++;
    show(location, last_store(location));
    me->wrote = true;
}

void do_fence(unsigned order)
{
    struct thread *me = self();
    if (order & ACQUIRE)
        join(&me->sees, me->acquires.at, me->acquires.count, 0);
    if (order & SC) {
        x->foot.fence = true;
        raise_to(&me->sees, PLACE, x->places);
        join(&me->sees, x->sc.at, x->sc.count, CLOCKS);
        join(&x->sc, me->sees.at, me->sees.count, CLOCKS);
        join(&x->sc_fences, me->sees.at, me->sees.count, CLOCKS);
        me->wrote = true;
    }
    if (order & RELEASE) {
        join(&me->releases, me->sees.at, me->sees.count, 0);
        join(&me->before, me->did.at, me->did.count, CLOCKS);
    }
}
