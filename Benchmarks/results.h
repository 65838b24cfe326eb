/* What bench-crash measured, for its tables and for the targets. */
#ifndef RESULTS_H
#define RESULTS_H

#include "peers.h"

/* One scene: all series in microseconds. */
struct result {
    int depth, threads;
    unsigned frames[PEERS];               /* of the program's calls, in the record */
    struct series total[PEERS];           /* from the fault to the wait of the parent */
    struct series entered[PEERS];         /* from the fault to the handler; this and the next only of those that have a clock */
    struct series written[PEERS];         /* from there to its record */
    struct series stages[2][SCENE_STAMPS]; /* LaunchGuard with everything, and with stages 1 to 5: from entry to each commit */
};

/* Compare with what was aimed at. Nothing depends on the answer. */
void print_targets(struct result *results, size_t count);

#endif
