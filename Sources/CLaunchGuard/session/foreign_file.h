/* A file of a state directory that another process writes.
 *
 * A process that may write to the file may have written anything into it, and may belong to another
 * user. So nothing is mapped (a file that is cut meanwhile would end the caller by SIGBUS), and
 * every bound is checked. */
#ifndef LG_SESSION_FOREIGN_FILE_H
#define LG_SESSION_FOREIGN_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "store/format.h"
#include "store/problem.h"

struct lg__foreign_file {
    int file;      /* descriptor */
    uint64_t size; /* when it was opened */
    uid_t owner;
};

/* Open a file of `folder` (a descriptor) for reading and writing: a plain file without another
 * name, of the owner of the folder, who is this user unless this one is root. LG_ERR_NOT_FOUND;
 * LG_ERR_DAMAGED; LG_ERR_OWNER; LG_ERR_SYSTEM and others (errno). */
lg_status lg__foreign_file_open(int folder, const char *name, struct lg__foreign_file *ret_file);
/* Keeps errno. The locks of the file go. */
void lg__foreign_file_close(const struct lg__foreign_file *file);

bool lg__foreign_file_read(const struct lg__foreign_file *file, uint64_t at, void *to, size_t size);
bool lg__foreign_file_write(const struct lg__foreign_file *file, uint64_t at, const void *from, size_t size);

/* The header, checked. LG_ERR_DAMAGED, LG_ERR_NEWER. */
lg_status lg__foreign_file_header(const struct lg__foreign_file *file, const char magic[8], uint16_t major, struct lg__header *ret_header);
/* A section of at least `least` bytes that lies within the file; NULL: there is none. */
const struct lg__section *lg__foreign_file_section(const struct lg__foreign_file *file, const struct lg__header *header, uint32_t kind, size_t least);

/* The status of an errno, where a path is a name in a state directory. */
lg_status lg__foreign_file_status(int error);

#endif
