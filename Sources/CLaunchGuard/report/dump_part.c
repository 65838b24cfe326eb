#include "report/dump_part.h"

#include <stdlib.h>
#include <string.h>

#include "report/json.h"

#define ROOM_LEAST 256u
#define REPLACEMENT 0xFFFDu

void lg__dump_part_free(struct lg__dump_part *part)
{
    free(part->bytes);
    *part = (struct lg__dump_part){ .bytes = NULL };
}

static bool has_room(struct lg__dump_part *part, size_t more)
{
    if (part->failed || more <= part->room - part->size)
        return !part->failed;
    size_t room = part->room < ROOM_LEAST ? ROOM_LEAST : part->room;
    while (room - part->size < more && room < SIZE_MAX / 2)
        room *= 2;
    uint8_t *bytes = room - part->size < more ? NULL : realloc(part->bytes, room);
    part->failed = !bytes;
    if (bytes) {
        part->bytes = bytes;
        part->room = room;
    }
    return bytes;
}

void lg__dump_part_bytes(struct lg__dump_part *part, const void *bytes, size_t size)
{
    if (size && has_room(part, size)) {
        memcpy(part->bytes + part->size, bytes, size);
        part->size += size;
    }
}

void lg__dump_part_zeros(struct lg__dump_part *part, size_t count)
{
    if (count && has_room(part, count)) {
        memset(part->bytes + part->size, 0, count);
        part->size += count;
    }
}

static void number(struct lg__dump_part *part, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    lg__dump_part_bytes(part, bytes, size);
}

void lg__dump_part_u16(struct lg__dump_part *part, uint16_t value)
{
    number(part, value, sizeof value);
}

void lg__dump_part_u32(struct lg__dump_part *part, uint32_t value)
{
    number(part, value, sizeof value);
}

void lg__dump_part_u64(struct lg__dump_part *part, uint64_t value)
{
    number(part, value, sizeof value);
}

/* ---- texts ---- */

void lg__dump_part_utf8(struct lg__dump_part *part, const char *bytes, size_t size)
{
    for (size_t i = 0, bad; i < size;) {
        const size_t length = lg__json_character((const unsigned char *)bytes + i, size - i, &bad);
        lg__dump_part_bytes(part, length ? bytes + i : "\xEF\xBF\xBD", length ? length : 3);
        i += length ? length : bad;
    }
}

static uint32_t decoded(const unsigned char *bytes, size_t length)
{
    uint32_t scalar = length == 1 ? bytes[0] : bytes[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++)
        scalar = scalar << 6 | (bytes[i] & 0x3Fu);
    return scalar;
}

void lg__dump_part_utf16(struct lg__dump_part *part, const char *bytes, size_t size)
{
    for (size_t i = 0, bad; i < size;) {
        const unsigned char *at = (const unsigned char *)bytes + i;
        const size_t length = lg__json_character(at, size - i, &bad);
        const uint32_t scalar = length ? decoded(at, length) : REPLACEMENT;
        if (scalar >= 0x10000)
            lg__dump_part_u16(part, (uint16_t)(0xD800 + ((scalar - 0x10000) >> 10)));
        lg__dump_part_u16(part, (uint16_t)(scalar >= 0x10000 ? 0xDC00 + ((scalar - 0x10000) & 0x3FF) : scalar));
        i += length ? length : bad;
    }
}
