/* The ring log: appending entries. Many writers, no lock, no allocation, no system call but the first on a thread. */
#ifndef LG_STORE_RING_H
#define LG_STORE_RING_H

#include <stdint.h>
#include <stddef.h>

#include "store/format.h"

/* The writer's own view. Sizes and addresses are kept here and never read back from the file, which may be damaged. */
struct lg__ring {
    struct lg__lane *lane;
    uint8_t *cells;
    uint64_t cell_count; /* a power of two */
};

/* Cells for a ring log of about `bytes`: the power of two not below. */
uint32_t lg__ring_cells(uint32_t bytes);

/* Bytes of the section of a ring log with so many cells. */
size_t lg__ring_size(uint32_t cells);

/* Lay out a ring log in zeroed memory. */
void lg__ring_init(struct lg__ring *ring, void *section, uint32_t cells);

/* Append one entry; `size` is cut to LG_LOG_TEXT_MAX. Handler. */
void lg__ring_write(const struct lg__ring *ring, unsigned level, const char *text, size_t size);

#endif
