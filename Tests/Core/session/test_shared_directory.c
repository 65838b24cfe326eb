/* Two programs in one state directory, as a service and its ExecStartPre have it: neither touches
 * the counters of the other. */
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"

#define FIRST "org.example.first"
#define SECOND "org.example.second"

enum { SLOT_B = 57344 }; /* docs/FORMAT.md */

/* The actions of a program. */
struct life {
    const char *app_id, *version, *role;
    void (*ends)(void);
};

static lg_session *session;
static lg_launch *launch;
static int *repairs;

static void repair(lg_completion *completion, void *user)
{
    (void)user;
    ++*repairs;
    lg_complete(completion, LG_OK);
}

static void live(void *argument)
{
    const struct life *life = argument;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = life->app_id;
    options.app_version = life->version;
    options.role = life->role;
    session = start_with(options);
    lg_repair mend = LG_REPAIR_INIT;
    mend.name = "mend";
    mend.run = repair;
    if (lg_launch_prepare(session, "main", NULL, &launch) != LG_OK || lg_launch_add_repair(launch, &mend) != LG_OK || lg_launch_begin(launch) != LG_OK)
        _exit(98);
    if (life->ends)
        life->ends();
    lg_launch_finished(launch);
}

static struct life first = { FIRST, "1.0", NULL, NULL }, second = { SECOND, "7.0", NULL, NULL };

static void crashes(void)
{
    abort();
}

/* ---- what a ledger says ---- */

static lg_reader *open_ledger(const char *folder)
{
    char name[256];
    lg_reader *reader;
    snprintf(name, sizeof name, "%s/ledger.lg", folder);
    assert_int_equal(lg_reader_open(state_path(name), &reader), LG_OK);
    return reader;
}

static lg_launch_info launch_of(const char *folder)
{
    lg_launch_info info = LG_LAUNCH_INFO_INIT;
    lg_reader *reader = open_ledger(folder);
    assert_int_equal(lg_reader_ledger_context(reader, 0, &info), LG_OK);
    lg_reader_close(reader);
    return info;
}

/* All runs of the timeline are this program's, and ended so. */
static void expect_timeline(const char *folder, const struct life *life, lg_end end, uint32_t runs)
{
    lg_reader *reader = open_ledger(folder);
    lg_ledger_info info;
    lg_timeline_entry entry;
    assert_int_equal(lg_reader_ledger(reader, &info), LG_OK);
    assert_string_equal(info.app_id, life->app_id);
    assert_int_equal(info.timeline_count, runs);
    for (uint32_t i = 0; i < runs; i++) {
        assert_int_equal(lg_reader_timeline(reader, i, &entry), LG_OK);
        assert_string_equal(entry.app_version, life->version);
        assert_int_equal(entry.verdict.end, end);
    }
    lg_reader_close(reader);
}

/* ---- tests ---- */

static void test_alternate(void **state)
{
    (void)state;
    struct life looping = second;
    looping.ends = crashes;
    *repairs = 0;
    for (int i = 0; i < 4; i++) {
        expect_exit(live, &first, 0);
        expect_signal(live, &looping, SIGABRT);
        assert_int_equal(launch_of("").streak, 0);
    }
    expect_exit(live, &first, 0);
    assert_int_equal(launch_of("").streak, 0);
    assert_int_equal(launch_of("").launches, 5);
    expect_timeline("", &first, LG_END_CLEAN, 4);
    assert_int_equal(launch_of(SECOND).launches, 4);
    assert_true(*repairs > 0);
    assert_true(launch_of(SECOND).repairs > 0);
    expect_timeline(SECOND, &second, LG_END_CRASH, 3);
}

/* The same with the crashing one as the owner of the directory. */
static void test_owner_crashes(void **state)
{
    (void)state;
    struct life looping = first;
    looping.ends = crashes;
    *repairs = 0;
    for (int i = 0; i < 3; i++) {
        expect_signal(live, &looping, SIGABRT);
        expect_exit(live, &second, 0);
        assert_int_equal(launch_of(SECOND).streak, 0);
    }
    assert_true(*repairs > 0);
    expect_timeline("", &first, LG_END_CRASH, 2);
    expect_timeline(SECOND, &second, LG_END_CLEAN, 2);
}

static int ready[2];

static void tell_and_wait(void)
{
    (void)!write(ready[1], "x", 1);
    for (;;)
        pause();
}

/* While the first one lives the second one is no secondary of it. */
static void test_both_live(void **state)
{
    (void)state;
    char byte;
    int status;
    expect_exit(live, &first, 0);
    assert_int_equal(pipe(ready), 0);
    pid_t living = fork();
    if (living == 0) {
        struct life waits = first;
        waits.ends = tell_and_wait;
        plain_signals();
        live(&waits);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    expect_exit(live, &second, 0);
    expect_exit(live, &second, 0);
    kill(living, SIGKILL);
    assert_int_equal(waitpid(living, &status, 0), living);
    expect_timeline(SECOND, &second, LG_END_CLEAN, 1);
}

static void say_so(void)
{
    char path[4096], directory[4096];
    snprintf(directory, sizeof directory, "%s", state_path("."));
    setenv("STATE_DIRECTORY", directory, 1);
    bool is_said = strstr(lg_session_message(session), "another application") && strstr(lg_session_message(session), "/" SECOND);
    lg_status status = lg_state_directory(SECOND, path, sizeof path);
    strcat(directory, "/" SECOND);
    if (!is_said || status != LG_OK || strcmp(path, directory) != 0 || !strstr(lg_session_state_directory(session), "/" SECOND))
        _exit(97);
    status = lg_state_directory(FIRST, path, sizeof path);
    if (status != LG_OK || strcmp(path, state_path(".")) != 0)
        _exit(96);
}

static void test_says_so(void **state)
{
    (void)state;
    expect_exit(live, &first, 0);
    struct life says = second;
    says.ends = say_so;
    expect_exit(live, &says, 0);
    struct stat info;
    assert_int_equal(stat(state_path(SECOND), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    char command[4096];
    snprintf(command, sizeof command, "grep -q 'belongs to another application' '%s'/runs/*.lgrun", state_path(SECOND));
    assert_int_equal(system(command), 0);
}

static void test_new_version_is_an_upgrade(void **state)
{
    (void)state;
    struct life newer = first;
    newer.version = "1.1";
    expect_exit(live, &first, 0);
    expect_exit(live, &newer, 0);
    expect_timeline("", &first, LG_END_CLEAN, 1);
}

/* A ledger belongs to its application from the first byte on. */
static void die_early(const char *point)
{
    if (strcmp(point, "run: filled") == 0)
        raise(SIGKILL);
}

static void killed_in_first_start(void *argument)
{
    lg__fault_hook = die_early;
    live(argument);
}

static void test_owner_never_completed_a_start(void **state)
{
    (void)state;
    expect_signal(killed_in_first_start, &first, SIGKILL);
    expect_exit(live, &second, 0);
    expect_timeline(SECOND, &second, LG_END_CLEAN, 0);
}

/* A damaged ledger of another application stays where it is as long as one slot names the
 * application. */
static void test_damaged_ledger_of_another(void **state)
{
    (void)state;
    expect_exit(live, &first, 0);
    expect_exit(live, &first, 0);
    assert_int_equal(truncate(state_path("ledger.lg"), SLOT_B + 100), 0);
    expect_exit(live, &second, 0);
    struct stat info;
    assert_int_equal(stat(state_path("ledger.lg"), &info), 0);
    assert_int_equal(info.st_size, SLOT_B + 100);
    assert_int_equal(access(state_path(SECOND "/ledger.lg"), F_OK), 0);
}

/* The folder is a role's of the other application. */
static void test_folder_is_a_role(void **state)
{
    (void)state;
    struct life role = first;
    role.role = SECOND;
    expect_exit(live, &first, 0);
    expect_exit(live, &role, 0);
    expect_exit(live, &second, 0);
    expect_timeline(SECOND, &first, LG_END_CLEAN, 0);
    expect_timeline(SECOND "/" SECOND, &second, LG_END_CLEAN, 0);
    /* The second one's roles: the folder is free, so it is theirs. */
    role = second;
    role.role = "worker";
    expect_exit(live, &role, 0);
    expect_timeline("worker", &second, LG_END_CLEAN, 0);
}

static void start_named_runs(void *argument)
{
    (void)argument;
    lg_options options = LG_OPTIONS_INIT;
    options.app_id = "runs";
    options.state_directory = state_path("");
    lg_status status = lg_start(&options, &session);
    bool right = status == LG_ERR_OPTION && lg_session_protection(session) == LG_PROTECTION_NONE && strstr(lg_session_message(session), "state_directory");
    _exit(right ? 0 : 97);
}

static void test_no_folder_of_that_name(void **state)
{
    (void)state;
    expect_exit(live, &first, 0);
    expect_exit(start_named_runs, NULL, 0);
    expect_exit(live, &first, 0);
    expect_timeline("", &first, LG_END_CLEAN, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_alternate),
        WITH_STATE(test_owner_crashes),
        WITH_STATE(test_both_live),
        WITH_STATE(test_says_so),
        WITH_STATE(test_new_version_is_an_upgrade),
        WITH_STATE(test_owner_never_completed_a_start),
        WITH_STATE(test_damaged_ledger_of_another),
        WITH_STATE(test_folder_is_a_role),
        WITH_STATE(test_no_folder_of_that_name),
    };
    repairs = shared_memory(sizeof *repairs);
    return cmocka_run_group_tests_name("shared_directory", tests, NULL, NULL);
}
