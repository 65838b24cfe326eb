/* A consumer in C.
 *
 * app DIR crash: prove protection, then crash.
 * app DIR overflow: the same by the stack of another thread.
 * app DIR check: prove that the crash was recorded. */
#include <launchguard/launchguard.h>
#include <launchguard/reader.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static int check(const char *directory)
{
    char path[4096];
    lg_reader *reader;
    lg_ledger_info ledger;
    lg_timeline_entry run;
    snprintf(path, sizeof path, "%s/ledger.lg", directory);
    if (lg_reader_open(path, &reader) != LG_OK || lg_reader_ledger(reader, &ledger) != LG_OK || ledger.timeline_count == 0 ||
        lg_reader_timeline(reader, ledger.timeline_count - 1, &run) != LG_OK)
        return 1;
    printf("last run: %s, %s\n", lg_end_name(run.verdict.end), lg_crash_kind_name(run.verdict.kind));
    lg_reader_close(reader);
    return run.verdict.end != LG_END_CRASH;
}

static volatile int end_of_recursion;

static int recurse(int depth)
{
    volatile char space[256];
    space[0] = (char)depth;
    return end_of_recursion ? 0 : recurse(depth + 1) + space[0];
}

static void *overflow(void *argument)
{
    /* The shared library has done this already; a program with the static library has to call
     * it. */
    if (lg_thread_register() == LG_OK)
        recurse(0);
    return argument;
}

int main(int count, char **arguments)
{
    static const struct rlimit no_core = { 0, 0 };
    static int *volatile nowhere;
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    if (count != 3)
        return 2;
    setrlimit(RLIMIT_CORE, &no_core);
    options.app_id = "org.example.consumer";
    options.state_directory = arguments[1];
    lg_status status = lg_start(&options, &session);
    if (status != LG_OK || lg_session_protection(session) != LG_PROTECTION_FULL) {
        fprintf(stderr, "%s: %s\n", lg_status_name(status), lg_session_message(session));
        return 1;
    }
    if (strcmp(lg_version(), LG_VERSION_STRING) != 0)
        return 1;
    puts("fully protected");
    fflush(stdout);
    if (strcmp(arguments[2], "crash") == 0)
        *nowhere = 1;
    if (strcmp(arguments[2], "overflow") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, overflow, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return check(arguments[1]);
}
