#include "peers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

static const struct {
    const char *program, *mode, *name;
    int rounds; /* most rounds; 0: no limit */
} peers[PEER_RUNS] = {
    [NO_HANDLER] = { "peer-backtrace", "none", "no handler", 0 },
    [LG_OFF] = { "peer-static", "off", "LaunchGuard static, SIGSEGV given back", 0 },
    [LG_OFF_SHARED] = { "peer-shared", "off", "LaunchGuard shared, SIGSEGV given back", 0 },
    [LG_FEW] = { "peer-static", "few", "LaunchGuard static, stages 1-5", 0 },
    [LG_FEW_SHARED] = { "peer-shared", "few", "LaunchGuard shared, stages 1-5", 0 },
    [LG_ALL] = { "peer-static", "all", "LaunchGuard static, everything", 0 },
    [LG_ALL_SHARED] = { "peer-shared", "all", "LaunchGuard shared, everything", 0 },
    [BACKTRACE_ONLY] = { "peer-backtrace", "frames", "backtrace(), called once before", 0 },
    [BACKTRACE_COLD] = { "peer-backtrace", "cold", "backtrace() + backtrace_symbols_fd()", 0 },
    [BACKTRACE_WARM] = { "peer-backtrace", "warm", "the same, backtrace() called once before", 0 },
    [LIBUNWIND] = { "peer-libunwind", "warm", "libunwind, local cursor, used once before", 0 },
    [ABSEIL] = { "peer-abseil", "-", "abseil's failure signal handler", 0 },
    [GLOG] = { "peer-glog", "-", "glog's failure signal handler", 0 },
    [BOOST] = { "peer-boost", "-", "boost::stacktrace::safe_dump_to()", 0 },
    [SWIFT] = { "peer-swift", "-", "the Swift runtime's backtracer", 5 },
    [LG_ALL_STAMPS] = { "peer-timed", "all", "", 0 },
    [LG_FEW_STAMPS] = { "peer-timed", "few", "", 0 },
};

struct scene_shared *peer_shared;
int peer_output;
static char programs[2048]; /* directory */
static const char *files;
static char *swift_environment[4096];
static char missing[PEER_RUNS][96];

static void path_of(enum peer peer, const char *end, char *path, size_t size)
{
    snprintf(path, size, "%s/%s%s", programs, peers[peer].program, end);
}

static void find(enum peer peer)
{
    char path[4096];
    path_of(peer, "", path, sizeof path);
    if (access(path, X_OK) == 0)
        return;
    snprintf(missing[peer], sizeof missing[peer], "%s is missing", peers[peer].program);
    path_of(peer, ".missing", path, sizeof path);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(missing[peer], sizeof missing[peer], file))
        missing[peer][strcspn(missing[peer], "\n")] = 0;
    fclose(file);
}

void peers_open(const char *self, const char *directory)
{
    const char *slash = strrchr(self, '/');
    size_t count = 0;
    snprintf(programs, sizeof programs, "%.*s", slash ? (int)(slash - self) : 1, slash ? self : ".");
    files = directory;
    peer_shared = shared_make(sizeof *peer_shared);
    peer_output = memfd_create("output", MFD_CLOEXEC);
    if (peer_output < 0) {
        perror("memfd_create");
        exit(1);
    }
    for (char **each = environ; *each && count < 4000; each++)
        if (strncmp(*each, "SWIFT_BACKTRACE=", 16) != 0)
            swift_environment[count++] = *each;
    swift_environment[count] = "SWIFT_BACKTRACE=enable=yes,interactive=no,color=no,output-to=stderr";
    for (int peer = 0; peer < PEER_RUNS; peer++)
        find((enum peer)peer);
}

const char *peer_name(enum peer peer)
{
    return peers[peer].name;
}

const char *peer_missing(enum peer peer)
{
    return missing[peer][0] ? missing[peer] : NULL;
}

int peer_rounds(enum peer peer, int rounds)
{
    return peers[peer].rounds && peers[peer].rounds < rounds ? peers[peer].rounds : rounds;
}

struct peer_end peer_crash(enum peer peer, int depth, int threads, const char *what, unsigned limit_ms)
{
    char program[4096], depth_text[16], threads_text[16];
    path_of(peer, "", program, sizeof program);
    snprintf(depth_text, sizeof depth_text, "%d", depth);
    snprintf(threads_text, sizeof threads_text, "%d", threads);
    char *arguments[] = { program, (char *)peers[peer].mode, depth_text, threads_text, (char *)what, (char *)shared_name(), (char *)files, NULL };
    struct child child = { .arguments = arguments, .output = peer_output, .limit_ms = limit_ms,
                           .environment = peer == SWIFT ? swift_environment : NULL };
    memset(peer_shared, 0, sizeof *peer_shared);
    if (ftruncate(peer_output, 0) != 0 || lseek(peer_output, 0, SEEK_SET) != 0)
        perror("memfd");
    struct peer_end end = { .status = child_run(&child) };
    end.hung = child.hung;
    end.total_us = (double)(child.ended_ns - peer_shared->stamps[SCENE_FAULT]) / 1000;
    return end;
}
