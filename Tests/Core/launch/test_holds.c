/* Holds: on_hold is called once for each wait, and an answer applies to its own hold alone. */
#include "simulated.h"

#include <pthread.h>
#include <string.h>

static _Atomic uint32_t last; /* number of the last hold */
static lg_answer answers[4]; /* given by on_hold, the first one first; 0: none */
static _Atomic unsigned asked;
static _Atomic size_t text_bytes; /* of the last hold */

static void on_hold(lg_launch *launch, const lg_held *held, void *user)
{
    static const char *const reasons[] = { "consent", "protected", "decided", "hint" };
    (void)user;
    assert_int_equal(held->size, sizeof *held);
    assert_int_equal(lg_launch_get_state(launch), LG_LAUNCH_STATE_AWAITING_REPAIR);
    last = held->hold;
    text_bytes = held->text ? strlen(held->text) : 0;
    tell("hold %s %s%s%.20s", reasons[held->reason], held->repair ? held->repair : "-", held->text ? " " : "", held->text ? held->text : "");
    lg_answer answer = asked < 4 ? answers[asked++] : 0;
    if (answer)
        assert_int_equal(lg_launch_answer(launch, held->hold, answer), LG_OK);
}

static void give_up(lg_launch *launch, uint32_t hold, lg_completion *done, void *user)
{
    (void)launch, (void)user;
    last = hold;
    tell("give up");
    lg_complete(done, LG_OK);
}

static lg_launch_options usual(void)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    options.repair_after = 1;
    options.window_ms = 0;
    options.hold = LG_HOLD_CUSTODY;
    options.on_hold = on_hold;
    options.on_give_up = give_up;
    memset(answers, 0, sizeof answers);
    asked = 0;
    last = 0;
    return options;
}

static struct simulated_task task = { .key = "task", .protects = true };

/* A launch that needs a repair at its next begin; both repairs need consent. */
static lg_launch *crashed(const lg_launch_options *options)
{
    lg_launch *launch = simulated_launch(options);
    simulated_repair(launch, "small", LG_REPAIR_CONSENT, simulated_repaired);
    simulated_repair(launch, "large", LG_REPAIR_CONSENT, simulated_repaired);
    simulated_add(launch, &task);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(lg_simulate(simulated, LG_END_CRASH), LG_OK);
    assert_told("task;");
    return launch;
}

static void test_each_wait_is_a_hold(void **state)
{
    (void)state;
    for (lg_callbacks callbacks = LG_CALLBACKS_LIBRARY; callbacks <= LG_CALLBACKS_CALLER; callbacks++) {
        simulated_make(NULL);
        lg_launch_options options = usual();
        options.callbacks = callbacks;
        options.hold = LG_HOLD_BLOCK;
        answers[0] = LG_ANSWER_REFUSE, answers[1] = LG_ANSWER_REPAIR;
        lg_launch *launch = crashed(&options);
        assert_int_equal(lg_launch_begin(launch), LG_OK);
        assert_told("protect task;hold consent small;hold consent large;large;task;");
        lg_simulate_close(simulated);
    }
    simulated_make(NULL);
}

static void test_where_repairs_start_by_themselves_nobody_is_asked(void **state)
{
    (void)state;
    lg_launch_options options = usual();
    lg_launch *launch = simulated_launch(&options);
    simulated_repair(launch, "mend", 0, simulated_repaired);
    simulated_crashes(launch, 1);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
    assert_told("mend;");
}

static void test_a_stale_answer_has_no_effect(void **state)
{
    (void)state;
    lg_launch_options options = usual();
    lg_launch *launch = crashed(&options);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    await_told("protect task;hold consent small;");
    const uint32_t first = last;
    /* another caller is faster, and the next hold is there */
    assert_int_equal(lg_launch_refuse(launch), LG_OK);
    await_told("hold consent large;");
    const uint32_t second = last;
    assert_int_not_equal(first, second);
    for (lg_answer answer = LG_ANSWER_REPAIR; answer <= LG_ANSWER_TRY_SAFE; answer++)
        assert_int_equal(lg_launch_answer(launch, first, answer), LG_ERR_STATE);
    /* it is not halted */
    assert_int_equal(lg_launch_answer(launch, second, LG_ANSWER_TRY_SAFE), LG_ERR_STATE);
    assert_int_equal(lg_launch_get_state(launch), LG_LAUNCH_STATE_AWAITING_REPAIR);
    /* in another life neither */
    assert_int_equal(lg_simulate(simulated, LG_END_CLEAN), LG_OK);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    await_told("protect task;hold consent large;");
    assert_int_equal(lg_launch_answer(launch, first, LG_ANSWER_REPAIR), LG_ERR_STATE);
    assert_int_equal(lg_launch_answer(launch, second, LG_ANSWER_REPAIR), LG_ERR_STATE);
    assert_int_equal(lg_launch_answer(launch, last, LG_ANSWER_REPAIR), LG_OK);
    assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
    assert_told("large;task;");
    assert_int_equal(lg_launch_answer(launch, last, LG_ANSWER_REPAIR), LG_ERR_STATE);
}

static void test_a_deadline_ends_a_hold(void **state)
{
    (void)state;
    lg_launch_options options = usual();
    lg_launch *launch = crashed(&options);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    await_told("protect task;hold consent small;");
    assert_int_equal(lg_simulate_pass(simulated, options.hold_ms), LG_OK);
    assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
    assert_told("task;");
    assert_int_equal(lg_launch_answer(launch, last, LG_ANSWER_SKIP), LG_ERR_STATE);
}

static void test_reasons(void **state)
{
    (void)state;
    char text[400];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    lg_launch_options options = usual();
    lg_launch *launch = simulated_launch(&options);
    simulated_repair(launch, "mend", LG_REPAIR_CONSENT, simulated_repaired);
    simulated_add(launch, &task);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_told("task;");
    answers[0] = LG_ANSWER_SKIP;
    assert_int_equal(lg_launch_protect(launch, "too hot"), LG_OK);
    assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
    assert_told("hold protected mend too hot;");
    /* from its begin; the text is cut */
    lg_simulate(simulated, LG_END_CLEAN);
    assert_int_equal(lg_launch_protect(launch, text), LG_OK);
    asked = 0;
    answers[0] = LG_ANSWER_REPAIRED;
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
    assert_told("protect task;hold protected mend xxxxxxxxxxxxxxxxxxxx;task;");
    assert_int_equal(text_bytes, 255);
    /* the reason is over with its hold */
    asked = 0;
    answers[0] = LG_ANSWER_REPAIR;
    lg_simulate(simulated, LG_END_CRASH);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
    assert_told("protect task;hold consent mend;mend;task;");
}

static void *begin(void *launch)
{
    lg_launch_begin(launch);
    return NULL;
}

/* A protect action in between is no new hold. */
static void test_a_hold_is_announced_once(void **state)
{
    (void)state;
    static struct simulated_task late = { .key = "late", .protects = true };
    lg_launch_options options = usual();
    options.callbacks = LG_CALLBACKS_CALLER;
    options.hold = LG_HOLD_BLOCK;
    lg_launch *launch = crashed(&options);
    pthread_t thread;
    pthread_create(&thread, NULL, begin, launch);
    await_told("protect task;hold consent small;");
    assert_int_equal(simulated_add(launch, &late), LG_OK);
    await_told("protect late;");
    assert_int_equal(lg_launch_answer(launch, last, LG_ANSWER_REPAIR), LG_OK);
    pthread_join(thread, NULL);
    assert_told("small;task;late;");
}

/* Where nothing is held, the repair beside the tasks asks all the same. */
static void test_a_repair_beside_the_tasks_asks(void **state)
{
    (void)state;
    lg_launch_options options = usual();
    options.hold = LG_HOLD_NONE;
    lg_launch *launch = crashed(&options);
    assert_int_equal(lg_launch_begin(launch), LG_OK);
    wait_until(last != 0);
    assert_int_equal(lg_launch_answer(launch, last, LG_ANSWER_REPAIR), LG_OK);
    assert_int_equal(lg_launch_wait(launch, LIMIT_MS), LG_OK);
    assert_int_equal(lg_launch_get_state(launch), LG_LAUNCH_STATE_LAUNCHING);
    await_last_line("small");
}

static void test_a_halted_launch(void **state)
{
    (void)state;
    lg_launch_options options = usual();
    options.supervised = 1;
    options.hold = LG_HOLD_BLOCK;
    lg_launch *launch = simulated_launch(&options);
    simulated_crashes(launch, 3); /* without repairs: safe mode, and it crashes twice */
    pthread_t thread;
    pthread_create(&thread, NULL, begin, launch);
    await_told("give up;");
    assert_int_equal(lg_launch_answer(launch, last, LG_ANSWER_REPAIR), LG_ERR_STATE);
    assert_int_equal(lg_launch_answer(launch, last + 1, LG_ANSWER_TRY_SAFE), LG_ERR_STATE);
    assert_int_equal(lg_launch_answer(launch, last, LG_ANSWER_TRY_SAFE), LG_OK);
    pthread_join(thread, NULL);
    assert_int_equal(lg_launch_get_state(launch), LG_LAUNCH_STATE_LAUNCHING);
    assert_told("");
}

static void test_arguments(void **state)
{
    (void)state;
    lg_launch_options options = usual();
    lg_launch *launch = crashed(&options);
    assert_int_equal(lg_launch_answer(NULL, 1, LG_ANSWER_SKIP), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_answer(launch, 0, LG_ANSWER_SKIP), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_answer(launch, 1, 0), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_answer(launch, 1, LG_ANSWER_TRY_SAFE + 1), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_answer(launch, 1, LG_ANSWER_SKIP), LG_ERR_STATE); /* not begun */
}

static void told_status(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch, (void)user;
    tell("%s", lg_launch_status_name(status));
}

static void tells_state(lg_launch *launch)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_launch_get_info(launch, &info), LG_OK);
    assert_int_equal(info.state, lg_launch_get_state(launch));
    assert_int_equal(info.status, lg_launch_get_status(launch));
    tell("state %u", info.state);
}

static void mend(lg_completion *done, void *launch)
{
    tells_state(launch);
    lg_complete(done, LG_OK);
}

/* The states beside the four, which on_status has as before. */
static void test_states(void **state)
{
    (void)state;
    lg_launch_options options = usual();
    options.on_hold = NULL;
    options.on_status = told_status;
    lg_launch *launch = simulated_launch(&options);
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = "mend", repair.flags = LG_REPAIR_CONSENT, repair.run = mend, repair.user = launch;
    assert_int_equal(lg_launch_add_repair(launch, &repair), LG_OK);
    tells_state(launch);
    lg_launch_begin(launch);
    tells_state(launch);
    lg_simulate(simulated, LG_END_CRASH);
    tells_state(launch);
    assert_told("state 0;checking;state 1;normal;state 0;");
    lg_launch_begin(launch);
    await_told("needs-repair;");
    tells_state(launch);
    lg_launch_repair(launch);
    lg_launch_wait(launch, LIMIT_MS);
    await_told("state 2;repairing;state 3;checking;");
    assert_int_equal(lg_launch_finished(launch), LG_OK);
    tells_state(launch);
    lg_simulate(simulated, LG_END_CLEAN);
    tells_state(launch);
    lg_launch_begin(launch);
    lg_will_terminate(simulated);
    tells_state(launch);
    assert_told("normal;state 4;state 0;checking;normal;state 4;");
    assert_int_equal(lg_launch_get_state(NULL), LG_LAUNCH_STATE_IDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIMULATED(test_each_wait_is_a_hold),
        SIMULATED(test_where_repairs_start_by_themselves_nobody_is_asked),
        SIMULATED(test_a_stale_answer_has_no_effect),
        SIMULATED(test_a_deadline_ends_a_hold),
        SIMULATED(test_reasons),
        SIMULATED(test_a_hold_is_announced_once),
        SIMULATED(test_a_repair_beside_the_tasks_asks),
        SIMULATED(test_a_halted_launch),
        SIMULATED(test_arguments),
        SIMULATED(test_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
