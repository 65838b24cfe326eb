/* A control group of its own. */
#ifndef LAUNCHGUARD_FAULTS_CGROUP_H
#define LAUNCHGUARD_FAULTS_CGROUP_H

#include <stddef.h>

/* Continue in a child that lives in a new cgroup which may use so much memory; the cgroup is removed when the child is gone. Skips the
 * entry where none can be made. */
void lgf_cgroup_limit_memory(size_t bytes);

#endif
