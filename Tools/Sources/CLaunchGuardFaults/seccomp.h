/* A filter on one unused system call. */
#ifndef LAUNCHGUARD_FAULTS_SECCOMP_H
#define LAUNCHGUARD_FAULTS_SECCOMP_H

#include <stdint.h>

/* Let getppid() of the calling thread have this outcome (SECCOMP_RET_*). Skips the entry where
 * there are no filters. */
void lgf_filter(uint32_t outcome);
/* Call getppid(). */
void lgf_filtered_call(void);

#endif
