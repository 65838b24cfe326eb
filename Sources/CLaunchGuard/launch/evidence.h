/* Layer 4: the evidence of an ended run. evidence_read.c reads with read/, evidence.c is pure;
 * nothing is written. */
#ifndef LG_LAUNCH_EVIDENCE_H
#define LG_LAUNCH_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/reader.h"
#include "store/format.h"

/* The last run of a ledger, as far as the machine needs it. */
struct lg__last_run {
    /* the run file was read; else only verdict.end and verdict.evidence are valid, and all the rest
     * is zero */
    bool readable;
    lg_run_info info;
    lg_verdict verdict;
    bool is_degraded;       /* guards survived faults in it */
    bool has_tid;           /* the end came on one thread, and it is known which */
    int32_t tid;
    uint32_t context_count;
    uint32_t attributed;    /* bit i: the crash was in a module or a task of contexts[i] */
    lg_run_context contexts[LG__CONTEXTS];
};

/* Read the last run of a ledger. `path` is its file, `crash_marked` whether the ledger's own mark
 * says that it crashed. With `replaced` the process lives, and has executed another program over
 * itself since. */
void lg__evidence_read(const char *path, bool crash_marked, bool replaced, struct lg__last_run *ret_last);

/* No repair of the program helps there. A program that executed itself again did not exit with a
 * status. The kernel may have ended another process of the group, and then the whole group went. Or
 * the parent left the launch to a forked child. */
bool lg__evidence_is_no_fault(uint32_t evidence);

/* clean_end.c: the same from the ledger, if the run noted its clean end there. false: the run did
 * not; lg__evidence_read() says more. */
bool lg__clean_end_read(const struct lg__hot *hot, const struct lg__ledger_payload *payload, struct lg__last_run *ret_last);

/* These contexts of the ledger, a bit each, had finished in that run. */
void lg__evidence_finished(struct lg__last_run *last, const struct lg__ledger_payload *payload, uint32_t contexts);

/* The context of that name in the run; NULL if it has none. */
const lg_run_context *lg__evidence_context(const struct lg__last_run *last, const char *name);

/* Key of the task of a context that the end came in; NULL: in none that is known. */
const char *lg__evidence_task(const struct lg__last_run *last, const lg_run_context *context);

/* attribution.c: bit i: the crash of a run, which is selected in `reader`, was in a module or a
 * task of contexts[i], which was launching. 0: of no particular context. */
uint32_t lg__attribution_of(lg_reader *reader, const lg_crash_info *crash, const lg_run_context *contexts, uint32_t count);

#endif
