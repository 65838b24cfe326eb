/* What the sources call outside of their protocols, each as simple as it can be; a test defines its
 * own in place of any. */
#ifndef STAND_INS_H
#define STAND_INS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* In setup(): checksums find what they find in the product. Else they find nothing, so that the
 * orders alone keep the invariants. */
void stand_in_checksums(void);
uint64_t stand_in_crc(uint64_t crc, uint64_t bytes, unsigned count);

ssize_t stand_in_pread(int file, void *to, size_t size, off_t at);

/* The file that a reader reads: sections anywhere in memory. */
struct stand_in_section {
    uint32_t kind;
    const void *at;
    size_t size;
};
struct lg_reader;
void stand_in_reader(struct lg_reader *ret_reader, const struct stand_in_section *sections, uint32_t count);

#endif
