/* The end of the handler: death is unchanged. */
#include "capture/internal.h"
#include "os/fault_point.h"

/* The kernel ends even a pid namespace's first process for a fault of its own instruction, but not for a signal that it sends itself. */
static bool faults_again(int signal, const siginfo_t *info)
{
    return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL);
}

/* Die of the signal with its original siginfo. It is queued while blocked and delivered by the return from the handler, so
 * that a core file shows the context of the fault and not that of a handler. */
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
    if (lg__os_signal_send(pid, lg__os_tid(), signal) == 0) /* a sandbox that allows a plain signal only */
        return;
    lg__os_exit(128 + signal);
}

/* Let another crash in: this one did not end the process. What somebody sent is over; anything else may yet come again. */
static void survived(const siginfo_t *info)
{
    if (lg__latch_owner() != lg__os_tid())
        return; /* it took so long that another crash did not believe in it any more */
    lg__threads_release();
    lg__deadline_disarm();
    LG_FAULT_POINT("finish: disarmed");
    atomic_store(&lg__capture.options.run.record->outcome, lg__capture_sent(info) ? LG__OUTCOME_HANDLED : LG__OUTCOME_CHAINED);
    atomic_store(&lg__capture.phase, LG__PHASE_IDLE);
    atomic_store(&lg__capture.latch, 0);
    lg__os_futex_wake((const uint32_t *)&lg__capture.latch);
    lg__capture_wake(); /* it sleeps until the deadline, or for good where it saw neither that nor the end of the crash */
}

/* The earlier action does nothing: the signal is ignored, or the kernel keeps the first process of a pid namespace from it. */
static bool is_nothing(const struct sigaction *previous, const siginfo_t *info)
{
    if (previous->sa_flags & SA_SIGINFO)
        return false;
    if (previous->sa_handler == SIG_IGN)
        return info->si_code <= 0; /* a real fault ends the process even when it is ignored */
    return previous->sa_handler == SIG_DFL && lg__capture_sent(info) && lg__os_pid() == 1;
}

static bool is_terminating(int signal)
{
    return signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

/* The mask that the kernel would have given an earlier handler. */
static void set_mask(int signal, const struct sigaction *previous, const void *ucontext)
{
    uint64_t wanted = *(const uint64_t *)(const void *)&previous->sa_mask; /* the kernel's 64 signals */
    if (!(previous->sa_flags & SA_NODEFER))
        wanted |= UINT64_C(1) << (signal - 1);
    lg__os_signals_set(lg__arch_blocked(ucontext) | wanted);
}

__attribute__((noinline)) void lg__finish(int signal, siginfo_t *info, void *ucontext, bool chain, bool captured)
{
    const struct sigaction *previous = &lg__capture.previous[signal];

    if (chain && is_nothing(previous, info)) {
        if (captured)
            survived(info);
        return;
    }
    if (!chain || (!(previous->sa_flags & SA_SIGINFO) && (previous->sa_handler == SIG_DFL || previous->sa_handler == SIG_IGN))) {
        die(signal, info, ucontext);
        return;
    }

    /* The earlier handler is called as a function, under the mask that it asked for. It need not return: a jump out of it, and
     * the program lives on; what it does next tells. */
    if (captured) {
        atomic_store(&lg__capture.options.run.record->outcome, LG__OUTCOME_CHAINED);
        atomic_store(&lg__capture.chain_return, lg__arch_code_address((uint64_t)(uintptr_t)__builtin_return_address(0)));
        lg__threads_release(); /* those of a process that dies here and now stand still to the end */
        LG_FAULT_POINT("finish: threads released");
        lg__deadline_arm_handler();
    }
    if ((unsigned)previous->sa_flags & SA_RESETHAND)
        lg__os_signal_default(signal);
    set_mask(signal, previous, ucontext);
    if (previous->sa_flags & SA_SIGINFO)
        previous->sa_sigaction(signal, info, ucontext);
    else
        previous->sa_handler(signal);

    if (is_terminating(signal))
        return;
    if (!captured)
        return;
    /* It took itself down, and the fault repeats or the signal was raised once more: the process ends here and now, and nobody else's crash
     * may take the place of the record before that. Or it is over, and this thread is found outside, as one that jumped out. */
    if (lg__os_signal_now(signal).handler != (uintptr_t)SIG_DFL) {
        survived(info);
        return;
    }
    lg__deadline_disarm();
    LG_FAULT_POINT("finish: disarmed");
    atomic_store(&lg__capture.chain_sp, 0);
    lg__latch_left(lg__capture.sequence);
    lg__capture_wake();
}
