/* The agent of one state directory: witness of its runs, uploader of its spool. One thread, one
 * loop. */
#ifndef AGENT_H
#define AGENT_H

#include <stdbool.h>

struct agent_options {
    const char *state_directory; /* absolute path */
    bool once;                   /* send what is due, then exit */
    bool verbose;                /* the log also goes to standard error */
    const char *via;             /* "agent" or "tool" */
    char **argv;                 /* of main() */
};

/* Exit statuses. */
enum {
    AGENT_DONE = 0, AGENT_USAGE = 2, AGENT_NO_SPOOL = 3, AGENT_NO_CONFIG = 4, AGENT_FAILED = 5, AGENT_LEFT = 6, AGENT_NO_RUN = 7,
    AGENT_NO_OWNER = 8, AGENT_NO_PLACE = 9
};

int agent_run(const struct agent_options *options);

#endif
