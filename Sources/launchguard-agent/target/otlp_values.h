/* Attributes of OpenTelemetry, in the JSON form of protocol buffers. */
#ifndef AGENT_OTLP_VALUES_H
#define AGENT_OTLP_VALUES_H

#include <jansson.h>
#include <stdint.h>

/* Append an attribute; `type` as "stringValue". NULL: nothing is appended. */
void otlp_values_add(json_t *attributes, const char *key, const char *type, json_t *value);
/* Nothing where the text is "". */
void otlp_values_add_text(json_t *attributes, const char *key, const char *text);
void otlp_values_add_number(json_t *attributes, const char *key, uint64_t number);
/* Append an attribute with a list of attributes as its value; the list is taken. */
void otlp_values_add_list(json_t *attributes, const char *key, json_t *values);

/* A set of attributes as a value of a list. Takes the attributes. */
json_t *otlp_values_set(json_t *attributes);

/* Numbers of 64 bits are strings. */
json_t *otlp_values_number(uint64_t number);

/* Nanoseconds of a time in ISO 8601; 0: it is none. */
uint64_t otlp_values_time(const char *text);

#endif
