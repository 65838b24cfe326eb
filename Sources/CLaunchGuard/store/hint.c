#include "store/hint.h"

#include <string.h>

#include "store/crc32c.h"

uint32_t lg__hint_crc(const struct lg__hint *hint)
{
    return lg__crc32c(0, &hint->reserved, sizeof *hint - offsetof(struct lg__hint, reserved));
}

bool lg__hint_is_whole(const struct lg__hint *hint)
{
    const lg_hint *said = &hint->said;
    return said->serial && hint->crc == lg__hint_crc(hint) && (uint32_t)said->kind <= LG_HINT_HOLD_BELOW && memchr(said->context, 0, sizeof said->context) &&
           memchr(said->name, 0, sizeof said->name);
}

bool lg__hint_is_in_force(const struct lg__hint *hint, const char *context, uint64_t wall_ns)
{
    return lg__hint_is_whole(hint) && hint->said.expires_ns > wall_ns && strcmp(hint->said.context, context) == 0;
}

static unsigned digit_of(const char *digits, char c)
{
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (unsigned)(at - digits) : UINT32_MAX;
}

bool lg__hint_key(const char *text, uint8_t ret_key[LG__HINT_KEY_BYTES])
{
    const size_t size = strnlen(text, LG__HINT_KEY_TEXT);
    const bool is_hex = size == 64;
    const char *digits = is_hex ? "0123456789abcdef" : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned bits = is_hex ? 4 : 6, least = is_hex ? 64 : 43;
    uint32_t word = 0, have = 0, bytes = 0;
    for (size_t i = 0; i < least; i++) {
        const bool is_upper = is_hex && text[i] >= 'A' && text[i] <= 'F';
        const unsigned digit = digit_of(digits, is_upper ? (char)(text[i] | 32) : text[i]);
        if (digit >> bits)
            return false;
        word = word << bits | digit;
        have += bits;
        if (have >= 8)
            ret_key[bytes++] = (uint8_t)(word >> (have -= 8));
    }
    return size == least || (!is_hex && size == 44 && text[43] == '=');
}
