/* The file of the oldest ended run becomes the file of the next run: after a start that dies at any
 * step, and for runs whose files must not be taken. */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"

#define KEEP 3u
/* Starts until the first one that finds a run too many and lists the others: the next one takes the
 * file of the second run. */
#define FIRST_LISTS (KEEP + 2)

static const char *fatal_point;

static void die_there(const char *point)
{
    if (fatal_point && strcmp(point, fatal_point) == 0)
        kill(getpid(), SIGKILL);
}

static lg_session *start_keeping(uint32_t runs)
{
    lg_options options = LG_OPTIONS_INIT;
    options.keep_runs = runs;
    return start_with(options);
}

/* One run, with something in each part that a clean run fills. */
static void body_run(void *argument)
{
    fatal_point = argument;
    lg__fault_hook = die_there;
    lg_session *session = start_keeping(KEEP);
    lg_log_write(session, LG_LEVEL_INFO, "a run", 5);
    lg_annotate(session, "key", "value");
}

static void body_crash(void *argument)
{
    body_run(argument);
    crash();
}

static void runs(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        expect_exit(body_run, NULL, 0);
}

/* ---- what is there ---- */

static ino_t inode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_ino;
}

static const char *path_numbered(uint64_t ordinal)
{
    static char path[4096];
    char prefix[16];
    struct dirent *entry;
    const char *found = NULL;
    snprintf(prefix, sizeof prefix, "%08llu-", (unsigned long long)ordinal);
    DIR *stream = opendir(state_path("runs"));
    assert_non_null(stream);
    while ((entry = readdir(stream)))
        if (strncmp(entry->d_name, prefix, 9) == 0 && strcmp(entry->d_name + strlen(entry->d_name) - 6, ".lgrun") == 0) {
            snprintf(path, sizeof path, "%s/%s", state_path("runs"), entry->d_name);
            found = path;
        }
    closedir(stream);
    return found;
}

static uint64_t magic_of(const char *path)
{
    uint64_t magic = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(read(file, &magic, sizeof magic), sizeof magic);
    close(file);
    return magic;
}

static void see_block(const char *block, lg_status status, const char *detail, void *user)
{
    (void)user;
    if (status == LG_ERR_DAMAGED)
        fail_msg("%s is damaged: %s", block, detail);
}

/* Every run file is whole, and its name is its own. Returns the number of those that were never
 * completed. */
static unsigned check_all(void)
{
    unsigned without_magic = 0;
    struct dirent *entry;
    DIR *stream = opendir(state_path("runs"));
    assert_non_null(stream);
    while ((entry = readdir(stream))) {
        char path[4096];
        lg_reader *reader;
        lg_run_info info;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", state_path("runs"), entry->d_name);
        if (magic_of(path) == 0) {
            without_magic++;
            continue;
        }
        assert_int_equal(lg_reader_open(path, &reader), LG_OK);
        assert_int_equal(lg_reader_run(reader, &info), LG_OK);
        assert_non_null(strstr(entry->d_name, info.uuid));
        assert_int_equal(strtoull(entry->d_name, NULL, 10), info.ordinal);
        lg_reader_verify(reader, see_block, NULL);
        lg_reader_close(reader);
    }
    closedir(stream);
    return without_magic;
}

/* ---- tests ---- */

static void test_takes_the_oldest(void **state)
{
    (void)state;
    runs(FIRST_LISTS);
    assert_int_equal(count_runs(), KEEP + 1);
    ino_t oldest = inode_of(path_numbered(2));
    runs(1);
    assert_null(path_numbered(2));
    assert_int_equal(inode_of(newest_run_path()), oldest);
    /* through several lists */
    runs(3 * 16 + 5);
    assert_int_equal(count_runs(), KEEP + 1);
    check_all();
}

static uint64_t bytes_on_disk(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return (uint64_t)info.st_blocks * 512;
}

static bool can_give_back(void)
{
    int file = open(state_path("tried"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(file, 65536), 0);
    bool can = fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0;
    close(file);
    return can;
}

static void body_lives_and_looks(void *argument)
{
    uint64_t *living = argument;
    body_run(NULL);
    *living = bytes_on_disk(newest_run_path());
}

/* A run that ends cleanly gives back what it did not use; a living one has all its blocks. */
static void test_clean_run_is_small(void **state)
{
    (void)state;
    uint64_t *living = shared_memory(sizeof *living);
    runs(FIRST_LISTS);
    expect_exit(body_lives_and_looks, living, 0); /* in the file of a run that gave them back */
    struct stat info;
    assert_int_equal(stat(newest_run_path(), &info), 0);
    assert_within(*living, info.st_size, info.st_size + 65536);
    uint64_t ended = bytes_on_disk(newest_run_path());
    if (!can_give_back()) {
        print_message("the file system of %s cannot give back a part of a file\n", state_path(""));
        skip();
    }
    assert_within(ended, 4096, 262144);
    check_all();
}

static void body_is_read(void *argument)
{
    char page[4096];
    (void)argument;
    body_run(NULL);
    int file = open(newest_run_path(), O_RDONLY | O_CLOEXEC);
    struct stat info;
    assert_int_equal(fstat(file, &info), 0);
    assert_int_equal(pread(file, page, sizeof page, info.st_size / 2 & ~4095), sizeof page);
    close(file);
}

/* What a reader sees of the part that a run does not use is no data of the run. */
static void test_reader_leaves_nothing(void **state)
{
    (void)state;
    runs(FIRST_LISTS);
    expect_exit(body_is_read, NULL, 0);
    int file = open(newest_run_path(), O_RDONLY | O_CLOEXEC);
    struct stat info;
    assert_int_equal(fstat(file, &info), 0);
    if (!can_give_back()) {
        print_message("the file system of %s cannot give back a part of a file\n", state_path(""));
        skip();
    }
    assert_int_equal(lseek(file, info.st_size / 2 & ~4095, SEEK_DATA), -1);
    assert_int_equal(errno, ENXIO);
    close(file);
}

/* Nothing of a crash is left in the file: the next run that has it shows none. */
static void test_leaves_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FIRST_LISTS; i++) /* a clean run would give way before them */
        expect_signal(body_crash, NULL, SIGSEGV);
    ino_t crashed = inode_of(path_numbered(2));
    runs(1);
    lg_reader *reader = newest_run();
    lg_crash_info info;
    assert_int_equal(inode_of(newest_run_path()), crashed);
    assert_int_equal(lg_reader_crash(reader, &info), LG_ERR_NOT_FOUND);
    assert_true(log_has(reader, "a run"));
    lg_reader_close(reader);
    check_all();
}

/* A crash outlives any number of clean runs, and gives way to later crashes. */
static void test_crash_is_kept(void **state)
{
    (void)state;
    lg_crash_info info;
    runs(1);
    expect_signal(body_crash, NULL, SIGSEGV);
    runs(3 * 16 + 5);
    lg_reader *reader;
    assert_int_equal(lg_reader_open(path_numbered(2), &reader), LG_OK);
    assert_int_equal(lg_reader_crash(reader, &info), LG_OK);
    assert_int_equal(info.signal, SIGSEGV);
    lg_reader_close(reader);
    assert_int_equal(count_runs(), KEEP + 1);
    for (unsigned i = 0; i <= KEEP; i++)
        expect_signal(body_crash, NULL, SIGSEGV);
    assert_null(path_numbered(2));
    check_all();
}

static void test_dies_meanwhile(void **state)
{
    static const char *const points[] = { "recycle: taken", "recycle: without magic", "recycle: cleared",
                                          "recycle: renamed", "run: filled", "retention: listed" };
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        /* a list is made at the first start, and again where the last one ends */
        unsigned tries = 0;
        struct death death;
        do {
            death = run_child(body_run, (void *)(uintptr_t)points[i]);
            assert_false(death.late);
        } while (WIFEXITED(death.status) && ++tries < 40);
        if (!WIFSIGNALED(death.status))
            fail_msg("%s was never reached", points[i]);
        assert_int_equal(WTERMSIG(death.status), SIGKILL);
        assert_true(count_runs() <= KEEP + 2);
        assert_true(check_all() <= 1);
        runs(2);
        assert_true(check_all() <= 1);
        for (unsigned j = 0; j < 40 && check_all(); j++)
            runs(1); /* at the latest where all runs are looked at */
        assert_int_equal(check_all(), 0);
    }
    assert_int_equal(count_runs(), KEEP + 1);
}

/* A file of another size gives way, too. */
static void body_other_size(void *argument)
{
    lg_options options = LG_OPTIONS_INIT;
    options.keep_runs = KEEP;
    options.ring_bytes = (uint32_t)(uintptr_t)argument;
    start_with(options);
}

static void test_other_sizes(void **state)
{
    (void)state;
    for (uintptr_t i = 0; i < 20; i++) {
        expect_exit(body_other_size, (void *)(UINT64_C(4096) << i % 5), 0);
        assert_true(count_runs() <= KEEP + 1);
    }
    check_all();
}

static void test_is_being_read(void **state)
{
    (void)state;
    runs(FIRST_LISTS);
    lg_reader *reader = run_numbered(2);
    char uuid[37];
    lg_run_info info;
    assert_int_equal(lg_reader_run(reader, &info), LG_OK);
    memcpy(uuid, info.uuid, sizeof uuid);
    runs(2);
    assert_null(path_numbered(2)); /* it gave way, and another file was taken */
    assert_null(path_numbered(3));
    assert_int_equal(lg_reader_run(reader, &info), LG_OK);
    assert_string_equal(info.uuid, uuid);
    assert_true(log_has(reader, "a run"));
    lg_reader_close(reader);
    check_all();
}

/* A file that a start has taken is no more what its path says. The start is over while the reader
 * waits for the file. */
static char path[4096], away[4096 + 8];
static int taken;

static void end_start(const char *point)
{
    if (strcmp(point, "reader: waits for a start") != 0)
        return;
    lg__fault_hook = NULL;
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(flock(taken, LOCK_UN), 0);
}

static void test_was_taken(void **state)
{
    (void)state;
    lg_reader *reader;
    runs(1);
    snprintf(path, sizeof path, "%s", path_numbered(1));
    snprintf(away, sizeof away, "%s.away", path);
    taken = open(path, O_RDWR | O_CLOEXEC);
    assert_true(taken >= 0);
    assert_int_equal(flock(taken, LOCK_EX | LOCK_NB), 0);
    lg__fault_hook = end_start;
    assert_int_equal(lg_reader_open(path, &reader), LG_ERR_NOT_FOUND);
    assert_null(lg__fault_hook);
    assert_int_equal(lg_reader_open(away, &reader), LG_OK);
    lg_reader_close(reader);
    close(taken);
}

/* A run among the oldest whose process lives: a second one of the program, while the first ran. */
static int go_on[2];

static void body_lives(void *argument)
{
    char byte;
    lg_session *session;
    lg_options options = LG_OPTIONS_INIT;
    (void)argument;
    options.app_id = "org.example.test";
    options.state_directory = state_path("");
    close(go_on[1]);
    if (lg_start(&options, &session) != LG_ERR_SECONDARY)
        exit(1);
    if (read(go_on[0], &byte, 1) != 0)
        exit(2);
    lg_log_write(session, LG_LEVEL_INFO, "still here", 10);
}

static void body_first(void *argument)
{
    pid_t second = fork();
    if (second == 0) {
        wait_until(count_runs() > 1);
        body_lives(NULL);
        exit(0);
    }
    *(pid_t *)argument = second;
    start_keeping(KEEP);
    wait_until(count_runs() >= 3);
}

static void test_lives(void **state)
{
    (void)state;
    pid_t *second = shared_memory(sizeof *second);
    int status;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    assert_int_equal(pipe2(go_on, O_CLOEXEC), 0);
    runs(1);
    expect_exit(body_first, second, 0);
    assert_int_equal(count_runs(), 3);
    ino_t living = inode_of(path_numbered(3));
    runs(3 * KEEP);
    assert_non_null(path_numbered(3));
    assert_int_equal(inode_of(path_numbered(3)), living);
    close(go_on[0]);
    close(go_on[1]);
    assert_int_equal(waitpid(*second, &status, 0), *second);
    assert_int_equal(status, 0);
    lg_reader *reader = run_numbered(3);
    assert_true(log_has(reader, "still here"));
    lg_reader_close(reader);
    runs(20);
    assert_null(path_numbered(3));
    assert_int_equal(count_runs(), KEEP + 1);
    check_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_takes_the_oldest),
        WITH_STATE(test_clean_run_is_small),
        WITH_STATE(test_reader_leaves_nothing),
        WITH_STATE(test_leaves_nothing),
        WITH_STATE(test_crash_is_kept),
        WITH_STATE(test_dies_meanwhile),
        WITH_STATE(test_other_sizes),
        WITH_STATE(test_is_being_read),
        WITH_STATE(test_was_taken),
        WITH_STATE(test_lives),
    };
    return cmocka_run_group_tests_name("recycled_runs", tests, NULL, NULL);
}
