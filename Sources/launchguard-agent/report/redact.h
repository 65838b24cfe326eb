/* Home directories in what leaves the machine; redact_home() is in compose.h. */
#ifndef AGENT_REDACT_H
#define AGENT_REDACT_H

#include <stddef.h>

/* Replace each home directory by "~" where a word of the text begins with one, in place. Returns
 * the new size, which is never larger. */
size_t redact_text(char *text, size_t size);

#endif
