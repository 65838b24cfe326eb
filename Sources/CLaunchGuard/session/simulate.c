/* Simulated sessions: a ledger and a run file in memory, and ends that are only announced. */
#include <stdlib.h>

#include "launchguard/simulate.h"
#include "os/os.h"
#include "session/session.h"
#include "store/crc32c.h"

/* Handles stay valid; a session that is no longer used is no leak. */
static struct lg_session *_Atomic newest;

lg_status lg_simulate_start(lg_session **ret_session)
{
    static const _Atomic uint32_t always = 1;
    static const struct lg__identity nobody;
    static const struct lg__run_sizes least = { .ring_bytes = 4096 };
    struct lg__problem ignored = { .status = LG_OK };
    if (!ret_session)
        return LG_ERR_ARGUMENT;
    lg_session *session = calloc(1, sizeof *session);
    if (!session)
        return LG_ERR_SYSTEM;
    struct lg__host *host = &session->host;
    lg__crc32c_init();
    pthread_mutex_init(&host->lock, NULL);
    session->runs_directory = -1;
    session->protection = LG_PROTECTION_FULL;
    if (!lg__ledger_anonymous(&host->ledger) ||
        lg__run_create(-1, "", "", NULL, NULL, &least, &nobody, &host->run, &ignored) != LG_OK) {
        free(session);
        return LG_ERR_SYSTEM;
    }
    lg__os_random(host->boot_id, sizeof host->boot_id);
    host->ledger.primary = true;
    host->simulated = true;
    host->counts = true;
    session->open = host->unforked = &always;
    session->older = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &session->older, session))
        continue;
    *ret_session = session;
    return LG_OK;
}

static bool can_be_simulated(lg_end end)
{
    switch (end) {
    case LG_END_CLEAN:
    case LG_END_TERMINATED:
    case LG_END_CRASH:
    case LG_END_HANG:
    case LG_END_OOM:
    case LG_END_KILLED:
    case LG_END_EXIT:
    case LG_END_REBOOT:
    case LG_END_UPGRADE:
    case LG_END_DEBUGGER:
    case LG_END_UNKNOWN: return true;
    default: return false;
    }
}

lg_status lg_simulate(lg_session *session, lg_end end)
{
    if (!session)
        return LG_ERR_ARGUMENT;
    if (!session->host.simulated || atomic_load(&session->host.closed))
        return LG_ERR_STATE;
    if (!can_be_simulated(end))
        return LG_ERR_OPTION;
    struct lg__host *host = &session->host;
    if (!lg__host_unforked(host))
        return LG_OK;
    pthread_mutex_lock(&host->lock);
    uint32_t count = host->launch_count;
    struct lg__reached reached = lg__account_reached(&host->ledger.payload, NULL);
    pthread_mutex_unlock(&host->lock);
    for (uint32_t i = 0; i < count; i++)
        lg__life_end(host->launches[i], end, &reached);
    atomic_store(&host->run.state->announced, LG__ANNOUNCED_NOTHING);
    pthread_mutex_lock(&host->lock);
    atomic_store(&host->run.state->announced, LG__ANNOUNCED_NOTHING);
    if (end == LG_END_REBOOT)
        lg__os_random(host->boot_id, sizeof host->boot_id);
    pthread_mutex_unlock(&host->lock);
    return LG_OK;
}

lg_status lg_simulate_pass(lg_session *session, int64_t milliseconds)
{
    if (!session || milliseconds < 0 || milliseconds > INT64_MAX / 1000000)
        return LG_ERR_ARGUMENT;
    if (!session->host.simulated)
        return LG_ERR_STATE;
    struct lg__host *host = &session->host;
    if (!lg__host_unforked(host))
        return LG_OK;
    uint64_t passed_ns = (uint64_t)milliseconds * 1000000u;
    atomic_fetch_add(&host->passed_ns, passed_ns);
    pthread_mutex_lock(&host->lock);
    uint32_t count = host->launch_count;
    pthread_mutex_unlock(&host->lock);
    for (uint32_t i = 0; i < count; i++)
        lg__life_pass(host->launches[i], passed_ns);
    return LG_OK;
}

void lg_simulate_close(lg_session *session)
{
    if (!session || !session->host.simulated || atomic_load(&session->host.closed))
        return;
    lg_simulate(session, LG_END_CLEAN);
    pthread_mutex_lock(&session->host.lock);
    atomic_store(&session->host.closed, true);
    atomic_store_explicit(&session->open, &lg__session_closed, memory_order_relaxed);
    session->host.counts = false;
    session->protection = LG_PROTECTION_NONE;
    pthread_mutex_unlock(&session->host.lock);
}
