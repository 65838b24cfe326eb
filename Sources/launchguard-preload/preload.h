/* The parts of the library that is preloaded. */
#ifndef LG_PRELOAD_H
#define LG_PRELOAD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launchguard/session.h"

#define LG__EXPORT __attribute__((visibility("default")))

/* libc's function of a name, which a pointer keeps. The constructor of each file looks its
 * functions up, as dlsym() is not for a signal handler; constructors of other libraries may call
 * one before. false: this libc has no such function. */
#define LG__FIND(pointer, name)                       \
    ((pointer) || __extension__({                     \
        void *found_ = dlsym(RTLD_NEXT, name);        \
        memcpy(&(pointer), &found_, sizeof found_);   \
        found_ != NULL;                               \
    }))

/* settings.c: the options of this program, by arguments and environment. They stay valid. NULL:
 * none can be made. */
const lg_options *lg__settings_read(int count, char *const *arguments);
/* launch.c: begin the launch that a supervisor wants of this process, if one does. In safe mode the
 * arguments are copied, and more are added. Does not return where nothing is left to try. */
void lg__launch_begin(lg_session *session, int *count, char ***arguments);
/* Write a message of the start to the log. false: there is no log. */
bool lg__settings_say(const char *message);

/* environment.c: what must change in the environment for the program at a path, as of execveat().
 * Handler. */
struct lg__environment {
    const char *self;       /* where this library is named; NULL: nothing changes */
    size_t at, size, count; /* of that variable: its index, its bytes; entries in all */
};
/* A flag: a name without a slash is looked for in PATH. */
#define LG__ENVIRONMENT_IN_PATH 0x40000000
struct lg__environment lg__environment_for(int directory, const char *path, int flags, char *const *given);
/* The environment without this library, in room for all entries and their NULL, and for the
 * variable and its NUL. Handler. */
char *const *lg__environment_without_us(const struct lg__environment *change, char *const *given, char **entries, char *value);
/* Take this library out of the environment of this process. */
void lg__environment_leave(void);

/* inherit.c: around a call that executes a program: signals are ignored and blocked as the program
 * wants it, and not as LaunchGuard has it. Handler. */
#define LG__INHERITED_FAULTS 7
struct lg__inherited {
    uint64_t mask;
    bool is_masked;
    unsigned ignored; /* bit i: actions[i] is to come back */
    struct sigaction actions[LG__INHERITED_FAULTS];
};
void lg__inherit_begin(struct lg__inherited *ret_kept);
void lg__inherit_end(const struct lg__inherited *kept);

#endif
