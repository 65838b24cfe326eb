#include "capture/crash_next.h"

#include <stddef.h>

enum when { ALWAYS, SEEN, UNSEEN };

/* The rows of docs/CRASH.md, section 3. */
static const struct row {
    uint8_t from, event, when, to;
} rows[] = {
    { LG__CRASH_FREE, LG__CRASH_BEGINS, ALWAYS, LG__CRASH_RECORDING },
    { LG__CRASH_RECORDING, LG__CRASH_PASSES, SEEN, LG__CRASH_SURVIVED },
    { LG__CRASH_RECORDING, LG__CRASH_PASSES, UNSEEN, LG__CRASH_LEFT },
    { LG__CRASH_RECORDING, LG__CRASH_CHAINS, ALWAYS, LG__CRASH_CHAINED },
    { LG__CRASH_RECORDING, LG__CRASH_DIES, ALWAYS, LG__CRASH_ENDING },
    { LG__CRASH_RECORDING, LG__CRASH_EXPIRES, ALWAYS, LG__CRASH_ENDING },
    { LG__CRASH_CHAINED, LG__CRASH_RETURNS, SEEN, LG__CRASH_SURVIVED },
    { LG__CRASH_CHAINED, LG__CRASH_RETURNS, UNSEEN, LG__CRASH_LEFT },
    { LG__CRASH_CHAINED, LG__CRASH_OUTSIDE, SEEN, LG__CRASH_SURVIVED },
    { LG__CRASH_CHAINED, LG__CRASH_OUTSIDE, UNSEEN, LG__CRASH_LEFT },
    { LG__CRASH_CHAINED, LG__CRASH_REPEATS, ALWAYS, LG__CRASH_SURVIVED },
    { LG__CRASH_CHAINED, LG__CRASH_EXITS, ALWAYS, LG__CRASH_SURVIVED },
    { LG__CRASH_CHAINED, LG__CRASH_VANISHES, ALWAYS, LG__CRASH_SURVIVED },
    { LG__CRASH_CHAINED, LG__CRASH_EXPIRES, ALWAYS, LG__CRASH_ENDING },
    { LG__CRASH_CHAINED, LG__CRASH_DISPLACED, ALWAYS, LG__CRASH_FREE },
    { LG__CRASH_LEFT, LG__CRASH_SETTLES, SEEN, LG__CRASH_SURVIVED },
    { LG__CRASH_LEFT, LG__CRASH_REPEATS, ALWAYS, LG__CRASH_SURVIVED },
    { LG__CRASH_LEFT, LG__CRASH_EXITS, ALWAYS, LG__CRASH_SURVIVED },
    { LG__CRASH_LEFT, LG__CRASH_VANISHES, ALWAYS, LG__CRASH_SURVIVED },
    { LG__CRASH_LEFT, LG__CRASH_DISPLACED, ALWAYS, LG__CRASH_FREE },
    { LG__CRASH_SURVIVED, LG__CRASH_STORED, ALWAYS, LG__CRASH_FREE },
};

enum lg__crash_state lg__crash_next(enum lg__crash_state state, enum lg__crash_event event, bool unseen)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].from == state && rows[i].event == event && rows[i].when != (unseen ? SEEN : UNSEEN))
            return (enum lg__crash_state)rows[i].to;
    return state;
}

/* The brief slot in this state that holds the oldest crash; −1: none is in it. */
static int oldest(const struct lg__crash_slot slots[], int count, enum lg__crash_state state)
{
    int found = -1;
    for (int i = 1; i < count; i++)
        if (slots[i].state == state && (found < 0 || (int32_t)(slots[i].sequence - slots[found].sequence) < 0))
            found = i;
    return found;
}

int lg__crash_choose(const struct lg__crash_slot slots[], int count)
{
    static const enum lg__crash_state order[] = { LG__CRASH_FREE, LG__CRASH_LEFT, LG__CRASH_CHAINED };
    if (slots[0].state == LG__CRASH_FREE || (slots[0].state == LG__CRASH_LEFT && slots[0].settled))
        return 0;
    int found = -1;
    for (size_t i = 0; found < 0 && i < sizeof order / sizeof order[0]; i++)
        found = oldest(slots, count, order[i]);
    return found;
}
