#include "process/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "store/spool.h"

#define LOOK_NS 10000000L

static int change(int lock, int command, off_t byte, short type, short *ret_type)
{
    struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
    int result = fcntl(lock, command, &range);
    if (ret_type)
        *ret_type = range.l_type;
    return result;
}

static bool take(int lock, off_t byte)
{
    return change(lock, F_OFD_SETLK, byte, F_WRLCK, NULL) == 0;
}

static void let_go(int lock, off_t byte)
{
    change(lock, F_OFD_SETLK, byte, F_UNLCK, NULL);
}

/* Whether another agent has the byte. */
static bool is_taken(int lock, off_t byte)
{
    short type = F_UNLCK;
    return change(lock, F_OFD_GETLK, byte, F_WRLCK, &type) == 0 && type != F_UNLCK;
}

/* For a person. */
static void write_name(int lock)
{
    char text[64];
    int size = snprintf(text, sizeof text, "%d %s\n", (int)getpid(), LG_VERSION_STRING);
    if (ftruncate(lock, 0) == 0 && pwrite(lock, text, (size_t)size, 0) == size)
        LG_FAULT_POINT("agent: locked");
}

/* One try. `asks`: as the next agent, which there is one of. */
static enum place try_to_take(int lock, bool asks)
{
    if (take(lock, LG__AGENT_WORKS))
        return PLACE_TAKEN;
    if (errno != EAGAIN && errno != EACCES)
        return PLACE_FAILED;
    if (!asks)
        return PLACE_SERVED;
    if (is_taken(lock, LG__AGENT_SERVES)) {
        LG_FAULT_POINT("place: served");
        /* The agent at work serves no more when it looks whether another one waits, and ends for
         * that one. So this one waits no more when it looks whether it may end for the other. */
        let_go(lock, LG__AGENT_WAITS);
        if (is_taken(lock, LG__AGENT_SERVES))
            return PLACE_SERVED;
    }
    return take(lock, LG__AGENT_WAITS) ? PLACE_KEPT : PLACE_SERVED;
}

enum place place_take(int spool, unsigned wait_ms, int *ret_lock)
{
    const struct timespec look = { 0, LOOK_NS };
    const uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + wait_ms * UINT64_C(1000000);
    const int lock = openat(spool, "agent", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (lock < 0)
        return PLACE_FAILED;
    enum place place = try_to_take(lock, wait_ms > 0);
    if (place == PLACE_KEPT)
        futimens(lock, NULL);
    for (; place == PLACE_KEPT && lg__os_clock_ns(CLOCK_MONOTONIC) < until; place = try_to_take(lock, true))
        nanosleep(&look, NULL);
    if (place != PLACE_TAKEN) {
        int error = errno;
        close(lock);
        errno = error;
        return place;
    }
    if (wait_ms)
        place_serve(lock, true);
    let_go(lock, LG__AGENT_WAITS);
    write_name(lock);
    *ret_lock = lock;
    return PLACE_TAKEN;
}

void place_serve(int lock, bool serves)
{
    change(lock, F_OFD_SETLK, LG__AGENT_SERVES, serves ? F_WRLCK : F_UNLCK, NULL);
}

bool place_is_wanted(int lock)
{
    return is_taken(lock, LG__AGENT_WAITS);
}
