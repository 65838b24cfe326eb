/* A program whose crash is exported: `export-victim STATE [ACTION]`. It dies in
 * export_victim_crash(), and has threads that wait, and annotations, of which one is redacted and
 * has its value on the stack too. */
#define _GNU_SOURCE
#include <launchguard/launchguard.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t together;

static void *wait_for_ever(void *name)
{
    pthread_setname_np(pthread_self(), name);
    pthread_barrier_wait(&together);
    for (;;)
        pause();
    return NULL;
}

__attribute__((noinline)) void export_victim_crash(volatile int *where, const char *mark);
__attribute__((noinline)) void export_victim_crash(volatile int *where, const char *mark)
{
    char on_stack[64];
    snprintf(on_stack, sizeof on_stack, "%s", mark);
    *where = on_stack[0];
    __asm__ volatile("" : : "r"(on_stack) : "memory");
}

__attribute__((noinline)) int export_victim_work(const char *secret);
__attribute__((noinline)) int export_victim_work(const char *secret)
{
    char on_stack[64];
    snprintf(on_stack, sizeof on_stack, "%s", secret);
    export_victim_crash((volatile int *)0x1234, "a mark on the stack");
    __asm__ volatile("" : : "r"(on_stack) : "memory");
    return on_stack[0];
}

int main(int argc, char **argv)
{
    static char names[3][16] = { "first", "second", "third" };
    const char *secret = "correct-horse-battery-staple";
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    if (argc < 2)
        return 98;
    options.app_id = "org.example.export";
    options.app_version = "1.2";
    options.state_directory = argv[1];
    if (lg_start(&options, &session) != LG_OK || lg_annotate(session, "screen", "settings") != LG_OK ||
        lg_annotate(session, "token", secret) != LG_OK || lg_redact(session, "token") != LG_OK)
        return 97;
    if (argc > 2 && strcmp(argv[2], "exit") == 0)
        return lg_stop(session) == LG_OK ? 0 : 96;
    if (argc > 2 && strcmp(argv[2], "kill") == 0)
        raise(SIGKILL);
    pthread_barrier_init(&together, NULL, 4);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_for_ever, names[i]) != 0)
            return 95;
    }
    pthread_barrier_wait(&together);
    if (argc > 2 && strcmp(argv[2], "abort") == 0)
        abort();
    return export_victim_work(secret);
}
