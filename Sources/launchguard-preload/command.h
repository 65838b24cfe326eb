/* A command of the supervisor, for /bin/sh. */
#ifndef LG_PRELOAD_COMMAND_H
#define LG_PRELOAD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most arguments of a command. */
#define LG__COMMAND_ARGUMENTS 64

/* Run a command with these arguments ("$1" …), and wait for it. Standard input is empty, and
 * standard output is that of errors: the streams are the program's. The command is not preloaded by
 * us: its LD_PRELOAD is `preload` (NULL: none). At its time limit it is killed, with its process
 * group. Before main(), on its thread.
 *
 * false: the command did not end with 0, and `ret_why` says what was wrong. */
bool lg__command_run(const char *command, const char *const *arguments, const char *preload, uint32_t limit_ms, char *ret_why, size_t size);

#endif
