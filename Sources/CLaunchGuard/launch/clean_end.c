/* The clean end of a run, noted in the ledger: the next start does not read the run file then. */
#include <string.h>

#include "guard/guard.h"
#include "launch/evidence.h"
#include "launch/launch.h"
#include "os/os.h"
#include "store/crc32c.h"

static uint32_t crc_of(const struct lg__hot_end *end, uint64_t ordinal)
{
    return lg__crc32c(lg__crc32c(0, &ordinal, sizeof ordinal), &end->wall_ns, offsetof(struct lg__hot_end, crc) - offsetof(struct lg__hot_end, wall_ns));
}

static bool is_finished(const struct lg__state *state, const char *context)
{
    uint32_t count = atomic_load(&state->context_count);
    for (uint32_t i = 0; i < count && i < LG__CONTEXTS; i++)
        if (strncmp(state->contexts[i].name, context, LG__NAME_BYTES) == 0)
            return lg__run_is_finished(&state->contexts[i]);
    return false;
}

void lg__clean_end_note(struct lg__host *host)
{
    struct lg__hot_end *end = host->counts ? &host->ledger.hot->clean_end : NULL;
    /* another thread may be at work in the ledger, for ever */
    if (!end || pthread_mutex_trylock(&host->lock) != 0)
        return;
    const struct lg__ledger_payload *payload = &host->ledger.payload;
    const struct lg__identity *run = host->run.identity;
    atomic_store(&end->ordinal, 0);
    end->wall_ns = run->wall_ns;
    end->begun_ns = run->monotonic_ns;
    end->ended_ns = atomic_load(&host->run.state->ended_ns);
    end->finished = lg__site_has_survived(host->run.guards) ? LG__END_DEGRADED : 0;
    for (uint32_t i = 0; i < payload->context_count; i++)
        if (is_finished(host->run.state, payload->contexts[i].name))
            end->finished |= 1u << i;
    end->crc = crc_of(end, run->ordinal);
    atomic_store(&end->ordinal, run->ordinal);
    pthread_mutex_unlock(&host->lock);
}

bool lg__clean_end_read(const struct lg__hot *hot, const struct lg__ledger_payload *payload, struct lg__last_run *ret_last)
{
    const struct lg__hot_end *end = &hot->clean_end;
    uint64_t ordinal = atomic_load(&end->ordinal);
    /* A crash after the end is in the run file. */
    if (ordinal != payload->last_ordinal || atomic_load(&hot->crash_ordinal) == ordinal || end->crc != crc_of(end, ordinal))
        return false;
    memset(ret_last, 0, sizeof *ret_last);
    ret_last->readable = true;
    ret_last->info.wall_ns = end->wall_ns;
    ret_last->info.monotonic_ns = end->begun_ns;
    ret_last->verdict = (lg_verdict){ .end = LG_END_CLEAN, .evidence = LG_EVIDENCE_EXIT_MARK, .monotonic_ns = end->ended_ns };
    ret_last->is_degraded = (end->finished & LG__END_DEGRADED) != 0;
    lg__evidence_finished(ret_last, payload, end->finished);
    return true;
}

void lg__clean_end_take_back(struct lg__host *host)
{
    struct lg__hot_end *end = host->counts ? &host->ledger.hot->clean_end : NULL;
    if (end && atomic_load(&end->ordinal) == host->run.identity->ordinal)
        atomic_store(&end->ordinal, 0);
}
