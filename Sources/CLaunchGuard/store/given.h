/* Structures that a program gives: they begin with their size, and grow at their ends. */
#ifndef LG_STORE_GIVEN_H
#define LG_STORE_GIVEN_H

#include <stddef.h>

/* Copy what the program gave over the defaults in `own`. A shorter structure is that of an older
 * header: what it lacks keeps its default. A longer one is that of a newer header, and has to be
 * zero beyond `own`. Returns NULL; or what is wrong, in words, and `own` is as it was. */
const char *lg__given_take(void *own, size_t own_size, const void *given);

#endif
