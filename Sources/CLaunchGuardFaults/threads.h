/* The thread that dies, and those beside it. */
#ifndef LAUNCHGUARD_FAULTS_THREADS_H
#define LAUNCHGUARD_FAULTS_THREADS_H

#include <stdbool.h>

struct lgf_entry;

bool lgf_has_thread_kind(const char *name);
/* At the begin of a thread that pthread_create() made: where the library does not stand in for that, the thread registers itself. */
void lgf_thread_begins(void);
void lgf_start_idle_threads(unsigned count);
/* Run the entry as the options say; returns when every thread came back from it. */
void lgf_run(const struct lgf_entry *entry);

/* ---- phases.c ---- */

/* What --phase can be; NULL ends it. */
extern const char *const lgf_phases[];
/* Begin a launch and run the entry at that place of it. */
void lgf_run_at(const struct lgf_entry *entry, const char *phase);

#endif
