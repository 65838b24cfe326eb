/* The functions of the frames, where the device has the symbols: in the file of the module that
 * crashed, as its build id shows. */
#ifndef AGENT_SYMBOLS_H
#define AGENT_SYMBOLS_H

#include <jansson.h>

#include "launchguard/reader.h"

/* Add to each frame of the full part, which this reader's run has become, the member "symbols" that
 * `launchguard inspect` adds, as far as its function is known. */
void symbols_add(lg_reader *reader, json_t *full);

#endif
