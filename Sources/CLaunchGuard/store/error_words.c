#include "store/error_words.h"

#include <string.h>

/* The C libraries differ in what strerror_r() returns: the words, or whether it has written
 * them. */
static const char *words_returned(const char *words, const char *buffer)
{
    (void)buffer;
    return words;
}

static const char *words_written(int failed, const char *buffer)
{
    return failed ? "unknown error" : buffer;
}

const char *lg__error_words(int error, char *buffer, size_t size)
{
    return _Generic(strerror_r(error, buffer, size), char *: words_returned, int: words_written)(strerror_r(error, buffer, size), buffer);
}
