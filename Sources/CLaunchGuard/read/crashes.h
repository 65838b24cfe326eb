/* Layer 2: the crash that a reader shows. */
#ifndef LG_READ_CRASHES_H
#define LG_READ_CRASHES_H

#include "launchguard/reader.h"

/* Select the crash that counts as the end of the run. Returns the earlier selection. */
uint32_t lg__crashes_select_end(lg_reader *reader);
/* Select it again. */
void lg__crashes_select(lg_reader *reader, uint32_t place);

#endif
