/* The start: after all constructors, so that what a runtime installs there was there before, and
 * ahead of main().
 *
 * glibc has __libc_start_main() in two versions, which are one function: a program that was linked
 * before glibc 2.34 gives its constructors as `init`, a later one gives NULL. musl has the same
 * function, and takes `main` from its first parameter as well. A program that enters main() in
 * another way runs as without us. */
#include "preload.h"
#include "program.h"
#include "script.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/preloaded.h"

typedef int (*main_function)(int, char **, char **);
typedef int (*start_function)(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static main_function the_main;

static void start(int *count, char ***arguments)
{
    const enum lg__preloaded_role role = lg__program_role();
    if (role == LG__PRELOADED_HELPER && secure_getenv("LAUNCHGUARD_ONLY_PROGRAM"))
        return;
    const lg_options *options = lg__settings_read(*count, *arguments);
    if (!options)
        return;
    const lg_status status = lg__preloaded_start(options, role);
    if (status != LG_OK && status != LG_ERR_SECONDARY)
        lg__settings_say(lg__preloaded_message());
    lg__launch_begin(lg__preloaded_session(), count, arguments);
}

/* qemu gives its environment to a program of another machine, whose loader would say that this
 * library is not for it. */
static void spare_guest(int count, char *const *arguments)
{
    static const char emulator[] = "qemu-";
    size_t size = 0;
    const char *name = count ? lg__script_last_part(arguments[0], &size) : "";
    bool is_guest = false;
    if (size < sizeof emulator || memcmp(name, emulator, sizeof emulator - 1) != 0)
        return;
    for (int i = 1; i < count && !is_guest; i++)
        is_guest = lg__environment_for(AT_FDCWD, arguments[i], 0, environ).self != NULL;
    if (is_guest)
        lg__environment_leave();
}

static int main_behind_start(int count, char **arguments, char **environment)
{
    char **const before = environ;
    start(&count, &arguments);
    spare_guest(count, arguments);
    return the_main(count, arguments, environ == before ? environment : environ);
}

extern int __libc_start_main(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

LG__EXPORT int __libc_start_main(main_function main, int count, char **arguments, void (*init)(void), void (*fini)(void),
                                 void (*loader_fini)(void), void *stack_end)
{
    void *found = dlsym(RTLD_NEXT, "__libc_start_main");
    start_function next;
    memcpy(&next, &found, sizeof next);
    the_main = main;
    return next(main_behind_start, count, arguments, init, fini, loader_fini, stack_end);
}

/* The runtime of AddressSanitizer, where it is a shared library, refuses to start after any other
 * library. It needs to be ahead of libc alone, and is. A program that has such a function itself
 * comes first. */
extern const char *__asan_default_options(void);

LG__EXPORT const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
