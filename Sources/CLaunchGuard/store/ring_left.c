#include "store/ring_left.h"

#include <stdatomic.h>

#include "os/os.h"

/* Handlers in handlers. Deeper ones are not noted: what a jump leaves there stays taken. */
#define NESTED_MOST 4u

static __thread struct {
    uint32_t count;
    struct lg__ring_entry entries[NESTED_MOST], rest;
} open __attribute__((tls_model("initial-exec")));

bool lg__ring_left_is(uintptr_t frame, uintptr_t now)
{
    uintptr_t low, high;
    if (frame == LG__RING_SHARED)
        return false;
    const bool on = lg__os_on_alternate_stack(&low, &high), was_on = frame >= low && frame < high;
    return on == was_on ? now >= frame : was_on;
}

struct lg__ring_entry *lg__ring_left_enter(const struct lg__ring *ring, uintptr_t frame, uint64_t cells, uint32_t *ret_depth)
{
    *ret_depth = open.count;
    struct lg__ring_entry *entry = open.count < NESTED_MOST ? &open.entries[open.count] : &open.rest;
    *entry = (struct lg__ring_entry){ .ring = ring, .frame = frame, .cells = cells };
    atomic_signal_fence(memory_order_seq_cst);
    if (open.count < NESTED_MOST)
        open.count++;
    return entry;
}

/* Not one less: a handler on a stack of its own may have taken this entry for one that was left. */
void lg__ring_left_leave(uint32_t depth)
{
    atomic_signal_fence(memory_order_seq_cst);
    open.count = depth;
}

bool lg__ring_left_take(uintptr_t now, struct lg__ring_entry *ret_entry)
{
    if (open.count == 0 || !lg__ring_left_is(open.entries[open.count - 1].frame, now))
        return false;
    *ret_entry = open.entries[--open.count];
    return true;
}
