/* Redacted values in bytes of memory, of which a part may be overwritten. */
#include <stdlib.h>
#include <string.h>

#include "report/secrets.h"

/* The bytes, and marks of those to be overwritten. */
struct looked_at {
    const uint8_t *bytes;
    size_t size;
    uint8_t *marks;
    /* bit of each two bytes that stand side by side: most of a long log is nowhere in the memory */
    uint8_t pairs[65536 / 8];
};

static unsigned pair_at(const uint8_t *bytes)
{
    return (unsigned)bytes[0] << 8 | bytes[1];
}

/* Mark the bytes that are also in the value. */
static void mark(struct looked_at *in, const char *value, size_t value_size)
{
    const size_t window = value_size < LG__SECRET_LONG ? value_size : LG__SECRET_LONG;
    for (size_t from = 0; from + window <= value_size; from++) {
        const uint8_t *part = (const uint8_t *)value + from;
        if (!(in->pairs[pair_at(part) / 8] >> pair_at(part) % 8 & 1))
            continue;
        for (size_t at = 0; at + window <= in->size; at++)
            if (memcmp(in->bytes + at, part, window) == 0)
                memset(in->marks + at, 1, window);
    }
}

bool lg__secrets_memory_blank(const struct lg__secrets *secrets, uint8_t *bytes, size_t size)
{
    if (!secrets->is_known)
        return false;
    if (!secrets->count)
        return true;
    struct looked_at *in = calloc(1, sizeof *in);
    uint8_t *marks = calloc(size + 1, 1);
    if (in && marks) {
        *in = (struct looked_at){ .bytes = bytes, .size = size, .marks = marks };
        for (size_t i = 0; i + 1 < size; i++)
            in->pairs[pair_at(bytes + i) / 8] |= (uint8_t)(1u << pair_at(bytes + i) % 8);
        for (uint32_t i = 0; i < secrets->count; i++)
            mark(in, secrets->values[i].bytes, secrets->values[i].size);
        for (size_t i = 0; i < size; i++)
            if (marks[i])
                bytes[i] = '*';
    }
    const bool done = in && marks;
    free(marks);
    free(in);
    return done;
}
