/* Layer 3: what is known of an ended run. Reads with read/, writes nothing. */
#ifndef LG_LAUNCH_EVIDENCE_H
#define LG_LAUNCH_EVIDENCE_H

#include <stdbool.h>

#include "launchguard/reader.h"

/* True if the launch of a run's context was finished when the run ended; `end_ns` is 0 when that moment is unknown. */
bool lg__evidence_finished(const lg_run_context *context, uint64_t end_ns);

/* lg_reader_verdict() for a caller that has read the run. */
lg_status lg__evidence_verdict(lg_reader *reader, const lg_run_info *run, lg_verdict *ret_verdict);

#endif
