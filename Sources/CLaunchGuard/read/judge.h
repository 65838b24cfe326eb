/* The end of a run as a table: docs/ENDS.md. Pure: it asks for facts and knows no file, so a test
 * goes through every combination of them. */
#ifndef LG_READ_JUDGE_H
#define LG_READ_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/end.h"

/* The facts about a run, in the order in which a row asks for them: expensive ones last. FORMAT.md,
 * section 11, says when each holds. */
#define LG__FACT_TABLE(X) \
    X(EXECUTED) X(ALIVE) X(CRASHED) X(DUMPED) X(SURVIVED) X(NOTED) \
    X(SEEN_RECORD) X(SEEN_EXIT_0) X(SEEN_EXIT_N) X(SEEN_REQUEST) X(SEEN_DEADLY) X(SEEN_KILL) \
    X(STOPPED) X(EXIT_0) X(EXIT_N) X(ASKED) X(LIVED_ON) X(WILL_END) X(WILL_RESTART) \
    X(HUNG) X(CPU_NEAR) X(FORKED) X(MEMORY_NEAR) X(TRACED) X(JOB_NEAR) X(REBOOTED) \
    X(OOM_LARGEST) X(OOM_GROUP) X(OOM_NAMED)

enum lg__fact {
#define LG__FACT_ENUM(name) LG__FACT_##name,
    LG__FACT_TABLE(LG__FACT_ENUM)
#undef LG__FACT_ENUM
    LG__FACTS
};

/* The signal or the status that goes with an end. */
enum lg__judge_with {
    LG__WITH_NOTHING,
    LG__WITH_RECORD,  /* those of the record; for a crash also code and kind */
    LG__WITH_STATUS,  /* of the witness */
    LG__WITH_EXIT,    /* the status that the program gave to exit() */
    LG__WITH_REQUEST, /* the signal that asked the program to end */
    LG__WITH_KILL     /* SIGKILL */
};

/* The time of the end; the last six are those of the evidence, where no witness saw the end. */
enum lg__judge_at {
    LG__AT_NOTHING,
    LG__AT_END,     /* of the mark of the end */
    LG__AT_RECORD,
    LG__AT_NOTE,
    LG__AT_REQUEST, /* of the signal that asked, where it is the one that goes with the end */
    LG__AT_ALIVE,   /* when the process was last seen alive after that signal */
    LG__AT_ANNOUNCEMENT,
    LG__AT_HANG,
    LG__AT_CPU,
    LG__AT_MEMORY,
    LG__AT_JOB,
    LG__AT_FORK
};

struct lg__judge_row {
    uint32_t all, none; /* facts as bits: those that must hold, those that must not */
    uint8_t end, evidence, with, at;
    bool stays; /* also where the process executed its program again, and lives */
};

/* The first row that applies. `replaced`: the process executed its program again, and lives. */
const struct lg__judge_row *lg__judge(bool (*holds)(void *of, enum lg__fact fact), void *of, bool replaced);

#endif
