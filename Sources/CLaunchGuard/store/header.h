/* The header at offset 0 of both kinds of file. */
#ifndef LG_STORE_HEADER_H
#define LG_STORE_HEADER_H

#include "store/format.h"

/* Write the header of a file of `total` bytes. Comes last when a file is made: with it the file is what its magic says. */
void lg__header_write(struct lg__header *header, const char magic[8], const struct lg__section *sections, uint32_t count, uint64_t total);

/* What its `crc` has to be. */
uint32_t lg__header_crc(const struct lg__header *header);

#endif
