/* What an agent writes into the run file of another process: as careful as a witness, see
 * witness.c. */
#ifndef LG_SESSION_RUN_WORDS_H
#define LG_SESSION_RUN_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "launchguard/status.h"
#include "store/format.h"

/* Store `attached` of the run file `name` in the folder `runs` (a descriptor), if the file still is
 * that of `uuid`. */
lg_status lg__run_attach(int runs, const char *name, const uint8_t uuid[16], bool attached);

/* Store `reported`, likewise. */
lg_status lg__run_set_reported(int runs, const char *name, const uint8_t uuid[16], enum lg__reported reported);

#endif
