/* A short life on a device of a fleet: `fleet-victim STATE VERSION END [SCREEN]`, where END is a
 * way to die, or `wait`, which dies of the signal that it gets. SCREEN is the value of an
 * annotation. */
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <launchguard/launchguard.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((noinline)) void fleet_victim_write(volatile int *where);
__attribute__((noinline)) void fleet_victim_write(volatile int *where)
{
#ifdef LATER
    volatile int more = 1;
    (void)more;
#endif
    *where = 1;
}

__attribute__((noinline)) int fleet_victim_divide(volatile int by);
__attribute__((noinline)) int fleet_victim_divide(volatile int by)
{
    volatile int what = 7;
    return what / by;
}

int main(int argc, char **argv)
{
    static const struct rlimit no_core = { 0, 0 };
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    if (argc != 4 && argc != 5)
        return 98;
    setrlimit(RLIMIT_CORE, &no_core);
    options.app_id = "org.example.fleet";
    options.app_version = argv[2];
    options.state_directory = argv[1];
    if (lg_start(&options, &session) != LG_OK || lg_annotate(session, "screen", argc > 4 ? argv[4] : "<settings> & more") != LG_OK ||
        lg_annotate(session, "token", "correct-horse-battery-staple") != LG_OK || lg_redact(session, "token") != LG_OK)
        return 97;
    lg_log(session, LG_LEVEL_INFO, "a short life");
    const char *end = argv[3];
    if (strcmp(end, "clean") == 0)
        return lg_stop(session) == LG_OK ? 0 : 96;
    if (strcmp(end, "write") == 0)
        fleet_victim_write((volatile int *)0x1234);
    if (strcmp(end, "divide") == 0)
        return fleet_victim_divide(0);
    if (strcmp(end, "abort") == 0)
        abort();
    /* Two bugs of one function. */
    if (strcmp(end, "assert") == 0)
        assert(argc == 0 && "no arguments");
    if (strcmp(end, "assert-state") == 0)
        assert(!argv[1][0] && "no state");
    if (strcmp(end, "exit") == 0)
        exit(3);
    if (strcmp(end, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(end, "wait") == 0) {
        puts("ready");
        fflush(stdout);
        alarm(300);
        for (;;)
            pause();
    }
    return 95;
}
