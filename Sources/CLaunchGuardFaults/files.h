/* Files that leave nothing behind, whoever dies when. */
#ifndef LAUNCHGUARD_FAULTS_FILES_H
#define LAUNCHGUARD_FAULTS_FILES_H

#include <stddef.h>

/* A file without a name, of this size. */
int lgf_nameless_file(size_t size);
/* An empty file on a file system of its own that holds so many bytes and goes away with the file. */
int lgf_small_disk_file(size_t disk_bytes);
/* Let the process see, where `path` is, an empty file system that holds so many bytes. Only this process and its children see it. */
void lgf_small_disk_at(const char *path, size_t disk_bytes);

#endif
