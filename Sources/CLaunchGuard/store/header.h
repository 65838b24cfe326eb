/* The header at offset 0 of both kinds of file. */
#ifndef LG_STORE_HEADER_H
#define LG_STORE_HEADER_H

#include "launchguard/status.h"
#include "store/format.h"

/* Run files and ledgers have separate versions. */
struct lg__version {
    uint16_t major, minor;
};

/* Write the header of a file of `total` bytes, as the last step of making it: with the header the
 * file is a file of its kind. */
void lg__header_write(struct lg__header *header, const char magic[8], struct lg__version version, const struct lg__section *sections,
                      uint32_t count, uint64_t total);

/* The value that its `crc` must have. */
uint32_t lg__header_crc(const struct lg__header *header);

/* Whether a header is that of a file with this magic, which a reader of `major` can read: LG_OK;
 * LG_ERR_NEWER: a larger major, or a flag that forbids it; LG_ERR_DAMAGED. */
lg_status lg__header_check(const struct lg__header *header, const char magic[8], uint16_t major);

#endif
