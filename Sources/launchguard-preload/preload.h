/* The parts of the library that is preloaded. */
#ifndef LG_PRELOAD_H
#define LG_PRELOAD_H

#include <stdbool.h>

#include "launchguard/session.h"

#define LG__EXPORT __attribute__((visibility("default")))

/* settings.c: the options of this program, by arguments and environment. They stay valid. NULL:
 * none can be made. */
const lg_options *lg__settings_read(int count, char *const *arguments);
/* launch.c: begin the launch that a supervisor wants of this process, if one does. In safe mode the
 * arguments are copied, and more are added. Does not return where nothing is left to try. */
void lg__launch_begin(lg_session *session, int *count, char ***arguments);
/* Write a message of the start to the log. false: there is no log. */
bool lg__settings_say(const char *message);

#endif
