/* Functions of the C library that Swift does not see, because their number of arguments varies. */
#ifndef LAUNCHGUARD_CTHREAD_SHIM_H
#define LAUNCHGUARD_CTHREAD_SHIM_H

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether the calling thread is the process's first. */
static inline int lg_shim_is_main_thread(void)
{
    return syscall(SYS_gettid) == getpid();
}

/* Name the calling thread; cut after 15 bytes. */
static inline void lg_shim_name_thread(const char *name)
{
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif
