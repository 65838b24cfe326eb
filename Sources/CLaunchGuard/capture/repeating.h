/* Faults that their handler does not mend. A handler that prints and returns runs the same
 * instruction again, which faults again, for ever: the program hangs there, and nothing ends it. A
 * fault repeats where the thread has made no step between: every register and its stack near sp
 * are the same, and the fault comes at once. docs/CRASH.md. */
#ifndef LG_CAPTURE_REPEATING_H
#define LG_CAPTURE_REPEATING_H

#include "capture/internal.h"

/* A fault has come. true: it is one of so many that repeat, and for so long, that the process ends
 * by it. Once true it stays true while the fault repeats. Handler, with the thread pointer set. */
bool lg__repeating_comes(const siginfo_t *info, const void *ucontext);

/* Its handler has returned. Handler. */
void lg__repeating_returns(void);

#endif
