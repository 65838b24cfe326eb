/* A short walk by frame pointers, for the thread that meets a fault. It trusts no word that it
 * reads: a frame lies above the one before it, close by, on a page that can be read. */
#include "guard/guard.h"
#include "os/os.h"

#define FRAME_BYTES_MAX (UINT64_C(1) << 20)

static bool read_pair(uint64_t at, uint64_t *ret_next, uint64_t *ret_caller)
{
    const uint64_t *pair = (const uint64_t *)(uintptr_t)at;
    if (at & 7 || lg__os_readable(at) == 0 || lg__os_readable(at + 8) == 0)
        return false;
    *ret_next = pair[0];
    *ret_caller = pair[1];
    return true;
}

__attribute__((no_sanitize("address", "thread"))) uint32_t lg__stack_walk(const void *ucontext, uint64_t *ret_frames, uint32_t most)
{
    struct lg__arch_fault fault = { .pc = (uint64_t)(uintptr_t)__builtin_return_address(0), .fp = (uint64_t)(uintptr_t)__builtin_frame_address(0) };
    uint64_t next, caller;
    uint32_t count = 0;
    if (ucontext)
        lg__arch_fault(ucontext, &fault);
    else if (!read_pair(fault.fp, &fault.fp, &caller))
        return 0;
    ret_frames[count++] = fault.pc;
    for (uint64_t frame = fault.fp; count < most && read_pair(frame, &next, &caller) && caller; frame = next) {
        ret_frames[count++] = lg__arch_code_address(caller);
        if (next <= frame || next - frame > FRAME_BYTES_MAX)
            break;
    }
    return count;
}
