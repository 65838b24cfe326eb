/* Layer 2: the text of a crash's message without its data. For the coarse key. */
#ifndef LG_READ_WORDING_H
#define LG_READ_WORDING_H

#include <stdbool.h>

#include "launchguard/reader.h"

#define LG__WORDING_BYTES 512u

/* False: the text is chance. */
bool lg__wording(lg_crash_kind kind, const lg_message *message, char ret_line[LG__WORDING_BYTES]);

#endif
