/* Formatting without stdio, malloc or locale. Handler. */
#ifndef LG_STORE_TEXT_H
#define LG_STORE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* Format into `to`, at most `capacity` bytes, no NUL. Returns the bytes that the whole text has;
 * more than `capacity` means cut. */
size_t lg__text_format(char *to, size_t capacity, const char *format, va_list arguments);

/* The size of the beginning of a text that has at most `most` bytes and ends with a whole character
 * (UTF-8). Handler. */
size_t lg__text_beginning(const char *text, size_t most);

#endif
