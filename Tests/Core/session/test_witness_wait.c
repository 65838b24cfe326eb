/* A start waits a moment for an agent that is about to say how the last run ended, and for nobody
 * else. The agent here is a child that holds the lock of one. */
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "session/run_words.h"
#include "store/crc32c.h"
#include "store/map.h"
#include "store/spool.h"

static int to_agent[2], from_agent[2]; /* pipes */
static unsigned *turns;                /* shared with the children */
static uint64_t *took_ns;
static bool has_agent;

static void body_killed(void *argument)
{
    (void)argument;
    start_session();
    raise(SIGKILL);
}

static void body_crash(void *argument)
{
    (void)argument;
    start_session();
    crash();
}

static void body_exit(void *argument)
{
    (void)argument;
    start_session();
}

/* At the first turn the agent is asked for its word, and has said it when the turn goes on. */
static void ask(const char *point)
{
    char byte;
    if (strcmp(point, "witness wait: turn") != 0)
        return;
    if ((*turns)++ == 0 && has_agent && (write(to_agent[1], "a", 1) != 1 || read(from_agent[0], &byte, 1) != 1))
        _exit(90);
}

static void body_next(void *argument)
{
    (void)argument;
    lg__fault_hook = ask;
    uint64_t begun = now_ns();
    start_session();
    *took_ns = now_ns() - begun;
}

/* As an agent at work would have left the words: true, or false. */
static void attach(bool attached)
{
    struct lg__identity identity;
    char path[4096];
    snprintf(path, sizeof path, "%s", newest_run_path());
    int runs = open(state_path("runs"), O_RDONLY | O_DIRECTORY | O_CLOEXEC), file = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(file, &identity, sizeof identity, 512), sizeof identity);
    assert_int_equal(lg__run_words_attach(runs, strrchr(path, '/') + 1, identity.uuid, attached), LG_OK);
    close(file);
    close(runs);
}

static int spool(void)
{
    struct lg__problem problem = { .status = LG_OK };
    int directory = open(state_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int made = lg__spool_open(directory, state_path(""), true, &problem);
    close(directory);
    return made;
}

static void live_as_agent(int32_t pid, int status)
{
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int lock = openat(spool(), "agent", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (!lg__map_lock(lock) || write(from_agent[1], "l", 1) != 1)
        _exit(91);
    while (read(to_agent[0], &byte, 1) == 1) {
        pass_time(5, "the agent takes its time, and the start waits for it");
        if (status && lg_witness(state_path(""), pid, status) != LG_OK)
            _exit(92);
        if (write(from_agent[1], "w", 1) != 1)
            _exit(93);
    }
    _exit(0);
}

/* The next start, beside an agent that stores `status`; 0: that says nothing. */
static lg_timeline_entry start_beside_agent(int32_t pid, int status)
{
    char byte;
    fflush(NULL);
    pid_t agent = fork();
    assert_true(agent >= 0);
    if (agent == 0)
        live_as_agent(pid, status);
    assert_int_equal(read(from_agent[0], &byte, 1), 1);
    *turns = 0;
    has_agent = true;
    struct death death = run_child(body_next, NULL);
    int ended;
    has_agent = false;
    kill(agent, SIGKILL);
    assert_int_equal(waitpid(agent, &ended, 0), agent);
    assert_true(WIFSIGNALED(ended));
    assert_false(death.late);
    assert_true(WIFEXITED(death.status) && WEXITSTATUS(death.status) == 0);
    return last_of_timeline();
}

static void expect_entry(lg_timeline_entry entry, lg_end end, lg_evidence evidence)
{
    assert_int_equal(entry.verdict.end, end);
    assert_int_equal(entry.verdict.evidence, evidence);
}

static void test_the_word_comes(void **state)
{
    (void)state;
    struct death death = run_child(body_killed, NULL);
    int32_t pid = newest_info().pid;
    attach(true);
    expect_entry(start_beside_agent(pid, death.status), LG_END_KILLED, LG_EVIDENCE_WITNESS);
    assert_int_equal(*turns, 1);
}

static void test_the_word_does_not_come(void **state)
{
    (void)state;
    struct death death = run_child(body_killed, NULL);
    int32_t pid = newest_info().pid;
    attach(true);
    expect_entry(start_beside_agent(pid, 0), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    assert_true(*took_ns >= 20000000);
    assert_true(*turns >= 1 && *turns <= 20); /* of a millisecond at least */
    assert_int_equal(lg_witness(state_path(""), pid, death.status), LG_ERR_ALREADY);
}

/* Each for one reason more. */
static void test_nothing_to_wait_for(void **state)
{
    (void)state;
    run_child(body_killed, NULL);
    attach(true);
    close(spool()); /* that of a program that delivers */
    *turns = 0;
    expect_exit(body_next, NULL, 0); /* no agent lives */
    assert_int_equal(*turns, 0);
    expect_entry(last_of_timeline(), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);

    run_child(body_killed, NULL); /* no agent waits for that one */
    expect_entry(start_beside_agent(newest_info().pid, 0), LG_END_UNKNOWN, LG_EVIDENCE_NO_MARK);
    assert_int_equal(*turns, 0);

    expect_signal(body_crash, NULL, SIGSEGV);
    attach(true);
    expect_entry(start_beside_agent(newest_info().pid, 0), LG_END_CRASH, LG_EVIDENCE_CRASH_RECORD);
    assert_int_equal(*turns, 0);

    expect_exit(body_exit, NULL, 0);
    attach(true);
    expect_entry(start_beside_agent(newest_info().pid, 0), LG_END_CLEAN, LG_EVIDENCE_EXIT_MARK);
    assert_int_equal(*turns, 0);

    struct death death = run_child(body_killed, NULL); /* the word is there */
    attach(true);
    assert_int_equal(lg_witness(state_path(""), newest_info().pid, death.status), LG_OK);
    expect_entry(start_beside_agent(newest_info().pid, 0), LG_END_KILLED, LG_EVIDENCE_WITNESS);
    assert_int_equal(*turns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_the_word_comes),
        WITH_STATE(test_the_word_does_not_come),
        WITH_STATE(test_nothing_to_wait_for),
    };
    lg__crc32c_init();
    turns = shared_memory(sizeof *turns);
    took_ns = shared_memory(sizeof *took_ns);
    if (pipe2(to_agent, O_CLOEXEC) != 0 || pipe2(from_agent, O_CLOEXEC) != 0)
        return 1;
    return cmocka_run_group_tests_name("witness_wait", tests, NULL, NULL);
}
