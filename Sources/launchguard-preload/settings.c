/* Settings from the environment, which is read once and left as it is for executed programs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"
#include "preload.h"

static char app_id[LG_NAME_MAX + 1], state_directory[4096], log_path[4096];

/* The last part of the program's name, in the letters of an app_id. A login shell has a dash before
 * its name. */
static void take_name(const char *program)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    name += strspn(name, "-");
    snprintf(app_id, sizeof app_id, "%s", *name ? name : "program");
    for (char *at = app_id; *at; at++)
        if (!strchr(letters, *at) || (at == app_id && *at == '.'))
            *at = '_';
}

/* The folder of the program in `folder`; that of another user stays alone. false: it has no path
 * that could be used. */
static bool take_directory(const char *folder)
{
    struct stat info;
    int length = snprintf(state_directory, sizeof state_directory, "%s/%s", folder, app_id);
    if (folder[0] != '/' || length < 0 || (size_t)length >= sizeof state_directory - 16)
        return false;
    if (stat(state_directory, &info) == 0 && info.st_uid != geteuid())
        snprintf(state_directory + length, sizeof state_directory - (size_t)length, ".%u", (unsigned)geteuid());
    return true;
}

/* High numbers, because programs and shells use the low ones as they like; below the usual limit,
 * so that the table of a process stays small. */
#define FILES_FROM 960
#define FILES 32 /* more than a session has */

/* The longest that can be: a handler that waits for a debugger, or dumps all memory, goes on as
 * without us. */
#define HANDLER_MS 3600000

static void take_numbers(void)
{
    const long most = sysconf(_SC_OPEN_MAX);
    if (most >= FILES_FROM + FILES)
        lg__os_files_from(FILES_FROM);
    else if (most > 2 * FILES)
        lg__os_files_from((int)most - FILES);
}

const lg_options *lg__settings_read(const char *program)
{
    static lg_options options = LG_OPTIONS_INIT;
    const char *folder = secure_getenv("LAUNCHGUARD_DIRECTORY"), *log = secure_getenv("LAUNCHGUARD_LOG");
    take_name(program);
    if (log && strlen(log) < sizeof log_path)
        strcpy(log_path, log);
    if (folder && *folder && !take_directory(folder)) {
        lg__settings_say("LAUNCHGUARD_DIRECTORY is no path that can be used; make it an absolute one of at most 4000 bytes");
        return NULL;
    }
    take_numbers();
    options.app_id = app_id;
    options.state_directory = folder && *folder ? state_directory : NULL;
    options.keep_first = 1;
    options.handler_ms = HANDLER_MS;
    return &options;
}

bool lg__settings_say(const char *message)
{
    char line[2048];
    const int error = errno;
    int file = log_path[0] ? open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        int size = snprintf(line, sizeof line, "launchguard: %s[%d]: %s\n", app_id, (int)getpid(), message);
        ssize_t ignored = write(file, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
        (void)ignored;
        close(file);
    }
    errno = error;
    return file >= 0;
}
