#include "store/header.h"

#include "os/os.h"
#include "store/crc32c.h"

void lg__header_write(struct lg__header *header, const char magic[8], struct lg__version version, const struct lg__section *sections,
                      uint32_t count, uint64_t total)
{
    memcpy(header->magic, magic, sizeof header->magic);
    header->byte_order = LG__BYTE_ORDER_MARK;
    header->major = version.major;
    header->minor = version.minor;
    header->header_bytes = sizeof *header;
    header->section_count = count;
    header->total_bytes = total;
    memcpy(header->sections, sections, count * sizeof *sections);
    header->crc = lg__header_crc(header);
}

uint32_t lg__header_crc(const struct lg__header *header)
{
    return lg__crc32c(0, header, offsetof(struct lg__header, crc));
}
