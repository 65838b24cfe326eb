/* A life: the program of a device, the bugs that it meets, and what its surroundings do at each of
 * its starts. Given the same life, everything happens again exactly. */
#ifndef LIFE_H
#define LIFE_H

#include "device.h"

#define BUGS 3
#define STARTS_MOST 400

enum bug_where { BEFORE_BEGIN, IN_DECIDE, IN_REPORT, IN_PROTECT, IN_REPAIR, IN_GIVE_UP, IN_TASK, LATE, AFTER_MARK, WHERES };

/* What cures a bug; CURE_REPAIR << i: repair i. */
enum cure { CURE_LEFT_OUT = 1, CURE_SAFE = 2, CURE_UPDATE = 4, CURE_TIME = 8, CURE_REPAIR = 16 };

struct bug {
    enum bug_where where;
    unsigned task;      /* of IN_TASK; the repair of IN_REPAIR */
    lg_end end;         /* LG_END_TERMINATED: a hang that a supervisor ends */
    bool only_offline, only_full; /* without a network; on a full disk */
    unsigned every;     /* acts at every n-th start */
    unsigned cures;     /* enum cure */
    unsigned days;      /* of CURE_TIME */
};

/* What a user does while the launch waits. */
enum answer { CONSENTS, REFUSES, NOT_NOW, SAYS_REPAIRED, IS_AWAY, KILLS, CLOSES, STOPS, CUTS_POWER, ANSWERS };
/* What ends a launch, or a repair, that is under way. */
enum meddling { NOTHING, QUIT, STOP, KILL, POWER_CUT, DEBUGGED, MEDDLINGS };

/* The surroundings of one start. */
struct start {
    uint32_t gap_s;     /* since the last end */
    int32_t jump_h;     /* of the wall clock */
    bool reboots, offline;
    uint8_t version;
    uint8_t disk;       /* enum disk */
    uint8_t onset;      /* bug that begins here, from 1; 0: none */
    uint8_t answer;     /* enum answer */
    uint8_t repair_ends; /* enum meddling, during a repair */
    bool repair_fails;
    uint8_t meddles, meddles_in; /* enum meddling, in this task */
    uint8_t ends;       /* enum meddling after the launch; NOTHING: a clean end */
    uint32_t uptime_s;  /* since the mark */
    uint8_t hint;       /* 1 + lg_hint_kind that came with an answer before it; 0: none */
    uint8_t hint_what, hint_days;
};

struct life {
    uint64_t seed;
    struct program program;
    unsigned bug_count;
    struct bug bugs[BUGS];
    unsigned start_count;
    struct start starts[STARTS_MOST];
};

struct life life_draw(uint64_t seed);

/* ---- live.c ---- */

enum broken {
    WHOLE, INNOCENT_HELD, NOT_CURED, NOT_REACHED, NEVER_TRIED, SAFE_TOO_EARLY, NOT_NORMAL_AGAIN, WRONG_ACCOUNT, WRONG_TOTAL, WRONG_VERSION, HELD_FOR_EVER, BLOCKED_FOR_EVER,
    HINT_AGAIN, HINT_NOT_FOLLOWED, HINT_LEFT,
    DESTRUCTIVE_FIRST, DESTRUCTIVE_UNEXPLAINED, DESTRUCTIVE_AGAIN, NEIGHBOUR_HELD, LAST_LOST, FIRST_LOST, BAD_LOST, OWED_LOST, TOO_MANY_FILES, BROKEN
};
extern const char *const broken_names[BROKEN];

/* Rows of docs/LAUNCH.md that can be seen from outside. */
#define ROW_TABLE(X)                                                                                                                             \
    X(A1_before_begin) X(A2_finished) X(A3_report) X(A3_decide) X(A3_give_up) X(A4_debugger) X(A5_repair_dies) X(A6_interrupted) X(A7_held_counted)  \
    X(A8_held_unexplained) X(A9_held_closed) X(A9_held_power) X(A10_halted_counted) X(A11_halted_other) X(A12_normal_counted) X(A13_normal_unexplained)  \
    X(A14_probation_counted) X(A15_probation_unexplained) X(A16_trial_counted) X(A17_trial_unexplained) X(A18_safe_counted) X(A19_safe_unexplained)   \
    X(A20_quit) X(A20_three_quits) X(A22_unsteady) X(A23_steady) X(A24_early) X(A25_stop) X(A25_third_stop) X(upgrade_anew) X(version_known)          \
    X(B5_report) X(B6_halted) X(B7_safe) X(B8_trial) X(B9_normal) X(B9_probation) X(B10_go_safe) X(B11_held) X(H1_attempt) X(H2_repaired)             \
    X(H2_restart) X(H3_failed) X(H4_refused) X(H5_not_now) X(H6_not_now_again) X(H7_deadline) X(H8_try_safe) X(H8_deadline) X(H10_says_repaired) X(rung_0) X(throttled)     \
    X(V1_left_out) X(V1_spared) X(V2_repair) X(V2_needed) X(V3_goes_safe) X(V3_stays_safe) X(V3_over) X(V4_held) X(V5_left) X(V5_failed)                       \
    X(F1_safe) X(F1_to_trial) X(F2_trial) X(F3_probation) X(F4_normal)
#define ROW_ENUM(row) row,
enum row { ROW_TABLE(ROW_ENUM) ROWS };
extern const char *const row_names[ROWS];

#define LONGEST 64
/* Figures over many lives. */
struct figures {
    uint64_t lives, device_s, starts, ends, repairs, cured, held;
    uint64_t rows[ROWS];
    uint64_t until_cured[LONGEST]; /* starts, from the first at which repairs run */
    unsigned most_files, most_blocked, most_reach, most_waiting, most_normal;
};

/* Live it. `figures` and `trace` may be NULL; the trace is words of `launchguard simulate`. */
struct trace {
    char *text;
    size_t size, room;
};
enum broken live(const struct life *life, struct figures *figures, struct trace *trace, unsigned *ret_start);
/* The options of the command line for this life's program. */
void trace_program(const struct life *life, struct trace *trace);

/* ---- shrink.c ---- */

/* The shortest life found that breaks the same invariant. */
void shrink(struct life *life, enum broken broken);

#endif
