#include "process/scope.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/agent_log.h"

#define BUSCTL "/usr/bin/busctl"
#define ANSWER_MS 333

bool scope_unit(const char *cgroups, char *ret_unit, size_t room, bool *ret_user)
{
    static const char end[] = ".service";
    for (const char *line = cgroups; *line;) {
        const char *stop = strchrnul(line, '\n'), *name = line;
        for (const char *at = line; at < stop; at++)
            if (*at == '/')
                name = at + 1;
        size_t size = (size_t)(stop - name), tail = sizeof end - 1;
        if (name > line && size > tail && size < room && memcmp(stop - tail, end, tail) == 0) {
            memcpy(ret_unit, name, size);
            ret_unit[size] = 0;
            const char *user = memmem(line, (size_t)(name - line), "/user@", 6);
            *ret_user = user != NULL;
            return true;
        }
        line = *stop ? stop + 1 : stop;
    }
    return false;
}

static bool read_unit(char *ret_unit, size_t room, bool *ret_user)
{
    char text[4096];
    int file = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (size <= 0)
        return false;
    text[size] = 0;
    return scope_unit(text, ret_unit, room, ret_user);
}

/* false: the process did not end in time, and was killed. */
static bool wait_for(pid_t child)
{
    struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN };
    bool ended = end.fd >= 0 && poll(&end, 1, ANSWER_MS) == 1;
    if (end.fd >= 0)
        close(end.fd);
    if (!ended)
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return ended;
}

void scope_leave_unit(void)
{
    extern char **environ;
    char unit[256], scope[64], pid[16], now[256];
    bool user;
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (!read_unit(unit, sizeof unit, &user))
        return;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    snprintf(scope, sizeof scope, "launchguard-agent-%s.scope", pid);
    char *arguments[] = { (char *)"busctl", (char *)(user ? "--user" : "--system"), (char *)"--quiet", (char *)"call",
                          (char *)"org.freedesktop.systemd1", (char *)"/org/freedesktop/systemd1", (char *)"org.freedesktop.systemd1.Manager",
                          (char *)"StartTransientUnit", (char *)"ssa(sv)a(sa(sv))", scope, (char *)"fail", (char *)"1", (char *)"PIDs",
                          (char *)"au", (char *)"1", pid, (char *)"0", NULL };
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool asked = posix_spawn(&child, BUSCTL, &actions, NULL, arguments, environ) == 0 && wait_for(child);
    posix_spawn_file_actions_destroy(&actions);
    if (asked && (!read_unit(now, sizeof now, &user) || strcmp(now, unit) != 0))
        agent_log("moved from %s to %s", unit, scope);
    else
        agent_log("stays in %s: with KillMode=control-group, a stop of the unit ends the agent too", unit);
}
