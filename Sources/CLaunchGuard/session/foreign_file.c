#include "session/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/header.h"

lg_status lg__foreign_file_status(int error)
{
    lg_status status = lg__problem_from_errno(error);
    return status == LG_ERR_NOT_DIRECTORY ? LG_ERR_NOT_FOUND : status;
}

/* Somebody else put the file there: it belongs to another user than its folder, or has another name
 * elsewhere. */
static lg_status check_origin(int folder, struct lg__foreign_file *file)
{
    struct stat above, info;
    if (fstat(folder, &above) != 0 || fstat(file->file, &info) != 0)
        return LG_ERR_SYSTEM;
    if (!S_ISREG(info.st_mode) || info.st_nlink != 1 || info.st_size < 0)
        return LG_ERR_DAMAGED;
    if (info.st_uid != above.st_uid || (geteuid() != 0 && info.st_uid != geteuid()))
        return LG_ERR_OWNER;
    file->size = (uint64_t)info.st_size;
    file->owner = info.st_uid;
    return LG_OK;
}

lg_status lg__foreign_file_open(int folder, const char *name, struct lg__foreign_file *ret_file)
{
    struct lg__foreign_file file = { .file = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) };
    if (file.file < 0)
        return lg__foreign_file_status(errno);
    lg_status status = check_origin(folder, &file);
    if (status == LG_OK)
        *ret_file = file;
    else
        lg__foreign_file_close(&file);
    return status;
}

void lg__foreign_file_close(const struct lg__foreign_file *file)
{
    int error = errno;
    close(file->file);
    errno = error;
}

bool lg__foreign_file_read(const struct lg__foreign_file *file, uint64_t at, void *to, size_t size)
{
    return pread(file->file, to, size, (off_t)at) == (ssize_t)size;
}

bool lg__foreign_file_write(const struct lg__foreign_file *file, uint64_t at, const void *from, size_t size)
{
    return pwrite(file->file, from, size, (off_t)at) == (ssize_t)size;
}

lg_status lg__foreign_file_header(const struct lg__foreign_file *file, const char magic[8], uint16_t major, struct lg__header *ret_header)
{
    struct lg__header header;
    if (!lg__foreign_file_read(file, 0, &header, sizeof header))
        return LG_ERR_DAMAGED;
    lg_status status = lg__header_check(&header, magic, major);
    if (status == LG_OK)
        *ret_header = header;
    return status;
}

const struct lg__section *lg__foreign_file_section(const struct lg__foreign_file *file, const struct lg__header *header, uint32_t kind, size_t least)
{
    for (uint32_t i = 0; i < header->section_count; i++) {
        const struct lg__section *section = &header->sections[i];
        if (section->kind != kind)
            continue;
        bool within = section->offset <= file->size && section->size <= file->size - section->offset;
        return within && section->offset % 64 == 0 && section->size >= least ? section : NULL;
    }
    return NULL;
}
