#include "capture/watch_thread.h"

#include "capture/fixed.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "walk/walk.h"

#define STACK_BYTES (64u << 10)

/* While a thread is made: all signals but SIGSYS, by which a sandbox refuses a call. */
#define BLOCKED (~(UINT64_C(1) << (SIGSYS - 1)))

/* futex. Bit 0: a thread runs, or is being made; the rest counts what has changed. The thread ends
 * only where nothing has changed since it looked: one word decides about both. */
#define RUNS 1u
#define CHANGE 2u
static uint32_t watch_word LG__SMALL;
/* Each try that fails is a change that another thread has made. */
#define TRIES 1000
static struct lg__os_thread watch_memory LG__SMALL;
static bool is_reserved LG__SMALL;
static int32_t watch_tid LG__SMALL; /* of the latest one: it is seen a little longer than it runs */

static void begin(void)
{
    lg__memory_walker = LG__WALKER_WATCH;
    /* The thread writes to mapped files, which may be cut, and a sandbox may refuse a call: both
     * signals must reach the handler, which mends it. */
    lg__os_signal_block(SIGSYS, false);
    lg__os_signal_block(SIGBUS, false);
    LG_FAULT_POINT("watch: thread begins");
    lg__os_thread_rename("launchguard");
    lg__fixed.options.watch();
    for (;;)
        lg__watch_thread_leave(lg__watch_thread_seen());
}

bool lg__watch_thread_prepare(void)
{
    is_reserved = is_reserved || lg__os_thread_reserve(&watch_memory, STACK_BYTES);
    return is_reserved;
}

void lg__watch_thread_forget(void)
{
    watch_word = 0;
    watch_tid = 0;
}

static bool change(uint32_t seen, uint32_t to)
{
    return __atomic_compare_exchange_n(&watch_word, &seen, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* With signals blocked: no handler that jumps away leaves a thread half made, and none that forked
 * makes one in the child. */
static bool make_thread(uint32_t seen)
{
    const uint64_t blocked = lg__os_signals_blocked();
    lg__os_signals_set(BLOCKED);
    bool ours = lg__fixed_unforked() && change(seen, (seen + CHANGE) | RUNS);
    if (ours && lg__os_thread_begin(&watch_memory, begin, &watch_tid) < 0)
        __atomic_fetch_and(&watch_word, ~RUNS, __ATOMIC_SEQ_CST);
    lg__os_signals_set(blocked);
    return ours;
}

void lg__capture_wake_watch(void)
{
    for (int tries = 0; is_reserved && lg__fixed_unforked() && tries < TRIES; tries++) {
        uint32_t seen = lg__watch_thread_seen();
        if (!(seen & RUNS)) {
            LG_FAULT_POINT("watch: wanted");
            if (make_thread(seen))
                return;
        } else if (change(seen, seen + CHANGE)) {
            lg__os_futex_wake(&watch_word);
            return;
        }
    }
}

bool lg__capture_watched(void)
{
    return lg__watch_thread_seen() & RUNS;
}

bool lg__watch_thread_is(int32_t other)
{
    return __atomic_load_n(&watch_tid, __ATOMIC_RELAXED) == other;
}

uint32_t lg__watch_thread_seen(void)
{
    return __atomic_load_n(&watch_word, __ATOMIC_SEQ_CST);
}

void lg__watch_thread_sleep(uint32_t seen, uint64_t time_ns)
{
    lg__os_futex_wait(&watch_word, seen, time_ns);
}

void lg__watch_thread_leave(uint32_t seen)
{
    const uint64_t blocked = lg__os_signals_blocked();
    lg__os_signals_set(UINT64_MAX); /* a handler would use a stack that another thread may have */
    LG_FAULT_POINT("watch: leaves");
    lg__os_thread_end_if(&watch_word, seen, seen & ~RUNS);
    lg__os_signals_set(blocked);
}
