/* Repairs that take longer than their timeout: nothing of the launch runs beside them before they
 * have answered, or their grace is over. They see that they are late, and where the program is
 * about to end. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scripted_life.h"

#define TIMEOUT_MS 50
#define GRACE_MS 60000 /* longer than any machine is slow */
#define SHORT_MS 50

static void begin_repair(lg_launch *launch, const char *name, lg_repair_callback run)
{
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = name;
    repair.timeout_ms = TIMEOUT_MS;
    repair.attempts = 2;
    repair.run = run;
    if (lg_launch_add_repair(launch, &repair) != LG_OK)
        _exit(96);
}

#define OVERRUNS .options.on_status = NULL, .options.on_report = NULL, .no_repairs = true

static unsigned attempts;

/* The first attempt goes on until it is late, the second one succeeds. */
static void late_at_first(lg_completion *done, void *user)
{
    (void)user;
    tell("attempt %u", ++attempts);
    if (attempts == 1) {
        lg_completion_wait_unwanted(done);
        tell("%d", lg_completion_wanted(done));
        pass_time(3 * TIMEOUT_MS, "whatever runs beside it would be seen");
        tell("ends");
    }
    lg_complete(done, LG_OK);
}

static void add_late(lg_launch *launch)
{
    begin_repair(launch, "late", late_at_first);
}

static void crash_twice(void)
{
    for (int i = 0; i < 2; i++)
        lives(LIFE(OVERRUNS, .before = add_late, .after = CRASH), SEGV, "a;b;");
}

static void test_the_next_attempt_waits(void **state)
{
    (void)state;
    crash_twice();
    lives(LIFE(OVERRUNS, .options.repair_grace_ms = GRACE_MS, .before = add_late, .after = FINISH), 0,
          "protect a;protect b;attempt 1;0;ends;attempt 2;a;b;");
}

static void never_answers(lg_completion *done, void *user)
{
    (void)done, (void)user;
    tell("attempt %u", ++attempts);
}

static void add_never(lg_launch *launch)
{
    begin_repair(launch, "never", never_answers);
}

static void test_the_course_after_the_grace(void **state)
{
    (void)state;
    crash_twice();
    state_save();
    lives(LIFE(OVERRUNS, .options.repair_grace_ms = SHORT_MS, .before = add_never, .after = FINISH), 0, "protect a;protect b;attempt 1;a;b;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    assert_int_equal(stored().rungs[1].fate, LG__RUNG_TRIED);
    state_restore();
    lives(LIFE(OVERRUNS, .options.repair_grace_ms = SHORT_MS, .options.overrun = LG_OVERRUN_GO_ON, .before = add_never, .after = FINISH), 0,
          "protect a;protect b;attempt 1;attempt 2;a;b;");
}

/* ---- the end of the program ---- */

static void *announce(void *unused)
{
    lg_will_terminate(life_session);
    return unused;
}

static void interrupted(lg_completion *done, void *user)
{
    pthread_t thread;
    (void)user;
    tell("%d", lg_completion_wanted(done));
    /* no repair goes on in a forked child */
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        lg_completion_wait_unwanted(done);
        _exit(lg_completion_wanted(done));
    }
    waitpid(child, &status, 0);
    tell("in a child %d", WEXITSTATUS(status));
    pthread_create(&thread, NULL, announce, NULL);
    lg_completion_wait_unwanted(done);
    tell("%d", lg_completion_wanted(done));
    pthread_join(thread, NULL);
    lg_complete(done, LG_ERR_CANCELLED);
}

static void add_interrupted(lg_launch *launch)
{
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "interrupted";
    repair.run = interrupted;
    if (lg_launch_add_repair(launch, &repair) != LG_OK)
        _exit(96);
}

/* No further attempt begins, and no task. */
static void test_the_announced_end_cancels(void **state)
{
    (void)state;
    crash_twice();
    lives(LIFE(OVERRUNS, .before = add_interrupted), 0, "protect a;protect b;1;in a child 0;0;begin interrupted;");
    assert_int_equal(stored().phase, LG_PHASE_TERMINATING);
    assert_int_equal(lg_completion_wanted(NULL), 0);
}

/* ---- where nothing is held ---- */

static atomic_bool runs;

static void takes_long(lg_completion *done, void *user)
{
    (void)done, (void)user;
    atomic_store(&runs, true);
    hang(0);
}

static lg_status crash_beside(void *user)
{
    (void)user;
    wait_until(atomic_load(&runs));
    crash();
    return LG_OK;
}

static void add_long(lg_launch *launch)
{
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "long";
    repair.attempts = 1;
    repair.run = takes_long;
    lg_task task = LG_TASK_INIT;
    task.key = "crashes";
    task.run = crash_beside;
    if (lg_launch_add_repair(launch, &repair) != LG_OK || lg_launch_add_task(launch, &task) != LG_OK)
        _exit(96);
}

/* The crash of a task is no failure of the repair beside it. */
static void test_repair_beside_a_crash(void **state)
{
    (void)state;
    crash_twice();
    for (uint32_t i = 1; i <= 2; i++) {
        lives_somehow(LIFE(OVERRUNS, .options.hold = LG_HOLD_NONE, .options.leave_out_suspects = 0, .before = add_long), SEGV);
        account();
        assert_int_equal(stored().interruptions, i);
        assert_int_equal(stored().attempts, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LIFE(test_the_next_attempt_waits), WITH_LIFE(test_the_course_after_the_grace), WITH_LIFE(test_the_announced_end_cancels),
        WITH_LIFE(test_repair_beside_a_crash),
    };
    return cmocka_run_group_tests_name("overruns", tests, NULL, NULL);
}
