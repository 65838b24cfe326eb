#include "report/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void lg__json_flush(struct lg__json *json)
{
    if (json->used && !json->failed)
        json->failed = json->sink(json->buffer, json->used, json->user) != 0;
    json->used = 0;
}

static void put(struct lg__json *json, const char *bytes, size_t size)
{
    while (size && !json->failed) {
        size_t room = sizeof json->buffer - json->used, part = size < room ? size : room;
        memcpy(json->buffer + json->used, bytes, part);
        json->used += part;
        bytes += part;
        size -= part;
        if (json->used == sizeof json->buffer)
            lg__json_flush(json);
    }
}

static void put_string(struct lg__json *json, const char *string)
{
    put(json, string, strlen(string));
}

/* Write the comma and the blanks before a value. */
static void begin(struct lg__json *json)
{
    if (json->needs_comma)
        put(json, ",", 1);
    if (json->key) {
        put(json, "\"", 1);
        put_string(json, json->key);
        put(json, "\":", 2);
        json->key = NULL;
    }
    json->needs_comma = true;
}

void lg__json_unsigned(struct lg__json *json, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    begin(json);
    put_string(json, text);
}

void lg__json_signed(struct lg__json *json, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    begin(json);
    put_string(json, text);
}

void lg__json_bool(struct lg__json *json, bool value)
{
    begin(json);
    put_string(json, value ? "true" : "false");
}

size_t lg__json_character(const unsigned char *bytes, size_t size, size_t *ret_bad)
{
    unsigned char low = 0x80, high = 0xBF;
    size_t more;
    *ret_bad = 1;
    if (bytes[0] < 0x80)
        return 1;
    if (bytes[0] < 0xC2 || bytes[0] > 0xF4)
        return 0;
    more = bytes[0] < 0xE0 ? 1 : bytes[0] < 0xF0 ? 2 : 3;
    if (bytes[0] == 0xE0)
        low = 0xA0; /* shorter forms are not allowed */
    else if (bytes[0] == 0xED)
        high = 0x9F; /* surrogates */
    else if (bytes[0] == 0xF0)
        low = 0x90;
    else if (bytes[0] == 0xF4)
        high = 0x8F; /* the last character is U+10FFFF */
    for (size_t i = 1; i <= more; i++) {
        if (i >= size || bytes[i] < low || bytes[i] > high) {
            *ret_bad = i;
            return 0;
        }
        low = 0x80;
        high = 0xBF;
    }
    return more + 1;
}

static void put_escaped(struct lg__json *json, char byte)
{
    char text[8];
    switch (byte) {
    case '"': put(json, "\\\"", 2); return;
    case '\\': put(json, "\\\\", 2); return;
    case '\b': put(json, "\\b", 2); return;
    case '\f': put(json, "\\f", 2); return;
    case '\n': put(json, "\\n", 2); return;
    case '\r': put(json, "\\r", 2); return;
    case '\t': put(json, "\\t", 2); return;
    default:
        snprintf(text, sizeof text, "\\u%04x", (unsigned)(unsigned char)byte);
        put(json, text, 6);
    }
}

void lg__json_text(struct lg__json *json, const char *bytes, size_t size)
{
    size_t plain = 0; /* where the bytes begin that stand as they are */
    begin(json);
    put(json, "\"", 1);
    for (size_t i = 0, bad; i < size;) {
        unsigned char byte = (unsigned char)bytes[i];
        size_t length = lg__json_character((const unsigned char *)bytes + i, size - i, &bad);
        if (length && byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7F) {
            i += length;
            continue;
        }
        put(json, bytes + plain, i - plain);
        if (length)
            put_escaped(json, bytes[i]);
        else
            put(json, "\xEF\xBF\xBD", 3);
        plain = i += length ? length : bad;
    }
    put(json, bytes + plain, size - plain);
    put(json, "\"", 1);
}

void lg__json_string(struct lg__json *json, const char *string)
{
    lg__json_text(json, string, strlen(string));
}

void lg__json_address(struct lg__json *json, uint64_t address)
{
    char text[24];
    snprintf(text, sizeof text, "\"0x%016" PRIx64 "\"", address);
    begin(json);
    put_string(json, text);
}

void lg__json_hex(struct lg__json *json, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    begin(json);
    put(json, "\"", 1);
    for (size_t i = 0; i < size; i++)
        put(json, (char[2]){ digits[bytes[i] >> 4], digits[bytes[i] & 15] }, 2);
    put(json, "\"", 1);
}

void lg__json_open(struct lg__json *json)
{
    begin(json);
    put(json, "{", 1);
    json->needs_comma = false;
}

void lg__json_close(struct lg__json *json)
{
    put(json, "}", 1);
    json->needs_comma = true;
}

void lg__json_members(struct lg__json *json, const char *members)
{
    json->key = NULL;
    begin(json);
    put_string(json, members);
}

struct lg__json_list lg__json_list(struct lg__json *json)
{
    return (struct lg__json_list){ .key = json->key };
}

void lg__json_list_begin(struct lg__json *json, struct lg__json_list *list)
{
    if (list->begun)
        return;
    list->begun = true;
    json->key = list->key;
    begin(json);
    put(json, "[", 1);
    json->needs_comma = false;
}

void lg__json_item(struct lg__json *json, struct lg__json_list *list)
{
    lg__json_list_begin(json, list);
    json->key = NULL;
}

void lg__json_list_end(struct lg__json *json, struct lg__json_list *list)
{
    if (!list->begun)
        return;
    put(json, "]", 1);
    json->needs_comma = true;
}
