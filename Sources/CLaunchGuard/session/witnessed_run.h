/* The run of a process that another process supervises, found by its pid. */
#ifndef LG_SESSION_WITNESSED_RUN_H
#define LG_SESSION_WITNESSED_RUN_H

#include "launchguard/reader.h"
#include "store/run.h"

struct lg__witnessed_run {
    char name[LG__RUN_NAME_BYTES]; /* of the file in the folder */
    lg_run_info info;
};

/* Open the folder of the runs. The statuses are those of lg__foreign_file_status(), and
 * LG_ERR_LINK. */
lg_status lg__witnessed_run_folder(const char *state_directory, int *ret_runs);

/* The newest run of a process, of this boot, among the newest 1,024 files. A damaged or newer file
 * is reported only where it is the newest of all: it may be the one. lg__crc32c_init() was
 * called. */
lg_status lg__witnessed_run_find(int runs, const char *state_directory, int32_t pid, struct lg__witnessed_run *ret_found);

#endif
