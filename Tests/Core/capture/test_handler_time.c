/* The time of an earlier handler is over while the process is stopped. The handler goes on after
 * the stop, and mends the fault as without LaunchGuard. */
#include "harness.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/internal.h"
#include "os/fault_point.h"

#define HANDLER_MS 1000
#define STOP_MS (HANDLER_MS + 4500) /* its time, a second for the timer, and what is late */
#define LOOKS_MORE 6                /* twice as many as end a process */
#define ITS_OWN 7

static struct { _Atomic uint64_t over_ns; } *shared;
static char *page;
static _Atomic unsigned overs, sleeps;
static bool watched;

static void count(const char *point)
{
    if (strcmp(point, "deadline: over") == 0)
        atomic_fetch_add(&overs, 1);
    if (strcmp(point, "watch: sleeps") == 0) {
        atomic_fetch_add(&sleeps, 1);
        if (!watched)
            hang(0); /* the timer is alone */
    }
}

static void stop_and_mend(int number)
{
    (void)number;
    const unsigned before = atomic_load(&overs), slept = atomic_load(&sleeps);
    atomic_store(&shared->over_ns, now_ns() + STOP_MS * UINT64_C(1000000));
    raise(SIGSTOP);
    wait_until(atomic_load(&overs) > before + (watched ? 0 : LOOKS_MORE));
    if (watched) /* it does so when it has looked */
        wait_until(atomic_load(&sleeps) > slept);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void body(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_waker(&shared->over_ns);
    /* a look knows a handler on that stack at once */
    sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = stop_and_mend, .sa_flags = SA_ONSTACK }, NULL);
    options.handler_ms = HANDLER_MS;
    lg_session *session = start_with(options);
    if (watched)
        lg__fault_patience = 100; /* no timer of the thread itself */
    lg__fault_hook = count;
    lg_heartbeat(session);
    wait_until(atomic_load(&sleeps));
    *(volatile char *)page = 1;
    exit(ITS_OWN);
}

static void goes_on(bool is_watched)
{
    watched = is_watched;
    memset(shared, 0, sizeof *shared);
    expect_exit(body, NULL, ITS_OWN);
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_select_crash(reader, 0), LG_OK);
    assert_int_equal(crash_of(reader, LG_STAGE_DONE).handled, 1);
    lg_reader_close(reader);
}

static void test_by_the_watch_thread(void **state)
{
    (void)state;
    goes_on(true);
}

static void test_by_a_timer(void **state)
{
    (void)state;
    goes_on(false);
}

int main(void)
{
    shared = shared_memory(sizeof *shared);
    const struct CMUnitTest tests[] = { WITH_STATE(test_by_the_watch_thread), WITH_STATE(test_by_a_timer) };
    return cmocka_run_group_tests_name("handler time", tests, NULL, NULL);
}
