/* The category, text and fields within the bytes of one breadcrumb. */
#ifndef LG_EXAMINE_FIELDS_H
#define LG_EXAMINE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launchguard/reader.h"

/* The bytes of an entry with fields. */
struct lg__reader_fields {
    const char *category, *text;
    const char *fields; /* the first */
    uint32_t category_size, text_size, field_count;
};
/* False if the sizes in it contradict each other; after that every field lies within the bytes. */
bool lg__reader_fields(const char *bytes, size_t size, struct lg__reader_fields *ret_fields);
/* The first field of some; *ret_next is the one after it. */
void lg__reader_field(const char *field, lg_log_field *ret_field, const char **ret_next);

#endif
