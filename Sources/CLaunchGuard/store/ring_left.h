/* Entries of the ring log that were left in the middle: a signal handler came, and jumped to a
 * caller of the writer. The next entry of the thread gives back what such an entry holds. */
#ifndef LG_STORE_RING_LEFT_H
#define LG_STORE_RING_LEFT_H

#include <stdbool.h>
#include <stdint.h>

/* In place of a frame: the lane that is never free. */
#define LG__RING_SHARED UINTPTR_MAX

struct lg__ring;

/* An entry in the shared lane that the calling thread is in the middle of. */
struct lg__ring_entry {
    const struct lg__ring *ring;
    uintptr_t frame;
    uint64_t sequence, cells;
};

/* The writer with that frame was left, where its thread now writes from the frame `now`: a handler
 * that interrupts it runs below it, or on the alternate stack. Handler. */
bool lg__ring_left_is(uintptr_t frame, uintptr_t now);

/* Begin an entry in the shared lane, from `frame`, inside as many others as `*ret_depth` says; the
 * caller stores its sequence. Handler. */
struct lg__ring_entry *lg__ring_left_enter(const struct lg__ring *ring, uintptr_t frame, uint64_t cells, uint32_t *ret_depth);
/* End it. Handler. */
void lg__ring_left_leave(uint32_t depth);

/* Take an entry that was left, seen from the frame `now`. false: there is none. Handler. */
bool lg__ring_left_take(uintptr_t now, struct lg__ring_entry *ret_entry);

#endif
