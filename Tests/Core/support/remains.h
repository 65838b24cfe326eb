/* The files that processes leave, read by the public reader; also while the processes live. */
#ifndef REMAINS_H
#define REMAINS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <launchguard/launchguard.h>

/* Open the newest run file, or the one with this ordinal. Asserts that the file opens. */
lg_reader *newest_run(void);
lg_reader *run_numbered(uint64_t ordinal);
/* Path of the newest run file, NULL if there is none. */
const char *newest_run_path(void);
unsigned count_runs(void);

lg_run_info newest_info(void);
lg_verdict newest_verdict(void);
/* The snapshot of the run; false: there is none, or it is not complete. */
bool newest_snapshot(lg_snapshot_kind kind, lg_snapshot_info *ret_snapshot);

/* The crash record, asserted to be whole up to this stage and no further. */
lg_crash_info crash_of(lg_reader *reader, unsigned last_stage);

lg_crash_info newest_crash(unsigned last_stage);

/* Whether a breadcrumb equals this text, or contains it. Not in several threads at once. */
bool log_has(lg_reader *reader, const char *text);
bool log_says(lg_reader *reader, const char *part);
/* The same for the newest run. */
bool said(const char *part);

/* The context of the ledger with this name. */
lg_launch_info ledger_context(const char *name);
lg_timeline_entry last_of_timeline(void);

#endif
