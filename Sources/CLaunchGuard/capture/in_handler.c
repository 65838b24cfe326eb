#include "capture/in_handler.h"

#include "capture/internal.h"
#include "capture/question.h"

/* The overflow of an alternate stack shows at most this far below the stack. */
#define OVERFLOW_REACH UINT64_C(65536)

/* No earlier handler is deeper. */
#define FRAMES 128u

/* Below the alternate stack, and not on the thread's own. */
static bool is_beyond(const struct lg__crash *crash, uint64_t sp)
{
    return sp < crash->altstack_low && !(sp >= crash->stack_low && sp < crash->stack_high);
}

enum lg__in_handler lg__in_handler_by_stack(const struct lg__crash *crash, uint64_t sp)
{
    uint64_t low = crash->altstack_low, handler = crash->handler_sp;
    /* on the thread's own stack, where the frame of our handler is gone if `sp` is above */
    if (!low)
        return handler >= crash->stack_low && sp >= handler && sp < crash->stack_high ? LG__IN_HANDLER_NO : LG__IN_HANDLER_UNKNOWN;
    /* our handler runs on the alternate stack, and so does the handler that it called */
    if (sp >= low)
        return sp < handler ? LG__IN_HANDLER_YES : LG__IN_HANDLER_NO;
    /* The earlier handler overflowed that stack, unless the thread's own stack lies there. */
    return is_beyond(crash, sp) && sp + OVERFLOW_REACH >= low ? LG__IN_HANDLER_YES : LG__IN_HANDLER_NO;
}

enum lg__in_handler lg__in_handler_by_walk(const struct lg__crash *crash, const struct lg__frames_head *head, const uint64_t *pcs)
{
    for (uint32_t i = 0; i < head->stored; i++)
        if (pcs[i] == crash->return_pc)
            return LG__IN_HANDLER_YES;
    return head->reason == LG__WALK_COMPLETE ? LG__IN_HANDLER_NO : LG__IN_HANDLER_UNKNOWN;
}

enum lg__in_handler lg__in_handler_of_context(const struct lg__crash *crash, const void *ucontext)
{
    static uint64_t pcs[FRAMES]; /* the crash lock guards it */
    uint64_t registers[LG__REGISTERS_MAX];
    struct lg__frames_head head;
    const struct lg__frames frames = { &head, pcs, FRAMES, 1, FRAMES, NULL };
    struct lg__arch_fault fault;
    lg__arch_fault(ucontext, &fault);
    enum lg__in_handler place = lg__in_handler_by_stack(crash, fault.sp);
    uint64_t word;
    lg__memory_forget(true);
    /* One frame of the earlier handler may be larger than all that lies below the alternate stack.
     * The stack of a coroutine, which may lie there as well, can be read. */
    if (place == LG__IN_HANDLER_NO && is_beyond(crash, fault.sp) && !lg__memory_word(fault.sp, &word))
        return LG__IN_HANDLER_YES;
    if (place != LG__IN_HANDLER_UNKNOWN)
        return place;
    lg__frames_begin(&frames);
    lg__arch_registers(ucontext, registers);
    lg__unwind_dwarf(registers, false, &frames);
    return lg__in_handler_by_walk(crash, &head, pcs);
}

void lg__in_handler_enter(struct lg__crash *crash, const void *frame, const void *ucontext)
{
    const stack_t *altstack = &((const ucontext_t *)ucontext)->uc_stack;
    uint64_t sp = (uint64_t)(uintptr_t)frame, low = (uint64_t)(uintptr_t)altstack->ss_sp;
    crash->altstack_low = sp >= low && sp < low + altstack->ss_size ? low : 0;
    lg__altstack_bounds(&crash->stack_low, &crash->stack_high);
    crash->handler_sp = sp;
    lg__question_visited(crash);
}
