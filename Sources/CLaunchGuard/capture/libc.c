/* The libc functions that LaunchGuard replaces. */
#include "capture/internal.h"

#ifdef LG_INTERPOSE_SIGNALS
#include <dlfcn.h>
#include <errno.h>
#include <mqueue.h>
#include <time.h>

typedef int (*action_function)(int, const struct sigaction *, struct sigaction *);
typedef void (*end_function)(int);

static void *next_of(_Atomic(void *) *kept, const char *name)
{
    void *found = atomic_load(kept);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        atomic_store(kept, found);
    }
    return found;
}

static _Atomic(void *) real_action, real_end, real_timer, real_notify;

int lg__libc_timer_create(clockid_t clock, struct sigevent *event, timer_t *ret_timer)
{
    void *found = next_of(&real_timer, "timer_create");
    int (*function)(clockid_t, struct sigevent *, timer_t *);
    memcpy(&function, &found, sizeof function);
    if (function)
        return function(clock, event, ret_timer);
    errno = ENOSYS;
    return -1;
}

int lg__libc_mq_notify(mqd_t queue, const struct sigevent *event)
{
    void *found = next_of(&real_notify, "mq_notify");
    int (*function)(mqd_t, const struct sigevent *);
    memcpy(&function, &found, sizeof function);
    if (function)
        return function(queue, event);
    errno = ENOSYS;
    return -1;
}

int lg__libc_sigaction(int signal, const struct sigaction *to, struct sigaction *ret_before)
{
    void *found = next_of(&real_action, "sigaction");
    action_function function;
    memcpy(&function, &found, sizeof function);
    if (function)
        return function(signal, to, ret_before);
    errno = ENOSYS;
    return -1;
}

_Noreturn void lg__libc_exit_at_once(int status)
{
    void *found = next_of(&real_end, "_exit");
    end_function function;
    memcpy(&function, &found, sizeof function);
    if (function)
        function(status);
    lg__os_exit(status);
}

uint64_t lg__libc_shut_abort;

/* glibc 2.n opens SIGABRT before abort() raises it, where n is less than this. */
#define ABORT_OPENS_UNTIL 41u

static void find_abort(void)
{
    void *found = dlsym(RTLD_NEXT, "gnu_get_libc_version");
    const char *(*version)(void);
    unsigned minor = ABORT_OPENS_UNTIL; /* of another libc */
    memcpy(&version, &found, sizeof version);
    if (version) {
        minor = 0;
        for (const char *at = version() + sizeof "2." - 1; *at >= '0' && *at <= '9'; at++)
            minor = 10 * minor + (unsigned)(*at - '0');
    }
    if (minor >= ABORT_OPENS_UNTIL)
        lg__libc_shut_abort = (uint64_t)(uintptr_t)dlsym(RTLD_NEXT, "abort");
}

/* A program may call one of them first in a signal handler, where dlsym() is not allowed. */
__attribute__((constructor)) static void find(void)
{
    next_of(&real_action, "sigaction");
    next_of(&real_end, "_exit");
    find_abort();
}

bool lg__libc_is_interposed(void)
{
    return true;
}
#else
int lg__libc_sigaction(int signal, const struct sigaction *to, struct sigaction *ret_before)
{
    return sigaction(signal, to, ret_before);
}

bool lg__libc_is_interposed(void)
{
    return false;
}

uint64_t lg__libc_shut_abort;
#endif
