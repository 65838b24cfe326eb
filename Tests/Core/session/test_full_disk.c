/* A program that crashes in each launch, on a file system that has no room: counting, report and
 * repair go on, and each crash leaves as much of a record as there is space for. */
#include "harness.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/format.h"

#define REPAIR_AFTER 3
#define ROUNDS 12 /* crash loops of one program on one file system */
#define NO_NAMESPACE 90
#define WRONG 91

/* Results of the starts of one round. */
static struct seen {
    uint32_t reports, repairs, streak;
    lg_status status;
    lg_protection protection;
    char run[4096];
} *seen;

#define REQUIRE(condition)                                                                                                         \
    do {                                                                                                                           \
        if (!(condition)) {                                                                                                        \
            fprintf(stderr, "not true: %s (line %d; %s, protection %d, %u reports, %u repairs, streak %u)\n", #condition, __LINE__, \
                    lg_status_name(seen->status), (int)seen->protection, seen->reports, seen->repairs, seen->streak);               \
            _exit(WRONG);                                                                                                          \
        }                                                                                                                          \
    } while (0)

/* ---- the program ---- */

static void reported(const lg_report_batch *batch, lg_completion *done, void *user)
{
    (void)user;
    seen->reports += batch->report_count;
    lg_complete(done, LG_OK);
}

static void repair(lg_completion *done, void *user)
{
    (void)user;
    seen->repairs++;
    lg_complete(done, LG_OK);
}

static lg_session *start(void)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    options.app_id = "org.example.test";
    options.state_directory = state_path("small");
    seen->status = lg_start(&options, &session);
    seen->protection = lg_session_protection(session);
    snprintf(seen->run, sizeof seen->run, "%s", lg_session_run_path(session));
    return session;
}

static lg_launch *begin(lg_session *session, uint32_t window_ms)
{
    lg_launch_options options = LG_LAUNCH_OPTIONS_INIT;
    lg_repair rung = LG_REPAIR_INIT;
    lg_launch *launch;
    options.repair_after = REPAIR_AFTER;
    options.window_ms = window_ms;
    options.on_report = reported;
    rung.name = "clear";
    rung.run = repair;
    lg_launch_prepare(session, "main", &options, &launch);
    lg_launch_add_repair(launch, &rung);
    seen->streak = lg_launch_streak(launch);
    REQUIRE(lg_launch_begin(launch) == LG_OK);
    lg_log(session, LG_LEVEL_INFO, "a launch");
    return launch;
}

/* Crash in the launch, until a repair helps. */
static void launch_that_crashes(void)
{
    uint32_t repairs = seen->repairs;
    lg_launch *launch = begin(start(), 60000);
    if (seen->repairs == repairs)
        crash();
    REQUIRE(lg_launch_finished(launch) == LG_OK);
}

static void run(void (*body)(void), int signal)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        alarm(LIMIT_MS / 1000 / 2); /* a start that hangs */
        body();
        exit(0);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    REQUIRE(signal ? WIFSIGNALED(status) && WTERMSIG(status) == signal : WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- what is left of it ---- */

static bool record_is_there(void)
{
    lg_reader *reader;
    lg_crash_info info;
    uint64_t pc;
    if (lg_reader_open(seen->run, &reader) != LG_OK)
        return false;
    bool there = lg_reader_crash(reader, &info) == LG_OK && info.signal == SIGSEGV &&
                 lg_reader_frame(reader, LG_STAGE_FRAMES, 1, &pc) == LG_OK && lg_reader_verify(reader, NULL, NULL) == LG_OK;
    lg_reader_close(reader);
    return there;
}

static struct file_system {
    const char *options; /* of the mount */
    bool records;        /* each crash has one */
    uint64_t free;       /* bytes that stay free */
} on;

static uint64_t free_bytes(void)
{
    struct statvfs info;
    REQUIRE(statvfs(state_path("small"), &info) == 0);
    return (uint64_t)info.f_bfree * info.f_frsize;
}

static void mount_small(void)
{
    char options[64];
    snprintf(options, sizeof options, "mode=0700,%s", on.options);
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mkdir(state_path("small"), 0700) != 0 ||
        mount("tmpfs", state_path("small"), "tmpfs", 0, options) != 0)
        _exit(NO_NAMESPACE);
}

static void expect_mounted(void (*body)(void *))
{
    struct death death = run_child(body, NULL);
    if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == NO_NAMESPACE)
        skip_because("the kernel refuses a mount namespace or a tmpfs");
    assert_false(death.late);
    assert_int_equal(death.status, 0);
}

static void crash_loops(void *argument)
{
    (void)argument;
    mount_small();
    for (int round = 0; round < ROUNDS; round++) {
        seen->reports = seen->repairs = 0;
        for (int i = 0; i < REPAIR_AFTER; i++) {
            run(launch_that_crashes, SIGSEGV);
            REQUIRE(seen->protection == LG_PROTECTION_FULL || (!on.records && seen->protection == LG_PROTECTION_LAUNCH));
            REQUIRE(!on.records || record_is_there());
        }
        run(launch_that_crashes, 0);
        REQUIRE(seen->repairs == 1);
        REQUIRE(seen->reports >= 1);
        REQUIRE(free_bytes() >= on.free);
    }
}

static void expect_loops(const char *options, bool records, uint64_t free)
{
    on = (struct file_system){ options, records, free };
    expect_mounted(crash_loops);
}

#define NEEDS_ROOT()                                              \
    do {                                                          \
        if (geteuid() != 0)                                       \
            skip_because("a mount namespace needs root");         \
    } while (0)

static void test_crash_loops(void **state)
{
    (void)state;
    NEEDS_ROOT();
    expect_loops(*state, true, 0);
}

/* The runs take a quarter; the newest one and the first of the streak come on top. */
static void test_share(void **state)
{
    (void)state;
    NEEDS_ROOT();
    expect_loops("size=6m", true, (6u << 20) * 6 / 10);
}

static void test_few_inodes(void **state)
{
    NEEDS_ROOT();
    /* two directories and the ledger; then a run; then two; then enough */
    for (int inodes = 4; inodes <= 7; inodes++) {
        static char options[32];
        snprintf(options, sizeof options, "size=4m,nr_inodes=%d", inodes);
        expect_loops(options, inodes == 7, 0);
        remove_state(state);
        make_state(state);
    }
}

/* ---- others have filled it ---- */

static void fill(void)
{
    int file = open(state_path("small/ballast"), O_WRONLY | O_CREAT, 0600);
    static char bytes[65536];
    REQUIRE(file >= 0);
    for (size_t size = sizeof bytes; size; size /= 2)
        while (write(file, bytes, size) == (ssize_t)size) {}
    close(file);
}

static void start_alone(void)
{
    start();
    REQUIRE(seen->protection == LG_PROTECTION_FULL);
}

static void fill_and_loop(void *argument)
{
    (void)argument;
    mount_small();
    run(start_alone, 0);
    fill();
    for (int i = 0; i < REPAIR_AFTER; i++) {
        run(launch_that_crashes, SIGSEGV);
        /* the run before may not be deleted, but what it did not use is enough */
        REQUIRE(seen->protection == LG_PROTECTION_FULL || (i > 0 && seen->protection == LG_PROTECTION_LAUNCH));
        fill();
    }
    /* to the page: what two ended runs gave back is enough for the smallest file, or the ledger is
     * alone */
    if (seen->protection == LG_PROTECTION_LAUNCH)
        REQUIRE(seen->status == LG_ERR_NO_SPACE && !seen->run[0]);
    else
        REQUIRE(seen->status == LG_OK && seen->run[0]);
    run(launch_that_crashes, 0);
    REQUIRE(seen->repairs == 1 && seen->reports >= 1);
    unlink(state_path("small/ballast"));
    run(start_alone, 0);
}

static void test_filled_by_others(void **state)
{
    (void)state;
    NEEDS_ROOT();
    on.options = "size=2m";
    expect_mounted(fill_and_loop);
}

static uint64_t bytes_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_blocks * 512 : 0;
}

static void damage_and_fill(void *argument)
{
    static char paths[REPAIR_AFTER][sizeof seen->run];
    (void)argument;
    mount_small();
    for (int i = 0; i < REPAIR_AFTER; i++) {
        run(launch_that_crashes, SIGSEGV);
        strcpy(paths[i], seen->run);
    }
    /* the next start has given the rest back */
    REQUIRE(bytes_of(paths[0]) < bytes_of(paths[REPAIR_AFTER - 1]) / 2);
    REQUIRE(truncate(state_path("small/ledger.lg"), 100000) == 0); /* one slot is whole */
    fill();
    run(launch_that_crashes, 0);
    REQUIRE(seen->status == LG_ERR_DAMAGED && seen->protection == LG_PROTECTION_FULL);
    REQUIRE(seen->repairs == 1);
    REQUIRE(bytes_of(paths[REPAIR_AFTER - 1]) > 0);
}

static void test_damaged_ledger(void **state)
{
    (void)state;
    NEEDS_ROOT();
    on.options = "size=16m";
    expect_mounted(damage_and_fill);
}

/* ---- a launch that time finishes, in a run without a file ---- */

static uint32_t passed_word(void)
{
    uint32_t word = 0;
    int file = open(state_path("small/ledger.lg"), O_RDONLY);
    REQUIRE(pread(file, &word, sizeof word, (off_t)(4096 + offsetof(struct lg__hot, passed))) == sizeof word);
    close(file);
    return word;
}

static void crashes_later(void)
{
    struct rlimit limit = { 8192, 8192 };
    setrlimit(RLIMIT_FSIZE, &limit);
    lg_session *session = start();
    uint32_t before = passed_word();
    REQUIRE(seen->protection == LG_PROTECTION_LAUNCH);
    begin(session, 50);
    wait_until(passed_word() != before); /* no call of the program, which would look itself */
    crash();
}

static void look(void)
{
    begin(start(), 60000);
}

static void crash_later(void *argument)
{
    (void)argument;
    run(start_alone, 0);
    run(crashes_later, SIGSEGV);
    run(look, 0);
    REQUIRE(seen->streak == 0);
}

static void test_window_without_file(void **state)
{
    (void)state;
    expect_exit(crash_later, NULL, 0);
}

static int set_up(void **state)
{
    void *options = *state;
    seen = shared_memory(sizeof *seen);
    make_state(state);
    *state = options;
    return 0;
}

#define ON(options) { "test_crash_loops: " options, test_crash_loops, set_up, remove_state, (void *)(uintptr_t)options }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON("size=256k"),
        ON("size=512k"),
        ON("size=1m"),
        ON("size=2m"),
        ON("size=4m"),
        cmocka_unit_test_setup_teardown(test_few_inodes, set_up, remove_state),
        cmocka_unit_test_setup_teardown(test_share, set_up, remove_state),
        cmocka_unit_test_setup_teardown(test_damaged_ledger, set_up, remove_state),
        cmocka_unit_test_setup_teardown(test_filled_by_others, set_up, remove_state),
        cmocka_unit_test_setup_teardown(test_window_without_file, set_up, remove_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
