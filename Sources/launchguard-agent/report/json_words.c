#include "report/json_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/home.h"
#include "report/json.h"
#include "report/values.h"

void put(json_t *object, const char *key, json_t *value)
{
    if (value)
        json_object_set_new_nocheck(object, key, value);
}

void put_list(json_t *object, const char *key, json_t *list)
{
    if (json_array_size(list))
        put(object, key, list);
    else
        json_decref(list);
}

json_t *words_text(const char *bytes, size_t size)
{
    char *text = malloc(size * 3 + 1);
    size_t used = 0;
    if (!text)
        return NULL;
    for (size_t i = 0, bad; i < size;) {
        size_t length = lg__json_character((const unsigned char *)bytes + i, size - i, &bad);
        memcpy(text + used, length ? bytes + i : "\xEF\xBF\xBD", length ? length : 3);
        used += length ? length : 3;
        i += length ? length : bad;
    }
    json_t *result = json_stringn_nocheck(text, used);
    free(text);
    return result;
}

json_t *words_string(const char *string)
{
    return string[0] ? words_text(string, strlen(string)) : NULL;
}

size_t words_hide(const struct privacy *privacy, char *text, size_t size, bool begins_late)
{
    size = lg__secrets_text_hide(privacy->secrets, text, size, begins_late);
    return privacy->keep_home ? size : lg__home_hide(text, size);
}

json_t *words_private(const struct privacy *privacy, const char *string)
{
    char *copy = strdup(string);
    const size_t size = copy ? words_hide(privacy, copy, strlen(copy), false) : 0;
    json_t *text = size ? words_text(copy, size) : NULL;
    free(copy);
    return text;
}

json_t *words_number(uint64_t number)
{
    return number <= INT64_MAX ? json_integer((json_int_t)number) : NULL;
}

json_t *words_nonzero(uint64_t number)
{
    return number ? words_number(number) : NULL;
}

json_t *words_address(uint64_t address)
{
    char text[19];
    snprintf(text, sizeof text, "0x%016" PRIx64, address);
    return json_string(text);
}

json_t *words_short_address(uint64_t address)
{
    char text[19];
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    return json_string(text);
}

json_t *words_time(uint64_t ns)
{
    char text[LG__TIME_BYTES];
    return lg__values_time_text(ns, text) ? json_string(text) : NULL;
}
