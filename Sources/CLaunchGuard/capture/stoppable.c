#include "capture/stoppable.h"

#include "capture/internal.h"
#include "os/fault_point.h"

/* A handler that stops all threads does so first of all. */
#define OFFER_NS UINT64_C(1000000000)

/* By these the Swift runtime tries to stop a thread, and by the first one a profiler may. */
static const int signals[] = { SIGPROF, SIGUSR2, SIGUSR1 };
#define SIGNAL_BITS 8u

static _Atomic uint32_t offer;      /* number, signal; 0: none is in force */
static _Atomic uint64_t until_ns;   /* of the offer, CLOCK_MONOTONIC */
static _Atomic uint32_t told_count; /* futex */
static uint32_t number;             /* the crash lock guards it */

/* Such a signal to the process would end the process, or nothing would happen: no handler of the
 * program can run on the thread that takes it, and no thread of the program waits for it with
 * sigwait(), for which all threads must block it. */
int lg__stoppable_signal(const void *ucontext)
{
    const uint64_t blocked = lg__arch_blocked(ucontext);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (!(blocked >> (signals[i] - 1) & 1) && lg__os_signal_now(signals[i]).handler <= (uintptr_t)SIG_IGN)
            return signals[i];
    return 0;
}

uint32_t lg__stoppable_offer(int signal)
{
    const uint32_t next = ++number << SIGNAL_BITS | (uint32_t)signal;
    atomic_store(&until_ns, lg__os_clock_ns(CLOCK_MONOTONIC) + OFFER_NS);
    atomic_store(&offer, next);
    return next;
}

void lg__stoppable_end(void)
{
    atomic_store(&offer, 0);
}

void lg__stoppable_sleep(const uint32_t *word, uint32_t seen, uint64_t timeout_ns, _Atomic uint32_t *told)
{
    const uint32_t offered = atomic_load(&offer);
    const uint64_t until = atomic_load(&until_ns), now = offered ? lg__os_clock_ns(CLOCK_MONOTONIC) : 0;
    if (!offered || now >= until) {
        lg__os_futex_wait(word, seen, timeout_ns);
        return;
    }
    const uint64_t blocked = lg__os_signals_blocked();
    lg__os_signal_block((int)(offered & ((1u << SIGNAL_BITS) - 1)), false);
    LG_FAULT_POINT("stoppable: sleeps");
    if (atomic_exchange(told, offered) != offered) {
        atomic_fetch_add(&told_count, 1);
        lg__os_futex_wake((const uint32_t *)&told_count);
    }
    lg__os_futex_wait(word, seen, until - now < timeout_ns ? until - now : timeout_ns);
    lg__os_signals_set(blocked);
}

uint32_t lg__stoppable_told(void)
{
    return atomic_load(&told_count);
}

void lg__stoppable_wait(uint32_t count, uint64_t timeout_ns)
{
    lg__os_futex_wait((const uint32_t *)&told_count, count, timeout_ns);
}
