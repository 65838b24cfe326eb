/* The moment from which on the program hangs. Each observer keeps a word of its own; the mark in
 * the run file is one of these words. */
#include "launch/launch.h"

/* The watch thread notes this often that a program that hangs is alive. */
#define HUNG_NS UINT64_C(1000000000)

static uint64_t any_hang(const struct lg__host *host)
{
    for (unsigned i = 0; i < LG__HANGS; i++) {
        uint64_t since = atomic_load(&host->hangs[i]);
        if (since)
            return since;
    }
    return 0;
}

/* A thread that changes a word calls this function after it. The function stores, then compares: it
 * sees a change before the store, and a thread that changes a word after the store calls the
 * function itself. */
static void settle_mark(struct lg__host *host)
{
    _Atomic uint64_t *mark = &host->run.state->hang_ns;
    uint64_t since;
    do
        atomic_store(mark, since = any_hang(host));
    while (since != any_hang(host));
}

void lg__hang_begin(struct lg__host *host, unsigned who, uint64_t since_ns)
{
    atomic_store(&host->hangs[who], since_ns);
    settle_mark(host);
}

uint64_t lg__hang_look(struct lg__host *host, uint64_t now)
{
    if (!any_hang(host))
        return LG__NEVER;
    atomic_store(&host->run.state->hung_alive_ns, now);
    return HUNG_NS;
}

uint64_t lg__hang_end(struct lg__host *host, unsigned who)
{
    uint64_t since = atomic_load(&host->hangs[who]) ? atomic_exchange(&host->hangs[who], 0) : 0;
    if (since)
        settle_mark(host);
    return since;
}
