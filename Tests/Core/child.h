/* What children do in many tests. */
#ifndef CHILD_H
#define CHILD_H

#include <setjmp.h>

/* Write to address 0. */
void crash(void);

/* Handlers: one never comes back, one jumps to where `escape` was set. */
void hang(int signal);
extern sigjmp_buf escape;
void jump_out(int signal);

/* So long at least, whatever interrupts it. */
void rest(unsigned ms);

/* A thread that nobody waits for. */
void in_thread(void *(*body)(void *), void *argument);
void *wait_for_ever(void *argument);

#endif
