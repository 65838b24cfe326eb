/* Simulated ends: in every phase, from everywhere, again and again. */
#include "simulated.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const lg_end ends[] = { LG_END_CRASH, LG_END_HANG,   LG_END_OOM,     LG_END_EXIT,    LG_END_UNKNOWN, LG_END_KILLED,
                               LG_END_CLEAN, LG_END_TERMINATED, LG_END_REBOOT, LG_END_UPGRADE, LG_END_DEBUGGER };
#define ENDS (sizeof ends / sizeof ends[0])

/* The place at which the end comes. */
enum place { IN_REPORT, IN_PROTECT, IN_REPAIR, IN_GIVE_UP, IN_TASK, IN_STATUS, AFTER_BEGIN, AFTER_FINISH, PLACES };
static enum place place;
static lg_end end;
static bool armed;

static void at(enum place here)
{
    if (!armed || here != place)
        return;
    armed = false;
    tell("end");
    if (lg_simulate(simulated, end) != LG_OK)
        tell("not ended");
}

static void report(const lg_report_batch *batch, lg_completion *done, void *user)
{
    (void)user;
    tell("report %u", batch->streak);
    at(IN_REPORT);
    lg_complete(done, LG_OK);
}

static void mend(lg_completion *done, void *user)
{
    (void)user;
    tell("mend");
    at(IN_REPAIR);
    lg_complete(done, LG_OK);
}

static void give_up(lg_launch *launch, uint32_t hold, lg_completion *done, void *user)
{
    (void)launch, (void)hold, (void)user;
    tell("give up");
    at(IN_GIVE_UP);
    lg_complete(done, LG_OK);
}

static void on_status(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch, (void)user, (void)status;
    at(IN_STATUS);
}

static lg_status task(void *user)
{
    tell("%s", (const char *)user);
    at(IN_TASK);
    return LG_OK;
}

static void protect(void *user)
{
    tell("protect %s", (const char *)user);
    at(IN_PROTECT);
}

static lg_launch *whole(lg_callbacks callbacks, bool repairs)
{
    static char a[] = "a", b[] = "b";
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.callbacks = callbacks;
    options.on_report = report;
    options.on_give_up = give_up;
    options.on_status = on_status;
    options.count = LG_COUNT_DEFAULT | LG_COUNT_EXIT;
    lg_launch *launch = simulated_launch(&options);
    lg_task added = LG_TASK_INIT;
    added.run = task;
    added.protect = protect;
    added.key = added.user = a;
    lg_launch_add_task(launch, &added);
    added.key = added.user = b;
    lg_launch_add_task(launch, &added);
    if (repairs)
        simulated_repair(launch, "mend", 0, mend);
    return launch;
}

/* After an end in the middle no callback of that run is called any more, and its answers have no
 * effect. */
static void test_every_end_in_every_place(void **state)
{
    (void)state;
    static const char *const until_end[PLACES] = { "report 2;end;", "report 2;protect a;end;", "report 2;protect a;protect b;mend;end;",
                                                   "report 4;give up;end;", "report 2;protect a;protect b;mend;a;end;", "end;",
                                                   "report 2;protect a;protect b;mend;a;b;end;", "report 2;protect a;protect b;mend;a;b;end;" };
    for (lg_callbacks callbacks = LG_CALLBACKS_LIBRARY; callbacks <= LG_CALLBACKS_CALLER; callbacks++)
        for (place = 0; place < PLACES; place++)
            for (size_t i = 0; i < ENDS; i++) {
                simulated_make(NULL);
                end = ends[i];
                armed = false;
                lg_launch *launch = whole(callbacks, place != IN_GIVE_UP);
                simulated_crashes(launch, place == IN_GIVE_UP ? 4 : 2);
                armed = true;
                lg_status begun = lg_launch_begin(launch);
                if (begun != (place < AFTER_BEGIN ? LG_ERR_CLOSED : LG_OK))
                    fail_msg("place %d, end %s: %s, %s", place, lg_end_name(end), lg_status_name(begun), story);
                if (place == AFTER_FINISH)
                    assert_int_equal(lg_launch_finished(launch), LG_OK);
                at(place);
                assert_told(until_end[place]);
                assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_NORMAL);
                lg_launch_info info = LG_LAUNCH_INFO_INIT;
                assert_int_equal(lg_launch_get_info(launch, &info), LG_OK);
                bool counted = end == LG_END_CRASH || end == LG_END_HANG || end == LG_END_OOM || end == LG_END_EXIT;
                switch (place) {
                case IN_REPORT: /* held */
                case IN_PROTECT:
                case IN_STATUS: assert_int_equal(info.streak, end == LG_END_UPGRADE ? 0 : counted ? 3 : 2); break;
                case IN_REPAIR: assert_int_equal(info.streak, end == LG_END_UPGRADE ? 0 : 2); break;
                case IN_TASK:
                case AFTER_BEGIN: assert_int_equal(info.streak, counted); break;
                case AFTER_FINISH: assert_int_equal(info.streak, 0); break;
                default: break;
                }
                /* The same launch again, to a good end. */
                for (int launches = 0; launches < 6; launches++) {
                    assert_int_equal(lg_launch_begin(launch), LG_OK);
                    assert_int_equal(lg_launch_finished(launch), LG_OK);
                    assert_int_equal(lg_simulate(simulated, LG_END_CLEAN), LG_OK);
                }
                assert_int_equal(lg_launch_get_info(launch, &info), LG_OK);
                assert_int_equal(info.mode, LG_LAUNCH_MODE_NORMAL);
                assert_int_equal(info.streak, 0);
                simulated_clean(NULL);
            }
    await_no_threads();
    simulated_make(NULL);
}

static void test_refusals(void **state)
{
    (void)state;
    lg_session *none;
    assert_int_equal(lg_simulate_start(NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_simulate(NULL, LG_END_CRASH), LG_ERR_ARGUMENT);
    assert_int_equal(lg_simulate(simulated, LG_END_NONE), LG_ERR_OPTION);
    assert_int_equal(lg_simulate(simulated, LG_END_RUNNING), LG_ERR_OPTION);
    assert_int_equal(lg_simulate(simulated, (lg_end)99), LG_ERR_OPTION);
    assert_int_equal(lg_simulate_pass(simulated, -1), LG_ERR_ARGUMENT);
    assert_int_equal(lg_simulate_pass(simulated, INT64_MAX), LG_ERR_ARGUMENT);
    assert_int_equal(lg_simulate_pass(NULL, 1), LG_ERR_ARGUMENT);
    lg_simulate_close(NULL);
    lg_options bad = LG_OPTIONS_INIT;
    bad.app_id = "";
    assert_int_not_equal(lg_start(&bad, &none), LG_OK); /* a real session, without files */
    assert_int_equal(lg_simulate(none, LG_END_CRASH), LG_ERR_STATE);
    assert_int_equal(lg_simulate_pass(none, 1), LG_ERR_STATE);
    lg_simulate_close(none);
    /* After lg_simulate_close() every call does nothing. */
    lg_launch *launch = whole(LG_CALLBACKS_LIBRARY, true);
    lg_simulate_close(simulated);
    lg_simulate_close(simulated);
    assert_int_equal(lg_simulate(simulated, LG_END_CRASH), LG_ERR_STATE);
    assert_int_equal(lg_launch_begin(launch), LG_ERR_CLOSED);
    assert_int_equal(lg_session_protection(simulated), LG_PROTECTION_NONE);
    assert_told("");
}

/* ---- simulated time ---- */

static void test_time(void **state)
{
    (void)state;
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    lg_launch *launch = whole(LG_CALLBACKS_LIBRARY, true);
    /* Time alone forgets no streak. */
    simulated_crashes(launch, 2);
    lg_simulate_pass(simulated, 1000 * 3600 * 1000ll);
    lg_launch_begin(launch);
    assert_told("report 2;protect a;protect b;mend;a;b;");
    lg_simulate(simulated, LG_END_CRASH);
    lg_launch_get_info(launch, &info);
    assert_int_equal(info.due, 1); /* on probation */
    lg_simulate(simulated, LG_END_UPGRADE);
    /* Three clean ends in a row do, although no launch was finished. */
    simulated_crashes(launch, 1);
    for (int i = 0; i < 3; i++) {
        lg_launch_get_info(launch, &info);
        assert_int_equal(info.streak, 1);
        lg_launch_begin(launch);
        lg_simulate(simulated, LG_END_CLEAN);
    }
    lg_launch_get_info(launch, &info);
    assert_int_equal(info.streak, 0);
    assert_told("report 1;a;b;a;b;a;b;");
    simulated_crashes(launch, 2);
    lg_simulate(simulated, LG_END_REBOOT);
    lg_simulate_pass(simulated, 100 * 3600 * 1000);
    lg_launch_begin(launch);
    assert_told("report 2;protect a;protect b;mend;a;b;");
    assert_int_equal(lg_launch_finished(launch), LG_OK);
    lg_simulate(simulated, LG_END_CLEAN);
    /* The ladder starts at its first rung again after a day. */
    lg_launch_get_info(launch, &info);
    assert_true(info.rung > 0);
    lg_simulate_pass(simulated, 24 * 3600 * 1000);
    lg_launch_begin(launch);
    lg_launch_get_info(launch, &info);
    assert_int_equal(info.rung, 0);
}

static void gives_up_for_long(lg_launch *launch, uint32_t hold, lg_completion *done, void *user)
{
    (void)launch, (void)hold, (void)user;
    assert_int_equal(lg_simulate_pass(simulated, 120000), LG_OK); /* the hold's deadline */
    tell("give up");
    lg_complete(done, LG_OK);
}

/* Time that passes during a give-up callback passes for the hold as well: otherwise the test could
 * not know when to let it pass. */
static void test_time_while_giving_up(void **state)
{
    (void)state;
    for (lg_callbacks callbacks = LG_CALLBACKS_LIBRARY; callbacks <= LG_CALLBACKS_CALLER; callbacks++) {
        simulated_make(NULL);
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        options.callbacks = callbacks;
        options.supervised = 1;
        options.on_give_up = gives_up_for_long;
        lg_launch *launch = simulated_launch(&options);
        simulated_crashes(launch, 4);
        alarm(60); /* the hold itself is longer */
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        alarm(0);
        lg_launch_info info = LG_LAUNCH_INFO_INIT;
        assert_int_equal(lg_launch_get_info(launch, &info), LG_OK);
        assert_int_equal(info.mode, LG_LAUNCH_MODE_SAFE);
        await_no_threads(); /* the callback is void, and may still be about to run */
        assert_told("give up;");
        simulated_clean(NULL);
    }
    simulated_make(NULL);
}

static void test_throttle(void **state)
{
    (void)state;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.deescalate_runs = 1;
    lg_launch *launch = simulated_launch(&options);
    simulated_repair(launch, "costly", LG_REPAIR_DESTRUCTIVE, simulated_repaired);
    for (int days = 0; days < 3; days++) {
        simulated_crashes(launch, 2);
        lg_launch_begin(launch);
        assert_told("costly;");
        for (int i = 0; i < 2; i++) {
            lg_launch_finished(launch);
            lg_simulate(simulated, LG_END_CLEAN);
            lg_launch_begin(launch);
        }
        lg_simulate(simulated, LG_END_CRASH);
        simulated_crashes(launch, 1);
        lg_launch_begin(launch); /* within a day: safe mode */
        assert_told("");
        lg_launch_info info = LG_LAUNCH_INFO_INIT;
        lg_launch_get_info(launch, &info);
        assert_int_equal(info.mode, LG_LAUNCH_MODE_SAFE);
        for (int i = 0; i < 4; i++) {
            lg_launch_finished(launch);
            lg_simulate(simulated, LG_END_CLEAN);
            lg_launch_begin(launch);
        }
        lg_launch_finished(launch);
        lg_simulate(simulated, LG_END_CLEAN);
        lg_launch_get_info(launch, &info);
        assert_int_equal(info.mode, LG_LAUNCH_MODE_NORMAL);
        lg_simulate_pass(simulated, 25 * 3600 * 1000);
    }
}

/* ---- from another thread ---- */

static _Atomic bool stop;

static void *ends_all_the_time(void *argument)
{
    unsigned *seed = argument;
    while (!atomic_load(&stop)) {
        lg_simulate(simulated, ends[(unsigned)rand_r(seed) % ENDS]);
        lg_simulate_pass(simulated, rand_r(seed) % 3600000);
        pass_us((unsigned)rand_r(seed) % 500, "the ends come at any moment");
    }
    return NULL;
}

static void test_from_another_thread(void **state)
{
    (void)state;
    for (lg_hold hold = LG_HOLD_BLOCK; hold <= LG_HOLD_NONE; hold++) {
        simulated_make(NULL);
        armed = false;
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        options.hold = hold;
        options.on_status = on_status;
        options.window_ms = 5;
        options.heartbeat_ms = 2;
        lg_launch *launch = simulated_launch(&options);
        static char a[] = "a";
        lg_task added = LG_TASK_INIT;
        added.run = task;
        added.protect = protect;
        added.key = added.user = a;
        lg_launch_add_task(launch, &added);
        simulated_repair(launch, "mend", 0, mend);
        simulated_repair(launch, "ask", LG_REPAIR_CONSENT, mend);
        unsigned seeds[2] = { 1, 2 };
        pthread_t threads[2];
        atomic_store(&stop, false);
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, ends_all_the_time, &seeds[i]);
        for (int rounds = 0; rounds < 500; rounds++) {
            lg_launch_begin(launch);
            lg_launch_repair(launch);
            lg_launch_wait(launch, 1);
            lg_launch_finished(launch);
            story_take();
        }
        atomic_store(&stop, true);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        simulated_clean(NULL);
        await_no_threads();
    }
    simulated_make(NULL);
}

/* ---- two launches, and nothing in the file system ---- */

static void test_contexts_and_files(void **state)
{
    (void)state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(state_path("")), 0);
    lg_launch *first, *second, *again;
    assert_int_equal(lg_launch_prepare(simulated, "first", NULL, &first), LG_OK);
    assert_int_equal(lg_launch_prepare(simulated, "second", NULL, &second), LG_OK);
    assert_int_equal(lg_launch_prepare(simulated, "first", NULL, &again), LG_ERR_DUPLICATE);
    assert_ptr_equal(first, again);
    lg_launch_begin(first);
    lg_launch_begin(second);
    lg_launch_finished(first);
    lg_simulate(simulated, LG_END_CRASH);
    assert_int_equal(lg_launch_streak(first), 0);
    assert_int_equal(lg_launch_streak(second), 1);
    lg_session *another;
    /* the other launch, which knows nothing of the first */
    assert_int_equal(lg_simulate_start(&another), LG_OK);
    assert_int_equal(lg_launch_prepare(another, "second", NULL, &again), LG_OK);
    assert_int_equal(lg_launch_streak(again), 0);
    lg_simulate_close(another);
    unsigned files = 0;
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory));)
        files += entry->d_name[0] != '.';
    closedir(directory);
    assert_int_equal(files, 0);
    assert_int_equal(chdir(before), 0);
    await_no_threads();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIMULATED(test_every_end_in_every_place), SIMULATED(test_refusals),     SIMULATED(test_time), SIMULATED(test_time_while_giving_up),
        SIMULATED(test_throttle),                 SIMULATED(test_from_another_thread), SIMULATED(test_contexts_and_files),
    };
    return cmocka_run_group_tests_name("simulated_ends", tests, NULL, NULL);
}
