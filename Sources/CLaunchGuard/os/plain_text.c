/* Texts, without printf() and scanf() of libc: a start would be the first to need their pages, and
 * a handler may not call them. */
#include "os/os.h"

#include <string.h>

/* ---- reading ---- */

bool lg__os_number(const char *text, unsigned base, uint64_t *ret_number)
{
    uint64_t number = 0;
    const char *at = text;
    for (;; at++) {
        unsigned digit;
        if (*at >= '0' && *at <= '9')
            digit = (unsigned)(*at - '0');
        else if (base == 16 && *at >= 'a' && *at <= 'f')
            digit = (unsigned)(*at - 'a') + 10;
        else
            break;
        number = number * base + digit;
    }
    if (at == text)
        return false;
    *ret_number = number;
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

bool lg__os_uuid(const char *text, uint8_t ret_bytes[LG__UUID_BYTES])
{
    for (unsigned i = 0; i < LG__UUID_BYTES; i++, text += 2) {
        text += *text == '-';
        const int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);
        if (low < 0)
            return false;
        ret_bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

const char *lg__os_text_after(const char *text, const char *key)
{
    size_t size = strlen(key), rest = strlen(text);
    for (;;) {
        if (rest > size && memcmp(text, key, size) == 0) {
            for (text += size; *text == ' ' || *text == '\t' || *text == ':'; text++) {}
            return text;
        }
        const char *end = memchr(text, '\n', rest);
        if (!end)
            return "";
        rest -= (size_t)(end + 1 - text);
        text = end + 1;
    }
}

/* ---- writing ---- */

size_t lg__os_join(char *to, size_t size, const char *first, const char *second, const char *third, const char *fourth)
{
    const char *const parts[] = { first, second, third, fourth };
    size_t whole = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const size_t length = strlen(parts[i]), room = whole < size ? size - whole : 0;
        memcpy(to + (room ? whole : 0), parts[i], length < room ? length : room);
        whole += length;
    }
    if (size)
        to[whole < size ? whole : size - 1] = 0;
    return whole;
}

char *lg__os_digits(uint64_t number, size_t least, char ret_room[LG__OS_DIGITS])
{
    char *at = ret_room + LG__OS_DIGITS;
    *--at = 0;
    for (char *const last = at; number || (size_t)(last - at) < least; number /= 10)
        *--at = (char)('0' + number % 10);
    return at;
}

void lg__os_process_path(char to[LG__OS_PROCESS_PATH], pid_t pid, const char *name)
{
    char room[LG__OS_DIGITS];
    lg__os_join(to, LG__OS_PROCESS_PATH, "/proc/", lg__os_digits(pid > 0 ? (uint64_t)pid : 0, 0, room), name, "");
}

void lg__os_path_end(char *to, size_t size, const char *path)
{
    const size_t whole = strlen(path), mark = whole < size ? 0 : strlen(LG__CUT), end = mark ? size - 1 - mark : whole;
    memcpy(to, LG__CUT, mark);
    memcpy(to + mark, path + whole - end, end + 1);
}
