/* A control group of its own: version 2 where this has the memory controller, else version 1. */
#include "cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalogue.h"

static char group[4096 + 64];

static bool store(const char *name, const char *value)
{
    char path[sizeof group + 64];
    snprintf(path, sizeof path, "%s/%s", group, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool stored = file >= 0 && write(file, value, strlen(value)) == (ssize_t)strlen(value);
    if (file >= 0)
        close(file);
    return stored;
}

/* The path of the process in the hierarchy with this prefix in /proc/self/cgroup: "0::" or
 * ":memory:". */
static bool own_path(const char *prefix, char *ret_path, size_t size)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *at = strstr(line, prefix);
        line[strcspn(line, "\n")] = 0;
        found = at && (prefix[0] != '0' || at == line);
        if (found)
            snprintf(ret_path, size, "%s", at + strlen(prefix));
    }
    if (file)
        fclose(file);
    return found;
}

static bool make(const char *root, const char *prefix, const char *limit_file, size_t bytes)
{
    char path[3072], value[32];
    if (!own_path(prefix, path, sizeof path))
        return false;
    snprintf(group, sizeof group, "%s%s/launchguard-faults-%d", root, path, (int)getpid());
    if (mkdir(group, 0700) != 0)
        return false;
    snprintf(value, sizeof value, "%zu", bytes);
    if (store(limit_file, value)) {
        store("memory.swap.max", "0"); /* where there is swap, the group does not use it */
        store("memory.swappiness", "0");
        return true;
    }
    rmdir(group);
    return false;
}

/* Outlives every process of the group, and removes the group. It has its own session, so that a
 * signal for the entry's process group does not reach it. */
static void leave_janitor(void)
{
    int alive[2];
    char byte;
    if (pipe2(alive, 0) != 0) {
        rmdir(group);
        lgf_skip("no descriptor left");
    }
    pid_t janitor = fork();
    if (janitor == 0) {
        setsid();
        close(alive[1]);
        (void)!read(alive[0], &byte, 1); /* ends when the last process of the group is gone */
        for (int i = 0; i < 500 && rmdir(group) != 0; i++)
            lgf_sleep_ms(10);
        _exit(0);
    }
    close(alive[0]);
}

static void join(void)
{
    char self[16];
    snprintf(self, sizeof self, "%d", (int)getpid());
    if (!store("cgroup.procs", self))
        lgf_skip("the new cgroup does not take the process");
}

void lgf_cgroup_limit_memory(size_t bytes)
{
    if (!make("/sys/fs/cgroup", "0::", "memory.max", bytes) && !make("/sys/fs/cgroup/unified", "0::", "memory.max", bytes) &&
        !make("/sys/fs/cgroup/memory", ":memory:", "memory.limit_in_bytes", bytes))
        lgf_skip("no cgroup with a memory limit can be made");
    leave_janitor();
    lgf_continue_in_child(0, NULL);
    join();
}
