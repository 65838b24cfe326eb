/* The rest of a record. A handler that was seen to recover from a crash gets the next ones after
 * header, context and frames alone: collectors, virtual machines and emulators live with their
 * faults. Where it does not recover, the rest is written then, of the same fault: the thread is
 * still inside the handler, and the context of the fault is there. */
#include "capture/deadline.h"
#include "capture/internal.h"
#include "os/fault_point.h"

static struct lg__crash *find(uint32_t sequence)
{
    struct lg__crash *crash = lg__crash_find(sequence);
    return crash && crash->owes && crash->tid == lg__os_tid() ? crash : NULL;
}

bool lg__complete_is_owed(uint32_t sequence)
{
    const struct lg__crash *crash = find(sequence);
    /* without an alternate stack the place of a thread is no certain one */
    return crash && crash->altstack_low;
}

/* Under the lock. */
static void complete(struct lg__crash *brief)
{
    struct lg__crash *crash = lg__crash_promote(brief);
    if (!crash)
        return; /* another crash has the full record: this one stays brief */
    LG_FAULT_POINT("complete: promoted");
    lg__record_complete(crash);
    crash->completes = false;
    lg__deadline_arm_handler(crash);
    lg__deadline_disarm();
    LG_FAULT_POINT("complete: done");
}

void lg__complete_outer(uint32_t sequence, struct lg__crash *inner)
{
    struct lg__crash *crash = find(sequence);
    if (crash)
        complete(crash);
    lg__crash_resume(inner);
}

void lg__complete_record(uint32_t sequence)
{
    struct lg__crash *crash = find(sequence);
    if (!crash)
        return;
    /* Faults of the record's own must come back to our handler, and the earlier one may block them.
     * One that it has raised waits: that is the end of the process. */
    const uint64_t blocked = lg__os_signals_blocked();
    lg__os_signals_set(lg__fixed.mask | lg__os_signals_pending());
    if (lg__turn_take(crash->info.si_signo, crash->tid, crash->ucontext)) {
        crash = find(sequence); /* another crash may have taken its slot meanwhile */
        if (crash)
            complete(crash);
        lg__other_threads_release();
        lg__crash_unlock();
    }
    lg__os_signals_set(blocked);
}
