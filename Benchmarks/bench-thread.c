/* The cost that the library adds to a thread: pthread_create() and pthread_join() without the
 * library, linked only, and with a session.
 *
 * bench-thread LINKED DIR COUNT; LINKED is this program built with the library. */
#include "common.h"

#ifdef WITH_LAUNCHGUARD
#include <launchguard/launchguard.h>
#endif

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *nothing(void *argument)
{
    return argument;
}

static double one_thread_us(void)
{
    pthread_t thread;
    uint64_t begin = now_ns();
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        exit(1);
    return (double)(now_ns() - begin) / 1000;
}

static int child(char **arguments)
{
    static struct series series;
    double *ret_us = shared_open(arguments[4], sizeof *ret_us);
#ifdef WITH_LAUNCHGUARD
    if (strcmp(arguments[2], "started") == 0) {
        lg_session *session;
        lg_options options = LG_OPTIONS_INIT;
        options.app_id = "org.example.bench";
        options.state_directory = arguments[3];
        if (lg_start(&options, &session) != LG_OK)
            return 1;
    }
#endif
    for (int i = 0; i < 200; i++)
        one_thread_us();
    for (int i = 0; i < 1000; i++)
        series_add(&series, one_thread_us());
    *ret_us = series_median(&series);
    return 0;
}

int main(int count, char **arguments)
{
    static struct series series[3] = { { .name = "without the library" }, { .name = "linked, no session" }, { .name = "linked, in a session" } };
    static const char *const kinds[3] = { "plain", "linked", "started" };
    if (count == 5 && strcmp(arguments[1], "child") == 0)
        return child(arguments);
    if (count != 4)
        return 2;
    double *shared = shared_make(sizeof *shared);
    for (int round = 0; round < atoi(arguments[3]); round++)
        for (int kind = 0; kind < 3; kind++) {
            char *call[] = { kind ? arguments[1] : arguments[0], "child", (char *)kinds[kind], arguments[2], (char *)shared_name(), NULL };
            uint64_t took;
            if (run_child(call, &took) != 0) {
                fprintf(stderr, "bench-thread: %s does not work\n", kinds[kind]);
                return 1;
            }
            series_add(&series[kind], *shared);
        }
    print_head("A thread: pthread_create() and pthread_join(), median of 1000 a process", "us");
    for (int kind = 0; kind < 3; kind++)
        print_line(&series[kind], kind ? &series[0] : NULL);
    return 0;
}
