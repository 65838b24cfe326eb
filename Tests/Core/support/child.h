/* What children do in many tests. */
#ifndef CHILD_H
#define CHILD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

/* Write to address 0. */
void crash(void);

/* Handlers: one never comes back, one jumps to where `escape` was set. */
void hang(int signal);
extern sigjmp_buf escape;
void jump_out(int signal);

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);
/* So long at least, whatever interrupts it. */
void rest(unsigned ms);

unsigned count_threads(void);
/* All threads but this one. */
bool others_sleep(void);

/* A thread that nobody waits for. */
void in_thread(void *(*body)(void *), void *argument);
void *wait_for_ever(void *argument);
/* So many that wait for ever; all of them run when this returns. */
void start_waiting(unsigned count);

#endif
