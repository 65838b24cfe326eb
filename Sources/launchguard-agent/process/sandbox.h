/* The agent confines itself before it reads what others wrote: the files of runs, reports, and
 * answers of servers. What a fault in one of its parsers, or in a library, could be used for is
 * bounded then. Without a kernel that does this the agent works as before. */
#ifndef AGENT_SANDBOX_H
#define AGENT_SANDBOX_H

#include <stdbool.h>

#define SANDBOX_WORDS 256

/* Confine this process, which has one thread, for good: files can be written beneath the directory
 * of the descriptor `state` alone (−1: nowhere), no program can be executed, and the kernel refuses
 * what process/sandbox_calls.h lists. Descriptors that are open stay as they are. `sends`: the
 * process uses the network. `ret_words`: what holds, and why the rest does not. */
void sandbox_enter(int state, bool sends, char ret_words[SANDBOX_WORDS]);

#endif
