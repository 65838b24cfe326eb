/* The full part while it is made. */
#ifndef AGENT_FULL_H
#define AGENT_FULL_H

#include "report/compose.h"
#include "report/json_words.h"

/* Of a loaded module, what a frame needs. */
struct area {
    uint64_t start, end, bias;
    json_t *path; /* of the module; borrowed */
};

struct full {
    lg_reader *reader;
    const struct facts *facts;
    lg_run_info run;
    json_t *report, *problems;
    const char *prefix;      /* of the parts that a problem names */
    bool is_complete;        /* a stage that was not committed was left out on purpose */
    struct area *areas;
    uint32_t area_count;
    uint32_t frames_left;    /* a damaged file names no more frames than these */
};

/* ---- full_values.c ---- */

/* Whether the part is there. One that cannot be read becomes a problem. */
bool full_has(struct full *full, lg_status status, const char *part);

/* A text without home directories, and a path without one at its start. */
json_t *full_text(const struct full *full, const char *bytes, size_t size);
json_t *full_path(const struct full *full, const char *path);
json_t *full_signal(int number);
/* Time of a moment on the run's monotonic clock. */
json_t *full_time(const struct full *full, uint64_t monotonic_ns);
/* Name of the kind of a crash. */
json_t *full_kind(lg_crash_kind kind);

/* ---- full_run.c ---- */

/* Reads the run, which others need, as well. */
void full_add_run(struct full *full);
/* Reads the areas, which frames need, as well. */
void full_add_modules(struct full *full);

/* ---- full_words.c ---- */

/* Returns the keys whose values must not leave the machine, as members of an object. */
json_t *full_add_annotations(struct full *full);
/* `redacted` NULL: no field's value may leave the machine. */
void full_add_breadcrumbs(struct full *full, const lg_log_info *info, const json_t *redacted);
void full_add_pulse(struct full *full);

/* ---- full_crash.c ---- */

void full_add_crashes(struct full *full);

/* ---- full_guards.c ---- */

/* `redacted`: keys whose values must not leave the machine; NULL: they are not known. */
void full_add_guards(struct full *full, const json_t *redacted);

/* ---- full_threads.c ---- */

/* How the threads of a crash, or of a snapshot, are read. */
struct thread_calls {
    lg_status (*thread)(const struct full *, uint32_t index, lg_thread_info *);
    lg_status (*cell)(const struct full *, uint32_t thread, uint32_t index, lg_register *);
    lg_status (*stack)(const struct full *, uint32_t thread, lg_stack_info *);
    lg_status (*frame)(const struct full *, uint32_t thread, uint32_t index, uint64_t *);
};

json_t *full_register(const lg_register *cell);
json_t *full_frame(struct full *full, uint64_t pc, bool exact);
/* A walk and the frames of it. */
json_t *full_stack(const lg_stack_info *info, json_t *frames);
void full_add_threads(struct full *full, json_t *crash);
void full_add_snapshots(struct full *full);

#endif
