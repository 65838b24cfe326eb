/** LaunchGuard: a program on Linux must not die silently and must not get stuck in a crash loop.
 *
 *  The whole C interface, one header a concern:
 *
 *    status.h    every result a call can give, with its name and message
 *    session.h   start and stop: map the files, classify the last run, install the handlers
 *    log.h       breadcrumbs that survive any death of the process
 *    annotate.h  named values that say what the program is about
 *    watch.h     hangs, jobs with a deadline, memory that runs short
 *    launch.h    launch protection: streaks, report, safe mode
 *    completion.h  the answer that a callback owes
 *    repair.h    repairs: the rungs of the ladder
 *    undo.h      copies of the files that repairs change
 *    task.h      custody of launch tasks
 *    query.h     launches and runs of any program, from its files
 *    delivery.h  reports leave the machine: agent, consent, waiting, acknowledgement
 *    guard.h     chosen faults are neutralised and reported
 *    guard_memory.h  mapped files that may be cut short, reads that may fault
 *    guard_plugin.h  tables of functions with gaps, calls through NULL
 *    guard_checked.h  arrays, arithmetic and strings that look before they act
 *    guard_handles.h  handles that know that their object is gone
 *    guard_observers.h  observers with owners
 *    guard_confine.h  calls that belong to one thread
 *    simulate.h  walk a launch through every state without a crash
 *    end.h       ends of runs, their evidence, and kinds of crashes
 *    reader.h    reads run files and ledgers, of any age, also of living processes
 *    record.h    reads the crash record of a run file
 *    ledger.h    reads the ledger
 *    report.h    writes what a file holds as JSON
 */
#ifndef LAUNCHGUARD_LAUNCHGUARD_H
#define LAUNCHGUARD_LAUNCHGUARD_H

#include <launchguard/base.h>
#include <launchguard/status.h>
#include <launchguard/session.h>
#include <launchguard/log.h>
#include <launchguard/annotate.h>
#include <launchguard/watch.h>
#include <launchguard/launch.h>
#include <launchguard/completion.h>
#include <launchguard/repair.h>
#include <launchguard/undo.h>
#include <launchguard/task.h>
#include <launchguard/query.h>
#include <launchguard/delivery.h>
#include <launchguard/guard.h>
#include <launchguard/guard_memory.h>
#include <launchguard/guard_plugin.h>
#include <launchguard/guard_checked.h>
#include <launchguard/guard_handles.h>
#include <launchguard/guard_observers.h>
#include <launchguard/guard_confine.h>
#include <launchguard/simulate.h>
#include <launchguard/end.h>
#include <launchguard/reader.h>
#include <launchguard/report.h>
#include <launchguard/record.h>
#include <launchguard/ledger.h>

#endif
