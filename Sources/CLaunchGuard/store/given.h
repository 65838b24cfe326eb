/* Structures from the program: they begin with their size, and grow at their ends. */
#ifndef LG_STORE_GIVEN_H
#define LG_STORE_GIVEN_H

#include <stddef.h>

/* Copy the program's structure over the defaults in `own`. A shorter structure is that of an older
 * header: missing fields keep their defaults. A longer one is that of a newer header, and has to be
 * zero beyond `own`. Returns NULL; else the problem in words, and `own` is unchanged. */
const char *lg__given_take(void *own, size_t own_size, const void *given);

#endif
