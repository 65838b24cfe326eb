/* The actions that the program has for the signals that LaunchGuard took, or believes to have. */
#include "capture/internal.h"

/* The versions of one action. A writer never waits, and neither does a reader, which may be the
 * handler of a crash inside a writer: it takes the latest version that is whole. */
#define VERSIONS 8u
static struct actions {
    _Atomic uint32_t begun; /* number of the version that a writer took last */
    _Atomic uint32_t whole; /* number of the latest one that is whole */
    struct lg__earlier versions[VERSIONS];
} actions[SIGSYS + 1] __attribute__((aligned(LG__PAGE))); /* two pages */

/* Only a defect writes that many versions during one look. */
#define LOOKS 1000

struct lg__earlier lg__earlier_of(int signal)
{
    const struct actions *of = &actions[signal];
    struct lg__earlier found = { 0, 0, 0 };
    for (int looks = 0; looks < LOOKS; looks++) {
        const uint32_t number = atomic_load(&of->whole);
        found = of->versions[number % VERSIONS];
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load(&of->begun) - number < VERSIONS)
            break;
    }
    return found;
}

void lg__earlier_set(int signal, const struct lg__earlier *to)
{
    struct actions *of = &actions[signal];
    const uint32_t number = atomic_fetch_add(&of->begun, 1) + 1;
    atomic_thread_fence(memory_order_release); /* the stores below may overtake the one above */
    of->versions[number % VERSIONS] = *to;
    uint32_t whole = atomic_load(&of->whole);
    while ((int32_t)(number - whole) > 0 && !atomic_compare_exchange_weak(&of->whole, &whole, number)) {}
}

void lg__earlier_set_default(int signal)
{
    static const struct lg__earlier nothing;
    lg__earlier_set(signal, &nothing);
}
