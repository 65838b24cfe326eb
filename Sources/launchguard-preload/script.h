/* The script that an interpreter runs. */
#ifndef LG_PRELOAD_SCRIPT_H
#define LG_PRELOAD_SCRIPT_H

#include <stddef.h>

/* The word, among the arguments of a program, that names its script: a file, or the module or class
 * of an interpreter that finds the file itself. `executed` is the path that was executed, for a
 * script with `#!` that of the script. NULL: the program is no interpreter, or runs no script. */
const char *lg__script_find(int count, char *const *arguments, const char *executed);

/* The last part of a path, without slashes at its end, and its size. */
const char *lg__script_last_part(const char *path, size_t *ret_size);

#endif
