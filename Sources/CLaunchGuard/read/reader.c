/* Reading blocks: no value in a file is trusted here. */
#include "read/reader.h"

#include <errno.h>
#include <unistd.h>

#include "os/fault_point.h"

bool lg__reader_bytes(const lg_reader *reader, uint64_t offset, void *to, size_t size)
{
    if (offset > reader->file_size || size > reader->file_size - offset)
        return false;
    size_t done = 0;
    while (done < size) {
        ssize_t count = pread(reader->file, (uint8_t *)to + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false; /* the file shrank meanwhile */
        done += (size_t)count;
    }
    return true;
}

bool lg__reader_section(const lg_reader *reader, uint32_t kind, struct lg__section *ret_section)
{
    for (uint32_t i = 0; i < reader->header.section_count; i++) {
        const struct lg__section *section = &reader->header.sections[i];
        if (section->kind != kind)
            continue;
        if (section->offset > reader->file_size || section->size > reader->file_size - section->offset)
            return false;
        *ret_section = *section;
        return true;
    }
    return false;
}

bool lg__reader_has_section(const lg_reader *reader, uint32_t kind)
{
    for (uint32_t i = 0; i < reader->header.section_count; i++)
        if (reader->header.sections[i].kind == kind)
            return true;
    return false;
}

bool lg__reader_block(const lg_reader *reader, uint32_t kind, uint64_t at, void *to, size_t size)
{
    struct lg__section section;
    if (!lg__reader_section(reader, kind, &section) || at > section.size || size > section.size - at)
        return false;
    return lg__reader_bytes(reader, section.offset + at, to, size);
}

bool lg__reader_stable(const lg_reader *reader, uint32_t kind, uint64_t at, void *to, size_t size)
{
    uint8_t again[LG__STABLE_BYTES];
    if (size > sizeof again || !lg__reader_block(reader, kind, at, to, size))
        return false;
    for (int tries = 0; tries < LG__READER_TRIES; tries++) {
        LG_FAULT_POINT("reader: copied");
        if (!lg__reader_block(reader, kind, at, again, size))
            return false;
        if (memcmp(to, again, size) == 0)
            break;
        memcpy(to, again, size);
    }
    return true;
}

bool lg__reader_places(const lg_reader *reader, uint32_t kind, void *ret_head, size_t head_size, size_t least, uint32_t most)
{
    struct lg__section section;
    struct {
        uint32_t count, bytes;
    } places;
    static_assert(offsetof(struct lg__threads, slot_bytes) == offsetof(struct lg__briefs, brief_bytes) &&
                      offsetof(struct lg__snapshots, slot_bytes) == sizeof places.count,
                  "each head begins with the two");
    if (!lg__reader_section(reader, kind, &section) || !lg__reader_stable(reader, kind, 0, ret_head, head_size))
        return false;
    memcpy(&places, ret_head, sizeof places);
    return places.count == 0 || (places.bytes >= least && places.count <= most && (section.size - head_size) / places.bytes >= places.count);
}

void lg__reader_text(char *to, size_t to_size, const char *from, size_t from_size)
{
    size_t size = strnlen(from, from_size);
    if (size >= to_size)
        size = to_size - 1;
    memcpy(to, from, size);
    to[size] = 0;
}

void lg__reader_hex(char *to, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = 0;
}
