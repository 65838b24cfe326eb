/* The agent's program: where it is, and its start. */
#include "session/delivery.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "store/error_words.h"

#define AGENT "launchguard-agent"
/* The build of a distribution names its own. */
#ifndef LG_AGENT_DIRECTORY
#define LG_AGENT_DIRECTORY "/usr/local/libexec/launchguard"
#endif

/* An agent that was started takes its lock a moment later. */
#define BEGIN_NS UINT64_C(2000000000)
#define LOOK_NS UINT64_C(20000000)

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

/* When an agent last took its lock; 0: never. */
static uint64_t last_begun(int spool)
{
    struct stat info;
    return fstatat(spool, "agent", &info, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec : 0;
}

static lg_status fail(lg_session *session, const char *what, const char *why)
{
    struct lg__problem problem = { .status = LG_OK };
    lg__problem_say(&problem, LG_ERR_NO_AGENT, "delivery: %s %s%s; \"launchguard doctor\" says more", lg__delivery_state.agent, what, why);
    lg__host_log(&session->host, LG_LEVEL_WARNING, "%s", problem.message);
    return lg__delivery_problem(session, &problem);
}

lg_status lg__delivery_agent_start(lg_session *session, int spool)
{
    struct lg__delivery *delivery = &lg__delivery_state;
    char path[4096], option[] = "--state";
    lg_status status = LG_OK;
    if (lg__delivery_agent_is_off(spool) || !lg__consent_read(spool).given)
        return LG_OK;
    pthread_mutex_lock(&delivery->lock);
    if (delivery->agent[0] && !lg__spool_agent_serves(spool) && state_directory(spool, path)) {
        char *argv[] = { delivery->agent, option, path, NULL }, **variables = environment();
        char words[96];
        delivery->begun_ns = last_begun(spool) + 1;
        int error = variables ? lg__os_spawn_detached(delivery->agent, argv, variables) : 0;
        free(variables);
        if (error) {
            delivery->begun_ns = 0; /* nobody waits for it */
            status = fail(session, "cannot be started: ", lg__error_words(error, words, sizeof words));
        } else if (variables)
            lg__host_log(&session->host, LG_LEVEL_INFO, "delivery: the agent was started");
    }
    pthread_mutex_unlock(&delivery->lock);
    return status;
}

void lg__delivery_agent_await(lg_session *session, int spool)
{
    static const uint32_t never;
    pthread_mutex_lock(&lg__delivery_state.lock);
    const uint64_t begun = lg__delivery_state.begun_ns;
    pthread_mutex_unlock(&lg__delivery_state.lock);
    for (uint64_t left = LG_PATIENCE(BEGIN_NS) / LOOK_NS; last_begun(spool) + 1 == begun && !lg__spool_agent_lives(spool) && !lg__capture_alone(); left--) {
        if (!left) {
            fail(session, "was started, and has not begun", "");
            return;
        }
        lg__capture_sleep(&never, 0, LOOK_NS);
    }
}
