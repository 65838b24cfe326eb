/* How a process ended, as /proc shows it until its parent has waited. */
#ifndef AGENT_PROC_STAT_H
#define AGENT_PROC_STAT_H

#include <stdint.h>

/* PROC_STAT_NONE: there is no process of this number that started at `start_ticks`.
 * PROC_STAT_ENDED: it has ended, and this user may not see how. */
enum proc_stat { PROC_STAT_NONE, PROC_STAT_ALIVE, PROC_STAT_ENDED, PROC_STAT_STATUS };

/* `ret_wait_status`: set with PROC_STAT_STATUS alone. */
enum proc_stat proc_stat_find(int32_t pid, uint64_t start_ticks, int *ret_wait_status);

#endif
