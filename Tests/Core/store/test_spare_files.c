/* A file that a run left for the next one: the next run has it as a new one, and nobody has a file
 * that may be another's. */
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "store/crc32c.h"
#include "store/run.h"

static const struct lg__run_sizes usual = { .ring_bytes = 4096, .threads = 2, .stack_bytes = 4096 };
static const struct lg__run_sizes larger = { .ring_bytes = 16384, .threads = 2, .stack_bytes = 4096 };
static int directory;

static int setup(void **state)
{
    const int result = make_state(state);
    lg__crc32c_init();
    mkdir(state_path(""), 0700);
    directory = open(state_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return directory < 0 ? -1 : result;
}

static int teardown(void **state)
{
    lg__fault_hook = NULL;
    close(directory);
    return remove_state(state);
}

static struct lg__run make(const char *name, const struct lg__run_sizes *sizes)
{
    static const struct lg__identity identity = { .uuid = { 1 }, .ordinal = 7, .pid = 4711, .app_id = "org.example.spare" };
    struct lg__problem problem = { 0 };
    struct lg__run run;
    assert_int_equal(lg__run_create(directory, name, name, LG__RUN_SPARE, NULL, sizes, &identity, &run, &problem), LG_OK);
    return run;
}

/* As when its process ends. */
static void leave(struct lg__run *run)
{
    lg__map_abandon(&run->map);
    munmap(run->map.base, run->map.size);
}

static void set_aside(const char *name)
{
    char path[4096], spare[4096];
    snprintf(path, sizeof path, "%s/%s", state_path(""), name);
    snprintf(spare, sizeof spare, "%s/" LG__RUN_SPARE, state_path(""));
    lg__map_set_aside(path, spare);
}

/* A run that wrote everywhere, and whose file is the spare one. Returns its inode. */
static ino_t spare_of(const char *name)
{
    struct lg__run run = make(name, &usual);
    struct stat info;
    memset(run.map.base, 0xff, run.map.size);
    assert_int_equal(fstat(run.map.file, &info), 0);
    set_aside(name);
    assert_int_equal(unlinkat(directory, name, 0), 0);
    leave(&run);
    return info.st_ino;
}

/* 0: there is none. */
static ino_t inode_of(const char *name)
{
    struct stat info;
    return fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_ino : 0;
}

static void test_is_as_a_new_one(void **state)
{
    (void)state;
    const ino_t spare = spare_of("old");
    struct lg__run next = make("next", &usual), fresh = make("fresh", &usual);
    assert_int_equal(inode_of("next"), spare);
    assert_int_not_equal(inode_of("fresh"), spare);
    assert_int_equal(inode_of(LG__RUN_SPARE), 0);
    assert_int_equal(next.map.size, fresh.map.size);
    assert_memory_equal(next.map.base, fresh.map.base, fresh.map.size);
    leave(&next);
    leave(&fresh);
}

/* Its process has not ended yet. */
static void test_is_held(void **state)
{
    (void)state;
    struct lg__run living = make("living", &usual);
    const ino_t inode = inode_of("living");
    set_aside("living");
    assert_int_equal(unlinkat(directory, "living", 0), 0);
    struct lg__run beside = make("beside", &usual);
    assert_int_not_equal(inode_of("beside"), inode);
    assert_int_equal(inode_of(LG__RUN_SPARE), inode);
    leave(&living);
    struct lg__run after = make("after", &usual);
    assert_int_equal(inode_of("after"), inode);
    leave(&beside);
    leave(&after);
}

/* The first one stays; the second run has its own name to lose. */
static void test_one_is_enough(void **state)
{
    (void)state;
    const ino_t spare = spare_of("first");
    struct lg__run living = make("living", &larger);
    assert_int_equal(inode_of(LG__RUN_SPARE), 0); /* of another size: it gave way */
    leave(&living);
    assert_int_not_equal(spare, 0);
    const ino_t second = spare_of("second");
    struct lg__run third = make("third", &usual);
    assert_int_equal(inode_of("third"), second);
    struct lg__run fourth = make("fourth", &usual);
    set_aside("third");
    set_aside("fourth");
    assert_int_equal(inode_of(LG__RUN_SPARE), second);
    leave(&third);
    leave(&fourth);
}

/* A process died between the two names of its file: the run keeps it. */
static void test_two_names(void **state)
{
    (void)state;
    struct lg__run run = make("run", &usual);
    const ino_t inode = inode_of("run");
    set_aside("run");
    leave(&run);
    struct lg__run next = make("next", &usual);
    assert_int_not_equal(inode_of("next"), inode);
    assert_int_equal(inode_of("run"), inode);
    assert_int_equal(inode_of(LG__RUN_SPARE), 0);
    leave(&next);
}

static void take_meanwhile(const char *point)
{
    if (strcmp(point, "recycle: opened") == 0)
        assert_int_equal(renameat(directory, LG__RUN_SPARE, directory, "taken"), 0);
}

/* Another start took the file after this one had opened it, and its process has died since. */
static void test_taken_meanwhile(void **state)
{
    (void)state;
    const ino_t spare = spare_of("old");
    lg__fault_hook = take_meanwhile;
    struct lg__run run = make("run", &usual);
    lg__fault_hook = NULL;
    assert_int_not_equal(inode_of("run"), spare);
    assert_int_equal(inode_of("taken"), spare);
    uint64_t content;
    int file = openat(directory, "taken", O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(file, &content, sizeof content, 0), sizeof content);
    assert_true(content == UINT64_MAX);
    close(file);
    leave(&run);
}

static const char *fatal_point;

static void die_there(const char *point)
{
    if (strcmp(point, fatal_point) == 0)
        kill(getpid(), SIGKILL);
}

static void body_of_two(void *point)
{
    fatal_point = point;
    lg__fault_hook = die_there;
    (void)spare_of("old");
    (void)make("next", &usual);
}

static void test_dies_meanwhile(void **state)
{
    static const char *const points[] = { "set aside: linked", "recycle: opened", "recycle: taken", "recycle: without magic", "recycle: cleared",
                                          "recycle: renamed" };
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        expect_signal(body_of_two, (void *)(uintptr_t)points[i], SIGKILL);
        unlinkat(directory, "old", 0);
        unlinkat(directory, "next", 0);
        struct lg__run next = make("next", &usual), fresh = make("fresh", &usual);
        assert_memory_equal(next.map.base, fresh.map.base, fresh.map.size);
        unlinkat(directory, "next", 0);
        unlinkat(directory, "fresh", 0);
        leave(&next);
        leave(&fresh);
        unlinkat(directory, LG__RUN_SPARE, 0);
    }
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(test_is_as_a_new_one), WITH_DIRECTORY(test_is_held), WITH_DIRECTORY(test_one_is_enough), WITH_DIRECTORY(test_two_names),
        WITH_DIRECTORY(test_taken_meanwhile), WITH_DIRECTORY(test_dies_meanwhile),
    };
    return cmocka_run_group_tests_name("spare_files", tests, NULL, NULL);
}
