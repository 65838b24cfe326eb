/* A second implementation of docs/LAUNCH.md, with terms and data of its own. The tests compare the
 * real machine with it.
 *
 * It is written from that page, row by row, in the order of the page. It shares nothing with the
 * real code, not even the constants. Each event is allowed only in the phase that its row names. */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_NAME 64
#define MODEL_RUNGS 17
#define MODEL_SUSPECTS 8
#define MODEL_NOT_KNOWN UINT64_MAX

enum model_phase { NONE, LAUNCHING, HELD, REPAIRING, HALTED, FINISHED, TERMINATING };
enum model_mode { NORMAL, PROBATION, SAFE, TRIAL };
enum model_decision { BY_RULE, GO_ON, PROTECTED, HOLD };
enum model_hint_kind { NO_HINT, HINT_LEAVES_OUT, HINT_REPAIRS, HINT_SAFE, HINT_HOLDS };
enum model_account { COUNTS_NOT, COUNTS, IS_LATE };
enum model_status { IS_NORMAL, IS_CHECKING, IS_NEEDS_REPAIR, IS_REPAIRING };

/* Names as on the page. */
enum model_end { END_NONE, END_CLEAN, END_TERMINATED, END_CRASH, END_HANG, END_OOM, END_KILLED, END_EXIT, END_REBOOT, END_UPGRADE,
                 END_DEBUGGER, END_UNKNOWN, END_RUNNING, END_COUNT };

struct model_time {
    unsigned boot; /* number of the boot, from 1; 0: never */
    uint64_t ns;   /* since it */
    uint64_t wall; /* ns */
};

struct model_rung {
    char name[MODEL_NAME];
    bool built_in, destructive, restart, consent;
    uint32_t impact, attempts, timeout;
    uint64_t series; /* wall clock of the last attempt; 0: never */
    bool tried, failed, refused; /* failed: tried without a success */
};

struct model_policy {
    uint32_t report_after, repair_after, unknown_after;
    bool count_crash, count_hang, count_oom, count_exit, count_sigpipe;
    uint32_t safe_retry_runs, safe_retry_max, safe_crash_limit, deescalate_runs;
    uint64_t deescalate_ms, steady_ms;
};

struct model_suspect {
    char key[MODEL_NAME];
    uint32_t crashes;
    bool left_out;
};

struct model {
    enum model_phase phase;
    enum model_mode mode;
    bool due, reporting, skippable, shadow;
    bool told, owes, again, asking, late, unexplained, giving_up, leaving, by_hand;
    uint32_t streak, ends, unknown, reported, report_strikes, decide_strikes, give_up_strikes;
    bool hint_repair, hint_hold, hint_safe;
    uint32_t hint_serial;
    uint32_t quits, unsteady, stops;
    uint32_t rung, attempts, interruptions;
    uint32_t skips, held_deaths;
    uint32_t good_runs, safe_crashes, retry_runs, quiet;
    struct model_time repaired;          /* its wall clock is not used */
    uint64_t launches, crashes, repairs; /* totals */
    uint64_t first_run;                  /* of the streak */
    struct model_policy policy;
    /* of the last end that counted, was unexplained or a stop; "": none */
    char last_task[MODEL_NAME];
    uint32_t suspect_count;
    struct model_suspect suspects[MODEL_SUSPECTS];
    uint32_t rung_count;
    struct model_rung rungs[MODEL_RUNGS];
};

/* A hint in force. */
struct model_hint {
    enum model_hint_kind kind; /* LEAVES_OUT: the task of the last end */
    uint32_t serial, rung;
};

/* The options with which a launch begins. */
struct model_launch {
    struct model_policy policy;
    bool skippable, shadow, by_hand;
    bool asks;                   /* there is an on_decide */
    enum model_decision decided; /* without it */
    struct model_hint hint;
    uint32_t rung_count;
    struct model_rung rungs[MODEL_RUNGS]; /* their series is ignored */
};

/* How a run ended. */
struct model_last {
    enum model_end end;
    bool sigpipe;   /* of END_CRASH */
    bool finished;  /* the run file says so */
    bool others;    /* it came in modules or tasks of other contexts */
    /* The run began no launch. The last one that began any began one of this context. */
    bool early;
    uint64_t lived_ms; /* from the mark to the end; MODEL_NOT_KNOWN */
    uint64_t run;
    const char *task; /* NULL: in none */
};

enum model_account model_account(struct model *m, const struct model_last *last);
enum model_account model_upgrade(struct model *m, const struct model_last *last);
void model_told(struct model *m);
void model_begin(struct model *m, const struct model_launch *launch, struct model_time now, struct model *ret_rule);
void model_course(struct model *m, enum model_decision decision, const struct model_hint *hint, struct model_time now);
void model_reported(struct model *m);
bool model_give_up(struct model *m);
void model_gave_up(struct model *m);
void model_attempt(struct model *m, struct model_time now);
void model_attempted(struct model *m, bool ok, struct model_time now);
void model_overrun(struct model *m);
void model_refuse(struct model *m, struct model_time now);
void model_skip(struct model *m, struct model_time now);
void model_repaired(struct model *m, struct model_time now);
void model_expired(struct model *m, struct model_time now);
void model_try_safe(struct model *m);
void model_protect(struct model *m, struct model_time now, bool empty);
void model_finish(struct model *m);
void model_terminate(struct model *m);
enum model_status model_status(const struct model *m);

#endif
