#include "watch/exit_status.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "watch/status_process.h"

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

int exit_status_open(int32_t pid, uint64_t start_ticks)
{
    int ignored;
    long pidfd = syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0)
        return -1;
    /* The number may be another process' by now. */
    if (status_process_find(pid, start_ticks, &ignored) != PROC_STAT_NONE)
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
    switch (status_process_find(pid, start_ticks, ret_wait_status)) {
    case PROC_STAT_STATUS: return EXIT_STATUS_KNOWN;
    case PROC_STAT_ENDED:
    case PROC_STAT_ALIVE: return EXIT_STATUS_LATER;
    case PROC_STAT_NONE: break;
    }
    /* The parent may have waited in between. */
    info = (struct pidfd_info_6_15){ .mask = PIDFD_INFO_EXIT_6_15 };
    if (ioctl(pidfd, PIDFD_GET_INFO_6_15, &info) == 0 && info.mask & PIDFD_INFO_EXIT_6_15) {
        *ret_wait_status = info.exit_code;
        return EXIT_STATUS_KNOWN;
    }
    return EXIT_STATUS_NEVER;
}
