/* lg__os_spawn_detached(): the program that starts another one has nothing to do with it. The test
 * itself takes the orphans over, and looks at them by the files of the kernel. */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"

#define DESCRIPTORS 200

static char *const sleep_arguments[] = { "sleep", "60", NULL };

static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
    (void)signal;
    signals++;
}

static void must(bool holds, int code)
{
    if (!holds)
        _exit(code);
}

static void prepare(void)
{
    struct sigaction counts = { .sa_handler = count_signal };
    must(setpgid(0, 0) == 0, 80);
    sigaction(SIGCHLD, &counts, NULL);
    signal(SIGUSR1, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    int locked = open(state_path("locked"), O_RDWR | O_CREAT, 0600);
    must(locked >= 0 && flock(locked, LOCK_EX) == 0, 81);
    for (int i = 0; i < DESCRIPTORS; i++)
        must(dup(locked) >= 0, 82);
}

static void spawn(void)
{
    must(lg__os_spawn_detached("/bin/sleep", sleep_arguments, environ) == 0, 83);
    must(lg__os_signals_blocked() == UINT64_C(1) << (SIGUSR2 - 1), 84);
}

static void expect_no_child(void)
{
    int status;
    must(waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD, 85);
    must(wait(&status) == -1 && errno == ECHILD, 86);
    must(waitpid(-1, &status, WNOHANG | __WALL) == -1 && errno == ECHILD, 87);
    must(any_child(getpid()) == 0, 88);
    must(signals == 0, 89);
}

static void body_exits(void *argument)
{
    (void)argument;
    prepare();
    spawn();
    expect_no_child();
}

static void body_kills_its_group(void *argument)
{
    (void)argument;
    prepare();
    spawn();
    kill(-getpgrp(), SIGKILL);
    wait_for_ever(NULL);
}

static void body_aborts(void *argument)
{
    (void)argument;
    prepare();
    spawn();
    abort();
}

/* As an older kernel, without close_range(). */
static void body_without_close_range(void *argument)
{
    (void)argument;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
    prepare();
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, 79);
    spawn();
    expect_no_child();
}

static void body_fails(void *argument)
{
    (void)argument;
    char *const arguments[] = { "x", NULL };
    prepare();
    must(lg__os_spawn_detached(state_path("missing"), arguments, environ) == ENOENT, 90);
    must(lg__os_spawn_detached(state_path("locked"), arguments, environ) == EACCES, 91);
    must(lg__os_spawn_detached("/", arguments, environ) == EACCES, 92);
    expect_no_child();
}

static void *spawn_some(void *argument)
{
    char *const arguments[] = { "x", NULL };
    for (int i = 0; i < 20; i++)
        must(lg__os_spawn_detached(argument, arguments, environ) == ENOENT, 93);
    return NULL;
}

static void body_many_threads(void *argument)
{
    pthread_t threads[4];
    (void)argument;
    prepare();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, spawn_some, (void *)(uintptr_t)"/does/not/exist");
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    expect_no_child();
}

/* ---- the orphan ---- */

static void expect_status(pid_t orphan, const char *key, uint64_t value)
{
    char path[64], line[256];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/status", orphan);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) {
            found = true;
            assert_int_equal(strtoull(line + strlen(key), NULL, 16), value);
        }
    fclose(file);
    assert_true(found);
}

static void expect_link(pid_t orphan, const char *name, const char *to)
{
    char path[64], is[256];
    snprintf(path, sizeof path, "/proc/%d/%s", orphan, name);
    ssize_t size = readlink(path, is, sizeof is - 1);
    assert_true(size > 0);
    is[size] = 0;
    assert_string_equal(is, to);
}

static unsigned count_descriptors(pid_t orphan)
{
    char path[64];
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", orphan);
    DIR *stream = opendir(path);
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream));)
        count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

/* The loader of the program that begins has files open for a moment; an inherited one stays. */
static void expect_three_descriptors(pid_t orphan)
{
    wait_until(count_descriptors(orphan) == 3);
    expect_link(orphan, "fd/0", "/dev/null");
    expect_link(orphan, "fd/1", "/dev/null");
    expect_link(orphan, "fd/2", "/dev/null");
}

/* The program is gone; what it started is there, alone. */
static void expect_orphan(void)
{
    pid_t orphan = any_child(getpid());
    assert_true(orphan > 0);
    expect_three_descriptors(orphan);
    expect_status(orphan, "SigBlk:", 0);
    expect_status(orphan, "SigIgn:", 0);
    assert_int_not_equal(getsid(orphan), getsid(0));
    assert_int_not_equal(getsid(orphan), orphan); /* no terminal can become its own */
    int locked = open(state_path("locked"), O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(locked, LOCK_EX | LOCK_NB), 0);
    close(locked);
    assert_int_equal(waitpid(orphan, NULL, WNOHANG), 0);
    kill(orphan, SIGKILL);
    assert_int_equal(waitpid(orphan, NULL, 0), orphan);
}

static void test_exits(void **state)
{
    (void)state;
    expect_exit(body_exits, NULL, 0);
    expect_orphan();
}

static void test_kills_its_group(void **state)
{
    (void)state;
    expect_signal(body_kills_its_group, NULL, SIGKILL);
    expect_orphan();
}

static void test_aborts(void **state)
{
    (void)state;
    expect_signal(body_aborts, NULL, SIGABRT);
    expect_orphan();
}

static void test_without_close_range(void **state)
{
    (void)state;
    expect_exit(body_without_close_range, NULL, 0);
    expect_orphan();
}

static void test_fails(void **state)
{
    (void)state;
    expect_exit(body_fails, NULL, 0);
    assert_int_equal(any_child(getpid()), 0);
}

static void test_many_threads(void **state)
{
    (void)state;
    expect_exit(body_many_threads, NULL, 0);
    assert_int_equal(any_child(getpid()), 0);
}

/* Also where the test failed before it ended the orphan. */
static int end_orphans(void **state)
{
    end_children();
    return remove_state(state);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_state, end_orphans)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_exits), TEST(test_kills_its_group), TEST(test_aborts), TEST(test_without_close_range), TEST(test_fails), TEST(test_many_threads),
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
