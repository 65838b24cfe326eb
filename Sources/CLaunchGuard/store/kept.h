/* Layer 1: copies of the program's own files that a repair is about to change. They lie in
 * kept/CONTEXT of the state directory: docs/FORMAT.md, section 16. A file counts when its second
 * file, which describes it, is there. */
#ifndef LG_STORE_KEPT_H
#define LG_STORE_KEPT_H

#include <stdbool.h>

#include "launchguard/status.h"
#include "store/format_kept.h"

/* Most files and directories of a context, and how deep a directory is copied. */
#define LG__KEPT_MOST 4096u
#define LG__KEPT_DEPTH 32u
/* At most this part of the space that is free. */
#define LG__KEPT_SHARE 4u

/* Copy a file, or all files of a directory; a path with nothing there is remembered as absent. What
 * was copied before stays as it was then. LG_OK; LG_ERR_LIMIT: more than `most_bytes` in all, or
 * another limit above, and nothing was copied; LG_ERR_SYSTEM. */
lg_status lg__kept_add(const char *state_directory, const char *context, const char *path, uint64_t most_bytes);

/* Visit the copies, in no particular order. LG_ERR_NOT_FOUND: there are none. */
lg_status lg__kept_visit(const char *state_directory, const char *context, void (*visit)(const struct lg__kept *kept, void *user), void *user);

/* Put all of them back. The copies stay. LG_ERR_NOT_FOUND: there are none; LG_ERR_OWNER: they are
 * another user's; LG_ERR_SYSTEM: some are not back. */
lg_status lg__kept_put_back(const char *state_directory, const char *context, uint32_t *ret_count);

/* They are not wanted any more. Takes no lock and allocates nothing. */
void lg__kept_over(const char *state_directory, const char *context);
/* Delete those that are not wanted. false: no repair has ever kept a copy there. */
bool lg__kept_purge(const char *state_directory);

#endif
