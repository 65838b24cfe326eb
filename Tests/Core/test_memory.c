/* Ends for lack of memory, in a real control group. */
#include "ends.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char group[4096 + 64];

static bool store(const char *name, const char *value)
{
    char path[sizeof group + 64];
    snprintf(path, sizeof path, "%s/%s", group, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool stored = file >= 0 && write(file, value, strlen(value)) == (ssize_t)strlen(value);
    if (file >= 0)
        close(file);
    return stored;
}

static bool make_group(const char *mount, const char *prefix, const char *limit)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *at = strstr(line, prefix);
        if (!at || (prefix[0] == '0' && at != line))
            continue;
        found = true;
        snprintf(group, sizeof group, "%s%s/launchguard-test-%d", mount, at + strlen(prefix), (int)getpid());
    }
    if (file)
        fclose(file);
    if (!found || mkdir(group, 0700) != 0)
        return false;
    if (store(limit, "50331648")) {
        store("memory.swap.max", "0");
        return true;
    }
    rmdir(group);
    return false;
}

/* Removes the group when the test is over, whatever became of it: it lives as long as somebody has the other end of the pipe. */
static void leave_janitor(void)
{
    int end[2];
    char byte;
    fflush(NULL);
    assert_int_equal(pipe(end), 0); /* inherited by all children */
    pid_t janitor = fork();
    assert_true(janitor >= 0);
    if (janitor == 0) {
        plain_signals();
        setsid();
        close(end[1]);
        (void)!read(end[0], &byte, 1);
        for (int i = 0; i < 500 && rmdir(group) != 0; i++)
            usleep(10000);
        _exit(0);
    }
    close(end[0]);
}

static void join_group(void)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)getpid());
    if (!store("cgroup.procs", number))
        _exit(95);
}

static void body_eats(void *argument)
{
    join_group();
    begin();
    while (!newest_info().oom_known)
        usleep(1000); /* the preparing thread reads it */
    static volatile char *block; /* the compiler must not leave out what nobody reads */
    size_t page = 0;
    while (!argument) {
        if (page % (1 << 20) == 0)
            block = malloc(1 << 20);
        block[page % (1 << 20)] = 1;
        page += 4096;
    }
    raise(SIGKILL);
}

static void body_in_group(void *argument)
{
    (void)argument;
    lg_verdict verdict;
    join_group();
    lg_reader *reader = newest_run();
    if (lg_reader_verdict(reader, &verdict) != LG_OK || verdict.end != LG_END_OOM || verdict.evidence != LG_EVIDENCE_OOM_COUNTER)
        _exit(90);
    lg_reader_close(reader);
    begin();
}

static void body_in_group_plain(void *argument)
{
    (void)argument;
    join_group();
    begin();
}

static void test_memory(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("only root makes a cgroup");
    if (!make_group("/sys/fs/cgroup", "0::", "memory.max") && !make_group("/sys/fs/cgroup/memory", ":memory:", "memory.limit_in_bytes"))
        skip_because("no cgroup with a memory limit can be made");
    leave_janitor();
    expect_signal(body_eats, NULL, SIGKILL);
    assert_int_equal(newest_info().oom_known, 1);
    assert_int_equal(newest_info().oom_kills, 0);
    /* From another group nothing can be seen, and nothing is claimed. */
    assert_int_equal(newest_verdict().end, LG_END_UNKNOWN);
    expect_exit(body_in_group, NULL, 0);
    lg_timeline_entry entry = last_of_timeline();
    expect_end(entry, LG_END_OOM, LG_EVIDENCE_OOM_COUNTER);
    assert_int_equal(entry.counted, 1);
    assert_int_equal(ledger_context("main").streak, 1);
    /* The count of before the start is not held against it. */
    expect_signal(body_eats, "is killed", SIGKILL);
    assert_int_equal(newest_info().oom_kills, 1);
    expect_exit(body_in_group_plain, NULL, 0);
    expect_end(last_of_timeline(), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    /* Nor is that of another group: a run outside of it that was killed is no matter of the group's count, which is larger than its own. */
    expect_signal(body, WAY(KILL), SIGKILL);
    expect_exit(body_in_group_plain, NULL, 0);
    expect_end(last_of_timeline(), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    /* Whoever waited saw a SIGKILL; the count tells whose. */
    struct death death = run_child(body_eats, NULL);
    assert_int_equal(WTERMSIG(death.status), SIGKILL);
    assert_int_equal(lg_witness(state_path(""), newest_info().pid, death.status), LG_OK);
    expect_exit(body_in_group_plain, NULL, 0);
    expect_end(last_of_timeline(), LG_END_OOM, LG_EVIDENCE_WITNESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_memory),
    };
    struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
