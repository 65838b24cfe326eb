/* The handlers that are measured, and how one of them is shown a crash. */
#ifndef PEERS_H
#define PEERS_H

#include "common.h"
#include "scene.h"

enum peer {
    NO_HANDLER,
    LG_OFF, /* what a session costs a process that dies without it */
    LG_ALL,
    LG_FEW,
    BACKTRACE_ONLY,
    BACKTRACE_COLD,
    BACKTRACE_WARM,
    LIBUNWIND,
    ABSEIL,
    GLOG,
    BOOST,
    SWIFT,
    PEERS,
    LG_ALL_STAMPS = PEERS, /* with the clock read inside: never for the time of the whole */
    LG_FEW_STAMPS,
    PEER_RUNS
};

struct peer_end {
    int status;      /* as from wait */
    bool hung;       /* killed at its limit */
    double total_us; /* from the fault to the wait of the parent */
};

/* Once: `self` tells where the programs are, `directory` is for the files of the handlers. */
void peers_open(const char *self, const char *directory);

const char *peer_name(enum peer peer);

/* Why it cannot be measured; NULL when it can. */
const char *peer_missing(enum peer peer);

/* It is so slow that a few rounds have to do: how many at most. */
int peer_rounds(enum peer peer, int rounds);

/* One crash: `what` is "fault", "smash", "jump", "frame" or "lock". */
struct peer_end peer_crash(enum peer peer, int depth, int threads, const char *what, unsigned limit_ms);

/* Of the last crash: what the program told, and where its standard error went. */
extern struct scene_shared *peer_shared;
extern int peer_output;

#endif
