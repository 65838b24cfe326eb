/* Since when the program hangs: each that can tell keeps its own word, and the mark in the run file is one of them. */
#include "launch/launch.h"

static uint64_t any(const struct lg__host *host)
{
    for (unsigned i = 0; i < LG__HANGS; i++) {
        uint64_t since = atomic_load(&host->hangs[i]);
        if (since)
            return since;
    }
    return 0;
}

/* Whoever changes a word comes here after it. Stored, then compared: what changed before the store is seen, and whoever changes one after it
 * comes here himself. */
static void settle(struct lg__host *host)
{
    _Atomic uint64_t *mark = &host->run.state->hang_ns;
    uint64_t since;
    do
        atomic_store(mark, since = any(host));
    while (since != any(host));
}

void lg__hang_begin(struct lg__host *host, unsigned who, uint64_t since_ns)
{
    atomic_store(&host->hangs[who], since_ns);
    settle(host);
}

uint64_t lg__hang_end(struct lg__host *host, unsigned who)
{
    uint64_t since = atomic_load(&host->hangs[who]) ? atomic_exchange(&host->hangs[who], 0) : 0;
    if (since)
        settle(host);
    return since;
}
