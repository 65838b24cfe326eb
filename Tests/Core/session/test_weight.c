/* The weight of a session and of each feature in a process: address space, private memory,
 * threads. The figures are those of the kernel and do not depend on other work. */
#include "harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct weight {
    long space, own; /* KiB: VmSize; RssAnon */
    unsigned threads;
};

static long number_of(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    return found ? atol(found + strlen(word)) : -1;
}

static struct weight weigh(void)
{
    static char text[8192];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = 0;
    return (struct weight){ number_of(text, "VmSize:"), number_of(text, "RssAnon:"), count_threads() };
}

/* ---- the features ---- */

static lg_session *session;
static volatile sig_atomic_t called;

static void on_log(lg_level level, const char *category, const char *text, void *user)
{
    (void)level, (void)category, (void)text, (void)user;
    called = 1;
}

static void on_memory(const lg_memory *memory, void *user)
{
    (void)memory, (void)user;
}

static void on_event(const lg_guard_event *event, void *user)
{
    (void)event, (void)user;
    called = 1;
}

static void start_plainly(void)
{
    session = start_session();
}

static void start_telling(void)
{
    lg_options options = LG_OPTIONS_INIT;
    options.on_log = on_log;
    session = start_with(options);
}

static void start_copying(void)
{
    session = start_keeping_stderr();
}

static void beat(void)
{
    const unsigned threads = count_threads();
    lg_heartbeat(session);
    wait_until(count_threads() > threads && others_sleep());
}

static void guard(void)
{
    lg_guard_options options = LG_GUARD_OPTIONS_INIT;
    options.on_event = on_event;
    options.policy = LG_GUARD_SURVIVE; /* in a debug build, too */
    if (lg_guard_start(session, &options) != LG_OK)
        exit(98);
    static const int site;
    lg_guard_claim(LG_GUARD_HANDLE, &site, "a fault", NULL, 0);
    wait_until(called);
}

static void watch_memory(void)
{
    if (lg_memory_watch(session, 80, on_memory, NULL) != LG_OK)
        exit(97);
    pass_time(1200, "the watch looks once a second");
}

static void launch(void)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_launch *made;
    const unsigned threads = count_threads();
    options.window_ms = 100;
    if (lg_launch_prepare(session, "main", &options, &made) != LG_OK || lg_launch_begin(made) != LG_OK)
        exit(96);
    /* The watch thread says that the launch is finished, and ends then. */
    wait_until(lg_launch_get_status(made) == LG_LAUNCH_NORMAL && count_threads() == threads);
}

/* The stack of a thread of libc's is addresses, not memory. A malloc arena has 65536 KiB of
 * addresses with glibc: no thread of ours may need one. */
enum { SPARE = 512, STACK = -1 };

static const struct feature {
    const char *name;
    void (*start)(void), (*use)(void);
    long most_space, most_own; /* KiB; STACK: one, and SPARE */
    unsigned threads;
} features[] = {
    { "lg_start()", NULL, start_plainly, 2048, 256, 0 },
    { "with keep_stderr", NULL, start_copying, 2048, 256, 1 },
    { "a heartbeat", start_plainly, beat, SPARE, 64, 1 },
    { "the same with on_log", start_telling, beat, STACK, 128, 2 },
    { "guards", start_plainly, guard, STACK, 192, 1 },
    { "the memory watch", start_plainly, watch_memory, STACK, 128, 1 },
    { "a launch", start_plainly, launch, SPARE, 64, 0 },
};

static long stack_kib(void)
{
    pthread_attr_t attributes;
    size_t bytes;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    return (long)(bytes / 1024);
}

static struct weight *added;

static void body_feature(void *argument)
{
    const struct feature *feature = argument;
    if (feature->start)
        feature->start();
    const struct weight before = weigh();
    feature->use();
    const struct weight after = weigh();
    *added = (struct weight){ after.space - before.space, after.own - before.own, after.threads - before.threads };
    _exit(0);
}

static void test_features(void **state)
{
    (void)state;
    added = shared_memory(sizeof *added);
    for (const struct feature *feature = features; feature < features + sizeof features / sizeof features[0]; feature++) {
        state_make();
        expect_exit(body_feature, (void *)(uintptr_t)feature, 0);
        print_message("%-22s %6ld KiB of addresses, %4ld KiB of memory, threads: %u\n", feature->name, added->space, added->own, added->threads);
        const long most_space = feature->most_space == STACK ? stack_kib() + SPARE : feature->most_space;
        if (added->space > most_space || added->own > feature->most_own || added->threads > feature->threads)
            fail_msg("%s: at most %ld KiB of addresses, %ld KiB of memory, threads: %u", feature->name, most_space, feature->most_own, feature->threads);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_STATE(test_features) };
    return cmocka_run_group_tests_name("weight", tests, NULL, NULL);
}
