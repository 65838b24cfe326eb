/* Real files, damaged in thousands of ways: the reader must not crash, hang, or allocate without
 * limit.
 *
 * mutate COUNT FILE…       every file, damaged COUNT times, each time by a seed of its own
 *
 * Built with the address and undefined-behaviour sanitizers, which end the program at the first
 * mistake. */
#include "damage.h"
#include "exercise.h"
#include "forbidden_ends.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/crc32c.h"

#define ROOM (1u << 20)


/* ---- the allocated memory ---- */

static size_t allocated, most_allocated;

void __sanitizer_malloc_hook(const volatile void *pointer, size_t size);
void __sanitizer_free_hook(const volatile void *pointer);
size_t __sanitizer_get_allocated_size(const volatile void *pointer);

void __sanitizer_malloc_hook(const volatile void *pointer, size_t size)
{
    (void)pointer;
    allocated += size;
    if (allocated > most_allocated)
        most_allocated = allocated;
}

void __sanitizer_free_hook(const volatile void *pointer)
{
    if (pointer)
        allocated -= __sanitizer_get_allocated_size(pointer);
}

static void try(const uint8_t *original, size_t original_size, unsigned *ret_opened)
{
    static uint8_t bytes[ROOM];
    memcpy(bytes, original, original_size);
    size_t size = damage(bytes, original_size, ROOM, seed);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size || close(file) != 0) {
        perror(path);
        exit(1);
    }
    size_t before = allocated;
    most_allocated = allocated;
    alarm(SECONDS_MAX);
    *ret_opened += (unsigned)exercise(path);
    alarm(0);
    if (allocated != before) {
        fprintf(stderr, "mutate: the reader leaks %zu bytes\n", allocated - before);
        dying();
        exit(1);
    }
    if (most_allocated - before > most_memory(size)) {
        fprintf(stderr, "mutate: the reader allocates %zu bytes for a file of %zu\n", most_allocated - before, size);
        dying();
        exit(1);
    }
}

int main(int count, char **arguments)
{
    static uint8_t original[ROOM];
    if (count < 3)
        return 2;
    const char *directory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof path, "%s/launchguard-mutate-%d", directory, (int)getpid());
    forbid_ends();
    lg__crc32c_init();
    const uint64_t wanted = strtoull(arguments[1], NULL, 10);
    for (int i = 2; i < count; i++) {
        name = arguments[i];
        int file = open(name, O_RDONLY | O_CLOEXEC);
        ssize_t size = file < 0 ? -1 : read(file, original, sizeof original);
        if (size <= 0) {
            perror(name);
            return 1;
        }
        close(file);
        unsigned opened = 0;
        for (uint64_t round = 0; seed_of_round(round, wanted, &seed); round++)
            try(original, (size_t)size, &opened);
        printf("%s: %" PRIu64 " damages, %u times past the door\n", name, wanted, opened);
        if (wanted > 100 && opened < wanted / 4) {
            fprintf(stderr, "mutate: the reader refused almost every damaged file at once: the test proves nothing\n");
            unlink(path);
            return 1;
        }
    }
    unlink(path);
    return 0;
}
