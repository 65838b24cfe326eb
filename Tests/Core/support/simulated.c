#include "simulated.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

lg_session *simulated;
static unsigned threads_at_first;

/* A slow writer may meet a faster one in the same cells of the ring log; the checksum shows this to
 * the reader. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:copy_in\n";
}

static void *nothing(void *argument)
{
    return argument;
}

int simulated_make(void **state)
{
    alarm(LIMIT_MS / 1000);
    if (!threads_at_first) {
        pthread_t first; /* a first thread makes the sanitizer start its own */
        pthread_create(&first, NULL, nothing, NULL);
        pthread_join(first, NULL);
        threads_at_first = count_threads();
    }
    life_make(state);
    return lg_simulate_start(&simulated) == LG_OK ? 0 : -1;
}

int simulated_clean(void **state)
{
    lg_simulate_close(simulated);
    alarm(0);
    return remove_state(state);
}

lg_launch *simulated_launch(const lg_launch_options *options)
{
    lg_launch *launch;
    assert_int_equal(lg_launch_prepare(simulated, "main", options, &launch), LG_OK);
    return launch;
}

static lg_status run(void *user)
{
    const struct simulated_task *task = user;
    tell("%s", task->key);
    if (task->then)
        task->then(task->launch);
    return task->answer;
}

static void protect(void *user)
{
    tell("protect %s", ((const struct simulated_task *)user)->key);
}

static void event(const char *event, void *user)
{
    tell("%s: %s", ((const struct simulated_task *)user)->key, event);
}

lg_status simulated_add(lg_launch *launch, struct simulated_task *task)
{
    lg_task added = LG_TASK_INIT;
    task->launch = launch;
    added.key = task->key;
    added.flags = task->flags;
    added.run = run;
    added.protect = task->protects ? protect : NULL;
    added.on_event = task->listens ? event : NULL;
    added.user = task;
    return lg_launch_add_task(launch, &added);
}

lg_status simulated_repair(lg_launch *launch, const char *name, uint32_t flags, lg_repair_callback callback)
{
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = name;
    repair.flags = flags;
    repair.run = callback;
    repair.user = (void *)(uintptr_t)name;
    return lg_launch_add_repair(launch, &repair);
}

void simulated_repaired(lg_completion *done, void *name)
{
    tell("%s", (const char *)name);
    lg_complete(done, LG_OK);
}

void simulated_crashes(lg_launch *launch, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        lg_launch_begin(launch);
        assert_int_equal(lg_simulate(simulated, LG_END_CRASH), LG_OK);
    }
    story_take();
}

void await_told(const char *text)
{
    for (uint64_t begin = now_ns(); !story_is(text) && now_ns() - begin < UINT64_C(60000000000);)
        rest(1);
    assert_told(text); /* shows the story instead */
}

void await_no_threads(void)
{
    /* the thread of a window may still be counting time */
    /* fewer: at first one of an earlier test was about to end */
    wait_until(count_threads() <= threads_at_first);
}
