/* The parts of a crash's message: docs/FINGERPRINT.md. */
#include "read/wording.h"

#include <stdbool.h>
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

/* Where the text goes on after the first number of a line, as in ":12: ". NULL: there is none. */
static const char *behind_line_number(const char *text)
{
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
        const size_t digits = strspn(colon + 1, "0123456789");
        if (digits && colon[1 + digits] == ':' && colon[2 + digits] == ' ')
            return colon + digits + 3;
    }
    return NULL;
}

/* The name of a function at the start of an assertion's text. Compilers write the types around the
 * name each in their way. */
static const char *name_of_function(const char *text, size_t *ret_size)
{
    static const char of_gcc[] = "{anonymous}::", of_clang[] = "(anonymous namespace)::";
    const char *begin = text, *end = text;
    for (;;) {
        end += strcspn(end, "(:\n");
        if (strncmp(end, of_clang, strlen(of_clang)) == 0)
            begin = end += strlen(of_clang);
        else if (strncmp(end, "::", 2) == 0)
            end += 2;
        else
            break;
    }
    for (const char *at = begin; at < end; at++)
        if (*at == ' ' || *at == '*' || *at == '&')
            begin = at + 1;
    if (strncmp(begin, of_gcc, strlen(of_gcc)) == 0)
        begin += strlen(of_gcc);
    *ret_size = (size_t)(end - begin);
    return begin;
}

/* The text of an assertion without the name of the program, and that of fatalError() with words,
 * name their place better than an address, which changes with each build. The folder of the file
 * and the line may change too. */
static bool name_place(const char *text, bool is_assert, char ret_line[LG__WORDING_BYTES])
{
    static const char fatal[] = "Fatal error: ";
    char file[LG__WORDING_BYTES], said[LG__WORDING_BYTES];
    const char *rest = behind_line_number(text), *begin = is_assert ? strstr(text, ": ") : NULL;
    if (!rest || (!is_assert && (strncmp(rest, fatal, strlen(fatal)) != 0 || !rest[strlen(fatal)])))
        return false;
    begin = begin && begin + 2 < rest ? begin + 2 : text;
    for (const char *at = begin; at < rest; at++)
        if (*at == '/')
            begin = at + 1;
    snprintf(ret_line, LG__WORDING_BYTES, "%.*s", (int)(rest - begin), begin);
    normalise(ret_line, file);
    /* an expression is the same each time; words may have data */
    const char *expression = is_assert ? strstr(rest, ": Assertion `") : NULL;
    if (expression) {
        size_t size;
        const char *name = name_of_function(rest, &size);
        snprintf(said, sizeof said, "%.*s%.*s", (int)size, name, (int)strcspn(expression, "\n"), expression);
    } else
        normalise(rest, said);
    snprintf(ret_line, LG__WORDING_BYTES, "%.200s%.300s", file, said);
    return true;
}

enum lg__wording_use lg__wording(lg_crash_kind kind, const lg_message *message, char ret_line[LG__WORDING_BYTES])
{
    const bool is_assert = message->source == LG_MESSAGE_LIBC && kind == LG_CRASH_ABORT_ASSERT;
    const bool is_fatal = message->source == LG_MESSAGE_SWIFT && kind == LG_CRASH_TRAP_SWIFT_FATAL_ERROR;
    if ((is_assert || is_fatal) && name_place(message->text, is_assert, ret_line))
        return LG__WORDING_NAMES_PLACE;
    /* the heap's message depends on the size of the block */
    if (message->source == LG_MESSAGE_LIBC && kind == LG_CRASH_ABORT_HEAP)
        return LG__WORDING_NONE;
    if (message->source == LG_MESSAGE_CPP_TYPE)
        snprintf(ret_line, LG__WORDING_BYTES, "%.*s", (int)LG__WORDING_BYTES - 1, message->text);
    else if (message->source == LG_MESSAGE_CPP_WHAT)
        leading_words(message->text, ret_line);
    else
        normalise(message->text, ret_line);
    return LG__WORDING_SAYS;
}
