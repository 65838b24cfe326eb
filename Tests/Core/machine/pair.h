/* The real machine and its model side by side: each event goes to both, and they must agree on
 * everything that docs/LAUNCH.md names. */
#ifndef PAIR_H
#define PAIR_H

#include "launch/ended.h"
#include "model.h"

#define MS UINT64_C(1000000)
#define HOUR (3600000 * MS)

enum pair_kind { BEGIN, COURSE, TOLD, REPORTED, ACCOUNT, ATTEMPT, DONE_OK, DONE_FAILED, OVERRUN, REFUSE, SKIP, REPAIRED, EXPIRE, TRY, PROTECT, FINISH, TERMINATE, LEAVE_OUT,
                 GIVE_UP, GAVE_UP, PASS, REBOOT, UPGRADE };

struct pair_event {
    enum pair_kind kind;
    bool skippable, shadow, asks, by_hand; /* of BEGIN */
    enum model_hint_kind hint;             /* of BEGIN and COURSE */
    uint32_t hint_serial, hint_rung;
    bool empty;                            /* of PROTECT */
    enum model_decision decided;      /* of BEGIN without asks, of COURSE */
    enum model_end end;               /* of ACCOUNT and UPGRADE */
    bool sigpipe, finished, others, early;
    uint64_t lived_ms;                /* MODEL_NOT_KNOWN, or from the mark to the end */
    unsigned task;                    /* number of the task it came in; 0: none */
    int64_t ns, wall;                 /* of PASS: of the clock since boot, of the wall clock */
};

/* The parameters of a program: the options with which each of its launches begins. */
struct pair_program {
    struct model_launch model;
    struct lg__policy real;
    bool nobody_asks; /* there is no on_report */
};

struct pair {
    struct model model;
    struct lg__ledger_context real;
    struct model_time now;
};

/* The usual policy, and the built-in rung alone. */
struct model_launch usual_launch(void);
/* Add a rung "repair-<number>". */
void add_rung(struct model_launch *launch, uint32_t attempts, bool destructive, bool restart);
struct pair_program program_of(const struct model_launch *launch);

struct pair pair_new(void);
/* True in the phases that the event's row names. */
bool pair_allows(const struct pair *pair, const struct pair_event *event);
/* False if the two do not agree afterwards; the difference is printed. */
bool pair_apply(struct pair *pair, const struct pair_program *program, const struct pair_event *event);

struct lg__moment moment_of(struct model_time now);
/* One line, in a buffer of its own. */
const char *event_text(const struct pair_event *event);
void pair_print(const struct pair *pair);

#endif
