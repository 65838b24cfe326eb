/* Layer 1: the words of an error of the system. */
#ifndef LG_STORE_ERROR_WORDS_H
#define LG_STORE_ERROR_WORDS_H

#include <stddef.h>

/* The words for an errno value, in `buffer` or in the C library. strerror() would be shared by all
 * threads, and keep the words for a number that it does not know for good. */
const char *lg__error_words(int error, char *buffer, size_t size);

#endif
