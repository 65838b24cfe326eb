#include "capture/fixed.h"

#include "os/os.h"

struct lg__fixed lg__fixed LG__SMALL;

static _Atomic bool confined;

void lg__capture_confine(bool now)
{
    atomic_store(&confined, now);
}

bool lg__capture_is_confined(void)
{
    return atomic_load(&confined);
}

/* The pid by system call, because a vforked child has all of our memory; the page, because a child
 * in a new pid namespace may have our pid. A filter may not allow the call. */
bool lg__fixed_unforked(void)
{
    const _Atomic uint32_t *page = atomic_load_explicit(&lg__fixed.unforked, memory_order_acquire);
    return page && (atomic_load_explicit(&confined, memory_order_relaxed) || lg__os_pid() == lg__fixed.pid) && atomic_load_explicit(page, memory_order_relaxed);
}

bool lg__fixed_is_sent(const siginfo_t *info)
{
    return info->si_code <= 0 && !(info->si_code == SI_TKILL && info->si_pid == lg__fixed.pid);
}

const _Atomic uint32_t *lg__capture_unforked_flag(void)
{
    return lg__fixed.unforked;
}

void lg__capture_started(void)
{
    lg__fixed.options.starting_tid = 0;
}
