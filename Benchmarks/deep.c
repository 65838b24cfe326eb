/* A crash for export.py: deep DIRECTORY dies of a null pointer below 64 functions, beside three
 * other threads. Whether it leaves a core file is its caller's choice. */
#include <launchguard/launchguard.h>

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static volatile int *volatile nowhere;

#define STEP(name, next)                                                                            \
    static __attribute__((noinline)) void step_##name(void)                                         \
    {                                                                                               \
        step_##next();                                                                              \
        __asm__ volatile("");                                                                       \
    }
#define EIGHT(tens, before)                                                                         \
    STEP(tens##0, before) STEP(tens##1, tens##0) STEP(tens##2, tens##1) STEP(tens##3, tens##2)      \
    STEP(tens##4, tens##3) STEP(tens##5, tens##4) STEP(tens##6, tens##5) STEP(tens##7, tens##6)

static __attribute__((noinline)) void step_first(void)
{
    *nowhere = 1;
}

EIGHT(1, first)
EIGHT(2, 17)
EIGHT(3, 27)
EIGHT(4, 37)
EIGHT(5, 47)
EIGHT(6, 57)
EIGHT(7, 67)
EIGHT(8, 77)

static void *rest(void *unused)
{
    pause();
    return unused;
}

int main(int count, char **arguments)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    pthread_t thread;
    options.app_id = "org.example.bench";
    options.app_version = "1.0";
    options.keep_runs = UINT32_MAX;
    options.keep_bytes = UINT64_MAX;
    options.state_directory = count == 2 ? arguments[1] : NULL;
    if (count != 2 || lg_start(&options, &session) != LG_OK)
        return 2;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, rest, NULL);
    for (int i = 0; i < 200; i++)
        lg_log(session, LG_LEVEL_INFO, "request %d of the last minute", i);
    lg_annotate(session, "document", "first.txt");
    step_87();
    return 0;
}
