/* The sections of a run file or ledger in memory, for tests that change one. */
#ifndef SECTIONS_H
#define SECTIONS_H

#include "harness.h"
#include "store/format.h"

/* Fails where there is none. */
static inline void *section_of(void *file, uint32_t kind)
{
    const struct lg__header *header = file;
    for (uint32_t i = 0; i < header->section_count; i++)
        if (header->sections[i].kind == kind)
            return (uint8_t *)file + header->sections[i].offset;
    fail_msg("no section %u", kind);
    return NULL;
}

#endif
