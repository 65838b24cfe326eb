#include "store/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "store/crc32c.h"
#include "store/map.h"
#include "store/run.h"

static const char *const folders[] = { "tmp", "new", "sent", "held", "dead", "requests" };

const char *lg__spool_folder(lg_delivery_state state)
{
    switch (state) {
    case LG_DELIVERY_PENDING: return "new";
    case LG_DELIVERY_SENT: return "sent";
    case LG_DELIVERY_HELD: return "held";
    case LG_DELIVERY_DEAD: return "dead";
    }
    return "dead";
}

int lg__spool_open(int state_directory, const char *path, bool make, struct lg__problem *problem)
{
    char folder_path[4096 + 96];
    snprintf(folder_path, sizeof folder_path, "%s/spool", path);
    if (!make) {
        int spool = openat(state_directory, "spool", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (spool < 0)
            lg__problem_set(problem, lg__problem_from_errno(errno), folder_path, errno);
        return spool;
    }
    int spool = lg__map_subdirectory(state_directory, "spool", folder_path, problem);
    for (size_t i = 0; spool >= 0 && i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(folder_path, sizeof folder_path, "%s/spool/%s", path, folders[i]);
        int folder = lg__map_subdirectory(spool, folders[i], folder_path, problem);
        if (folder < 0) {
            close(spool);
            return -1;
        }
        close(folder);
    }
    return spool;
}

/* ---- reports ---- */

void lg__report_name(const struct lg__report_name *name, char ret_text[LG__REPORT_NAME_BYTES])
{
    char uuid[37];
    lg__run_uuid_text(name->uuid, uuid);
    snprintf(ret_text, LG__REPORT_NAME_BYTES, "%u-%020" PRIu64 "-%s.lgreport", (unsigned)name->priority, name->ordinal, uuid);
}

static int hex(char digit)
{
    return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool lg__report_parse_name(const char *text, struct lg__report_name *ret_name)
{
    struct lg__report_name name = { .ordinal = 0 };
    char same[LG__REPORT_NAME_BYTES];
    if (strlen(text) != LG__REPORT_NAME_BYTES - 1 || text[0] < '0' || text[0] > '0' + LG__PRIORITY_OTHER)
        return false;
    name.priority = (enum lg__priority)(text[0] - '0');
    name.ordinal = strtoull(text + 2, NULL, 10);
    const char *at = text + 23;
    for (int i = 0; i < 16; i++, at += 2) {
        at += *at == '-';
        if (hex(at[0]) < 0 || hex(at[1]) < 0)
            return false;
        name.uuid[i] = (uint8_t)(hex(at[0]) << 4 | hex(at[1]));
    }
    lg__report_name(&name, same);
    if (strcmp(same, text) != 0)
        return false;
    *ret_name = name;
    return true;
}

void lg__report_seal(struct lg__report_header *header)
{
    header->error[sizeof header->error - 1] = 0;
    header->crc = lg__crc32c(0, header, offsetof(struct lg__report_header, crc));
}

lg_status lg__report_read(int folder, const char *name, struct lg__report_header *ret_header)
{
    struct lg__report_header header;
    struct stat info;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return errno == ENOENT ? LG_ERR_NOT_FOUND : lg__problem_from_errno(errno);
    bool plain = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
    bool whole = plain && pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header;
    close(file);
    if (!whole || memcmp(header.magic, LG__MAGIC_REPORT, sizeof header.magic) != 0)
        return LG_ERR_DAMAGED;
    if (header.major > LG__REPORT_MAJOR)
        return LG_ERR_NEWER;
    if (header.header_bytes != sizeof header || header.crc != lg__crc32c(0, &header, offsetof(struct lg__report_header, crc)) ||
        header.brief_bytes > LG__REPORT_BRIEF_MAX || header.full_bytes > LG__REPORT_FULL_MAX ||
        (uint64_t)info.st_size != sizeof header + (uint64_t)header.brief_bytes + header.full_bytes || header.error[sizeof header.error - 1])
        return LG_ERR_DAMAGED;
    *ret_header = header;
    return LG_OK;
}

/* ---- small files ---- */

bool lg__spool_agent_lives(int spool)
{
    int file = openat(spool, "agent", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool lives = file >= 0 && lg__map_locked(file);
    if (file >= 0)
        close(file);
    return lives;
}

bool lg__spool_is_off(int spool)
{
    return faccessat(spool, "off", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size) {
        ssize_t count = write(file, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

lg_status lg__spool_write(int spool, const char *name, const void *bytes, size_t size)
{
    char temporary[96];
    /* two writers never write the same file */
    snprintf(temporary, sizeof temporary, "tmp/%s.%d", name, (int)gettid());
    for (char *at = temporary + 4; *at; at++)
        *at = *at == '/' ? '.' : *at;
    unlinkat(spool, temporary, 0); /* of a process that died here */
    int file = openat(spool, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return lg__problem_from_errno(errno);
    LG_FAULT_POINT("spool: file made");
    bool written = write_all(file, bytes, size) && fsync(file) == 0;
    int error = errno;
    close(file);
    LG_FAULT_POINT("spool: file written");
    if (written && renameat(spool, temporary, spool, name) == 0) {
        fsync(spool);
        return LG_OK;
    }
    error = written ? errno : error;
    unlinkat(spool, temporary, 0);
    errno = error;
    return lg__problem_from_errno(error);
}

long lg__spool_read(int spool, const char *name, char *buffer, size_t room)
{
    struct stat info;
    int file = openat(spool, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return -1;
    ssize_t size = fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? pread(file, buffer, room - 1, 0) : -1;
    close(file);
    if (size < 0)
        return -1;
    buffer[size] = 0;
    return size;
}

/* ---- consent ---- */

struct lg__consent lg__consent_read(int spool)
{
    struct lg__consent consent = { .given = false };
    char text[64], given[8];
    uint64_t from;
    if (lg__spool_read(spool, "consent", text, sizeof text) > 0 && sscanf(text, "%7s %" SCNu64, given, &from) == 2) {
        consent.given = strcmp(given, "given") == 0;
        consent.from_ordinal = from;
    }
    return consent;
}

lg_status lg__consent_write(int spool, const struct lg__consent *consent)
{
    char text[64];
    int size = snprintf(text, sizeof text, "%s %" PRIu64 "\n", consent->given ? "given" : "none", consent->from_ordinal);
    return lg__spool_write(spool, "consent", text, (size_t)size);
}
