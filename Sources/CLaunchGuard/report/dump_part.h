/* Bytes of a minidump that grow. Every number in them is little-endian. Without memory nothing is
 * added any more, and `failed` is true. */
#ifndef LG_REPORT_DUMP_PART_H
#define LG_REPORT_DUMP_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lg__dump_part {
    uint8_t *bytes; /* of malloc() */
    size_t size, room;
    bool failed;
};

void lg__dump_part_free(struct lg__dump_part *part);

void lg__dump_part_bytes(struct lg__dump_part *part, const void *bytes, size_t size);
void lg__dump_part_zeros(struct lg__dump_part *part, size_t count);
void lg__dump_part_u16(struct lg__dump_part *part, uint16_t number);
void lg__dump_part_u32(struct lg__dump_part *part, uint32_t number);
void lg__dump_part_u64(struct lg__dump_part *part, uint64_t number);

/* Bytes as UTF-8, and as UTF-16. Those that are no UTF-8 become U+FFFD. */
void lg__dump_part_utf8(struct lg__dump_part *part, const char *bytes, size_t size);
void lg__dump_part_utf16(struct lg__dump_part *part, const char *bytes, size_t size);

#endif
