/* The words of an event, made without stdio: a guard may find its fault in a signal handler. */
#include "guard/guard.h"

#include <stdarg.h>

#include "store/text.h"

void lg__words_put(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t whole = lg__text_format(to, size - 1, format, arguments);
    va_end(arguments);
    to[whole < size - 1 ? whole : size - 1] = 0;
}
