/* The functions that execute another program in the process. The run notes that before, as nothing
 * runs after a success, and removes the note where the program was not executed. */
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "session/preloaded.h"

typedef int (*exec_function)(const char *, char *const *, char *const *);
typedef int (*exec_same_function)(const char *, char *const *);
typedef int (*exec_file_function)(int, char *const *, char *const *);
typedef int (*exec_at_function)(int, const char *, char *const *, char *const *, int);

static struct {
    exec_function execve, execvpe;
    exec_same_function execv, execvp;
    exec_file_function fexecve;
    exec_at_function execveat;
} libc;

static int refuse(void)
{
    errno = ENOSYS; /* an older libc has no such function */
    return -1;
}

#define FIND(name) do { void *found = dlsym(RTLD_NEXT, #name); memcpy(&libc.name, &found, sizeof found); } while (0)

/* Look the functions up at start: dlsym() is not for a signal handler, or for a child that shares
 * our memory. */
__attribute__((constructor)) static void find(void)
{
    FIND(execve);
    FIND(execvpe);
    FIND(execv);
    FIND(execvp);
    FIND(fexecve);
    FIND(execveat);
}

/* Note the execution if the program exists: libc looks for it in many places. */
static bool begin(int directory, const char *path)
{
    const int error = errno;
    const bool there = faccessat(directory, path, X_OK, AT_EACCESS) == 0;
    errno = error;
    return there && lg__preloaded_executes();
}

/* A call that returns only on failure has returned. */
static int end(bool begun)
{
    if (begun)
        lg__preloaded_goes_on();
    return -1;
}

LG__EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    if (!libc.execve)
        return refuse();
    const bool begun = begin(AT_FDCWD, path);
    libc.execve(path, arguments, environment);
    return end(begun);
}

LG__EXPORT int execv(const char *path, char *const arguments[])
{
    if (!libc.execv)
        return refuse();
    const bool begun = begin(AT_FDCWD, path);
    libc.execv(path, arguments);
    return end(begun);
}

/* libc looks in PATH for a name without a slash. */
static bool begin_in_path(const char *name)
{
    return strchr(name, '/') ? begin(AT_FDCWD, name) : lg__preloaded_executes();
}

LG__EXPORT int execvp(const char *name, char *const arguments[])
{
    if (!libc.execvp)
        return refuse();
    const bool begun = begin_in_path(name);
    libc.execvp(name, arguments);
    return end(begun);
}

LG__EXPORT int execvpe(const char *name, char *const arguments[], char *const environment[])
{
    if (!libc.execvpe)
        return refuse();
    const bool begun = begin_in_path(name);
    libc.execvpe(name, arguments, environment);
    return end(begun);
}

LG__EXPORT int fexecve(int file, char *const arguments[], char *const environment[])
{
    if (!libc.fexecve)
        return refuse();
    const bool begun = lg__preloaded_executes();
    libc.fexecve(file, arguments, environment);
    return end(begun);
}

extern int execveat(int, const char *, char *const[], char *const[], int); /* since glibc 2.34 */

LG__EXPORT int execveat(int directory, const char *path, char *const arguments[], char *const environment[], int flags)
{
    if (!libc.execveat)
        return refuse();
    const bool begun = flags & AT_EMPTY_PATH ? lg__preloaded_executes() : begin(directory, path);
    libc.execveat(directory, path, arguments, environment, flags);
    return end(begun);
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
