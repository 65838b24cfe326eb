/* The agent acts as the owner of what it serves. Root's agent in another user's directory would
 * read files for that user that only root may read, and leave files that only root may change. */
#ifndef AGENT_OWNER_H
#define AGENT_OWNER_H

#include <stdbool.h>

/* Become the owner of an open directory, for good: root gives up its groups and capabilities too.
 * false: this user is not the owner and cannot become it, and standard error says so. `path` is for
 * messages only. */
bool owner_become(int directory, const char *path);

/* Whether this user owns a directory. */
bool owner_is(int directory, const char *path);

#endif
