/* The reader under libFuzzer: built on request with `cmake --build BUILD --target fuzz-reader`,
 * where clang is found.
 *
 * fuzz-reader CORPUS Tests/Golden */
#include "exercise.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/format.h"
#include "store/crc32c.h"

static char path[64];

static void clean_up(void)
{
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!*path) {
        snprintf(path, sizeof path, "%s/launchguard-fuzz-%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
        atexit(clean_up);
    }
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return 0;
    ssize_t written = write(file, bytes, size);
    if (size >= sizeof(struct lg__header)) { /* long enough for the reader to open it */
        struct lg__header header;
        __builtin_memcpy(&header, bytes, sizeof header);
        header.crc = lg__crc32c(0, &header, offsetof(struct lg__header, crc));
        written = pwrite(file, &header, sizeof header, 0);
    }
    close(file);
    if (written >= 0)
        exercise(path);
    return 0;
}
