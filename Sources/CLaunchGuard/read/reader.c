/* Opening files and reading blocks: no value in a file is trusted here. */
#include "read/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/crc32c.h"
#include "store/header.h"

/* A header may grow; this much of a larger one is enough. */
#define HEADER_BYTES_MAX 4096u

bool lg__reader_bytes(const lg_reader *reader, uint64_t offset, void *to, size_t size)
{
    if (offset > reader->file_size || size > reader->file_size - offset)
        return false;
    size_t done = 0;
    while (done < size) {
        ssize_t count = pread(reader->file, (uint8_t *)to + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false; /* the file shrank meanwhile */
        done += (size_t)count;
    }
    return true;
}

bool lg__reader_section(const lg_reader *reader, uint32_t kind, struct lg__section *ret_section)
{
    for (uint32_t i = 0; i < reader->header.section_count; i++) {
        const struct lg__section *section = &reader->header.sections[i];
        if (section->kind != kind)
            continue;
        if (section->offset > reader->file_size || section->size > reader->file_size - section->offset)
            return false;
        *ret_section = *section;
        return true;
    }
    return false;
}

bool lg__reader_has_section(const lg_reader *reader, uint32_t kind)
{
    for (uint32_t i = 0; i < reader->header.section_count; i++)
        if (reader->header.sections[i].kind == kind)
            return true;
    return false;
}

bool lg__reader_block(const lg_reader *reader, uint32_t kind, uint64_t at, void *to, size_t size)
{
    struct lg__section section;
    if (!lg__reader_section(reader, kind, &section) || at > section.size || size > section.size - at)
        return false;
    return lg__reader_bytes(reader, section.offset + at, to, size);
}

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
    else if (!(reader = calloc(1, sizeof *reader)))
        status = LG_ERR_SYSTEM;
    if (status == LG_OK) {
        lg__crc32c_init();
        reader->file = file;
        reader->file_size = (uint64_t)info.st_size;
        status = read_header(reader);
    }
    if (status != LG_OK) {
        int error = errno;
        free(reader);
        close(file);
        errno = error;
        return status;
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
    free(reader);
}

lg_file_kind lg_reader_kind(const lg_reader *reader)
{
    return reader->kind;
}

void lg__reader_text(char *to, size_t to_size, const char *from, size_t from_size)
{
    size_t size = strnlen(from, from_size);
    if (size >= to_size)
        size = to_size - 1;
    memcpy(to, from, size);
    to[size] = 0;
}

void lg__reader_hex(char *to, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = 0;
}
