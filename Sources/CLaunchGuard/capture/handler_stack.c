/* Stacks for the handler where it was given too little room: programs set alternate stacks of a few
 * KiB, and a crash inside a handler of theirs finds what that handler left. Mapped when one is
 * needed, for good. */
#include "capture/internal.h"

/* What a record needs, with a fault in it, and more. */
#define ROOM_LEAST 32768u
#define STACK_BYTES 262144u
#define GUARD_BYTES 65536u /* the largest page of Linux */

/* More threads than that crash at the same time on small stacks: the others use these. */
#define STACKS 4
static struct {
    _Atomic bool is_taken;
    uint8_t *base; /* guard page, stack, guard page; NULL: not mapped yet */
} stacks[STACKS];

LG__FIRST bool lg__handler_stack_is_small(const void *ucontext, const void *frame)
{
    const stack_t *given = &((const ucontext_t *)ucontext)->uc_stack;
    const uint64_t room = (uint64_t)(uintptr_t)frame - (uint64_t)(uintptr_t)given->ss_sp;
    return room < given->ss_size && room < ROOM_LEAST;
}

static uint8_t *take(unsigned *ret_number)
{
    for (unsigned i = 0; i < STACKS; i++) {
        if (atomic_exchange(&stacks[i].is_taken, true))
            continue;
        if (!stacks[i].base)
            stacks[i].base = lg__os_map_guarded(STACK_BYTES + 2 * GUARD_BYTES, GUARD_BYTES);
        *ret_number = i;
        if (stacks[i].base)
            return stacks[i].base + GUARD_BYTES;
        atomic_store(&stacks[i].is_taken, false);
        return NULL;
    }
    return NULL;
}

struct call {
    void (*function)(void *argument);
    void *argument;
    stack_t here;
};

/* A fault on this stack must not begin anew on the one that the handler came from. */
static void run(void *argument)
{
    const struct call *call = argument;
    lg__os_altstack(&call->here, NULL);
    call->function(call->argument);
}

__attribute__((noinline)) void lg__handler_stack_call(void (*function)(void *argument), void *argument)
{
    unsigned number;
    uint8_t *stack = take(&number);
    if (!stack) {
        function(argument);
        return;
    }
    struct call call = { function, argument, { .ss_sp = stack, .ss_size = STACK_BYTES } };
    stack_t before;
    const bool known = lg__os_altstack(NULL, &before) == 0;
    lg__arch_call_on(run, &call, stack + STACK_BYTES);
    if (known)
        lg__os_altstack(&before, NULL);
    atomic_store(&stacks[number].is_taken, false);
}
