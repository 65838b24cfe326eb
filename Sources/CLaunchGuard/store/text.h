/* Formatting without stdio, malloc or locale. Handler. */
#ifndef LG_STORE_TEXT_H
#define LG_STORE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* Format into `to`, at most `capacity` bytes, no NUL. Returns the bytes that the whole text has;
 * more than `capacity` means cut. */
size_t lg__text_format(char *to, size_t capacity, const char *format, va_list arguments);

#endif
