/* Undo: copies of the files that a repair changes, until a launch is good. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <launchguard/undo.h>

#include "os/fault_point.h"
#include "scripted_life.h"

/* Beside the state directory's files; removed with it. */
static const char *own(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/own/%s", state_path(""), name);
    return path;
}

static void put(const char *name, const char *text, mode_t mode)
{
    FILE *file = fopen(own(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(own(name), mode);
}

static const char *text_of(const char *name)
{
    static char text[64];
    FILE *file = fopen(own(name), "r");
    if (!file)
        return "absent";
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void make_files(void)
{
    mkdir(own(""), 0755);
    mkdir(own("library"), 0750);
    mkdir(own("library/deep"), 0700);
    put("index.db", "index", 0640);
    put("library/a", "one", 0644);
    put("library/deep/b", "two", 0600);
    assert_int_equal(symlink("/etc/passwd", own("library/link")), 0);
}

static int make(void **state)
{
    int status = life_make(state);
    make_files();
    return status;
}
#define WITH_FILES(function) cmocka_unit_test_setup_teardown(function, make, remove_state)

static void keep(lg_completion *done, const char *name)
{
    lg_status status = lg_completion_keep(done, own(name));
    if (status != LG_OK)
        tell("%s: %s", name, lg_status_name(status));
}

static void wipe(lg_completion *done, void *user)
{
    (void)user;
    tell("wipe");
    keep(done, "index.db");
    keep(done, "library");
    keep(done, "new.db");
    unlink(own("index.db"));
    unlink(own("library/a"));
    unlink(own("library/deep/b"));
    rmdir(own("library/deep"));
    put("new.db", "new", 0600);
    lg_complete(done, LG_OK);
}

static void undo(lg_completion *done, void *user)
{
    (void)user;
    tell("undo %s", lg_status_name(lg_completion_undo(done)));
    lg_complete(done, LG_OK);
}

static void add_repairs(lg_launch *launch)
{
    life_repair(launch, "wipe", wipe);
    life_repair(launch, "undo", undo);
}

#define UNDOES .options.on_status = NULL, .options.on_report = NULL, .no_repairs = true, .attempts = 1, .before = add_repairs

static void wipe_and_crash(void)
{
    for (int i = 0; i < 2; i++)
        lives(LIFE(UNDOES, .after = CRASH), SEGV, "a;b;");
    lives(LIFE(UNDOES, .after = CRASH), SEGV, "protect a;protect b;wipe;a;b;");
    assert_string_equal(text_of("index.db"), "absent");
    assert_string_equal(text_of("new.db"), "new");
}

static mode_t mode_of(const char *name)
{
    struct stat is;
    return stat(own(name), &is) == 0 ? is.st_mode & 07777 : 0;
}

static void expect_all_back(void)
{
    assert_string_equal(text_of("index.db"), "index");
    assert_string_equal(text_of("library/a"), "one");
    assert_string_equal(text_of("library/deep/b"), "two");
    assert_string_equal(text_of("new.db"), "absent");
    assert_int_equal(mode_of("index.db"), 0640);
    assert_int_equal(mode_of("library"), 0750);
    assert_int_equal(mode_of("library/deep"), 0700);
}

static void count_kinds(const lg_kept_file *kept, void *counts)
{
    ((unsigned *)counts)[kept->kind]++;
    assert_non_null(strstr(kept->path, "/own/"));
}

static lg_status list(unsigned counts[4])
{
    memset(counts, 0, 4 * sizeof *counts);
    return lg_undo_list(state_path(""), "main", count_kinds, counts);
}

/* The next rung puts back what the one before wiped. Then the launch is good, and the copies go. */
static void test_the_next_repair_puts_back(void **state)
{
    (void)state;
    unsigned counts[4];
    wipe_and_crash();
    assert_int_equal(list(counts), LG_OK);
    assert_int_equal(counts[LG_KEPT_FILE], 3);
    assert_int_equal(counts[LG_KEPT_DIRECTORY], 2);
    assert_int_equal(counts[LG_KEPT_ABSENT], 1);
    lives(LIFE(UNDOES, .after = FINISH), 0, "protect a;protect b;undo ok;a;b;");
    expect_all_back();
    assert_int_equal(list(counts), LG_ERR_NOT_FOUND);
    lives(LIFE(UNDOES, .after = FINISH), 0, "a;b;");
    assert_int_equal(access(state_path("kept/main.over"), F_OK), -1);
}

/* From outside, also twice. In safe mode the copies stay. */
static void test_from_outside(void **state)
{
    (void)state;
    unsigned counts[4];
    wipe_and_crash();
    for (int times = 0; times < 2; times++) {
        assert_int_equal(lg_undo(state_path(""), "main"), LG_OK);
        expect_all_back();
    }
    assert_int_equal(lg_undo(state_path(""), "other"), LG_ERR_NOT_FOUND);
    lives(LIFE(UNDOES, .after = CRASH), SEGV, "protect a;protect b;undo ok;a;b;");
    lives(LIFE(UNDOES, .after = FINISH), 0, "a;b;");
    assert_int_equal(stored().mode, LG_LAUNCH_MODE_SAFE);
    assert_int_equal(list(counts), LG_OK);
}

/* The copy is that of before the trouble, not of what an earlier repair left. */
static void wipe_again(lg_completion *done, void *user)
{
    (void)user;
    keep(done, "index.db");
    put("index.db", "made anew", 0600);
    lg_complete(done, LG_ERR_FAILED);
}

static void add_wipes(lg_launch *launch)
{
    life_repair(launch, "one", wipe_again);
    life_repair(launch, "two", wipe_again);
}

static void test_the_first_copy_counts(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        lives(LIFE(UNDOES, .after = CRASH), SEGV, "a;b;");
    lives(LIFE(UNDOES, .before = add_wipes, .after = CRASH), SEGV, "protect a;protect b;a;b;");
    assert_int_equal(lg_undo(state_path(""), "main"), LG_OK);
    assert_string_equal(text_of("index.db"), "index");
}

/* ---- what is refused ---- */

static lg_completion *answered;

static void keep_wrongly(lg_completion *done, void *user)
{
    (void)user;
    answered = done;
    tell("%s", lg_status_name(lg_completion_keep(done, "")));
    tell("%s", lg_status_name(lg_completion_keep(NULL, own("index.db"))));
    tell("%s", lg_status_name(lg_completion_keep(done, own("none/none"))));
    int file = open(own("large"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (ftruncate(file, (off_t)LG_KEEP_BYTES_MAX + 1) != 0)
        tell("no large file");
    close(file);
    tell("%s", lg_status_name(lg_completion_keep(done, own(""))));
    unlink(own("large"));
    lg_complete(done, LG_OK);
}

static void keep_too_late(lg_launch *launch)
{
    (void)launch;
    tell("%s %s", lg_status_name(lg_completion_keep(answered, own("index.db"))), lg_status_name(lg_completion_undo(answered)));
    crash();
}

static void add_wrong(lg_launch *launch)
{
    life_repair(launch, "wrong", keep_wrongly);
}

static void test_refused(void **state)
{
    (void)state;
    unsigned counts[4];
    for (int i = 0; i < 2; i++)
        lives(LIFE(UNDOES, .after = CRASH), SEGV, "a;b;");
    lives(LIFE(UNDOES, .before = add_wrong, .then = keep_too_late), SEGV, "protect a;protect b;argument;argument;system;limit;a;b;state state;");
    assert_int_equal(list(counts), LG_ERR_NOT_FOUND);
    assert_int_equal(lg_undo(NULL, "main"), LG_ERR_ARGUMENT);
    assert_int_equal(lg_undo(state_path("none"), "main"), LG_ERR_NOT_FOUND);
}

/* Descriptions are the word of whoever wrote them: one that is damaged is passed over. */
static void test_damaged(void **state)
{
    (void)state;
    wipe_and_crash();
    char command[1024];
    snprintf(command, sizeof command, "cd '%s/kept/main' && for f in *.about; do printf x | dd of=$f bs=1 seek=60 conv=notrunc status=none; done", state_path(""));
    assert_int_equal(system(command), 0);
    assert_int_equal(lg_undo(state_path(""), "main"), LG_ERR_NOT_FOUND);
    assert_string_equal(text_of("new.db"), "new");
}

/* ---- killed at each step ---- */

static int steps_left;

static void dies_at_step(const char *point)
{
    if (strncmp(point, "kept: ", 6) == 0 && --steps_left == 0)
        raise(SIGKILL);
}

static void wipe_and_die(lg_completion *done, void *user)
{
    lg__fault_hook = dies_at_step;
    wipe(done, user);
}

static void add_dying(lg_launch *launch)
{
    life_repair(launch, "wipe", wipe_and_die);
}

/* Nothing is wiped before its copy is whole, and the next attempt goes on. */
static void test_killed_while_keeping(void **state)
{
    (void)state;
    char again[1024];
    snprintf(again, sizeof again, "rm -rf '%s' '%s/kept'", own(""), state_path(""));
    for (int i = 0; i < 2; i++)
        lives(LIFE(UNDOES, .after = CRASH), SEGV, "a;b;");
    state_save();
    /* copy begins, copied, description begins, described of each of three files; three of each of
     * two directories and of an absence */
    for (int step = 1; step <= 22; step++) {
        state_restore();
        assert_int_equal(system(again), 0);
        make_files();
        steps_left = step;
        lives_somehow(LIFE(UNDOES, .attempts = 9, .before = add_dying, .after = FINISH, .options.report_after = 99), step <= 21 ? KILLED : 0);
        if (step == 22)
            break;
        lg_status status = lg_undo(state_path(""), "main");
        assert_true(status == LG_OK || status == LG_ERR_NOT_FOUND);
        expect_all_back();
    }
    assert_string_equal(text_of("index.db"), "absent");
}

static void body_puts_back(void *argument)
{
    (void)argument;
    lg__fault_hook = dies_at_step;
    lg_undo(state_path(""), "main");
}

/* Each file is the wiped one or the whole old one, and the next call finishes the work. */
static void test_killed_while_putting_back(void **state)
{
    (void)state;
    wipe_and_crash();
    for (int step = 1; step <= 6; step++) {
        put("index.db", "wiped", 0600);
        put("library/a", "wiped", 0600);
        steps_left = step;
        expect_signal(body_puts_back, NULL, SIGKILL);
        assert_true(strcmp(text_of("index.db"), "wiped") == 0 || strcmp(text_of("index.db"), "index") == 0);
        assert_true(strcmp(text_of("library/a"), "wiped") == 0 || strcmp(text_of("library/a"), "one") == 0);
        assert_int_equal(lg_undo(state_path(""), "main"), LG_OK);
        expect_all_back();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(test_the_next_repair_puts_back), WITH_FILES(test_from_outside), WITH_FILES(test_the_first_copy_counts), WITH_FILES(test_refused),
        WITH_FILES(test_damaged), WITH_FILES(test_killed_while_keeping), WITH_FILES(test_killed_while_putting_back),
    };
    return cmocka_run_group_tests_name("undo", tests, NULL, NULL);
}
