/* Real files, damaged in thousands of ways: the reader must not crash, hang, or allocate without
 * limit.
 *
 * mutate COUNT FILE…       every file, damaged COUNT times, in ways that are drawn anew each time
 * mutate -NUMBER FILE      one damage again, as the message of a failure names it
 *
 * Built with the address and undefined-behaviour sanitizers, which end the program at the first
 * mistake. */
#include "damage.h"
#include "exercise.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/crc32c.h"

#define SECONDS_MAX 60 /* for one damage; more means hung */
#define ROOM (1u << 20)

static char path[64];
static const char *name;
static long number;

/* ---- the allocated memory ---- */

static size_t allocated, most_allocated;

void __sanitizer_malloc_hook(const volatile void *pointer, size_t size);
void __sanitizer_free_hook(const volatile void *pointer);
size_t __sanitizer_get_allocated_size(const volatile void *pointer);
void __sanitizer_set_death_callback(void (*callback)(void));

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

/* ---- forbidden ends ---- */

static void dying(void)
{
    dprintf(STDERR_FILENO, "mutate: again with: mutate -%ld %s\n", number, name);
    unlink(path);
}

static void on_signal(int signal)
{
    dprintf(STDERR_FILENO, "mutate: %s\n", signal == SIGALRM ? "the reader hangs" : "a promise is broken");
    dying();
    _exit(1);
}

static void try(const uint8_t *original, size_t original_size, long which, unsigned *ret_opened)
{
    static uint8_t bytes[ROOM];
    memcpy(bytes, original, original_size);
    number = which;
    size_t size = damage(bytes, original_size, ROOM, (uint64_t)which);
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
    signal(SIGALRM, on_signal);
    signal(SIGABRT, on_signal);
    __sanitizer_set_death_callback(dying);
    lg__crc32c_init();
    long wanted = atol(arguments[1]);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const long first = (long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    if (wanted > 0)
        printf("damages %ld to %ld\n", first, first + wanted - 1);
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
        if (wanted < 0)
            try(original, (size_t)size, -wanted, &opened);
        for (long i = 0; i < wanted; i++)
            try(original, (size_t)size, first + i, &opened);
        printf("%s: %ld damages, %u times past the door\n", name, wanted < 0 ? 1 : wanted, opened);
        if (wanted > 100 && opened < wanted / 4) {
            fprintf(stderr, "mutate: the reader refused almost every damaged file at once: the test proves nothing\n");
            unlink(path);
            return 1;
        }
    }
    unlink(path);
    return 0;
}
