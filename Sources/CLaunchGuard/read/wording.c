/* The text of a crash's message without its data: docs/FINGERPRINT.md, the coarse key. */
#include "read/wording.h"

#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The bytes of a number at the start of `text`: an address as "0x" and hex digits or as eight hex
 * digits and more with a digit among them, else decimal digits. 0: there is none. */
static size_t number(const char *text, bool starts_word)
{
    size_t prefix = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && is_hex(text[2]) ? 2 : 0, size = prefix, digits = 0;
    while (is_hex(text[size]))
        digits += is_digit(text[size++]);
    if (prefix || (starts_word && size >= 8 && digits))
        return size;
    for (size = 0; is_digit(text[size]);)
        size++;
    return size;
}

/* The first line of a message, with "#" in the place of each number. */
static void normalise(const char *text, char ret_line[LG__WORDING_BYTES])
{
    size_t size = 0;
    while (*text == '\n')
        text++;
    for (bool starts_word = true; *text && *text != '\n' && size + 1 < LG__WORDING_BYTES;) {
        size_t skip = number(text, starts_word);
        ret_line[size++] = skip ? '#' : *text;
        starts_word = !skip && !is_hex(*text) && !(*text >= 'g' && *text <= 'z') && !(*text >= 'G' && *text <= 'Z') && *text != '_';
        text += skip ? skip : 1;
    }
    ret_line[size] = 0;
}

/* The text of an exception up to the first thing that may be data. */
static void leading_words(const char *text, char ret_line[LG__WORDING_BYTES])
{
    snprintf(ret_line, LG__WORDING_BYTES, "%.*s", (int)strcspn(text, "0123456789'\"`:/\n"), text);
}

bool lg__wording(lg_crash_kind kind, const lg_message *message, char ret_line[LG__WORDING_BYTES])
{
    /* the heap's message depends on the size of the block */
    if (message->source == LG_MESSAGE_LIBC && kind == LG_CRASH_ABORT_HEAP)
        return false;
    if (message->source == LG_MESSAGE_CPP_TYPE)
        snprintf(ret_line, LG__WORDING_BYTES, "%.*s", (int)LG__WORDING_BYTES - 1, message->text);
    else if (message->source == LG_MESSAGE_CPP_WHAT)
        leading_words(message->text, ret_line);
    else
        normalise(message->text, ret_line);
    return true;
}
