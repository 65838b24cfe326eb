/* The end of the handler: the process dies exactly as it would without LaunchGuard. */
#include "capture/deadline.h"
#include "capture/internal.h"
#include "capture/in_handler.h"
#include "capture/recovering.h"
#include "capture/repeating.h"
#include "os/fault_point.h"

#include <errno.h>

/* The kernel ends even the first process of a pid namespace for a fault of its own instruction, but
 * not for a signal that the process sends itself. */
static bool faults_again(int signal, const siginfo_t *info)
{
    return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL);
}

/* Die of the signal with its original siginfo. The signal is queued while it is blocked, and the
 * return from the handler delivers it: a core file then shows the context of the fault and not that
 * of a handler. */
static void die(int signal, siginfo_t *info, void *ucontext)
{
    pid_t pid = lg__os_pid();
    lg__os_signal_default(signal);
    LG_FAULT_POINT("finish: dies");
    lg__arch_unblock_on_return(ucontext, signal);
    if (pid == 1) {
        if (!faults_again(signal, info))
            lg__os_exit(128 + signal);
        return;
    }
    lg__os_signal_block(signal, true);
    if (lg__os_signal_queue(pid, lg__os_tid(), signal, info) == 0 || faults_again(signal, info))
        return;
    /* a sandbox that allows a plain signal only */
    if (lg__os_signal_send(pid, lg__os_tid(), signal) == 0)
        return;
    lg__os_exit(128 + signal);
}

/* The earlier action does nothing: the program ignores the signal, or the kernel keeps the signal
 * from the first process of a pid namespace. */
static bool is_nothing(const struct lg__earlier *earlier, const siginfo_t *info)
{
    if (earlier->handler == (uintptr_t)SIG_IGN)
        /* a real fault ends the process even when the signal is ignored */
        return info->si_code <= 0;
    /* A program that knows of LaunchGuard raises the signal on purpose, and ends. Any other goes
     * on. */
    const bool kept_away = lg__fixed_is_sent(info) || (lg__fixed.options.preloaded && info->si_code <= 0);
    return earlier->handler == (uintptr_t)SIG_DFL && kept_away && lg__os_pid() == 1;
}

static uint64_t blocked_by(int signal, const struct lg__earlier *earlier)
{
    return earlier->mask | (earlier->flags & SA_NODEFER ? 0 : UINT64_C(1) << (signal - 1));
}

static void call(int signal, siginfo_t *info, void *ucontext, const struct lg__earlier *earlier, uint64_t blocks)
{
    lg__os_signals_set(lg__arch_blocked(ucontext) | blocks);
    /* both kinds take their arguments in the same places */
    ((void (*)(int, siginfo_t *, void *))earlier->handler)(signal, info, ucontext);
}

/* Whether the signal may come once more without another record. The causes: its default action,
 * where the handler removed itself and the fault repeats or the signal was raised again; a fault
 * whose signal is blocked where the fault repeats; abort(), which raises again with the default
 * action. */
static bool comes_unseen(int signal, const siginfo_t *info, const void *ucontext)
{
    const struct lg__earlier earlier = lg__earlier_of(signal);
    const bool blocked = lg__arch_blocked(ucontext) >> (signal - 1) & 1;
    /* where LaunchGuard keeps first place, the program has its handler by us alone */
    const bool is_handled = lg__fixed.options.keep_first && lg__earlier_is_function(&earlier);
    return (!is_handled && lg__crash_action_is_default(signal)) || (!lg__fixed_is_sent(info) && (blocked || signal == SIGABRT));
}

/* SA_RESETHAND. */
static void reset_action(int signal)
{
    if (lg__fixed.options.keep_first)
        lg__earlier_set_default(signal);
    else
        lg__os_signal_default(signal);
}

/* The handler has set the default action, as the program sees it, and returned: the fault repeats,
 * or the handler has raised the signal, which comes on the return. First place is given up, so that
 * the process dies as it would without LaunchGuard, and the record is that of the first fault. A
 * check of the handlers takes the place again, should the process live. */
static bool was_reset(int signal, const siginfo_t *info)
{
    if (!lg__fixed.options.keep_first || lg__fixed_is_sent(info))
        return false;
    const struct lg__earlier earlier = lg__earlier_of(signal);
    return !lg__earlier_is_function(&earlier) && (earlier.handler == (uintptr_t)SIG_DFL || info->si_code > 0) && lg__fixed_unforked() &&
           lg__os_signal_now(signal).handler == (uintptr_t)lg__fixed.on_crash;
}

/* The earlier handler of the crash with this number has returned. */
static void returned(int signal, const siginfo_t *info, const void *ucontext, uint32_t sequence, struct lg__recovering *note)
{
    const bool reset = was_reset(signal, info), unseen = reset || comes_unseen(signal, info, ucontext);
    if (unseen && note)
        lg__recovering_write(note);
    if (reset)
        lg__os_signal_default(signal);
    struct lg__crash *crash = lg__crash_find(sequence); /* the record may have moved */
    if (crash)
        lg__crash_event(crash, sequence, LG__CRASH_RETURNS, unseen);
}

__attribute__((noinline)) void lg__finish(int signal, siginfo_t *info, void *ucontext, struct lg__crash *crash, bool chain)
{
    const struct lg__earlier earlier = lg__earlier_of(signal);
    const uint32_t sequence = crash ? lg__crash_sequence(atomic_load(&crash->word)) : 0;

    if (chain && is_nothing(&earlier, info)) {
        if (crash)
            lg__record_let_go(crash, LG__CRASH_PASSES, !lg__fixed_is_sent(info) && signal == SIGABRT);
        return;
    }
    if (!chain || !lg__earlier_is_function(&earlier)) {
        if (crash)
            /* under the lock: other threads stand still to the end */
            lg__crash_event(crash, sequence, LG__CRASH_DIES, false);
        die(signal, info, ucontext);
        return;
    }

    /* The earlier handler is called as a function, under the mask that it asked for. It need not
     * return: it may leave by longjmp, and the program lives on. The next steps of its thread show
     * that. */
    struct lg__recovering note = { .signal = signal, .info = info, .ucontext = ucontext, .sp = lg__arch_interrupted_sp(ucontext), .sequence = sequence };
    const bool owes = crash && crash->owes;
    if (crash) {
        note.frame = (const void *)(uintptr_t)crash->handler_sp;
        note.return_pc = crash->return_pc = lg__arch_code_address((uint64_t)(uintptr_t)__builtin_return_address(0));
        lg__record_let_go(crash, LG__CRASH_CHAINS, false);
    }
    if (owes)
        lg__recovering_enter(&note);
    if (earlier.flags & SA_RESETHAND)
        reset_action(signal);
    call(signal, info, ucontext, &earlier, blocked_by(signal, &earlier));
    LG_FAULT_POINT("finish: returned");
    if (crash)
        lg__repeating_returns();
    lg__recovering_leave(&note);
    if (crash)
        returned(signal, info, ucontext, sequence, owes ? &note : NULL);
}

/* ---- a fault that leaves no record at first ---- */

/* The bounds of our own code, which may mean to recover from its fault. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), etext[] __attribute__((visibility("hidden")));

static bool is_of_program(const siginfo_t *info, const struct lg__arch_fault *fault)
{
    return (fault->pc < (uint64_t)(uintptr_t)__ehdr_start || fault->pc >= (uint64_t)(uintptr_t)etext) && !lg__map_holds(info->si_addr);
}

bool lg__finish_unrecorded(int signal, siginfo_t *info, void *ucontext)
{
    if (!lg__crash_recovers_often(signal) || info->si_signo != signal || info->si_code <= 0)
        return false;
    const struct lg__earlier earlier = lg__earlier_of(signal);
    const void *frame = __builtin_frame_address(0);
    struct lg__arch_fault context;
    lg__arch_fault(ucontext, &context);
    if (!lg__earlier_is_function(&earlier) || earlier.flags & SA_RESETHAND || lg__crash_holder() || !lg__arch_thread_pointer_is_set() ||
        lg__mask_holds(ucontext, signal) || lg__recovering_is_inside(context.sp) || !is_of_program(info, &context) ||
        !lg__recovering_is_on(&((const ucontext_t *)ucontext)->uc_stack, (uint64_t)(uintptr_t)frame) ||
        !atomic_load_explicit(lg__fixed.unforked, memory_order_relaxed) || lg__repeating_comes(info, ucontext))
        return false;
    const int error = errno;
    /* A fault of the handler itself has to come to ours: the kernel would end the process for a
     * signal that is blocked, and nothing would be left. */
    const uint64_t blocks = blocked_by(signal, &earlier);
    struct lg__recovering note = { .signal = signal, .info = info, .ucontext = ucontext, .frame = frame, .sp = context.sp,
                                   .return_pc = lg__arch_code_address((uint64_t)(uintptr_t)__builtin_return_address(0)),
                                   .deferred = blocks & ~lg__fixed.mask };
    lg__recovering_enter(&note);
    call(signal, info, ucontext, &earlier, blocks & lg__fixed.mask);
    lg__recovering_leave(&note);
    lg__repeating_returns();
    if (note.sequence)
        returned(signal, info, ucontext, note.sequence, NULL);
    errno = error;
    return true;
}
