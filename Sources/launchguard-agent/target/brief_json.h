/* The brief part, as the targets read it. */
#ifndef AGENT_BRIEF_JSON_H
#define AGENT_BRIEF_JSON_H

#include <jansson.h>

#include "target/request.h"

/* NULL: it is no JSON object. To be freed with json_decref(). */
json_t *brief_read(const struct letter *letter);

/* "" where there is no such text. Borrowed. */
const char *brief_text(const json_t *object, const char *key);

/* Add a text; nothing where it is "". */
void brief_put(json_t *object, const char *key, const char *text);
/* Add a copy of a member under another name, where there is one. */
void brief_copy(json_t *to, const char *key, const json_t *from, const char *name);

/* Facts of the report by the names that they have beyond it, and their keys; NULL ends a list. */
extern const char *const brief_texts[][2], *const brief_numbers[][2];

/* Name of the end: the exception's type, the signal, or the kind of end. */
const char *brief_type(const json_t *report);
/* Description of the end: the reason, the message, the fault in words, its kind or the evidence. */
const char *brief_value(const json_t *report);

/* Whether the run failed, and did not end as somebody wished. */
bool brief_is_failure(const json_t *report);

/* A number in the forms "0x1f"; 0: it is none. */
uint64_t brief_address(const json_t *object, const char *key);

#endif
