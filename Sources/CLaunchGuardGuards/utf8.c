/* Guarded texts: decoding of UTF-8, and copies that end with a whole character. */
#include "launchguard/guard_checked.h"

#include <string.h>

#include "guards.h"

#define REPLACEMENT UINT32_C(0xfffd)

/* Bytes of a character by its first byte, and the range of its second byte: the well-formed
 * sequences of the Unicode Standard. `bytes` 0: no character begins so. */
struct form {
    uint8_t bytes, low, high;
};

static struct form form_of(uint8_t first)
{
    if (first < 0xc2 || first > 0xf4)
        return (struct form){ 0, 0, 0 };
    if (first < 0xe0)
        return (struct form){ 2, 0x80, 0xbf };
    if (first < 0xf0)
        return (struct form){ 3, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf };
    return (struct form){ 4, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf };
}

/* Bytes of the character there; *ret_whole: it is one, and not the beginning of one or another
 * byte. At least 1. */
static size_t measure(const uint8_t *at, size_t left, bool *ret_whole)
{
    const struct form form = form_of(at[0]);
    size_t size = 1;
    for (; size < form.bytes && size < left; size++) {
        const bool fits = size == 1 ? at[1] >= form.low && at[1] <= form.high : (at[size] & 0xc0) == 0x80;
        if (!fits)
            break;
    }
    *ret_whole = size == form.bytes;
    return size;
}

/* The result of a decoder that trusts its text. */
static uint32_t trust(const uint8_t *text, size_t *at)
{
    const uint8_t first = text[*at];
    const unsigned more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    uint32_t code = more ? first & (0x3fu >> more) : first;
    for (unsigned i = 1; i <= more; i++)
        code = code << 6 | (text[*at + i] & 0x3f);
    *at += 1 + more;
    return code;
}

static int lg__utf8_claim_bytes(const void *site, const uint8_t *bytes, size_t count, size_t offset)
{
    char text[LG_GUARD_TEXT_MAX + 1], of_offset[24], of_bytes[16];
    for (size_t i = 0; i < count; i++)
        lg__hook_words(of_bytes + 3 * i, 4, "%02x ", bytes[i]);
    of_bytes[3 * count - 1] = 0;
    lg__hook_words(of_offset, sizeof of_offset, "%zu", offset);
    lg__hook_words(text, sizeof text, "the bytes %s at offset %s are no UTF-8", of_bytes, of_offset);
    const lg_field fields[] = { { "bytes", of_bytes }, { "offset", of_offset } };
    return lg_guard_claim(LG_GUARD_STRING, site, text, fields, 2);
}

static int lg__utf8_claim_end(const void *site, size_t offset, size_t size)
{
    char text[LG_GUARD_TEXT_MAX + 1];
    lg__hook_words(text, sizeof text, "no character is at offset %zu of a text of %zu bytes", offset, size);
    return lg_guard_claim(LG_GUARD_STRING, site, text, NULL, 0);
}

uint32_t lg_guard_utf8_beyond_ascii(const char *bytes, size_t size, size_t *at)
{
    const uint8_t *text = (const uint8_t *)bytes;
    bool is_whole;
    if (*at >= size)
        return lg__utf8_claim_end(__builtin_return_address(0), *at, size) ? 0 : trust(text, at);
    const size_t count = measure(text + *at, size - *at, &is_whole);
    if (!is_whole && text[*at] >= 0x80 && lg__utf8_claim_bytes(__builtin_return_address(0), text + *at, count, *at)) {
        *at += count;
        return REPLACEMENT;
    }
    return trust(text, at);
}

/* The plain operation reads from address 0, also in a build that traps on what is undefined. */
__attribute__((no_sanitize("undefined"))) size_t lg_guard_copy(char *to, size_t room, const char *from)
{
    if (!from && lg_guard_claim(LG_GUARD_STRING, __builtin_return_address(0), "a string is NULL", NULL, 0))
        from = "";
    const size_t size = strlen(from);
    size_t most = size;
    if (size >= room) {
        char text[LG_GUARD_TEXT_MAX + 1];
        lg__hook_words(text, sizeof text, "a string of %zu bytes goes into a buffer of %zu", size, room);
        if (lg_guard_claim(LG_GUARD_STRING, __builtin_return_address(0), text, NULL, 0)) {
            if (room == 0)
                return 0;
            most = lg__hook_beginning(from, room - 1);
        }
    }
    memcpy(to, from, most);
    to[most] = 0;
    return most;
}
