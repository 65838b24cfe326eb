/* LaunchGuard and its own faults: they turn it off for some starts, and never for good. Kills and
 * the program's own crashes inside lg_start() do not. */
#include "harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "store/format.h"

enum { HOT_AT = 4096 }; /* docs/FORMAT.md */

/* ---- ways to end inside lg_start() ---- */

static const char *version = "1.0";

/* The number of the point at which a start ends; −1: none does. Counted in shared memory. */
static struct points {
    int passed;
} *points;
static int end_at;
static void (*end_by)(void);

static void at_point(const char *point)
{
    (void)point;
    if (points->passed++ == end_at)
        end_by();
}

static void at_installed(const char *point)
{
    if (strcmp(point, "start: installed") == 0)
        end_by();
}

static void be_killed(void)
{
    raise(SIGKILL);
}

static void touch_nothing(void)
{
    *(volatile int *)(uintptr_t)16 = 1;
}

static void get_fault_signal(void)
{
    kill(getpid(), SIGSEGV);
}

static void *abort_thread(void *argument)
{
    abort();
    return argument;
}

static void crash_elsewhere(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, abort_thread, NULL);
    pthread_join(thread, NULL);
}

static void start_with_hook(void *hook)
{
    lg__fault_hook = *(void (**)(const char *))hook;
    points->passed = 0;
    start_version(version);
}

static void end_inside(void (*by)(void), int signal)
{
    void (*hook)(const char *) = at_installed;
    end_by = by;
    expect_signal(start_with_hook, &hook, signal);
}

/* ---- what the next start does ---- */

static void start_disabled(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    options.app_id = "org.example.test";
    options.app_version = version;
    options.state_directory = state_path("");
    lg_status status = lg_start(&options, &session);
    bool right = status == LG_ERR_DISABLED && lg_session_protection(session) == LG_PROTECTION_NONE &&
                 strstr(lg_session_message(session), "disabled itself") && strstr(lg_session_message(session), "tries again after");
    if (!right)
        fprintf(stderr, "%s: %s\n", lg_status_name(status), lg_session_message(session));
    exit(right ? 0 : 1);
}

static void start_fully(void *argument)
{
    (void)argument;
    start_version(version);
}

static void expect_disabled(int starts)
{
    for (int i = 0; i < starts; i++)
        expect_exit(start_disabled, NULL, 0);
}

static lg_ledger_info ledger_info(void)
{
    lg_reader *reader;
    lg_ledger_info info;
    assert_int_equal(lg_reader_open(state_path("ledger.lg"), &reader), LG_OK);
    assert_int_equal(lg_reader_ledger(reader, &info), LG_OK);
    lg_reader_close(reader);
    return info;
}

static void expect_faults(uint32_t faults, uint32_t left)
{
    lg_ledger_info info = ledger_info();
    assert_int_equal(info.start_faults, faults);
    assert_int_equal(info.starts_left, left);
    assert_int_equal(info.start_fault_wall_ns != 0, faults != 0);
}

static void expect_full(void)
{
    expect_exit(start_fully, NULL, 0);
    expect_faults(0, 0);
}

/* ---- tests ---- */

static void test_fault_disables_for_a_while(void **state)
{
    (void)state;
    static void (*const faults[])(void) = { touch_nothing, abort };
    static const int signals[] = { SIGSEGV, SIGABRT };
    end_inside(faults[0], signals[0]);
    expect_faults(1, 0);
    expect_full(); /* a single one may be an accident */
    end_inside(faults[0], signals[0]);
    uint32_t left = 4;
    for (uint32_t count = 2; count < 9; count++) {
        end_inside(faults[count % 2], signals[count % 2]);
        expect_faults(count, left);
        expect_disabled((int)left);
        expect_faults(count, 0);
        left = left < 64 ? 2 * left : 64;
    }
    expect_full();
    /* that start counts as any other */
    end_inside(faults[0], signals[0]);
    expect_faults(1, 0);
    expect_full();
}

/* A kill says nothing about LaunchGuard, wherever it comes. */
static void test_killed_at_every_point(void **state)
{
    (void)state;
    void (*hook)(const char *) = at_point;
    end_at = -1;
    expect_exit(start_with_hook, &hook, 0);
    expect_exit(start_with_hook, &hook, 0);
    int count = points->passed;
    assert_true(count >= 6);
    end_by = be_killed;
    for (end_at = 0; end_at < count; end_at++) {
        for (int i = 0; i < 10; i++) {
            struct death death = run_child(start_with_hook, &hook);
            /* a directory that has seen kills may need fewer steps */
            assert_true(WIFSIGNALED(death.status) || (WIFEXITED(death.status) && WEXITSTATUS(death.status) == 0));
        }
        expect_full();
    }
}

/* So many incomplete starts in a row are no accident, though a handler saw none of them. */
static void test_never_completes(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++)
        end_inside(be_killed, SIGKILL);
    expect_disabled(4);
    end_inside(be_killed, SIGKILL);
    expect_disabled(8);
    expect_full();
    end_inside(be_killed, SIGKILL);
    expect_full();
}

static void test_signal_from_outside(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        end_inside(get_fault_signal, SIGSEGV);
    expect_full();
}

/* The program's own crash on another thread, while lg_start() runs, counts against the program. */
static void test_program_crashes_in_start(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        end_inside(crash_elsewhere, SIGABRT);
    expect_full();
}

static void test_new_version(void **state)
{
    (void)state;
    expect_full();
    /* The new version never comes so far as to write its name into the ledger. */
    version = "2.0";
    end_inside(touch_nothing, SIGSEGV);
    end_inside(touch_nothing, SIGSEGV);
    expect_disabled(1);
    version = "2.1";
    expect_full();
    version = "1.0";
}

static void test_a_day_later(void **state)
{
    (void)state;
    const off_t at = HOT_AT + offsetof(struct lg__hot, faults.wall_ns);
    const uint64_t hour = UINT64_C(3600) * 1000000000;
    for (int later = 0; later < 2; later++) { /* the wall clock may have been put back, too */
        end_inside(touch_nothing, SIGSEGV);
        end_inside(touch_nothing, SIGSEGV);
        uint64_t then = ledger_info().start_fault_wall_ns;
        int file = open(state_path("ledger.lg"), O_WRONLY | O_CLOEXEC);
        uint64_t moved = later ? then + 23 * hour : then - 23 * hour;
        assert_int_equal(pwrite(file, &moved, sizeof moved, at), sizeof moved);
        expect_disabled(1);
        moved = later ? then + 25 * hour : then - 25 * hour;
        assert_int_equal(pwrite(file, &moved, sizeof moved, at), sizeof moved);
        close(file);
        expect_full();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_fault_disables_for_a_while), WITH_STATE(test_killed_at_every_point), WITH_STATE(test_never_completes),
        WITH_STATE(test_signal_from_outside),        WITH_STATE(test_program_crashes_in_start), WITH_STATE(test_new_version),
        WITH_STATE(test_a_day_later),
    };
    points = shared_memory(sizeof *points);
    return cmocka_run_group_tests_name("suspicion", tests, NULL, NULL);
}
