/* spool/tally: ended runs that gave way before they had a report, counted by their fingerprints.
 * Starts add to it, the agent takes from it; both lock it for a moment. */
#ifndef LG_STORE_TALLY_H
#define LG_STORE_TALLY_H

#include <stdbool.h>

#include "store/format_report.h"

/* Count a run: its fingerprint, first_ns, ordinal, uuid and end are used. A run that its row
 * counted last is not counted again. false (errno): it could not be stored. */
bool lg__tally_add(int spool, const struct lg__tally_row *run);

/* The rows with counts. The row of all that found none of their own has a fingerprint of zeros.
 * Returns how many; 0 also where there is no tally. */
uint32_t lg__tally_read(int spool, struct lg__tally_row ret_rows[LG__TALLY_ROWS]);

/* Subtract the counts that were read, as they are in reports now. Later counts stay. */
bool lg__tally_take(int spool, const struct lg__tally_row *rows, uint32_t count);

#endif
