/* Programs that end themselves, and signals from elsewhere. */
#undef NDEBUG
#include "bugs.h"
#include "../Support/waiting.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- assert() ---- */

static volatile long rows, columns;

#ifdef NEWER
KEPT void shrink(void)
{
    rows--;
    columns--;
}
#endif

KEPT void resize(long which)
{
    assert(which != 1 || rows > 0);
    if (which == 2)
        rows++;
    assert(which != 2 || columns > 0);
    if (which == 3)
        assert(rows > columns);
    columns--;
    if (which == 4)
        assert(rows < columns - 1);
    rows--;
    if (which == 5)
        assert(rows < columns - 1);
}

static void resize_one(long which) { resize(which); STAY; }
KEPT void rotate(long which) { resize(which); STAY; }
static void resize_other(long which) { rotate(which); STAY; }
static void resize_in_thread(long which) { in_thread(resize_one, which, 256 << 10); }

/* ---- abort() ---- */

KEPT void fatal(void) { STAY; abort(); }
KEPT void report(const char *text) { if (text) fatal(); }
KEPT void fail(const char *text) { report(text); STAY; }
KEPT void load(void) { fail("no track"); STAY; }
KEPT void store(void) { fail("no room"); STAY; }
KEPT void check(long which) { if (which) abort(); }
KEPT void check_one(long which) { check(which); STAY; }
KEPT void check_other(long which) { check(which); STAY; rows++; }
KEPT void inner(long which) { check_one(which); STAY; }
KEPT void outer_one(long which) { inner(which); STAY; }
KEPT void outer_other(long which) { inner(which); STAY; rows++; }
static void abort_near_one(long which) { check_one(which); STAY; }
static void abort_near_other(long which) { check_other(which); STAY; }
static void abort_far_one(long which) { outer_one(which); STAY; }
static void abort_far_other(long which) { outer_other(which); STAY; }
static void abort_in_helper(long which) { if (which == 1) load(); else store(); STAY; }

/* A helper that only its declaration shows. */
static const char *volatile reason;
__attribute__((noreturn)) KEPT void close_shop(const char *text) { reason = text; abort(); }
KEPT void order(void) { close_shop("no paper"); }
KEPT void deliver(void) { close_shop("no van"); }
static void close_shop_of(long which) { if (which == 1) order(); else deliver(); STAY; }
static void close_shop_otherwise(long which) { rows += which; order(); STAY; }

static void trap(long which) { if (which == 1) __builtin_trap(); raise(SIGABRT); STAY; }

/* ---- signals ---- */

static volatile unsigned long *turns; /* of the loops below, seen by the other process too */

/* Once the program has been in its loop for some turns. */
static void from_elsewhere(int signal_number, long after_turns)
{
    pid_t parent = getpid();
    turns = mmap(NULL, sizeof *turns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fork() == 0) {
        wait_until(*turns >= (unsigned long)after_turns || getppid() != parent);
        kill(parent, signal_number);
        _exit(0);
    }
}

/* A loop in which the program may be anywhere. */
KEPT void work(void) { for (;; ++*turns) if (*turns % 3 == 0) *turns += 1; }
KEPT void other_work(void) { for (;; ++*turns) if (*turns % 7 == 0) *turns += *turns % 11; }
static void end_work(long after_turns) { from_elsewhere(SIGABRT, after_turns); work(); STAY; }
static void end_other_work(long after_turns) { from_elsewhere(SIGABRT, after_turns); other_work(); STAY; }

static long *volatile counter;
static void count_signal(int number) { (void)number; ++*counter; STAY; }
static void fault_in_handler(long after_turns)
{
    signal(SIGUSR1, count_signal);
    from_elsewhere(SIGUSR1, after_turns);
    if (after_turns % 2)
        work();
    else
        other_work();
    STAY;
}

const struct bug end_bugs[] = {
    { "assert first", resize_one, 1 },
    { "assert second", resize_one, 2 },
    { "assert third", resize_one, 3 },
    { "assert twin", resize_one, 4 },
    { "assert other twin", resize_one, 5 },
    { "assert other caller", resize_other, 1 },
    { "assert in thread", resize_in_thread, 1 },
    { "abort near one", abort_near_one, 1 },
    { "abort near other", abort_near_other, 1 },
    { "abort far one", abort_far_one, 1 },
    { "abort far other", abort_far_other, 1 },
    { "abort in helper", abort_in_helper, 1 },
    { "abort in helper of other", abort_in_helper, 2 },
    { "abort in closing", close_shop_of, 1 },
    { "abort in closing of other", close_shop_of, 2 },
    { "abort in closing other caller", close_shop_otherwise, 1 },
    { "trap", trap, 1 },
    { "raise", trap, 2 },
    { "ended early", end_work, 1000 },
    { "ended late", end_work, 1234567 },
    { "ended elsewhere", end_other_work, 1000 },
    { "handler", fault_in_handler, 1000 },
    { "handler elsewhere", fault_in_handler, 1001 },
    { NULL, NULL, 0 },
};
