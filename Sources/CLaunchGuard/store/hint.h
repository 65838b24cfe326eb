/* The last hint of the vendor, as the ledger has it. */
#ifndef LG_STORE_HINT_H
#define LG_STORE_HINT_H

#include <stdbool.h>

#include "store/format_ledger.h"

uint32_t lg__hint_crc(const struct lg__hint *hint);

/* A public key as text: hexadecimal digits or base64. */
#define LG__HINT_KEY_BYTES 32
#define LG__HINT_KEY_TEXT 65
bool lg__hint_key(const char *text, uint8_t ret_key[LG__HINT_KEY_BYTES]);

/* Whether it is one, and not torn or damaged. */
bool lg__hint_is_whole(const struct lg__hint *hint);
/* Whether it counts for a launch of this context now. */
bool lg__hint_is_in_force(const struct lg__hint *hint, const char *context, uint64_t wall_ns);

#endif
