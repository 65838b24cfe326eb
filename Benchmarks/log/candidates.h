/* The ways to log that are measured. */
#ifndef CANDIDATES_H
#define CANDIDATES_H

#include "../common.h"

enum candidate {
    NOTHING,
    ADDITIONS,
    FLOOR_CLOCK,
    FLOOR_COUNTER,
    LG_TEXT,
    LG_TEXT_STATIC,
    WRITE_TEXT,
    SPDLOG_BACKTRACE,
    SPDLOG_ASYNC,
    GLOG_TEXT,
    LTTNG_TEXT,
    TEXTS, /* before: 40 bytes of text; from here on: four arguments */
    FLOOR_FORMAT = TEXTS,
    LG_FORMAT,
    LG_FORMAT_STATIC,
    WRITE_FORMAT,
    SPDLOG_BACKTRACE_FORMAT,
    SPDLOG_ASYNC_FORMAT,
    GLOG_FORMAT,
    LTTNG_FORMAT,
    CANDIDATES
};

/* Call it once: `self` gives the place of the programs, `directory` is for their files. */
void candidates_open(const char *self, const char *directory);

const char *candidate_name(enum candidate candidate);
bool candidate_formats(enum candidate candidate);

/* The reason why a candidate cannot be measured; NULL when it can. */
const char *candidate_missing(enum candidate candidate);
void candidate_give_up(enum candidate candidate, const char *reason);

/* An empty directory for the next run of a candidate. The directory of the last run is removed. */
const char *candidate_directory(void);

/* The program and mode of a candidate. */
const char *candidate_program(enum candidate candidate);
const char *candidate_mode(enum candidate candidate);

/* Append KILLED_AFTER numbered entries in some mode, report the end, be killed. Returns the number
 * of entries that can be read afterwards; −1 without a report. `kill` makes the entries different
 * from those of other kills. */
int candidate_kept(enum candidate candidate, const char *mode, unsigned kill);

/* Instructions of one call, as callgrind counts them, without background threads; 0: unknown. */
double candidate_instructions(enum candidate candidate);

#endif
