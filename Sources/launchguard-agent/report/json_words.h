/* JSON values of the reader's values, in the forms of the report. Each function returns a new
 * reference, or NULL for a value that the report leaves out. */
#ifndef AGENT_JSON_WORDS_H
#define AGENT_JSON_WORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/secrets.h"

/* Add a member. NULL: the object is left as it is. */
void put(json_t *object, const char *key, json_t *value);
/* The same of a list, which is freed where it is empty. */
void put_list(json_t *object, const char *key, json_t *list);

/* Bytes as text; those that are not UTF-8 become U+FFFD. */
json_t *words_text(const char *bytes, size_t size);
/* words_text() of a string; NULL for "". */
json_t *words_string(const char *string);

/* What of a text must not leave the machine. */
struct privacy {
    struct lg__secrets *secrets;
    bool keep_home;
};

/* Hide it in place. `begins_late`: as for lg__secrets_text_hide(). Returns the new size. */
size_t words_hide(const struct privacy *privacy, char *text, size_t size, bool begins_late);
/* words_string() without it. */
json_t *words_private(const struct privacy *privacy, const char *string);
/* NULL above INT64_MAX, which JSON texts of the agent cannot hold. */
json_t *words_number(uint64_t number);
/* The same; NULL for 0. */
json_t *words_nonzero(uint64_t number);
/* "0x" and sixteen digits. */
json_t *words_address(uint64_t address);
/* The same without leading zeros. */
json_t *words_short_address(uint64_t address);
/* ISO 8601 of nanoseconds since 1970, in UTC; NULL for 0. */
json_t *words_time(uint64_t ns);

#endif
