/* Where a function was called from: Swift has no word for it. */
#ifndef LAUNCHGUARD_CCALLSITE_SHIM_H
#define LAUNCHGUARD_CCALLSITE_SHIM_H

#include <stdint.h>

/* The return address of the Swift function that calls this one. A function of its own in every
 * build: a debug build inlines nothing of C. Swift keeps frame pointers; without them the address
 * is one in the function that calls this one. */
static __attribute__((noinline)) const void *_Nullable lg_shim_call_site(void)
{
    const uintptr_t *frame = (const uintptr_t *)__builtin_frame_address(0);
    const uintptr_t next = frame[0], distance = next - (uintptr_t)frame;
    const uintptr_t most = 1 << 20;
    if (next % sizeof next || distance == 0 || distance > most)
        return __builtin_return_address(0);
    return (const void *)((const uintptr_t *)next)[1];
}

#endif
