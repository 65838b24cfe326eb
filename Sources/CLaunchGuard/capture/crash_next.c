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
};

enum lg__crash_state lg__crash_next(enum lg__crash_state state, enum lg__crash_event event, bool unseen)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].from == state && rows[i].event == event && rows[i].when != (unseen ? SEEN : UNSEEN))
            return (enum lg__crash_state)rows[i].to;
    return state;
}

bool lg__crash_next_is_open(enum lg__crash_state state)
{
    return state == LG__CRASH_CHAINED || state == LG__CRASH_LEFT;
}

/* The order in which brief slots are taken; of several equal slots the one with the oldest
 * crash. */
static int rank(enum lg__crash_state state)
{
    return state == LG__CRASH_CHAINED ? 2 : state == LG__CRASH_LEFT ? 1 : 0;
}

bool lg__crash_next_is_full_free(const struct lg__crash_slot *full)
{
    return !lg__crash_next_is_open(full->state) || (full->state == LG__CRASH_LEFT && full->settled);
}

int lg__crash_next_slot(const struct lg__crash_slot slots[], int count, bool brief)
{
    int best = 1;
    if (!brief && lg__crash_next_is_full_free(&slots[0]))
        return 0;
    for (int i = 2; i < count; i++) {
        int difference = rank(slots[i].state) - rank(slots[best].state);
        if (difference < 0 || (difference == 0 && (int32_t)(slots[i].sequence - slots[best].sequence) < 0))
            best = i;
    }
    return best;
}
