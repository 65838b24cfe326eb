/* Layer 2: the parts of a crash's message that are the same each time. For the fingerprint. */
#ifndef LG_READ_WORDING_H
#define LG_READ_WORDING_H

#include "launchguard/reader.h"

#define LG__WORDING_BYTES 512u

enum lg__wording_use {
    LG__WORDING_NONE,        /* the text is chance */
    LG__WORDING_SAYS,        /* the text says why */
    LG__WORDING_NAMES_PLACE /* the text names the place in the source as well */
};

/* `ret_line` is set unless it is LG__WORDING_NONE. */
enum lg__wording_use lg__wording(lg_crash_kind kind, const lg_message *message, char ret_line[LG__WORDING_BYTES]);

#endif
