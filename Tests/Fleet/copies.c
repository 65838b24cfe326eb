/* Makes the runs of a fleet out of a few real ones. Each line of standard input is a copy:
 *
 *     FILE DIRECTORY NUMBER SECONDS VERSION MACHINE [APP [BOOT [KERNEL]]]
 *
 * the run file to copy; the state directory to copy it to; number, start (seconds since 1970),
 * version and machine id (32 hex digits, or 0 for none) of the copy; application, boot id (as the
 * machine id) and release of the kernel, where they are not those of the file. Its UUID is made of
 * machine, directory and number, so that the same line makes the same run. Checksums are right. */
#include "store/crc32c.h"
#include "store/format.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096
#define MOST_BYTES (64u << 20)

static uint8_t *bytes;
static char loaded[1024];
static size_t size;

static bool load(const char *path)
{
    struct stat status;
    /* The last one again: only what is rewritten differs. */
    if (strcmp(loaded, path) == 0)
        return true;
    loaded[0] = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0 || status.st_size < (off_t)sizeof(struct lg__header) || status.st_size > MOST_BYTES)
        return false;
    size = (size_t)status.st_size;
    free(bytes);
    bytes = malloc(size);
    bool is_read = bytes && read(file, bytes, size) == (ssize_t)size;
    close(file);
    if (is_read)
        snprintf(loaded, sizeof loaded, "%s", path);
    return is_read;
}

static void *section(enum lg__section_kind kind, size_t least)
{
    const struct lg__header *header = (const void *)bytes;
    for (uint32_t i = 0; i < header->section_count && i < LG__SECTIONS_MAX; i++) {
        const struct lg__section *found = &header->sections[i];
        if (found->kind == (uint32_t)kind && found->size >= least && found->offset <= size - least)
            return bytes + found->offset;
    }
    return NULL;
}

static bool parse_id(const char *hex, uint8_t id[16])
{
    memset(id, 0, 16);
    if (strcmp(hex, "0") == 0)
        return true;
    for (int i = 0; i < 16; i++)
        if (sscanf(hex + (size_t)i * 2, "%2" SCNx8, &id[i]) != 1)
            return false;
    return true;
}

/* Words of a line that may be missing. */
struct changes {
    char app[64], boot[64], kernel[64];
};

static bool rewrite(const char *directory, uint64_t number, uint64_t seconds, const char *version, const char *machine,
                    const struct changes *changes)
{
    struct lg__identity *identity = section(LG__SECTION_IDENTITY, sizeof *identity);
    struct lg__system *system = section(LG__SECTION_SYSTEM, sizeof *system);
    if (!identity || !system || !parse_id(machine, system->machine.id))
        return false;
    memcpy(identity->uuid, system->machine.id, 8);
    const uint32_t rest[2] = { lg__crc32c(0, directory, strlen(directory)), (uint32_t)number };
    memcpy(identity->uuid + 8, rest, sizeof rest);
    identity->ordinal = number;
    identity->wall_ns = seconds * UINT64_C(1000000000);
    snprintf(identity->app_version, sizeof identity->app_version, "%s", version);
    if (changes->app[0])
        snprintf(identity->app_id, sizeof identity->app_id, "%s", changes->app);
    if (changes->boot[0] && !parse_id(changes->boot, identity->boot_id))
        return false;
    if (changes->kernel[0])
        snprintf(system->kernel, sizeof system->kernel, "%s", changes->kernel);
    identity->crc = lg__crc32c(0, identity, offsetof(struct lg__identity, crc));
    system->crc = lg__crc32c(0, system->invocation, offsetof(struct lg__system, command_line) - offsetof(struct lg__system, invocation) +
                                                        system->command_line_size);
    return true;
}

/* Pages of zeros stay holes, as in the files of the library. */
static bool save(const char *directory, uint64_t number)
{
    static const uint8_t zeros[PAGE];
    const struct lg__identity *identity = section(LG__SECTION_IDENTITY, sizeof *identity);
    char path[4096], uuid[37], *end = uuid;
    for (int i = 0; i < 16; i++)
        end += sprintf(end, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", identity->uuid[i]);
    snprintf(path, sizeof path, "%s/runs/%08" PRIu64 "-%s.lgrun", directory, number, uuid);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool is_written = file >= 0 && ftruncate(file, (off_t)size) == 0;
    for (size_t at = 0; is_written && at < size; at += PAGE) {
        size_t part = size - at < PAGE ? size - at : PAGE;
        if (memcmp(bytes + at, zeros, part) != 0)
            is_written = pwrite(file, bytes + at, part, (off_t)at) == (ssize_t)part;
    }
    return close(file) == 0 && is_written;
}

int main(void)
{
    static char line[4096];
    char file[1024], directory[1024], version[64], machine[64];
    uint64_t number, seconds;
    while (fgets(line, sizeof line, stdin)) {
        struct changes changes = { 0 };
        if (sscanf(line, "%1023s %1023s %" SCNu64 " %" SCNu64 " %63s %63s %63s %63s %63s", file, directory, &number, &seconds, version, machine,
                   changes.app, changes.boot, changes.kernel) < 6)
            return 2;
        if (!load(file) || !rewrite(directory, number, seconds, version, machine, &changes) || !save(directory, number)) {
            fprintf(stderr, "fleet-copies: %s cannot be copied to %s\n", file, directory);
            return 1;
        }
        /* What one line changed is not in the next one. */
        if (changes.app[0])
            loaded[0] = 0;
    }
    return 0;
}
