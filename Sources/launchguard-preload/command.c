#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 10000000

static bool is_preload(const char *variable)
{
    return strncmp(variable, "LD_PRELOAD=", 11) == 0 || strncmp(variable, "LAUNCHGUARD_LAUNCH=", 19) == 0;
}

/* The environment of the command, in memory of malloc(). */
static char **environment_of(char *preload)
{
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    char **copy = calloc(count + 2, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (!is_preload(environ[i]))
            copy[used++] = environ[i];
    if (copy && preload)
        copy[used] = preload;
    return copy;
}

/* In a child that shares our memory: system calls alone. It ends with this process. */
static void become(char *const arguments[], char *const environment[], pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const pid_t now = getppid();
    if (now != parent && now != 0)
        _exit(127);
    setpgid(0, 0);
    const int null = open("/dev/null", O_RDONLY);
    if (null > STDIN_FILENO) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execve("/bin/sh", arguments, environment);
    _exit(127);
}

static pid_t begin(char *const arguments[], char *const environment[])
{
    const pid_t parent = getpid();
    const pid_t child = vfork();
    if (child == 0)
        become(arguments, environment, parent);
    return child;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* false: the command did not end in time, and was killed. */
static bool wait_for(pid_t child, uint32_t limit_ms, int *ret_status)
{
    const struct timespec look = { 0, LOOK_NS };
    const uint64_t until = now_ms() + limit_ms;
    while (waitpid(child, ret_status, WNOHANG) == 0) {
        if (now_ms() >= until) {
            kill(-child, SIGKILL);
            kill(child, SIGKILL);
            while (waitpid(child, ret_status, 0) < 0 && errno == EINTR) {}
            return false;
        }
        nanosleep(&look, NULL);
    }
    return true;
}

bool lg__command_run(const char *command, const char *const *arguments, const char *preload, uint32_t limit_ms, char *ret_why, size_t size)
{
    const char *all[LG__COMMAND_ARGUMENTS + 5] = { "sh", "-c", command, "launchguard" };
    char *variable = NULL;
    int status = 0;
    for (size_t i = 0; i < LG__COMMAND_ARGUMENTS && arguments[i]; i++)
        all[4 + i] = arguments[i];
    if (preload && asprintf(&variable, "LD_PRELOAD=%s", preload) < 0)
        variable = NULL;
    char **environment = environment_of(variable);
    struct sigaction plain = { .sa_handler = SIG_DFL }, before;
    sigaction(SIGCHLD, &plain, &before); /* ignored, it would leave no status */
    const pid_t child = environment ? begin((char *const *)(uintptr_t)all, environment) : -1;
    const int error = environment ? errno : ENOMEM;
    const bool ended = child > 0 && wait_for(child, limit_ms, &status);
    sigaction(SIGCHLD, &before, NULL);
    free(environment);
    free(variable);
    if (child < 0)
        snprintf(ret_why, size, "it could not be started: %s", strerror(error));
    else if (!ended)
        snprintf(ret_why, size, "it did not end within %u ms and was killed", limit_ms);
    else if (WIFSIGNALED(status))
        snprintf(ret_why, size, "it died of signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(ret_why, size, "it ended with status %d", WEXITSTATUS(status));
    return child > 0 && ended && status == 0;
}
