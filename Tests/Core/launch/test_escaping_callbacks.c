/* Callbacks that do forbidden things: they throw, end the session, or close objects that belong to
 * others. */
#include "scripted_life.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void throwing_report(const lg_report_batch *batch, lg_completion *done, void *user);
void throwing_repair(lg_completion *done, void *user);
void throwing_protect(void *user);
lg_status throwing_task(void *user);
void throwing_status(lg_launch *launch, lg_launch_status status, void *user);

static void throwing_repair_first(lg_launch *launch)
{
    life_repair(launch, "throws", throwing_repair);
}

static void replace_task(lg_launch *launch, lg_task_callback run, lg_protect_callback protect)
{
    lg_task task = LG_TASK_INIT;
    task.key = "a";
    task.flags = LG_TASK_REPLACE;
    task.run = run;
    task.protect = protect;
    if (lg_launch_add_task(launch, &task) != LG_OK)
        _exit(95);
}

static lg_status nothing(void *user)
{
    (void)user;
    return LG_OK;
}

static void throwing_task_first(lg_launch *launch)
{
    replace_task(launch, throwing_task, NULL);
}

static void throwing_protect_first(lg_launch *launch)
{
    replace_task(launch, nothing, throwing_protect);
}

static bool says(const char *what)
{
    lg_reader *reader = newest_run();
    crash_of(reader, LG_STAGE_DONE);
    lg_message message;
    bool found = false;
    for (uint32_t i = 0; lg_reader_message(reader, i, &message) == LG_OK; i++)
        found = found || strstr(message.text, what);
    lg_reader_close(reader);
    return found;
}

static void test_exceptions(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives_somehow(LIFE(.after = CRASH), SEGV);
    state_save();
    static const struct { const char *says; void (*before)(lg_launch *); bool report, status; lg_phase phase; const char *task; } ways[] = {
        { "out of on_report", NULL, true, false, LG_PHASE_HELD, NULL },
        { "out of a protect action", throwing_protect_first, false, false, LG_PHASE_HELD, NULL },
        { "out of a repair", throwing_repair_first, false, false, LG_PHASE_REPAIRING, NULL },
        { "out of a task", throwing_task_first, false, false, LG_PHASE_LAUNCHING, "a" },
        { "out of on_status", NULL, false, true, LG_PHASE_LAUNCHING, NULL },
    };
    for (lg_callbacks callbacks = LG_CALLBACKS_LIBRARY; callbacks <= LG_CALLBACKS_CALLER; callbacks++)
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            state_restore();
            lives_somehow(LIFE(.options.callbacks = callbacks, .options.on_report = ways[i].report ? throwing_report : life_report,
                               .options.on_status = ways[i].status ? throwing_status : life_status, .before = ways[i].before),
                          SIGABRT);
            assert_true(says(ways[i].says));
            assert_int_equal(stored().phase, ways[i].phase);
            account();
            struct lg__ledger_payload book = stored_book();
            assert_int_equal(book.timeline[book.timeline_count - 1].end, LG_END_CRASH);
            assert_int_equal(book.contexts[0].streak, ways[i].phase == LG_PHASE_HELD ? 3 : ways[i].phase == LG_PHASE_REPAIRING ? 2 : 1);
            assert_string_equal(book.contexts[0].last_task, ways[i].task ? ways[i].task : "");
        }
}

/* lg_stop() is forbidden in a callback. The call must not hang, and nothing of the launch goes
 * on. */
static void test_stop_inside(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives_somehow(LIFE(.after = CRASH), SEGV);
    state_save();
    for (lg_callbacks callbacks = LG_CALLBACKS_LIBRARY; callbacks <= LG_CALLBACKS_CALLER; callbacks++) {
#define QUIET .options.report_after = 99, .options.callbacks = callbacks
        state_restore();
        lives(LIFE(.options.callbacks = callbacks, .in_report = STOP), 0, "needs-repair;report 2;normal;begin closed;");
        state_restore();
        lives(LIFE(QUIET, .in_protect = STOP), 0, "needs-repair;protect a;normal;begin closed;");
        state_restore();
        lives(LIFE(QUIET, .in_small = STOP), 0, "needs-repair;protect a;protect b;repairing;small;normal;begin closed;");
        account();
        assert_int_equal(stored().interruptions, 1);
        state_restore();
        lives(LIFE(QUIET, .in_a = STOP), 0, "needs-repair;protect a;protect b;repairing;small;checking;a;normal;begin closed;");
        state_restore();
        lives(LIFE(QUIET, .after = STOP), 0, "needs-repair;protect a;protect b;repairing;small;checking;a;b;normal;");
        account();
        assert_int_equal(stored().streak, 0);
        assert_int_equal(stored().unknown, 0);
    }
}

/* lg_stop() from another thread, while the launch waits for a consent. */
static void *stops(void *launch)
{
    await_last_line("protect b");
    await_status(launch, LG_LAUNCH_NEEDS_REPAIR);
    lg_stop(life_session);
    return NULL;
}

static void *terminates(void *launch)
{
    await_last_line("protect b");
    await_status(launch, LG_LAUNCH_NEEDS_REPAIR);
    lg_will_terminate(life_session);
    return NULL;
}

static void stop_outside(lg_launch *launch)
{
    in_thread(stops, launch);
}

static void terminate_outside(lg_launch *launch)
{
    in_thread(terminates, launch);
}

static void announce_after_repair_began(lg_completion *done, void *user)
{
    (void)user;
    lg_will_restart(life_session);
    lg_complete(done, LG_OK);
}

static void announcing_repair(lg_launch *launch)
{
    life_repair(launch, "announces", announce_after_repair_began);
}

static void test_end_while_held(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives_somehow(LIFE(.after = CRASH), SEGV);
    state_save();
    for (int announced = 0; announced < 2; announced++) {
        state_restore();
        lives(LIFE(.options.report_after = 99, .options.auto_repair = 0, .before = announced ? terminate_outside : stop_outside, .after = CRASH), SEGV,
              announced ? "needs-repair;protect a;protect b;normal;begin interrupted;" : "needs-repair;protect a;protect b;normal;begin closed;");
        account();
        assert_int_equal(stored().streak, 2);
        assert_int_equal(stored().held_deaths, 0);
    }
    /* A repair that succeeds after the announcement counts as a success. The launch still does not
     * go on. */
    state_restore();
    lives(LIFE(.options.report_after = 99, .before = announcing_repair, .after = KILL), KILLED,
          "needs-repair;protect a;protect b;repairing;normal;begin interrupted;");
    account();
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_PROBATION);
    assert_int_equal(stored().streak, 0);
    assert_int_equal(stored().unknown, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LIFE(test_exceptions), WITH_LIFE(test_stop_inside), WITH_LIFE(test_end_while_held),
    };
    return cmocka_run_group_tests_name("escaping_callbacks", tests, NULL, NULL);
}
