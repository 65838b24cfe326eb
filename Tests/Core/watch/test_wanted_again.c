/* The watch thread works, ends and works again, while other threads begin, are protected, and end.
 * ThreadSanitizer must know each of them. */
#include "harness.h"

#include <pthread.h>
#include <unistd.h>

#include "capture/capture.h"

#define ROUNDS 3
#define THREADS 20 /* more than there are spare alternate stacks */
#define EXPECT(condition) ((condition) ? (void)0 : _exit(__LINE__ % 90 + 1))

static void *is_protected(void *argument)
{
    EXPECT(lg_thread_register() == LG_OK);
    pthread_barrier_wait(argument);
    return argument;
}

static void begin_and_end_threads(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_t all_begun;
    EXPECT(pthread_barrier_init(&all_begun, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&threads[i], NULL, is_protected, &all_begun) == 0);
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(pthread_barrier_destroy(&all_begun) == 0);
}

static void body(void *argument)
{
    static const char *const contexts[ROUNDS] = { "one", "two", "three" };
    (void)argument;
    lg_session *session = start_session();
    for (int i = 0; i < ROUNDS; i++) {
        lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
        lg_launch *launch;
        options.finish = LG_FINISH_TIME;
        options.window_ms = 100;
        EXPECT(lg_launch_prepare(session, contexts[i], &options, &launch) == LG_OK && lg_launch_begin(launch) == LG_OK);
        begin_and_end_threads();
        wait_until(!lg__capture_watched()); /* the window has passed */
    }
    EXPECT(lg_stop(session) == LG_OK);
}

static void test_wanted_again(void **state)
{
    (void)state;
    expect_exit(body, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_STATE(test_wanted_again) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
