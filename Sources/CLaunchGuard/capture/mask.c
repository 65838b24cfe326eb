/* Signal masks that block the signals of crashes. For a fault whose signal is blocked the kernel
 * ends the process, and no handler runs; nor does one for abort() of a libc that does not open
 * SIGABRT first. So the kernel gets such a mask without these signals, and with SIGSTKFLT in their
 * place, which Linux never sends. The kernel, sigsetjmp() and the return from a handler restore
 * that mark with the rest of the mask. */
#include "capture/internal.h"

#include "launchguard/log.h"

#define BIT(signal) (UINT64_C(1) << ((signal)-1))
#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS))
#define MARK LG__MASK_MARK
#define ALL (opened() | MARK)
#define ALL_IN_HANDLER (FAULTS | MARK)

static uint64_t opened(void)
{
    return lg__libc_shut_abort ? FAULTS | BIT(SIGABRT) : FAULTS;
}

/* Those of ALL that the program blocks, while the mark stands; 0 in a handler whose sa_mask has the
 * mark. One word for masks that are nested: where they differ in this choice, a jump out of the
 * inner one leaves the choice of the inner one. */
static __thread uint64_t choice __attribute__((tls_model("initial-exec")));

__thread bool lg__capture_thread_armed __attribute__((tls_model("initial-exec")));

/* Only where the program's functions are ours does the mark mean that: others block SIGSTKFLT with
 * all but the faults. */
static bool is_on(void)
{
    return lg__libc_is_interposed() && atomic_load_explicit(&lg__fixed.installed[SIGSEGV], memory_order_relaxed);
}

static void say_once(void)
{
    static const char text[] = "launchguard: a thread blocks signals of crashes, which LaunchGuard keeps open";
    static _Atomic bool said;
    if (!atomic_exchange(&said, true) && lg__fixed_unforked())
        lg__ring_note(&lg__fixed.options.run.ring, LG_LEVEL_DEBUG, text, sizeof text - 1);
}

static uint64_t of_program(uint64_t kernel)
{
    if (!lg__libc_is_interposed() || !(kernel & MARK) || (!choice && kernel & FAULTS))
        return kernel;
    return (kernel & ~MARK) | (choice ? choice : ALL_IN_HANDLER);
}

/* Block what the program wants to block, of the signals of crashes only the choice. */
static void set(uint64_t program)
{
    const bool opens = program & opened();
    choice = opens ? program & ALL : 0;
    lg__os_signals_set(opens ? (program & ~ALL) | MARK : program & ~MARK);
    if (opens)
        say_once();
}

uint64_t lg__mask_change(int how, uint64_t signals)
{
    const uint64_t kernel = lg__os_signals_blocked(), before = of_program(kernel);
    if (!is_on() || (how != SIG_SETMASK && !(signals & ALL)))
        lg__os_signals_change(how, signals);
    else
        set(how == SIG_BLOCK ? before | signals : how == SIG_UNBLOCK ? before & ~signals : signals);
    return before;
}

uint64_t lg__mask_now(void)
{
    return of_program(lg__os_signals_blocked());
}

void lg__mask_open(void)
{
    lg__capture_thread_armed = true;
    const uint64_t kernel = lg__os_signals_blocked();
    if (kernel & opened() && is_on())
        set(of_program(kernel));
    else if (kernel & FAULTS) {
        lg__os_signals_set(kernel & ~FAULTS);
        say_once();
    } else if (kernel & MARK && !choice && is_on())
        lg__os_signals_set(kernel & ~MARK); /* a mask that no function of ours has set */
}

uint64_t lg__mask_of_handler(uint64_t program)
{
    return !is_on() ? program : (program & ALL_IN_HANDLER) == ALL_IN_HANDLER ? program & ~FAULTS : program & ~MARK;
}

uint64_t lg__mask_of_handler_before(uint64_t kernel)
{
    return lg__libc_is_interposed() && kernel & MARK ? kernel | FAULTS : kernel;
}

bool lg__mask_holds(const void *ucontext, int signal)
{
    /* Not by the mark alone, which other code may have set for what it means; but on a thread that
     * has just begun the choice of its creator is not there yet. */
    const uint64_t chosen = choice || lg__capture_thread_armed || !lg__libc_is_interposed() ? choice : ALL;
    return lg__arch_blocked(ucontext) & MARK && chosen & opened() & BIT(signal);
}

uint64_t lg__mask_choice(void)
{
    return choice;
}

void lg__mask_inherit(uint64_t choice_of_creator)
{
    choice = choice_of_creator;
}
