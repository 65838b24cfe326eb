/* The results of bench-crash, for its tables and for the targets. */
#ifndef RESULTS_H
#define RESULTS_H

#include "peers.h"

/* One scene: all series in microseconds. */
struct result {
    int depth, threads;
    unsigned frames[PEERS];               /* of the program's calls, in the record */
    struct series total[PEERS];           /* from the fault to the wait of the parent */
    /* from the fault to the handler; this series and the next only for handlers with a clock */
    struct series entered[PEERS];
    struct series written[PEERS];         /* from there to its record */
    /* LaunchGuard with everything, and with stages 1 to 5: from entry to each commit */
    struct series stages[2][SCENE_STAMPS];
};

/* Compare with the targets. Nothing depends on the answer. */
void print_targets(struct result *results, size_t count);

#endif
