/* Waking the watch thread. Its watchers and the launches call these functions, so that none of them
 * has to know the thread. */
#include "launch/launch.h"

#include "capture/capture.h"

void lg__wake_now(struct lg__host *host)
{
    if (host->watched)
        lg__capture_wake_watch();
}

/* `sleeps_until_ns` is UINT64_MAX while the watch thread looks around, so that any time wakes the
 * thread again: the thread may have passed the place. It is UINT64_MAX also without a thread. */
void lg__wake_at(struct lg__host *host, uint64_t at_ns)
{
    if (at_ns < atomic_load(&host->sleeps_until_ns))
        lg__wake_now(host);
}
