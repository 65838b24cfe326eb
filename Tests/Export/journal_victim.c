/* A program whose log is exported: `journal-victim STATE crash|kill|exit BREADCRUMBS`. Its
 * breadcrumbs and annotations hold what would break a format of lines: line ends, control
 * characters, bytes that are no UTF-8, and words of the format itself. Then it crashes, kills
 * itself or exits with status 3. */
#define _GNU_SOURCE
#include <launchguard/launchguard.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char secret[] = "correct-horse-battery-staple";
static pthread_barrier_t together;

static void *wait_for_ever(void *name)
{
    pthread_setname_np(pthread_self(), name);
    pthread_barrier_wait(&together);
    for (;;)
        pause();
    return NULL;
}

/* A register holds the address of the secret on the stack. */
__attribute__((noinline)) int journal_victim_crash(volatile int *where, const char *on_stack);
__attribute__((noinline)) int journal_victim_crash(volatile int *where, const char *on_stack)
{
    return *where + on_stack[0];
}

static void say(lg_session *session, lg_level level, const char *text)
{
    const lg_field fields[] = { { "token", secret }, { "a=b \"c\"", "1\n2" }, { "tries", "3" } };
    lg_log_fields(session, level, "network", text, strlen(text), fields, 3);
}

int main(int argc, char **argv)
{
    static const lg_level levels[] = { LG_LEVEL_TRACE, LG_LEVEL_DEBUG, LG_LEVEL_INFO, LG_LEVEL_NOTICE, LG_LEVEL_WARNING, LG_LEVEL_ERROR, LG_LEVEL_CRITICAL };
    static char name[] = "other\x1b]0;";
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    pthread_t thread;
    if (argc != 4)
        return 98;
    options.app_id = "org.example.journal";
    options.app_version = "1.2";
    options.state_directory = argv[1];
    options.ring_bytes = 1 << 24;
    options.keep_stderr = 1;
    options.keep_command_line = 1;
    if (lg_start(&options, &session) != LG_OK || lg_redact(session, "token") != LG_OK || lg_annotate(session, "token", secret) != LG_OK ||
        lg_annotate(session, "screen", "settings") != LG_OK || lg_annotate(session, "a=b", "\n\nMESSAGE=not a message\n") != LG_OK)
        return 97;
    pthread_barrier_init(&together, NULL, 2);
    if (pthread_create(&thread, NULL, wait_for_ever, name) != 0)
        return 96;
    pthread_barrier_wait(&together);
    fprintf(stderr, "the last words\nof the program\n");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        lg_log(session, levels[i], "of level %zu", i);
    say(session, 45, "two\nlines");
    say(session, LG_LEVEL_INFO, "first\n\nMESSAGE_ID=fc2e22bc6ee647b6b90729ab34a250b1\nCOREDUMP_PID=1\n__REALTIME_TIMESTAMP=7\n\n");
    say(session, LG_LEVEL_INFO, "\x1b[31mred\x1b[0m\x07");
    say(session, LG_LEVEL_INFO, "\xff\xfe no text \xc3");
    say(session, LG_LEVEL_INFO, "");
    for (int i = 0; i < atoi(argv[3]); i++)
        lg_log(session, LG_LEVEL_INFO, "breadcrumb number %d", i);
    if (strcmp(argv[2], "kill") == 0)
        raise(SIGKILL);
    if (strcmp(argv[2], "exit") == 0)
        exit(3);
    char on_stack[sizeof secret];
    memcpy(on_stack, secret, sizeof secret);
    return journal_victim_crash((volatile int *)0x1234, on_stack);
}
