/* Opening a file: its kind, and the crash that its reader shows. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "read/crashes.h"
#include "read/reader.h"
#include "store/crc32c.h"
#include "store/header.h"

/* milliseconds; a start that takes a file has it for less than one */
#define HOLD_TRIES 100

static lg_status open_error(int error)
{
    switch (error) {
    case ELOOP: return LG_ERR_LINK;
    case ENOENT:
    case ENOTDIR: return LG_ERR_NOT_FOUND;
    case EACCES:
    case EPERM: return LG_ERR_PERMISSION;
    default: return LG_ERR_SYSTEM;
    }
}

static lg_status read_header(lg_reader *reader)
{
    struct lg__header *header = &reader->header;
    if (!lg__reader_bytes(reader, 0, header, sizeof *header))
        return LG_ERR_DAMAGED;
    reader->kind = memcmp(header->magic, LG__MAGIC_LEDGER, sizeof header->magic) == 0 ? LG_FILE_LEDGER : LG_FILE_RUN;
    return reader->kind == LG_FILE_RUN ? lg__header_check(header, LG__MAGIC_RUN, LG__RUN_MAJOR)
                                       : lg__header_check(header, LG__MAGIC_LEDGER, LG__LEDGER_MAJOR);
}

/* No start takes the file for another run during the reading. A file that a start has taken before
 * no longer belongs to the path. */
static bool hold_run(int file, const char *path, const struct stat *info)
{
    const struct timespec wait = { 0, 1000000 };
    struct stat now;
    for (int tries = 0; tries < HOLD_TRIES && flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK; tries++) {
        LG_FAULT_POINT("reader: waits for a start");
        nanosleep(&wait, NULL);
    }
    return lstat(path, &now) == 0 && now.st_ino == info->st_ino && now.st_dev == info->st_dev;
}

lg_status lg_reader_open(const char *path, lg_reader **ret_reader)
{
    if (!path || !ret_reader)
        return LG_ERR_ARGUMENT;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return open_error(errno);
    struct stat info;
    lg_status status = LG_OK;
    lg_reader *reader = NULL;
    if (fstat(file, &info) != 0)
        status = LG_ERR_SYSTEM;
    else if (!S_ISREG(info.st_mode))
        status = LG_ERR_DAMAGED;
    else if (!(reader = calloc(1, sizeof *reader)) || !(reader->memo = calloc(2, sizeof *reader->memo)))
        status = LG_ERR_SYSTEM;
    if (status == LG_OK) {
        lg__crc32c_init();
        reader->file = file;
        reader->file_size = (uint64_t)info.st_size;
        status = hold_run(file, path, &info) ? read_header(reader) : LG_ERR_NOT_FOUND;
    }
    if (status != LG_OK) {
        int error = errno;
        if (reader)
            free(reader->memo);
        free(reader);
        close(file);
        errno = error;
        return status;
    }
    if (reader->kind == LG_FILE_RUN) {
        lg__reader_briefs_open(reader);
        lg__crashes_select_end(reader);
    }
    *ret_reader = reader;
    return LG_OK;
}

void lg_reader_close(lg_reader *reader)
{
    if (!reader)
        return;
    close(reader->file);
    free(reader->log);
    free(reader->log_index);
    free(reader->modules);
    free(reader->amended);
    free(reader->memo);
    free(reader);
}

lg_file_kind lg_reader_kind(const lg_reader *reader)
{
    return reader->kind;
}
