/* The functions that execute another program, itself or in another process. The run of a process
 * that executes one itself notes that before, as nothing runs after a success, and removes the note
 * where the program was not executed. */
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "session/preloaded.h"

typedef int (*exec_function)(const char *, char *const *, char *const *);
typedef int (*exec_file_function)(int, char *const *, char *const *);
typedef int (*exec_at_function)(int, const char *, char *const *, char *const *, int);
typedef int (*spawn_function)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, char *const *);

static struct {
    exec_function execve, execvpe;
    exec_file_function fexecve;
    exec_at_function execveat;
    spawn_function posix_spawn, posix_spawnp;
    int (*system)(const char *);
    FILE *(*popen)(const char *, const char *);
} libc;

static int refuse(void)
{
    errno = ENOSYS; /* an older libc has no such function */
    return -1;
}

#define FIND(name) LG__FIND(libc.name, #name)

/* A child that shares our memory looks nothing up. */
__attribute__((constructor)) static void find(void)
{
    (void)(FIND(execve) + FIND(execvpe) + FIND(fexecve) + FIND(execveat) + FIND(posix_spawn) + FIND(posix_spawnp) + FIND(system) + FIND(popen));
}

/* `own`: the environment for the program at a path, on this stack. */
#define ENVIRONMENT(own, given, directory, path, flags)                                      \
    const struct lg__environment change = lg__environment_for(directory, path, flags, given); \
    char *entries[change.self ? change.count + 1 : 1], value[change.self ? change.size + 1 : 1]; \
    char *const *own = change.self ? lg__environment_without_us(&change, given, entries, value) : given

/* Note the execution if the program exists: libc looks for it in many places. */
static bool begin(int directory, const char *path)
{
    const int error = errno;
    const bool there = lg__capture_is_confined() || faccessat(directory, path, X_OK, AT_EACCESS) == 0;
    errno = error;
    return there && lg__preloaded_executes();
}

/* A call that returns only on failure. */
#define EXECUTE(begun, call)             \
    do {                                 \
        struct lg__inherited kept;       \
        lg__inherit_begin(&kept);        \
        call;                            \
        lg__inherit_end(&kept);          \
        if (begun)                       \
            lg__preloaded_goes_on();     \
        return -1;                       \
    } while (0)

/* A call that returns its result when another process executes the program, or has done so. */
#define START(type, call)                \
    do {                                 \
        struct lg__inherited kept;       \
        lg__inherit_begin(&kept);        \
        type const result = call;        \
        lg__inherit_end(&kept);          \
        return result;                   \
    } while (0)

LG__EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    if (!FIND(execve))
        return refuse();
    const bool begun = begin(AT_FDCWD, path);
    ENVIRONMENT(own, environment, AT_FDCWD, path, 0);
    EXECUTE(begun, libc.execve(path, arguments, own));
}

LG__EXPORT int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

LG__EXPORT int execvpe(const char *name, char *const arguments[], char *const environment[])
{
    if (!FIND(execvpe))
        return refuse();
    /* libc looks in PATH for a name without a slash */
    const bool begun = strchr(name, '/') ? begin(AT_FDCWD, name) : lg__preloaded_executes();
    ENVIRONMENT(own, environment, AT_FDCWD, name, LG__ENVIRONMENT_IN_PATH);
    EXECUTE(begun, libc.execvpe(name, arguments, own));
}

LG__EXPORT int execvp(const char *name, char *const arguments[])
{
    return execvpe(name, arguments, environ);
}

LG__EXPORT int fexecve(int file, char *const arguments[], char *const environment[])
{
    if (!FIND(fexecve))
        return refuse();
    const bool begun = lg__preloaded_executes();
    ENVIRONMENT(own, environment, file, "", AT_EMPTY_PATH);
    EXECUTE(begun, libc.fexecve(file, arguments, own));
}

extern int execveat(int, const char *, char *const[], char *const[], int); /* since glibc 2.34 */

LG__EXPORT int execveat(int directory, const char *path, char *const arguments[], char *const environment[], int flags)
{
    if (!FIND(execveat))
        return refuse();
    const bool begun = flags & AT_EMPTY_PATH ? lg__preloaded_executes() : begin(directory, path);
    ENVIRONMENT(own, environment, directory, path, flags & AT_EMPTY_PATH);
    EXECUTE(begun, libc.execveat(directory, path, arguments, own, flags));
}

/* ---- in another process ---- */

LG__EXPORT int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                           char *const arguments[], char *const environment[])
{
    if (!FIND(posix_spawn))
        return ENOSYS;
    ENVIRONMENT(own, environment, AT_FDCWD, path, 0);
    START(int, libc.posix_spawn(process, path, actions, attributes, arguments, own));
}

LG__EXPORT int posix_spawnp(pid_t *process, const char *name, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                            char *const arguments[], char *const environment[])
{
    if (!FIND(posix_spawnp))
        return ENOSYS;
    ENVIRONMENT(own, environment, AT_FDCWD, name, LG__ENVIRONMENT_IN_PATH);
    START(int, libc.posix_spawnp(process, name, actions, attributes, arguments, own));
}

LG__EXPORT int system(const char *command)
{
    if (!FIND(system))
        return refuse();
    START(int, libc.system(command));
}

LG__EXPORT FILE *popen(const char *command, const char *how)
{
    if (!FIND(popen)) {
        refuse();
        return NULL;
    }
    START(FILE *, libc.popen(command, how));
}

/* ---- with the arguments one by one ---- */

/* The arguments as an array with its NULL, on this stack: heap and locks are not for a signal
 * handler. `list` stands after the NULL then. */
#define COLLECT(array, list, first)                                        \
    va_list list;                                                          \
    size_t count = 1;                                                      \
    va_start(list, first);                                                 \
    for (const char *at = first; at; at = va_arg(list, const char *))      \
        count++;                                                           \
    va_end(list);                                                          \
    char *array[count];                                                    \
    va_start(list, first);                                                 \
    memcpy(array, &first, sizeof first);                                   \
    for (size_t i = 1; i < count; i++)                                     \
        array[i] = va_arg(list, char *)

LG__EXPORT int execl(const char *path, const char *first, ...)
{
    COLLECT(all, rest, first);
    va_end(rest);
    return execv(path, all);
}

LG__EXPORT int execlp(const char *name, const char *first, ...)
{
    COLLECT(all, rest, first);
    va_end(rest);
    return execvp(name, all);
}

LG__EXPORT int execle(const char *path, const char *first, ...)
{
    COLLECT(all, rest, first);
    char *const *environment = va_arg(rest, char *const *);
    va_end(rest);
    return execve(path, all, environment);
}
