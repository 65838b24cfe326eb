/* The thread that dies, and those beside it. */
#ifndef LAUNCHGUARD_FAULTS_THREADS_H
#define LAUNCHGUARD_FAULTS_THREADS_H

#include <stdbool.h>

struct lgf_entry;

bool lgf_has_thread_kind(const char *name);
/* Call it at the begin of a thread that pthread_create() made. Where the library does not replace
 * pthread_create(), the thread registers itself. */
void lgf_thread_begins(void);
void lgf_start_idle_threads(unsigned count);
/* Run the entry according to the options; returns when every thread came back from it. */
void lgf_run(const struct lgf_entry *entry);

/* ---- phases.c ---- */

/* The values of --phase; NULL ends the list. */
extern const char *const lgf_phases[];
/* Begin a launch and run the entry in this phase of it. */
void lgf_run_at(const struct lgf_entry *entry, const char *phase);

#endif
