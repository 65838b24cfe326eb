/* Files that leave nothing behind, whichever process dies at whichever time. */
#include "files.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "catalogue.h"

/* Numbers and names that older headers lack. */
#ifndef SYS_fsopen
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
enum { CONFIG_STRING = 1, CONFIG_CREATE = 6 };

int lgf_nameless_file(size_t size)
{
    int file = memfd_create("launchguard-faults", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)size) != 0)
        lgf_skip("no memory for a file");
    return file;
}

int lgf_small_disk_file(size_t disk_bytes)
{
    char size[32];
    snprintf(size, sizeof size, "%zu", disk_bytes);
    int system = (int)syscall(SYS_fsopen, "tmpfs", 1);
    if (system < 0 || syscall(SYS_fsconfig, system, CONFIG_STRING, "size", size, 0) != 0 ||
        syscall(SYS_fsconfig, system, CONFIG_CREATE, NULL, NULL, 0) != 0)
        lgf_skip("a file system cannot be made: this needs root and Linux 5.2");
    int mount = (int)syscall(SYS_fsmount, system, 1, 0);
    close(system);
    int file = mount < 0 ? -1 : openat(mount, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        lgf_skip("a file system cannot be attached");
    return file;
}

void lgf_small_disk_at(const char *path, size_t disk_bytes)
{
    char options[48];
    snprintf(options, sizeof options, "size=%zu", disk_bytes);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        lgf_skip("a mount namespace needs root");
    if (mount("none", path, "tmpfs", 0, options) != 0)
        lgf_skip("no file system can be mounted");
}
