/* Waking the watch thread. Its watchers and the launches call these functions, so that none of them
 * has to know the thread. */
#include "launch/launch.h"
#include "os/os.h"

void lg__wake_now(struct lg__host *host)
{
    if (!host->wake)
        return;
    __atomic_fetch_add(host->wake, 1, __ATOMIC_SEQ_CST);
    lg__os_futex_wake(host->wake);
}

/* `sleeps_until_ns` is UINT64_MAX while the watch thread looks around, so that any time wakes the
 * thread again: it may have passed the place. */
void lg__wake_at(struct lg__host *host, uint64_t at_ns)
{
    if (at_ns < atomic_load(&host->sleeps_until_ns))
        lg__wake_now(host);
}
