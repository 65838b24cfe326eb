/* lg_stop() while other threads use the session. Under ThreadSanitizer the looks of the watch
 * thread are those of an ordinary thread: the sanitizer knows no thread that libc does not know. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "session/session.h"

static lg_session *session;
static _Atomic bool stopped;
static _Atomic unsigned rounds[3];

static void *logs(void *argument)
{
    while (!atomic_load(&stopped)) {
        lg_log(session, LG_LEVEL_INFO, "%s", "words");
        lg_session_protection(session);
        atomic_fetch_add(&rounds[0], 1);
    }
    return argument;
}

static void *works(void *argument)
{
    uint64_t deadline;
    while (!atomic_load(&stopped)) {
        if (lg_deadline_begin(session, "work", 86400000, &deadline) == LG_OK)
            lg_deadline_end(session, deadline);
        atomic_fetch_add(&rounds[1], 1);
    }
    return argument;
}

/* A look at a handler that goes before the look is over. */
static void hook(const char *point)
{
    if (strcmp(point, "disposition: looked") == 0 && atomic_load(&rounds[2]) > 100)
        pass_time(1, "the handler goes before the look is over");
}

static void *looks(void *argument)
{
    while (!atomic_load(&stopped)) {
        lg__job_deadlines_look(session);
        lg__capture_check(false);
        atomic_fetch_add(&rounds[2], 1);
    }
    return argument;
}

static void body(void *argument)
{
    pthread_t threads[3];
    (void)argument;
    session = start_session();
    session->host.watched = false;
    lg__fault_hook = hook;
    pthread_create(&threads[0], NULL, logs, NULL);
    pthread_create(&threads[1], NULL, works, NULL);
    pthread_create(&threads[2], NULL, looks, NULL);
    for (int i = 0; i < 3; i++)
        wait_until(atomic_load(&rounds[i]) >= 100);
    if (lg_stop(session) != LG_OK)
        _exit(90);
    for (int i = 0; i < 3; i++) {
        const unsigned before = atomic_load(&rounds[i]);
        wait_until(atomic_load(&rounds[i]) >= before + 10);
    }
    atomic_store(&stopped, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    if (lg_log(session, LG_LEVEL_INFO, "%s", "too late") != LG_ERR_CLOSED)
        _exit(91);
    exit(0);
}

static void test_stop(void **state)
{
    (void)state;
    expect_exit(body, NULL, 0);
    assert_true(said("words"));
    assert_false(said("leaves no record unless"));
    assert_false(said("no longer leaves a record"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_STATE(test_stop) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
