#include "store/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"
#include "store/crc32c.h"
#include "store/problem.h"
#include "store/run.h"

void lg__report_name(const struct lg__report_name *name, char ret_text[LG__REPORT_NAME_BYTES])
{
    char uuid[37];
    lg__run_uuid_text(name->uuid, uuid);
    snprintf(ret_text, LG__REPORT_NAME_BYTES, "%u-%020" PRIu64 "-%s.lgreport", (unsigned)name->priority, name->ordinal, uuid);
}

bool lg__report_parse_name(const char *text, struct lg__report_name *ret_name)
{
    struct lg__report_name name = { .ordinal = 0 };
    char same[LG__REPORT_NAME_BYTES];
    if (strlen(text) != LG__REPORT_NAME_BYTES - 1 || text[0] < '0' || text[0] > '0' + LG__PRIORITY_OTHER)
        return false;
    name.priority = (enum lg__priority)(text[0] - '0');
    name.ordinal = strtoull(text + 2, NULL, 10);
    if (!lg__os_uuid(text + 23, name.uuid))
        return false;
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
        header.brief_bytes > LG__REPORT_BRIEF_MAX || header.full_bytes > LG__REPORT_FULL_MAX || header.full_taken > header.full_bytes ||
        (uint64_t)info.st_size != sizeof header + (uint64_t)header.brief_bytes + header.full_bytes || header.error[sizeof header.error - 1])
        return LG_ERR_DAMAGED;
    *ret_header = header;
    return LG_OK;
}
