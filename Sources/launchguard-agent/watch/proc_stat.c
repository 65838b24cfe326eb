#include "watch/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A field, from 4, of a line of /proc/PID/stat that begins at its third field. NULL: there are
 * fewer. */
static const char *field_of(const char *third, int number)
{
    for (int i = 3; third && i < number; i++)
        third = (third = strchr(third, ' ')) ? third + 1 : NULL;
    return third;
}

/* To others the kernel shows the exit code 0 (proc_pid_stat(5), field 52: PTRACE_MODE_READ). The
 * link wants the same right, and a process that has ended has no folder. */
static bool may_see_code(int32_t pid)
{
    char path[32], folder[1];
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)pid);
    return readlink(path, folder, sizeof folder) >= 0 || (errno != EACCES && errno != EPERM);
}

enum proc_stat proc_stat_find(int32_t pid, uint64_t start_ticks, int *ret_wait_status)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (size <= 0)
        return PROC_STAT_NONE;
    text[size] = 0;
    /* the name in parentheses may hold anything */
    const char *end = strrchr(text, ')'), *third = end && end[1] == ' ' ? end + 2 : NULL;
    const char *started = field_of(third, 22), *code = field_of(third, 52);
    if (!started || !code || strtoull(started, NULL, 10) != start_ticks)
        return PROC_STAT_NONE;
    if (*third != 'Z')
        return PROC_STAT_ALIVE;
    if (!may_see_code(pid))
        return PROC_STAT_ENDED;
    *ret_wait_status = (int)strtol(code, NULL, 10);
    return PROC_STAT_STATUS;
}
