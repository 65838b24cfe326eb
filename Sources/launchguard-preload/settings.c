/* Settings from the environment, which is read once and left as it is for executed programs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

/* Beyond a limit on the size of files a write would end the program. */
static bool has_room(int file, size_t size)
{
    struct rlimit limit;
    struct stat info;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || (fstat(file, &info) == 0 && (!S_ISREG(info.st_mode) || (uint64_t)info.st_size + size <= limit.rlim_cur)));
}

bool lg__settings_say(const char *message)
{
    char line[2048];
    const int error = errno;
    bool said = false;
    int file = log_path[0] ? open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        const int whole = snprintf(line, sizeof line, "launchguard: %s[%d]: %s\n", program.name, (int)getpid(), message);
        const size_t size = (size_t)whole < sizeof line ? (size_t)whole : sizeof line - 1;
        said = has_room(file, size) && write(file, line, size) > 0;
        close(file);
    }
    errno = error;
    return said;
}
