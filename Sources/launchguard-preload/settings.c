/* Settings from the environment, which is read once and left as it is for executed programs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "preload.h"
#include "program.h"
#include "store/given.h"

static struct lg__program program;
static char log_path[4096];

/* High numbers, because programs and shells use the low ones as they like; below the usual limit,
 * so that the table of a process stays small. */
#define FILES_FROM 960
#define FILES 32 /* more than a session has */

static void take_numbers(void)
{
    const long most = sysconf(_SC_OPEN_MAX);
    if (most >= FILES_FROM + FILES)
        lg__os_files_from(FILES_FROM);
    else if (most > 2 * FILES)
        lg__os_files_from((int)most - FILES);
}

const lg_options *lg__settings_read(int count, char *const *arguments)
{
    static lg_options options = LG_OPTIONS_INIT;
    const char *folder = secure_getenv("LAUNCHGUARD_DIRECTORY"), *log = secure_getenv("LAUNCHGUARD_LOG");
    lg__program_take(count, arguments, &program);
    if (log && strlen(log) < sizeof log_path)
        strcpy(log_path, log);
    if (lg__arch_is_simulated()) {
        /* its reports name all that the process does: calls, blocks of the heap, races */
        lg__settings_say("valgrind simulates this program, which has no record");
        return NULL;
    }
    if (!lg__program_place(&program, folder && *folder ? folder : NULL)) {
        lg__settings_say("LAUNCHGUARD_DIRECTORY is no path that can be used; make it an absolute one of at most 4000 bytes");
        return NULL;
    }
    take_numbers();
    options.app_id = program.name;
    options.state_directory = program.directory;
    options.keep_first = 1;
    /* a handler that waits for a debugger, or dumps all memory, goes on as without us */
    options.handler_ms = LG__GIVEN_HANDLER_MAX_MS;
    return &options;
}

bool lg__settings_say(const char *message)
{
    char line[2048];
    const int error = errno;
    int file = log_path[0] ? open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        int size = snprintf(line, sizeof line, "launchguard: %s[%d]: %s\n", program.name, (int)getpid(), message);
        ssize_t ignored = write(file, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
        (void)ignored;
        close(file);
    }
    errno = error;
    return file >= 0;
}
