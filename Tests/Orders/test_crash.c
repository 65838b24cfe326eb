/* The crash lock: threads that crash at once, a holder without a number that is overtaken, and a
 * look at a crash from outside. */
#include <signal.h>
#include <stdatomic.h>

#include "orders.h"

#include "capture/crash.c"

struct lg__fixed lg__fixed;
static struct lg__record record;
static struct lg__briefs briefs;
static uint32_t held; /* of the holder alone */
static char frames[ORDERS_THREADS][8192];

void lg__capture_wake_watch(void)
{
}

void lg__os_timer_end(long timer)
{
    (void)timer;
}

struct lg__os_disposition lg__os_signal_now(int signal)
{
    (void)signal;
    return (struct lg__os_disposition){ 0, 0 };
}

static int32_t self(void)
{
    return 100 + (int32_t)orders_self();
}

static void prepare(void)
{
    lg__fixed.options.run.record = &record;
    lg__fixed.options.run.briefs = &briefs;
}

static void prepare_looked_at(void)
{
    prepare();
    orders_declare(lg__crash_slots, sizeof lg__crash_slots, ORDERS_RACY);
}

/* As lg__wait_for_lock() does: a wait ends after a while, too, since a wake may be missed. */
static void lock(void)
{
    unsigned waits = 0;
    for (; !lg__crash_lock(self(), waits != 0); waits++) {
        if (waits == 4)
            orders_drop();
        lg__crash_wait(1);
    }
}

static void hold(void)
{
    must(lg__crash_holder() == self());
    const uint32_t before = held++;
    must(lg__crash_current() == NULL);
    must(held == before + 1);
}

static void crashes(void)
{
    lock();
    hold();
    lg__crash_unlock();
}

static void crashes_twice(void)
{
    crashes();
    crashes();
}

static void all_had_it(void)
{
    must(lg__crash_holder() == 0);
}

/* ---- without a number: the other one has waited for seconds ---- */

static _Atomic uint32_t winners;

static void prepare_unnamed(void)
{
    prepare();
    orders_declare(&current_crash, sizeof current_crash, ORDERS_RACY);
}

static void begins_unnamed(void)
{
    const siginfo_t info = { .si_signo = SIGSEGV };
    const void *frame = frames[orders_self()];
    struct lg__crash *crash = lg__crash_begin_unnamed(SIGSEGV, &info, frame);
    if (!crash || !lg__crash_name(self(), frame))
        return; /* another one records, or has taken this crash over */
    must(lg__crash_holder() == self());
    must(atomic_fetch_add(&winners, 1) == 0);
}

static void takes_over(void)
{
    if (!lg__crash_take_over(self()))
        return;
    must(lg__crash_holder() == self());
    must(atomic_fetch_add(&winners, 1) == 0);
}

static void one_won(void)
{
    must(winners == 1 && lg__crash_holder() != LG__CRASH_UNNAMED);
}

/* ---- a crash that others look at ---- */

static void records(void)
{
    const siginfo_t info = { .si_signo = SIGSEGV };
    lock();
    struct lg__crash *crash = lg__crash_begin(self(), &info, false, NULL, true);
    const uint32_t sequence = lg__crash_sequence(crash->word);
    crash->depth = sequence;
    crash->within = (uint32_t)self();
    lg__crash_event(crash, sequence, LG__CRASH_CHAINS, false);
    lg__crash_unlock();
    lg__crash_event(crash, sequence, LG__CRASH_RETURNS, false);
}

static void looks(void)
{
    struct lg__crash *crash = &lg__crash_slots[1];
    const uint64_t word = atomic_load(&crash->word);
    if (lg__crash_state(word) != LG__CRASH_CHAINED)
        return;
    const int32_t tid = crash->tid;
    const uint32_t sequence = crash->depth, within = crash->within;
    if (atomic_load(&crash->word) == word)
        must(sequence == lg__crash_sequence(word) && within == (uint32_t)tid);
}

#define LOCK "Crash lock"
#define SLOTS "Crash slots"

static const struct scenario scenarios[] = {
    { .name = "two crash, and again", .sections = LOCK, .setup = prepare, .threads = { crashes_twice, crashes_twice }, .check = all_had_it, .switches = 1, .switches_of_all = 2, .stale = 1 },
    { .name = "three crash", .sections = LOCK, .setup = prepare, .threads = { crashes, crashes, crashes }, .check = all_had_it, .switches = 1, .switches_of_all = 2, .stale = 1 },
    { .name = "one is taken over", .sections = LOCK, .setup = prepare_unnamed, .threads = { begins_unnamed, takes_over }, .check = one_won, .switches = 2, .switches_of_all = 3 },
    { .name = "a look at a crash", .sections = SLOTS, .setup = prepare_looked_at, .threads = { records, looks }, .switches = 2, .switches_of_all = 3, .stale = 3 },
};

int main(int argc, char **argv)
{
    return orders_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
