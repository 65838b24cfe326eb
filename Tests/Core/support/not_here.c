/* The tests that cannot pass in this place: under an emulator, or with another libc. NOT_HERE is a
 * file with lines of program, test and reason, with tabs between. Each named test is tried in a
 * child and must fail there; then its reason is printed instead of a result. A test that passes
 * after all is a failure: its line is wrong. A test whose reason begins with "sometimes" is not
 * tried; a line whose test is "*" is for all tests of the program. In place of cmocka's function,
 * by the linker. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_S 30 /* a test that takes longer here has failed */

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup, CMFixtureFunction teardown);

/* The reason why this test is not run, or NULL. */
static const char *reason_of(const char *test)
{
    static char line[500];
    FILE *file = fopen(NOT_HERE, "re");
    if (!file)
        abort();
    while (fgets(line, sizeof line, file)) {
        char program[100], name[100];
        int reason = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%99[^\t]\t%99[^\t]\t%n", program, name, &reason) == 2 && reason && strcmp(program, program_invocation_short_name) == 0 &&
            (strcmp(name, test) == 0 || strcmp(name, "*") == 0)) {
            fclose(file);
            return line + reason;
        }
    }
    fclose(file);
    return NULL;
}

static bool passes(const char *name, const struct CMUnitTest *test, CMFixtureFunction setup, CMFixtureFunction teardown)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        abort();
    if (child == 0) {
        int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        exit(__real__cmocka_run_group_tests(name, test, 1, setup, teardown) ? 1 : 0);
    }
    struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN };
    if (end.fd < 0)
        abort();
    if (poll(&end, 1, LIMIT_S * 1000) == 0)
        kill(child, SIGKILL);
    close(end.fd);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup, CMFixtureFunction teardown)
{
    struct CMUnitTest *run = calloc(count, sizeof *run);
    size_t left = 0;
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const char *reason = reason_of(tests[i].name);
        if (!reason) {
            run[left++] = tests[i];
            continue;
        }
        print_message("[  NOT HERE] %s: %s\n", tests[i].name, reason);
        if (strncmp(reason, "sometimes", 9) != 0 && passes(name, &tests[i], setup, teardown)) {
            print_message("[  FAILED  ] %s passes here: take its line out of %s\n", tests[i].name, NOT_HERE);
            wrong++;
        }
    }
    int failed = left ? __real__cmocka_run_group_tests(name, run, left, setup, teardown) : 0;
    free(run);
    return failed + wrong;
}
