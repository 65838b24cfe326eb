/* Hangs: a thread kills the program once LaunchGuard has the stack of the hang. */
#include "bugs.h"
#include "../Support/waiting.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other_lock = PTHREAD_MUTEX_INITIALIZER;

static void *kill_in_hang(void *unused)
{
    (void)unused;
    wait_until(hangs());
    kill(getpid(), SIGKILL);
    return NULL;
}

static void begin(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, kill_in_hang, NULL);
    beat();
}

KEPT void spin(void) { for (volatile unsigned long i = 0;; i++) if (i % 3 == 0) i *= 1; }
KEPT void other_spin(void) { for (volatile unsigned long i = 0;; i++) if (i % 5 == 0) i += 1; }
static void hang_spin(long unused) { (void)unused; begin(); spin(); STAY; }
static void hang_other_spin(long unused) { (void)unused; begin(); other_spin(); STAY; }

KEPT void take(long which)
{
    pthread_mutex_lock(&lock);
    if (which == 1)
        pthread_mutex_lock(&lock);
    STAY;
    pthread_mutex_lock(&other_lock);
    pthread_mutex_lock(&other_lock);
    STAY;
}
static void hang_lock(long which) { begin(); take(which); STAY; }

KEPT void poll_for_ever(int first, int second)
{
    for (;;) {
        poll(NULL, 0, first);
        STAY;
        poll(NULL, 0, second);
        STAY;
    }
}
/* At the first rest, or at the second. */
static void hang_polls(long which) { begin(); poll_for_ever(which == 1 ? -1 : 1, which == 1 ? 1 : -1); STAY; }

const struct bug hang_bugs[] = {
    { "hang", hang_spin, 0 },
    { "other hang", hang_other_spin, 0 },
    { "first lock", hang_lock, 1 },
    { "second lock", hang_lock, 2 },
    { "polls", hang_polls, 1 },
    { "polls again", hang_polls, 2 },
    { NULL, NULL, 0 },
};
