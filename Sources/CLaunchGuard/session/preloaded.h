/* The session of a program that does not know of LaunchGuard: events of the program replace the
 * calls of the API. A process image has one; each forked child goes on with one of its own. */
#ifndef LG_SESSION_PRELOADED_H
#define LG_SESSION_PRELOADED_H

#include <stdbool.h>

#include "launchguard/session.h"

/* What the process is to the one that asked for its record. */
enum lg__preloaded_role {
    LG__PRELOADED_ALONE,   /* nobody asked for another one */
    LG__PRELOADED_PROGRAM, /* it is the program, or will execute it */
    LG__PRELOADED_HELPER,  /* a program, or one of its helpers, started it */
};

/* As lg_start(). The options stay valid: forked children start with them. A helper that ends well
 * leaves no run; nor does a process with a role and without a launch that executes a program. */
lg_status lg__preloaded_start(const lg_options *options, enum lg__preloaded_role role);
/* The session of this process; NULL: none was started. */
lg_session *lg__preloaded_session(void);
/* As lg_session_message(). */
const char *lg__preloaded_message(void);

/* Called on any thread before the process ends with this status other than by exit(). The run notes
 * the end. false: this process has no session, for example a child of vfork(), which runs in the
 * memory of a process that has one. Handler. */
bool lg__preloaded_leaves(int status);
/* Called before the process executes another program. The run notes that, or is deleted, as that of
 * a forked child always is. Otherwise as lg__preloaded_leaves(). */
bool lg__preloaded_executes(void);
/* After one of these calls returned true, the process neither ended nor executed: undo the call.
 * errno stays as it is. */
void lg__preloaded_goes_on(void);

#endif
