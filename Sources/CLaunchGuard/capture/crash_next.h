/* The end of a crash as a table: docs/CRASH.md. Pure: these functions know neither threads nor
 * memory, so a test explores every order of events by calling them. */
#ifndef LG_CAPTURE_CRASH_NEXT_H
#define LG_CAPTURE_CRASH_NEXT_H

#include <stdbool.h>
#include <stdint.h>

/* State of one crash. CRASH.md, section 1. */
enum lg__crash_state {
    LG__CRASH_FREE,      /* the slot holds no crash yet, or one that a later crash displaced */
    LG__CRASH_RECORDING, /* its thread holds the crash lock and writes the record */
    LG__CRASH_CHAINED,   /* its earlier handler was called, and is not known to be left */
    LG__CRASH_LEFT,      /* the handler was left, but the signal may end the process all the same */
    LG__CRASH_SURVIVED,  /* its thread went on; the slot can be taken */
    LG__CRASH_ENDING     /* the process is about to die of it, under the crash lock */
};

/* The events of one crash. CRASH.md, section 2. */
enum lg__crash_event {
    LG__CRASH_BEGINS,    /* its thread has taken the crash lock and this slot */
    /* the record is written; without LaunchGuard the signal would do nothing */
    LG__CRASH_PASSES,
    LG__CRASH_CHAINS,    /* the record is written; an earlier handler is called next */
    LG__CRASH_DIES,      /* the record is written or given up; the default action is next */
    LG__CRASH_RETURNS,   /* the earlier handler returned */
    LG__CRASH_OUTSIDE,   /* its thread was found outside that handler */
    LG__CRASH_SETTLES,   /* a second has passed since the handler was left */
    LG__CRASH_REPEATS,   /* its thread crashed again, outside that handler */
    LG__CRASH_EXITS,     /* the process ends by exit(), with the thread outside the handler */
    LG__CRASH_VANISHES,  /* its thread has ended */
    LG__CRASH_EXPIRES,   /* its deadline has passed, and its thread was found inside */
    LG__CRASH_DISPLACED, /* a later crash needs the slot */
    LG__CRASH_EVENTS
};

/* The state after an event; the same state where the table has no row: the event is late, and
 * nothing must be done. `unseen`: the signal may end the process without another record, because
 * its action is the default or because abort() is about to raise it with the default action. */
enum lg__crash_state lg__crash_next(enum lg__crash_state state, enum lg__crash_event event, bool unseen);

/* The fate of the crash is open: CHAINED or LEFT. */
bool lg__crash_next_is_open(enum lg__crash_state state);

/* One slot, for the choice of a slot. */
struct lg__crash_slot {
    enum lg__crash_state state;
    uint32_t sequence; /* of the crash that it holds or held */
    bool settled;      /* LEFT for a second or longer */
};

/* The slot for a new crash, under the crash lock: there always is one. The first slot has the full
 * record and is never taken from a crash whose fate is open; the others have brief records.
 * `brief`: a brief record is wanted. */
int lg__crash_next_slot(const struct lg__crash_slot slots[], int count, bool brief);
/* The full record is there for another crash. */
bool lg__crash_next_is_full_free(const struct lg__crash_slot *full);

#endif
