/* Layer 1: write() until everything is written. */
#ifndef LG_STORE_WRITE_ALL_H
#define LG_STORE_WRITE_ALL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* false: errno says why, and a part may be written. */
static inline bool lg__write_all(int file, const void *from, size_t size)
{
    for (const char *at = from; size;) {
        const ssize_t wrote = write(file, at, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        at += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

#endif
