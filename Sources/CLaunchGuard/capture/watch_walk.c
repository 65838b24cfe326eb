#include "capture/watch_walk.h"

#include "capture/internal.h"
#include "os/fault_point.h"

static struct lg__arch_mark walk_mark;
static _Atomic bool walking; /* the mark is set */

void lg__watch_walk_recover(void)
{
    if (!atomic_load(&walking))
        return;
    lg__memory_recover();
    if (atomic_exchange(&walking, false))
        lg__arch_jump(&walk_mark);
}

/* A crash writes the tables of its own. */
static void write_modules(void)
{
    if (!lg__crash_holder())
        lg__loader_write(false);
}

/* `task` 0: of a thread that stands still. */
static __attribute__((noinline)) bool walk(struct lg__thread *slot, uint64_t task)
{
    const uint64_t blocked = lg__os_signals_blocked();
    bool is_whole = true;
    lg__os_signal_block(SIGSEGV, false); /* blocked, it would end the process */
    if (lg__arch_mark(&walk_mark) != 0) {
        is_whole = false;
    } else {
        atomic_store(&walking, true);
        LG_FAULT_POINT("snapshot: walk");
        lg__loader_settle();
        write_modules(); /* the walk may crash */
        if (task)
            is_whole = lg__thread_walk_task(slot, task);
        else
            lg__thread_walk(slot);
        write_modules();
        atomic_store(&walking, false);
    }
    lg__os_signals_set(blocked); /* also the signals of a handler that the jump left */
    return is_whole;
}

void lg__watch_walk(struct lg__thread *slot)
{
    if (!walk(slot, 0))
        lg__thread_walk_crashed(slot);
}

bool lg__watch_walk_task(struct lg__thread *slot, uint64_t task)
{
    return walk(slot, task);
}
