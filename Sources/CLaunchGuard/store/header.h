/* The header at offset 0 of both kinds of file. */
#ifndef LG_STORE_HEADER_H
#define LG_STORE_HEADER_H

#include "store/format.h"

/* Run files and ledgers have a version each. */
struct lg__version {
    uint16_t major, minor;
};

/* Write the header of a file of `total` bytes, as the last step of making it: with the header the
 * file is a file of its kind. */
void lg__header_write(struct lg__header *header, const char magic[8], struct lg__version version, const struct lg__section *sections,
                      uint32_t count, uint64_t total);

/* The value that its `crc` must have. */
uint32_t lg__header_crc(const struct lg__header *header);

#endif
