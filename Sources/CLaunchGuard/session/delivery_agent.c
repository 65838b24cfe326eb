/* The agent's program: where it is, and its start. */
#include "session/delivery.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"
#include "store/error_words.h"

#define AGENT "launchguard-agent"
/* The build of a distribution names its own. */
#ifndef LG_AGENT_DIRECTORY
#define LG_AGENT_DIRECTORY "/usr/local/libexec/launchguard"
#endif

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

bool lg__delivery_agent_find(const char *wanted, char ret_path[4096])
{
    static const char *const installed[] = { LG_AGENT_DIRECTORY "/" AGENT, "/usr/local/libexec/launchguard/" AGENT, "/usr/libexec/launchguard/" AGENT };
    if (!wanted && !lg__os_secure())
        wanted = getenv("LAUNCHGUARD_AGENT");
    if (wanted && *wanted) {
        snprintf(ret_path, 4096, "%s", wanted);
        return wanted[0] == '/' && is_program(ret_path);
    }
    char executable[4096];
    lg__os_executable(executable, sizeof executable);
    char *slash = strrchr(executable, '/');
    int length = slash ? snprintf(ret_path, 4096, "%.*s/" AGENT, (int)(slash - executable), executable) : 4096;
    if (length < 4096 && is_program(ret_path))
        return true;
    for (size_t i = 0; i < sizeof installed / sizeof installed[0]; i++) {
        snprintf(ret_path, 4096, "%s", installed[i]);
        if (is_program(ret_path))
            return true;
    }
    return false;
}

bool lg__delivery_agent_is_off(int spool)
{
    return getenv("LAUNCHGUARD_NO_DELIVERY") || lg__spool_is_off(spool);
}

/* The environment without the variables of the loader, which would load libraries of this program
 * into the agent. The agent drops others. NULL: no memory. */
static char **environment(void)
{
    size_t count = 0, at = 0;
    while (environ && environ[count])
        count++;
    char **copy = malloc((count + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < count && environ[i]; i++)
        if (strncmp(environ[i], "LD_", 3) != 0)
            copy[at++] = environ[i];
    if (copy)
        copy[at] = NULL;
    return copy;
}

/* The absolute path of the state directory; false: it is not known. */
static bool state_directory(int spool, char ret_path[4096])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", spool);
    ssize_t size = readlink(link, ret_path, 4095);
    if (size <= 0)
        return false;
    ret_path[size] = 0;
    char *slash = strrchr(ret_path, '/');
    if (ret_path[0] != '/' || !slash || strcmp(slash, "/spool") != 0)
        return false;
    *slash = 0;
    return true;
}

void lg__delivery_agent_start(const lg_session *session, int spool)
{
    struct lg__delivery *delivery = &lg__delivery_state;
    char path[4096], option[] = "--state";
    if (lg__delivery_agent_is_off(spool) || !lg__consent_read(spool).given)
        return;
    pthread_mutex_lock(&delivery->lock);
    if (delivery->agent[0] && !lg__spool_agent_serves(spool) && state_directory(spool, path)) {
        char *argv[] = { delivery->agent, option, path, NULL }, **variables = environment();
        char words[96];
        int error = variables ? lg__os_spawn_detached(delivery->agent, argv, variables) : 0;
        free(variables);
        if (error)
            lg__host_log(&session->host, LG_LEVEL_WARNING, "delivery: %s cannot be started: %s", delivery->agent, lg__error_words(error, words, sizeof words));
        else if (variables)
            lg__host_log(&session->host, LG_LEVEL_INFO, "delivery: the agent was started");
    }
    pthread_mutex_unlock(&delivery->lock);
}
