/* System calls by prctl() and syscall() that concern the session. One puts a filter of system calls
 * on the program (seccomp): what the filter does not allow may kill the process. LaunchGuard then
 * asks nothing of the kernel any more where the program ends, forks or executes, unless the filter
 * allows all that is asked there. One ends the process. */
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
#include "filter_rules.h"

static int (*libc_prctl)(int, ...);
static long (*libc_syscall)(long, ...);

__attribute__((constructor)) static void find(void)
{
    (void)LG__FIND(libc_prctl, "prctl");
    (void)LG__FIND(libc_syscall, "syscall");
}

/* Of the start of a forked child, of an end, and of the look at a program that is to be
 * executed. */
static const long needed[] = {
#ifdef SYS_access
    SYS_access, SYS_readlink, SYS_unlink,
#endif
    SYS_clock_gettime, SYS_close, SYS_exit_group, SYS_faccessat, SYS_faccessat2, SYS_fadvise64, SYS_fallocate, SYS_fcntl, SYS_flock, SYS_fstat,
    SYS_fstatfs, SYS_ftruncate, SYS_futex, SYS_getdents64, SYS_geteuid, SYS_getpid, SYS_getppid, SYS_getrandom, SYS_gettid, SYS_linkat, SYS_lseek,
    SYS_madvise, SYS_mkdirat, SYS_mmap, SYS_mprotect, SYS_munmap, SYS_newfstatat, SYS_openat, SYS_openat2, SYS_prctl, SYS_pread64,
    SYS_prlimit64, SYS_read, SYS_readlinkat, SYS_renameat, SYS_rt_sigaction, SYS_rt_sigpending, SYS_rt_sigprocmask, SYS_rt_sigtimedwait,
    SYS_set_robust_list, SYS_sigaltstack, SYS_symlinkat, SYS_sysinfo, SYS_uname, SYS_unlinkat, SYS_write,
};

static bool is_harmless(const void *filter)
{
    return !lg__capture_is_confined() && lg__filter_rules_allow(filter, needed, sizeof needed / sizeof needed[0]);
}

/* Before the call: after it the filter counts. Returns whether this was the first. */
static bool confine(void)
{
    const bool is_first = !lg__capture_is_confined();
    lg__capture_confine(true);
    return is_first;
}

static long take_back_if_refused(long result, bool is_first)
{
    if (result < 0 && is_first)
        lg__capture_confine(false);
    return result;
}

static bool confines(long number, const long rest[6])
{
    if (number == SYS_prctl && rest[0] == PR_SET_SECCOMP)
        return rest[1] != SECCOMP_MODE_FILTER || !is_harmless((const void *)rest[2]);
    return number == SYS_seccomp && (rest[0] == SECCOMP_SET_MODE_STRICT ||
                                     (rest[0] == SECCOMP_SET_MODE_FILTER && !is_harmless((const void *)rest[2])));
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
    if (!LG__FIND(libc_prctl, "prctl")) {
        errno = ENOSYS;
        return -1;
    }
    if (option != PR_SET_SECCOMP || (rest[0] == SECCOMP_MODE_FILTER && is_harmless((const void *)rest[1])))
        return libc_prctl(option, rest[0], rest[1], rest[2], rest[3]);
    const bool is_first = confine();
    return (int)take_back_if_refused(libc_prctl(option, rest[0], rest[1], rest[2], rest[3]), is_first);
}

LG__EXPORT long syscall(long number, ...)
{
    REST(rest, number, long);
    if (!LG__FIND(libc_syscall, "syscall")) {
        errno = ENOSYS;
        return -1;
    }
    if (number == SYS_exit_group)
        _exit((int)rest[0]);
    if (!confines(number, rest))
        return libc_syscall(number, rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]);
    const bool is_first = confine();
    return take_back_if_refused(libc_syscall(number, rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]), is_first);
}
