/* The reason of a failure, for a person: a status with the path and the system's reason. */
#ifndef LG_STORE_PROBLEM_H
#define LG_STORE_PROBLEM_H

#include "launchguard/status.h"

struct lg__problem {
    lg_status status;
    int error; /* errno, 0 when the system has no part in it */
    char message[1024];
};

/* Note a problem and return its status. `path` and `error` may be NULL and 0; the first problem
 * noted stays. */
lg_status lg__problem_set(struct lg__problem *problem, lg_status status, const char *path, int error);

/* The same with words of its own in place of the status' message. */
lg_status lg__problem_say(struct lg__problem *problem, lg_status status, const char *format, ...) LG_PRINTF(3, 4);

/* The status that fits an errno of a file operation best. */
lg_status lg__problem_from_errno(int error);

#endif
