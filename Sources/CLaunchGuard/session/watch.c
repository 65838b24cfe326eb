/* The watch thread looks at crashes whose fate is open, at heartbeats, deadlines and limits. It
 * exists only while there is something to look at. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"

/* The program may change its handlers at any time: a watch thread that is there checks them often
 * at first, later every minute. */
#define CHECK_FIRST_NS UINT64_C(1000000000)
#define CHECK_LAST_NS UINT64_C(64000000000)

/* While a crash is under way the thread looks at least this often. */
#define CRASH_NS UINT64_C(1000000000)

/* The kernel may end the program's threads one by one, as a sandbox does: the watch thread looks
 * this often whether any is left. */
#define ALONE_NS UINT64_C(1000000000)

static struct lg_session *watched_session LG__SMALL;

/* Look at heartbeats, deadlines and limits. Returns the nanoseconds until the next look. */
static uint64_t look_around(struct lg_session *session)
{
    if (atomic_load(&session->host.closed))
        return LG__NEVER;
    /* the windows first: one may find the hang that the look at the heartbeats takes stacks of */
    const uint64_t looks[] = { lg__window_look_around(&session->host),
                               lg__heartbeats_look(session),
                               lg__job_deadlines_look(session),
                               lg__memory_watch_look(session),
                               lg__limits_look(session, lg__os_clock_ns(CLOCK_MONOTONIC)),
                               lg__hang_look(&session->host, lg__os_clock_ns(CLOCK_MONOTONIC)) };
    uint64_t next = LG__NEVER;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        next = looks[i] < next ? looks[i] : next;
    return next;
}

/* libc changes the user, the groups and the capabilities of the threads that it knows. The watch
 * thread of a program that has such rights to lose looks this often whether the program has changed
 * them. The thread then goes; the next call of the program makes it anew, with the program's. */
#define RIGHTS_NS UINT64_C(1000000000)

struct rights {
    uint32_t own; /* of the watch thread; 0: there is nothing to lose, or it is not known */
    uint64_t next_ns;
};

static struct rights own_rights(uint64_t now)
{
    const uid_t user = getuid(), effective = geteuid();
    bool has_any = effective == 0 || effective != user;
    return (struct rights){ has_any ? lg__capture_rights(lg__os_tid()) : 0, now + RIGHTS_NS };
}

/* Returns the nanoseconds until the next look; 0: the rights have changed. */
static uint64_t look_at_rights(struct rights *rights, uint64_t now)
{
    if (!rights->own)
        return LG__NEVER;
    if (now < rights->next_ns)
        return rights->next_ns - now;
    rights->next_ns = now + RIGHTS_NS;
    return lg__capture_rights(lg__os_pid()) == rights->own ? RIGHTS_NS : 0;
}

/* The watch thread. It takes no lock, allocates nothing and calls no callback: it must work when
 * everything else does not. */
static void watch(void)
{
    struct lg_session *session = watched_session;
    uint64_t pause = CHECK_FIRST_NS, next = lg__os_clock_ns(CLOCK_MONOTONIC) + pause;
    struct rights rights = own_rights(next - pause);
    for (;;) {
        uint32_t seen = lg__watch_thread_seen();
        LG_FAULT_POINT("watch: wakes");
        uint64_t sleep = lg__capture_deadline(), now = lg__os_clock_ns(CLOCK_MONOTONIC);
        LG_FAULT_POINT("watch: looked");
        if (sleep == LG__NEVER && now >= next) {
            lg__capture_check(false);
            lg__heartbeats_check(session);
            pause = pause < CHECK_LAST_NS ? 2 * pause : pause;
            next = now + pause;
        }
        atomic_store(&session->host.sleeps_until_ns, LG__NEVER);
        if (lg__capture_busy()) { /* a crash must not wait for the rest */
            sleep = sleep < CRASH_NS ? sleep : CRASH_NS;
        } else {
            const bool open = sleep != LG__NEVER; /* nothing else looks at that crash */
            uint64_t around = look_around(session);
            sleep = around < sleep ? around : sleep;
            if (lg__outbox_waits(session->host.run.ring.outbox))
                lg__log_thread_wake();
            now = lg__os_clock_ns(CLOCK_MONOTONIC);
            uint64_t look = look_at_rights(&rights, now);
            lg__capture_end_if_alone();
            if (sleep == LG__NEVER || (look == 0 && !open)) {
                lg__watch_thread_leave(seen);
                rights.next_ns = now;
                continue;
            }
            sleep = look < sleep ? look : sleep;
            sleep = sleep < ALONE_NS ? sleep : ALONE_NS;
            uint64_t check = next > now ? next - now : 1;
            sleep = check < sleep && !open ? check : sleep;
            atomic_store(&session->host.sleeps_until_ns, now + sleep);
        }
        LG_FAULT_POINT("watch: sleeps");
        lg__watch_thread_sleep(seen, sleep ? sleep : 1);
    }
}

void (*lg__watch_start(struct lg_session *session))(void)
{
    watched_session = session;
    session->host.watched = true;
    atomic_store(&session->host.sleeps_until_ns, LG__NEVER);
    return watch;
}
