/* The full part, as the targets read it. Results are borrowed from the part. */
#ifndef AGENT_FULL_JSON_H
#define AGENT_FULL_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The event of the stacks: the crash that ended the run, or else the newest snapshot whose cause
 * did not end. NULL: there is neither. */
const json_t *full_json_moment(const json_t *full, const json_t *brief);

/* The whole stack walk whose first frames the brief part shows. NULL: there is none. */
const json_t *full_json_frames(const json_t *moment, const json_t *brief);
/* Registers of the walk's thread; NULL: there are none. */
const json_t *full_json_registers(const json_t *moment, const json_t *brief);

/* The other threads of that moment, one after the other: `*index` starts at 0. NULL: no more. */
const json_t *full_json_other_thread(const json_t *moment, const json_t *brief, size_t *index);

/* The modules, by address. */
struct modules {
    size_t count;
    struct {
        uint64_t start, end;
        const json_t *json;
    } *list;
};

void full_json_modules(const json_t *full, struct modules *ret_modules);
void full_json_free(struct modules *modules);
/* Place in the list; -1: none covers the address. */
long full_json_module_at(const struct modules *modules, uint64_t address);

/* Reads the value of an annotation; false: it has none, or its key is redacted. */
bool full_json_annotation(const json_t *annotation, const char **ret_key, json_t **ret_value);

#endif
