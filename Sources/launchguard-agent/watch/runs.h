/* The runs of a state directory: the living ones, whose end the agent waits for as a witness, and
 * the ended ones that nobody has dealt with. */
#ifndef AGENT_RUNS_H
#define AGENT_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/reader.h"
#include "store/run.h"

enum run_state {
    RUN_UNREADABLE, /* its header is not there yet, or it is damaged: it is looked at again */
    RUN_DAMAGED,    /* nobody makes it any more */
    RUN_ALIVE,
    RUN_OWED,       /* ended, and nobody has made a report of it, or found that it needs none */
    RUN_SETTLED
};

struct known_run {
    char name[LG__RUN_NAME_BYTES];
    uint64_t ordinal;
    uint8_t uuid[16];
    enum run_state state;
    /* CLOCK_MONOTONIC: it is unreadable, or its exit status is not known, since then; 0: neither */
    uint64_t since_ns;
    int pidfd;          /* −1: none */
    bool ended;         /* the descriptor became readable */
    int32_t pid;
    uint64_t start_ticks;
    bool seen;          /* by the scan that goes on */
};

struct runs {
    const char *state_directory; /* path; borrowed */
    int folder;                  /* descriptor */
    struct known_run *list;
    uint32_t count, room;
};

/* false: errno says why the folder cannot be opened. */
bool runs_open(int state_directory, const char *path, struct runs *ret_runs);

/* Find new runs and forget those whose file is gone. */
void runs_scan(struct runs *runs);

/* Look at the runs whose descriptor became readable, and at those that could not be read before.
 * Returns milliseconds until the next look; −1: none is needed. */
int runs_look(struct runs *runs);

uint32_t runs_alive(const struct runs *runs);

/* Open the file of a run. NULL: it cannot be read. */
lg_reader *runs_reader(const struct runs *runs, const char *name);

/* Store the outcome in the file of the run, which is settled then. `in`: of LG_REPORTED_COUNTED the
 * number of the run whose report counts it. */
void runs_settle(struct runs *runs, struct known_run *run, lg_reported reported, uint64_t in);

/* Store the outcome of a settled run, where it still has a file. */
void runs_note(const struct runs *runs, uint64_t ordinal, const uint8_t uuid[16], lg_reported reported);

#endif
