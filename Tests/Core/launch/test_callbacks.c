/* Callbacks: the thread on which they run, the ways in which they may answer, and the functions
 * that they may call. */
#include "simulated.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- an executor ---- */

#define WORKS 64
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*work[WORKS])(void *);
    void *argument[WORKS];
    unsigned given, taken;
    bool over;
    pthread_t thread;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void enqueue(void (*work)(void *), void *argument, void *user)
{
    (void)user;
    pthread_mutex_lock(&queue.lock);
    queue.work[queue.given % WORKS] = work;
    queue.argument[queue.given++ % WORKS] = argument;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

static unsigned works_given(void)
{
    pthread_mutex_lock(&queue.lock);
    unsigned given = queue.given;
    pthread_mutex_unlock(&queue.lock);
    return given;
}

static void *run_queue(void *argument)
{
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (queue.taken == queue.given && !queue.over)
            pthread_cond_wait(&queue.changed, &queue.lock);
        if (queue.taken == queue.given)
            break;
        unsigned at = queue.taken++ % WORKS;
        void (*work)(void *) = queue.work[at];
        void *given = queue.argument[at];
        pthread_mutex_unlock(&queue.lock);
        work(given);
        pthread_mutex_lock(&queue.lock);
    }
    pthread_mutex_unlock(&queue.lock);
    return argument;
}

static void start_queue(void)
{
    queue.over = false;
    queue.given = queue.taken = 0;
    assert_int_equal(pthread_create(&queue.thread, NULL, run_queue, NULL), 0);
}

static void end_queue(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.over = true;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    pthread_join(queue.thread, NULL);
}

static void at_once(void (*work)(void *), void *argument, void *user)
{
    (void)user;
    work(argument);
}

static void twice(void (*work)(void *), void *argument, void *user)
{
    enqueue(work, argument, user);
    enqueue(work, argument, user);
    work(argument);
}

/* ---- a launch with every kind of callback ---- */

static pthread_t caller;

static const char *where(void)
{
    return pthread_equal(pthread_self(), caller) ? "caller" : pthread_equal(pthread_self(), queue.thread) ? "queue" : "own";
}

static void report(const lg_report_batch *batch, lg_completion *done, void *user)
{
    (void)user;
    tell("report %u on %s", batch->streak, where());
    lg_complete(done, LG_OK);
}

static void give_up(lg_launch *launch, uint32_t hold, lg_completion *done, void *user)
{
    (void)launch, (void)hold, (void)user;
    tell("give up on %s", where());
    lg_complete(done, LG_OK);
}

static void mend(lg_completion *done, void *user)
{
    (void)user;
    tell("mend on %s", where());
    lg_complete(done, LG_OK);
}

static lg_status task(void *user)
{
    (void)user;
    tell("task on %s", where());
    return LG_OK;
}

static void protect(void *user)
{
    (void)user;
    tell("protect on %s", where());
}

static lg_launch *everything(lg_hold hold, lg_callbacks callbacks, lg_executor executor)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.on_report = report;
    options.on_give_up = give_up;
    options.hold = hold;
    options.callbacks = callbacks;
    options.executor = executor;
    lg_launch *launch = simulated_launch(&options);
    lg_task added = LG_TASK_INIT;
    added.key = "task";
    added.run = task;
    added.protect = protect;
    lg_launch_add_task(launch, &added);
    simulated_repair(launch, "mend", 0, mend);
    caller = pthread_self();
    return launch;
}

static void test_threads(void **state)
{
    (void)state;
    static const struct { lg_callbacks callbacks; lg_executor executor; const char *story; } ways[] = {
        { LG_CALLBACKS_LIBRARY, NULL, "report 2 on own;protect on own;mend on own;task on caller;" },
        { LG_CALLBACKS_CALLER, NULL, "report 2 on caller;protect on caller;mend on caller;task on caller;" },
        { LG_CALLBACKS_EXECUTOR, enqueue, "report 2 on queue;protect on queue;mend on queue;task on queue;" },
        { LG_CALLBACKS_EXECUTOR, at_once, "report 2 on caller;protect on caller;mend on caller;task on caller;" },
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        simulated_make(NULL);
        start_queue();
        lg_launch *launch = everything(LG_HOLD_BLOCK, ways[i].callbacks, ways[i].executor);
        simulated_crashes(launch, 2);
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        assert_told(ways[i].story);
        simulated_crashes(launch, 0);
        end_queue();
        simulated_clean(NULL);
    }
    simulated_make(NULL);
}

/* The thread that begins the launch also runs the work of the executor, as a main loop does. In
 * custody this thread is not held, and no healthy launch hangs. */
static void *ends_loop(void *launch)
{
    lg_launch_wait(launch, UINT32_MAX);
    pthread_mutex_lock(&queue.lock);
    queue.over = true;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    return NULL;
}

static void test_main_loop(void **state)
{
    (void)state;
    static const char *const expected[] = { "task on caller;", "report 1 on caller;task on caller;",
                                        "report 2 on caller;protect on caller;mend on caller;task on caller;" };
    queue.given = queue.taken = 0;
    for (unsigned crashes = 0; crashes < 3; crashes++) {
        pthread_t thread;
        lg_launch *launch = everything(LG_HOLD_CUSTODY, LG_CALLBACKS_EXECUTOR, enqueue);
        lg_simulate(simulated, LG_END_UPGRADE);
        for (unsigned i = 0; i < crashes; i++) {
            lg_launch_begin(launch);
            lg_simulate(simulated, LG_END_CRASH);
        }
        story_take();
        queue.over = false;
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        pthread_create(&thread, NULL, ends_loop, launch);
        run_queue(NULL);
        pthread_join(thread, NULL);
        assert_told(expected[crashes]);
        simulated_clean(NULL);
        simulated_make(NULL);
    }
}

/* The same for a launch that is not protected. */
static void test_main_loop_unprotected(void **state)
{
    (void)state;
    pthread_t thread;
    lg_launch *launch;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.hold = LG_HOLD_CUSTODY;
    options.callbacks = LG_CALLBACKS_EXECUTOR;
    options.executor = enqueue;
    options.kill_switch = "PATH";
    assert_int_equal(lg_launch_prepare(simulated, "main", &options, &launch), LG_ERR_UNPROTECTED);
    lg_task added = LG_TASK_INIT;
    added.key = "task";
    added.run = task;
    lg_launch_add_task(launch, &added);
    caller = pthread_self();
    queue.given = queue.taken = 0;
    queue.over = false;
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    pthread_create(&thread, NULL, ends_loop, launch);
    run_queue(NULL);
    pthread_join(thread, NULL);
    assert_told("task on caller;");
}

static void test_give_up_threads(void **state)
{
    (void)state;
    start_queue();
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.on_give_up = give_up;
    options.callbacks = LG_CALLBACKS_EXECUTOR;
    options.executor = enqueue;
    lg_launch *launch = simulated_launch(&options);
    caller = pthread_self();
    simulated_crashes(launch, 4);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("give up on queue;");
    end_queue();
}

/* An executor runs a piece of work twice: the work has its effect once, whichever thread comes
 * first. */
static void test_executor_runs_twice(void **state)
{
    (void)state;
    for (int times = 0; times < 50; times++) {
        simulated_make(NULL);
        start_queue();
        lg_launch *launch = everything(LG_HOLD_BLOCK, LG_CALLBACKS_EXECUTOR, twice);
        simulated_crashes(launch, 2);
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        const char *taken = story_take();
        unsigned count = 0;
        for (; *taken; taken++)
            count += *taken == ';';
        assert_int_equal(count, 4);
        end_queue();
        simulated_clean(NULL);
    }
    simulated_make(NULL);
}

/* An executor never runs the work: only the time limit is lost. Work that runs later after all has
 * no effect. */
static lg_status begun;

static void *begins(void *launch)
{
    begun = lg_launch_begin(launch);
    return NULL;
}

static void test_executor_never_runs(void **state)
{
    (void)state;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.on_report = report;
    options.report_wait_ms = 20;
    options.callbacks = LG_CALLBACKS_EXECUTOR;
    options.executor = enqueue;
    options.repair_after = 1;
    lg_launch *launch = simulated_launch(&options);
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "mend";
    repair.timeout_ms = 20;
    repair.attempts = 2;
    repair.run = mend;
    lg_launch_add_repair(launch, &repair);
    queue.given = queue.taken = 0;
    simulated_crashes(launch, 1);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(queue.given, 3); /* report and two attempts */
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_launch_get_info(launch, &info), LG_OK);
    assert_int_equal(info.mode, LG_LAUNCH_MODE_SAFE);
    for (unsigned i = 0; i < queue.given; i++)
        queue.work[i](queue.argument[i]);
    assert_told("report 1 on caller;"); /* a report is never too late */
    /* A task has no time limit: the launch waits for the answer until the run is over. */
    lg_simulate(simulated, LG_END_CLEAN);
    lg_task added = LG_TASK_INIT;
    added.key = "task";
    added.run = task;
    lg_launch_add_task(launch, &added);
    pthread_t thread;
    pthread_create(&thread, NULL, begins, launch);
    wait_until(works_given() == 4);
    lg_simulate(simulated, LG_END_CLEAN);
    pthread_join(thread, NULL);
    assert_int_equal(begun, LG_ERR_CLOSED);
    queue.work[3](queue.argument[3]);
    assert_told("");
}

/* ---- answers ---- */

#define NEVER_MS 60000 /* no answer takes as long in real time */
static lg_completion *_Atomic kept;

static void keeps(lg_completion *done, void *user)
{
    (void)user;
    tell("kept");
    kept = done;
}

static void *answers_both_ways(void *done)
{
    lg_complete(done, LG_OK);
    lg_complete(done, LG_ERR_FAILED);
    return NULL;
}

static void keeps_for_too_long(lg_completion *done, void *user)
{
    keeps(done, user);
    assert_int_equal(lg_simulate_pass(simulated, NEVER_MS), LG_OK);
}

#define HOLD_MS 86400000

/* As long as the hold lasts. */
static void protects_for_too_long(void *user)
{
    (void)user;
    tell("protect");
    assert_int_equal(lg_simulate_pass(simulated, HOLD_MS), LG_OK);
}

static void answers_from_threads(lg_completion *done, void *user)
{
    pthread_t threads[4];
    (void)user;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, answers_both_ways, done);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    tell("answered");
}

/* ---- reports that have no turn in time ---- */

static lg_launch *launch_with_late_reports(void)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.on_report = report;
    options.report_wait_ms = 10;
    options.callbacks = LG_CALLBACKS_EXECUTOR;
    options.executor = enqueue;
    options.repair_after = 10;
    queue.given = queue.taken = 0;
    lg_launch *launch = simulated_launch(&options);
    simulated_crashes(launch, 1);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(queue.given, 1);
    return launch;
}

static void turn(unsigned number)
{
    queue.work[number](queue.argument[number]);
}

static void next_launch(lg_launch *launch, lg_end end)
{
    lg_simulate(simulated, end);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
}

static void test_report_at_the_same_start(void **state)
{
    (void)state;
    lg_launch *launch = launch_with_late_reports();
    turn(0);
    turn(0);
    assert_told("report 1 on caller;");
    next_launch(launch, LG_END_CLEAN);
    assert_int_equal(queue.given, 1);
    next_launch(launch, LG_END_CRASH);
    assert_int_equal(queue.given, 2);
    turn(1);
    assert_told("report 2 on caller;");
}

static void test_report_at_the_next_start(void **state)
{
    (void)state;
    lg_launch *launch = launch_with_late_reports();
    assert_int_equal(lg_launch_finished(launch), LG_OK); /* the streak ends */
    next_launch(launch, LG_END_CLEAN);
    assert_int_equal(queue.given, 2);
    turn(0); /* of a life that is over */
    assert_told("");
    turn(1);
    assert_told("report 0 on caller;");
    next_launch(launch, LG_END_CLEAN);
    assert_int_equal(queue.given, 2);
}

static void test_report_that_never_has_a_turn(void **state)
{
    (void)state;
    lg_launch *launch = launch_with_late_reports();
    assert_int_equal(lg_launch_finished(launch), LG_OK);
    for (int i = 0; i < 3; i++) {
        next_launch(launch, LG_END_CLEAN);
        assert_int_equal(queue.given, 2); /* one try more, and no other */
    }
    /* a new streak is reported */
    assert_int_equal(lg_launch_finished(launch), LG_OK);
    next_launch(launch, LG_END_CLEAN);
    next_launch(launch, LG_END_CRASH);
    turn(queue.given - 1);
    assert_told("report 1 on caller;");
}

static void test_answers(void **state)
{
    (void)state;
    lg_complete(NULL, LG_OK);
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.repair_after = 1;
    options.repair_grace_ms = 0;
    options.overrun = LG_OVERRUN_GO_ON;
    lg_launch *launch = simulated_launch(&options);
    lg_repair never = LG_REPAIR_INIT;
    never.name = "never";
    never.timeout_ms = NEVER_MS;
    never.attempts = 1;
    never.run = keeps_for_too_long;
    lg_launch_add_repair(launch, &never);
    simulated_repair(launch, "several", 0, answers_from_threads);
    simulated_crashes(launch, 1);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    await_told("kept;answered;");
    /* Late answers, in this run and in the next ones. */
    lg_launch_info info = LG_LAUNCH_INFO_INIT, again = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_launch_get_info(launch, &info), LG_OK);
    assert_int_equal(info.mode, LG_LAUNCH_MODE_PROBATION);
    lg_complete(kept, LG_ERR_FAILED);
    lg_complete(kept, LG_OK);
    assert_int_equal(lg_launch_get_info(launch, &again), LG_OK);
    assert_memory_equal(&info, &again, sizeof info);
    lg_simulate(simulated, LG_END_CRASH);
    lg_complete(kept, LG_OK);
}

static void ends_in_its_grace(lg_completion *done, void *user)
{
    keeps_for_too_long(done, user);
    assert_int_equal(lg_simulate(simulated, LG_END_CRASH), LG_OK);
}

/* The end of a simulated run ends the wait for a late repair. */
static void test_end_in_the_grace(void **state)
{
    (void)state;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.repair_after = 1;
    options.repair_grace_ms = HOLD_MS;
    lg_launch *launch = simulated_launch(&options);
    lg_repair never = LG_REPAIR_INIT;
    never.name = "never";
    never.timeout_ms = NEVER_MS;
    never.run = ends_in_its_grace;
    lg_launch_add_repair(launch, &never);
    simulated_crashes(launch, 1);
    alarm(60); /* the grace itself is longer */
    assert_int_equal(lg_launch_begin(launch), LG_ERR_CLOSED);
    alarm(0);
    await_told("kept;");
}

/* Time that passes in a protect action passes for the hold: the launch goes on in safe mode. */
static void test_protect_action_outlives_the_hold(void **state)
{
    (void)state;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.repair_after = 1;
    options.auto_repair = 0;
    options.hold_ms = HOLD_MS;
    lg_launch *launch = simulated_launch(&options);
    lg_task added = LG_TASK_INIT;
    added.key = "task";
    added.run = task;
    added.protect = protects_for_too_long;
    lg_launch_add_task(launch, &added);
    simulated_repair(launch, "mend", 0, mend);
    simulated_crashes(launch, 1);
    caller = pthread_self();
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("protect;task on caller;");
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_launch_get_info(launch, &info), LG_OK);
    assert_int_equal(info.mode, LG_LAUNCH_MODE_SAFE);
}

static void status_answers(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch, (void)user;
    if (status != LG_LAUNCH_REPAIRING)
        return;
    pass_time(100, "the callback is not called before this function returns");
    tell(kept ? "asked" : "not asked yet");
}

static void status_answers_later(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)user;
    if (status == LG_LAUNCH_CHECKING && kept)
        lg_complete(kept, LG_ERR_FAILED);
    if (status == LG_LAUNCH_CHECKING)
        tell("finished %s", lg_status_name(lg_launch_finished(launch)));
}

static void keeps_and_answers(lg_completion *done, void *user)
{
    keeps(done, user);
    lg_complete(done, LG_OK);
}

static void test_status_callback_answers(void **state)
{
    (void)state;
    kept = NULL;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.repair_after = 1;
    options.on_status = status_answers;
    lg_launch *launch = simulated_launch(&options);
    simulated_repair(launch, "mend", 0, keeps_and_answers);
    simulated_crashes(launch, 1);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("not asked yet;kept;");
    simulated_clean(NULL);
    simulated_make(NULL);
    kept = NULL;
    options.on_status = status_answers_later;
    launch = simulated_launch(&options);
    simulated_repair(launch, "mend", 0, keeps_and_answers);
    lg_launch_begin(launch); /* the launch is finished from on_status, before the tasks run */
    assert_told("finished ok;");
    assert_int_equal(lg_launch_get_status(launch), LG_LAUNCH_NORMAL);
    lg_simulate_pass(simulated, 60000); /* else the crash would be one of a loop */
    lg_simulate(simulated, LG_END_CRASH);
    lg_launch_begin(launch);
    assert_told("finished ok;");
}

/* ---- the functions that callbacks may call ---- */

static void calls_everything(lg_launch *launch)
{
    lg_launch *other;
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    lg_task_state at;
    lg_session *session;
    lg_repair repair = LG_REPAIR_INIT;
    char directory[4096];
    repair.name = "late";
    repair.run = mend;
    if (lg_launch_begin(launch) != LG_ERR_STATE)
        tell("begun again");
    if (lg_launch_add_repair(launch, &repair) != LG_ERR_STATE)
        tell("repair added");
    if (lg_launch_replay_by_key(launch) != LG_ERR_STATE)
        tell("by key");
    lg_launch_prepare(simulated, "main", NULL, &other);
    lg_launch_wait(launch, 0);
    lg_launch_get_info(launch, &info);
    lg_launch_get_status(launch);
    lg_launch_streak(launch);
    lg_launch_task_state(launch, "task", &at);
    lg_launch_signal(launch, NULL, "event");
    lg_launch_replay(launch, NULL);
    lg_launch_query("/nowhere", "main", NULL, &info);
    lg_session_protection(simulated);
    lg_session_message(simulated);
    lg_session_run_path(simulated);
    lg_session_state_directory(simulated);
    lg_heartbeat(simulated);
    lg_log(simulated, LG_LEVEL_INFO, "from a callback");
    lg_state_directory("org.example.test", directory, sizeof directory);
    lg_thread_register();
    lg_simulate_pass(simulated, 1);
    if (lg_simulate_start(&session) == LG_OK)
        lg_simulate_close(session);
    tell("called");
}

static lg_launch *the_launch;

static void everything_report(const lg_report_batch *batch, lg_completion *done, void *user)
{
    (void)batch, (void)user;
    calls_everything(the_launch);
    lg_complete(done, LG_OK);
}

static void everything_repair(lg_completion *done, void *user)
{
    (void)user;
    calls_everything(the_launch);
    lg_complete(done, LG_OK);
}

static lg_status everything_task(void *user)
{
    (void)user;
    calls_everything(the_launch);
    return LG_OK;
}

static void everything_protect(void *user)
{
    (void)user;
    calls_everything(the_launch);
}

static void everything_event(const char *event, void *user)
{
    (void)event, (void)user;
    static _Atomic int depth;
    if (atomic_fetch_add(&depth, 1) == 0)
        calls_everything(the_launch);
    atomic_fetch_sub(&depth, 1);
}

static void everything_give_up(lg_launch *launch, uint32_t hold, lg_completion *done, void *user)
{
    (void)hold, (void)user;
    calls_everything(launch);
    lg_complete(done, LG_OK);
}

static void everything_status(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)user;
    if (status != LG_LAUNCH_NORMAL) /* from where the launch may be begun */
        calls_everything(launch);
}

static void test_callbacks_call_everything(void **state)
{
    (void)state;
    for (lg_callbacks callbacks = LG_CALLBACKS_LIBRARY; callbacks <= LG_CALLBACKS_EXECUTOR; callbacks++)
        for (int repairs = 0; repairs < 2; repairs++) {
            simulated_make(NULL);
            start_queue();
            lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
            options.callbacks = callbacks;
            options.executor = callbacks == LG_CALLBACKS_EXECUTOR ? enqueue : NULL;
            options.on_report = everything_report;
            options.on_give_up = everything_give_up;
            options.on_status = everything_status;
            lg_launch *launch = the_launch = simulated_launch(&options);
            lg_task added = LG_TASK_INIT;
            added.key = "task";
            added.run = everything_task;
            added.protect = everything_protect;
            added.on_event = everything_event;
            lg_launch_add_task(launch, &added);
            if (repairs)
                simulated_repair(launch, "mend", 0, everything_repair);
            simulated_crashes(launch, repairs ? 2 : 4);
            assert_int_equal(lg_launch_begin(launch), LG_OK);
            const char *taken = story_take();
            assert_null(strstr(taken, "begun"));
            assert_null(strstr(taken, "added"));
            assert_null(strstr(taken, "by key"));
            assert_non_null(strstr(taken, "called;called;called;"));
            end_queue();
            simulated_clean(NULL);
        }
    simulated_make(NULL);
}

/* ---- on_status ---- */

#define CHANGES 4000
static struct {
    lg_launch_status seen[CHANGES];
    unsigned count;
    _Atomic int inside;
    bool slow;
} statuses;

static void notes_status(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch, (void)user;
    assert_int_equal(atomic_fetch_add(&statuses.inside, 1), 0);
    if (statuses.count < CHANGES)
        statuses.seen[statuses.count++] = status;
    if (statuses.slow)
        pass_time(2, "other changes come while one is reported");
    atomic_fetch_sub(&statuses.inside, 1);
}

static void *finishes(void *launch)
{
    while (lg_launch_finished(launch) != LG_OK)
        rest(0);
    return NULL;
}

static void test_status_order(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        simulated_make(NULL);
        statuses.count = 0;
        statuses.slow = slow;
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        options.repair_after = 1;
        options.on_status = notes_status;
        lg_launch *launch = simulated_launch(&options);
        simulated_repair(launch, "mend", 0, simulated_repaired);
        for (int runs = 0; runs < (slow ? 10 : 200); runs++) {
            pthread_t threads[3];
            for (int i = 0; i < 3; i++)
                pthread_create(&threads[i], NULL, finishes, launch);
            lg_launch_begin(launch);
            if (runs % 4 == 0)
                lg_launch_protect(launch, NULL);
            for (int i = 0; i < 3; i++)
                pthread_join(threads[i], NULL);
            lg_launch_wait(launch, UINT32_MAX);
            lg_simulate(simulated, LG_END_CLEAN);
        }
        simulated_clean(NULL);
        await_no_threads();
        /* No status comes twice in a row, and each status may follow the one before it. */
        lg_launch_status before = LG_LAUNCH_NORMAL;
        assert_true(statuses.count >= (slow ? 20 : 400));
        for (unsigned i = 0; i < statuses.count; i++) {
            lg_launch_status now = statuses.seen[i];
            assert_int_not_equal(now, before);
            if (now == LG_LAUNCH_REPAIRING)
                assert_int_equal(before, LG_LAUNCH_NEEDS_REPAIR);
            before = now;
        }
        assert_int_equal(before, LG_LAUNCH_NORMAL);
    }
    simulated_make(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIMULATED(test_threads),  SIMULATED(test_give_up_threads), SIMULATED(test_executor_runs_twice),
        SIMULATED(test_executor_never_runs), SIMULATED(test_answers), SIMULATED(test_end_in_the_grace), SIMULATED(test_protect_action_outlives_the_hold),
        SIMULATED(test_status_callback_answers),
        SIMULATED(test_callbacks_call_everything), SIMULATED(test_status_order), SIMULATED(test_report_at_the_same_start), SIMULATED(test_report_at_the_next_start),
        SIMULATED(test_report_that_never_has_a_turn), SIMULATED(test_main_loop), SIMULATED(test_main_loop_unprotected),
    };
    return cmocka_run_group_tests_name("callbacks", tests, NULL, NULL);
}
