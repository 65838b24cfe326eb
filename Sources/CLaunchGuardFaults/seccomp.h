/* A filter on one system call, the one that nobody needs. */
#ifndef LAUNCHGUARD_FAULTS_SECCOMP_H
#define LAUNCHGUARD_FAULTS_SECCOMP_H

#include <stdint.h>

/* For the calling thread: getppid() has this outcome (SECCOMP_RET_*). Skips the entry where there are no filters. */
void lgf_filter(uint32_t outcome);
/* Call it. */
void lgf_filtered_call(void);

#endif
