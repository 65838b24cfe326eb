/* The machine's account of the run that ended: rows A1 to A20 of docs/LAUNCH.md, and the upgrade.
 * Pure, as decide.h says. */
#ifndef LG_LAUNCH_ENDED_H
#define LG_LAUNCH_ENDED_H

#include "launch/decide.h"

#define LG__LIVED_UNKNOWN UINT64_MAX

/* The end of the last run, as far as it matters to this context. */
struct lg__last_end {
    lg_end end;
    int32_t signal;        /* of LG_END_CRASH */
    bool finished;         /* the run file says that the launch was finished */
    /* The run began no launch at all, which is then counted for the contexts of the last life that
     * did. */
    bool early;
    uint64_t lived_ns;     /* from the mark to the end; LG__LIVED_UNKNOWN */
    /* the crash was in modules or tasks of other contexts: it does not count here unless a repair
     * ran */
    bool others;
    uint64_t ordinal;      /* of the run */
    const char *task;      /* key of the task that the end came in; NULL for none */
};

enum lg__account {
    LG__ACCOUNT_NOTHING,
    LG__ACCOUNT_COUNTS, /* the end counts against the context */
    LG__ACCOUNT_LATE    /* it would, if a launch of the context had been under way */
};

/* A1 to A20 */
enum lg__account lg__ended_account(struct lg__ledger_context *context, const struct lg__last_end *last);

/* The account where a version starts that has not crashed before. */
enum lg__account lg__ended_upgrade(struct lg__ledger_context *context, const struct lg__last_end *last);

#endif
