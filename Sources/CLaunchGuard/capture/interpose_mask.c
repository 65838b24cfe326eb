/* pthread_sigmask() and its relatives of the shared library: a thread that blocks the signals of
 * faults leaves a record all the same, and reads the mask that it set (mask.c). */
#include "capture/internal.h"

#ifdef LG_INTERPOSE_SIGNALS
#include <errno.h>
#include <limits.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int pthread_sigmask(int how, const sigset_t *to, sigset_t *ret_before)
{
    uint64_t signals = 0;
    if (to)
        memcpy(&signals, to, sizeof signals);
    if (to && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
        return EINVAL;
    const uint64_t before = to ? lg__mask_change(how, signals & ~LG__OS_OF_LIBC) : lg__mask_now();
    if (ret_before)
        memcpy(ret_before, &before, sizeof before);
    return 0;
}

EXPORT int sigprocmask(int how, const sigset_t *to, sigset_t *ret_before)
{
    const int error = pthread_sigmask(how, to, ret_before);
    if (error)
        errno = error;
    return error ? -1 : 0;
}

/* ---- the older functions, of one signal or of the first 32 ---- */

static int change_one(int how, int signal)
{
    if (signal < 1 || signal >= NSIG) {
        errno = EINVAL;
        return -1;
    }
    lg__mask_change(how, UINT64_C(1) << (signal - 1) & ~LG__OS_OF_LIBC);
    return 0;
}

EXPORT int sighold(int signal)
{
    return change_one(SIG_BLOCK, signal);
}

EXPORT int sigrelse(int signal)
{
    return change_one(SIG_UNBLOCK, signal);
}

EXPORT int sigblock(int signals)
{
    return (int)(uint32_t)lg__mask_change(SIG_BLOCK, (uint32_t)signals & ~LG__OS_OF_LIBC);
}

EXPORT int sigsetmask(int signals)
{
    return (int)(uint32_t)lg__mask_change(SIG_SETMASK, (uint32_t)signals & ~LG__OS_OF_LIBC);
}

EXPORT int siggetmask(void)
{
    return (int)(uint32_t)lg__mask_now();
}
#else
typedef int lg__mask_not_interposed;
#endif
