/* A program whose handler for SIGTERM only sets a flag: a launch that is held or halted lets it go,
 * so that the program sees the flag long before its supervisor loses patience. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A launch that does not let the program go holds it until the child's limit. */
#define HOLD_MS 3600000
/* The launch looks several times meanwhile whether the program is asked to end. */
#define LOOKS_MS 500

static volatile sig_atomic_t asked;
static int signal_to_send = SIGTERM;
static lg_hold hold;
static bool supervised, protects, early, announces;
static lg_status expected;

static lg_session *session;
static lg_launch *launch;

static void note(int signal)
{
    asked = signal;
}

static void *send_when_held(void *argument)
{
    wait_until(lg_launch_get_status(launch) == LG_LAUNCH_NEEDS_REPAIR);
    wait_until(others_sleep()); /* in the hold */
    if (announces)
        lg_will_terminate(session);
    else
        kill(getpid(), signal_to_send);
    return argument;
}

static void protect_for_ever(void *user)
{
    (void)user;
    wait_for_ever(NULL);
}

static lg_status no_task(void *user)
{
    (void)user;
    _exit(95);
}

static void never_repairs(lg_completion *done, void *user)
{
    (void)user;
    lg_complete(done, LG_OK);
}

static lg_status prepare(void)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "mend";
    repair.run = never_repairs;
    options.auto_repair = 0;
    options.hold = hold;
    options.hold_ms = HOLD_MS;
    options.supervised = supervised;
    session = start_session();
    lg_status status = lg_launch_prepare(session, "main", &options, &launch);
    return status == LG_OK && !supervised ? lg_launch_add_repair(launch, &repair) : status;
}

static void crash_launch(void *argument)
{
    (void)argument;
    if (prepare() != LG_OK)
        _exit(98);
    lg_launch_begin(launch);
    abort();
}

static void be_interrupted(void *argument)
{
    (void)argument;
    struct sigaction action = { .sa_handler = note };
    pthread_t thread;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    if (prepare() != LG_OK)
        _exit(98);
    lg_task task = LG_TASK_INIT;
    task.key = "task";
    task.run = no_task;
    task.protect = protects ? protect_for_ever : NULL;
    lg_launch_add_task(launch, &task);
    if (early)
        raise(SIGTERM); /* for something else: the launch has not begun */
    pthread_create(&thread, NULL, send_when_held, NULL);
    lg_status status = lg_launch_begin(launch);
    if (expected == LG_ERR_TIMEOUT)
        wait_until(asked);
    if (hold == LG_HOLD_CUSTODY && status == LG_OK)
        status = lg_launch_wait(launch, expected == LG_ERR_TIMEOUT ? LOOKS_MS : HOLD_MS);
    if (status != expected || (!announces && asked != signal_to_send) || strstr(lg_status_message(status), "stopped"))
        _exit(97);
    pthread_join(thread, NULL);
    exit(0);
}

static lg_launch_info info_of(void)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_launch_query(state_path(""), "main", NULL, &info), LG_OK);
    return info;
}

/* The answer came, no other counter moved, and the next launch is held again. */
static void expect_let_go(void)
{
    lg_launch_info before = info_of();
    expect_exit(be_interrupted, NULL, 0);
    lg_launch_info after = info_of();
    assert_int_equal(after.streak, before.streak);
    assert_int_equal(after.unknown, before.unknown);
    assert_int_equal(after.attempts, before.attempts);
    assert_int_equal(after.skips, before.skips + !before.halted); /* as if the repair was put off */
    assert_int_equal(after.safe_crashes, before.safe_crashes);
    assert_int_equal(after.status, LG_LAUNCH_NEEDS_REPAIR);
    assert_int_equal(after.halted, before.halted);
}

static int begin_test(void **state)
{
    hold = LG_HOLD_BLOCK;
    supervised = protects = early = announces = false;
    signal_to_send = SIGTERM;
    expected = LG_ERR_INTERRUPTED;
    return make_state(state);
}

static void crash_times(int times)
{
    for (int i = 0; i < times; i++)
        expect_signal(crash_launch, NULL, SIGABRT);
}

static void test_held(void **state)
{
    (void)state;
    crash_times(2);
    expect_let_go();
    signal_to_send = SIGINT;
    expect_let_go();
}

static void test_held_in_custody(void **state)
{
    (void)state;
    crash_times(2);
    hold = LG_HOLD_CUSTODY;
    expect_let_go();
}

static void test_halted(void **state)
{
    (void)state;
    supervised = true;
    crash_times(4);
    assert_true(info_of().halted);
    expect_let_go();
}

static void test_protect_action_hangs(void **state)
{
    (void)state;
    protects = true;
    crash_times(2);
    expect_let_go();
}

static void test_announced(void **state)
{
    (void)state;
    announces = true;
    crash_times(2);
    expect_let_go();
}

/* SIGHUP is a request to read the configuration again; and a signal from before the launch was for
 * something else. */
static void test_other_requests(void **state)
{
    (void)state;
    hold = LG_HOLD_CUSTODY;
    expected = LG_ERR_TIMEOUT;
    crash_times(2);
    signal_to_send = SIGHUP;
    early = true;
    expect_exit(be_interrupted, NULL, 0);
}

#define INTERRUPTED(function) cmocka_unit_test_setup_teardown(function, begin_test, remove_state)

int main(void)
{
    const struct CMUnitTest tests[] = {
        INTERRUPTED(test_held),      INTERRUPTED(test_held_in_custody), INTERRUPTED(test_halted),         INTERRUPTED(test_protect_action_hangs),
        INTERRUPTED(test_announced), INTERRUPTED(test_other_requests),
    };
    return cmocka_run_group_tests_name("interrupted", tests, NULL, NULL);
}
