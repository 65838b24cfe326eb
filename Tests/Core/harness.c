#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char directory[512];
static pid_t owner; /* of the directory: a child's exit() does not remove it */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

void state_remove(void)
{
    if (directory[0] && owner == getpid())
        nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    directory[0] = 0;
}

const char *state_make(void)
{
    static bool registered;
    state_remove();
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/launchguard-test-XXXXXX", temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(directory));
    owner = getpid();
    if (!registered)
        atexit(state_remove);
    registered = true;
    return directory;
}

const char *state_path(const char *name)
{
    static char paths[10][1024];
    static unsigned next;
    char *path = paths[next++ % 10];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

void plain_signals(void)
{
    for (int number = 1; number < 32; number++)
        signal(number, SIG_DFL);
}

struct death run_child(void (*body)(void *), void *argument)
{
    struct death death = { 0, 0, false };
    fflush(NULL);
    double begin = now_ms();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing is left when the test itself is killed */
        plain_signals();
        body(argument);
        exit(0);
    }
    int file = (int)syscall(SYS_pidfd_open, child, 0);
    assert_true(file >= 0);
    struct pollfd wait = { .fd = file, .events = POLLIN };
    int ready;
    do
        ready = poll(&wait, 1, LIMIT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        death.late = true;
        kill(child, SIGKILL);
    }
    close(file);
    assert_int_equal(waitpid(child, &death.status, 0), child);
    death.ms = now_ms() - begin;
    return death;
}

void expect_signal(void (*body)(void *), void *argument, int signal)
{
    struct death death = run_child(body, argument);
    assert_false(death.late);
    if (!WIFSIGNALED(death.status))
        fail_msg("the child was to die of signal %d, but exited with %d", signal, WEXITSTATUS(death.status));
    assert_int_equal(WTERMSIG(death.status), signal);
}

void expect_exit(void (*body)(void *), void *argument, int code)
{
    struct death death = run_child(body, argument);
    assert_false(death.late);
    if (!WIFEXITED(death.status))
        fail_msg("the child was to exit with %d, but died of signal %d", code, WTERMSIG(death.status));
    assert_int_equal(WEXITSTATUS(death.status), code);
}

lg_session *start_version(const char *version)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session;
    options.app_id = "org.example.test";
    options.app_version = version;
    options.state_directory = directory;
    options.deadline_ms = 1000;
    lg_status status = lg_start(&options, &session);
    if (status != LG_OK || lg_session_protection(session) != LG_PROTECTION_FULL) {
        fprintf(stderr, "lg_start: %s: %s\n", lg_status_name(status), lg_session_message(session));
        _exit(99);
    }
    return session;
}

lg_session *start_session(void)
{
    return start_version("1.0");
}

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
    snprintf(path, sizeof path, "%s/runs/%s", directory, newest);
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
            snprintf(path, sizeof path, "%s/runs/%s", directory, entry->d_name);
            assert_int_equal(lg_reader_open(path, &reader), LG_OK);
        }
    closedir(runs);
    assert_non_null(reader);
    return reader;
}

lg_crash_info crash_of(lg_reader *reader, unsigned last_stage)
{
    static const unsigned stages[] = { LG_STAGE_HEADER, LG_STAGE_CONTEXT, LG_STAGE_FRAMES, LG_STAGE_DWARF,
                                       LG_STAGE_MESSAGES, LG_STAGE_THREADS, LG_STAGE_PROCESS, LG_STAGE_DONE };
    lg_crash_info crash;
    assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
        assert_int_equal((crash.stages >> stages[i]) & 1, stages[i] <= last_stage);
    return crash;
}

lg_launch_info ledger_context(const char *name)
{
    lg_reader *reader = NULL;
    lg_launch_info context;
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

bool log_has(lg_reader *reader, const char *text)
{
    static lg_log_entry entry;
    lg_log_info info;
    assert_int_equal(lg_reader_log(reader, &info), LG_OK);
    for (uint64_t i = 0; lg_reader_log_entry(reader, i, &entry) == LG_OK; i++)
        if (strcmp(entry.text, text) == 0)
            return true;
    return false;
}

void skip_because(const char *reason)
{
    print_message("[  REASON  ] skipped: %s\n", reason);
    skip();
}
