#include "process/environment.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool is_ours(const char *variable)
{
    /* The last two lead to the user's service manager, for process/scope.h. */
    static const char *const beginnings[] = {
        "PATH=", "HOME=", "LANG=", "LC_", "TZ=", "LAUNCHGUARD_", "SSL_CERT_FILE=", "SSL_CERT_DIR=",
        "http_proxy=", "https_proxy=", "no_proxy=", "all_proxy=", "HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY=", "ALL_PROXY=",
        "XDG_RUNTIME_DIR=", "DBUS_SESSION_BUS_ADDRESS=",
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

void environment_reduce(char **argv)
{
    char path[PATH_MAX];
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    for (size_t i = 0; i < count; i++)
        if (is_ours(environ[i]))
            environ[kept++] = environ[i];
    environ[kept] = NULL;
    ssize_t size = kept == count ? 0 : readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0)
        return;
    path[size] = 0;
    if (!strstr(strrchr(path, '/'), ".so")) /* no loader that was told to load the agent */
        execv(path, argv);
}
