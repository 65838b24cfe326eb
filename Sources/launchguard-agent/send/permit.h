/* The permission of the user to make, move or send a report. Who withholds consent waits until no
 * permit is out, and then deletes: see store/spool.h. */
#ifndef AGENT_PERMIT_H
#define AGENT_PERMIT_H

#include <stdbool.h>
#include <stdint.h>

struct permit {
    int spool;
    unsigned out; /* how many are */
};

/* For a report of the run with this number, for moments or for a request. false: the user has
 * withheld it, or is about to; errno is EPERM or EWOULDBLOCK. */
bool permit_take(struct permit *permit, uint64_t ordinal);
void permit_return(struct permit *permit);

#endif
