#include "harness.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static unsigned scan_runs(char newest[1024])
{
    DIR *runs = opendir(state_path("runs"));
    unsigned count = 0;
    newest[0] = 0;
    for (struct dirent *entry; runs && (entry = readdir(runs));) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (strcmp(entry->d_name, newest) > 0)
            snprintf(newest, 1024, "%s", entry->d_name);
    }
    if (runs)
        closedir(runs);
    return count;
}

unsigned count_runs(void)
{
    char newest[1024];
    return scan_runs(newest);
}

const char *newest_run_path(void)
{
    static char path[2048];
    char newest[1024];
    if (scan_runs(newest) == 0)
        return NULL;
    snprintf(path, sizeof path, "%s/%s", state_path("runs"), newest);
    return path;
}

lg_reader *newest_run(void)
{
    lg_reader *reader = NULL;
    const char *path = newest_run_path();
    assert_non_null(path);
    assert_int_equal(lg_reader_open(path, &reader), LG_OK);
    return reader;
}

lg_reader *run_numbered(uint64_t ordinal)
{
    char prefix[16];
    lg_reader *reader = NULL;
    snprintf(prefix, sizeof prefix, "%08llu-", (unsigned long long)ordinal);
    DIR *runs = opendir(state_path("runs"));
    assert_non_null(runs);
    for (struct dirent *entry; !reader && (entry = readdir(runs));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            char path[2048];
            snprintf(path, sizeof path, "%s/%s", state_path("runs"), entry->d_name);
            assert_int_equal(lg_reader_open(path, &reader), LG_OK);
        }
    closedir(runs);
    assert_non_null(reader);
    return reader;
}

lg_run_info newest_info(void)
{
    lg_run_info info;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_run(reader, &info), LG_OK);
    lg_reader_close(reader);
    return info;
}

lg_verdict newest_verdict(void)
{
    lg_verdict verdict;
    lg_reader *reader = newest_run();
    assert_int_equal(lg_reader_verdict(reader, &verdict), LG_OK);
    lg_reader_close(reader);
    return verdict;
}

bool newest_snapshot(lg_snapshot_kind kind, lg_snapshot_info *ret_snapshot)
{
    lg_reader *reader = newest_run();
    lg_status status = lg_reader_snapshot(reader, kind, ret_snapshot);
    lg_reader_close(reader);
    return status == LG_OK && ret_snapshot->complete;
}

lg_crash_info crash_of(lg_reader *reader, unsigned last_stage)
{
    static const unsigned stages[] = { LG_STAGE_HEADER, LG_STAGE_CONTEXT, LG_STAGE_FRAMES, LG_STAGE_DWARF,
                                       LG_STAGE_MESSAGES, LG_STAGE_THREADS, LG_STAGE_PROCESS, LG_STAGE_DONE };
    lg_crash_info crash;
    assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
        if (((crash.stages >> stages[i]) & 1) != (stages[i] <= last_stage))
            fail_msg("stage %u is %s; committed are %#x", stages[i], stages[i] <= last_stage ? "missing" : "there", crash.stages);
    return crash;
}

lg_crash_info newest_crash(unsigned last_stage)
{
    lg_reader *reader = newest_run();
    lg_crash_info crash = crash_of(reader, last_stage);
    lg_reader_close(reader);
    return crash;
}

lg_launch_info ledger_context(const char *name)
{
    lg_reader *reader = NULL;
    lg_launch_info context = LG_LAUNCH_INFO_INIT;
    assert_int_equal(lg_reader_open(state_path("ledger.lg"), &reader), LG_OK);
    for (uint32_t i = 0; lg_reader_ledger_context(reader, i, &context) == LG_OK; i++)
        if (strcmp(context.name, name) == 0) {
            lg_reader_close(reader);
            return context;
        }
    fail_msg("the ledger has no context \"%s\"", name);
    return context;
}

lg_timeline_entry last_of_timeline(void)
{
    lg_reader *reader = NULL;
    lg_ledger_info info;
    lg_timeline_entry entry;
    assert_int_equal(lg_reader_open(state_path("ledger.lg"), &reader), LG_OK);
    assert_int_equal(lg_reader_ledger(reader, &info), LG_OK);
    assert_true(info.timeline_count > 0);
    assert_int_equal(lg_reader_timeline(reader, info.timeline_count - 1, &entry), LG_OK);
    lg_reader_close(reader);
    return entry;
}

static lg_log_entry entry; /* one reader of a log at a time: it is large */

bool log_has(lg_reader *reader, const char *text)
{
    lg_log_info info;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    for (uint64_t i = 0; lg_reader_log_entry(reader, i, &entry) == LG_OK; i++)
        if (strcmp(entry.text, text) == 0)
            return true;
    return false;
}

bool log_says(lg_reader *reader, const char *part)
{
    lg_log_info info;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    for (uint64_t i = 0; lg_reader_log_entry(reader, i, &entry) == LG_OK; i++)
        if (strstr(entry.text, part))
            return true;
    return false;
}

bool said(const char *part)
{
    lg_reader *reader = newest_run();
    bool has = log_says(reader, part);
    lg_reader_close(reader);
    return has;
}
