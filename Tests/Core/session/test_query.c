/* Queries about other programs, and programs side by side: lg_launch_query(), lg_state_directory(),
 * roles, secondary processes. */
#include "harness.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "store/crc32c.h"
#include "store/format.h"

static pid_t living; /* a program that lives while the test looks; 0: none */

static int clean(void **state)
{
    if (living > 0) {
        kill(living, SIGKILL);
        waitpid(living, NULL, 0);
    }
    living = 0;
    return remove_state(state);
}

/* ---- a program with one launch and one repair ---- */

static lg_session *session;
static lg_launch *launch;
static int ready[2];

static void be_ready(void)
{
    (void)!write(ready[1], "r", 1);
}

static void repair_waits(lg_completion *done, void *user)
{
    (void)done, (void)user;
    be_ready();
}

static void repair_works(lg_completion *done, void *user)
{
    (void)user;
    lg_complete(done, LG_OK);
}

static void begin(lg_repair_callback run, bool by_hand)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_repair repair = LG_REPAIR_INIT;
    session = start_session();
    options.window_ms = 0;
    options.auto_repair = !by_hand;
    options.hold = by_hand ? LG_HOLD_CUSTODY : LG_HOLD_BLOCK;
    repair.name = "reset";
    repair.run = run;
    if (lg_launch_prepare(session, "main", &options, &launch) != LG_OK || lg_launch_add_repair(launch, &repair) != LG_OK ||
        lg_launch_begin(launch) != LG_OK)
        _exit(98);
}

static void stay(void)
{
    be_ready();
    wait_for_ever(NULL);
}

static void body_crash(void *argument)
{
    (void)argument;
    begin(repair_works, false);
    crash();
}

static void body_finish(void *argument)
{
    (void)argument;
    begin(repair_works, false);
    lg_launch_finished(launch);
}

static void body_kill(void *argument)
{
    (void)argument;
    begin(repair_works, false);
    raise(SIGKILL);
}

static void body_finish_and_crash(void *argument)
{
    body_finish(argument);
    crash();
}

static void body_stop(void *argument)
{
    (void)argument;
    begin(repair_works, false);
    lg_stop(session);
    stay();
}

static void hook_stops(const char *point)
{
    if (strcmp(point, "ledger: before store") == 0)
        stay();
}

/* In the run file the launch is finished, in the ledger not yet. */
static void body_between_two_stores(void *argument)
{
    (void)argument;
    begin(repair_works, false);
    lg__fault_hook = hook_stops;
    lg_launch_finished(launch);
}

static void body_held_and_stopped(void *argument)
{
    (void)argument;
    begin(repair_works, true);
    lg_stop(session);
    stay();
}

static void body_of_version_2(void *argument)
{
    (void)argument;
    start_version("2.0");
}

static void body_launching(void *argument)
{
    (void)argument;
    begin(repair_works, false);
    stay();
}

static void body_finished(void *argument)
{
    body_finish(argument);
    stay();
}

static void body_repairing(void *argument)
{
    (void)argument;
    begin(repair_waits, false);
}

static void body_held(void *argument)
{
    (void)argument;
    begin(repair_works, true);
    stay();
}

static void start_living(void (*body)(void *), void *argument)
{
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    fflush(NULL);
    living = fork();
    assert_true(living >= 0);
    if (living == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        plain_signals();
        body(argument);
        _exit(97);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    /* A program that lives, but writes nothing while the test compares: its own threads may still
     * be preparing. */
    int status;
    kill(living, SIGSTOP);
    assert_int_equal(waitpid(living, &status, WUNTRACED), living);
    assert_true(WIFSTOPPED(status));
}

static int end_living(int signal)
{
    int status;
    kill(living, signal);
    kill(living, SIGCONT);
    assert_int_equal(waitpid(living, &status, 0), living);
    living = 0;
    return status;
}

/* ---- a directory, byte for byte ---- */

static uint32_t sum;

static int add_to_sum(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    static char bytes[1 << 21];
    (void)where;
    sum = lg__crc32c(sum, path, strlen(path));
    sum = lg__crc32c(sum, &info->st_mode, sizeof info->st_mode);
    sum = lg__crc32c(sum, &info->st_size, sizeof info->st_size);
    sum = lg__crc32c(sum, &info->st_ino, sizeof info->st_ino);
    sum = lg__crc32c(sum, &info->st_mtim, sizeof info->st_mtim);
    int file = kind == FTW_F ? open(path, O_RDONLY | O_NOFOLLOW) : -1;
    ssize_t size = file >= 0 ? read(file, bytes, sizeof bytes) : 0;
    sum = lg__crc32c(sum, bytes, size > 0 ? (size_t)size : 0);
    if (file >= 0)
        close(file);
    return 0;
}

static uint32_t sum_of(const char *directory)
{
    lg__crc32c_init();
    sum = 0;
    nftw(directory, add_to_sum, 16, FTW_PHYS);
    return sum;
}

#define query(expected) query_at(state_path(""), "main", expected, __LINE__)
static lg_launch_info query_at(const char *directory, const char *context, lg_status expected, int line)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    memset(&info, 0x55, sizeof info);
    info.size = sizeof info;
    lg_launch_info untouched = info;
    uint32_t before = sum_of(state_path(""));
    lg_status status = lg_launch_query(directory, context, NULL, &info);
    if (status != expected)
        fail_msg("line %d: %s, not %s", line, lg_status_name(status), lg_status_name(expected));
    if (sum_of(state_path("")) != before)
        fail_msg("line %d: the query changed the directory", line);
    if (status != LG_OK)
        assert_memory_equal(&info, &untouched, sizeof info);
    return info;
}

/* ---- query ---- */

static void test_of_the_living(void **state)
{
    (void)state;
    start_living(body_launching, NULL);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_CHECKING);
    assert_int_equal(query(LG_OK).launches, 1);
    query_at(state_path(""), "other", LG_ERR_NOT_FOUND, __LINE__);
    end_living(SIGKILL);
    assert_int_equal(query(LG_OK).unknown, 1);

    start_living(body_finished, NULL);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NORMAL);
    end_living(SIGKILL);
    assert_int_equal(query(LG_OK).unknown, 0);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NORMAL);

    start_living(body_between_two_stores, NULL);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NORMAL);
    end_living(SIGKILL);
    assert_int_equal(query(LG_OK).unknown, 0);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NORMAL);

    expect_signal(body_crash, NULL, SIGSEGV);
    expect_signal(body_crash, NULL, SIGSEGV);
    start_living(body_held, NULL);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NEEDS_REPAIR);
    end_living(SIGTERM);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NEEDS_REPAIR);
    start_living(body_repairing, NULL);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_REPAIRING);
    assert_int_equal(query(LG_OK).attempts, 1);
    end_living(SIGKILL);
    lg_launch_info info = query(LG_OK); /* the attempt is used up; one more is left */
    assert_int_equal(info.status, LG_LAUNCH_NEEDS_REPAIR);
    assert_int_equal(info.attempts, 1);
    assert_int_equal(info.repairs, 1);

    /* A session that was stopped is over, although its process lives. */
    state_make();
    start_living(body_stop, NULL);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NORMAL);
    end_living(SIGKILL);
    assert_int_equal(query(LG_OK).unknown, 0);
    expect_signal(body_crash, NULL, SIGSEGV);
    expect_signal(body_crash, NULL, SIGSEGV);
    start_living(body_held_and_stopped, NULL);
    /* the next launch would be held as well */
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NEEDS_REPAIR);
    end_living(SIGKILL);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NEEDS_REPAIR);
}

static void test_after_an_upgrade(void **state)
{
    (void)state;
    expect_signal(body_crash, NULL, SIGSEGV);
    expect_signal(body_crash, NULL, SIGSEGV);
    /* this program begins no launch: only the name and the totals are known */
    expect_exit(body_of_version_2, NULL, 0);
    lg_launch_info info = query(LG_OK);
    assert_int_equal(info.status, LG_LAUNCH_NORMAL);
    assert_int_equal(info.mode, LG_LAUNCH_MODE_NORMAL);
    assert_int_equal(info.streak, 0);
    assert_int_equal(info.due, 0);
    assert_int_equal(info.launches, 2);
}

/* The predicted state, and the state that the next start then reaches. */
static void test_of_the_dead(void **state)
{
    (void)state;
    expect_exit(body_finish, NULL, 0);
    lg_launch_info info = query(LG_OK);
    assert_int_equal(info.status, LG_LAUNCH_NORMAL);
    assert_int_equal(info.streak, 0);
    assert_int_equal(info.launches, 1);
    assert_int_equal(info.mode, LG_LAUNCH_MODE_NORMAL);

    expect_signal(body_crash, NULL, SIGSEGV);
    info = query(LG_OK);
    assert_int_equal(info.status, LG_LAUNCH_CHECKING);
    assert_int_equal(info.streak, 1);
    assert_int_equal(info.reported, 0); /* no report was made */
    assert_int_equal(info.crashes, 1);
    assert_int_equal(info.launches, 2);
    assert_int_equal(ledger_context("main").streak, 0); /* nothing is stored */

    expect_signal(body_crash, NULL, SIGSEGV);
    info = query(LG_OK);
    assert_int_equal(info.status, LG_LAUNCH_NEEDS_REPAIR);
    assert_int_equal(info.streak, 2);
    assert_int_equal(info.rung, 1); /* rung 0 would leave out a suspect task, but there is none */
    assert_int_equal(info.due, 1);

    expect_signal(body_crash, NULL, SIGSEGV); /* repaired, on probation, and it crashed again */
    assert_int_equal(ledger_context("main").mode, LG_LAUNCH_MODE_PROBATION);
    info = query(LG_OK);
    assert_int_equal(info.mode, LG_LAUNCH_MODE_SAFE); /* no rung is left */
    assert_int_equal(info.status, LG_LAUNCH_CHECKING);
    assert_int_equal(info.streak, 1);

    expect_signal(body_crash, NULL, SIGSEGV);
    assert_int_equal(ledger_context("main").mode, LG_LAUNCH_MODE_SAFE);
    assert_int_equal(query(LG_OK).safe_crashes, 1);
    expect_signal(body_crash, NULL, SIGSEGV);
    info = query(LG_OK);
    assert_int_equal(info.status, LG_LAUNCH_NEEDS_REPAIR);
    assert_int_equal(info.halted, 1);

    state_make();
    expect_signal(body_finish_and_crash, NULL, SIGSEGV);
    info = query(LG_OK);
    assert_int_equal(info.status, LG_LAUNCH_NORMAL);
    assert_int_equal(info.crashes, 0);

    expect_signal(body_kill, NULL, SIGKILL);
    assert_int_equal(query(LG_OK).unknown, 1);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_CHECKING);
    /* The status that a witness stored counts at once. */
    lg_run_info run;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    lg_reader_close(reader);
    assert_int_equal(lg_witness(state_path(""), run.pid, 0), LG_OK);
    assert_int_equal(query(LG_OK).unknown, 0);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NORMAL);
}

static void test_run_file_gone(void **state)
{
    (void)state;
    expect_signal(body_crash, NULL, SIGSEGV);
    assert_int_equal(unlink(newest_run_path()), 0);
    assert_int_equal(query(LG_OK).streak, 1); /* the ledger's own mark */
    state_make();
    start_living(body_launching, NULL);
    assert_int_equal(unlink(newest_run_path()), 0);
    assert_int_equal(query(LG_OK).unknown, 0); /* the program lives: the ledger names its owner */
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_CHECKING);
    end_living(SIGKILL);
    assert_int_equal(query(LG_OK).unknown, 1);
}

static void write_ledger(off_t at, const void *bytes, size_t size)
{
    int file = open(state_path("ledger.lg"), O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, bytes, size, at), size);
    close(file);
}

static void set_major(uint16_t major)
{
    struct lg__header header;
    int file = open(state_path("ledger.lg"), O_RDWR);
    assert_int_equal(pread(file, &header, sizeof header, 0), sizeof header);
    header.major = major;
    header.crc = lg__crc32c(0, &header, offsetof(struct lg__header, crc));
    assert_int_equal(pwrite(file, &header, sizeof header, 0), sizeof header);
    close(file);
}

static void test_of_nothing(void **state)
{
    (void)state;
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_launch_query(NULL, "main", NULL, &info), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_query("", "main", NULL, &info), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_query(state_path(""), NULL, NULL, &info), LG_ERR_ARGUMENT);
    assert_int_equal(lg_launch_query(state_path(""), "main", NULL, NULL), LG_ERR_ARGUMENT);
    query(LG_ERR_NOT_FOUND); /* no ledger */
    query_at(state_path("nowhere"), "main", LG_ERR_NOT_FOUND, __LINE__);
    expect_exit(body_finish, NULL, 0);
    query_at(state_path("ledger.lg"), "main", LG_ERR_NOT_FOUND, __LINE__); /* not a directory */

    char zeros[4096] = { 0 };
    write_ledger(0, zeros, sizeof zeros);
    query(LG_ERR_DAMAGED);
    for (off_t size = 0; size < 16384; size += 4096) {
        state_make();
        expect_exit(body_finish, NULL, 0);
        assert_int_equal(truncate(state_path("ledger.lg"), size), 0);
        query(LG_ERR_DAMAGED);
    }
    state_make();
    expect_exit(body_finish, NULL, 0);
    set_major(LG__LEDGER_MAJOR + 1);
    query(LG_ERR_NEWER);
    set_major(0);
    query(LG_ERR_DAMAGED);
    set_major(LG__LEDGER_MAJOR);
    query(LG_OK);
    assert_int_equal(rename(state_path("ledger.lg"), state_path("other")), 0);
    assert_int_equal(symlink("other", state_path("ledger.lg")), 0);
    query(LG_ERR_LINK);
    assert_int_equal(unlink(state_path("ledger.lg")), 0);
    assert_int_equal(mkdir(state_path("ledger.lg"), 0700), 0);
    query(LG_ERR_DAMAGED);
}

static void body_query_as_nobody(void *argument)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(90);
    _exit(lg_launch_query(state_path(""), "main", NULL, &info) == *(lg_status *)argument ? 0 : 1);
}

static void test_of_another_user(void **state)
{
    (void)state;
    skip_without_two_users();
    lg_status expected = LG_ERR_PERMISSION;
    expect_signal(body_crash, NULL, SIGSEGV);
    expect_exit(body_query_as_nobody, &expected, 0);
    /* Every user who may read the files may query. */
    assert_int_equal(chmod(state_path(""), 0755), 0);
    assert_int_equal(chmod(state_path("ledger.lg"), 0644), 0);
    expected = LG_OK;
    expect_exit(body_query_as_nobody, &expected, 0);
    /* Root may query the programs of every user. */
    assert_int_equal(chown(state_path("ledger.lg"), 65534, 65534), 0);
    assert_int_equal(query(LG_OK).streak, 1);
}

/* ---- the state directory ---- */

static void test_state_directory(void **state)
{
    (void)state;
    char path[4096], small[8] = "1234567";
    setenv("STATE_DIRECTORY", "/var/lib/one:/var/lib/two", 1);
    setenv("XDG_STATE_HOME", "/x", 1);
    setenv("HOME", "/h", 1);
    assert_int_equal(lg_state_directory("org.example.test", path, sizeof path), LG_OK);
    assert_string_equal(path, "/var/lib/one");
    unsetenv("STATE_DIRECTORY");
    assert_int_equal(lg_state_directory("org.example.test", path, sizeof path), LG_OK);
    assert_string_equal(path, "/x/org.example.test");
    setenv("XDG_STATE_HOME", "relative", 1);
    assert_int_equal(lg_state_directory("org.example.test", path, sizeof path), LG_OK);
    assert_string_equal(path, "/h/.local/state/org.example.test");
    assert_int_equal(lg_state_directory("org.example.test", small, sizeof small), LG_ERR_LIMIT);
    assert_string_equal(small, "1234567");
    assert_int_equal(lg_state_directory("a", path, strlen("/h/.local/state/a")), LG_ERR_LIMIT);
    assert_int_equal(lg_state_directory("a", path, strlen("/h/.local/state/a") + 1), LG_OK);
    assert_int_equal(lg_state_directory("a b", path, sizeof path), LG_ERR_OPTION);
    assert_int_equal(lg_state_directory("", path, sizeof path), LG_ERR_OPTION);
    assert_int_equal(lg_state_directory(NULL, path, sizeof path), LG_ERR_ARGUMENT);
    assert_int_equal(lg_state_directory("a", NULL, sizeof path), LG_ERR_ARGUMENT);
    assert_int_equal(lg_state_directory("a", path, 0), LG_ERR_ARGUMENT);
    unsetenv("HOME");
    unsetenv("XDG_STATE_HOME");
    assert_int_equal(lg_state_directory("a", path, sizeof path), LG_ERR_NO_DIRECTORY);
}

/* ---- roles ---- */

static lg_status start_role(const char *directory, const char *role)
{
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.test";
    options.app_version = "1.0";
    options.state_directory = directory;
    options.role = role;
    return lg_start(&options, &session);
}

static void body_role_crashes(void *argument)
{
    if (start_role(state_path("a/b"), argument) != LG_OK || lg_session_protection(session) != LG_PROTECTION_FULL)
        _exit(90);
    char expected[2048];
    snprintf(expected, sizeof expected, "%s/%s", state_path("a/b"), (const char *)argument);
    if (argument && strcmp(lg_session_state_directory(session), expected) != 0)
        _exit(91);
    lg_launch_prepare(session, "main", NULL, &launch);
    lg_launch_begin(launch);
    crash();
}

static void body_role_lives(void *argument)
{
    if (start_role(state_path("a/b"), argument) != LG_OK || lg_session_protection(session) != LG_PROTECTION_FULL)
        _exit(90);
    lg_launch_prepare(session, "main", NULL, &launch);
    lg_launch_begin(launch);
    lg_launch_finished(launch);
    stay();
}

static void body_role_is_secondary(void *argument)
{
    _exit(start_role(state_path("a/b"), argument) == LG_ERR_SECONDARY ? 0 : 1);
}

static void test_roles(void **state)
{
    (void)state;
    /* A directory for a role alone: its parents are made as well. */
    expect_signal(body_role_crashes, "worker", SIGSEGV);
    assert_int_equal(query_at(state_path("a/b/worker"), "main", LG_OK, __LINE__).streak, 1);
    query_at(state_path("a/b"), "main", LG_ERR_NOT_FOUND, __LINE__);
    /* A secondary process beside a living primary one, with counters of its own. */
    start_living(body_role_lives, NULL);
    expect_signal(body_role_crashes, "worker", SIGSEGV);
    expect_signal(body_role_crashes, "helper.2", SIGSEGV);
    expect_exit(body_role_is_secondary, NULL, 0);
    assert_int_equal(query_at(state_path("a/b"), "main", LG_OK, __LINE__).status, LG_LAUNCH_NORMAL);
    assert_int_equal(query_at(state_path("a/b"), "main", LG_OK, __LINE__).streak, 0);
    assert_int_equal(query_at(state_path("a/b/worker"), "main", LG_OK, __LINE__).streak, 2);
    assert_int_equal(query_at(state_path("a/b/helper.2"), "main", LG_OK, __LINE__).streak, 1);
    end_living(SIGTERM);
    start_living(body_role_lives, "worker");
    expect_exit(body_role_is_secondary, "worker", 0);
    end_living(SIGTERM);
}

static void body_bad_role(void *argument)
{
    _exit(start_role(state_path(""), argument) == LG_ERR_OPTION && strstr(lg_session_message(session), "role") ? 0 : 1);
}

static void body_role_of_a_link(void *argument)
{
    lg_status status = start_role(argument, "worker");
    _exit(status == LG_ERR_LINK ? 0 : 1);
}

static void body_role_by_environment(void *argument)
{
    setenv("STATE_DIRECTORY", argument, 1);
    if (start_role(NULL, "worker") != LG_OK)
        _exit(1);
}

static void test_roles_that_make_no_sense(void **state)
{
    (void)state;
    static const char *const bad[] = { "", ".", "..", ".hidden", "runs", "ledger.lg", "ledger.lg.new-1", "a/b", "a b", "\xc3\xa4",
                                       "1234567890123456789012345678901234567890123456789012345678901234" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_exit(body_bad_role, (void *)(uintptr_t)bad[i], 0);
    assert_int_equal(count_runs(), 0);
    /* The folder may not be a link, whoever owns it. */
    assert_int_equal(mkdir(state_path("real"), 0700), 0);
    assert_int_equal(symlink("real", state_path("worker")), 0);
    expect_exit(body_role_of_a_link, (void *)(uintptr_t)state_path(""), 0);
    expect_exit(body_role_by_environment, (void *)(uintptr_t)state_path("real"), 0);
    assert_int_equal(access(state_path("real/worker/ledger.lg"), F_OK), 0);
}

/* ---- a second process ---- */

static void body_second(void *argument)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "org.example.test";
    options.state_directory = state_path("");
    if (lg_start(&options, &session) != LG_ERR_SECONDARY || lg_launch_prepare(session, "main", NULL, &launch) != LG_ERR_SECONDARY)
        _exit(90);
    lg_launch_begin(launch);
    if (lg_launch_query(lg_session_state_directory(session), "main", NULL, &info) != LG_OK || info.status != LG_LAUNCH_CHECKING)
        _exit(91);
    if (lg_will_terminate(session) != LG_OK)
        _exit(92);
    if (argument)
        crash();
    raise(SIGKILL);
}

static void test_second_process(void **state)
{
    (void)state;
    start_living(body_launching, NULL);
    expect_signal(body_second, "crashes", SIGSEGV);
    lg_verdict verdict;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    lg_reader_close(reader);
    assert_int_equal(verdict.end, LG_END_CRASH);
    expect_signal(body_second, NULL, SIGKILL);
    reader = newest_run();
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    lg_reader_close(reader);
    assert_int_equal(verdict.evidence, LG_EVIDENCE_TERMINATION_ANNOUNCED);
    /* The announcement of a secondary process is not the primary's. */
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_CHECKING);
    end_living(SIGKILL);
    assert_int_equal(query(LG_OK).unknown, 1);
    assert_int_equal(query(LG_OK).crashes, 0);
}

/* A program of another version has another structure: what both know is filled in. */
static void test_structure_of_another_version(void **state)
{
    (void)state;
    struct {
        lg_launch_info info;
        uint64_t later;
    } newer = { .info.size = sizeof newer, .later = 77 };
    lg_launch_info older = { .size = sizeof older - 8, .streak = 99 };
    expect_signal(body_crash, NULL, SIGSEGV);
    assert_int_equal(lg_launch_query(state_path(""), "main", NULL, &newer.info), LG_OK);
    assert_int_equal(newer.info.size, sizeof newer);
    assert_int_equal(newer.info.streak, 1);
    assert_int_equal(newer.later, 77);
    /* none was smaller yet */
    assert_int_equal(lg_launch_query(state_path(""), "main", NULL, &older), LG_ERR_ARGUMENT);
    assert_int_equal(older.streak, 99);
}

/* ---- thresholds of the asker ---- */

static lg_launch_info query_by(const lg_launch_options *options)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_launch_query(state_path(""), "main", options, &info), LG_OK);
    return info;
}

static void test_thresholds_of_the_asker(void **state)
{
    (void)state;
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    expect_signal(body_crash, NULL, SIGSEGV);
    lg_launch_info info = query(LG_OK);
    assert_int_equal(info.status, LG_LAUNCH_CHECKING);
    assert_int_equal(info.repair_after, 2);
    assert_int_equal(info.window_ms, 0); /* as begin_launch() has it */
    assert_int_equal(info.finish, LG_FINISH_EITHER);
    options.repair_after = 1;
    options.window_ms = 70;
    options.finish = LG_FINISH_BOTH;
    info = query_by(&options);
    assert_int_equal(info.status, LG_LAUNCH_NEEDS_REPAIR);
    assert_int_equal(info.repair_after, 1);
    assert_int_equal(info.window_ms, 70);
    assert_int_equal(info.finish, LG_FINISH_BOTH);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_CHECKING);
    options.repair_after = 0;
    assert_int_equal(lg_launch_query(state_path(""), "main", &options, &info), LG_ERR_OPTION);
}

/* ---- reset ---- */

static void test_reset(void **state)
{
    (void)state;
    assert_int_equal(lg_launch_reset(state_path("nowhere"), NULL), LG_ERR_NOT_FOUND);
    assert_int_equal(access(state_path("nowhere"), F_OK), -1);
    assert_int_equal(lg_launch_reset(state_path(""), "main"), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_launch_reset(NULL, "main"), LG_ERR_ARGUMENT);
    expect_signal(body_crash, NULL, SIGSEGV);
    expect_signal(body_crash, NULL, SIGSEGV);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NEEDS_REPAIR);
    assert_int_equal(lg_launch_reset(state_path(""), "other"), LG_ERR_NOT_FOUND);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_NEEDS_REPAIR);
    assert_int_equal(lg_launch_reset(state_path(""), "main"), LG_OK);
    lg_launch_info info = query(LG_OK); /* the last crash is forgotten as well */
    assert_int_equal(info.status, LG_LAUNCH_NORMAL);
    assert_int_equal(info.streak, 0);
    assert_int_equal(info.launches, 2);
    assert_int_equal(info.crashes, 1);
    expect_signal(body_crash, NULL, SIGSEGV); /* counting goes on, fully protected */
    assert_int_equal(query(LG_OK).streak, 1);
    assert_int_equal(lg_launch_reset(state_path(""), NULL), LG_OK);
    assert_int_equal(query(LG_OK).streak, 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(lg_launch_reset(state_path(""), NULL), LG_OK); /* nothing is used up */

    start_living(body_launching, NULL);
    assert_int_equal(lg_launch_reset(state_path(""), "main"), LG_ERR_SECONDARY);
    assert_int_equal(query(LG_OK).status, LG_LAUNCH_CHECKING);
    end_living(SIGKILL);
}

static unsigned mappings(void)
{
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    for (int c; (c = fgetc(maps)) != EOF;)
        count += c == '\n';
    fclose(maps);
    return count;
}

static void test_reset_leaves_nothing_behind(void **state)
{
    (void)state;
    expect_signal(body_crash, NULL, SIGSEGV);
    lg_launch_reset(state_path(""), NULL);
    int first = dup(0);
    unsigned before = mappings();
    for (int i = 0; i < 50; i++)
        assert_int_equal(lg_launch_reset(state_path(""), NULL), LG_OK);
    int last = dup(0);
    assert_int_equal(last, first + 1);
    assert_true(mappings() < before + 10);
    close(first);
    close(last);
}

int main(void)
{
    #define QUERY_TEST(function) cmocka_unit_test_setup_teardown(function, make_state, clean)
    const struct CMUnitTest tests[] = {
        QUERY_TEST(test_of_the_living),  QUERY_TEST(test_of_the_dead),
        QUERY_TEST(test_after_an_upgrade),
        QUERY_TEST(test_run_file_gone),  QUERY_TEST(test_of_nothing),
        QUERY_TEST(test_of_another_user),
        QUERY_TEST(test_state_directory), QUERY_TEST(test_roles),
        QUERY_TEST(test_roles_that_make_no_sense), QUERY_TEST(test_second_process),
        QUERY_TEST(test_structure_of_another_version),
        WITH_STATE(test_thresholds_of_the_asker),
        WITH_STATE(test_reset),
        WITH_STATE(test_reset_leaves_nothing_behind),
    };
    return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
