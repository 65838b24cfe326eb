#include "target/dump_fields.h"

#include <stdint.h>

#include "report/dump_file.h"

struct stretch {
    const unsigned char *bytes;
    size_t size;
};

static uint32_t number_at(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* So many bytes at a place; false: they are not there. */
static bool take(struct stretch dump, uint64_t offset, uint64_t size, struct stretch *ret)
{
    if (offset > dump.size || size > dump.size - offset)
        return false;
    *ret = (struct stretch){ dump.bytes + offset, (size_t)size };
    return true;
}

static bool text_at(struct stretch dump, uint32_t offset, const char **ret_text, size_t *ret_size)
{
    struct stretch part;
    if (!take(dump, offset, 4, &part) || !take(dump, (uint64_t)offset + 4, number_at(part.bytes), &part))
        return false;
    *ret_text = (const char *)part.bytes;
    *ret_size = part.size;
    return true;
}

/* The list: a number, and for each annotation the places of its key and its value. */
static bool list_of(struct stretch dump, struct stretch *ret_list)
{
    struct stretch part;
    if (!take(dump, 0, 32, &part))
        return false;
    const uint32_t count = number_at(part.bytes + 8), directory = number_at(part.bytes + 12);
    for (uint32_t i = 0; i < count && i < LG__DUMP_STREAMS_MAX && take(dump, directory + UINT64_C(12) * i, 12, &part); i++)
        /* version, two identities, the list, the modules */
        if (number_at(part.bytes) == LG__DUMP_CRASHPAD_INFO)
            return number_at(part.bytes + 4) >= 44 && take(dump, number_at(part.bytes + 8), 44, &part) &&
                   take(dump, number_at(part.bytes + 40), number_at(part.bytes + 36), ret_list) && ret_list->size >= 4;
    return false;
}

bool dump_fields_next(const char *bytes, size_t size, size_t *index, const char **ret_key, size_t *ret_key_bytes, const char **ret_value, size_t *ret_value_bytes)
{
    const struct stretch dump = { (const unsigned char *)bytes, size };
    struct stretch list, row;
    if (!list_of(dump, &list) || *index >= number_at(list.bytes) || !take(list, 4 + (uint64_t)*index * 8, 8, &row))
        return false;
    ++*index;
    return text_at(dump, number_at(row.bytes), ret_key, ret_key_bytes) && text_at(dump, number_at(row.bytes + 4), ret_value, ret_value_bytes);
}
