/* The ends that nothing in a file may lead to: a hang, a broken promise, a mistake that a sanitizer
 * finds. Each says which file it was, and the command that repeats it. */
#ifndef FUZZ_FORBIDDEN_ENDS_H
#define FUZZ_FORBIDDEN_ENDS_H

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "seeds.h"

#define SECONDS_MAX 60 /* for one reading; more means hung */

static char path[64];    /* the file that is read; removed at the end */
static const char *name; /* of the file that it was made of */
static uint64_t seed;

void __sanitizer_set_death_callback(void (*callback)(void));

static void dying(void)
{
    dprintf(STDERR_FILENO, "%s: %s\n%s\n", program_invocation_short_name, name, repeat_command(seed));
    unlink(path);
}

static void on_signal(int signal)
{
    dprintf(STDERR_FILENO, "%s: %s\n", program_invocation_short_name, signal == SIGALRM ? "the reader hangs" : "a promise is broken");
    dying();
    _exit(1);
}

static void forbid_ends(void)
{
    signal(SIGALRM, on_signal);
    signal(SIGABRT, on_signal);
    __sanitizer_set_death_callback(dying);
}

#endif
