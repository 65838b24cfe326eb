/* The form in which a hint travels: a header BASE64URL(document).BASE64URL(signature), as the parts
 * of a JSON web signature. */
#ifndef AGENT_SIGNATURE_H
#define AGENT_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/hint.h"

#define HINT_HEADER "X-LaunchGuard-Hint"
#define HINT_DOCUMENT_MAX 1024
#define HINT_SIGNATURE_BYTES 64
/* Room for the value of the header, and a byte more: one that fills it is too long. */
#define HINT_HEADER_ROOM ((HINT_DOCUMENT_MAX * 4 + 2) / 3 + 1 + (HINT_SIGNATURE_BYTES * 4 + 2) / 3 + 3)

/* Whether this agent can check signatures: it was built with OpenSSL. */
bool signature_is_possible(void);

/* The document of a header, with a NUL, where the key signed it. Returns NULL, or what is wrong. */
const char *signature_check(const char *header, const uint8_t key[LG__HINT_KEY_BYTES], char ret_document[HINT_DOCUMENT_MAX + 1], size_t *ret_size);

#endif
