/* Ends that do not pass through exit(). _exit() is in the core, which completes a record there. */
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/preloaded.h"

static void (*libc_quick_exit)(int);
static int (*libc_daemon)(int, int);

__attribute__((constructor)) static void find(void)
{
    (void)LG__FIND(libc_quick_exit, "quick_exit");
    (void)LG__FIND(libc_daemon, "daemon");
}

LG__EXPORT _Noreturn void quick_exit(int status)
{
    lg__preloaded_leaves(status);
    if (LG__FIND(libc_quick_exit, "quick_exit"))
        libc_quick_exit(status);
    _exit(status);
}

/* The parent leaves inside of it. */
LG__EXPORT int daemon(int keeps_directory, int keeps_files)
{
    const pid_t parent = getpid();
    if (!LG__FIND(libc_daemon, "daemon")) {
        errno = ENOSYS;
        return -1;
    }
    const bool leaves = lg__preloaded_leaves(0);
    const int result = libc_daemon(keeps_directory, keeps_files);
    if (leaves && result != 0 && getpid() == parent)
        lg__preloaded_goes_on();
    return result;
}
