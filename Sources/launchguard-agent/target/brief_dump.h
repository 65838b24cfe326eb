/* A minidump of the brief part alone, of a few KiB: no memory, one thread with the address where it
 * was, the modules of the frames, and the annotations. */
#ifndef AGENT_BRIEF_DUMP_H
#define AGENT_BRIEF_DUMP_H

#include <jansson.h>

#include "report/dump_part.h"

/* False: no memory. The part is to be freed after that, too. */
bool brief_dump(const json_t *report, struct lg__dump_part *ret_dump);

#endif
