/* The watch thread is unknown to libc and must never stand still: it calls no code of the program.
 * This thread hands over its breadcrumbs, as the program's own threads may hang meanwhile. */
#include "capture/capture.h"
#include "os/os.h"
#include "session/session.h"

/* The thread looks this often whether any thread of the program is left. */
#define ALONE_NS UINT64_C(1000000000)

static _Atomic uint32_t changes; /* futex */
static _Atomic bool is_wanted;

static void *tell(void *argument)
{
    const struct lg_session *session = argument;
    lg__capture_own_begin();
    lg__capture_thread_begin();
    while (lg__session_open(session) && !lg__capture_alone()) {
        uint32_t seen = atomic_load(&changes);
        lg__host_hand_over(&session->host);
        lg__capture_sleep((const uint32_t *)&changes, seen, ALONE_NS);
    }
    lg__capture_own_end();
    return NULL;
}

void lg__log_thread_want(struct lg_session *session)
{
    if (!session->host.run.ring.outbox || atomic_load(&is_wanted) || atomic_exchange(&is_wanted, true))
        return;
    if (!lg__callback_detach(tell, session, true))
        atomic_store(&is_wanted, false); /* the next call tries again */
}

void lg__log_thread_wake(void)
{
    if (!atomic_load(&is_wanted))
        return;
    atomic_fetch_add(&changes, 1);
    lg__os_futex_wake((const uint32_t *)&changes);
}
