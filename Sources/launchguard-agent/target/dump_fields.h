/* The annotations in a minidump, as Crashpad's handler reads them for its form
 * (handler/minidump_to_upload_parameters.cc). */
#ifndef AGENT_DUMP_FIELDS_H
#define AGENT_DUMP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* The next annotation: `*index` starts at 0. False: no more, or the minidump has none that can be
 * read. What it returns is borrowed from the minidump, and has no NUL at its end. */
bool dump_fields_next(const char *dump, size_t size, size_t *index, const char **ret_key, size_t *ret_key_bytes, const char **ret_value, size_t *ret_value_bytes);

#endif
