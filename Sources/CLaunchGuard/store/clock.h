/* The clock of the ring log: the CPU's counter where the kernel trusts it as well, else
 * CLOCK_MONOTONIC.
 *
 * Entries hold counts; only a reader turns them into nanoseconds, by the line through two points
 * that were taken far from each other. The header of the ring has a line from the start, and a
 * thread that writes an entry stores a later point now and then. Each point allows the counter for
 * a while: at the very beginning, and when the machine has slept, entries have CLOCK_MONOTONIC. */
#ifndef LG_STORE_CLOCK_H
#define LG_STORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "os/arch_inline.h"
#include "os/os.h"
#include "store/format.h"

/* The counter and CLOCK_MONOTONIC at one moment; count 0: there is no counter. */
struct lg__clock_point {
    uint64_t count, ns;
};

/* In memory, one a ring. */
struct lg__clock {
    _Alignas(64) _Atomic uint64_t from; /* read at every entry, and written now and then */
    _Atomic uint64_t span;    /* the counter may be used while it is less than this beyond `from` */
    /* more than one thread writes: an entry that comes after another must be later */
    _Atomic uint32_t several;
    /* tid of the only writer; 0: none yet */
    _Atomic int32_t only;
    struct lg__ring_header header; /* as in the file, which may be damaged */
    struct lg__clock_point last;
    uint64_t asleep_ns; /* the most time that the machine had slept since it was booted */
    struct lg__state *state;    /* of the run, which has the later point */
    /* CLOCK_MONOTONIC from which on a point is taken; UINT64_MAX: never */
    _Atomic uint64_t due_ns;
    _Atomic uint32_t marking;   /* a thread is about it */
    uint32_t turn;
    bool asked;
};
static_assert(sizeof(struct lg__clock) % 64 == 0, "whole cache lines");

/* At the begin of lg_start(): take a first point. The line is the better the more time passes
 * between this and lg__clock_init(). */
void lg__clock_begin(void);

/* Fill in the clock's part of a ring header. */
void lg__clock_init(struct lg__clock *clock, struct lg__ring_header *header, struct lg__state *state);

/* Store a later point, and allow the counter from now on for twice the time since the first point.
 * The first call asks a file of the kernel whether the counter is to be trusted. Where another
 * thread is about it, or the same one below a signal handler, the call does nothing. Handler. */
void lg__clock_mark(struct lg__clock *clock);

/* The counter is not used again. */
void lg__clock_give_up(struct lg__clock *clock);

/* Nanoseconds from the base of a ring's header to a count, by its line. */
uint64_t lg__clock_line(const struct lg__ring_header *header, uint64_t count);

/* Whether a later point can belong to the clock of this header: after its base, and within a
 * sixteenth of its line. */
bool lg__clock_fits(const struct lg__ring_header *header, struct lg__clock_point later);

/* Called before the first entry of a program's thread: threads that write after one of its entries
 * then know that it writes. Handler. */
static inline void lg__clock_writer(struct lg__clock *clock, int32_t tid)
{
    int32_t only = atomic_load_explicit(&clock->only, memory_order_relaxed);
    if (only == tid || (only == 0 && atomic_compare_exchange_strong(&clock->only, &only, tid)))
        return;
    if (only != tid)
        atomic_store_explicit(&clock->several, 1, memory_order_relaxed);
}

/* The counter, now; false: it is not to be used. Handler. */
static inline bool lg__clock_count(const struct lg__clock *clock, uint64_t *ret_count)
{
    if (!atomic_load_explicit(&clock->span, memory_order_relaxed))
        return false;
    *ret_count = atomic_load_explicit(&clock->several, memory_order_relaxed) ? lg__arch_counter_ordered() : lg__arch_counter();
    return *ret_count - atomic_load_explicit(&clock->from, memory_order_relaxed) < atomic_load_explicit(&clock->span, memory_order_relaxed);
}

/* Now, as an entry stores it. Returns the flags of the entry's kind for that. Handler. */
static inline unsigned lg__clock_now(struct lg__clock *clock, uint64_t *ret_time)
{
    if (lg__clock_count(clock, ret_time))
        return 0;
    *ret_time = lg__os_clock_ns(CLOCK_MONOTONIC);
    if (*ret_time >= atomic_load_explicit(&clock->due_ns, memory_order_relaxed))
        lg__clock_mark(clock); /* for later entries */
    return LG__ENTRY_MONOTONIC;
}

#endif
