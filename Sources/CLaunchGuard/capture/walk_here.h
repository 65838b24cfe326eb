/* The walk of a guard, over the calling thread's own stack, while the program lives. */
#ifndef LG_CAPTURE_WALK_HERE_H
#define LG_CAPTURE_WALK_HERE_H

#include <signal.h>
#include <stdbool.h>

/* In the handler of a crash signal, on a thread that walks: a fault ends the read or the walk that
 * made the fault, once the handler returns; a signal that was sent comes again after the walk.
 * false: the thread does not walk. */
bool lg__walk_here_takes(int signal, const siginfo_t *info, void *ucontext);

#endif
