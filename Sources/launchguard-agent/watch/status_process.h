/* A small process beside the agent, which looks into /proc for it. Landlock, which confines the
 * agent, hides how another process ended; this process has the filter of system calls alone, reads
 * two numbers, and answers with two. */
#ifndef AGENT_STATUS_PROCESS_H
#define AGENT_STATUS_PROCESS_H

#include "watch/proc_stat.h"

/* Begin it, while this process has one thread and before sandbox_enter(). It keeps no descriptor
 * but its own, and ends with the agent. `argv`: of main(), may be NULL; it gets a name of its own
 * there. Without it the agent looks for itself. */
void status_process_begin(char **argv);
void status_process_end(void);

/* As proc_stat_find(). Waits for the answer for at most a second, and looks itself then. */
enum proc_stat status_process_find(int32_t pid, uint64_t start_ticks, int *ret_wait_status);

#endif
