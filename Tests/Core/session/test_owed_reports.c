/* Runs that delivery still owes a report: retention takes them last, and counts those that give way
 * all the same. */
#include "harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "launchguard/reader.h"
#include "session/run_words.h"
#include "store/crc32c.h"
#include "store/delivery_config.h"
#include "store/spool.h"
#include "store/tally.h"

#define KEEP 3u

static uint64_t keep_bytes;
static const char *fatal_point;

static void die_there(const char *point)
{
    if (fatal_point && strcmp(point, fatal_point) == 0)
        kill(getpid(), SIGKILL);
}

static void start_keeping(void)
{
    lg_options options = LG_OPTIONS_INIT;
    options.keep_runs = KEEP;
    options.keep_bytes = keep_bytes;
    lg__fault_hook = die_there;
    start_with(options);
}

static void body_crash(void *way)
{
    start_keeping();
    if (way)
        abort();
    crash();
}

static void body_exit(void *argument)
{
    (void)argument;
    start_keeping();
}

/* So far from the test that its frame is none of those that a fingerprint looks at. */
static __attribute__((noinline)) void crash_once(void)
{
    expect_signal(body_crash, NULL, SIGSEGV);
}

static __attribute__((noinline)) void crash_from_afar(void)
{
    crash_once();
}

static void crashes(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        crash_from_afar();
}

static int spool(void)
{
    struct lg__problem problem = { .status = LG_OK };
    int directory = open(state_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int made = lg__spool_open(directory, state_path(""), true, &problem);
    assert_true(made >= 0);
    close(directory);
    return made;
}

static void configure(void)
{
    char text[LG__CONFIG_MAX];
    struct lg__delivery_config config = { .endpoint = "https://reports.example/",
                                          .options = { .target = LG_TARGET_HTTP, .ends = LG_DELIVERY_ENDS, .keep_reports = 64, .keep_bytes = 1 << 20,
                                                       .daily_bytes = 1 << 20 } };
    size_t size = lg__delivery_config_format(&config, text, sizeof text);
    assert_true(size > 0);
    int folder = spool();
    assert_int_equal(lg__spool_write(folder, "config", text, size, false), LG_OK);
    close(folder);
}

static uint64_t tallied(void)
{
    struct lg__tally_row rows[LG__TALLY_ROWS];
    uint64_t sum = 0;
    int folder = spool();
    uint32_t count = lg__tally_read(folder, rows);
    close(folder);
    for (uint32_t i = 0; i < count; i++)
        sum += rows[i].count;
    return sum;
}

/* Crashed runs whose files are there. `mark`: mark all but the oldest so many as reported. */
static unsigned crashed_runs(unsigned but)
{
    struct dirent **entries;
    unsigned found = 0;
    int count = scandir(state_path("runs"), &entries, NULL, alphasort), runs = open(state_path("runs"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < count; i++) {
        char path[4096];
        lg_reader *reader;
        lg_verdict verdict;
        struct lg__identity identity;
        snprintf(path, sizeof path, "%s/%s", state_path("runs"), entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && lg_reader_open(path, &reader) == LG_OK) {
            assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
            lg_reader_close(reader);
            if (verdict.end == LG_END_CRASH && found++ >= but) {
                int file = open(path, O_RDONLY | O_CLOEXEC);
                assert_int_equal(pread(file, &identity, sizeof identity, 512), sizeof identity);
                close(file);
                assert_int_equal(lg__run_words_set_reported(runs, entries[i]->d_name, identity.uuid, LG_REPORTED_SPOOLED), LG_OK);
            }
        }
        free(entries[i]);
    }
    free(entries);
    close(runs);
    return found;
}

#define NONE_MARKED UINT32_MAX

static void test_without_delivery(void **state)
{
    (void)state;
    keep_bytes = 0;
    crashes(KEEP + 30);
    assert_true(count_runs() <= KEEP + 1);
    /* nobody looks at a spool that nobody made */
    assert_int_not_equal(access(state_path("spool"), F_OK), 0);
}

/* No agent ever runs: what is not there any more is counted. */
static void test_nothing_is_lost(void **state)
{
    (void)state;
    struct stat info;
    const unsigned all = 340; /* ext4 has room for 265 of them, tmpfs for 300 */
    keep_bytes = 0;
    crashes(1);
    assert_int_equal(stat(newest_run_path(), &info), 0);
    keep_bytes = 20 * (uint64_t)info.st_size;
    configure();
    crashes(19);
    assert_int_equal(crashed_runs(NONE_MARKED), 20);
    assert_int_equal(tallied(), 0);
    crashes(all - 20);
    unsigned kept = crashed_runs(NONE_MARKED);
    assert_true(kept > KEEP + 2 && kept < all);
    assert_int_equal(kept + tallied(), all);
    /* They were all alike. */
    struct lg__tally_row rows[LG__TALLY_ROWS];
    int folder = spool();
    assert_int_equal(lg__tally_read(folder, rows), 1);
    assert_int_equal(rows[0].end, LG_END_CRASH);
    assert_true(rows[0].first_ns && rows[0].first_ns < rows[0].last_ns);
    assert_int_equal(rows[0].ordinal, all - kept);
    /* Counted once more while an agent has them. */
    rows[0].count -= 7;
    assert_true(lg__tally_take(folder, rows, 1));
    assert_int_equal(tallied(), 7);
    close(folder);
}

static void test_reported_runs_go_first(void **state)
{
    (void)state;
    keep_bytes = 0;
    configure();
    crashes(20);
    assert_int_equal(crashed_runs(2), 20); /* an agent is done with all but the oldest two */
    for (int i = 0; i < 20; i++)
        expect_exit(body_exit, NULL, 0);
    assert_int_equal(crashed_runs(NONE_MARKED), 2 + KEEP - 1); /* the newest run is kept, too */
    assert_int_equal(tallied(), 0);
    crashed_runs(0);
    for (int i = 0; i < 20; i++)
        expect_exit(body_exit, NULL, 0);
    assert_int_equal(crashed_runs(NONE_MARKED), KEEP - 1);
    assert_true(count_runs() <= KEEP + 1);
    assert_int_equal(tallied(), 0);
}

static void test_consent(void **state)
{
    (void)state;
    keep_bytes = 0;
    for (int way = 0; way < 3; way++) {
        state_make();
        configure();
        int folder = spool();
        if (way == 0)
            assert_int_equal(lg__consent_write(folder, &(struct lg__consent){ .given = false, .from_ordinal = 1 }, false), LG_OK);
        else if (way == 1)
            assert_int_equal(lg__spool_write(folder, "off", "", 0, false), LG_OK);
        else
            assert_int_equal(lg__consent_write(folder, &(struct lg__consent){ .given = true, .from_ordinal = 26 }, false), LG_OK);
        close(folder);
        crashes(30);
        unsigned kept = crashed_runs(NONE_MARKED);
        if (way < 2)
            assert_true(kept <= KEEP + 1);
        else
            assert_true(kept >= 5 && kept <= 5 + KEEP);
        assert_int_equal(tallied(), 0);
    }
}

/* The list of the runs that give way is older than the configuration. */
static void test_configured_later(void **state)
{
    (void)state;
    keep_bytes = 0;
    crashes(KEEP + 2);
    configure();
    unsigned before = crashed_runs(NONE_MARKED);
    crashes(10);
    assert_int_equal(crashed_runs(NONE_MARKED), before + 10);
    assert_int_equal(tallied(), 0);
}

/* A start that is killed at any step loses no run, and counts none twice. */
static void test_killed_starts(void **state)
{
    (void)state;
    static const char *const points[] = { "retention: chosen", "tally: locked", "retention: counted", "retention: given way", "retention: listed" };
    struct stat info;
    keep_bytes = 0;
    expect_exit(body_exit, NULL, 0);
    assert_int_equal(stat(newest_run_path(), &info), 0);
    keep_bytes = 4 * (uint64_t)info.st_size;
    configure();
    unsigned crashed = 0;
    for (unsigned round = 0; round < 4; round++)
        for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
            bool killed = false;
            for (unsigned tries = 0; !killed; tries++) {
                assert_true(tries < 64); /* a start passes each point now and then */
                crashes(1);
                expect_signal(body_crash, (void *)1, SIGABRT);
                crashed += 2;
                fatal_point = points[i];
                struct death death = run_child(body_exit, NULL);
                fatal_point = NULL;
                assert_false(death.late);
                killed = WIFSIGNALED(death.status);
            }
        }
    assert_int_equal(crashed_runs(NONE_MARKED) + tallied(), crashed);
}

/* A tally that is damaged is kept aside; more fingerprints than rows share the last one. */
static void test_tally(void **state)
{
    (void)state;
    struct lg__tally_row rows[LG__TALLY_ROWS], run = { .count = 1, .first_ns = 5, .end = LG_END_CRASH };
    lg__crc32c_init();
    int folder = spool();
    assert_int_equal(lg__tally_read(folder, rows), 0);
    for (unsigned i = 1; i <= 100; i++) {
        run.fingerprint[0] = (uint8_t)i;
        run.uuid[0] = (uint8_t)i;
        assert_true(lg__tally_add(folder, &run));
        assert_true(lg__tally_add(folder, &run)); /* the same run */
    }
    assert_int_equal(lg__tally_read(folder, rows), LG__TALLY_ROWS);
    assert_int_equal(rows[0].count, 1);
    assert_int_equal(rows[LG__TALLY_ROWS - 1].count, 100 - (LG__TALLY_ROWS - 1));
    assert_int_equal(rows[LG__TALLY_ROWS - 1].fingerprint[0], 0);
    assert_true(lg__tally_take(folder, rows, LG__TALLY_ROWS));
    assert_int_equal(lg__tally_read(folder, rows), 0);
    assert_true(lg__tally_add(folder, &run));
    /* one damaged row, then a damaged file */
    int file = openat(folder, "tally", O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(file, "x", 1, offsetof(struct lg__tally, rows) + 1), 1);
    assert_int_equal(lg__tally_read(folder, rows), 0);
    assert_int_equal(ftruncate(file, 100), 0);
    close(file);
    assert_true(lg__tally_add(folder, &run));
    assert_int_equal(tallied(), 1);
    assert_int_equal(faccessat(folder, "tally.damaged", F_OK, 0), 0);
    close(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_without_delivery), WITH_STATE(test_nothing_is_lost), WITH_STATE(test_reported_runs_go_first),
        WITH_STATE(test_consent),          WITH_STATE(test_killed_starts),   WITH_STATE(test_tally),
        WITH_STATE(test_configured_later),
    };
    return cmocka_run_group_tests_name("owed", tests, NULL, NULL);
}
