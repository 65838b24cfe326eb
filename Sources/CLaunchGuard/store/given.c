#include "store/given.h"

#include <stdint.h>
#include <string.h>

/* The size alone, or garbage: no structure is as small, or as much larger than ours. */
#define LEAST 8u
#define MORE 512u

const char *lg__given_take(void *own, size_t own_size, const void *given)
{
    uint32_t size;
    memcpy(&size, given, sizeof size);
    if (size < LEAST || size > own_size + MORE)
        return "its size is none: set it with its INIT macro";
    for (size_t i = own_size; i < size; i++)
        if (((const uint8_t *)given)[i])
            return "a field is set that this version of the library does not know";
    memcpy(own, given, size < own_size ? size : own_size);
    size = (uint32_t)own_size;
    memcpy(own, &size, sizeof size);
    return NULL;
}
