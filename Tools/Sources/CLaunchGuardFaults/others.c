/* Section G: hangs, stops, and faults of the machine that do not kill. */
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalogue.h"
#include "files.h"

/* ---- hangs ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void lock_twice(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
}
static void kill_later(pid_t parent)
{
    lgf_sleep_ms(400);
    kill(parent, SIGKILL);
}
LGF_WAY deadlock(void)
{
    lgf_helper(kill_later);
    lock_twice();
}
LGF_WAY livelock(void)
{
    lgf_helper(kill_later);
    while (!lgf_zero) {}
}
static void *fault_later(void *argument)
{
    lgf_sleep_ms(300);
    *(volatile int *)(uintptr_t)lgf_zero = 1;
    return argument;
}
LGF_WAY hang_then_fault(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, fault_later, NULL) != 0)
        lgf_skip("no thread can be made");
    lock_twice();
}
static struct lgf_sign was_continued;
static void stop_and_continue(pid_t parent)
{
    kill(parent, SIGSTOP);
    lgf_sleep_ms(200);
    kill(parent, SIGCONT);
    lgf_sign_give(&was_continued);
}
LGF_WAY stopped_and_continued(void)
{
    lgf_sign_make(&was_continued);
    lgf_helper(stop_and_continue);
    lgf_sign_wait(&was_continued);
}

/* ---- damage to the files of the running session ---- */

static void needs_session(void)
{
    if (!lgf_session || lg_session_protection(lgf_session) == LG_PROTECTION_NONE)
        lgf_skip("the entry needs the files of LaunchGuard, which has none");
}
static void write_log(void)
{
    for (int i = 0; i < 5000; i++)
        if (lg_log(lgf_session, LG_LEVEL_INFO, "entry %d of a log that must not end the process", i) != LG_OK)
            lgf_wrong("the log is no longer written");
}
LGF_WAY run_file_cut(void)
{
    needs_session();
    if (truncate(lg_session_run_path(lgf_session), 0) != 0)
        lgf_skip("the run file cannot be cut");
    write_log();
}

#define DISK "/mnt"
static void have_full_disk(void)
{
    lgf_small_disk_at(DISK, 16384);
    lgf_options.state = DISK "/state";
}
static void have_small_disk(void)
{
    lgf_small_disk_at(DISK, 4 << 20);
    lgf_options.state = DISK "/state";
}
static void have_read_only_disk(void)
{
    lgf_small_disk_at(DISK, 1 << 20);
    if (mount("none", DISK, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
        lgf_skip("no file system can be made read-only");
    lgf_options.state = DISK "/state";
}
LGF_WAY disk_full_later(void)
{
    static const char block[4096] = { 1 };
    needs_session();
    FILE *file = fopen(DISK "/filling", "we");
    while (file && fwrite(block, sizeof block, 1, file) == 1 && fflush(file) == 0) {}
    write_log();
    lg_reader *reader;
    lg_run_info run;
    if (lg_reader_open(lg_session_run_path(lgf_session), &reader) != LG_OK || lg_reader_run(reader, &run) != LG_OK ||
        run.healed_pages != 0)
        lgf_wrong("the run file lost pages");
}

/* ---- an invalid state directory ---- */

static char place[512], path[600];
static const char *make_place(const char *name)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(place, sizeof place, "%s/launchguard-faults-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(place))
        lgf_skip("no temporary directory can be made");
    snprintf(path, sizeof path, "%s/%s", place, name);
    lgf_options.state = path;
    return path;
}
static void have_file(void)
{
    FILE *file = fopen(make_place("state"), "we");
    if (file)
        fclose(file);
}
static void have_link(void)
{
    if (symlink("/tmp/nothing", make_place("ledger.lg")) != 0)
        lgf_skip("no link can be made");
    lgf_options.state = place;
}
static void have_others_directory(void)
{
    const char *directory = make_place("state");
    if (mkdir(directory, 0777) != 0 || chown(directory, geteuid() + 1, (gid_t)-1) != 0)
        lgf_skip("giving a directory away needs root");
}
static void have_fifo(void)
{
    if (mkfifo(make_place("ledger.lg"), 0600) != 0)
        lgf_skip("no FIFO can be made");
    lgf_options.state = place;
}
static int remove_entry(const char *entry, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(entry);
}
/* The program has to run although LaunchGuard cannot, and LaunchGuard has to report the problem. */
static void start_complains(void)
{
    if (place[0])
        nftw(place, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (lgf_options.guard && (lgf_start_status == LG_OK || !lg_session_message(lgf_session)[0]))
        lgf_wrong("the start reports no problem");
}
LGF_WAY start_fails(void)
{
    start_complains();
    if (lgf_options.guard && lg_session_protection(lgf_session) != LG_PROTECTION_NONE)
        lgf_wrong("the start did not fail");
}
/* A file that is not a ledger is kept aside, and a new ledger begun. */
LGF_WAY start_keeps_aside(void)
{
    start_complains();
    if (lgf_options.guard && lg_session_protection(lgf_session) != LG_PROTECTION_FULL)
        lgf_wrong("the start failed");
}

#define KILLED_HANG(launch_)                                                                                          \
    .status = LGF_SIGNAL, .number = SIGKILL, .record = LGF_RECORD_ANY, .ends = LGF_END(HANG) | LGF_END_SILENT, .launch = (launch_), \
    .lasts_ms = 400
#define START_FAILS(prepare_) \
    LGF_EXITS(0, LGF_END_NO_RUN, 'N'), .prepare = (prepare_), .traits = LGF_PREPARES | LGF_OWN_STATE

const struct lgf_entry lgf_others[] = {
    { LGF_NAMED("deadlock", 'G', "locks a mutex twice on the main thread, and is killed", deadlock), KILLED_HANG('Y') },
    { LGF_NAMED("livelock", 'G', "spins, and is killed", livelock), KILLED_HANG('W') },
    { LGF_NAMED("hang-then-fault", 'G', "hangs, and faults on another thread", hang_then_fault),
      LGF_CRASH(SIGSEGV, YES, LG_CRASH_NULL_WRITE), .traits = LGF_OWN_THREADS, .lasts_ms = 300 },
    { LGF_NAMED("stopped-and-continued", 'G', "is stopped, continued, and ends well", stopped_and_continued),
      LGF_EXITS(0, LGF_END(CLEAN), 'N'), .lasts_ms = 200 },
    { LGF_NAMED("run-file-cut", 'G', "has its run file cut to nothing, and lives on", run_file_cut), .status = LGF_EXIT,
      .record = LGF_RECORD_NONE, .launch = 'W' },
    { LGF_NAMED("disk-full-start", 'G', "starts with a state directory on a full disk", start_fails), START_FAILS(have_full_disk),
      .needs = LGF_NEEDS_ROOT | LGF_NEEDS_NAMESPACE },
    { LGF_NAMED("disk-full-later", 'G', "fills the disk with its state directory, and goes on logging", disk_full_later),
      START_FAILS(have_small_disk), .needs = LGF_NEEDS_ROOT | LGF_NEEDS_NAMESPACE },
    { LGF_NAMED("state-read-only", 'G', "starts with a state directory that cannot be written", start_fails),
      START_FAILS(have_read_only_disk), .needs = LGF_NEEDS_ROOT | LGF_NEEDS_NAMESPACE },
    { LGF_NAMED("state-is-file", 'G', "starts with a file in place of the state directory", start_fails), START_FAILS(have_file) },
    { LGF_NAMED("state-of-another", 'G', "starts with a state directory that belongs to another user", start_fails),
      START_FAILS(have_others_directory), .needs = LGF_NEEDS_ROOT },
    { LGF_NAMED("ledger-is-link", 'G', "starts with a link in place of the ledger", start_fails), START_FAILS(have_link) },
    { LGF_NAMED("ledger-is-fifo", 'G', "starts with a FIFO in place of the ledger", start_keeps_aside), START_FAILS(have_fifo) },
    { .name = NULL },
};
