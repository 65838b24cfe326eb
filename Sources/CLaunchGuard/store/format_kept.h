/* Layer 1: the description of a copy that is kept. */
#ifndef LG_STORE_FORMAT_KEPT_H
#define LG_STORE_FORMAT_KEPT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "launchguard/undo.h"

#define LG__KEPT_PATH_BYTES 4096
#define LG__KEPT_MAGIC "LG kept" /* and its NUL */

struct lg__kept {
    char magic[8];
    uint32_t crc;  /* CRC-32C of all bytes after it */
    uint32_t kind; /* lg_kept_kind */
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

#endif
