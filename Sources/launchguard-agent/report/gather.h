/* Facts that a report needs beside the run file: of the launch, the ledger, the clock. */
#ifndef AGENT_GATHER_H
#define AGENT_GATHER_H

#include "report/compose.h"

/* Sets all of the facts but `uuid`, `reason`, `verdict` and `keep_home`; of these it reads the
 * verdict. `state_directory` NULL: the ledger is not known, and the streak is 1 in a launch. */
void gather_facts(lg_reader *reader, const lg_run_info *run, const char *state_directory, struct facts *facts);

#endif
