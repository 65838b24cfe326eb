/* The handlers that are measured, and the crash that each of them handles. */
#ifndef PEERS_H
#define PEERS_H

#include "common.h"
#include "scene.h"

enum peer {
    NO_HANDLER,
    LG_OFF, /* the cost of a session for a process that dies without the handler; static library */
    LG_OFF_SHARED,
    LG_FEW,
    LG_FEW_SHARED,
    LG_ALL,
    LG_ALL_SHARED,
    BACKTRACE_ONLY,
    BACKTRACE_COLD,
    BACKTRACE_WARM,
    LIBUNWIND,
    ABSEIL,
    GLOG,
    BOOST,
    SWIFT,
    PEERS,
    LG_ALL_STAMPS = PEERS, /* with the clock read inside: never for the total time */
    LG_FEW_STAMPS,
    PEER_RUNS
};

struct peer_end {
    int status;      /* as from wait */
    bool hung;       /* killed at its limit */
    double total_us; /* from the fault to the wait of the parent */
};

/* Call it once: `self` gives the place of the programs, `directory` is for the files of the
 * handlers. */
void peers_open(const char *self, const char *directory);

const char *peer_name(enum peer peer);

/* The reason why a handler cannot be measured; NULL when it can. */
const char *peer_missing(enum peer peer);

/* The largest number of rounds for a slow handler. */
int peer_rounds(enum peer peer, int rounds);

/* One crash: `what` is "fault", "smash", "jump", "frame" or "lock". */
struct peer_end peer_crash(enum peer peer, int depth, int threads, const char *what, unsigned limit_ms);

/* Results of the program in the last crash, and its standard error. */
extern struct scene_shared *peer_shared;
extern int peer_output;

#endif
