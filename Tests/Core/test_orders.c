/* Orders of threads that once went wrong: one is held at a fault point until another has passed its own. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/internal.h"
#include "os/fault_point.h"
#include "session.h"

#define LONG_MS 60000 /* longer than a child may live */

static lg_session *session;

static void start(uint32_t deadline_ms, uint32_t handler_ms)
{
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.test";
    options.state_directory = state_path("");
    options.deadline_ms = deadline_ms;
    options.handler_ms = handler_ms;
    options.hang_launching_ms = options.hang_running_ms = 100;
    if (lg_start(&options, &session) != LG_OK)
        _exit(99);
    lg__capture_wait_prepared(UINT64_C(10000000000)); /* the watch thread was started */
}


static void await(_Atomic unsigned *count, unsigned least)
{
    while (atomic_load(count) < least)
        usleep(500);
}




/* ---- the watch thread looks while a crash ends well, or sleeps until the deadline of it ---- */

static char *page;
static _Atomic unsigned sleeps;

static void mends(int number)
{
    (void)number;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void hook_look_at_end(const char *point)
{
    if (strcmp(point, "watch: sleeps") == 0)
        atomic_fetch_add(&sleeps, 1);
    if (strcmp(point, "finish: disarmed") != 0)
        return;
    unsigned before = atomic_load(&sleeps);
    lg__capture_wake();
    await(&sleeps, before + 1);
}

static void body_hang_after_crash(void *argument)
{
    signal(SIGSEGV, mends);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start(LONG_MS, LONG_MS);
    lg_heartbeat(session);
    if (argument)
        lg__fault_hook = hook_look_at_end;
    *(volatile char *)page = 1;
    while (!atomic_load(&session->host.run.state->hang_ns))
        usleep(1000);
    _exit(0);
}

static void test_hang_after_crash(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        state_make();
        expect_exit(body_hang_after_crash, i ? (void *)state : NULL, 0);
        state_remove();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hang_after_crash),
    };
    struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
