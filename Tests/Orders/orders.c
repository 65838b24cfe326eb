#include "orders.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define LOCATIONS 3000
/* A view has a time of each thread, a place in the total order of sequentially consistent accesses,
 * and a stamp of each location. */
#define PLACE ORDERS_THREADS
#define CLOCKS (ORDERS_THREADS + 1)
#define STAMPS 0x10000u       /* room for stores between two others */
#define STORES 200            /* of one location in one run */
#define STACK_BYTES (256u << 10)
#define ARENA_BYTES (256u << 20)
#define STEPS 200000          /* a run that is longer goes in circles */
#define DEPTH 100000
#define SITES 2048
#define EVENTS 4000

enum { ACQUIRE = 1, RELEASE = 2, SC = 4, LAST = 8 /* it comes after all others so far */ };
enum op { LOAD, STORE, RMW, FENCE };
static const char *const op_names[] = { "load", "store", "rmw", "fence" };

struct view { uint32_t count, at[CLOCKS + LOCATIONS]; };
struct kept { uint32_t count, *at; }; /* a view that changes no more */

/* One store. `released`: what a load that acquires it learns; `order`: what a file has with it. */
struct store {
    uint32_t stamp;
    uint8_t bytes[8];
    bool follows; /* a read-modify-write of the store before */
    uint32_t sc;  /* its place among sequentially consistent stores; 0: it is none */
    uint8_t thread;
    struct kept released, order;
};

struct location {
    uint8_t *at;
    uint32_t size, count, kinds;
    bool is_atomic;
    struct store *stores[STORES]; /* in the order of modification */
    uint32_t plain_reads[ORDERS_THREADS], plain_writes[ORDERS_THREADS], reads[ORDERS_THREADS], writes[ORDERS_THREADS];
};

struct site { uintptr_t pc; enum op op; unsigned order, mask; uint64_t scenarios; char key[200]; unsigned line; };
struct event { uint8_t thread; const char *what; uint8_t *at; uint64_t value; uint32_t age; uintptr_t pc; };
struct piece { uint8_t *at; uint32_t size; uint8_t before[8]; };

struct thread {
    ucontext_t context; /* to begin with; after that a jump is quicker */
    jmp_buf here;
    bool begun;
    uint8_t *stack, *tls;
    /* now; after an acquire fence; as of the last release fence */
    struct view sees, acquires, releases;
    struct view did, before;              /* all that it did or read; what a later store is after */
    bool wrote, ended, wait_ends;
    const volatile uint32_t *waits;
    /* plain stores whose values are not known yet; loads that memory still shows */
    uint32_t pending, stale;
    bool range;
    struct piece stores[2048];
    struct location *shown[1024];
};

/* What a thread does from one point where another may go on to the next: sets of hashes of places.
 * A sequentially consistent load counts as a store. */
#define HASHES 512
struct footprint { uint64_t loads[HASHES / 64], stores[HASHES / 64]; bool fence, sc; };

struct users { uint8_t *now, *next; }; /* of each byte: the threads that store there, or use it */

static struct explorer {
    uint8_t *begin, *end, *initial;
    uint8_t *tls, *tls_initial;
    size_t tls_size;
    uint8_t *cut, *kinds; /* of each byte: a location begins; kinds */
    struct users writers, users;
    uint16_t *location_at;
    struct location *locations;
    uint32_t location_count;
    struct view sc, sc_fences, both, chosen;
    uint8_t *arena;
    size_t arena_used;
    struct thread threads[ORDERS_THREADS];
    ucontext_t before;
    jmp_buf scheduler, out;
    int self; /* −1: no thread of a scenario runs */
    int last;
    struct { uint32_t chosen, count; struct footprint of[ORDERS_THREADS]; } trail[DEPTH];
    struct footprint foot, asleep_foot[ORDERS_THREADS];
    bool asleep[ORDERS_THREADS];
    int from_point; /* the choice by which the thread runs; −1: there was none */
    uint32_t position, depth, steps, stale_left, places;
    enum { GOES_ON, WRONG, DROPPED, RESTART, SLEPT } stop;
    bool learned, bounded, weak, handled, tracing, all, named;
    const struct scenario *scenario, *learned_of;
    unsigned scenario_index;
    uint64_t seen, runs, limit, time;
    char wrong[400];
    struct site sites[SITES], *ordered[SITES];
    size_t site_count;
    struct event events[EVENTS];
    size_t event_count;
    size_t shortest[64];
    uint64_t runs_of[64]; /* of each scenario */
} *x;

/* ---- views ---- */

static void join(struct view *to, const uint32_t *at, uint32_t count, uint32_t from)
{
    for (uint32_t i = to->count; i < count; i++)
        to->at[i] = 0;
    to->count = to->count > count ? to->count : count;
    for (uint32_t i = from; i < count; i++)
        to->at[i] = to->at[i] > at[i] ? to->at[i] : at[i];
}

static uint32_t at(const struct view *view, uint32_t index)
{
    return index < view->count ? view->at[index] : 0;
}

static void raise_to(struct view *view, uint32_t index, uint32_t stamp)
{
    for (; view->count <= index; view->count++)
        view->at[view->count] = 0;
    view->at[index] = view->at[index] > stamp ? view->at[index] : stamp;
}

static void *room(size_t size)
{
    void *result = x->arena + x->arena_used;
    x->arena_used += (size + 7) & ~(size_t)7;
    if (x->arena_used > ARENA_BYTES) {
        fprintf(stderr, "a run needs too much memory\n");
        abort();
    }
    return result;
}

static struct kept keep(const struct view *view)
{
    struct kept result = { view->count, room(view->count * sizeof(uint32_t)) };
    memcpy(result.at, view->at, view->count * sizeof(uint32_t));
    return result;
}

/* ---- choices ---- */

static void leave(int stop)
{
    x->stop = stop;
    if (x->self < 0)
        _longjmp(x->out, 1);
    x->self = -1;
    _longjmp(x->scheduler, 1);
}

void orders_wrong(const char *file, int line, const char *what)
{
    const char *name = strrchr(file, '/');
    snprintf(x->wrong, sizeof x->wrong, "%s:%d: %s", name ? name + 1 : file, line, what);
    leave(WRONG);
    abort();
}

static void wrong(const char *what, const void *where)
{
    snprintf(x->wrong, sizeof x->wrong, "%s at %p", what, where);
    leave(WRONG);
}

void orders_drop(void)
{
    leave(DROPPED);
    abort();
}

void orders_saw(unsigned outcome)
{
    x->seen |= UINT64_C(1) << outcome;
}

unsigned orders_self(void)
{
    return (unsigned)x->self;
}

unsigned orders_choose(unsigned count)
{
    if (count <= 1)
        return 0;
    if (x->position == x->depth) {
        if (x->depth == DEPTH)
            leave(DROPPED);
        x->trail[x->depth].chosen = 0;
        memset(x->trail[x->depth].of, 0, sizeof x->trail[x->depth].of);
        x->trail[x->depth++].count = count;
    }
    if (x->trail[x->position].count != count) {
        fprintf(stderr, "%s: a run does not repeat\n", x->scenario->name);
        abort();
    }
    return x->trail[x->position++].chosen;
}

/* ---- footprints ---- */

static void step_on(uint64_t *set, const volatile void *where)
{
    const uint64_t hash = ((uintptr_t)where >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 55;
    set[hash / 64] |= UINT64_C(1) << hash % 64;
}

static void merge(struct footprint *to, const struct footprint *from)
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
static bool wakes(const struct footprint *done, const struct footprint *asleep)
{
    uint64_t common = 0;
    for (int i = 0; i < HASHES / 64; i++)
        common |= done->stores[i] & (asleep->loads[i] | asleep->stores[i]);
    return common || (done->fence && (asleep->fence || asleep->sc)) || (asleep->fence && done->sc);
}

/* ---- sites ---- */

static unsigned order_of(int order)
{
    static const unsigned flags[] = { 0, ACQUIRE, ACQUIRE, RELEASE, ACQUIRE | RELEASE, ACQUIRE | RELEASE | SC };
    return flags[order];
}

/* The order with which an access of the sources takes place. */
static unsigned order_at(uintptr_t pc, enum op op, unsigned order)
{
    size_t i = pc * 2654435761u % SITES;
    while (x->sites[i].pc && x->sites[i].pc != pc)
        i = (i + 1) % SITES;
    struct site *site = &x->sites[i];
    if (!site->pc) {
        *site = (struct site){ .pc = pc, .op = op, .order = order, .mask = ~0u };
        if (op == LOAD)
            site->order &= ~(unsigned)RELEASE;
        if (op == STORE)
            site->order &= ~(unsigned)ACQUIRE;
        if (!x->named)
            x->ordered[x->site_count++] = site;
    }
    site->scenarios |= UINT64_C(1) << x->scenario_index;
    return order & site->order & site->mask;
}

static void note(const char *what, void *where, uint64_t value, uint32_t age, uintptr_t pc)
{
    if (x->tracing && x->event_count < EVENTS)
        x->events[x->event_count++] = (struct event){ (uint8_t)x->self, what, where, value, age, pc };
}

/* ---- locations ---- */

static struct thread *self(void)
{
    return &x->threads[x->self];
}

static bool is_tracked(const volatile void *where)
{
    return x && x->self >= 0 && (const uint8_t *)where >= x->begin && (const uint8_t *)where < x->end;
}

static struct location *known(const uint8_t *where)
{
    uint16_t number = x->location_at[where - x->begin];
    return number ? &x->locations[number - 1] : NULL;
}

static uint32_t index_of(const struct location *location)
{
    return CLOCKS + (uint32_t)(location - x->locations);
}

static struct store *last_store(const struct location *location)
{
    return location->stores[location->count - 1];
}

static struct location *make_location(uint8_t *where, uint32_t size)
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

static void cut(const uint8_t *where)
{
    if (x->cut[where - x->begin])
        return;
    x->cut[where - x->begin] = 1;
    leave(RESTART);
}

/* From `where` to the end of its location, at most to `end`. */
static uint32_t piece_at(const uint8_t *where, const uint8_t *end)
{
    const uint8_t *to = where + 1;
    while (to < end && !x->cut[to - x->begin])
        to++;
    return (uint32_t)(to - where);
}

static void show(struct location *location, const struct store *store)
{
    memcpy(location->at, store->bytes, location->size);
}

/* A round of runs goes by what earlier rounds have learned. */
static void learn(struct users *set, const uint8_t *where)
{
    const uint8_t bit = (uint8_t)(1u << x->self);
    if (set->now[where - x->begin] & bit)
        return;
    set->next[where - x->begin] |= bit;
    x->learned = true;
}

static void learn_next(struct users *set)
{
    memcpy(set->now, set->next, (size_t)(x->end - x->begin));
}

static bool others(const struct users *set, const uint8_t *where)
{
    return set->now[where - x->begin] & ~(1u << x->self);
}

/* ---- the threads ---- */

static void tls_copy(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, x->tls_size);
}

static void pass(void)
{
    struct thread *me = self();
    for (uint32_t i = 0; i < me->stale; i++)
        show(me->shown[i], last_store(me->shown[i]));
    me->stale = 0;
    tls_copy(me->tls, x->tls);
    if (_setjmp(me->here) == 0)
        _longjmp(x->scheduler, 1);
    tls_copy(x->tls, me->tls);
    me->wrote = false;
}

static void finish_stores(void);

/* Before an access. Only between a store and a later access that depends on other threads may
 * another thread go on: a load can come as late, and a store that no other thread competes with as
 * early, as the choice of stores by loads makes up for. */
static void arrive(bool depends)
{
    finish_stores();
    if (++x->steps > STEPS)
        leave(DROPPED);
    struct thread *me = self();
    if (x->self == 0 && x->scenario->handler && !x->handled && orders_choose(2)) {
        x->handled = true;
        note("handler", NULL, 0, 0, 0);
        x->scenario->handler();
        finish_stores();
        note("handler ends", NULL, 0, 0, 0);
    }
    if (me->wrote && depends)
        pass();
}


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

static void check_read(struct location *location, bool plain)
{
    race(location, location->plain_writes, true);
    race(location, location->writes, plain);
    (plain ? location->plain_reads : location->reads)[x->self] = tick();
}

static void check_write(struct location *location, bool plain)
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
static uint32_t oldest_seen(const struct location *location, unsigned order)
{
    const uint32_t index = index_of(location), fences = order & SC ? at(&x->sc_fences, index) : 0;
    uint32_t least = at(&self()->sees, index), i = location->count - 1;
    least = least > fences ? least : fences;
    while (i > 0 && location->stores[i]->stamp > least && !((order & SC) && (order & LAST ? location->stores[i]->sc != 0 : must_see(location->stores[i]))))
        i--;
    return i;
}

/* What a sequentially consistent load has taken, and stores before that, have earlier places. */
static void take_place(const struct location *location, const struct store *taken)
{
    for (uint32_t i = 0; i < location->count && location->stores[i]->stamp <= taken->stamp; i++)
        raise_to(&self()->sees, PLACE, location->stores[i]->sc);
}

static void take(const struct location *location, const struct store *store, unsigned order)
{
    struct thread *me = self();
    raise_to(&me->sees, index_of(location), store->stamp);
    join(order & ACQUIRE ? &me->sees : &me->acquires, store->released.at, store->released.count, 0);
    if (store->thread != x->self)
        join(&me->before, store->order.at, store->order.count, CLOCKS);
    join(&me->did, store->order.at, store->order.count, CLOCKS);
}

/* One of so many ways, of which the first takes the last store. */
static uint32_t choose_way(uint32_t count)
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
static uint32_t choose_store(const struct location *location, uint32_t oldest)
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

static uint64_t value_of(const struct store *store, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, store->bytes, size);
    return value;
}

/* A store at the place of the order of modification that is chosen, or right after `read`. */
static void add_store(struct location *location, const void *bytes, unsigned order, const struct store *read)
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

static void do_fence(unsigned order)
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

/* ---- plain accesses ---- */

static void finish_stores(void)
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

static void load_piece(uint8_t *where, uint32_t size, bool is_plain)
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
static void plain(volatile void *pointer, size_t size, bool stores, bool range, uintptr_t pc)
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

/* ---- atomics ---- */

typedef uint64_t change(uint64_t old, uint64_t operand);
static uint64_t exchange(uint64_t old, uint64_t operand) { (void)old; return operand; }
static uint64_t add(uint64_t old, uint64_t operand) { return old + operand; }
static uint64_t subtract(uint64_t old, uint64_t operand) { return old - operand; }
static uint64_t and(uint64_t old, uint64_t operand) { return old & operand; }
static uint64_t or(uint64_t old, uint64_t operand) { return old | operand; }
static uint64_t xor(uint64_t old, uint64_t operand) { return old ^ operand; }

static uint64_t raw(void *where, unsigned size)
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

static uint64_t atomic_load_at(uint8_t *where, unsigned size, int mo, uintptr_t pc)
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

static void atomic_store_at(uint8_t *where, unsigned size, uint64_t value, int mo, uintptr_t pc)
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
static uint64_t atomic_change_at(uint8_t *where, unsigned size, change *make, uint64_t operand, const uint64_t *expected, int mo, int failing, uintptr_t pc)
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
    uint32_t ways[STORES], count = 0;
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

/* ---- what instrumented code calls ---- */

#define PC ((uintptr_t)__builtin_return_address(0))

#define PLAIN(name, size)                                                                      \
    void __tsan_read##name(void *p) { plain(p, size, false, size == 16, PC); }                             \
    void __tsan_write##name(void *p) { plain(p, size, true, size == 16, PC); }                             \
    void __tsan_unaligned_read##name(void *p) { plain(p, size, false, false, PC); }            \
    void __tsan_unaligned_write##name(void *p) { plain(p, size, true, false, PC); }            \
    void __tsan_volatile_read##name(void *p) { plain(p, size, false, false, PC); }             \
    void __tsan_volatile_write##name(void *p) { plain(p, size, true, false, PC); }             \
    void __tsan_read_write##name(void *p) { plain(p, size, false, false, PC); plain(p, size, true, false, PC); }

#define ATOMIC(bits, type)                                                                                                                  \
    type __tsan_atomic##bits##_load(const volatile type *p, int mo) { return (type)atomic_load_at((uint8_t *)(uintptr_t)p, bits / 8, mo, PC); } \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int mo) { atomic_store_at((uint8_t *)(uintptr_t)p, bits / 8, v, mo, PC); }   \
    MAKES(bits, type, exchange, exchange)                                                                                                   \
    MAKES(bits, type, fetch_add, add)                                                                                                       \
    MAKES(bits, type, fetch_sub, subtract)                                                                                                  \
    MAKES(bits, type, fetch_and, and)                                                                                                       \
    MAKES(bits, type, fetch_or, or)                                                                                                         \
    MAKES(bits, type, fetch_xor, xor)                                                                                                       \
    bool __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *c, type v, int mo, int failing)                              \
    {                                                                                                                                       \
        const uint64_t expected = *c, old = atomic_change_at((uint8_t *)(uintptr_t)p, bits / 8, exchange, v, &expected, mo, failing, PC);   \
        *c = (type)old;                                                                                                                     \
        return old == expected;                                                                                                             \
    }                                                                                                                                       \
    bool __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *c, type v, int mo, int failing)                                \
    {                                                                                                                                       \
        const uint64_t expected = *c, old = atomic_change_at((uint8_t *)(uintptr_t)p, bits / 8, exchange, v, &expected, mo, failing, PC);   \
        *c = (type)old;                                                                                                                     \
        return old == expected;                                                                                                             \
    }                                                                                                                                       \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type c, type v, int mo, int failing)                                  \
    {                                                                                                                                       \
        const uint64_t expected = c;                                                                                                        \
        return (type)atomic_change_at((uint8_t *)(uintptr_t)p, bits / 8, exchange, v, &expected, mo, failing, PC);                          \
    }

#define MAKES(bits, type, name, make)                                                                                      \
    type __tsan_atomic##bits##_##name(volatile type *p, type v, int mo)                                                    \
    {                                                                                                                      \
        return (type)atomic_change_at((uint8_t *)(uintptr_t)p, bits / 8, make, v, NULL, mo, mo, PC);                       \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
PLAIN(1, 1) PLAIN(2, 2) PLAIN(4, 4) PLAIN(8, 8) PLAIN(16, 16)
ATOMIC(8, uint8_t) ATOMIC(16, uint16_t) ATOMIC(32, uint32_t) ATOMIC(64, uint64_t)

void __tsan_read_range(void *p, size_t size) { plain(p, size, false, true, PC); }
void __tsan_write_range(void *p, size_t size) { plain(p, size, true, true, PC); }
void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}

void __tsan_atomic_thread_fence(int mo)
{
    if (!x || x->self < 0)
        return;
    const unsigned order = order_at(PC, FENCE, order_of(mo));
    arrive(order & SC);
    note("fence", NULL, order, 0, PC);
    do_fence(order);
}

/* A fence for the compiler: only what a death leaves depends on it. */
void __tsan_atomic_signal_fence(int mo)
{
    if (!x || x->self < 0)
        return;
    finish_stores();
    if (order_of(mo) & RELEASE)
        join(&self()->before, self()->did.at, self()->did.count, CLOCKS);
}

void *orders_memmove(void *to, const void *from, size_t size)
{
    plain((void *)(uintptr_t)from, size, false, false, PC);
    plain(to, size, true, false, PC);
    memmove(to, from, size);
    if (is_tracked(to))
        finish_stores();
    return to;
}

void *orders_memcpy(void *to, const void *from, size_t size)
{
    return orders_memmove(to, from, size);
}

void *orders_memset(void *to, int byte, size_t size)
{
    plain(to, size, true, false, PC);
    memset(to, byte, size);
    if (is_tracked(to))
        finish_stores();
    return to;
}

int orders_memcmp(const void *a, const void *b, size_t size)
{
    plain((void *)(uintptr_t)a, size, false, false, PC);
    plain((void *)(uintptr_t)b, size, false, false, PC);
    return memcmp(a, b, size);
}

void *orders_memchr(const void *in, int byte, size_t size)
{
    void *found = memchr(in, byte, size);
    if (is_tracked(in))
        plain((void *)(uintptr_t)in, found ? (size_t)((uint8_t *)found - (const uint8_t *)in) + 1 : size, false, false, PC);
    return found;
}

void *orders_malloc(size_t size)
{
    return room(size);
}

void *orders_calloc(size_t count, size_t size)
{
    return memset(room(count * size), 0, count * size);
}

void orders_free(void *memory)
{
    (void)memory;
}

uint64_t orders_time(void)
{
    return x->time += 1000;
}

void *__tsan_memcpy(void *to, const void *from, size_t size) { return orders_memmove(to, from, size); }
void *__tsan_memmove(void *to, const void *from, size_t size) { return orders_memmove(to, from, size); }
void *__tsan_memset(void *to, int byte, size_t size) { return orders_memset(to, byte, size); }
#pragma GCC diagnostic pop

void orders_pread(void *to, const void *from, size_t size)
{
    if (x->self >= 0) {
        arrive(false);
        do_fence(ACQUIRE);
        uint8_t *where = (uint8_t *)(uintptr_t)from, *end = where + size;
        cut(where);
        if (end < x->end)
            cut(end);
        for (uint32_t length; where < end && is_tracked(where); where += length) {
            length = piece_at(where, end);
            if (others(&x->writers, where) && self()->wrote)
                pass();
            load_piece(where, length, false);
        }
        do_fence(ACQUIRE);
    }
    memcpy(to, from, size);
}

void orders_declare(const void *where, size_t size, unsigned kinds)
{
    memset(x->kinds + ((const uint8_t *)where - x->begin), (int)kinds, size);
}

bool orders_wait(const volatile uint32_t *word, uint32_t value, bool ends)
{
    finish_stores();
    if (self()->wrote)
        pass();
    uint8_t *where = (uint8_t *)(uintptr_t)word;
    step_on(x->foot.stores, word);
    const struct location *location = known(where);
    const uint64_t now = location ? value_of(last_store(location), 4) : raw(where, 4);
    self()->wrote = true;
    if (now != value)
        return true;
    if (ends && orders_choose(2))
        return false;
    note("waits", where, value, 0, PC);
    self()->waits = word;
    self()->wait_ends = ends;
    pass();
    return true;
}

void orders_wake(const volatile uint32_t *word)
{
    finish_stores();
    if (self()->wrote)
        pass();
    step_on(x->foot.stores, word);
    note("wakes", (void *)(uintptr_t)word, 0, 0, PC);
    for (int i = 0; i < ORDERS_THREADS; i++)
        if (x->threads[i].waits == word)
            x->threads[i].waits = NULL;
    self()->wrote = true;
}

/* ---- one run ---- */

static void run_thread(void)
{
    x->scenario->threads[x->self]();
    finish_stores();
    for (uint32_t i = 0; i < self()->stale; i++)
        show(self()->shown[i], last_store(self()->shown[i]));
    self()->ended = true;
    _longjmp(x->scheduler, 1);
}

/* The thread that ran has come to a point where others may go on. Those that were explored in its
 * place go on sleeping as long as nothing that they depend on is done. */
static void end_step(void)
{
    if (x->from_point >= 0)
        merge(&x->trail[x->from_point].of[x->trail[x->from_point].chosen], &x->foot);
    for (int i = 0; i < ORDERS_THREADS; i++)
        x->asleep[i] = x->asleep[i] && !wakes(&x->foot, &x->asleep_foot[i]);
    memset(&x->foot, 0, sizeof x->foot);
    x->from_point = -1;
}

static unsigned switches_of(const struct scenario *scenario)
{
    return x->all ? scenario->switches_of_all : scenario->switches;
}

static void go_on(struct thread *thread)
{
    if (thread->begun)
        _longjmp(thread->here, 1);
    thread->begun = true;
    swapcontext(&x->before, &thread->context);
}

static void run_threads(void)
{
    const unsigned most = switches_of(x->scenario);
    volatile unsigned switches = most;
    memset(x->asleep, 0, sizeof x->asleep);
    memset(&x->foot, 0, sizeof x->foot);
    x->from_point = -1;
    for (;;) {
        int ready[ORDERS_THREADS], count = 0, waiting = 0, sleeping = 0;
        x->self = -1;
        end_step();
        const bool goes_on = x->last >= 0 && !x->threads[x->last].ended && !x->threads[x->last].waits;
        for (int j = 0; j < ORDERS_THREADS; j++) {
            const int i = x->last >= 0 ? (x->last + j) % ORDERS_THREADS : j;
            if (!x->scenario->threads[i] || x->threads[i].ended)
                continue;
            waiting += x->threads[i].waits != NULL;
            if (x->threads[i].waits)
                continue;
            if (goes_on && i != x->last && most && switches == 0)
                x->bounded = true;
            else if (x->asleep[i])
                sleeping++;
            else
                ready[count++] = i;
        }
        if (count == 0) {
            if (sleeping)
                leave(SLEPT);
            if (waiting == 0)
                return;
            int over = 0; /* the first wait that ends by itself */
            while (over < ORDERS_THREADS && !(x->threads[over].waits && x->threads[over].wait_ends))
                over++;
            if (over == ORDERS_THREADS)
                wrong("a thread waits for ever", NULL);
            x->threads[over].waits = NULL;
            continue;
        }
        const uint32_t point = x->position, way = orders_choose((unsigned)count);
        const int next = ready[way];
        if (count > 1)
            x->from_point = (int)point;
        for (uint32_t i = 0; i < way; i++) {
            x->asleep[ready[i]] = true;
            x->asleep_foot[ready[i]] = x->trail[point].of[i];
        }
        if (goes_on && next != x->last && most)
            switches--;
        x->last = next;
        x->self = next;
        tls_copy(x->tls, x->threads[next].tls);
        if (_setjmp(x->scheduler) == 0)
            go_on(&x->threads[next]);
        if (x->stop != GOES_ON)
            _longjmp(x->out, 1);
    }
}

/* The store of a location that a death leaves. `way`: of those that fit with what was chosen
 * before, the last (0) or the first (1), or any (2). */
static void choose_left(struct location *location, struct view *chosen, struct view *needs, unsigned way)
{
    const uint32_t index = index_of(location);
    uint32_t ways[STORES], count = 0;
    for (uint32_t j = location->count; j-- > 0 && location->stores[j]->stamp >= at(needs, index);) {
        const struct kept *order = &location->stores[j]->order;
        bool fits = true;
        for (uint32_t k = CLOCKS; fits && k < order->count && k < chosen->count; k++)
            fits = chosen->at[k] == UINT32_MAX || order->at[k] <= chosen->at[k] || k == index;
        if (fits)
            ways[count++] = j;
    }
    if (count == 0)
        leave(DROPPED);
    const struct store *store = location->stores[ways[way == 0 ? 0 : way == 1 ? count - 1 : orders_choose(count)]];
    chosen->at[index] = store->stamp;
    join(needs, store->order.at, store->order.count, CLOCKS);
    show(location, store);
    if (store != last_store(location))
        note("a death leaves", location->at, value_of(store, location->size), 1, 0);
}

/* One of the contents that files may have after a death at any instant. Of plain stores, where they
 * are many, all are there that may be, or none, or all but one, or one alone. */
static void choose_death(void)
{
    enum { FEW = 5 };
    static const unsigned any = 2;
    struct view *chosen = &x->chosen, *needs = &x->both;
    uint32_t plain_ones = 0;
    needs->count = 0;
    chosen->count = CLOCKS + x->location_count;
    memset(chosen->at, 0xff, chosen->count * sizeof chosen->at[0]);
    for (uint32_t i = 0; i < x->location_count; i++) {
        struct location *location = &x->locations[i];
        if ((location->kinds & ORDERS_FILE) && location->is_atomic)
            choose_left(location, chosen, needs, any);
        plain_ones += (location->kinds & ORDERS_FILE) && !location->is_atomic && location->count > 1;
    }
    const uint32_t odd = plain_ones > FEW ? orders_choose(2 * (plain_ones + 1)) : 0;
    for (uint32_t i = 0, number = 0; i < x->location_count; i++) {
        struct location *location = &x->locations[i];
        if (!(location->kinds & ORDERS_FILE) || location->is_atomic || location->count < 2)
            continue;
        number++;
        choose_left(location, chosen, needs, plain_ones <= FEW ? any : odd % 2 ^ (odd / 2 == number));
    }
}

static void reset(void)
{
    memcpy(x->begin, x->initial, (size_t)(x->end - x->begin));
    tls_copy(x->tls, x->tls_initial);
    for (uint32_t i = 0; i < x->location_count; i++)
        x->location_at[x->locations[i].at - x->begin] = 0;
    x->location_count = x->position = x->steps = 0;
    x->time = 1000000000;
    x->event_count = 0;
    x->sc.count = x->sc_fences.count = x->places = 0;
    x->arena_used = 0;
    x->stop = GOES_ON;
    x->self = x->last = -1;
    x->handled = false;
    x->stale_left = x->scenario->stale;
}

static void run_once(void)
{
    reset();
    if (_setjmp(x->out))
        return;
    if (x->scenario->setup)
        x->scenario->setup();
    for (int i = 0; i < ORDERS_THREADS; i++) {
        struct thread *thread = &x->threads[i];
        thread->sees.count = thread->acquires.count = thread->releases.count = thread->did.count = thread->before.count = 0;
        thread->wrote = thread->ended = thread->begun = false;
        thread->waits = NULL;
        thread->pending = thread->stale = 0;
        thread->range = false;
        tls_copy(thread->tls, x->tls_initial);
        getcontext(&thread->context);
        thread->context.uc_stack.ss_sp = thread->stack;
        thread->context.uc_stack.ss_size = STACK_BYTES;
        thread->context.uc_link = NULL;
        makecontext(&thread->context, run_thread, 0);
    }
    run_threads();
    x->self = -1;
    tls_copy(x->tls, x->tls_initial);
    if (x->scenario->check)
        x->scenario->check();
    if (x->scenario->dead) {
        choose_death();
        x->scenario->dead();
    }
}

/* ---- all runs ---- */

static bool advance(void)
{
    while (x->depth > 0 && x->trail[x->depth - 1].chosen + 1 >= x->trail[x->depth - 1].count)
        x->depth--;
    if (x->depth == 0)
        return false;
    x->trail[x->depth - 1].chosen++;
    return true;
}

/* What the runs show about locations makes the next round right: which threads store where, and
 * how large the accesses are. */
static bool explore(void)
{
    const size_t bytes = (size_t)(x->end - x->begin);
    if (x->learned_of != x->scenario) {
        memset(x->writers.next, 0, bytes);
        memset(x->users.next, 0, bytes);
        for (size_t i = 0; i < bytes; i++)
            x->cut[i] = ((uintptr_t)x->begin + i) % 8 == 0;
        memset(x->kinds, 0, bytes);
    }
    x->learned_of = x->scenario;
    for (int rounds = 0;; rounds++) {
        learn_next(&x->writers);
        learn_next(&x->users);
        x->depth = 0;
        x->runs = x->seen = 0;
        x->learned = x->bounded = false;
        bool more = true;
        while (more) {
            run_once();
            x->runs += x->stop != SLEPT;
            if (x->stop != GOES_ON && x->from_point >= 0)
                merge(&x->trail[x->from_point].of[x->trail[x->from_point].chosen], &x->foot);
            if (x->stop == WRONG)
                return false;
            if (x->stop == RESTART || (x->learned && x->runs >= 200))
                break;
            if (x->runs >= x->limit) {
                x->bounded = true;
                break;
            }
            more = advance();
        }
        if (x->stop != RESTART && !x->learned)
            return true;
        if (rounds > 2000)
            abort();
    }
}

/* ---- names of places ---- */

static void name_pc(uintptr_t pc, char *function, size_t function_size, char *file, size_t file_size, unsigned *line)
{
    char command[200], text[600];
    snprintf(command, sizeof command, "addr2line -f -e /proc/%d/exe %#lx", (int)getpid(), (unsigned long)pc - 1);
    FILE *names = popen(command, "r");
    *line = 0;
    if (!names || !fgets(function, (int)function_size, names) || !fgets(text, sizeof text, names))
        abort();
    pclose(names);
    function[strcspn(function, ".\n")] = 0;
    char *colon = strrchr(text, ':');
    if (colon) {
        *line = (unsigned)strtoul(colon + 1, NULL, 10);
        *colon = 0;
    }
    const char *product = strstr(text, "Sources/CLaunchGuard/");
    snprintf(file, file_size, "%s", product ? product + strlen("Sources/CLaunchGuard/") : strrchr(text, '/') ? strrchr(text, '/') : text);
}

static void print_events(void)
{
    for (size_t i = 0; i < x->event_count; i++) {
        const struct event *event = &x->events[i];
        char function[200] = "", file[700] = "";
        unsigned line = 0;
        if (event->pc)
            name_pc(event->pc, function, sizeof function, file, sizeof file, &line);
        printf("    thread %d %s %p %#llx%s %s:%u %s\n", (int8_t)event->thread, event->what, (void *)event->at, (unsigned long long)event->value,
               event->age ? " (older)" : "", file, line, function);
    }
}

static const char *order_name(unsigned order)
{
    static const char *const names[] = { "relaxed", "acquire", "release", "acq_rel", "seq_cst", "seq_cst", "seq_cst", "seq_cst" };
    return names[order];
}

static int by_place(const void *left, const void *right)
{
    const struct site *a = *(struct site *const *)left, *b = *(struct site *const *)right;
    const int keys = strcmp(a->key, b->key);
    return keys ? keys : (a->line > b->line) - (a->line < b->line);
}

/* Key: file, function, kind of access, and a number where the function has several. */
static void name_sites(void)
{
    size_t count = 0;
    x->named = true;
    for (size_t i = 0; i < x->site_count; i++) {
        struct site *site = x->ordered[i];
        char function[100], file[700];
        name_pc(site->pc, function, sizeof function, file, sizeof file, &site->line);
        if (file[0] == '/' || site->order == 0)
            continue;
        snprintf(site->key, sizeof site->key, "%.90s %.60s %s", file, function, op_names[site->op]);
        x->ordered[count++] = site;
    }
    x->site_count = count;
    qsort(x->ordered, count, sizeof x->ordered[0], by_place);
    unsigned number = 1, line = 0;
    char key[200] = "";
    for (size_t i = 0; i < count; i++) {
        struct site *site = x->ordered[i];
        if (strcmp(key, site->key) != 0) {
            snprintf(key, sizeof key, "%s", site->key);
            number = 1;
        } else if (site->line != line) {
            number++;
        }
        line = site->line;
        if (number > 1)
            snprintf(site->key + strlen(site->key), 12, "#%u", number);
    }
}

/* ---- mutants ---- */

/* Those with the fewest runs come first. */
static void sort_scenarios(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t to = i;
        for (; to > 0 && x->runs_of[x->shortest[to - 1]] > x->runs_of[i]; to--)
            x->shortest[to] = x->shortest[to - 1];
        x->shortest[to] = i;
    }
}

static bool is_found(const struct scenario *scenarios, size_t count, size_t first, size_t next, unsigned mask)
{
    bool found = false;
    for (size_t i = first; i < next; i++)
        x->ordered[i]->mask = mask;
    for (size_t n = 0; n < count && !found; n++) {
        const size_t i = x->shortest[n];
        if (!(x->ordered[first]->scenarios >> i & 1))
            continue;
        x->scenario = &scenarios[i];
        x->scenario_index = (unsigned)i;
        x->weak = true;
        found = !explore();
    }
    for (size_t i = first; i < next; i++)
        x->ordered[i]->mask = ~0u;
    return found;
}

/* The weakest order that no scenario finds; none: all are found. */
static bool survives(const struct scenario *scenarios, size_t count, size_t first, size_t next, unsigned *ret_order)
{
    static const unsigned masks[] = { 0, ACQUIRE, RELEASE, ACQUIRE | RELEASE };
    const unsigned order = x->ordered[first]->order;
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        if ((order & masks[i]) != masks[i] || masks[i] == order)
            continue;
        if (!is_found(scenarios, count, first, next, masks[i])) {
            *ret_order = masks[i];
            return true;
        }
    }
    return false;
}

static bool is_listed(const char *list, const char *program, const char *key, const char *order, bool *ret_any)
{
    char text[600], begin[400];
    bool result = false;
    FILE *lines = fopen(list, "r");
    if (!lines)
        return false;
    *ret_any = false;
    const int any = snprintf(begin, sizeof begin, "%s: %s ", program, key);
    const int whole = snprintf(begin, sizeof begin, "%s: %s %s: ", program, key, order);
    while (fgets(text, sizeof text, lines)) {
        result |= strncmp(text, begin, (size_t)whole) == 0 && strlen(text) > (size_t)whole + 4;
        *ret_any |= strncmp(text, begin, (size_t)any) == 0;
    }
    fclose(lines);
    return result;
}

static unsigned count_lines(const char *list, const char *program)
{
    char text[600];
    unsigned count = 0;
    FILE *lines = fopen(list, "r");
    while (lines && fgets(text, sizeof text, lines))
        count += strncmp(text, program, strlen(program)) == 0 && text[strlen(program)] == ':';
    if (lines)
        fclose(lines);
    return count;
}

static int try_mutants(const char *program, const struct scenario *scenarios, size_t count, const char *list)
{
    unsigned found = 0, listed = 0, bad = 0;
    name_sites();
    for (size_t first = 0, next; first < x->site_count; first = next) {
        const struct site *site = x->ordered[first];
        bool any = false;
        unsigned order = 0;
        for (next = first + 1; next < x->site_count && strcmp(x->ordered[next]->key, site->key) == 0; next++) {}
        const bool lives = survives(scenarios, count, first, next, &order);
        const bool is_right = lives ? is_listed(list, program, site->key, order_name(order), &any) : (is_listed(list, program, site->key, "", &any), !any);
        if (!is_right && lives)
            printf("NOT FOUND: %s: %s %s: (line %u, is %s)\n", program, site->key, order_name(order), site->line, order_name(site->order));
        else if (!is_right)
            printf("LISTED, BUT FOUND: %s: %s\n", program, site->key);
        fflush(stdout);
        found += !lives;
        listed += lives && is_right;
        bad += !is_right;
    }
    const unsigned lines = count_lines(list, program);
    if (lines > listed + bad) {
        printf("the list has %u lines for %s, and %u places\n", lines, program, listed);
        bad++;
    }
    printf("%s: every weaker order is found at %u places; %u are listed\n", program, found, listed);
    return bad ? 1 : 0;
}

/* ---- main ---- */

static int find_tls(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    (void)argument;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            x->tls = info->dlpi_tls_data;
            x->tls_size = info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the program is the first */
}

static void *map(size_t size)
{
    void *result = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (result == MAP_FAILED)
        abort();
    return result;
}

static void prepare(void)
{
    extern uint8_t __data_start[], _end[];
    x = map(sizeof *x);
    x->self = -1;
    x->begin = __data_start;
    x->end = _end;
    const size_t bytes = (size_t)(x->end - x->begin);
    x->cut = map(bytes);
    x->writers = (struct users){ map(bytes), map(bytes) };
    x->users = (struct users){ map(bytes), map(bytes) };
    x->kinds = map(bytes);
    x->location_at = map(bytes * sizeof x->location_at[0]);
    x->locations = map(LOCATIONS * sizeof x->locations[0]);
    x->arena = map(ARENA_BYTES);
    x->limit = UINT64_MAX;
    dl_iterate_phdr(find_tls, NULL);
    x->tls_initial = map(x->tls_size + 1);
    tls_copy(x->tls_initial, x->tls);
    for (int i = 0; i < ORDERS_THREADS; i++) {
        x->threads[i].stack = map(STACK_BYTES);
        x->threads[i].tls = map(x->tls_size + 1);
    }
    x->initial = map(bytes);
    memcpy(x->initial, x->begin, bytes);
}

static bool explore_and_print(bool weak)
{
    x->weak = weak;
    const bool right = explore();
    x->runs_of[x->scenario_index] = x->runs;
    const uint64_t wanted = weak ? x->scenario->wanted : x->scenario->wanted_x86;
    const bool all = (x->seen & wanted) == wanted;
    printf("%s, %s: %llu runs, %s%s%s\n", x->scenario->name, weak ? "C11" : "x86-64", (unsigned long long)x->runs, x->bounded ? "bounded" : "complete",
           right ? "" : ": WRONG: ", right ? "" : x->wrong);
    if (!right) {
        x->tracing = true;
        run_once();
        x->tracing = false;
        print_events();
    } else if (!all) {
        printf("    outcomes %#llx were not seen\n", (unsigned long long)(wanted & ~x->seen));
    }
    fflush(stdout);
    return right && all;
}

int orders_main(int argc, char **argv, const struct scenario *scenarios, size_t count)
{
    const char *name = NULL, *list = NULL, *program = strrchr(argv[0], '/');
    bool right = true, wide = false;
    program = program ? program + 1 : argv[0];
    if (strncmp(program, "test-orders-", 12) == 0)
        program += 12;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            for (size_t j = 0; j < count; j++)
                printf("%s: %s: %s\n", program, scenarios[j].name, scenarios[j].sections ? scenarios[j].sections : "");
            return 0;
        }
        if (strcmp(argv[i], "--all") == 0)
            wide = true;
        else if (strcmp(argv[i], "--mutants") == 0 && i + 1 < argc)
            list = argv[++i];
        else
            name = argv[i];
    }
    prepare();
    x->all = wide;
    for (size_t i = 0; i < count; i++) {
        if (name && strcmp(name, scenarios[i].name) != 0)
            continue;
        x->scenario = &scenarios[i];
        x->scenario_index = (unsigned)i;
        if (wide)
            right &= explore_and_print(false);
        right &= explore_and_print(true);
    }
    if (list && right) {
        sort_scenarios(count);
        return try_mutants(program, scenarios, count, list);
    }
    return right ? 0 : 1;
}
