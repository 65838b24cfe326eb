/* The device: the one place where Years calls the real machine. A device is a ledger of one
 * context, two clocks and a version of the program. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/ended.h"

#define TASKS 3
#define REPAIRS 3
#define SECOND_NS UINT64_C(1000000000)
#define STEADY_S 60u

struct repair {
    uint32_t attempts;
    bool destructive, consent, restart;
};

/* The program of a device. */
struct program {
    uint32_t report_after, repair_after, unknown_after, safe_retry_runs, safe_crash_limit, deescalate_runs;
    bool by_hand, supervised, leaves_out, asks;
    uint32_t repair_count;
    struct repair repairs[REPAIRS]; /* rung i + 1 of the ladder */
    uint32_t tasks[TASKS];          /* LG_TASK_* */
};

struct device {
    struct lg__ledger_payload ledger;
    struct lg__moment now;
    uint32_t version;
    uint64_t runs;
    bool has_run;           /* there is a last run, which is to be accounted */
    struct lg__last_end last;
};

extern const char *const device_tasks[TASKS];

void device_new(struct device *device);
static inline struct lg__ledger_context *device_context(struct device *device)
{
    return &device->ledger.contexts[0];
}

/* The program starts: the last run is accounted. Returns that account; *ret_anew: the counters were
 * reset, since this version is new. */
enum lg__account device_start(struct device *device, uint32_t version, bool *ret_anew);
/* It begins its launch. */
void device_begin(struct device *device, const struct program *program);
/* The run ends. `lived_s`: from the mark to the end; UINT32_MAX: unknown. */
void device_end(struct device *device, lg_end end, const char *task, uint32_t lived_s);

/* The launch waits for an answer; else it goes on by itself. */
bool device_waits(struct device *device, const struct program *program, bool consented);
/* This task is left out: by the built-in rung, or in safe mode. */
bool device_leaves_out(struct device *device, const struct program *program, unsigned task);
/* The built-in rung has succeeded: the task with the most ends is left out. */
void device_leave_out_suspect(struct device *device, const struct program *program);

#endif
