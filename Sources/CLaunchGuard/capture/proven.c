/* Faults of a handler that has recovered from many. Collectors, virtual machines and engines live
 * with their faults: the next ones leave no record and cost one system call. Where the handler then
 * ends the process, or gives its signal up, the thread is still inside of it, and the record is
 * written there, of the fault that it has.
 *
 * Only where LaunchGuard keeps first place, which tells when a handler gives its signal up; and on
 * an alternate stack, where the stack pointer tells whether the thread is inside. */
#include "capture/proven.h"

#include <errno.h>

#include "capture/internal.h"
#include "capture/place.h"

/* A fault that a handler has, in a frame of ours on the alternate stack. */
struct fault {
    const struct fault *self; /* its own address, as long as the frame is there */
    siginfo_t *info;
    void *ucontext;
    const void *frame;
    uint64_t sp, return_pc;
    uint64_t deferred; /* signals of crashes that the kernel would have blocked */
    int signal;
    uint32_t sequence; /* of its crash, once it has a record */
};

/* Where this thread is. A handler that was left by longjmp() leaves that as it is. Initial-exec:
 * exists with the thread. */
static __thread struct {
    struct fault *fault;
    uint64_t stack_low; /* of its alternate stack */
} inside __attribute__((tls_model("initial-exec")));

/* The kernel's frame lies above ours, not further off. */
#define REACH 65536u

static bool is_near(const struct fault *fault, const void *part)
{
    return (uintptr_t)part - (uintptr_t)fault < REACH && lg__os_readable((uint64_t)(uintptr_t)part) != 0;
}

/* Of a handler that was left, a later signal has overwritten the frame, or the stack is gone. */
static bool is_open(const struct fault *fault, uint64_t sp)
{
    return fault && sp >= inside.stack_low && sp < (uint64_t)(uintptr_t)fault && is_near(fault, fault) && fault->self == fault &&
           is_near(fault, fault->info) && is_near(fault, fault->ucontext) && fault->info->si_signo == fault->signal &&
           lg__place_sp(fault->ucontext) == fault->sp;
}

bool lg__proven_is_inside(uint64_t sp)
{
    return is_open(inside.fault, sp);
}

bool lg__proven_defers(int signal, uint64_t sp)
{
    return is_open(inside.fault, sp) && inside.fault->deferred >> (signal - 1) & 1;
}

/* ---- the record, where the handler does not recover ---- */

/* Under the lock. */
static void record(struct fault *fault, int32_t self)
{
    struct lg__crash *crash = lg__crash_begin(self, fault->info, false, NULL, false);
    fault->sequence = lg__crash_sequence(atomic_load(&crash->word));
    crash->depth = 0;
    crash->ucontext = fault->ucontext;
    lg__run_within(&lg__fixed.options.run, lg__crash_slot_of(crash), 0);
    lg__record_write(crash, fault->ucontext);
    lg__place_enter(crash, fault->frame, fault->ucontext);
    crash->return_pc = fault->return_pc;
    lg__finish_let_go(crash);
}

void lg__proven_record(uint64_t sp)
{
    struct fault *fault = inside.fault;
    if (!is_open(fault, sp))
        return;
    inside.fault = NULL;
    const int32_t self = lg__os_tid();
    /* Faults of the record's own must come back to our handler. One that the handler has raised
     * waits: that is the end of the process. */
    const uint64_t blocked = lg__os_signals_blocked();
    lg__os_signals_set(lg__fixed.mask | lg__os_signals_pending());
    if (lg__turn_take(fault->signal, self, fault->ucontext))
        record(fault, self);
    lg__os_signals_set(blocked);
}

/* From here on as for any other crash: the kernel's mask holds. */
void lg__proven_gives_up(int signal)
{
    const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    if (!is_open(inside.fault, here) || inside.fault->signal != signal)
        return;
    const uint64_t deferred = inside.fault->deferred;
    lg__proven_record(here);
    lg__os_signals_set(lg__os_signals_blocked() | deferred);
}

/* ---- the fault ---- */

/* Of our own code, which may mean to recover from it. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), etext[] __attribute__((visibility("hidden")));

static bool is_of_program(const siginfo_t *info, const struct lg__arch_fault *fault)
{
    return (fault->pc < (uint64_t)(uintptr_t)__ehdr_start || fault->pc >= (uint64_t)(uintptr_t)etext) && !lg__map_holds(info->si_addr);
}

static bool is_on(const stack_t *stack, uint64_t sp)
{
    return !(stack->ss_flags & SS_DISABLE) && sp - (uint64_t)(uintptr_t)stack->ss_sp < stack->ss_size;
}

bool lg__proven_handle(int signal, siginfo_t *info, void *ucontext)
{
    if (!lg__crash_recovers_often(signal) || info->si_signo != signal || info->si_code <= 0)
        return false;
    const struct lg__earlier earlier = lg__earlier_of(signal);
    const stack_t *altstack = &((const ucontext_t *)ucontext)->uc_stack;
    const void *frame = __builtin_frame_address(0);
    struct lg__arch_fault context;
    lg__arch_fault(ucontext, &context);
    if (!lg__earlier_is_function(&earlier) || earlier.flags & SA_RESETHAND || lg__crash_holder() || !lg__arch_thread_pointer_is_set() ||
        is_open(inside.fault, context.sp) || !is_of_program(info, &context) || !is_on(altstack, (uint64_t)(uintptr_t)frame) ||
        !atomic_load_explicit(lg__fixed.unforked, memory_order_relaxed))
        return false;
    const int error = errno;
    struct fault fault = { .info = info, .ucontext = ucontext, .frame = frame, .sp = context.sp, .signal = signal };
    fault.self = &fault;
    fault.return_pc = lg__arch_code_address((uint64_t)(uintptr_t)__builtin_return_address(0));
    inside.stack_low = (uint64_t)(uintptr_t)altstack->ss_sp;
    inside.fault = &fault;
    /* A fault of the handler itself has to come to ours: the kernel would end the process for a
     * signal that is blocked, and nothing would be left. */
    const uint64_t blocks = lg__finish_blocks(signal, &earlier);
    fault.deferred = blocks & ~lg__fixed.mask;
    lg__finish_call(signal, info, ucontext, &earlier, blocks & lg__fixed.mask);
    inside.fault = NULL;
    if (fault.sequence)
        lg__finish_returned(signal, info, ucontext, fault.sequence);
    errno = error;
    return true;
}
