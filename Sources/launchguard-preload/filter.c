/* System calls by prctl() and syscall() that concern the session. One puts a filter of system calls
 * on the program (seccomp): from then on LaunchGuard asks nothing of the kernel where the program
 * ends, as what a filter does not allow may kill the process. One ends the process. */
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/capture.h"

static int (*libc_prctl)(int, ...);
static long (*libc_syscall)(long, ...);

/* Look the functions up at start: dlsym() is not for a signal handler. A constructor of another
 * library may need one before. */
__attribute__((constructor)) static void find(void)
{
    void *found = dlsym(RTLD_NEXT, "prctl");
    memcpy(&libc_prctl, &found, sizeof found);
    found = dlsym(RTLD_NEXT, "syscall");
    memcpy(&libc_syscall, &found, sizeof found);
}

static bool confines(long number, long first)
{
    return (number == SYS_seccomp && (first == SECCOMP_SET_MODE_FILTER || first == SECCOMP_SET_MODE_STRICT)) ||
           (number == SYS_prctl && first == PR_SET_SECCOMP);
}

/* Before the call: after it the filter counts. */
static long take_back_if_refused(long result)
{
    if (result < 0)
        lg__capture_confine(false);
    return result;
}

#define REST(array, last, type)              \
    type array[6];                           \
    va_list list;                            \
    va_start(list, last);                    \
    for (int i = 0; i < 6; i++)              \
        array[i] = va_arg(list, type);       \
    va_end(list)

LG__EXPORT int prctl(int option, ...)
{
    REST(rest, option, unsigned long);
    if (!libc_prctl)
        find();
    if (!libc_prctl) {
        errno = ENOSYS;
        return -1;
    }
    if (option != PR_SET_SECCOMP)
        return libc_prctl(option, rest[0], rest[1], rest[2], rest[3]);
    lg__capture_confine(true);
    return (int)take_back_if_refused(libc_prctl(option, rest[0], rest[1], rest[2], rest[3]));
}

LG__EXPORT long syscall(long number, ...)
{
    REST(rest, number, long);
    if (!libc_syscall)
        find();
    if (!libc_syscall) {
        errno = ENOSYS;
        return -1;
    }
    if (number == SYS_exit_group)
        _exit((int)rest[0]);
    if (!confines(number, rest[0]))
        return libc_syscall(number, rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]);
    lg__capture_confine(true);
    return take_back_if_refused(libc_syscall(number, rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]));
}
