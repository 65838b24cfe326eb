/* Redacted values in texts: the values themselves, wherever they stand, and what follows a redacted
 * key. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/secrets.h"

#define MASK "***"
#define MASK_SIZE 3u

/* The text, and marks of the bytes to be hidden. */
struct marked {
    const char *text;
    size_t size;
    uint8_t *marks;
    size_t stops[3]; /* where the last search ended, by its kind */
};

/* What ends a value: a cut one, one after "=", and one after ":", which may have words as a header
 * has. */
enum stop { STOP_CUT, STOP_EQUALS, STOP_COLON };
static const char *const stop_bytes[] = { " \t\r\n\"'<>", " \t,;&)]}\"'\r\n", ",;)]}\"'\r\n" };

static bool is_word(char byte)
{
    const unsigned char c = (unsigned char)byte;
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* A letter or digit of these bytes has another one beside it. */
static bool is_in_word(const struct marked *in, size_t from, size_t end)
{
    const char *text = in->text;
    return (from && is_word(text[from]) && is_word(text[from - 1])) || (end < in->size && is_word(text[end - 1]) && is_word(text[end]));
}

static size_t skip(const struct marked *in, size_t at, const char *bytes)
{
    while (at < in->size && in->text[at] && strchr(bytes, in->text[at]))
        at++;
    return at;
}

/* Each search begins after the one before, so that all together read the text once. */
static size_t find(struct marked *in, size_t at, enum stop stop)
{
    size_t *end = &in->stops[stop];
    for (*end = *end > at ? *end : at; *end < in->size && !(in->text[*end] && strchr(stop_bytes[stop], in->text[*end])); ++*end) {}
    return *end;
}

/* ---- values ---- */

/* How many values come before the text from here on, or are its beginning. */
static uint32_t values_up_to(const struct lg__secrets *secrets, const char *text, size_t size)
{
    uint32_t low = 0, high = secrets->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct lg__secret *value = &secrets->values[middle];
        const int order = memcmp(value->bytes, text, value->size < size ? value->size : size);
        if (order < 0 || (order == 0 && value->size <= size))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the value ends that begins here; `at`: none does. */
static size_t value_end(const struct lg__secrets *secrets, struct marked *in, size_t at)
{
    const char *text = in->text + at;
    const size_t size = in->size - at;
    const uint32_t place = values_up_to(secrets, text, size);
    const struct lg__secret *next = place < secrets->count ? &secrets->values[place] : NULL;
    if (next && size >= LG__SECRET_LONG && next->size > size && memcmp(next->bytes, text, size) == 0)
        return in->size; /* the text is cut */
    for (uint32_t i = place; i; i = secrets->values[i - 1].shorter) {
        const struct lg__secret *value = &secrets->values[i - 1];
        if (value->size > size || memcmp(value->bytes, text, value->size) != 0 ||
            (value->size < LG__SECRET_LONG && is_in_word(in, at, at + value->size)))
            continue;
        return value->is_cut ? find(in, at + value->size, STOP_CUT) : at + value->size;
    }
    return at;
}

/* The end of a value at the beginning of the text. */
static size_t rest_end(const struct lg__secrets *secrets, const struct marked *in)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < secrets->count; i++) {
        const struct lg__secret *value = &secrets->values[i];
        for (size_t size = value->size - 1 < in->size ? value->size - 1 : in->size; size >= LG__SECRET_LONG && size > longest; size--)
            if (memcmp(value->bytes + value->size - size, in->text, size) == 0)
                longest = size;
    }
    return longest;
}

/* ---- what follows a key ---- */

/* The place after the key that begins here; `at`: none does. */
static size_t key_end(const struct lg__secrets *secrets, const struct marked *in, size_t at)
{
    for (uint32_t i = 0; i < secrets->key_count; i++) {
        const size_t size = strlen(secrets->keys[i]);
        if (size && size <= in->size - at && strncasecmp(in->text + at, secrets->keys[i], size) == 0 && !is_in_word(in, at, at + size))
            return at + size;
    }
    return at;
}

/* The place after a quotation mark, which has backslashes before it where the text is quoted
 * itself; `at`: there is none. */
static size_t quote_end(const struct marked *in, size_t at)
{
    const size_t mark = skip(in, at, "\\");
    return mark < in->size && (in->text[mark] == '"' || in->text[mark] == '\'') ? mark + 1 : at;
}

/* Where the quotation ends that begins after its mark and so many backslashes. A backslash in it
 * doubles with each time that the text is quoted. */
static size_t quotation_end(const struct marked *in, size_t from, size_t slashes)
{
    const char mark = in->text[from - 1];
    for (size_t at = from, run = 0; at < in->size; at++) {
        if (in->text[at] == mark && run % (2 * (slashes + 1)) == slashes)
            return at - slashes;
        run = in->text[at] == '\\' ? run + 1 : 0;
    }
    return in->size;
}

/* The bytes that follow the key before this place as its value; none: no value does. */
static size_t value_of_key(struct marked *in, size_t at, size_t *ret_end)
{
    at = skip(in, quote_end(in, at), " \t");
    const char sign = at < in->size ? in->text[at] : 0;
    *ret_end = 0;
    if ((sign != '=' && sign != ':') || (at + 1 < in->size && sign == ':' && in->text[at + 1] == ':'))
        return 0;
    at = skip(in, skip(in, at + 1, "=>"), " \t");
    const size_t from = quote_end(in, at);
    if (from > at) {
        *ret_end = quotation_end(in, from, from - 1 - at);
        return from;
    }
    *ret_end = find(in, at, sign == ':' ? STOP_COLON : STOP_EQUALS);
    return at;
}

/* ---- the text ---- */

static bool has_bit(const uint8_t *bits, unsigned number)
{
    return bits[number / 8] >> number % 8 & 1;
}

/* Bytes that are marked already. */
struct run {
    size_t from, end;
};

/* Mark what the run does not hold, so that ranges in each other cost no more than one. */
static void mark(struct marked *in, struct run *run, size_t from, size_t end)
{
    const bool joins = run->from <= from && from <= run->end;
    const size_t begin = joins && run->end > from ? run->end : from;
    if (end <= begin)
        return;
    memset(in->marks + begin, 1, end - begin);
    *run = (struct run){ joins ? run->from : from, end };
}

/* Whether anything is to be hidden. */
static bool mark_all(const struct lg__secrets *secrets, struct marked *in, bool begins_late)
{
    struct run values = { 0, 0 }, after_keys = { 0, 0 };
    if (begins_late)
        mark(in, &values, 0, rest_end(secrets, in));
    for (size_t at = 0; at + 1 < in->size; at++) {
        const unsigned char byte = (unsigned char)in->text[at];
        if (has_bit(secrets->begins, (unsigned)byte << 8 | (unsigned char)in->text[at + 1]))
            mark(in, &values, at, value_end(secrets, in, at));
        const size_t key = has_bit(secrets->begins_key, byte) ? key_end(secrets, in, at) : at;
        if (key > at) {
            size_t end;
            const size_t from = value_of_key(in, key, &end);
            mark(in, &after_keys, from, end);
        }
    }
    return values.end || after_keys.end;
}

size_t lg__secrets_text_hide(const struct lg__secrets *secrets, char *text, size_t size, bool begins_late)
{
    struct marked in = { .text = text, .size = size };
    if (!secrets->key_count || !size)
        return size;
    in.marks = calloc(size, 1);
    if (!in.marks)
        return 0;
    size_t used = 0;
    const bool has = mark_all(secrets, &in, begins_late);
    for (size_t i = 0; has && i < size;) {
        size_t end = i + 1;
        while (in.marks[i] && end < size && in.marks[end])
            end++;
        const size_t kept = !in.marks[i] ? 1 : end - i < MASK_SIZE ? end - i : MASK_SIZE;
        memmove(text + used, in.marks[i] ? MASK : text + i, kept);
        used += kept;
        i = end;
    }
    free(in.marks);
    return has ? used : size;
}
