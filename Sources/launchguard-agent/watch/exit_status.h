/* The exit status of a process that is not a child of ours. */
#ifndef AGENT_EXIT_STATUS_H
#define AGENT_EXIT_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* A descriptor that becomes readable when the process ends, of a process that started at
 * `start_ticks` (field 22 of /proc/PID/stat); −1: it is gone, or the kernel has no such
 * descriptors. */
int exit_status_open(int32_t pid, uint64_t start_ticks);

enum exit_status_known { EXIT_STATUS_LATER, EXIT_STATUS_KNOWN, EXIT_STATUS_NEVER };

/* The wait status of the process, once its descriptor is readable. Since Linux 6.15 the descriptor
 * reports it after the parent has waited; before that /proc has it. EXIT_STATUS_LATER: neither yet;
 * ask again soon. EXIT_STATUS_NEVER: this kernel reports it only to the parent. */
enum exit_status_known exit_status_read(int pidfd, int32_t pid, uint64_t start_ticks, int *ret_wait_status);

#endif
