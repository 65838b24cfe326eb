/* How children of other processes ended, for Swift on Linux. Since 6.15 the kernel reports the
 * status to any process with a descriptor of the child, once the parent has waited for it. */
#ifndef LAUNCHGUARD_CPROCESS_ENDS_H
#define LAUNCHGUARD_CPROCESS_ENDS_H

#ifdef __linux__
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* <linux/pidfd.h> of Linux 6.15; older headers do not have it. */
struct lg_shim_pidfd_info {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};
#define LG_SHIM_PIDFD_INFO_EXIT (UINT64_C(1) << 3)
#define LG_SHIM_PIDFD_GET_INFO _IOWR(0xFF, 11, struct lg_shim_pidfd_info)

/* A descriptor of the process that has the number now; -1: there is none. */
static inline int lg_shim_open_process(pid_t process)
{
    return (int)syscall(SYS_pidfd_open, process, 0);
}

/* The wait status of a process that somebody has waited for; -1: the kernel does not report it. */
static inline int lg_shim_end_of(int process)
{
    struct lg_shim_pidfd_info info = { .mask = LG_SHIM_PIDFD_INFO_EXIT, .exit_code = -1 };
    return ioctl(process, LG_SHIM_PIDFD_GET_INFO, &info) == 0 && info.mask & LG_SHIM_PIDFD_INFO_EXIT ? info.exit_code : -1;
}

/* Whether the kernel knows the question. Whether it has the answer shows at the first end. */
static inline int lg_shim_tells_ends(void)
{
    struct lg_shim_pidfd_info info = { .mask = LG_SHIM_PIDFD_INFO_EXIT };
    const int self = lg_shim_open_process(getpid());
    const int works = self >= 0 && ioctl(self, LG_SHIM_PIDFD_GET_INFO, &info) == 0;
    if (self >= 0)
        close(self);
    return works;
}

/* Sources of events for one wait: signals, notices of folders, ends of processes. */
typedef struct lg_shim_events {
    int all;     /* an epoll of the others; -1: there is none */
    int signals; /* whether a signal waits, which stays so */
    int notices; /* of inotify */
} lg_shim_events;

/* `events`: EPOLLIN, or 0 for a process: its parent has waited for it. */
static inline int lg_shim_add_event(const lg_shim_events *all, int file, uint32_t events)
{
    struct epoll_event event = { .events = events, .data = { .fd = file } };
    return file >= 0 && epoll_ctl(all->all, EPOLL_CTL_ADD, file, &event) == 0;
}

static inline void lg_shim_close_events(lg_shim_events *events)
{
    int *const files[] = { &events->all, &events->signals, &events->notices };
    for (int i = 0; i < 3; i++) {
        if (*files[i] >= 0)
            close(*files[i]);
        *files[i] = -1;
    }
}

static inline lg_shim_events lg_shim_open_events(void)
{
    sigset_t every;
    sigfillset(&every);
    lg_shim_events events = { epoll_create1(EPOLL_CLOEXEC), signalfd(-1, &every, SFD_CLOEXEC | SFD_NONBLOCK), inotify_init1(IN_CLOEXEC | IN_NONBLOCK) };
    if (!lg_shim_add_event(&events, events.signals, EPOLLIN) || !lg_shim_add_event(&events, events.notices, EPOLLIN))
        lg_shim_close_events(&events);
    return events;
}

/* The file that has something, within some milliseconds (-1: for ever); -1: none had. */
static inline int lg_shim_next_event(const lg_shim_events *all, int milliseconds)
{
    struct epoll_event event;
    return epoll_wait(all->all, &event, 1, milliseconds) == 1 ? event.data.fd : -1;
}

/* Ask for notices of what comes into a folder. Returns their number, or -1. */
static inline int lg_shim_watch_folder(const lg_shim_events *all, const char *path)
{
    return inotify_add_watch(all->notices, path, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
}

static inline void lg_shim_forget_folder(const lg_shim_events *all, int number)
{
    inotify_rm_watch(all->notices, number);
}
#endif

#endif
