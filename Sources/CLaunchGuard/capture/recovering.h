/* Handlers that recover from their faults: collectors, virtual machines and engines live with them.
 * The first fault of a signal has a whole record; the next ones have a brief one, and where
 * LaunchGuard keeps first place those after many recoveries have none. If a handler does not
 * recover, the missing parts are written then: the thread is inside the handler, and a note in a
 * frame of ours has the fault. docs/CRASH.md. */
#ifndef LG_CAPTURE_RECOVERING_H
#define LG_CAPTURE_RECOVERING_H

#include "capture/internal.h"

/* A fault whose handler is expected to recover, in a frame of ours, which calls that handler. */
struct lg__recovering {
    const struct lg__recovering *self; /* its own address, as long as the frame is there */
    int signal;
    siginfo_t *info;
    void *ucontext;
    const void *frame;  /* of our handler */
    uint64_t sp;        /* where the fault happened */
    uint64_t return_pc; /* of the handler that is called */
    uint64_t deferred;  /* signals of crashes that the kernel would have blocked */
    uint32_t sequence;  /* of its crash, which has a record; 0: none */
};

/* The stack pointer is on this alternate stack. Handler. */
bool lg__recovering_is_on(const stack_t *stack, uint64_t sp);

/* The note is complete, and its handler is called next. Handler. */
void lg__recovering_enter(struct lg__recovering *note);
/* That handler has returned. Handler. */
void lg__recovering_leave(const struct lg__recovering *note);

/* The calling thread is inside such a handler, with this stack pointer. Handler. */
bool lg__recovering_is_inside(uint64_t sp);
/* A crash with this stack pointer ends a handler whose record is not whole. `expected`: the crash
 * is one that a handler recovers from, too. Handler. */
bool lg__recovering_is_ended(uint64_t sp, bool expected);
/* The kernel would have blocked this signal for that handler: one that was sent has to wait, and a
 * fault ends the process. Handler. */
bool lg__recovering_defers(int signal, uint64_t sp);

/* The handler that the calling thread is inside of, with this stack pointer, does not recover:
 * write the missing parts. The crash is CHAINED then. Does nothing outside of such a handler.
 * Handler, without the crash lock. */
void lg__recovering_ends(uint64_t sp);
/* The same, where the program takes its handler away in the handler itself. Handler. */
void lg__recovering_gives_up(int signal);
/* The same for a handler that has returned, also without an alternate stack. Handler. */
void lg__recovering_write(struct lg__recovering *note);

#endif
