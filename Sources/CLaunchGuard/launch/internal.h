/* Shared by prepare.c and launch.c: what a launch is. */
#ifndef LG_LAUNCH_INTERNAL_H
#define LG_LAUNCH_INTERNAL_H

#include "launch/launch.h"

struct lg__rung {
    char name[LG__NAME_BYTES];
    uint32_t impact, timeout_ms, attempts;
    lg_repair_callback run;
    void *user;
};

struct lg__task {
    char key[LG__NAME_BYTES];
    lg_task_callback run;
    void *user;
};

enum lg__step { PREPARED, BEGUN, HELD_OVER, FINISHED };

struct lg_launch {
    struct lg__host *host;
    bool counts; /* protected by the ledger; else only the tasks run */
    char name[LG__NAME_BYTES];
    lg_launch_options options;
    struct lg__thresholds thresholds;
    struct lg__rung rungs[LG_REPAIRS_MAX];
    struct lg__task tasks[LG_TASKS_MAX];
    uint32_t rung_count, task_count;
    uint32_t attempts[LG_REPAIRS_MAX];
    pthread_mutex_t lock; /* of the fields above until begin, of `step` and of the order of on_status calls */
    enum lg__step step;
    _Atomic uint32_t status;
    _Atomic uint32_t streak;
    struct lg__state_context *state; /* in the run file, or in memory */
    struct lg__state_context unprotected_state;
    _Atomic uint32_t over; /* futex: 1 when finished, so that nobody waits for the window any more */
};


#endif
