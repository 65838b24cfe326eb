/* Which ended runs give way. Pure: no file is read here. */
#ifndef LG_SESSION_RETENTION_CHOICE_H
#define LG_SESSION_RETENTION_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/format_ledger.h"
#include "store/run.h"

struct lg__ended_run {
    uint64_t ordinal;
    uint64_t size; /* on the disk */
    bool first;    /* of a streak */
    bool owed;     /* a report */
    bool quiet;    /* its end was not bad, and it survived nothing */
    bool gives_way;
    uint32_t rank; /* by lg__retention_choice_order() */
    char name[LG__RUN_NAME_BYTES];
};

/* After this many starts at the latest a start looks at all runs: those of processes that did not
 * hold the ledger, and remains of a start that died, are deleted then. */
#define LG__FORESEEN_STARTS 256u

struct lg__retention_limits {
    uint32_t runs;
    uint64_t bytes;
};

/* Sort the runs, each of another ordinal: the one that gives way first comes last. First runs of
 * streaks, then owed ones, then the newest, then those with a bad end and the newest quarter of
 * `limit` among the quiet ones, then the other quiet ones; each kind from new to old. */
void lg__retention_choice_order(struct lg__ended_run *runs, uint32_t count, uint32_t limit);

/* Sort them, and set `gives_way`. First runs of streaks and the newest run never give way, and
 * owed ones only for want of bytes: `owed` is taken from those. */
void lg__retention_choice_make(struct lg__ended_run *runs, uint32_t count, const struct lg__retention_limits *limits);

/* The next starts, of which each adds a run: the first `unused` ones take no place, and then one
 * run of the end gives way to each, `starts` in all. */
struct lg__retention_forecast {
    uint64_t unused, starts;
};

/* Of the runs that stay, without first runs of streaks, which take `bytes` together with those:
 * sort them, and say which give way at the next starts, whatever ends these starts have. `own`:
 * bytes of the file of a start. */
struct lg__retention_forecast lg__retention_choice_foresee(struct lg__ended_run *runs, uint32_t count, const struct lg__retention_limits *limits,
                                                    uint64_t bytes, uint64_t own);

#endif
