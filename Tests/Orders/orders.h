/* A small model checker: all orders that a scenario of a few threads can have under C11's memory
 * model are run, one after the other, over the real sources of a protocol.
 *
 * The sources are compiled for ThreadSanitizer and linked with this runtime instead of its own:
 * each atomic and each plain access to static memory comes here. The threads of a scenario are
 * coroutines of one thread, so that a run repeats exactly; each point where it may go on in more
 * than one way is a choice, and the runs are the choices depth first. A run that another one covers
 * is left out (sleep sets).
 *
 * The model is one of views. A location has its stores in the order of their modification; a thread
 * has, for each location, the store that it cannot look behind. A load takes any store from there
 * on; an acquire load adds what the store released. Sequentially consistent fences exchange views
 * with one another; sequentially consistent stores have one order, and such a load has its place in
 * that order where it is made, or earlier. A store may come before others in the order of
 * modification that its thread has not seen. What a store depends on is before it: load buffering,
 * which C11 and AArch64 allow, is not explored.
 *
 * On x86-64, the narrower setting, each load acquires, each store releases, and each
 * read-modify-write is a fence; that two readers may see two stores in two orders is left in.
 *
 * Plain accesses that race are errors, except in memory that was declared for it, where they are
 * relaxed.
 *
 * A death of the process: dead() is run over each content that files can have then. A store that is
 * there brings those that the compiler must keep before it: what was before a release, what its
 * thread had read. Others may be missing, at whatever instant the process died.
 *
 * Each order of an atomic or a fence of the sources is weakened, one at a time; a scenario must
 * fail, or the place is in not_found.txt with the order that would do, and the reason. */
#ifndef ORDERS_H
#define ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDERS_THREADS 4

struct scenario {
    const char *name;
    const char *sections; /* of docs/CONCURRENCY.md, with semicolons between; NULL: none */
    void (*setup)(void);  /* before the threads, from the program's initial memory */
    void (*threads[ORDERS_THREADS])(void);
    void (*handler)(void); /* of a signal: interrupts thread 0 at any access, or does not come */
    void (*check)(void);  /* after all threads have ended, over the last stores; or NULL */
    void (*dead)(void);   /* after a death; or NULL */
    uint64_t wanted, wanted_x86; /* outcomes that must be seen: bits of orders_saw() */
    /* bound on the times that a thread loses the CPU while it could go on, and another one for
     * --all; 0: none */
    unsigned switches, switches_of_all;
    unsigned stale;       /* bound on the loads of a run that do not take the last store; 0: none */
};

/* Explore C11. The arguments: --all: x86-64, too, and with the wider bounds; --mutants FILE: weaken
 * the orders, and compare with the list; --list: names and sections; a name: that scenario
 * alone. */
int orders_main(int argc, char **argv, const struct scenario *scenarios, size_t count);

/* In setup(). Plain accesses there may race; the memory outlives the process. */
enum { ORDERS_RACY = 1, ORDERS_FILE = 2 };
void orders_declare(const void *at, size_t size, unsigned kinds);

/* The run is wrong, or it is of no interest. */
_Noreturn void orders_wrong(const char *file, int line, const char *what);
_Noreturn void orders_drop(void);
#define must(condition) ((condition) ? (void)0 : orders_wrong(__FILE__, __LINE__, #condition))
void orders_saw(unsigned outcome);
/* One of 0 … count − 1. */
unsigned orders_choose(unsigned count);
unsigned orders_self(void);

/* A futex: wait while the word's last store has this value; `ends`: the time of the wait may be
 * over at once. False: it is. A wait that nobody ends is wrong. */
bool orders_wait(const volatile uint32_t *word, uint32_t value, bool ends);
void orders_wake(const volatile uint32_t *word);

/* Copy as pread() does: the accesses are relaxed, and after those before and before those after. */
void orders_pread(void *to, const void *from, size_t size);

/* Memory until the run ends. */
void *orders_malloc(size_t size);
void *orders_calloc(size_t count, size_t size);
void orders_free(void *memory);

/* A clock that goes on by a little at each look. */
uint64_t orders_time(void);

void *orders_memcpy(void *to, const void *from, size_t size);
void *orders_memmove(void *to, const void *from, size_t size);
void *orders_memset(void *to, int byte, size_t size);
int orders_memcmp(const void *a, const void *b, size_t size);
void *orders_memchr(const void *in, int byte, size_t size);

#endif
