/* The ways to log that are measured. */
#ifndef CANDIDATES_H
#define CANDIDATES_H

#include "../common.h"

enum candidate {
    NOTHING,
    FLOOR_CLOCK,
    FLOOR_COUNTER,
    LG_TEXT,
    WRITE_TEXT,
    SPDLOG_BACKTRACE,
    SPDLOG_ASYNC,
    GLOG_TEXT,
    LTTNG_TEXT,
    TEXTS, /* before: 40 bytes of text; from here on: four arguments */
    FLOOR_FORMAT = TEXTS,
    LG_FORMAT,
    WRITE_FORMAT,
    SPDLOG_BACKTRACE_FORMAT,
    SPDLOG_ASYNC_FORMAT,
    GLOG_FORMAT,
    LTTNG_FORMAT,
    CANDIDATES
};

/* Once: `self` tells where the programs are, `directory` is for what they write. */
void candidates_open(const char *self, const char *directory);

const char *candidate_name(enum candidate candidate);
bool candidate_formats(enum candidate candidate);

/* Why it cannot be measured; NULL when it can. */
const char *candidate_missing(enum candidate candidate);
void candidate_give_up(enum candidate candidate, const char *reason);

/* An empty directory for its next run; the last one's is gone. */
const char *candidate_directory(void);

/* Its program and mode. */
const char *candidate_program(enum candidate candidate);
const char *candidate_mode(enum candidate candidate);

/* Append KILLED_AFTER numbered entries in some mode, say so, be killed: how many can be read from what it left. -1: it never said so.
 * `kill` makes them different from those of other kills. */
int candidate_kept(enum candidate candidate, const char *mode, unsigned kill);

/* Instructions of one call, as callgrind counts them, background threads left out; 0: not known. */
double candidate_instructions(enum candidate candidate);

#endif
