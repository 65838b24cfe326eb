/* Layer 3: the decision. Pure functions over a context's stored counters: no clock, no file, no callback.
 *
 * One launch of a context is: account for how the last run ended, begin, zero or more repair attempts, finish. After each
 * step the context is stored; the process may die between any two. */
#ifndef LG_LAUNCH_DECIDE_H
#define LG_LAUNCH_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/end.h"
#include "store/format.h"

/* Interrupted repairs (the user or the machine ended them) that together make one failed attempt. */
#define LG__INTERRUPTIONS_MAX 3u

/* What the launch does next. */
enum lg__next {
    LG__NEXT_LAUNCH, /* run the tasks */
    LG__NEXT_REPAIR  /* one attempt of rung `rung` */
};

struct lg__decision {
    enum lg__next next;
    uint32_t rung;
    bool report; /* call on_report first */
};

struct lg__thresholds {
    uint32_t report_after, repair_after, unknown_after; /* unknown_after 0: never */
};

/* The ladder as the program registered it. */
struct lg__ladder {
    uint32_t count;
    const uint32_t *attempts; /* of each rung */
};

/* Account for the end of the last run in which this context was begun. `finished`: its launch was finished by then.
 * Returns true if the end added to the streak, to the unknown count or to the attempts of a repair. */
bool lg__decide_account(struct lg__book_context *context, lg_end end, bool finished, uint64_t ordinal);

/* Forget everything but the totals: a new version deserves a new start. */
void lg__decide_reset(struct lg__book_context *context);

/* Begin a launch. */
struct lg__decision lg__decide_begin(struct lg__book_context *context, const struct lg__thresholds *thresholds,
                                     const struct lg__ladder *ladder);

/* An attempt of the current rung is about to be made: to be stored before it is. */
void lg__decide_attempt(struct lg__book_context *context);

/* The attempt ended. */
struct lg__decision lg__decide_attempted(struct lg__book_context *context, bool repaired, const struct lg__ladder *ladder);

/* The launch is finished. */
void lg__decide_finished(struct lg__book_context *context);

#endif
