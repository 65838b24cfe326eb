/* A run whose report goes to a server: `server-victim STATE
 * crash|assert|texts|many|hang|oom|kill|exit`. It has breadcrumbs of each level, annotations of
 * each kind and threads that wait, and secrets that no report may hold: each of them has the word
 * "planted". */
#undef NDEBUG
#define _GNU_SOURCE
#include <assert.h>
#include <launchguard/launchguard.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FEW = 3, MANY = 120, DEPTH = 100 };

static lg_session *session;
static pthread_barrier_t begun;
static int depth;

__attribute__((noinline)) static int wait_below(int left)
{
    if (left > 0)
        return wait_below(left - 1) + 1;
    pthread_barrier_wait(&begun);
    while (pause() != 0)
        continue;
    return 0;
}

static void *wait_for_ever(void *name)
{
    pthread_setname_np(pthread_self(), name);
    return wait_below(depth) == 0 ? name : NULL;
}

static void start_threads(int count)
{
    static char names[MANY][24];
    pthread_barrier_init(&begun, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        snprintf(names[i], sizeof names[i], "worker %d", i);
        assert(pthread_create(&thread, NULL, wait_for_ever, names[i]) == 0);
    }
    pthread_barrier_wait(&begun);
}

static void remember(void)
{
    static const lg_level levels[] = { LG_LEVEL_TRACE, LG_LEVEL_DEBUG, LG_LEVEL_INFO, LG_LEVEL_NOTICE, LG_LEVEL_WARNING, LG_LEVEL_ERROR, LG_LEVEL_CRITICAL };
    static const lg_field fields[] = { { "file", "/home/planted-user/notes.db" }, { "token", "planted-field" }, { "size", "12" }, { "size", "13" } };
    static const char text[] = "opened /home/planted-user/notes.db";
    lg_annotate(session, "screen", "settings");
    lg_annotate(session, "type", "a word of ours");
    lg_annotate(session, "environment", "the/test bench");
    lg_annotate(session, "end", "no tag of LaunchGuard");
    lg_annotate(session, "a key with spaces", "in no tag");
    lg_annotate(session, "lines", "first\nsecond");
    lg_annotate(session, "document", "/home/planted-user/letter");
    lg_annotate(session, "token", "planted-annotation");
    lg_redact(session, "token");
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        lg_log_fields(session, levels[i], "files", text, strlen(text), fields, i == 2 ? 4 : 0);
}

/* The secrets, and one more, in texts of every kind. */
static void say(void)
{
    static const char *const said[] = { "harmless planted-annotation and planted-field", "harmless {\"token\": \"planted-after-key\"}" };
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        lg_log_fields(session, LG_LEVEL_INFO, "planted-annotation", said[i], strlen(said[i]), NULL, 0);
    lg_annotate(session, "note", "harmless planted-field");
    pthread_setname_np(pthread_self(), "planted-annotat");
    fputs("harmless planted-annotation, token=planted-after-key\n", stderr);
    __assert_fail("harmless planted-annotation, token: planted-after-key", "notes.c", 7, "open_index");
}

__attribute__((noinline)) static void use(size_t bytes)
{
    for (;;)
        for (char *block = malloc(bytes), *end = block + bytes; block && block < end; block += 4096)
            *(volatile char *)block = 1;
}

int main(int argc, char **argv)
{
    lg_options options = LG_OPTIONS_INIT;
    assert(argc == 3);
    const char *action = argv[2];
    options.app_id = "org.example.server";
    options.app_version = "1.1/beta 2";
    options.state_directory = argv[1];
    options.hang_running_ms = 200;
    options.keep_stderr = strcmp(action, "texts") == 0;
    if (lg_start(&options, &session) != LG_OK)
        return 97;
    remember();
    if (strcmp(action, "exit") == 0)
        return lg_stop(session) == LG_OK ? 0 : 96;
    bool is_many = strcmp(action, "many") == 0;
    depth = is_many ? DEPTH : 0;
    start_threads(is_many ? MANY : FEW);
    if (strcmp(action, "assert") == 0)
        __assert_fail("no /home/planted-user/index", "notes.c", 7, "open_index");
    if (strcmp(action, "texts") == 0)
        say();
    if (strcmp(action, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(action, "oom") == 0)
        use(1 << 20);
    if (strcmp(action, "hang") == 0) {
        lg_heartbeat(session);
        puts("hangs");
        fflush(stdout);
        while (pause() != 0)
            continue;
    }
    *(volatile int *)0x1234 = 1;
    return 0;
}
