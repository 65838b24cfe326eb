/* Entry of the signal handlers. */
#include <errno.h>

#include "capture/internal.h"
#include "os/fault_point.h"

#define FIRST_CHANCES 4
static lg__first_chance first_chances[FIRST_CHANCES];
static unsigned first_chance_count;

bool lg__capture_add_first_chance(lg__first_chance function)
{
    for (unsigned i = 0; i < first_chance_count; i++)
        if (first_chances[i] == function)
            return true;
    if (first_chance_count == FIRST_CHANCES)
        return false;
    first_chances[first_chance_count++] = function;
    return true;
}

/* Somebody took SA_SIGINFO from our handler: `info` is not filled. Faults of an instruction happen again when it is repeated, with the handler as it
 * should be; of anything else the signal itself is all that is known. True: repeat. */
static bool mend_siginfo(int signal, siginfo_t *info, const void *ucontext)
{
    struct lg__arch_fault fault;
    lg__arch_fault(ucontext, &fault);
    lg__capture_install_again(signal);
    if (fault.trap && signal != SIGTRAP && signal != SIGABRT)
        return true;
    memset(info, 0, sizeof *info);
    info->si_signo = signal;
    info->si_code = SI_KERNEL;
    return false;
}

/* This thread is inside the handler, before the earlier handler. Initial-exec: exists with the thread. */
static __thread bool entered __attribute__((tls_model("initial-exec")));

bool lg__handler_entered(void)
{
    return entered;
}

void lg__handler_crash(int signal, siginfo_t *info, void *ucontext)
{
    siginfo_t unknown;
    lg__arch_enter_handler();
    if (signal == SIGSYS && lg__arch_refused(ucontext))
        return;
    /* A signal that somebody sends while this thread's crash is dealt with already: not one more of them. */
    if (entered && lg__capture_sent(info)) {
        lg__arch_block_on_return(ucontext, signal);
        return;
    }
    if (!lg__capture_sent(info))
        lg__os_signal_block(signal, false);
    bool owner = lg__capture_owner(), outer = entered;
    entered |= owner; /* not in a vforked child, whose memory this is not */
    int error = errno;
    if (lg__disposition_lost_siginfo(signal)) {
        info = &unknown;
        if (mend_siginfo(signal, info, ucontext)) {
            entered = outer;
            return;
        }
    }
    for (unsigned i = 0; i < first_chance_count; i++)
        if (first_chances[i](signal, info, ucontext)) {
            entered = outer;
            errno = error;
            return;
        }
    if (lg__walker == LG__WALKER_WATCH && !lg__capture_sent(info)) {
        entered = outer; /* it need not return */
        lg__snapshot_recover();
        entered |= owner;
    }
    bool chain = true, captured = owner && lg__latch_take(signal, info, ucontext);
    if (captured) {
        lg__record_write(signal, info, info == &unknown, ucontext);
        LG_FAULT_POINT("handler: recorded");
        lg__capture_chain(__builtin_frame_address(0), ucontext);
    } else if (owner) {
        /* Inside an earlier handler: as if we were not there; but one that crashes over and over ends, too. */
        chain = atomic_load(&lg__capture.phase) == LG__PHASE_CHAINING && !lg__record_gives_up();
    }
    entered = false; /* an earlier handler need not return */
    lg__finish(signal, info, ucontext, chain, captured);
    errno = error;
}

/* SIGTERM, SIGINT, SIGHUP: leave the mark, then do what would have happened. A program with a handler of its own may live on, for how long is for the
 * watch thread to note; one without dies here and now, and nobody must see it alive after the mark. */
void lg__handler_terminate(int signal, siginfo_t *info, void *ucontext)
{
    lg__arch_enter_handler();
    int error = errno;
    if (lg__capture_owner()) {
        struct lg__state *state = lg__capture.options.run.state;
        const struct sigaction *previous = &lg__capture.previous[signal];
        bool sent = info->si_code <= 0, kept = previous->sa_flags & SA_SIGINFO || previous->sa_handler != SIG_DFL;
        atomic_store_explicit(&state->term_ns, lg__os_clock_ns(CLOCK_MONOTONIC), memory_order_relaxed);
        atomic_store_explicit(&state->term_pid, sent ? info->si_pid : 0, memory_order_relaxed);
        atomic_store_explicit(&state->term_uid, sent ? info->si_uid : 0, memory_order_relaxed);
        atomic_store_explicit(&state->term_kept, kept, memory_order_relaxed);
        atomic_store_explicit(&state->term_signal, signal, memory_order_release);
        if (kept)
            lg__capture_wake();
    }
    lg__finish(signal, info, ucontext, true, false);
    errno = error;
}
