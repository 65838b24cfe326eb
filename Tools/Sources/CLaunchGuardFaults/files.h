/* Files that leave nothing behind, whichever process dies at whichever time. */
#ifndef LAUNCHGUARD_FAULTS_FILES_H
#define LAUNCHGUARD_FAULTS_FILES_H

#include <stddef.h>

/* A file without a name, of this size. */
int lgf_nameless_file(size_t size);
/* An empty file on a file system of its own with room for this number of bytes. The file system
 * goes away with the file. */
int lgf_small_disk_file(size_t disk_bytes);
/* Mount an empty file system with room for this number of bytes at `path`. Only this process and
 * its children see it. */
void lgf_small_disk_at(const char *path, size_t disk_bytes);

#endif
