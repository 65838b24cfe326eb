/* A process that starts while the last primary still dies, or that the primary did not outlive.
 *
 * The end of a large process takes the kernel some time, and a crash under way takes the handler's:
 * whoever starts the program again at once finds its ledger held. The start waits for a primary
 * that is known to end. A primary that ends later is noticed where the session needs the ledger: by
 * lg_launch_prepare(), lg_launch_begin() and lg_delivery_start(). */
#include <time.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"

/* The handler takes 5 s at most by its default, and the kernel about 0.1 s for each GiB. */
#define WAIT_NS LG_PATIENCE(UINT64_C(10000000000))
#define TURN_NS 1000000L

/* The primary crashes, or its process comes to its end. A crash that it survived is the cause of a
 * needless wait, which ends WAIT_NS after the crash. The last run of a fresh payload is that of the
 * primary, once its start has accounted for the run before. */
static bool is_ending(struct lg__ledger *ledger, uint64_t primary)
{
    if (lg__os_is_ending((pid_t)(primary >> 32)))
        return true;
    lg__ledger_refresh(ledger);
    uint64_t last = ledger->payload.last_ordinal, crashed_ns = atomic_load(&ledger->hot->crash_ns);
    return last && atomic_load(&ledger->hot->crash_ordinal) == last && lg__os_clock_ns(CLOCK_MONOTONIC) - crashed_ns < WAIT_NS;
}

static bool claim(struct lg_session *session)
{
    struct lg__ledger *ledger = &session->host.ledger;
    const uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
    const struct timespec turn = { 0, TURN_NS };
    uint64_t primary;
    while (primary = atomic_load(&ledger->hot->primary), lg__ledger_process_alive(primary, session->host.boot_id)) {
        if (!is_ending(ledger, primary) || lg__os_clock_ns(CLOCK_MONOTONIC) >= until)
            return false;
        LG_FAULT_POINT("take over: turn");
        nanosleep(&turn, NULL);
    }
    return lg__ledger_claim(ledger, session->process, session->host.boot_id);
}

bool lg__take_over_at_start(struct lg_session *session)
{
    return session->process && claim(session);
}

/* An end of the run before is accounted for once, as lg_start() does. */
static bool take_over(struct lg_session *session)
{
    struct lg__host *host = &session->host;
    if (!claim(session))
        return false;
    if (host->ledger.payload.last_ordinal >= session->ordinal) {
        /* A later process had it meanwhile: the order of the runs stays that of their numbers. */
        host->ledger.primary = false;
        atomic_store(&host->ledger.hot->primary, 0);
        return false;
    }
    session->runs_directory = lg__session_open_runs(session);
    lg__last_run_account(session, host->run.identity);
    if (session->runs_directory >= 0)
        close(session->runs_directory);
    session->runs_directory = -1;
    atomic_store(&host->run.state->started, LG__STARTED_TOOK_OVER);
    session->protection = LG_PROTECTION_FULL;
    pthread_mutex_lock(&host->lock);
    host->problem = (struct lg__problem){ .status = LG_OK };
    host->counts = true;
    pthread_mutex_unlock(&host->lock);
    lg__host_log(host, LG_LEVEL_NOTICE, "the process that held the ledger has ended; this one counts from now on");
    return true;
}

lg_status lg__take_over_check(lg_session *session)
{
    lg_status status = session ? lg__session_check(session) : LG_ERR_ARGUMENT;
    return status == LG_OK && !lg__take_over(&session->host) ? LG_ERR_SECONDARY : status;
}

bool lg__take_over(struct lg__host *host)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct lg_session *session = (struct lg_session *)(void *)((char *)host - offsetof(struct lg_session, host));
    if (host->counts || host->simulated || session->preloaded || !session->process || !host->directory[0] || lg__session_check(session) != LG_OK)
        return host->counts;
    pthread_mutex_lock(&lock);
    bool counts = host->counts || take_over(session);
    pthread_mutex_unlock(&lock);
    return counts;
}
