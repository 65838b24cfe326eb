/* start STATE: a program that starts a session and exits. It prints the page faults of lg_start().
 * The marks are those that Tests/Seccomp/supervise knows. */
#include <launchguard/launchguard.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "mark.h"

static long faults(void)
{
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt + used.ru_majflt;
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(30);
    /* the same pages in each life */
    const int now = personality(0xffffffff);
    if (now >= 0 && !(now & ADDR_NO_RANDOMIZE) && personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0) {
        execv("/proc/self/exe", arguments);
        return 3;
    }
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.cost";
    options.state_directory = arguments[1];
    options.keep_runs = 10;
    lg_session *session;
    const long before = faults();
    mark(START);
    const lg_status status = lg_start(&options, &session);
    mark(LIFE);
    const long after = faults();
    printf("faults %ld\n", after - before);
    if (status != LG_OK)
        fprintf(stderr, "%s\n", lg_session_message(session));
    fflush(stdout);
    mark(EXIT);
    exit(status == LG_OK ? 0 : 1);
}
