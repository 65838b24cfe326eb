/* Layer 4: which versions of the program have crashed. Pure functions over the payload, as decide.h
 * says. A program is lg__ledger_payload_program() of its version and build id. */
#ifndef LG_LAUNCH_VERSIONS_H
#define LG_LAUNCH_VERSIONS_H

#include <stdbool.h>

#include "store/format.h"

/* A run of the program ended in a way that counts for a context. */
void lg__versions_note_crash(struct lg__ledger_payload *payload, uint32_t program);

/* Whether the contexts are reset where `now` starts after `before`. */
bool lg__versions_begin_anew(const struct lg__ledger_payload *payload, uint32_t before, uint32_t now);

#endif
