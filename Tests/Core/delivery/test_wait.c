/* lg_delivery_wait(): each result, the pump, and what the time does not count towards. */
#include "spool_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/session.h"

struct pumped {
    lg_session *session;
    unsigned calls;
    uint32_t first_ms, last_ms;
};

static void count(uint32_t left_ms, void *user)
{
    struct pumped *pumped = user;
    if (!pumped->calls++)
        pumped->first_ms = left_ms;
    pumped->last_ms = left_ms;
}

static lg_delivery_result wait_for(lg_session *session, uint32_t ms, struct pumped *pumped)
{
    lg_delivery_result result;
    REQUIRE(lg_delivery_wait(session, ms, pumped ? count : NULL, pumped, &result) == LG_OK, 60);
    return result;
}

static lg_launch *begin_launch(lg_session *session, uint32_t window_ms)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    options.window_ms = window_ms;
    options.finish = window_ms ? LG_FINISH_TIME : LG_FINISH_MARK;
    REQUIRE(lg_launch_prepare(session, "main", &options, &launch) == LG_OK, 61);
    REQUIRE(lg_launch_begin(launch) == LG_OK, 62);
    return launch;
}

static void body_crashes(void *argument)
{
    (void)argument;
    begin_launch(start_delivery(good_options(), LG_OK), 0);
    crash();
}

/* ---- results ---- */

static void body_nothing(void *argument)
{
    struct pumped pumped = { .calls = 0 };
    (void)argument;
    REQUIRE(wait_for(start_delivery(good_options(), LG_OK), 5000, &pumped) == LG_DELIVERY_NOTHING, 72);
    REQUIRE(pumped.calls == 0, 73);
}

static void test_nothing(void **state)
{
    (void)state;
    plan("deliver");
    expect_exit(body_nothing, NULL, 0);
}

static void let_deliver(uint32_t left_ms, void *user)
{
    (void)left_ms, (void)user;
    plan("deliver");
    wait_until(is_there("passed"));
}

static void body_delivered(void *argument)
{
    lg_delivery_result result;
    (void)argument;
    lg_session *session = start_delivery(good_options(), LG_OK);
    REQUIRE(lg_delivery_wait(session, 5000, let_deliver, NULL, &result) == LG_OK && result == LG_DELIVERY_DELIVERED, 72);
    REQUIRE(wait_for(session, 5000, NULL) == LG_DELIVERY_NOTHING, 73);
    REQUIRE(strcmp(read_text("spool/nudge"), "wait") == 0, 74);
}

/* The last run is owed before there is an entry for it. */
static void test_last_run_is_delivered(void **state)
{
    (void)state;
    plan("leave");
    expect_signal(body_crashes, NULL, SIGSEGV);
    plan("stay");
    expect_exit(body_delivered, NULL, 0);
}

static void body_entry(void *argument)
{
    lg_session *session = start_delivery(good_options(), LG_OK);
    (void)argument;
    lg_delivery_result result;
    put_report("new", 1, 1);
    REQUIRE(lg_delivery_report_now(session, "now", NULL) == LG_OK, 72);
    REQUIRE(lg_delivery_wait(session, 5000, let_deliver, NULL, &result) == LG_OK && result == LG_DELIVERY_DELIVERED, 73);
    REQUIRE(entries_in("sent") == 1 && entries_in("requests") == 0, 74);
}

static void test_entry_is_delivered(void **state)
{
    (void)state;
    plan("stay");
    expect_exit(body_entry, NULL, 0);
}

/* Ends that the configuration does not want are not waited for. */
static void body_other_ends(void *argument)
{
    lg_delivery_options options = good_options();
    (void)argument;
    options.ends = LG_DELIVERY_END(LG_END_HANG);
    REQUIRE(wait_for(start_delivery(options, LG_OK), 5000, NULL) == LG_DELIVERY_NOTHING, 72);
}

static void test_other_ends(void **state)
{
    (void)state;
    plan("leave");
    expect_signal(body_crashes, NULL, SIGSEGV);
    expect_exit(body_other_ends, NULL, 0);
}

static void body_too_long(void *argument)
{
    lg_delivery_result *want = argument;
    struct pumped pumped = { .calls = 0 };
    lg_session *session = start_delivery(good_options(), LG_OK);
    if (*want == LG_DELIVERY_HANDED_OVER)
        await_living_agent();
    put_report("new", 1, 1);
    uint64_t begun = now_ns();
    REQUIRE(wait_for(session, 2000, &pumped) == *want, 72);
    REQUIRE(now_ns() - begun >= UINT64_C(2000000000), 73);
    REQUIRE(pumped.calls > 0 && pumped.calls <= 41, 74); /* every 50 ms at most */
    REQUIRE(pumped.first_ms <= 2000 && pumped.first_ms > 200 && pumped.last_ms <= pumped.first_ms, 75);
    REQUIRE(entries_in("new") == 1, 76);
}

static void test_handed_over(void **state)
{
    (void)state;
    plan("stay");
    expect_exit(body_too_long, &(lg_delivery_result){ LG_DELIVERY_HANDED_OVER }, 0);
}

static void test_timeout(void **state)
{
    (void)state;
    plan("leave");
    expect_exit(body_too_long, &(lg_delivery_result){ LG_DELIVERY_TIMEOUT }, 0);
}

/* By default two seconds since the process began, and then none. */
static void body_default(void *argument)
{
    (void)argument;
    lg_session *session = start_delivery(good_options(), LG_OK);
    put_report("new", 1, 1);
    uint64_t begun = now_ns();
    wait_for(session, 0, NULL);
    REQUIRE(now_ns() - begun < UINT64_C(60000000000), 72);
    begun = now_ns();
    struct pumped pumped = { .calls = 0 };
    wait_for(session, 0, &pumped);
    REQUIRE(pumped.calls == 0, 73);
}

static void test_default_time(void **state)
{
    (void)state;
    plan("stay");
    expect_exit(body_default, NULL, 0);
}

/* ---- a death within ---- */

static void die(uint32_t left_ms, void *user)
{
    (void)left_ms, (void)user;
    raise(SIGKILL);
}

static void body_dies(void *argument)
{
    lg_delivery_result result;
    (void)argument;
    lg_session *session = start_delivery(good_options(), LG_OK);
    put_report("new", 1, 1);
    lg_delivery_wait(session, 5000, die, NULL, &result);
}

static void test_death_leaves_all_as_it_was(void **state)
{
    (void)state;
    plan("stay");
    expect_signal(body_dies, NULL, SIGKILL);
    assert_int_equal(entries_in("new"), 1);
    assert_int_equal(entries_in("tmp"), 0);
    plan("deliver"); /* the agent goes on */
    wait_until(entries_in("new") == 0);
    assert_int_equal(entries_in("sent"), 1);
}

static void stop_at(uint32_t left_ms, void *user)
{
    (void)left_ms;
    lg_stop(user);
}

static void body_stops(void *argument)
{
    lg_delivery_result result = 0;
    (void)argument;
    lg_session *session = start_delivery(good_options(), LG_OK);
    put_report("new", 1, 1);
    REQUIRE(lg_delivery_wait(session, 5000, stop_at, session, &result) == LG_ERR_CLOSED && result == 0, 72);
}

static void test_stop_ends_it(void **state)
{
    (void)state;
    plan("stay");
    expect_exit(body_stops, NULL, 0);
}

/* ---- hangs and windows ---- */

static void body_beats(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_launch_options launch_options = LG_LAUNCH_OPTIONS_INIT;
    lg_delivery_options delivery = good_options();
    lg_launch *launch;
    (void)argument;
    options.hang_launching_ms = options.hang_running_ms = 1000;
    lg_session *session = start_with(options);
    REQUIRE(lg_delivery_start(session, &delivery) == LG_OK, 72);
    launch_options.finish = LG_FINISH_MARK;
    launch_options.heartbeat_ms = 1000;
    REQUIRE(lg_launch_prepare(session, "main", &launch_options, &launch) == LG_OK && lg_launch_begin(launch) == LG_OK, 73);
    put_report("new", 1, 1);
    REQUIRE(lg_heartbeat(session) == LG_OK, 74);
    wait_for(session, 2500, NULL);
    lg_heartbeat_pause(session);
}

static void test_no_hang(void **state)
{
    (void)state;
    plan("stay");
    expect_exit(body_beats, NULL, 0);
    assert_false(said("it hangs"));
}

/* The heartbeat goes on: without one after the wait, the thread hangs. */
static void body_hangs_after(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_delivery_options delivery = good_options();
    (void)argument;
    options.hang_launching_ms = options.hang_running_ms = 100;
    lg_session *session = start_with(options);
    REQUIRE(lg_delivery_start(session, &delivery) == LG_OK, 72);
    put_report("new", 1, 1);
    REQUIRE(lg_heartbeat(session) == LG_OK, 74);
    wait_for(session, 300, NULL);
    wait_until(atomic_load(&session->host.hangs[0]));
}

static void test_hang_after(void **state)
{
    (void)state;
    plan("stay");
    expect_exit(body_hangs_after, NULL, 0);
}

static void body_window(void *argument)
{
    (void)argument;
    lg_session *session = start_delivery(good_options(), LG_OK);
    put_report("new", 1, 1);
    lg_launch *launch = begin_launch(session, 2000);
    wait_for(session, 4000, NULL);
    /* twice its window has passed */
    REQUIRE(lg_launch_get_status(launch) == LG_LAUNCH_CHECKING, 72);
    wait_until(lg_launch_get_status(launch) == LG_LAUNCH_NORMAL);
}

static void test_window(void **state)
{
    (void)state;
    plan("stay");
    expect_exit(body_window, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_AGENTS(test_nothing), WITH_AGENTS(test_last_run_is_delivered), WITH_AGENTS(test_entry_is_delivered), WITH_AGENTS(test_other_ends),
        WITH_AGENTS(test_handed_over), WITH_AGENTS(test_timeout), WITH_AGENTS(test_default_time), WITH_AGENTS(test_death_leaves_all_as_it_was),
        WITH_AGENTS(test_stop_ends_it), WITH_AGENTS(test_no_hang), WITH_AGENTS(test_hang_after), WITH_AGENTS(test_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
