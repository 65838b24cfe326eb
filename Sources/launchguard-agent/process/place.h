/* The place of an agent: at most one works in a directory, and no program that looks for one is
 * left without. The locks are bytes of spool/agent; store/spool.h says why that is right. They end
 * with the process. */
#ifndef AGENT_PLACE_H
#define AGENT_PLACE_H

#include <stdbool.h>

enum place {
    PLACE_TAKEN,
    PLACE_SERVED, /* another agent works, or is about to */
    PLACE_KEPT,   /* another agent was to end, and has not */
    PLACE_FAILED  /* errno says why there is no lock */
};

/* Take the place in an open spool. `wait_ms`: to serve; an agent that takes nothing more, or is of
 * another version, is asked to end, and waited for so long. 0: to work once; each other agent keeps
 * its place. */
enum place place_take(int spool, unsigned wait_ms, int *ret_lock);

/* Whether a program that looks finds an agent that takes what comes. */
void place_serve(int lock, bool serves);

/* Whether another agent waits for the end of this one. It touches spool/agent when it begins to. */
bool place_is_wanted(int lock);

#endif
