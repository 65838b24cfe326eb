/* lg_crash_note(): a crash that the program's own crash reporter or managed runtime reports. */
#include "os/os.h"
#include "session/session.h"
#include "store/text.h"

lg_status lg_crash_note(lg_session *session, const char *type)
{
    if (!session)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status;
    struct lg__state *state = session->host.run.state;
    struct lg__hot *hot = session->host.counts ? session->host.ledger.hot : NULL;
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), none = 0;
    /* The mark before the text: a process that dies in between has crashed all the same. */
    if (!atomic_compare_exchange_strong(&state->crash_noted_ns, &none, now))
        return LG_ERR_ALREADY;
    if (hot) {
        atomic_store_explicit(&hot->crash_ns, now, memory_order_relaxed);
        atomic_store_explicit(&hot->crash_ordinal, session->ordinal, memory_order_release);
    }
    if (type) /* the field is all zero before */
        memcpy(state->crash_type, type, lg__text_beginning(type, LG_CRASH_TYPE_MAX));
    return LG_OK;
}
