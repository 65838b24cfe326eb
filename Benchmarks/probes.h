/* The builds of the probe, and directories with a history. */
#ifndef PROBES_H
#define PROBES_H

#include "common.h"
#include "probe.h"

enum build { PLAIN, SHARED, STATIC, BUILDS };

/* Call it once: `self` gives the place of the programs. */
void probes_open(const char *self);

/* One life of a probe; see probe.c. `directory` is "-" without a session. The benchmark ends when
 * the probe fails. */
struct probe_figures probe_run(enum build build, const char *what, const char *directory, const char *keep);

/* The same, with what is seen from outside; `ret` NULL: nothing is measured inside. */
struct child probe_live(enum build build, const char *what, const char *directory, const char *keep, struct probe_figures *ret);

/* Instructions of a function in such a life; 0: unknown. `scratch` is a directory for a file. */
double probe_instructions(enum build build, const char *function, const char *directory, const char *keep, const char *scratch);

/* Make `directory`, let some sessions of `build` end there, and copy the file of the last one until
 * there are `count` ended runs. The `full` oldest ones, with which later starts deal, have a file
 * each. All others share one: where thousands of files were written or deleted a moment ago, the
 * file system takes several times as long to make one. */
void history_make(enum build build, const char *directory, unsigned count, unsigned full);

/* Size of the newest ended run there, in KiB on disk. */
double history_newest_kib(const char *directory);

#endif
