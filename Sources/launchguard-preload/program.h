/* The program of this process: its name, its file, and its state directory. */
#ifndef LG_PRELOAD_PROGRAM_H
#define LG_PRELOAD_PROGRAM_H

#include <stdbool.h>

#include "launchguard/session.h"
#include "session/preloaded.h"

struct lg__program {
    char name[LG_NAME_MAX + 1];  /* an app_id */
    char path[4096];             /* of its file; "": unknown, or the name was given */
    char directory[4096];        /* "": none is known */
};

/* `launchguard run` says which process is the program. */
enum lg__preloaded_role lg__program_role(void);

/* Name and file, from the arguments that main() gets. An interpreter has those of its script. */
void lg__program_take(int count, char *const *arguments, struct lg__program *ret_program);

/* Its state directory, in `folder` or, with NULL, the usual one. A directory belongs to the program
 * that used it first, for as long as that one is there. Another program of the name has its own
 * directory, and a name with a digest of its path. false: `folder` cannot be used. */
bool lg__program_place(struct lg__program *program, const char *folder);

#endif
