/* The shell: the whole C interface where there is no core, which is everywhere but on Linux. A
 * program runs as without LaunchGuard. The shell needs only C11 and POSIX threads.
 *
 * Package.swift defines LG_CORE where the core is. The names are those of the core. */
#ifndef LG_CORE
#include "../CLaunchGuard/store/names.c"
#endif
