/* lg_witness(): a supervisor stores the wait status of a process that it has waited for.
 *
 * A process that may write to the run file may have written anything into it, and may belong to
 * another user than the supervisor. So nothing is mapped (a file that is cut meanwhile would end
 * the supervisor by SIGBUS), every bound is checked, and nothing is written but the two fields of
 * the witness and the word by which the ledger tells a clean end. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launchguard/reader.h"
#include "launchguard/session.h"
#include "os/os.h"
#include "session/session.h"
#include "store/crc32c.h"
#include "store/header.h"
#include "store/run.h"

/* Two witnesses of one process wait for each other for at most these tries. */
#define LOCK_TRIES 50
#define LOCK_WAIT_NS 2000000L

struct found {
    char name[LG__RUN_NAME_BYTES];
    lg_run_info info;
    uint64_t newest; /* number of the newest file */
    lg_status why;   /* why that one cannot be read; LG_OK: it can */
};

static lg_status from_errno(int error)
{
    lg_status status = lg__problem_from_errno(error);
    return status == LG_ERR_NOT_DIRECTORY ? LG_ERR_NOT_FOUND : status;
}

static bool this_boot(const lg_run_info *info)
{
    uint8_t now[LG__UUID_BYTES];
    char text[37];
    if (!lg__os_boot_id(now))
        return true;
    lg__run_uuid_text(now, text);
    return strcmp(text, info->boot_id) == 0;
}

static void consider_run_file(const char *state_directory, const char *name, int32_t pid, struct found *found)
{
    char path[4096 + 96], *end;
    lg_reader *reader;
    lg_run_info info;
    size_t size = strlen(name);
    uint64_t ordinal = strtoull(name, &end, 10);
    if (size >= LG__RUN_NAME_BYTES || size < 6 || strcmp(name + size - 6, ".lgrun") != 0 || end == name || *end != '-')
        return;
    int length = snprintf(path, sizeof path, "%s/runs/%s", state_directory, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return;
    lg_status status = lg_reader_open(path, &reader);
    if (status == LG_OK) {
        status = lg_reader_run(reader, &info);
        lg_reader_close(reader);
    }
    if (ordinal > found->newest) {
        found->newest = ordinal;
        found->why = status;
    }
    if (status == LG_OK && info.pid == pid && this_boot(&info) && (!found->name[0] || info.ordinal > found->info.ordinal)) {
        memcpy(found->name, name, size + 1);
        found->info = info;
    }
}

/* The newest run of a process, of this boot. A damaged or newer file is reported only where it is
 * the newest of all: it may be the one. */
static lg_status find_run(int runs, const char *state_directory, int32_t pid, struct found *ret_found)
{
    memset(ret_found, 0, sizeof *ret_found);
    int copy = openat(runs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        int error = errno;
        if (copy >= 0)
            close(copy);
        errno = error;
        return from_errno(error);
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        consider_run_file(state_directory, entry->d_name, pid, ret_found);
    closedir(stream);
    if (ret_found->name[0])
        return ret_found->info.alive ? LG_ERR_STATE : LG_OK;
    return ret_found->why != LG_OK ? ret_found->why : LG_ERR_NOT_FOUND;
}

static bool read_at(int file, uint64_t at, void *to, size_t size)
{
    return pread(file, to, size, (off_t)at) == (ssize_t)size;
}

static bool write_at(int file, uint64_t at, const void *from, size_t size)
{
    return pwrite(file, from, size, (off_t)at) == (ssize_t)size;
}

static lg_status read_header(int file, const char magic[8], uint16_t major, struct lg__header *ret_header)
{
    struct lg__header header;
    if (!read_at(file, 0, &header, sizeof header) || memcmp(header.magic, magic, sizeof header.magic) != 0 ||
        header.byte_order != LG__BYTE_ORDER_MARK)
        return LG_ERR_DAMAGED;
    if (header.major > major || header.incompat_flags)
        return LG_ERR_NEWER;
    if (header.major < major)
        return LG_ERR_OLDER;
    if (header.header_bytes < sizeof header || header.crc != lg__header_crc(&header) || header.section_count > LG__SECTIONS_MAX)
        return LG_ERR_DAMAGED;
    *ret_header = header;
    return LG_OK;
}

/* A section of at least `least` bytes that lies within the file; NULL: there is none. */
static const struct lg__section *find_section(const struct lg__header *header, uint64_t file_size, uint32_t kind, size_t least)
{
    for (uint32_t i = 0; i < header->section_count; i++) {
        const struct lg__section *section = &header->sections[i];
        if (section->kind != kind)
            continue;
        bool within = section->offset <= file_size && section->size <= file_size - section->offset;
        return within && section->offset % 64 == 0 && section->size >= least ? section : NULL;
    }
    return NULL;
}

/* Where the state is, in a file that is still the one that was found. */
static lg_status locate_state(int file, uint64_t file_size, const struct found *found, uint64_t *ret_state)
{
    struct lg__header header;
    struct lg__identity identity;
    char uuid[37];
    lg_status status = read_header(file, LG__MAGIC_RUN, LG__RUN_MAJOR, &header);
    if (status != LG_OK)
        return status;
    const struct lg__section *state = find_section(&header, file_size, LG__SECTION_STATE, sizeof(struct lg__state));
    const struct lg__section *who = find_section(&header, file_size, LG__SECTION_IDENTITY, sizeof identity);
    if (!state || !who || !read_at(file, who->offset, &identity, sizeof identity) ||
        identity.crc != lg__crc32c(0, &identity, offsetof(struct lg__identity, crc)))
        return LG_ERR_DAMAGED;
    lg__run_uuid_text(identity.uuid, uuid);
    if (strcmp(uuid, found->info.uuid) != 0)
        return LG_ERR_DAMAGED; /* another file is in its place now */
    *ret_state = state->offset;
    return LG_OK;
}

/* The ledger may tell a clean end of the run, which the wait status is to replace. A ledger that no
 * start uses tells nothing. */
static lg_status withdraw_clean_end(int runs, uid_t owner, uint64_t ordinal)
{
    struct lg__header header;
    struct stat info;
    uint64_t told = 0;
    int file = openat(runs, "../ledger.lg", O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return errno == ENOENT || errno == ELOOP ? LG_OK : from_errno(errno);
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1 && info.st_uid == owner &&
        read_header(file, LG__MAGIC_LEDGER, LG__LEDGER_MAJOR, &header) == LG_OK) {
        const struct lg__section *hot = find_section(&header, (uint64_t)info.st_size, LG__SECTION_HOT, sizeof(struct lg__hot));
        uint64_t at = hot ? hot->offset + offsetof(struct lg__hot, clean_end.ordinal) : 0;
        if (hot && read_at(file, at, &told, sizeof told) && told == ordinal)
            write_at(file, at, &(uint64_t){ 0 }, sizeof told);
    }
    close(file);
    return LG_OK;
}

bool lg__witness_lock(int file, int how)
{
    const struct timespec wait = { 0, LOCK_WAIT_NS };
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (flock(file, how | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&wait, NULL);
    }
    return false;
}

/* A later start has said in the ledger how the run ended. Secondary runs are in no ledger. */
static bool is_classified(const char *state_directory, const struct found *found)
{
    char path[4096 + 96];
    lg_reader *reader;
    lg_ledger_info ledger = { .last_ordinal = 0 };
    snprintf(path, sizeof path, "%s/ledger.lg", state_directory);
    if (found->info.secondary || lg_reader_open(path, &reader) != LG_OK)
        return false;
    if (lg_reader_ledger(reader, &ledger) != LG_OK)
        ledger.last_ordinal = 0;
    lg_reader_close(reader);
    return ledger.last_ordinal > found->info.ordinal;
}

static lg_status store_wait_status(const char *state_directory, int runs, int file, const struct stat *info, const struct found *found, int32_t wait_status)
{
    uint64_t state = 0;
    uint32_t witnessed = 1;
    /* One lock keeps two witnesses apart, and the next start away while it classifies the run. The
     * other keeps the file from being taken for another run. Both go with their descriptors. */
    if (!lg__witness_lock(runs, LOCK_EX) || !lg__witness_lock(file, LOCK_SH))
        return LG_ERR_SYSTEM;
    lg_status status = locate_state(file, (uint64_t)info->st_size, found, &state);
    if (status != LG_OK)
        return status;
    if (!read_at(file, state + offsetof(struct lg__state, witnessed), &witnessed, sizeof witnessed))
        return LG_ERR_DAMAGED;
    if (witnessed || is_classified(state_directory, found))
        return LG_ERR_ALREADY;
    status = withdraw_clean_end(runs, info->st_uid, found->info.ordinal);
    if (status != LG_OK)
        return status;
    witnessed = 1;
    if (!write_at(file, state + offsetof(struct lg__state, witness_status), &wait_status, sizeof wait_status) ||
        !write_at(file, state + offsetof(struct lg__state, witnessed), &witnessed, sizeof witnessed))
        return LG_ERR_SYSTEM;
    return LG_OK;
}

lg_status lg_witness(const char *state_directory, int32_t pid, int wait_status)
{
    char path[4096 + 8];
    struct stat folder, info;
    struct found found;
    if (!state_directory || !*state_directory || pid <= 0 || (!WIFEXITED(wait_status) && !WIFSIGNALED(wait_status)))
        return LG_ERR_ARGUMENT;
    int length = snprintf(path, sizeof path, "%s/runs", state_directory);
    if (length < 0 || (size_t)length >= sizeof path)
        return LG_ERR_NOT_FOUND;
    int runs = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (runs < 0) {
        int error = errno;
        /* O_DIRECTORY|O_NOFOLLOW reports a link as ENOTDIR. */
        if (error == ENOTDIR && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
            return LG_ERR_LINK;
        errno = error;
        return from_errno(error);
    }
    lg__crc32c_init();
    lg_status status = find_run(runs, state_directory, pid, &found);
    int file = -1;
    if (status == LG_OK && (file = openat(runs, found.name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) < 0)
        status = from_errno(errno);
    /* A file that belongs to another user than its folder, or that has another name elsewhere, was
     * put there. */
    if (status == LG_OK && (fstat(runs, &folder) != 0 || fstat(file, &info) != 0))
        status = LG_ERR_SYSTEM;
    if (status == LG_OK && (!S_ISREG(info.st_mode) || info.st_nlink != 1 || info.st_size < 0))
        status = LG_ERR_DAMAGED;
    if (status == LG_OK && (info.st_uid != folder.st_uid || (geteuid() != 0 && info.st_uid != geteuid())))
        status = LG_ERR_OWNER;
    if (status == LG_OK)
        status = store_wait_status(state_directory, runs, file, &info, &found, wait_status);
    int error = errno;
    if (file >= 0)
        close(file);
    close(runs);
    errno = error;
    return status;
}
