#include "process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/sandbox_calls.h"

/* <linux/landlock.h>: older headers lack the file, or its later rights. */
enum { CREATE_RULESET = 444, ADD_RULE, RESTRICT_SELF };
#define RULE_PATH_BENEATH 1
#define ASKS_VERSION 1u
struct ruleset {
    uint64_t files, ports, scopes;
};
struct path_beneath {
    uint64_t allowed;
    int32_t directory;
} __attribute__((packed));

#define RIGHT(number) (UINT64_C(1) << (number))
#define EXECUTE RIGHT(0)
#define WRITE_FILE RIGHT(1)
#define REMOVE_FILE RIGHT(5)
#define MAKE_REGULAR RIGHT(8)
/* The numbers 4 to 12 remove and make names: folders, devices, sockets, pipes, links. */
#define CHANGE_FOLDERS (RIGHT(13) - RIGHT(4))
#define RENAME_ACROSS RIGHT(13)
#define TRUNCATE RIGHT(14)
#define CONTROL_DEVICE RIGHT(15)
#define BIND_TCP RIGHT(0)
#define REACH_OTHERS (RIGHT(0) | RIGHT(1)) /* abstract sockets and signals */

/* Reading is not restricted: a crashed program's modules, which reports need for the names of
 * functions, lie anywhere, the configuration names files at any time, and resolvers and TLS
 * libraries read what an administrator tells them to. */
static struct ruleset rules_of(long version)
{
    return (struct ruleset){
        .files = EXECUTE | WRITE_FILE | CHANGE_FOLDERS | RENAME_ACROSS | (version >= 3 ? TRUNCATE : 0) | (version >= 5 ? CONTROL_DEVICE : 0),
        .ports = version >= 4 ? BIND_TCP : 0,
        .scopes = version >= 6 ? REACH_OTHERS : 0,
    };
}

static long landlock(long number, long one, long two, long three)
{
    return syscall(number, one, two, three, 0L);
}

static bool allow(int ruleset, int beneath, uint64_t rights)
{
    const struct path_beneath rule = { rights, beneath };
    return landlock(ADD_RULE, ruleset, RULE_PATH_BENEATH, (long)(uintptr_t)&rule) == 0;
}

/* What a report goes through: files are made, changed, renamed from folder to folder, deleted. */
static bool allow_work(int ruleset, int state, const struct ruleset *rules)
{
    const int null = open("/dev/null", O_PATH | O_CLOEXEC); /* for libraries, where it is there */
    const bool allowed = null < 0 || allow(ruleset, null, WRITE_FILE);
    if (null >= 0)
        close(null);
    return allowed && (state < 0 || allow(ruleset, state, WRITE_FILE | REMOVE_FILE | MAKE_REGULAR | RENAME_ACROSS | (rules->files & TRUNCATE)));
}

/* Returns a ruleset; −1: errno says why there is none, or `ret_version` does, below 2: that one
 * refuses every rename from folder to folder. */
static int make_ruleset(int state, long *ret_version)
{
    const long version = *ret_version = landlock(CREATE_RULESET, 0, 0, ASKS_VERSION);
    const struct ruleset rules = rules_of(version);
    const int ruleset = version < 2 ? -1 : (int)landlock(CREATE_RULESET, (long)(uintptr_t)&rules, sizeof rules, 0);
    if (ruleset < 0 || allow_work(ruleset, state, &rules))
        return ruleset;
    const int error = errno;
    close(ruleset);
    errno = error;
    return -1;
}

static bool restrict_files(int ruleset)
{
    return landlock(RESTRICT_SELF, ruleset, 0, 0) == 0;
}

/* In a child. Landlock hides from /proc what it forbids to trace. Where /proc shows only what may
 * be traced (hidepid), every other process would be gone, and programs that live would seem to have
 * ended: 1. */
static _Noreturn void try(int state, bool sends, const char *path, bool is_seen)
{
    long version;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    const int ruleset = make_ruleset(state, &version);
    const bool hides = ruleset >= 0 && restrict_files(ruleset) && is_seen && open(path, O_RDONLY | O_CLOEXEC) < 0;
    sandbox_calls_refuse(sends);
    _exit(hides);
}

/* What would come of it: the filter around a service may end a process that asks for Landlock. */
static enum trial { IS_WELL, IS_FATAL, HIDES_PROGRAMS } trial(int state, bool sends)
{
    char path[32];
    int status = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
    const int seen = open(path, O_RDONLY | O_CLOEXEC);
    if (seen >= 0)
        close(seen);
    const pid_t child = fork();
    if (child == 0)
        try(state, sends, path, seen >= 0);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return child < 0 || !WIFEXITED(status) ? IS_FATAL : WEXITSTATUS(status) ? HIDES_PROGRAMS : IS_WELL;
}

/* NULL: files are restricted. Else why not. */
static const char *enter_landlock(int state, enum trial trial, long *ret_version)
{
    if (trial == HIDES_PROGRAMS)
        return "with it, /proc would hide all programs";
    const int ruleset = make_ruleset(state, ret_version);
    if (ruleset < 0)
        return *ret_version == 0 || *ret_version == 1 ? "this kernel's is too old" : strerror(errno);
    const char *why = restrict_files(ruleset) ? NULL : strerror(errno);
    close(ruleset);
    return why;
}

void sandbox_enter(int state, bool sends, char ret_words[SANDBOX_WORDS])
{
    long version;
    char files[SANDBOX_WORDS / 2 - 8], calls[SANDBOX_WORDS / 2 - 8];
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        snprintf(ret_words, SANDBOX_WORDS, "not confined: %s", strerror(errno));
        return;
    }
    const enum trial of_child = trial(state, sends);
    if (of_child == IS_FATAL) {
        snprintf(ret_words, SANDBOX_WORDS, "not confined: what is around this process ends those that try");
        return;
    }
    const char *no_landlock = enter_landlock(state, of_child, &version);
    const char *no_filter = sandbox_calls_refuse(sends) ? NULL : strerror(errno);
    if (no_landlock)
        snprintf(files, sizeof files, "files by the rights of the user alone, without Landlock: %s", no_landlock);
    else
        snprintf(files, sizeof files, "writes only beneath the state directory, by Landlock %ld", version);
    if (no_filter)
        snprintf(calls, sizeof calls, "any system call, without a filter: %s", no_filter);
    else
        snprintf(calls, sizeof calls, "some system calls are refused");
    snprintf(ret_words, SANDBOX_WORDS, "confined: %s; %s", files, calls);
}
