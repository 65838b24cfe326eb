/* A control group of its own. */
#ifndef LAUNCHGUARD_FAULTS_CGROUP_H
#define LAUNCHGUARD_FAULTS_CGROUP_H

#include <stddef.h>

/* Continue in a child that lives in a new cgroup with this limit of memory. The cgroup is removed
 * when the child is gone. Skips the entry where no cgroup can be made. */
void lgf_cgroup_limit_memory(size_t bytes);

#endif
