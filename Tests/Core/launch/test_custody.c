/* Custody: the tasks of a launch, in order, held, protected, replayed. */
#include "simulated.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- order and keys ---- */

static lg_status nothing(void *user)
{
    (void)user;
    return LG_OK;
}

static void test_nonsense(void **state)
{
    (void)state;
    lg_launch *launch = simulated_launch(NULL);
    lg_task good = LG_TASK_INIT, bad;
    char longest[LG_NAME_MAX + 1], too_long[LG_NAME_MAX + 2];
    memset(longest, 'k', sizeof longest);
    memset(too_long, 'k', sizeof too_long);
    longest[sizeof longest - 1] = too_long[sizeof too_long - 1] = 0;
    good.key = longest;
    good.run = nothing;
#define REFUSED(status, change)                                     \
    bad = good;                                                     \
    change;                                                         \
    assert_int_equal(lg_launch_add_task(launch, &bad), status)
    REFUSED(LG_ERR_ARGUMENT, bad.run = NULL);
    REFUSED(LG_ERR_OPTION, bad.size = 0);
    REFUSED(LG_ERR_OPTION, bad.key = NULL);
    REFUSED(LG_ERR_OPTION, bad.key = "");
    REFUSED(LG_ERR_OPTION, bad.key = too_long);
    REFUSED(LG_ERR_OPTION, bad.flags = 64);
    REFUSED(LG_ERR_OPTION, bad.flags = LG_TASK_ESSENTIAL | LG_TASK_UNSAFE);
    REFUSED(LG_ERR_OPTION, bad.flags = LG_TASK_ESSENTIAL | LG_TASK_SUSPECT);
    assert_int_equal(lg_launch_add_task(NULL, &good), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_add_task(launch, NULL), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_add_task(launch, &good), LG_OK);
    assert_int_equal(lg_launch_add_task(launch, &good), LG_ERR_DUPLICATE);
    for (int i = 1; i <= LG_TASKS_MAX; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        good.key = key;
        assert_int_equal(lg_launch_add_task(launch, &good), i < LG_TASKS_MAX ? LG_OK : LG_ERR_LIMIT);
    }
    lg_task_state where;
    assert_int_equal(lg_launch_task_state(launch, "63", &where), LG_OK);
    assert_int_equal(where, LG_TASK_HELD);
    assert_int_equal(lg_launch_task_state(launch, "64", &where), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_launch_task_state(launch, NULL, &where), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(lg_launch_task_state(launch, "63", &where), LG_OK);
    assert_int_equal(where, LG_TASK_DONE);
}

static struct simulated_task late = { .key = "late", .answer = LG_OK }, other_b = { .key = "b", .flags = LG_TASK_REPLACE };

static void adds_late(lg_launch *launch)
{
    lg_task_state where;
    static struct simulated_task again = { .key = "a", .flags = LG_TASK_REPLACE };
    if (simulated_add(launch, &late) != LG_OK || simulated_add(launch, &late) != LG_ERR_DUPLICATE)
        tell("not added");
    if (simulated_add(launch, &other_b) != LG_OK)
        tell("not replaced");
    if (simulated_add(launch, &again) != LG_ERR_STATE) /* the task runs */
        tell("replaced");
    if (lg_launch_task_state(launch, "a", &where) != LG_OK || where != LG_TASK_RUNNING)
        tell("does not run");
}

static void test_order(void **state)
{
    (void)state;
    lg_launch *launch = simulated_launch(NULL);
    struct simulated_task c = { .key = "c" }, a = { .key = "a", .then = adds_late }, b = { .key = "b", .answer = LG_ERR_FAILED }, after = { .key = "after" };
    assert_int_equal(simulated_add(launch, &c), LG_OK);
    assert_int_equal(simulated_add(launch, &a), LG_OK);
    assert_int_equal(simulated_add(launch, &b), LG_OK);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("c;a;b;late;"); /* the second task "b", which replaced the first, answers LG_OK */
    lg_task_state where;
    assert_int_equal(lg_launch_task_state(launch, "b", &where), LG_OK);
    assert_int_equal(where, LG_TASK_DONE);
    assert_int_equal(simulated_add(launch, &after), LG_ERR_STATE);
    other_b.flags = LG_TASK_REPLACE;
    assert_int_equal(simulated_add(launch, &other_b), LG_ERR_STATE);
    assert_int_equal(lg_launch_begin(launch), LG_ERR_STATE);
    assert_int_equal(lg_launch_replay_by_key(launch), LG_ERR_STATE);
}

static void test_failures(void **state)
{
    (void)state;
    lg_launch *launch = simulated_launch(NULL);
    struct simulated_task a = { .key = "a", .answer = LG_ERR_FAILED }, b = { .key = "b", .flags = LG_TASK_ESSENTIAL, .answer = LG_ERR_FAILED }, c = { .key = "c" };
    simulated_add(launch, &a);
    simulated_add(launch, &b);
    simulated_add(launch, &c);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(lg_launch_begin(launch), LG_ERR_FAILED);
        assert_told("a;b;");
        static const struct { const char *key; lg_task_state state; } expected[] = { { "a", LG_TASK_FAILED }, { "b", LG_TASK_FAILED }, { "c", LG_TASK_LEFT_OUT } };
        for (size_t i = 0; i < 3; i++) {
            lg_task_state where;
            assert_int_equal(lg_launch_task_state(launch, expected[i].key, &where), LG_OK);
            assert_int_equal(where, expected[i].state);
        }
        assert_int_equal(lg_launch_wait(launch, 0), LG_ERR_FAILED);
        /* The launch has begun all the same, and can be finished. */
        assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_CHECKING);
        assert_int_equal(lg_launch_finished(launch), LG_OK);
        assert_int_equal(lg_simulate(simulated, LG_END_CLEAN), LG_OK);
    }
}

/* ---- threads ---- */

struct job {
    void (*work)(void *);
    void *argument;
};

static void *execute(void *argument)
{
    struct job job = *(struct job *)argument;
    free(argument);
    job.work(job.argument);
    return NULL;
}

static void executes(void (*work)(void *), void *argument, void *user)
{
    struct job *job = malloc(sizeof *job);
    (void)user;
    *job = (struct job){ work, argument };
    in_thread(execute, job);
}

static void *begins(void *launch)
{
    lg_launch_begin(launch);
    return NULL;
}

/* Begin on another thread, which the launch may hold. */
static void begin_elsewhere(lg_launch *launch)
{
    in_thread(begins, launch);
    wait_until(lg_launch_wait(launch, 0) != LG_ERR_STATE);
}

/* ---- left out by the program ---- */

static void leaves_out(lg_launch *launch)
{
    if (lg_launch_leave_out(launch, "a") != LG_ERR_STATE) /* it runs */
        tell("left out");
    if (lg_launch_leave_out(launch, "c") != LG_OK || lg_launch_leave_out(launch, "late") != LG_OK || lg_launch_leave_out(launch, "c") != LG_OK)
        tell("refused");
    static struct simulated_task late = { .key = "late" }, other_c = { .key = "c", .flags = LG_TASK_REPLACE };
    if (simulated_add(launch, &late) != LG_OK || simulated_add(launch, &other_c) != LG_OK)
        tell("not added");
}

static void test_leave_out(void **state)
{
    (void)state;
    lg_launch *launch = simulated_launch(NULL);
    struct simulated_task a = { .key = "a", .then = leaves_out }, b = { .key = "b", .protects = true }, c = { .key = "c" }, d = { .key = "d" };
    assert_int_equal(lg_launch_leave_out(launch, "b"), LG_OK); /* which is added later */
    simulated_add(launch, &a);
    simulated_add(launch, &b);
    simulated_add(launch, &c);
    simulated_add(launch, &d);
    simulated_repair(launch, "mend", 0, simulated_repaired);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("a;d;");
    static const char *const keys[] = { "b", "c", "late" };
    for (int i = 0; i < 3; i++) {
        lg_task_state where;
        assert_int_equal(lg_launch_task_state(launch, keys[i], &where), LG_OK);
        assert_int_equal(where, LG_TASK_LEFT_OUT);
    }
    assert_int_equal(lg_launch_leave_out(launch, "d"), LG_ERR_STATE);
    lg_simulate(simulated, LG_END_CRASH);
    a.then = NULL;
    simulated_crashes(launch, 1);
    /* The task of the next life that nobody wants gets no protect action. */
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("mend;a;d;");
    assert_int_equal(lg_launch_leave_out(NULL, "a"), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_leave_out(launch, NULL), LG_ERR_OPTION);
    assert_int_equal(lg_launch_leave_out(launch, ""), LG_ERR_OPTION);
    for (int i = 3; i <= LG_TASKS_MAX; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        assert_int_equal(lg_launch_leave_out(launch, key), i < LG_TASKS_MAX ? LG_OK : LG_ERR_LIMIT);
    }
}

/* ---- protection ---- */

static void asks_for_protection(lg_launch *launch)
{
    if (lg_launch_protect(launch, "it looks bad") != LG_OK || lg_launch_protect(launch, NULL) != LG_OK)
        tell("in vain");
}

static void test_protect_actions(void **state)
{
    (void)state;
    lg_launch *launch = simulated_launch(NULL);
    struct simulated_task a = { .key = "a", .protects = true }, b = { .key = "b" }, c = { .key = "c", .protects = true };
    simulated_add(launch, &a);
    simulated_add(launch, &b);
    simulated_add(launch, &c);
    simulated_repair(launch, "mend", 0, simulated_repaired);
    simulated_crashes(launch, 2);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("protect a;protect c;mend;a;b;c;");
}

static void test_protect_from_task(void **state)
{
    (void)state;
    lg_launch *launch = simulated_launch(NULL);
    struct simulated_task a = { .key = "a", .protects = true }, b = { .key = "b", .protects = true, .then = asks_for_protection }, c = { .key = "c", .protects = true };
    simulated_add(launch, &a);
    simulated_add(launch, &b);
    simulated_add(launch, &c);
    simulated_repair(launch, "mend", 0, simulated_repaired);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("a;b;protect c;mend;c;");
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_launch_get_info(launch, &info), LG_OK);
    assert_int_equal(info.mode, LG_LAUNCH_MODE_PROBATION);
    assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_CHECKING);
    assert_int_equal(lg_launch_finished(launch), LG_OK);
    assert_int_equal(lg_launch_protect(launch, NULL), LG_ERR_STATE);
}

static void test_essential_protects_and_fails(void **state)
{
    (void)state;
    lg_launch *launch = simulated_launch(NULL);
    struct simulated_task a = { .key = "a", .flags = LG_TASK_ESSENTIAL, .then = asks_for_protection, .answer = LG_ERR_FAILED }, b = { .key = "b", .protects = true };
    simulated_add(launch, &a);
    simulated_add(launch, &b);
    simulated_repair(launch, "mend", 0, simulated_repaired);
    assert_int_equal(lg_launch_begin(launch), LG_ERR_FAILED);
    assert_told("a;mend;");
    assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_CHECKING);
}

static void test_protect_when_all_have_run(void **state)
{
    (void)state;
    for (lg_hold hold = LG_HOLD_BLOCK; hold <= LG_HOLD_NONE; hold++) {
        simulated_make(NULL);
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        options.hold = hold;
        options.on_status = life_status;
        lg_launch *launch = simulated_launch(&options);
        struct simulated_task a = { .key = "a", .protects = true };
        simulated_add(launch, &a);
        simulated_repair(launch, "mend", 0, simulated_repaired);
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        assert_int_equal(lg_launch_protect(launch, "too hot"), LG_OK);
        assert_int_equal(lg_launch_wait(launch, UINT32_MAX), LG_OK);
        assert_told("checking;a;needs-repair;repairing;mend;checking;");
        assert_int_equal(lg_launch_finished(launch), LG_OK);
        story_take();
        /* No repair is left: the launch goes on in safe mode, where the request for protection has
         * no effect. */
        assert_int_equal(lg_simulate(simulated, LG_END_UPGRADE), LG_OK);
        simulated_clean(NULL);
    }
    simulated_make(NULL);
    lg_launch *launch = simulated_launch(NULL);
    struct simulated_task a = { .key = "a", .then = asks_for_protection }, unsafe = { .key = "unsafe", .flags = LG_TASK_UNSAFE }, c = { .key = "c", .then = asks_for_protection };
    simulated_add(launch, &a);
    simulated_add(launch, &unsafe);
    simulated_add(launch, &c);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("a;c;");
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_launch_get_info(launch, &info), LG_OK);
    assert_int_equal(info.mode, LG_LAUNCH_MODE_SAFE);
    assert_int_equal(info.status, LG_LAUNCH_CHECKING);
}

static void says_repaired(lg_launch *launch, lg_launch_status status, void *user)
{
    life_status(launch, status, user);
    if (status == LG_LAUNCH_NEEDS_REPAIR && lg_launch_repaired(launch) != LG_OK)
        tell("impossible");
}

/* A program without a repair shows by its protect actions that it is held, and repairs itself. */
static void test_protect_without_a_repair(void **state)
{
    (void)state;
    for (lg_hold hold = LG_HOLD_BLOCK; hold <= LG_HOLD_NONE; hold++)
        for (int early = 0; early < 2; early++) {
            simulated_make(NULL);
            lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
            options.hold = hold;
            options.on_status = says_repaired;
            lg_launch *launch = simulated_launch(&options);
            struct simulated_task a = { .key = "a", .then = early ? NULL : asks_for_protection }, b = { .key = "b", .protects = true };
            simulated_add(launch, &a);
            simulated_add(launch, &b);
            if (early)
                assert_int_equal(lg_launch_protect(launch, "no index"), LG_OK);
            lg_launch_begin(launch);
            assert_int_equal(lg_launch_wait(launch, UINT32_MAX), LG_OK);
            lg_launch_info info = LG_LAUNCH_INFO_INIT;
            assert_int_equal(lg_launch_get_info(launch, &info), LG_OK);
            assert_int_equal(info.mode, hold == LG_HOLD_NONE ? LG_LAUNCH_MODE_SAFE : LG_LAUNCH_MODE_PROBATION);
            if (hold == LG_HOLD_BLOCK)
                assert_told(early ? "needs-repair;protect b;checking;a;b;" : "checking;a;needs-repair;protect b;checking;b;");
            story_take();
            simulated_clean(NULL);
        }
    simulated_make(NULL);
}

static _Atomic int gate;

static void waits_at_the_gate(lg_launch *launch)
{
    (void)launch;
    atomic_store(&gate, 1);
    wait_until(atomic_load(&gate) == 2);
}

static void *protects_from_outside(void *argument)
{
    wait_until(atomic_load(&gate) == 1);
    if (lg_launch_protect(argument, "from outside") != LG_OK)
        tell("in vain");
    tell("protected");
    atomic_store(&gate, 2);
    return NULL;
}

static void test_protect_from_thread(void **state)
{
    (void)state;
    for (int custody = 0; custody < 2; custody++) {
        simulated_make(NULL);
        atomic_store(&gate, 0);
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        options.hold = custody ? LG_HOLD_CUSTODY : LG_HOLD_BLOCK;
        lg_launch *launch = simulated_launch(&options);
        struct simulated_task a = { .key = "a", .then = waits_at_the_gate }, b = { .key = "b", .protects = true };
        simulated_add(launch, &a);
        simulated_add(launch, &b);
        simulated_repair(launch, "mend", 0, simulated_repaired);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, protects_from_outside, launch), 0);
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        /* in custody begin has returned as soon as the launch was held */
        assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
        /* task b does not begin after the call has returned */
        assert_told("a;protected;protect b;mend;b;");
        pthread_join(thread, NULL);
        simulated_clean(NULL);
    }
    simulated_make(NULL);
}

/* ---- tasks that are added while the launch is held ---- */

static lg_launch *held_launch(lg_launch_options *options, lg_callbacks callbacks)
{
    options->hold = callbacks == LG_CALLBACKS_CALLER ? LG_HOLD_BLOCK : LG_HOLD_CUSTODY;
    options->callbacks = callbacks;
    options->executor = callbacks == LG_CALLBACKS_EXECUTOR ? executes : NULL;
    options->auto_repair = 0;
    options->repair_after = 1;
    lg_launch *launch = simulated_launch(options);
    begin_elsewhere(launch);
    assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
    lg_simulate(simulated, LG_END_CRASH);
    return launch;
}

static struct simulated_task in_repair = { .key = "in repair", .protects = true };

static void adds_and_repairs(lg_completion *done, void *launch)
{
    tell("mend");
    if (simulated_add(launch, &in_repair) != LG_OK)
        tell("not added");
    wait_until(story_is("mend;protect in repair;"));
    lg_complete(done, LG_OK);
}

static void test_added_while_held(void **state)
{
    (void)state;
    for (lg_callbacks callbacks = LG_CALLBACKS_LIBRARY; callbacks <= LG_CALLBACKS_EXECUTOR; callbacks++) {
        simulated_make(NULL);
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        lg_launch *launch = held_launch(&options, callbacks);
        struct simulated_task a = { .key = "a", .protects = true }, b = { .key = "b", .protects = true }, c = { .key = "c" },
                              d = { .key = "d", .protects = true }, other_b = { .key = "b", .flags = LG_TASK_REPLACE, .protects = true };
        lg_repair repair = LG_REPAIR_INIT;
        repair.name = "mend";
        repair.run = callbacks == LG_CALLBACKS_CALLER ? simulated_repaired : adds_and_repairs;
        repair.user = callbacks == LG_CALLBACKS_CALLER ? (void *)(uintptr_t)repair.name : (void *)launch;
        assert_int_equal(lg_launch_add_repair(launch, &repair), LG_OK);
        simulated_add(launch, &a);
        begin_elsewhere(launch);
        await_told("protect a;");
        assert_int_equal(simulated_add(launch, &b), LG_OK);
        await_told("protect b;");
        lg_launch_leave_out(launch, "d");
        simulated_add(launch, &c);
        simulated_add(launch, &d);
        /* it is another task */
        assert_int_equal(simulated_add(launch, &other_b), LG_OK);
        await_told("protect b;");
        assert_int_equal(lg_launch_repair(launch), LG_OK);
        if (callbacks == LG_CALLBACKS_CALLER)
            await_told("mend;a;b;c;");
        else
            await_told("mend;protect in repair;a;b;c;in repair;");
        assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
        simulated_clean(NULL);
    }
    simulated_make(NULL);
}

static _Atomic unsigned protections[LG_TASKS_MAX];
static _Atomic unsigned added;

static void counts_protection(void *user)
{
    atomic_fetch_add(&protections[(uintptr_t)user], 1);
}

static lg_status add_counting(lg_launch *launch)
{
    lg_task task = LG_TASK_INIT;
    unsigned number = atomic_fetch_add(&added, 1);
    char key[16];
    if (number >= LG_TASKS_MAX)
        return LG_ERR_LIMIT;
    snprintf(key, sizeof key, "%u", number);
    task.key = key;
    task.run = nothing;
    task.protect = counts_protection;
    task.user = (void *)(uintptr_t)number;
    return lg_launch_add_task(launch, &task);
}

static void *adds_tasks(void *launch)
{
    while (add_counting(launch) == LG_OK)
        rest(0); /* so that some come before the hold and some after its begin */
    return NULL;
}

static bool all_protected(void)
{
    for (int i = 0; i < LG_TASKS_MAX; i++)
        if (!atomic_load(&protections[i]))
            return false;
    return true;
}

/* The protect action of each task is called once in a hold, whether the task was added before the
 * hold began, meanwhile, or after. */
static void test_added_while_a_hold_begins(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        simulated_make(NULL);
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        lg_launch *launch = held_launch(&options, (lg_callbacks)(round % 3));
        simulated_repair(launch, "mend", 0, simulated_repaired);
        pthread_t threads[4];
        atomic_store(&added, 0);
        for (int i = 0; i < LG_TASKS_MAX; i++)
            atomic_store(&protections[i], 0);
        add_counting(launch);
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, adds_tasks, launch), 0);
        begin_elsewhere(launch);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        wait_until(all_protected());
        assert_int_equal(lg_launch_repair(launch), LG_OK);
        assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
        for (int i = 0; i < LG_TASKS_MAX; i++)
            assert_int_equal(protections[i], 1);
        await_told("mend;");
        simulated_clean(NULL);
        await_no_threads();
    }
    simulated_make(NULL);
}

/* ---- replay ---- */

#define HOLD_MS 3600000 /* longer than any test */

static lg_launch *replaying(uint32_t hold_ms, struct simulated_task *tasks, unsigned count)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.hold = LG_HOLD_CUSTODY;
    options.hold_ms = hold_ms;
    lg_launch *launch = simulated_launch(&options);
    for (unsigned i = 0; i < count; i++)
        simulated_add(launch, &tasks[i]);
    simulated_repair(launch, "mend", 0, simulated_repaired);
    assert_int_equal(lg_launch_replay_by_key(launch), LG_OK);
    return launch;
}

static void test_replay_by_key(void **state)
{
    (void)state;
    struct simulated_task tasks[] = { { .key = "a" }, { .key = "b" }, { .key = "c" }, { .key = "d" } };
    lg_launch *launch = replaying(HOLD_MS, tasks, 4);
    assert_int_equal(lg_launch_replay(launch, NULL), LG_ERR_STATE);
    /* Without a hold the tasks run by themselves. */
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("a;b;c;d;");
    lg_simulate(simulated, LG_END_CRASH);
    simulated_crashes(launch, 1);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    await_told("mend;");
    assert_int_equal(lg_launch_wait(launch, 20), LG_ERR_TIMEOUT);
    await_status(launch, LG_LAUNCH_CHECKING);
    assert_int_equal(lg_launch_replay(launch, "nobody"), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_launch_replay(launch, "c"), LG_OK);
    await_told("c;");
    assert_int_equal(lg_launch_replay(launch, "c"), LG_OK);
    /* The launch is not finished before all tasks have run. */
    assert_int_equal(lg_launch_finished(launch), LG_OK);
    assert_int_equal(lg_launch_replay(launch, "b"), LG_OK);
    await_told("b;");
    assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_CHECKING);
    assert_int_equal(lg_launch_replay(launch, NULL), LG_OK);
    assert_int_equal(lg_launch_wait(launch, UINT32_MAX), LG_OK);
    assert_told("a;d;");
    assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_NORMAL);
    assert_int_equal(lg_launch_replay(launch, "a"), LG_OK);
}

static void test_some_by_key(void **state)
{
    (void)state;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.hold = LG_HOLD_CUSTODY;
    lg_launch *launch = simulated_launch(&options);
    struct simulated_task tasks[] = { { .key = "a", .flags = LG_TASK_BY_KEY }, { .key = "b" }, { .key = "c", .flags = LG_TASK_BY_KEY },
                                      { .key = "d" }, { .key = "e", .flags = LG_TASK_BY_KEY }, { .key = "f", .flags = LG_TASK_BY_KEY } };
    static struct simulated_task late = { .key = "late" };
    for (unsigned i = 0; i < 6; i++)
        simulated_add(launch, &tasks[i]);
    simulated_repair(launch, "mend", 0, simulated_repaired);
    /* A launch that was not held waits for no key. */
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("a;b;c;d;e;f;");
    lg_simulate(simulated, LG_END_CRASH);
    simulated_crashes(launch, 1);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    await_told("mend;b;d;");
    assert_int_equal(lg_launch_wait(launch, 20), LG_ERR_TIMEOUT);
    assert_int_equal(lg_launch_replay(launch, "b"), LG_ERR_STATE);
    assert_int_equal(lg_launch_replay(launch, "e"), LG_OK);
    await_told("e;");
    /* It waits after no task that waits for its key. */
    assert_int_equal(simulated_add(launch, &late), LG_OK);
    await_told("late;");
    assert_int_equal(lg_launch_leave_out(launch, "f"), LG_OK);
    assert_int_equal(lg_launch_wait(launch, 20), LG_ERR_TIMEOUT);
    lg_task_state where;
    assert_int_equal(lg_launch_task_state(launch, "f", &where), LG_OK);
    assert_int_equal(where, LG_TASK_LEFT_OUT);
    assert_int_equal(lg_launch_replay(launch, NULL), LG_OK);
    assert_int_equal(lg_launch_wait(launch, UINT32_MAX), LG_OK);
    assert_told("a;c;");
    lg_simulate(simulated, LG_END_UPGRADE);
    /* Where no task waits for its key there is nothing to release. */
    simulated_clean(NULL);
    simulated_make(NULL);
    launch = simulated_launch(NULL);
    struct simulated_task alone = { .key = "alone" };
    simulated_add(launch, &alone);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(lg_launch_replay(launch, NULL), LG_ERR_STATE);
    assert_int_equal(lg_launch_replay(launch, "alone"), LG_ERR_STATE);
}

static void test_replay_deadline(void **state)
{
    (void)state;
    struct simulated_task tasks[] = { { .key = "a" }, { .key = "b" }, { .key = "c" } };
    /* so long that a busy machine does not keep this thread from releasing "b" before the end */
    lg_launch *launch = replaying(5000, tasks, 3);
    for (int again = 0; again < 2; again++) {
        simulated_crashes(launch, 2);
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        await_status(launch, LG_LAUNCH_CHECKING);
        lg_launch_replay(launch, "b");
        assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
        assert_told("mend;b;a;c;");
        lg_simulate(simulated, LG_END_UPGRADE);
    }
}

static void test_replay_is_interrupted(void **state)
{
    (void)state;
    struct simulated_task tasks[] = { { .key = "a" }, { .key = "b" } };
    lg_launch *launch = replaying(HOLD_MS, tasks, 2);
    simulated_repair(launch, "mend better", 0, simulated_repaired);
    simulated_crashes(launch, 2);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    await_told("mend;");
    await_status(launch, LG_LAUNCH_CHECKING);
    /* A request for protection has no effect on the waiting tasks. */
    assert_int_equal(lg_launch_protect(launch, NULL), LG_OK);
    await_told("mend better;");
    await_status(launch, LG_LAUNCH_CHECKING);
    assert_int_equal(lg_launch_replay(launch, "b"), LG_OK);
    await_told("b;");
    assert_int_equal(lg_will_terminate(simulated), LG_OK);
    assert_int_equal(lg_launch_wait(launch, UINT32_MAX), LG_ERR_INTERRUPTED);
    assert_told("");
    assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_NORMAL);
    /* The announcement has no effect on the next run. */
    lg_simulate(simulated, LG_END_TERMINATED);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("a;b;");
}

/* ---- tasks that are added after all have run ---- */

static struct simulated_task later = { .key = "later", .flags = LG_TASK_LATE };

static void adds_later(lg_launch *launch)
{
    lg_task_state where;
    if (simulated_add(launch, &later) != LG_OK || lg_launch_task_state(launch, "later", &where) != LG_OK || where != LG_TASK_HELD)
        tell("not added");
}

static void test_late(void **state)
{
    (void)state;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.safe_retry_runs = 1;
    lg_launch *launch = simulated_launch(&options);
    struct simulated_task a = { .key = "a" }, b = { .key = "b", .flags = LG_TASK_LATE | LG_TASK_BY_KEY, .then = adds_later }, c = { .key = "c" },
                          unsafe = { .key = "unsafe", .flags = LG_TASK_LATE | LG_TASK_UNSAFE }, d = { .key = "d", .flags = LG_TASK_LATE };
    lg_task_state where;
    simulated_add(launch, &a);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("a;");
    assert_int_equal(simulated_add(launch, &c), LG_ERR_STATE);
    /* A task that is added by a late one runs after it. */
    assert_int_equal(simulated_add(launch, &b), LG_OK);
    assert_told("b;later;");
    assert_int_equal(simulated_add(launch, &b), LG_ERR_DUPLICATE);
    assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_CHECKING);
    assert_int_equal(lg_launch_leave_out(launch, "d"), LG_OK);
    assert_int_equal(simulated_add(launch, &d), LG_OK);
    assert_told("");
    /* Without a repair the launch goes to safe mode, and stays in it also when it is finished. */
    b.then = NULL;
    lg_simulate(simulated, LG_END_CRASH);
    simulated_crashes(launch, 1);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("a;b;later;");
    assert_int_equal(lg_launch_finished(launch), LG_OK);
    assert_int_equal(simulated_add(launch, &unsafe), LG_OK);
    assert_told("");
    assert_int_equal(lg_launch_task_state(launch, "unsafe", &where), LG_OK);
    assert_int_equal(where, LG_TASK_LEFT_OUT);
    struct simulated_task e = { .key = "e", .flags = LG_TASK_LATE };
    assert_int_equal(simulated_add(launch, &e), LG_OK);
    assert_told("e;");
}

static unsigned times_left;

static void adds_itself(lg_launch *launch)
{
    static struct simulated_task again;
    again = (struct simulated_task){ .key = "b", .flags = LG_TASK_LATE | LG_TASK_REPLACE, .protects = true, .then = --times_left ? adds_itself : NULL };
    if (simulated_add(launch, &again) != LG_OK)
        tell("refused");
}

/* One key, at each event: runs each time, once more where it runs, and is held like any other. */
static void test_late_again(void **state)
{
    (void)state;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.hold = LG_HOLD_CUSTODY;
    options.auto_repair = 0;
    lg_launch *launch = simulated_launch(&options);
    struct simulated_task a = { .key = "a" }, b = { .key = "b", .flags = LG_TASK_LATE | LG_TASK_REPLACE, .protects = true },
                          plain = { .key = "b", .flags = LG_TASK_REPLACE }, looping = b;
    simulated_add(launch, &a);
    simulated_repair(launch, "mend", 0, simulated_repaired);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
    for (int event = 0; event < 3; event++)
        assert_int_equal(simulated_add(launch, &b), LG_OK);
    assert_told("a;b;b;b;");
    assert_int_equal(simulated_add(launch, &plain), LG_ERR_STATE);
    times_left = 3;
    looping.then = adds_itself;
    assert_int_equal(simulated_add(launch, &looping), LG_OK);
    assert_told("b;b;b;b;");
    assert_int_equal(lg_launch_protect(launch, NULL), LG_OK);
    assert_int_equal(simulated_add(launch, &b), LG_OK);
    await_told("protect b;");
    assert_int_equal(lg_launch_repair(launch), LG_OK);
    await_told("mend;b;");
}

static void adds_essential_again(lg_launch *launch)
{
    static struct simulated_task again = { .key = "b", .flags = LG_TASK_LATE | LG_TASK_REPLACE };
    tell("%s", lg_status_name(simulated_add(launch, &again)));
}

static void adds_essential_and_signals(lg_launch *launch)
{
    static struct simulated_task again = { .key = "c", .flags = LG_TASK_LATE | LG_TASK_REPLACE | LG_TASK_ESSENTIAL, .listens = true };
    tell("%s", lg_status_name(simulated_add(launch, &again)));
    lg_launch_signal(launch, "c", "active");
}

/* An essential one that runs or has failed decides the outcome, and stays. One that fails and runs
 * anew as an essential one decides nothing before it has run anew; its event waits that long. */
static void test_late_again_and_essential(void **state)
{
    (void)state;
    lg_launch *launch = simulated_launch(NULL);
    struct simulated_task b = { .key = "b", .flags = LG_TASK_ESSENTIAL, .then = adds_essential_again },
                          c = { .key = "c", .answer = LG_ERR_FAILED, .then = adds_essential_and_signals }, d = { .key = "d" };
    simulated_add(launch, &b);
    simulated_add(launch, &c);
    simulated_add(launch, &d);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("b;state;c;ok;c;c: active;d;");
    assert_int_equal(lg_simulate(simulated, LG_END_CLEAN), LG_OK);
    b.answer = LG_ERR_FAILED;
    assert_int_equal(lg_launch_begin(launch), LG_ERR_FAILED);
    struct simulated_task again = { .key = "b", .flags = LG_TASK_LATE | LG_TASK_REPLACE };
    assert_int_equal(simulated_add(launch, &again), LG_ERR_STATE);
}

static void test_late_is_refused(void **state)
{
    (void)state;
    lg_launch *launch = simulated_launch(NULL);
    struct simulated_task a = { .key = "a", .flags = LG_TASK_ESSENTIAL, .answer = LG_ERR_FAILED }, b = { .key = "b", .flags = LG_TASK_LATE };
    simulated_add(launch, &a);
    assert_int_equal(lg_launch_begin(launch), LG_ERR_FAILED);
    assert_int_equal(simulated_add(launch, &b), LG_ERR_STATE);
    lg_simulate(simulated, LG_END_CLEAN);
    a.answer = LG_OK;
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(lg_will_terminate(simulated), LG_OK);
    assert_int_equal(simulated_add(launch, &b), LG_ERR_STATE);
    assert_told("a;a;");
}

/* Held again, the late tasks are tasks like any other. */
static void test_late_while_held_again(void **state)
{
    (void)state;
    for (lg_callbacks callbacks = LG_CALLBACKS_LIBRARY; callbacks <= LG_CALLBACKS_EXECUTOR; callbacks++) {
        simulated_make(NULL);
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        options.hold = callbacks == LG_CALLBACKS_CALLER ? LG_HOLD_BLOCK : LG_HOLD_CUSTODY;
        options.callbacks = callbacks;
        options.executor = callbacks == LG_CALLBACKS_EXECUTOR ? executes : NULL;
        options.auto_repair = 0;
        lg_launch *launch = simulated_launch(&options);
        struct simulated_task a = { .key = "a" }, b = { .key = "b", .flags = LG_TASK_LATE, .protects = true },
                              c = { .key = "c", .flags = LG_TASK_LATE | LG_TASK_BY_KEY }, d = { .key = "d", .flags = LG_TASK_LATE },
                              refused = { .key = "refused" };
        simulated_add(launch, &a);
        simulated_repair(launch, "mend", 0, simulated_repaired);
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
        assert_told("a;");
        assert_int_equal(lg_launch_protect(launch, NULL), LG_OK);
        assert_int_equal(simulated_add(launch, &b), LG_OK);
        await_told("protect b;");
        assert_int_equal(simulated_add(launch, &c), LG_OK);
        assert_int_equal(simulated_add(launch, &refused), LG_ERR_STATE);
        assert_int_equal(lg_launch_repair(launch), LG_OK);
        await_told("mend;b;");
        /* It does not wait for the key of another one, nor does the call. */
        assert_int_equal(simulated_add(launch, &d), LG_OK);
        await_told("d;");
        assert_int_equal(lg_launch_replay(launch, "c"), LG_OK);
        assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
        assert_told("c;");
        struct simulated_task e = { .key = "e", .flags = LG_TASK_LATE };
        assert_int_equal(simulated_add(launch, &e), LG_OK);
        await_told("e;");
        simulated_clean(NULL);
    }
    simulated_make(NULL);
}

static _Atomic unsigned runs[LG_TASKS_MAX], inside;

static lg_status runs_alone(void *user)
{
    if (atomic_fetch_add(&inside, 1) != 0)
        tell("two at a time");
    atomic_fetch_add(&runs[(uintptr_t)user], 1);
    atomic_fetch_sub(&inside, 1);
    return LG_OK;
}

static void *adds_late_tasks(void *launch)
{
    lg_task task = LG_TASK_INIT;
    char key[16];
    task.key = key;
    task.flags = LG_TASK_LATE;
    task.run = runs_alone;
    for (;;) {
        unsigned number = atomic_fetch_add(&added, 1);
        if (number >= LG_TASKS_MAX)
            return NULL;
        snprintf(key, sizeof key, "%u", number);
        task.user = (void *)(uintptr_t)number;
        if (lg_launch_add_task(launch, &task) != LG_OK)
            tell("not added");
    }
}

static void *adds_one_that_waits(void *launch)
{
    static struct simulated_task waits = { .key = "waits", .flags = LG_TASK_LATE, .then = waits_at_the_gate };
    if (simulated_add(launch, &waits) != LG_OK)
        tell("not added");
    return NULL;
}

/* A hold ends while a late task runs: the others wait for its end. */
static void test_late_one_at_a_time(void **state)
{
    (void)state;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.auto_repair = 0;
    lg_launch *launch = simulated_launch(&options);
    struct simulated_task next = { .key = "next", .flags = LG_TASK_LATE };
    simulated_repair(launch, "mend", 0, simulated_repaired);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    atomic_store(&gate, 0);
    in_thread(adds_one_that_waits, launch);
    wait_until(atomic_load(&gate) == 1);
    assert_int_equal(lg_launch_protect(launch, NULL), LG_OK);
    assert_int_equal(simulated_add(launch, &next), LG_OK);
    assert_int_equal(lg_launch_repair(launch), LG_OK);
    await_told("waits;mend;");
    await_status(launch, LG_LAUNCH_CHECKING);
    assert_int_equal(lg_launch_wait(launch, 50), LG_ERR_TIMEOUT);
    assert_told("");
    atomic_store(&gate, 2);
    assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
    await_told("next;");
    await_no_threads();
}

static void *protects_late(void *launch)
{
    lg_launch_protect(launch, NULL);
    return NULL;
}

/* Late tasks of several threads run one at a time and each once, also when the launch is held
 * meanwhile. */
static void test_late_from_several_threads(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        simulated_make(NULL);
        lg_launch *launch = simulated_launch(NULL);
        simulated_repair(launch, "mend", 0, simulated_repaired);
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        pthread_t threads[5];
        atomic_store(&added, 0);
        for (int i = 0; i < LG_TASKS_MAX; i++)
            atomic_store(&runs[i], 0);
        for (int i = 0; i < 5; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, i == 2 && round % 2 ? protects_late : adds_late_tasks, launch), 0);
        for (int i = 0; i < 5; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
        for (int i = 0; i < LG_TASKS_MAX; i++)
            assert_int_equal(runs[i], 1);
        assert_told(round % 2 ? "mend;" : "");
        simulated_clean(NULL);
        await_no_threads();
    }
    simulated_make(NULL);
}

/* ---- the mark ---- */

static void marks_finished(lg_launch *launch)
{
    lg_launch_status before = lg_launch_get_status(launch);
    lg_status marked = lg_launch_finished(launch);
    tell("%s, then %s", marked == LG_OK ? lg_launch_status_name(before) : lg_status_name(marked), lg_launch_status_name(lg_launch_get_status(launch)));
}

static void marks_and_protects(lg_launch *launch)
{
    marks_finished(launch);
    if (lg_launch_protect(launch, NULL) != LG_OK)
        tell("in vain");
}

static void test_mark_while_tasks_are_held(void **state)
{
    (void)state;
    static const lg_finish ways[] = { LG_FINISH_EITHER, LG_FINISH_MARK, LG_FINISH_BOTH };
    for (int i = 0; i < 3; i++) {
        simulated_make(NULL);
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        options.finish = ways[i];
        options.window_ms = ways[i] == LG_FINISH_BOTH ? 1 : 3600000;
        lg_launch *launch = simulated_launch(&options);
        struct simulated_task a = { .key = "a", .then = marks_finished }, b = { .key = "b" }, c = { .key = "c", .flags = LG_TASK_UNSAFE };
        simulated_add(launch, &a);
        simulated_add(launch, &b);
        simulated_add(launch, &c);
        simulated_repair(launch, "mend", 0, simulated_repaired);
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        assert_told("a;checking, then checking;b;c;");
        await_status(launch, LG_LAUNCH_NORMAL);
        assert_int_equal(lg_launch_finished(launch), LG_OK); /* once more, and stored */
        lg_simulate(simulated, LG_END_CRASH);
        assert_int_equal(lg_launch_streak(launch), 0);
        /* No task is held after the last one, which may run for ever. */
        a.then = NULL;
        c.then = marks_finished;
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        if (ways[i] != LG_FINISH_BOTH)
            assert_told("a;b;c;checking, then normal;");
        lg_simulate(simulated, LG_END_CLEAN);
        story_take();
        /* A request for protection takes back a mark that waits. */
        a.then = marks_and_protects;
        c.then = NULL;
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        assert_told("a;checking, then checking;mend;b;c;");
        assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_CHECKING);
        assert_int_equal(lg_launch_finished(launch), LG_OK);
        await_status(launch, LG_LAUNCH_NORMAL);
        simulated_clean(NULL);
    }
    simulated_make(NULL);
}

/* Time proves nothing while the tasks wait for their keys. */
static void test_window_while_tasks_wait(void **state)
{
    (void)state;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.hold = LG_HOLD_CUSTODY;
    options.window_ms = 200;
    lg_launch *launch = simulated_launch(&options);
    struct simulated_task a = { .key = "a", .flags = LG_TASK_BY_KEY };
    simulated_add(launch, &a);
    simulated_repair(launch, "mend", 0, simulated_repaired);
    simulated_crashes(launch, 2);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    await_told("mend;");
    await_status(launch, LG_LAUNCH_CHECKING);
    pass_time(600, "three windows would have passed");
    assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_CHECKING);
    assert_int_equal(lg_launch_replay(launch, "a"), LG_OK);
    assert_int_equal(lg_launch_wait(launch, UINT32_MAX), LG_OK);
    assert_told("a;");
    await_status(launch, LG_LAUNCH_NORMAL);
}

/* ---- events ---- */

static void signals_within(lg_launch *launch)
{
    if (lg_launch_signal(launch, NULL, "early") != LG_OK || lg_launch_signal(launch, NULL, "active") != LG_OK ||
        lg_launch_signal(launch, "left out", "active") != LG_OK)
        tell("not told");
}

static void test_events(void **state)
{
    (void)state;
    lg_launch *launch = simulated_launch(NULL);
    struct simulated_task tasks[] = { { .key = "a", .listens = true },
                                 { .key = "b", .listens = true, .then = signals_within },
                                 { .key = "left out", .flags = LG_TASK_UNSAFE, .listens = true },
                                 { .key = "fails", .answer = LG_ERR_FAILED, .listens = true },
                                 { .key = "deaf" },
                                 { .key = "c", .listens = true } };
    for (int i = 0; i < 6; i++)
        simulated_add(launch, &tasks[i]);
    assert_int_equal(lg_launch_signal(launch, "a", "before all"), LG_OK);
    assert_int_equal(lg_launch_signal(launch, "nobody", "x"), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_launch_signal(launch, "a", ""), LG_ERR_OPTION);
    assert_int_equal(lg_launch_signal(launch, "a", NULL), LG_ERR_OPTION);
    assert_int_equal(lg_launch_signal(NULL, "a", "x"), LG_ERR_ARGUMENT);
    simulated_crashes(launch, 1); /* the next run has forgotten the event */
    simulated_crashes(launch, 1);
    assert_int_equal(lg_launch_signal(launch, "a", "before all"), LG_OK);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("a;a: before all;b;a: early;a: active;b: active;fails;deaf;c;c: active;");
    assert_int_equal(lg_launch_signal(launch, NULL, "after"), LG_OK);
    assert_told("a: after;b: after;c: after;");
    assert_int_equal(lg_launch_signal(launch, "fails", "after"), LG_OK);
    assert_told("");
}

static _Atomic unsigned heard;

static void hears(const char *event, void *user)
{
    (void)event, (void)user;
    atomic_fetch_add(&heard, 1);
}

static void *signals(void *launch)
{
    for (int i = 0; i < 50000; i++)
        lg_launch_signal(launch, NULL, "event");
    return NULL;
}

/* Each event reaches a task that has run, also where several threads send events at the same
 * time. */
static void test_events_of_several_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    lg_launch *launch = simulated_launch(NULL);
    lg_task task = LG_TASK_INIT;
    task.key = "listens";
    task.run = nothing;
    task.on_event = hears;
    assert_int_equal(lg_launch_add_task(launch, &task), LG_OK);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, signals, launch);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(heard, 200000);
}

/* ---- calls from every callback ---- */

#define THREADS 8
static _Atomic bool stop;

struct worker {
    lg_launch *launch;
    unsigned seed;
};

static void random_repair(lg_completion *done, void *user)
{
    static _Atomic unsigned turn;
    (void)user;
    unsigned now = atomic_fetch_add(&turn, 1);
    lg_complete(done, now % 3 ? LG_OK : LG_ERR_FAILED);
    lg_complete(done, now % 3 ? LG_ERR_FAILED : LG_OK);
}

static void *marks(void *argument)
{
    struct worker *worker = argument;
    lg_launch *launch = worker->launch;
    lg_task added = LG_TASK_INIT;
    added.key = "added";
    added.flags = LG_TASK_REPLACE;
    added.run = nothing;
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    lg_task_state where;
    while (!atomic_load(&stop)) {
        switch (rand_r(&worker->seed) % 16) {
        case 0: lg_launch_finished(launch); break;
        case 1: lg_launch_protect(launch, NULL); break;
        case 2: lg_launch_repair(launch); break;
        case 3: lg_launch_skip(launch); break;
        case 4: lg_launch_refuse(launch); break;
        case 5: lg_launch_try_safe(launch); break;
        case 6: lg_launch_replay(launch, NULL); break;
        case 7: lg_launch_replay(launch, "b"); break;
        case 8: lg_launch_signal(launch, NULL, "event"); break;
        case 9: lg_launch_get_info(launch, &info); break;
        case 10: lg_launch_task_state(launch, "a", &where); break;
        case 11: lg_launch_streak(launch); break;
        case 12: lg_heartbeat(simulated); break;
        case 13: lg_launch_wait(launch, 0); break;
        case 14:
            if (rand_r(&worker->seed) % 8 == 0)
                lg_will_terminate(simulated);
            break;
        default:
            added.flags ^= LG_TASK_LATE;
            lg_launch_add_task(launch, &added);
            break;
        }
    }
    return NULL;
}

static void quiet_status(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch;
    static _Atomic int inside;
    assert_int_equal(atomic_fetch_add(&inside, 1), 0); /* one at a time */
    *(_Atomic uint32_t *)user = (uint32_t)status;
    atomic_fetch_sub(&inside, 1);
}

static void test_marks_from_everywhere(void **state)
{
    (void)state;
    static const lg_end ends[] = { LG_END_CRASH, LG_END_CRASH, LG_END_CLEAN, LG_END_UNKNOWN, LG_END_TERMINATED, LG_END_HANG };
    unsigned seed = 7;
    for (lg_hold hold = LG_HOLD_BLOCK; hold <= LG_HOLD_NONE; hold++) {
        simulated_make(NULL);
        _Atomic uint32_t calls = 0;
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        options.hold = hold;
        options.hold_ms = 20;
        options.window_ms = 20;
        options.auto_repair = hold == LG_HOLD_CUSTODY ? 0 : 1;
        options.repair_after = 1;
        options.on_status = quiet_status;
        options.user = &calls;
        lg_launch *launch = simulated_launch(&options);
        lg_task task = LG_TASK_INIT;
        task.run = nothing;
        static const char *const keys[] = { "a", "b", "c" };
        for (int i = 0; i < 3; i++) {
            task.key = keys[i];
            lg_launch_add_task(launch, &task);
        }
        simulated_repair(launch, "one", 0, random_repair);
        simulated_repair(launch, "two", LG_REPAIR_CONSENT, random_repair);
        if (hold == LG_HOLD_CUSTODY)
            lg_launch_replay_by_key(launch);
        struct worker workers[THREADS];
        pthread_t threads[THREADS];
        atomic_store(&stop, false);
        for (unsigned i = 0; i < THREADS; i++) {
            workers[i] = (struct worker){ launch, i + 1 };
            assert_int_equal(pthread_create(&threads[i], NULL, marks, &workers[i]), 0);
        }
        for (int rounds = 0; rounds < 150; rounds++) {
            lg_launch_begin(launch);
            if (rounds % 3)
                lg_launch_wait(launch, 5);
            assert_int_equal(lg_simulate(simulated, ends[rand_r(&seed) % (sizeof ends / sizeof ends[0])]), LG_OK);
        }
        atomic_store(&stop, true);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        /* No state is lost and no launch is stuck: good launches lead back to the normal one. */
        lg_launch_info info = { .size = sizeof info, .mode = LG_LAUNCH_MODE_SAFE };
        lg_simulate(simulated, LG_END_CLEAN);
        for (int launches = 0; launches < 80 && (info.mode != LG_LAUNCH_MODE_NORMAL || info.streak); launches++) {
            lg_status begun = lg_launch_begin(launch);
            if (begun == LG_OK)
                begun = lg_launch_wait(launch, UINT32_MAX);
            assert_int_equal(begun, LG_OK);
            assert_int_equal(lg_launch_finished(launch), LG_OK);
            assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_NORMAL);
            lg_launch_get_info(launch, &info);
            lg_simulate(simulated, LG_END_CLEAN);
        }
        assert_int_equal(info.mode, LG_LAUNCH_MODE_NORMAL);
        assert_int_equal(info.streak, 0);
        simulated_clean(NULL);
        await_no_threads();
    }
    simulated_make(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIMULATED(test_nonsense),          SIMULATED(test_order),           SIMULATED(test_failures), SIMULATED(test_leave_out),
        SIMULATED(test_protect_actions),   SIMULATED(test_protect_from_task), SIMULATED(test_essential_protects_and_fails),
        SIMULATED(test_protect_when_all_have_run), SIMULATED(test_protect_without_a_repair), SIMULATED(test_protect_from_thread), SIMULATED(test_replay_by_key),
        SIMULATED(test_mark_while_tasks_are_held), SIMULATED(test_window_while_tasks_wait),
        SIMULATED(test_late), SIMULATED(test_late_again), SIMULATED(test_late_again_and_essential), SIMULATED(test_late_is_refused), SIMULATED(test_late_while_held_again), SIMULATED(test_late_one_at_a_time), SIMULATED(test_late_from_several_threads),
        SIMULATED(test_some_by_key),       SIMULATED(test_added_while_held),  SIMULATED(test_added_while_a_hold_begins),
        SIMULATED(test_replay_deadline),   SIMULATED(test_replay_is_interrupted), SIMULATED(test_events),
        SIMULATED(test_marks_from_everywhere), SIMULATED(test_events_of_several_threads),
    };
    return cmocka_run_group_tests_name("custody", tests, NULL, NULL);
}
