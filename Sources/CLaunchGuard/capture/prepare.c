/* What the handler needs and must not make itself: the module table and the unwinder's own tables. */
#include "capture/internal.h"

void lg__capture_prepare(void)
{
    lg__modules_refresh();
    lg__process_prepare();
    lg__unwind_dwarf_prepare();
    atomic_store(&lg__capture.prepared, 1);
    lg__os_futex_wake((const uint32_t *)&lg__capture.prepared);
}

void lg__capture_wait_prepared(uint64_t timeout_ns)
{
    uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + timeout_ns;
    uint64_t now;
    while (!atomic_load(&lg__capture.prepared) && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until)
        lg__os_futex_wait((const uint32_t *)&lg__capture.prepared, 0, until - now);
}

void lg__capture_refresh_modules(void)
{
    lg__modules_refresh();
    lg__process_prepare();
}
