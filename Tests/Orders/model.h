/* The state of the model, and what its files offer each other: orders.h. */
#ifndef ORDERS_MODEL_H
#define ORDERS_MODEL_H

#include "orders.h"

#include <setjmp.h>
#include <ucontext.h>

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

struct explorer {
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
};
extern struct explorer *x;

/* views.c */
void join(struct view *to, const uint32_t *at, uint32_t count, uint32_t from);
uint32_t at(const struct view *view, uint32_t index);
void raise_to(struct view *view, uint32_t index, uint32_t stamp);
void *room(size_t size);
struct kept keep(const struct view *view);
void step_on(uint64_t *set, const volatile void *where);
void merge(struct footprint *to, const struct footprint *from);
bool wakes(const struct footprint *done, const struct footprint *asleep);

/* places.c */
unsigned order_of(int order);
unsigned order_at(uintptr_t pc, enum op op, unsigned order);
void note(const char *what, void *where, uint64_t value, uint32_t age, uintptr_t pc);
void print_events(void);
const char *order_name(unsigned order);
void name_sites(void);

/* threads.c */
void leave(int stop);
void wrong(const char *what, const void *where);
void tls_copy(uint8_t *to, const uint8_t *from);
void pass(void);
void arrive(bool depends);

/* locations.c */
struct thread *self(void);
bool is_tracked(const volatile void *where);
struct location *known(const uint8_t *where);
uint32_t index_of(const struct location *location);
struct store *last_store(const struct location *location);
struct location *make_location(uint8_t *where, uint32_t size);
void cut(const uint8_t *where);
uint32_t piece_at(const uint8_t *where, const uint8_t *end);
void show(struct location *location, const struct store *store);
void learn(struct users *set, const uint8_t *where);
void learn_next(struct users *set);
bool others(const struct users *set, const uint8_t *where);

/* stores.c */
void check_read(struct location *location, bool plain);
void check_write(struct location *location, bool plain);
uint32_t oldest_seen(const struct location *location, unsigned order);
void take_place(const struct location *location, const struct store *taken);
void take(const struct location *location, const struct store *store, unsigned order);
uint32_t choose_way(uint32_t count);
uint32_t choose_store(const struct location *location, uint32_t oldest);
uint64_t value_of(const struct store *store, unsigned size);
void add_store(struct location *location, const void *bytes, unsigned order, const struct store *read);
void do_fence(unsigned order);

/* accesses.c */
typedef uint64_t change(uint64_t old, uint64_t operand);
void finish_stores(void);
void load_piece(uint8_t *where, uint32_t size, bool is_plain);
void plain(volatile void *pointer, size_t size, bool stores, bool range, uintptr_t pc);
uint64_t raw(void *where, unsigned size);
uint64_t atomic_load_at(uint8_t *where, unsigned size, int mo, uintptr_t pc);
void atomic_store_at(uint8_t *where, unsigned size, uint64_t value, int mo, uintptr_t pc);
uint64_t atomic_change_at(uint8_t *where, unsigned size, change *make, uint64_t operand, const uint64_t *expected, int mo, int failing, uintptr_t pc);

/* runs.c */
void run_once(void);
bool explore(void);

/* mutants.c */
void sort_scenarios(size_t count);
int try_mutants(const char *program, const struct scenario *scenarios, size_t count, const char *list);

#endif
