#include "target/otlp_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/json_words.h"

void otlp_values_add(json_t *attributes, const char *key, const char *type, json_t *value)
{
    if (!value)
        return;
    json_t *attribute = json_object(), *wrapped = json_object();
    put(attribute, "key", json_string(key));
    put(wrapped, type, value);
    put(attribute, "value", wrapped);
    json_array_append_new(attributes, attribute);
}

void otlp_values_add_text(json_t *attributes, const char *key, const char *text)
{
    if (text[0])
        otlp_values_add(attributes, key, "stringValue", words_text(text, strlen(text)));
}

json_t *otlp_values_number(uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return json_string(text);
}

void otlp_values_add_number(json_t *attributes, const char *key, uint64_t number)
{
    otlp_values_add(attributes, key, "intValue", otlp_values_number(number));
}

json_t *otlp_values_set(json_t *attributes)
{
    json_t *set = json_object(), *value = json_object();
    put(set, "values", attributes);
    put(value, "kvlistValue", set);
    return value;
}

void otlp_values_add_list(json_t *attributes, const char *key, json_t *values)
{
    json_t *list = json_object();
    put(list, "values", values);
    otlp_values_add(attributes, key, "arrayValue", list);
}

uint64_t otlp_values_time(const char *text)
{
    struct tm parts = { .tm_sec = 0 };
    unsigned long fraction = 0;
    if (sscanf(text, "%d-%d-%dT%d:%d:%d.%9lu", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &fraction) != 7)
        return 0;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    time_t seconds = timegm(&parts);
    return seconds < 0 ? 0 : (uint64_t)seconds * 1000000000 + fraction;
}
