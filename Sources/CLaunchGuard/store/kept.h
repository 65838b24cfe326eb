/* Layer 1: copies of the program's own files that a repair is about to change. They lie in
 * kept/CONTEXT of the state directory: docs/FORMAT.md, section 13. A file counts when its second
 * file, which describes it, is there. */
#ifndef LG_STORE_KEPT_H
#define LG_STORE_KEPT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "launchguard/status.h"

#define LG__KEPT_PATH_BYTES 4096
#define LG__KEPT_MAGIC "LG kept" /* and its NUL */

enum lg__kept_kind { LG__KEPT_FILE = 1, LG__KEPT_DIRECTORY = 2, LG__KEPT_ABSENT = 3 };

struct lg__kept {
    char magic[8];
    uint32_t crc;  /* CRC-32C of all bytes after it */
    uint32_t kind; /* enum lg__kept_kind */
    uint32_t mode, uid, gid;
    uint32_t reserved;
    uint64_t size;     /* bytes of the copy */
    uint64_t mtime_ns; /* of the original */
    uint64_t wall_ns;  /* when it was copied */
    char path[LG__KEPT_PATH_BYTES]; /* absolute, without links */
};
static_assert(offsetof(struct lg__kept, crc) == 8, "FORMAT.md, kept");
static_assert(offsetof(struct lg__kept, mode) == 16, "FORMAT.md, kept");
static_assert(offsetof(struct lg__kept, size) == 32, "FORMAT.md, kept");
static_assert(offsetof(struct lg__kept, path) == 56, "FORMAT.md, kept");
static_assert(sizeof(struct lg__kept) == 4152, "FORMAT.md, kept");

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
/* Delete those that are not wanted. */
void lg__kept_purge(const char *state_directory);

#endif
