/* JSON, written value by value: without a tree, and without memory other than a buffer. */
#ifndef LG_REPORT_JSON_H
#define LG_REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launchguard/report.h"

struct lg__json {
    lg_report_sink sink;
    void *user;
    const char *key;   /* of the next value; NULL: it is an item of a list, or the whole */
    bool needs_comma;
    bool failed;       /* the sink refused */
    size_t used;
    char buffer[2048];
};

/* A list that begins with its first item. */
struct lg__json_list {
    const char *key;
    bool begun;
};

/* The size of the character that begins here; 0: it is none, and `ret_bad` bytes stand for one
 * U+FFFD: the longest beginning of a character that these bytes are. */
size_t lg__json_character(const unsigned char *bytes, size_t size, size_t *ret_bad);

/* Each of these writes the key that is set, and the value. */
void lg__json_unsigned(struct lg__json *json, uint64_t number);
void lg__json_signed(struct lg__json *json, int64_t number);
void lg__json_bool(struct lg__json *json, bool value);
/* Bytes that are no UTF-8 become U+FFFD. */
void lg__json_text(struct lg__json *json, const char *bytes, size_t size);
void lg__json_string(struct lg__json *json, const char *string);
/* "0x" and sixteen digits. */
void lg__json_address(struct lg__json *json, uint64_t address);
/* Two digits for each byte. */
void lg__json_hex(struct lg__json *json, const uint8_t *bytes, size_t size);
void lg__json_open(struct lg__json *json);
void lg__json_close(struct lg__json *json);
/* Members that are JSON already, without the braces. */
void lg__json_members(struct lg__json *json, const char *members);

/* The list of the key that is set. */
struct lg__json_list lg__json_list(struct lg__json *json);
/* Begin the list now, also if it has no items. */
void lg__json_list_begin(struct lg__json *json, struct lg__json_list *list);
/* The next value is an item. */
void lg__json_item(struct lg__json *json, struct lg__json_list *list);
void lg__json_list_end(struct lg__json *json, struct lg__json_list *list);

/* Hand the buffer's bytes on. */
void lg__json_flush(struct lg__json *json);

#endif
