/* Opening a file: which kind it is, and which crash its reader speaks of. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "read/crashes.h"
#include "read/internal.h"
#include "store/crc32c.h"
#include "store/header.h"

/* A header may grow; this much of a larger one is enough. */
#define HEADER_BYTES_MAX 4096u

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
    if (memcmp(header->magic, LG__MAGIC_RUN, sizeof header->magic) == 0)
        reader->kind = LG_FILE_RUN;
    else if (memcmp(header->magic, LG__MAGIC_LEDGER, sizeof header->magic) == 0)
        reader->kind = LG_FILE_LEDGER;
    else
        return LG_ERR_DAMAGED;
    if (header->byte_order != LG__BYTE_ORDER_MARK)
        return LG_ERR_DAMAGED;
    uint16_t major = reader->kind == LG_FILE_RUN ? LG__RUN_MAJOR : LG__LEDGER_MAJOR;
    if (header->major > major || header->incompat_flags)
        return LG_ERR_NEWER;
    /* The checksum is the last but one word before `header_bytes`; it has been there in every
     * version. */
    if (header->header_bytes < sizeof *header || header->header_bytes > HEADER_BYTES_MAX ||
        header->crc != lg__header_crc(header) || header->section_count > LG__SECTIONS_MAX)
        return LG_ERR_DAMAGED;
    return header->major < major ? LG_ERR_OLDER : LG_OK;
}

/* No start takes the file for another run while it is being read. A file that one has taken before
 * is no more what the path says. */
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
    free(reader->memo);
    free(reader);
}

lg_file_kind lg_reader_kind(const lg_reader *reader)
{
    return reader->kind;
}
