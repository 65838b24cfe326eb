/* Makes the files that tool.py lists and prints: argv[2] runs in the directory argv[1] that end in
 * the way argv[3]: stop, crash, deep, which crashes below 60 functions, or log, which fills a ring
 * log of 16 MiB. */
#include <launchguard/launchguard.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITERS 16 /* as many as there are lanes */
#define EACH 20000

static lg_session *session;
static pthread_barrier_t all_have_lanes;

static void *fill_lane(void *argument)
{
    const unsigned number = (unsigned)(uintptr_t)argument;
    const lg_field fields[] = { { "url", "https://example.org/items" }, { "code", "503" } };
    for (int i = 0; i < EACH; i++) {
        if (i == 1)
            pthread_barrier_wait(&all_have_lanes);
        if (i % 4 == 3)
            lg_log_fields(session, LG_LEVEL_WARNING, "network", "request failed", 14, fields, 2);
        else
            lg_log(session, LG_LEVEL_INFO, "thread %u handled request %d in %d ms", number, i, i % 97);
    }
    return NULL;
}

static void fill_ring(void)
{
    pthread_t threads[WRITERS];
    pthread_barrier_init(&all_have_lanes, NULL, WRITERS);
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, fill_lane, (void *)i);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
}

/* 60 functions, each of which calls the one before. */
#define LEVEL(name, next)                                                                          \
    __attribute__((noinline)) static int name(int n)                                               \
    {                                                                                              \
        return next(n + 1) + n;                                                                    \
    }
#define TEN(t, next)                                                                               \
    LEVEL(level_##t##0, next)                                                                      \
    LEVEL(level_##t##1, level_##t##0)                                                              \
    LEVEL(level_##t##2, level_##t##1)                                                              \
    LEVEL(level_##t##3, level_##t##2)                                                              \
    LEVEL(level_##t##4, level_##t##3)                                                              \
    LEVEL(level_##t##5, level_##t##4)                                                              \
    LEVEL(level_##t##6, level_##t##5)                                                              \
    LEVEL(level_##t##7, level_##t##6)                                                              \
    LEVEL(level_##t##8, level_##t##7)                                                              \
    LEVEL(level_##t##9, level_##t##8)

__attribute__((noinline)) static int end_here(int n)
{
    if (n > 0)
        abort();
    return n;
}

TEN(1, end_here)
TEN(2, level_19)
TEN(3, level_29)
TEN(4, level_39)
TEN(5, level_49)
TEN(6, level_59)

static int live(const char *directory, const char *how)
{
    static const struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.bench";
    options.app_version = "1.0";
    options.state_directory = directory;
    options.keep_runs = UINT32_MAX;
    options.keep_bytes = UINT64_MAX;
    options.ring_bytes = strcmp(how, "log") == 0 ? 16777216 : 0;
    if (lg_start(&options, &session) != LG_OK)
        return 2;
    lg_log(session, LG_LEVEL_INFO, "a short life");
    lg_annotate(session, "document", "first.txt");
    if (strcmp(how, "log") == 0)
        fill_ring();
    if (strcmp(how, "crash") == 0)
        abort();
    if (strcmp(how, "deep") == 0)
        return level_69(1);
    lg_stop(session);
    return 0;
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    for (long left = strtol(arguments[2], NULL, 10); left > 0; left--) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(live(arguments[1], arguments[3]));
        if (child < 0 || waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status)))
            return 1;
    }
    return 0;
}
