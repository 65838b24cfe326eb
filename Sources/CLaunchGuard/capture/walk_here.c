#include "capture/walk_here.h"

#include "capture/internal.h"
#include "os/fault_point.h"

/* Signals of reads that find no memory. */
#define FAULTS (UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1))

static _Atomic bool is_taken; /* the memory of this walker, by one thread */
static struct lg__arch_mark walk_mark;
static _Atomic bool walking; /* the mark is set */

/* Blocked, or with another handler, a fault would end the process. */
static bool faults_come_back(uint64_t blocked)
{
    const uintptr_t ours = (uintptr_t)lg__fixed.on_crash;
    return !(blocked & FAULTS) && lg__os_signal_now(SIGSEGV).handler == ours && lg__os_signal_now(SIGBUS).handler == ours;
}

bool lg__walk_here_takes(int signal, const siginfo_t *info, void *ucontext)
{
    if (lg__memory_walker != LG__WALKER_GUARD)
        return false;
    if (info->si_code <= 0) { /* also by another thread of this process */
        lg__os_signal_block(signal, true);
        lg__arch_block_on_return(ucontext, signal);
        return lg__os_signal_queue(lg__fixed.pid, lg__os_tid(), signal, info) == 0 || lg__os_signal_send(lg__fixed.pid, lg__os_tid(), signal) == 0;
    }
    const struct lg__arch_mark *mark = lg__memory_mark();
    if (!mark && atomic_exchange(&walking, false))
        mark = &walk_mark;
    if (mark)
        lg__arch_jump_on_return(ucontext, mark);
    return mark;
}

static bool is_wild(const void *ucontext)
{
    struct lg__arch_fault fault;
    lg__arch_fault(ucontext, &fault);
    return fault.access == LG__ACCESS_FETCH;
}

/* The crash of another thread writes the tables of its own. */
static void write_modules(void)
{
    const int32_t holder = lg__crash_holder();
    if (!holder || holder == lg__os_tid())
        lg__loader_write(holder);
}

/* `registers`: of the interrupted context, or of lg__capture_walk(), whose caller is the first
 * frame then. */
static __attribute__((noinline)) void walk(uint64_t registers[LG__REGISTERS_MAX], const void *ucontext, const struct lg__frames *frames)
{
    lg__memory_forget(true);
    if (lg__arch_mark(&walk_mark) != 0) {
        lg__frames_finish(frames, LG__WALK_RECRASH);
        return;
    }
    atomic_store(&walking, true);
    LG_FAULT_POINT("guard: walk");
    lg__loader_settle();
    write_modules(); /* the walk may fault */
    if (ucontext || lg__unwind_dwarf_step(registers) > 0)
        lg__unwind_dwarf(registers, ucontext && is_wild(ucontext), frames);
    write_modules();
    atomic_store(&walking, false);
}

__attribute__((noinline)) uint32_t lg__capture_walk(const void *ucontext, uint64_t *ret_frames, uint32_t most)
{
    const uint64_t blocked = lg__os_signals_blocked();
    struct lg__frames_head head;
    const struct lg__frames frames = { &head, ret_frames, most, 1, most, NULL };
    /* Only a guard in a first chance walks inside the handler. */
    if (lg__memory_walker != LG__WALKER_CRASH || (!ucontext && lg__crash_entered) || !lg__fixed_unforked() || !faults_come_back(blocked))
        return 0;
    lg__frames_begin(&frames);
    /* A handler of the program would find the thread as a walker: its crash would be a fault of the
     * walk, its jump would keep the memory for good. */
    lg__os_signals_set(blocked | lg__fixed.mask);
    bool free = false;
    if (atomic_compare_exchange_strong(&is_taken, &free, true)) {
        uint64_t registers[LG__REGISTERS_MAX];
        struct lg__arch_mark here;
        lg__memory_walker = LG__WALKER_GUARD;
        if (ucontext) {
            lg__arch_registers(ucontext, registers);
        } else {
            lg__arch_mark(&here);
            lg__arch_registers_of_mark(&here, registers);
        }
        walk(registers, ucontext, &frames);
        lg__memory_walker = LG__WALKER_CRASH;
        atomic_store(&is_taken, false);
    }
    lg__os_signals_set(blocked);
    return head.stored;
}
