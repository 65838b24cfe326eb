/* Faults of a handler that has recovered from many, without a record. */
#ifndef LG_CAPTURE_PROVEN_H
#define LG_CAPTURE_PROVEN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Call the handler of the program for this fault, if it is proven to recover. false: it is not, or
 * this is no such fault, and nothing was done. Handler. */
bool lg__proven_handle(int signal, siginfo_t *info, void *ucontext);

/* The calling thread is inside such a handler, with this stack pointer. Handler. */
bool lg__proven_is_inside(uint64_t sp);
/* The kernel would have blocked this signal for that handler: one that was sent has to wait, and a
 * fault ends the process. Handler. */
bool lg__proven_defers(int signal, uint64_t sp);
/* The handler that the calling thread is inside of, with this stack pointer, does not recover:
 * write the record of its fault. The crash is CHAINED then. Does nothing outside of such a handler.
 * Handler, without the crash lock. */
void lg__proven_record(uint64_t sp);
/* The same, where the program takes its handler away in the handler itself. Handler. */
void lg__proven_gives_up(int signal);

#endif
