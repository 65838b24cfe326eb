/* The launches of a program that ends by its own will. */
#include "launch/internal.h"

/* Under the host's lock, in one store for all contexts. Bit i of the result: launches[i] is over by
 * it. */
static uint32_t store_terminating(struct lg__host *host)
{
    struct lg__ledger_payload *payload = &host->ledger.payload;
    uint32_t ended = 0;
    bool changed = false;
    for (uint32_t i = 0; i < payload->context_count; i++) {
        uint32_t before = payload->contexts[i].phase;
        lg__decide_terminating(&payload->contexts[i]);
        changed = changed || payload->contexts[i].phase != before;
    }
    if (!changed)
        return 0;
    lg__ledger_store(&host->ledger);
    for (uint32_t i = 0; i < host->launch_count; i++) {
        const struct lg__ledger_context *context = lg__ledger_find_context(payload, host->launches[i]->name);
        if (!context || context->phase != LG_PHASE_TERMINATING || atomic_load(&host->launches[i]->state->phase) == LG_PHASE_TERMINATING)
            continue;
        atomic_store(&host->launches[i]->state->phase, LG_PHASE_TERMINATING);
        ended |= 1u << i;
    }
    return ended;
}

void lg__terminate_launches(struct lg__host *host)
{
    const uint32_t count = atomic_load(&host->launch_count);
    for (uint32_t i = 0; i < count; i++)
        lg__confirm_window(host->launches[i]);
    pthread_mutex_lock(&host->lock);
    uint32_t ended = host->counts && !atomic_load(&host->closed) ? store_terminating(host) : 0;
    pthread_mutex_unlock(&host->lock);
    /* Launches are never removed. */
    for (uint32_t i = 0; i < LG_CONTEXTS_MAX; i++) {
        if (!(ended & 1u << i))
            continue;
        lg_launch *launch = host->launches[i];
        pthread_mutex_lock(&launch->lock);
        lg__window_close(launch);
        pthread_cond_broadcast(&launch->changed); /* a thread that waits in the hold looks again */
        pthread_mutex_unlock(&launch->lock);
        lg__launch_publish(launch);
        lg__window_wake(launch);
    }
}
