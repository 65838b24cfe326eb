#include "watch/exit_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* <linux/pidfd.h> of Linux 6.15; older headers do not have it. */
struct pidfd_info_6_15 {
    uint64_t mask;
    uint64_t cgroupid;
    uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    int32_t exit_code;
};
#define PIDFD_INFO_EXIT_6_15 (UINT64_C(1) << 3)
#define PIDFD_GET_INFO_6_15 _IOWR(0xFF, 11, struct pidfd_info_6_15)

enum found { FOUND_NONE, FOUND_ALIVE, FOUND_ENDED, FOUND_STATUS };

/* A field, from 4, of a line of /proc/PID/stat that begins at its third field. NULL: there are
 * fewer. */
static const char *field_of(const char *third, int number)
{
    for (int i = 3; third && i < number; i++)
        third = (third = strchr(third, ' ')) ? third + 1 : NULL;
    return third;
}

/* To others the kernel shows the exit code 0 (proc_pid_stat(5), field 52: PTRACE_MODE_READ). The
 * link wants the same right, and a process that has ended has no folder. */
static bool may_see_code(int32_t pid)
{
    char path[32], folder[1];
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)pid);
    return readlink(path, folder, sizeof folder) >= 0 || (errno != EACCES && errno != EPERM);
}

/* The process in /proc; before its parent has waited for it also its exit code, where the kernel
 * shows that to us. */
static enum found find(int32_t pid, uint64_t start_ticks, int *ret_wait_status)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (size <= 0)
        return FOUND_NONE;
    text[size] = 0;
    /* the name in parentheses may hold anything */
    const char *end = strrchr(text, ')'), *third = end && end[1] == ' ' ? end + 2 : NULL;
    const char *started = field_of(third, 22), *code = field_of(third, 52);
    if (!started || !code || strtoull(started, NULL, 10) != start_ticks)
        return FOUND_NONE;
    if (*third != 'Z')
        return FOUND_ALIVE;
    if (!may_see_code(pid))
        return FOUND_ENDED;
    *ret_wait_status = (int)strtol(code, NULL, 10);
    return FOUND_STATUS;
}

int exit_status_open(int32_t pid, uint64_t start_ticks)
{
    int ignored;
    long pidfd = syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0)
        return -1;
    /* The number may be another process' by now. */
    if (find(pid, start_ticks, &ignored) != FOUND_NONE)
        return (int)pidfd;
    close((int)pidfd);
    errno = ESRCH;
    return -1;
}

enum exit_status_known exit_status_read(int pidfd, int32_t pid, uint64_t start_ticks, int *ret_wait_status)
{
    struct pidfd_info_6_15 info = { .mask = PIDFD_INFO_EXIT_6_15 };
    if (ioctl(pidfd, PIDFD_GET_INFO_6_15, &info) == 0 && info.mask & PIDFD_INFO_EXIT_6_15) {
        *ret_wait_status = info.exit_code;
        return EXIT_STATUS_KNOWN;
    }
    switch (find(pid, start_ticks, ret_wait_status)) {
    case FOUND_STATUS: return EXIT_STATUS_KNOWN;
    case FOUND_ENDED:
    case FOUND_ALIVE: return EXIT_STATUS_LATER;
    case FOUND_NONE: break;
    }
    /* The parent may have waited in between. */
    info = (struct pidfd_info_6_15){ .mask = PIDFD_INFO_EXIT_6_15 };
    if (ioctl(pidfd, PIDFD_GET_INFO_6_15, &info) == 0 && info.mask & PIDFD_INFO_EXIT_6_15) {
        *ret_wait_status = info.exit_code;
        return EXIT_STATUS_KNOWN;
    }
    return EXIT_STATUS_NEVER;
}
