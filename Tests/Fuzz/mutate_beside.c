/* A hostile neighbour writes into the mapped file, cuts it and extends it, while the reader reads
 * it: the reader must not crash, hang, read out of bounds, or leak.
 *
 * mutate-beside COUNT FILE…       every file, read COUNT times beside such a process
 *
 * Built with the sanitizers, as mutate.c is. The neighbour draws from a seed; when it writes is
 * decided by the scheduler. */
#include "forbidden_ends.h"

#include <launchguard/launchguard.h>
#include <launchguard/reader.h>
#include <launchguard/report.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/crc32c.h"

#define ROOM (1u << 20)
#define HEADER 4096 /* no smaller than the header and its list of sections */
#define CHANGES 32 /* until the file is whole again */

static uint8_t original[ROOM];
static volatile uint64_t *writes; /* of the neighbour */

/* Changes the file for ever, and closes `begun` after the first ones. In seven of eight rounds the
 * header stays, so that the reader comes past the door. A write beyond a file that was cut would
 * end the neighbour: it extends the file first. */
static void change_for_ever(size_t size, int begun)
{
    uint64_t draw = seed;
    const int file = open(path, O_RDWR | O_CLOEXEC);
    uint8_t *bytes = file < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (bytes != MAP_FAILED) {
        const size_t first = draw % 8 && size > HEADER ? HEADER : 0;
        for (int i = 0; i < CHANGES; i++, ++*writes) {
            draw = mix_seed(draw);
            bytes[first + (draw >> 16) % (size - first)] = (uint8_t)draw;
        }
        if (draw % 64 == 0 && (ftruncate(file, (off_t)(first + (draw >> 8) % (size - first))) != 0 || ftruncate(file, (off_t)size) != 0))
            break;
        memcpy(bytes, original, size);
        begun = begun >= 0 ? close(begun) - 1 : begun;
    }
    _exit(1);
}

static int count(const char *bytes, size_t size, void *total)
{
    *(size_t *)total += size + (size_t)(size && bytes[size - 1] == 1); /* each byte is read */
    return 0;
}

/* The report reads all that the reader has; 1 where the file could be opened. */
static unsigned read_all(void)
{
    lg_reader *reader;
    lg_verdict verdict;
    char fingerprint[33];
    size_t total = 0;
    if (lg_reader_open(path, &reader) != LG_OK)
        return 0;
    (void)lg_reader_fingerprint(reader, fingerprint);
    (void)lg_reader_verdict(reader, &verdict);
    (void)lg_reader_report(reader, NULL, count, &total);
    (void)lg_reader_minidump(reader, NULL, count, &total);
    lg_reader_close(reader);
    return 1;
}


static bool write_original(size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return file >= 0 && write(file, original, size) == (ssize_t)size && close(file) == 0;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    const char *directory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof path, "%s/launchguard-beside-%d", directory, (int)getpid());
    forbid_ends();
    lg__crc32c_init();
    writes = mmap(NULL, sizeof *writes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const uint64_t wanted = strtoull(arguments[1], NULL, 10);
    for (int i = 2; i < count; i++) {
        name = arguments[i];
        const int file = open(name, O_RDONLY | O_CLOEXEC);
        const ssize_t size = file < 0 ? -1 : read(file, original, sizeof original);
        close(file);
        unsigned opened = 0;
        seed_of_round(0, 1, &seed);
        if (size <= 0 || writes == MAP_FAILED || !write_original((size_t)size)) {
            perror(name);
            return 1;
        }
        *writes = 0;
        int begun[2], status = 0;
        char none;
        if (pipe(begun) != 0)
            return 1;
        const pid_t neighbour = fork();
        if (neighbour == 0) {
            close(begun[0]);
            change_for_ever((size_t)size, begun[1]);
        }
        close(begun[1]);
        (void)!read(begun[0], &none, 1);
        close(begun[0]);
        for (uint64_t round = 0; round < wanted; round++) {
            alarm(SECONDS_MAX);
            opened += read_all();
            alarm(0);
        }
        const bool lived = waitpid(neighbour, &status, WNOHANG) == 0;
        if (lived) {
            kill(neighbour, SIGKILL);
            waitpid(neighbour, &status, 0);
        }
        printf("%s: %" PRIu64 " readings, %u past the door, beside %" PRIu64 " writes\n", name, wanted, opened, (uint64_t)*writes);
        if (!lived || opened == 0) {
            fprintf(stderr, "mutate-beside: %s: the test proves nothing\n", lived ? "no reading came past the door" : "the neighbour has died");
            unlink(path);
            return 1;
        }
    }
    unlink(path);
    return 0;
}
