/* The device: the one place where Years calls the real machine. A device is a ledger, two clocks, a
 * version of the program and the files of its runs. The ledger has the context of the program, and
 * perhaps that of a neighbour: a part of the program with a launch of its own and no bugs. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/account.h"
#include "session/retention_choice.h"

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
    bool neighbour, neighbour_first; /* its launch comes before the program's; else after */
    struct lg__retention_limits limits;
    bool delivers; /* each run with a bad end is owed a report */
};

/* The last hint of the vendor. */
struct hint {
    lg_hint_kind kind;
    uint32_t serial;     /* 0: none has come */
    unsigned what;       /* task, repair or version; may be one that there is not */
    uint64_t expires_ns; /* of the wall clock */
    struct lg__hint stored; /* as the agent stores it; device_take_hint() */
};

/* What a start finds on the disk. */
enum disk { DISK_WELL, DISK_TIGHT, DISK_FULL, DISK_READ_ONLY }; /* tight: a run has to give way */
#define FILES 160
#define FILE_BYTES 100000u

struct device {
    struct lg__ledger_payload ledger;
    struct lg__moment now;
    uint32_t version;
    uint64_t runs;
    struct hint hint;
    bool has_run;           /* there is a last run, which is to be accounted */
    struct lg__last_run last;
    enum lg__account neighbour; /* as device_start() found it */
    enum disk disk;
    struct lg__ended_run files[FILES]; /* of ended runs */
    uint32_t file_count, beyond; /* beyond the limit when all runs were looked at last */
    struct lg__ended_run listed[LG__OLDEST]; /* that give way at the starts from `from` on */
    uint64_t from, until;
};

extern const char *const device_tasks[TASKS];

void device_new(struct device *device, const struct program *program);
static inline struct lg__ledger_context *device_neighbour(struct device *device)
{
    return &device->ledger.contexts[1];
}
static inline struct lg__ledger_context *device_context(struct device *device)
{
    return &device->ledger.contexts[0];
}

/* The program starts: the last run is accounted, and runs give way. Returns the account of the
 * program's launch; *ret_anew: the counters were reset, since this version is new. */
enum lg__account device_start(struct device *device, const struct program *program, uint32_t version, enum disk disk, bool *ret_anew);
/* device->hint has come: store it. */
void device_take_hint(struct device *device);
/* The hint that the launch that begins now is to find, by a second reading. WITHDRAWN: not in
 * force, of another version, or of a repair that there is not. */
lg_hint_kind device_hint(const struct device *device, const struct program *program);
/* The program begins its launch; the neighbour begins and finishes its own. Returns the mode of the
 * neighbour's launch; any other than normal: it was held, or safe. */
void device_begin(struct device *device, const struct program *program);
/* on_decide leaves it to the rule. */
void device_course(struct device *device, const struct program *program);
lg_launch_mode device_launch_neighbour(struct device *device);

/* An end. `lived_s`: from the mark of each finished launch; UINT32_MAX: unknown. `own`: a crash is
 * in a task or a module of the program's launch. */
struct end {
    lg_end end;
    const char *task;
    uint32_t lived_s;
    bool own;
};
/* The run ends. Returns what is left to see of that end: a full disk has no run file. */
struct end device_end(struct device *device, const struct program *program, struct end end);
/* An agent has made reports of the runs that are owed one. */
void device_report(struct device *device);
bool device_has_file(const struct device *device, uint64_t ordinal);

/* The launch waits for an answer; else it goes on by itself. */
bool device_waits(struct device *device, const struct program *program, bool consented);
/* This task is left out: by the built-in rung, in safe mode, or by a hint. */
bool device_leaves_out(struct device *device, const struct program *program, unsigned task);
/* The built-in rung has succeeded: the task with the most ends is left out. */
void device_leave_out_suspect(struct device *device, const struct program *program);

#endif
