/* The configurations of docs/SMALL.md: after many crashes the state directory has at most the
 * stated blocks on the disk, and the newest crash has its record. */
#include "harness.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The rows of the table in docs/SMALL.md, which are in blocks of 4 KiB. `most` is what the page
 * states, in KiB. */
static const struct configuration {
    const char *name;
    lg_options options;
    long most;
} configurations[] = {
    { "defaults, 4 runs", { .keep_runs = 4 }, 2048 },
    { "ring log of 16 KiB", { .keep_runs = 4, .ring_bytes = 16384 }, 1536 },
    { "stack memory of 4 KiB", { .keep_runs = 4, .stack_bytes = 4096 }, 1792 },
    { "8 other threads", { .keep_runs = 4, .thread_limit = 8 }, 1792 },
    { "all three", { .keep_runs = 4, .ring_bytes = 16384, .stack_bytes = 4096, .thread_limit = 8 }, 1024 },
    { "smallest record", { .keep_runs = 4, .ring_bytes = 4096, .stack_bytes = 4096, .thread_limit = 1,
      .leave_out = LG_LEAVE_OUT_THREADS | LG_LEAVE_OUT_STACKS | LG_LEAVE_OUT_PROCESS }, 768 },
    { "the same, 1 run", { .keep_runs = 1, .ring_bytes = 4096, .stack_bytes = 4096, .thread_limit = 1,
      .leave_out = LG_LEAVE_OUT_THREADS | LG_LEAVE_OUT_STACKS | LG_LEAVE_OUT_PROCESS }, 512 },
};

static void body_crashes(void *argument)
{
    lg_options options = ((const struct configuration *)argument)->options;
    options.size = sizeof options;
    lg_session *session = start_with(options);
    for (int i = 0; i < 2000; i++)
        lg_log(session, LG_LEVEL_INFO, "the ring log is full when the program crashes");
    crash();
}

static long blocks; /* of 512 bytes */

static int add_blocks(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)path, (void)kind, (void)where;
    blocks += (long)info->st_blocks;
    return 0;
}

static long kib_on_disk(void)
{
    blocks = 0;
    nftw(state_path("."), add_blocks, 16, FTW_PHYS);
    return blocks / 2;
}

/* format-dump reads the record, too. */
static void expect_dump(const char *path)
{
#ifdef FORMAT_DUMP
    char command[4096];
    snprintf(command, sizeof command, "'" FORMAT_DUMP "' '%s' >'%s'", path, state_path("dump"));
    assert_int_equal(system(command), 0);
    struct stat info;
    assert_int_equal(stat(state_path("dump"), &info), 0);
    assert_true(info.st_size > 1000);
    assert_int_equal(unlink(state_path("dump")), 0);
#else
    (void)path;
#endif
}

static void test_configurations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof configurations / sizeof configurations[0]; i++) {
        const struct configuration *configuration = &configurations[i];
        state_make();
        long most = 0;
        for (int life = 0; life < 8; life++) {
            expect_signal(body_crashes, (void *)(uintptr_t)configuration, SIGSEGV);
            most = kib_on_disk() > most ? kib_on_disk() : most;
        }
        lg_reader *reader = newest_run();
        lg_verdict verdict;
        lg_stack_info stack;
        lg_crash_info crash; /* without the stages that are left out */
        assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
        assert_int_equal(crash.stages >> LG_STAGE_DONE & 1, 1);
        assert_int_equal(crash.signal, SIGSEGV);
        assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
        assert_int_equal(verdict.end, LG_END_CRASH);
        assert_int_equal(lg_reader_stack(reader, LG_STAGE_DWARF, &stack), LG_OK);
        assert_true(stack.stored >= 1);
        assert_int_equal(lg_reader_verify(reader, NULL, NULL), LG_OK);
        struct stat info;
        assert_int_equal(stat(newest_run_path(), &info), 0);
        lg_reader_close(reader);
        expect_dump(newest_run_path());
        print_message("%-22s run file %4ld KiB, state directory at most %5ld KiB\n", configuration->name, (long)info.st_size / 1024, most);
        if (most > configuration->most)
            fail_msg("docs/SMALL.md states %ld KiB", configuration->most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { WITH_STATE(test_configurations) };
    return cmocka_run_group_tests_name("small", tests, NULL, NULL);
}
