#include "capture/recovering.h"

#include "capture/in_handler.h"
#include "os/fault_point.h"

/* Where this thread is, on an alternate stack, by which the stack pointer shows whether the thread
 * is inside: the outermost note. A handler that was left by longjmp() leaves that as it is.
 * Initial-exec: exists with the thread. */
static __thread struct {
    struct lg__recovering *note;
    uint64_t stack_low;
} inside __attribute__((tls_model("initial-exec")));

/* The kernel's frame lies above ours, not further off. */
#define REACH 65536u

static bool is_near(const struct lg__recovering *note, const void *part)
{
    return (uintptr_t)part - (uintptr_t)note < REACH && lg__os_readable((uint64_t)(uintptr_t)part) != 0;
}

/* The handler of the note still runs. If the handler was left, a later signal has overwritten its
 * frame, or the stack is gone. */
static bool is_open(const struct lg__recovering *note, uint64_t sp)
{
    return note && sp >= inside.stack_low && sp < (uint64_t)(uintptr_t)note && is_near(note, note) && note->self == note &&
           is_near(note, note->info) && is_near(note, note->ucontext) && note->info->si_signo == note->signal &&
           lg__arch_interrupted_sp(note->ucontext) == note->sp;
}

bool lg__recovering_is_on(const stack_t *stack, uint64_t sp)
{
    return !(stack->ss_flags & SS_DISABLE) && sp - (uint64_t)(uintptr_t)stack->ss_sp < stack->ss_size;
}

void lg__recovering_enter(struct lg__recovering *note)
{
    const stack_t *altstack = &((const ucontext_t *)note->ucontext)->uc_stack;
    note->self = note;
    if (!lg__recovering_is_on(altstack, (uint64_t)(uintptr_t)note) || is_open(inside.note, note->sp))
        return;
    inside.stack_low = (uint64_t)(uintptr_t)altstack->ss_sp;
    inside.note = note;
}

void lg__recovering_leave(const struct lg__recovering *note)
{
    if (inside.note == note)
        inside.note = NULL;
}

bool lg__recovering_is_inside(uint64_t sp)
{
    return is_open(inside.note, sp);
}

bool lg__recovering_is_ended(uint64_t sp, bool expected)
{
    return is_open(inside.note, sp) && !(inside.note->sequence && expected);
}

bool lg__recovering_defers(int signal, uint64_t sp)
{
    return is_open(inside.note, sp) && inside.note->deferred >> (signal - 1) & 1;
}

/* ---- the record, where the handler does not recover ---- */

/* Under the lock. The brief record stays until the whole one is there. false: there is nothing to
 * write, or another crash has the full record. */
static bool write_record(struct lg__recovering *note)
{
    struct lg__crash *brief = note->sequence ? lg__crash_find(note->sequence) : NULL;
    if (note->sequence && (!brief || !lg__crash_is_full_free()))
        return false;
    struct lg__crash *crash = lg__crash_begin(lg__os_tid(), note->info, false, brief, false);
    note->sequence = lg__crash_sequence(atomic_load(&crash->word));
    crash->depth = brief ? brief->depth : 0;
    crash->within = brief ? brief->within : 0;
    lg__run_within(&lg__fixed.options.run, lg__crash_slot_of(crash), crash->within);
    LG_FAULT_POINT("recovering: ends");
    lg__record_write(crash, note->ucontext);
    lg__in_handler_enter(crash, note->frame, note->ucontext);
    crash->return_pc = note->return_pc;
    if (brief)
        lg__crash_leave(brief);
    LG_FAULT_POINT("recovering: recorded");
    lg__record_let_go(crash, LG__CRASH_CHAINS, false);
    return true;
}

void lg__recovering_write(struct lg__recovering *note)
{
    /* Faults of the record's own must come back to our handler, and the earlier one may block them.
     * One that it has raised waits: that is the end of the process. */
    const uint64_t blocked = lg__os_signals_blocked();
    lg__os_signals_set(lg__fixed.mask | lg__os_signals_pending());
    if (lg__wait_for_lock(note->signal, lg__os_tid(), note->ucontext) && !write_record(note))
        lg__crash_unlock();
    lg__os_signals_set(blocked);
}

void lg__recovering_ends(uint64_t sp)
{
    struct lg__recovering *note = inside.note;
    if (!is_open(note, sp))
        return;
    inside.note = NULL;
    lg__recovering_write(note);
}

/* From here on as for any other crash: the kernel's mask holds. */
void lg__recovering_gives_up(int signal)
{
    const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    if (!is_open(inside.note, here) || inside.note->signal != signal)
        return;
    const uint64_t deferred = inside.note->deferred;
    lg__recovering_ends(here);
    lg__os_signals_set(lg__os_signals_blocked() | deferred);
}
