/* Forked children of a process with launches: whatever the other threads of the parent did at the
 * fork, no call in the child hangs or has an effect. */
#include "scripted_life.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <launchguard/simulate.h>

#include "os/fault_point.h"

static lg_session *session;
static lg_launch *launch;
static pid_t parent;
static _Thread_local bool stops; /* of the thread that stops at the fault point */
static const char *stop_at;
static _Atomic int reached, go_on;

#define HANGS_S 60 /* in a child of the child, whose parent waits for it within the test's limit */

/* In the parent's other thread: stop where both locks are held. */
static void stop_there(const char *point)
{
    if (getpid() != parent || !stop_at || strcmp(point, stop_at) != 0 || !stops)
        return;
    atomic_store(&reached, 1);
    wait_until(atomic_load(&go_on));
}

static void status_told(lg_launch *of, lg_launch_status status, void *user)
{
    (void)of, (void)user;
    if (getpid() != parent)
        tell("child %s", lg_launch_status_name(status));
}

static void event_told(const char *event, void *user)
{
    (void)user;
    if (getpid() != parent)
        tell("child event %s", event);
}

static lg_status done(void *user)
{
    (void)user;
    return LG_OK;
}

static void mend(lg_completion *completion, void *user)
{
    (void)user;
    lg_complete(completion, LG_OK);
}

static void add_task(lg_launch *to, const char *key)
{
    lg_task task = LG_TASK_INIT;
    task.key = key;
    task.flags = getpid() == parent ? 0 : LG_TASK_LATE;
    task.run = done;
    task.on_event = event_told;
    lg_launch_add_task(to, &task);
}

static lg_launch *prepared(const char *name)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *made;
    options.finish = LG_FINISH_MARK;
    options.on_status = status_told;
    lg_launch_prepare(session, name, &options, &made);
    add_task(made, "a");
    return made;
}

/* Call every function. The alarm ends a call that waits for a thread which does not exist in the
 * child. */
static void call_everything(void)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    lg_launch *other;
    lg_task_state state;
    lg_repair repair = LG_REPAIR_INIT;
    lg_launch_status before = lg_launch_get_status(launch);
    alarm(HANGS_S);
    repair.name = "late";
    repair.run = mend;
    lg_launch_add_repair(launch, &repair);
    lg_launch_leave_out(launch, "left out");
    add_task(launch, "late");
    lg_launch_finished(launch);
    lg_launch_protect(launch, "in a child");
    lg_launch_repair(launch);
    lg_launch_refuse(launch);
    lg_launch_skip(launch);
    lg_launch_try_safe(launch);
    lg_launch_replay_by_key(launch);
    lg_launch_replay(launch, NULL);
    lg_launch_signal(launch, NULL, "event");
    lg_launch_task_state(launch, "a", &state);
    lg_launch_get_info(launch, &info);
    lg_launch_wait(launch, UINT32_MAX);
    if (lg_launch_get_status(launch) != before)
        tell("child's status is another");
    lg_launch_prepare(session, "of a child", NULL, &other);
    if (lg_launch_begin(other) != LG_OK || lg_launch_begin(launch) != LG_ERR_STATE)
        tell("child cannot begin");
    lg_simulate(session, LG_END_CRASH);
    lg_will_terminate(session);
    lg_heartbeat(session);
    lg_stop(session);
    lg_simulate_close(session);
    _exit(0);
}

static void *finishes(void *argument)
{
    stops = true;
    lg_launch_finished(launch);
    return argument;
}

static void fork_one(void (*body)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0)
        body();
    if (waitpid(child, &status, 0) != child || status != 0)
        tell("child ended with status %#x", (unsigned)status);
}

/* Fork while the other thread holds the locks. */
static void fork_under_locks(void)
{
    pthread_t thread;
    parent = getpid();
    launch = prepared("main");
    prepared("not begun");
    lg_launch_begin(launch);
    lg__fault_hook = stop_there;
    stop_at = "run: phase";
    atomic_store(&reached, 0);
    atomic_store(&go_on, 0);
    pthread_create(&thread, NULL, finishes, NULL);
    wait_until(atomic_load(&reached));
    fork_one(call_everything);
    atomic_store(&go_on, 1);
    pthread_join(thread, NULL);
    if (lg_launch_get_status(launch) != LG_LAUNCH_NORMAL)
        tell("the parent's launch is not finished");
}

static void in_session(void *after_simulation)
{
    lg_launch *other;
    if (after_simulation && (lg_simulate_start(&session) != LG_OK || lg_launch_prepare(session, "main", NULL, &other) != LG_OK))
        _exit(90);
    session = start_session();
    fork_under_locks();
}

static void in_simulation(void *argument)
{
    (void)argument;
    if (lg_simulate_start(&session) != LG_OK)
        _exit(90);
    fork_under_locks();
}

static void test_locks(void **state)
{
    (void)state;
    expect_exit(in_session, NULL, 0);
    assert_string_equal(story_take(), "");
    expect_exit(in_session, &session, 0);
    assert_string_equal(story_take(), "");
    expect_exit(in_simulation, NULL, 0);
    assert_string_equal(story_take(), "");
}

/* A launch without a protecting session: its task runs in another thread of the parent. */
static lg_status waits_for_test(void *user)
{
    (void)user;
    atomic_store(&reached, 1);
    wait_until(atomic_load(&go_on));
    return LG_OK;
}

static void *begins(void *argument)
{
    lg_launch_begin(launch);
    return argument;
}

static void waits(void)
{
    alarm(HANGS_S);
    lg_launch_wait(launch, UINT32_MAX);
    _exit(0);
}

static void unprotected(void *argument)
{
    (void)argument;
    pthread_t thread;
    lg_task task = LG_TASK_INIT;
    parent = getpid();
    lg_start(NULL, &session);
    launch = prepared("main");
    task.key = "waits";
    task.run = waits_for_test;
    lg_launch_add_task(launch, &task);
    pthread_create(&thread, NULL, begins, NULL);
    wait_until(atomic_load(&reached));
    fork_one(waits);
    atomic_store(&go_on, 1);
    pthread_join(thread, NULL);
}

static void test_wait(void **state)
{
    (void)state;
    expect_exit(unprotected, NULL, 0);
    assert_string_equal(story_take(), "");
}

/* A launch that the parent prepared runs its tasks in the child, and does nothing else. */
static void begins_in_child(void)
{
    alarm(HANGS_S);
    if (lg_launch_begin(launch) != LG_OK || lg_launch_finished(launch) != LG_OK)
        tell("child cannot begin");
    _exit(0);
}

static void not_begun(void *argument)
{
    (void)argument;
    session = start_session();
    parent = getpid();
    launch = prepared("main");
    fork_one(begins_in_child);
}

static void test_begin(void **state)
{
    (void)state;
    expect_exit(not_begun, NULL, 0);
    assert_string_equal(story_take(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LIFE(test_locks),
        WITH_LIFE(test_wait),
        WITH_LIFE(test_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
