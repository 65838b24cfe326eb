/* Guarded types without their guards. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <string.h>

#include "launchguard/launchguard.h"

/* ---- arrays, arithmetic, strings ---- */

int lg_guard_claim_index(size_t index, size_t count)
{
    return 0;
}

int lg_guard_claim_signed(const char *type, const char *operation, int64_t left, int64_t right)
{
    return 0;
}

int lg_guard_claim_unsigned(const char *type, const char *operation, uint64_t left, uint64_t right)
{
    return 0;
}

int lg_guard_claim_null(void)
{
    return 0;
}

int lg_guard_claim_range(size_t offset, size_t length, size_t size)
{
    return 0;
}

uint32_t lg_guard_utf8_beyond_ascii(const char *bytes, size_t size, size_t *at)
{
    const unsigned char *text = (const unsigned char *)bytes + *at;
    const unsigned more = text[0] < 0xc0 ? 0 : text[0] < 0xe0 ? 1 : text[0] < 0xf0 ? 2 : 3;
    uint32_t code = more ? text[0] & (0x3fu >> more) : text[0];
    for (unsigned i = 1; i <= more; i++)
        code = code << 6 | (text[i] & 0x3f);
    *at += 1 + more;
    return code;
}

size_t lg_guard_copy(char *to, size_t room, const char *from)
{
    const size_t size = strlen(from);
    memcpy(to, from, size + 1);
    return size;
}
#endif
