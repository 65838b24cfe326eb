/* The exit status of a process that is no child: known before its parent has waited for it and, on
 * kernels that report it, after that. */
#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "watch/exit_status.h"

static pid_t begin(int *ret_pidfd, uint64_t *ret_ticks)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        pause();
        _exit(42);
    }
    assert_true(child > 0 && lg__os_start_ticks(child, ret_ticks));
    *ret_pidfd = exit_status_open(child, *ret_ticks);
    assert_true(*ret_pidfd >= 0);
    return child;
}

static void see(int signal)
{
    uint64_t ticks;
    int pidfd, status = -1, truth, later = -1;
    pid_t child = begin(&pidfd, &ticks);
    assert_int_equal(exit_status_read(pidfd, child, ticks, &status), EXIT_STATUS_LATER);
    assert_int_equal(kill(child, signal), 0);
    struct pollfd end = { .fd = pidfd, .events = POLLIN };
    assert_int_equal(poll(&end, 1, LIMIT_MS), 1);
    assert_int_equal(exit_status_read(pidfd, child, ticks, &status), EXIT_STATUS_KNOWN);
    assert_int_equal(waitpid(child, &truth, 0), child);
    assert_int_equal(status, truth);
    enum exit_status_known known = exit_status_read(pidfd, child, ticks, &later);
    if (known == EXIT_STATUS_KNOWN)
        assert_int_equal(later, truth);
    else
        printf("             this kernel reports the status to the parent alone, once it has waited\n");
    close(pidfd);
}

static void test_killed(void **state)
{
    (void)state;
    see(SIGKILL);
    see(SIGALRM);
}

static void test_another_process_with_that_number(void **state)
{
    uint64_t ticks;
    int pidfd;
    (void)state;
    pid_t child = begin(&pidfd, &ticks);
    errno = 0;
    assert_int_equal(exit_status_open(child, ticks + 1), -1);
    assert_int_equal(errno, ESRCH);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(exit_status_open(child, ticks), -1);
    close(pidfd);
}

#define ITS_USER 65534
#define ANOTHER_USER 65533

/* To a user who may not look, the kernel shows that the process ended with 0. */
static void test_of_another_user(void **state)
{
    uint64_t ticks;
    int pidfd, truth, answer;
    (void)state;
    if (geteuid() != 0) {
        print_message("             left out: only root becomes another user\n");
        skip();
    }
    int known[2]; /* its time, which an ended process does not show */
    char byte = 0;
    assert_int_equal(pipe(known), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(setuid(ITS_USER) == 0 && read(known[0], &byte, 1) == 1 && raise(SIGKILL) == 0 ? 42 : 43);
    }
    assert_true(child > 0 && lg__os_start_ticks(child, &ticks));
    assert_int_equal(write(known[1], &byte, 1), 1);
    close(known[0]);
    close(known[1]);
    siginfo_t ended;
    assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    pid_t reader = fork();
    if (reader == 0) {
        int status = -1;
        alarm(60);
        pidfd = setuid(ANOTHER_USER) == 0 ? exit_status_open(child, ticks) : -1;
        _exit(pidfd < 0 ? 99 : (int)exit_status_read(pidfd, child, ticks, &status));
    }
    assert_int_equal(waitpid(reader, &answer, 0), reader);
    assert_true(WIFEXITED(answer));
    assert_int_equal(WEXITSTATUS(answer), EXIT_STATUS_LATER);
    assert_int_equal(waitpid(child, &truth, 0), child);
    assert_true(WIFSIGNALED(truth) && WTERMSIG(truth) == SIGKILL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_killed), cmocka_unit_test(test_of_another_user), cmocka_unit_test(test_another_process_with_that_number) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
