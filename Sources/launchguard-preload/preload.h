/* The parts of the library that is preloaded. */
#ifndef LG_PRELOAD_H
#define LG_PRELOAD_H

#include "launchguard/session.h"

#define LG__EXPORT __attribute__((visibility("default")))

/* settings.c: the options of this program, by its name and by the environment. They stay valid.
 * NULL: none can be made. */
const lg_options *lg__settings_read(const char *program);
/* Tell the log, where there is one, what a start has to say. */
void lg__settings_say(const char *message);

#endif
