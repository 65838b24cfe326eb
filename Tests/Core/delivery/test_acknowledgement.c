/* on_delivered: at the next launch that is finished, once a report; a call that crashes comes again
 * twice. */
#include "spool_support.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/fault_point.h"

struct seen {
    _Atomic unsigned calls;
    _Atomic uint64_t ordinals[8];
    bool crashes;
};

static struct seen *seen;

static void on_delivered(const lg_delivery_info *report, void *user)
{
    REQUIRE(user == seen, 60);
    REQUIRE(report->state == LG_DELIVERY_SENT && report->fingerprint[0] == 'a', 61);
    REQUIRE(gettid() != getpid(), 62); /* not on the program's first thread */
    atomic_store(&seen->ordinals[atomic_load(&seen->calls) % 8], report->ordinal);
    atomic_fetch_add(&seen->calls, 1); /* whoever awaits the call reads the ordinal next */
    if (seen->crashes)
        crash();
}

static lg_session *start_told(void)
{
    lg_delivery_options options = good_options();
    options.on_delivered = on_delivered;
    options.user = seen;
    return start_delivery(options, LG_OK);
}

static lg_launch *begin_launch(lg_session *session, lg_finish finish)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *launch;
    options.finish = finish;
    options.window_ms = 100;
    options.repair_after = 100;
    REQUIRE(lg_launch_prepare(session, "main", &options, &launch) == LG_OK && lg_launch_begin(launch) == LG_OK, 63);
    return launch;
}

static void await_calls(unsigned count)
{
    wait_until(atomic_load(&seen->calls) >= count);
    REQUIRE(atomic_load(&seen->calls) == count, 64);
}

static unsigned count_of(lg_delivery_state state)
{
    lg_delivery_info entries[8];
    uint32_t count = 0, found = 0;
    REQUIRE(lg_delivery_entries(state_path(""), entries, 8, &count) == LG_OK && count <= 8, 65);
    for (uint32_t i = 0; i < count; i++) {
        found += entries[i].state == state;
        REQUIRE((entries[i].told_ns != 0) == (entries[i].state == LG_DELIVERY_TOLD), 66);
    }
    return found;
}

/* The reports stay, and say that on_delivered was called. */
static void await_told(unsigned count)
{
    /* the mark of the call under way goes after the last entry */
    wait_until(count_of(LG_DELIVERY_TOLD) == count && !is_there("spool/telling"));
    REQUIRE(count_of(LG_DELIVERY_SENT) == 0, 67);
}

static void body_marked(void *argument)
{
    (void)argument;
    lg_session *session = start_told();
    put_report("sent", 12, 2);
    put_report("sent", 11, 3);
    lg_launch *launch = begin_launch(session, LG_FINISH_MARK);
    pass_time(1500, "the watch looks once a second");
    REQUIRE(atomic_load(&seen->calls) == 0, 72);
    REQUIRE(lg_launch_finished(launch) == LG_OK, 73);
    await_calls(2);
    REQUIRE(seen->ordinals[0] == 11 && seen->ordinals[1] == 12, 74);
    await_told(2);
}

static void body_next(void *argument)
{
    (void)argument;
    lg_session *session = start_told();
    put_report("sent", 13, 4);
    begin_launch(session, LG_FINISH_TIME);
    await_calls(3);
    await_told(3);
}

static void test_marked(void **state)
{
    (void)state;
    plan("stay");
    seen = shared_memory(sizeof *seen);
    expect_exit(body_marked, NULL, 0);
    assert_false(is_there("spool/telling"));
    /* the next run tells of what is new alone */
    expect_exit(body_next, NULL, 0);
    assert_int_equal(seen->calls, 3);
    assert_int_equal(seen->ordinals[2], 13);
}

static void body_by_time(void *argument)
{
    (void)argument;
    lg_session *session = start_told();
    put_report("sent", 11, 3);
    begin_launch(session, LG_FINISH_TIME);
    await_calls(1);
    await_told(1);
}

static void test_by_time(void **state)
{
    (void)state;
    plan("stay");
    seen = shared_memory(sizeof *seen);
    expect_exit(body_by_time, NULL, 0);
}

static void body_not_finished(void *argument)
{
    (void)argument;
    lg_session *session = start_told();
    put_report("sent", 11, 3);
    begin_launch(session, LG_FINISH_MARK);
    pass_time(1500, "the watch looks once a second");
}

static void test_not_finished(void **state)
{
    (void)state;
    plan("stay");
    seen = shared_memory(sizeof *seen);
    expect_exit(body_not_finished, NULL, 0);
    assert_int_equal(seen->calls, 0);
    assert_int_equal(entries_in("sent"), 1);
}

static void body_crashes(void *argument)
{
    (void)argument;
    lg_session *session = start_told();
    if (atomic_load(&seen->calls) == 0)
        put_report("sent", 11, 3);
    begin_launch(session, LG_FINISH_TIME);
    wait_for_ever(NULL);
}

static void body_after_crashes(void *argument)
{
    (void)argument;
    begin_launch(start_told(), LG_FINISH_TIME);
    await_told(1);
}

static void test_crash_within(void **state)
{
    (void)state;
    plan("stay");
    seen = shared_memory(sizeof *seen);
    seen->crashes = true;
    for (unsigned i = 1; i <= 3; i++) {
        expect_signal(body_crashes, NULL, SIGSEGV);
        assert_int_equal(seen->calls, i);
        assert_int_equal(entries_in("sent"), 1);
    }
    expect_exit(body_after_crashes, NULL, 0);
    assert_int_equal(seen->calls, 3);
}

/* The program dies between the call and its mark, and after the mark. */
static const char *deadly;

static void die_at(const char *point)
{
    if (strcmp(point, deadly) == 0)
        raise(SIGKILL);
}

static void body_dies(void *argument)
{
    deadly = argument;
    lg__fault_hook = die_at;
    body_crashes(NULL);
}

static void test_death_beside(void **state)
{
    (void)state;
    plan("stay");
    seen = shared_memory(sizeof *seen);
    expect_signal(body_dies, "delivery: told", SIGKILL);
    assert_int_equal(seen->calls, 1);
    assert_int_equal(count_of(LG_DELIVERY_SENT), 1); /* the call comes again */
    expect_signal(body_dies, "delivery: told stored", SIGKILL);
    assert_int_equal(seen->calls, 2);
    assert_int_equal(count_of(LG_DELIVERY_TOLD), 1);
    expect_exit(body_after_crashes, NULL, 0);
    assert_int_equal(seen->calls, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_AGENTS(test_marked), WITH_AGENTS(test_by_time), WITH_AGENTS(test_not_finished), WITH_AGENTS(test_crash_within),
                                        WITH_AGENTS(test_death_beside) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
