/* Ends by the program itself: lg_stop(), exit(), and an announced end. */
#include "capture/capture.h"
#include "launchguard/simulate.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"

/* exit() waits this long for text on standard error, where that goes through a pipe. */
#define TAIL_WAIT_NS LG_PATIENCE(UINT64_C(1000000000))

static void mark_end(struct lg_session *session, enum lg__ended how, int code)
{
    struct lg__state *state = session->host.run.state;
    atomic_store(&state->exit_code, code);
    atomic_store(&state->ended_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    atomic_store(&state->ended, (uint32_t)how);
}

void lg__stop_at_exit(int code, void *argument)
{
    struct lg_session *session = argument;
    lg__outbox_close(session->host.run.ring.outbox);
    /* An earlier handler that calls exit() does not make a clean end of a crash. */
    if (lg__session_check(session) == LG_OK && lg__capture_exits()) {
        mark_end(session, LG__ENDED_EXIT, code);
        if (code == 0)
            lg__clean_end_note(&session->host);
        else
            lg__clean_end_take_back(&session->host);
        if (lg__capture_is_confined())
            return; /* the next start of the program trims the file */
        /* an entry that comes while an empty piece of the file is given back is lost with the
         * piece */
        lg__tail_settle(TAIL_WAIT_NS);
        if (!session->preloaded || !session->preloaded->ended(code))
            lg__map_trim(&session->host.run.map);
    }
    if (lg__host_unforked(&session->host))
        lg__tail_settle(TAIL_WAIT_NS);
}

/* They work without files, too. */
static lg_status stop_guards(void)
{
    lg__guards_tell();
    lg__guards_stop();
    return LG_OK;
}

lg_status lg_stop(lg_session *session)
{
    if (!session)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status == LG_ERR_UNPROTECTED ? stop_guards() : status;
    if (session->host.simulated) { /* handlers, marks and owner are the real one's */
        lg_simulate_close(session);
        return LG_OK;
    }
    lg__capture_exits();
    mark_end(session, LG__ENDED_STOP, 0);
    lg__terminate_launches(&session->host);
    lg__host_hand_over(&session->host);
    stop_guards();
    lg__outbox_close(session->host.run.ring.outbox);
    pthread_mutex_lock(&session->host.lock);
    if (!atomic_exchange(&session->host.closed, true)) {
        atomic_store_explicit(&session->open, &lg__session_closed, memory_order_relaxed);
        if (lg__capture_watched())
            lg__wake_now(&session->host); /* to end */
        lg__log_thread_wake(); /* the same */
        lg__capture_stop();
        if (session->host.counts)
            /* another process may become the primary */
            atomic_store(&session->host.ledger.hot->primary, 0);
        session->host.counts = false;
        session->protection = LG_PROTECTION_NONE;
        lg__map_trim(&session->host.run.map);
    }
    pthread_mutex_unlock(&session->host.lock);
    return LG_OK;
}

/* The last call counts: a program that ends may still decide to restart. */
static lg_status announce(lg_session *session, enum lg__announced what)
{
    if (!session)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__session_check(session);
    if (status != LG_OK)
        return status;
    struct lg__host *host = &session->host;
    lg__capture_called();
    if (atomic_load(&host->run.state->announced) != (uint32_t)what) {
        atomic_store(&host->run.state->announced_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
        atomic_store(&host->run.state->announced, (uint32_t)what);
    }
    lg__terminate_launches(host);
    return LG_OK;
}

lg_status lg_will_terminate(lg_session *session)
{
    return announce(session, LG__ANNOUNCED_TERMINATION);
}

lg_status lg_will_restart(lg_session *session)
{
    return announce(session, LG__ANNOUNCED_RESTART);
}
