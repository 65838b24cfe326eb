/* Release health: how many runs of a version ended, and how. The counts are in the spool, as
 * reports that stand for further runs, and have no second part. */
#ifndef AGENT_HEALTH_H
#define AGENT_HEALTH_H

#include "composer.h"

/* Count a run that ended like this, where the configuration asks for it. A run that was counted
 * last is not counted again: an agent died after that. */
void health_count(const struct composer *composer, const struct known_run *run, const lg_run_info *info, lg_end end);

#endif
