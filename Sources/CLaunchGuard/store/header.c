#include "store/header.h"

#include "os/os.h"
#include "store/crc32c.h"

/* A header may grow; this much of a larger one is enough. */
#define HEADER_BYTES_MAX 4096u

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

lg_status lg__header_check(const struct lg__header *header, const char magic[8], uint16_t major)
{
    if (memcmp(header->magic, magic, sizeof header->magic) != 0 || header->byte_order != LG__BYTE_ORDER_MARK)
        return LG_ERR_DAMAGED;
    if (header->major > major || header->incompat_flags)
        return LG_ERR_NEWER;
    /* A header that grows has its checksum in the same place. */
    if (header->major == 0 || header->header_bytes < sizeof *header || header->header_bytes > HEADER_BYTES_MAX ||
        header->crc != lg__header_crc(header) || header->section_count > LG__SECTIONS_MAX)
        return LG_ERR_DAMAGED;
    return LG_OK;
}
