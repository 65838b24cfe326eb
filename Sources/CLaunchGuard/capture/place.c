/* Where the thread is whose crash was recorded: still in the earlier handler that ours called, or gone on because that one jumped out. */
#include "capture/internal.h"

/* How far below an alternate stack its overflow may come to light. */
#define OVERFLOW_REACH UINT64_C(65536)

/* So deep is no earlier handler. */
#define FRAMES 128u

bool lg__chain_has(uint64_t sp, const stack_t *altstack)
{
    uint64_t handler = atomic_load(&lg__capture.chain_sp), own_low, own_high;
    uint64_t low = (uint64_t)(uintptr_t)altstack->ss_sp, high = low + altstack->ss_size;
    if (handler < low || handler >= high)
        return sp < handler;
    if (sp >= low) /* ours runs on the alternate stack: so does what it called */
        return sp < handler;
    /* What it called ran out of that stack; unless the thread's own lies there. */
    lg__altstack_bounds(&own_low, &own_high);
    return sp + OVERFLOW_REACH >= low && !(sp >= own_low && sp < own_high);
}

/* Where the walk from there comes to: to our handler, then what that called is not left; to the end of the stack without it, then it is. */
static enum lg__place place_by_walk(const void *ucontext)
{
    uint64_t pcs[FRAMES], registers[LG__REGISTERS_MAX], handler = atomic_load(&lg__capture.chain_return);
    struct lg__frames_head head;
    const struct lg__frames frames = { &head, pcs, FRAMES, 1, FRAMES };
    if (atomic_load(&lg__capture.phase) != LG__PHASE_CHAINING || lg__latch_owner() != lg__os_tid())
        return LG__PLACE_UNKNOWN; /* a crash is being recorded, which walks with the same memory */
    lg__memory_forget(); /* the program went on since the record */
    lg__frames_begin(&frames);
    lg__arch_registers(ucontext, registers);
    lg__unwind_dwarf(registers, false, &frames);
    for (uint32_t i = 0; i < head.stored; i++)
        if (pcs[i] == handler)
            return LG__PLACE_INSIDE;
    return head.reason == LG__WALK_COMPLETE ? LG__PLACE_OUTSIDE : LG__PLACE_UNKNOWN;
}

enum lg__place lg__capture_place(const void *ucontext)
{
    const stack_t *altstack = &((const ucontext_t *)ucontext)->uc_stack;
    uint64_t handler = atomic_load(&lg__capture.chain_sp), low = (uint64_t)(uintptr_t)altstack->ss_sp;
    const struct lg__crash_header *crash = lg__run_stage(&lg__capture.options.run, LG_STAGE_HEADER);
    struct lg__arch_fault context;
    lg__arch_fault(ucontext, &context);
    if (!handler) /* it returned; where the fault was the thread may be about to repeat it, and to die of it */
        return context.pc == crash->pc ? LG__PLACE_NO_ANSWER : LG__PLACE_OUTSIDE;
    /* On its own stack a program that went on may well be deeper than the handler was. */
    if (handler < low || handler >= low + altstack->ss_size)
        return place_by_walk(ucontext);
    return lg__chain_has(context.sp, altstack) ? LG__PLACE_INSIDE : LG__PLACE_OUTSIDE;
}

enum lg__place lg__capture_place_asleep(int32_t tid)
{
    uint64_t handler = atomic_load(&lg__capture.chain_sp), low = atomic_load(&lg__capture.chain_low), sp;
    if (!low || !lg__thread_sleeps(tid, &sp))
        return LG__PLACE_NO_ANSWER;
    if (sp >= low && sp < handler)
        return LG__PLACE_INSIDE;
    return sp + OVERFLOW_REACH >= low && sp < low ? LG__PLACE_UNKNOWN : LG__PLACE_OUTSIDE;
}

void lg__capture_chain(const void *frame, const void *ucontext)
{
    const stack_t *altstack = &((const ucontext_t *)ucontext)->uc_stack;
    uint64_t sp = (uint64_t)(uintptr_t)frame, low = (uint64_t)(uintptr_t)altstack->ss_sp;
    atomic_store(&lg__capture.chain_low, sp >= low && sp < low + altstack->ss_size ? low : 0);
    atomic_store(&lg__capture.chain_sp, sp);
    atomic_store(&lg__capture.phase, LG__PHASE_CHAINING);
}

bool lg__capture_inside(void)
{
    stack_t altstack;
    return atomic_load(&lg__capture.phase) == LG__PHASE_CHAINING && lg__latch_owner() == lg__os_tid() &&
           sigaltstack(NULL, &altstack) == 0 && lg__chain_has((uint64_t)(uintptr_t)__builtin_frame_address(0), &altstack);
}
