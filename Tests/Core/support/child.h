/* Actions of children in many tests. */
#ifndef CHILD_H
#define CHILD_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "waiting.h"

/* Write to address 0. */
void crash(void);

/* The signal of __builtin_trap(): on AArch64 it is a breakpoint. */
#ifdef __aarch64__
#define TRAP_SIGNAL SIGTRAP
#else
#define TRAP_SIGNAL SIGILL
#endif

/* Handlers: one never returns, one leaves by longjmp to `escape`. */
void hang(int signal);
extern sigjmp_buf escape;
void jump_out(int signal);

unsigned count_threads(void);
/* All threads but this one. */
bool others_sleep(void);

/* Start a process that lets this one go on where it is stopped, after `*until_ns` by now_ns(), in
 * memory that both share. */
void start_waker(const _Atomic uint64_t *until_ns);

/* Start a detached thread. */
void in_thread(void *(*body)(void *), void *argument);
void *wait_for_ever(void *argument);
/* Start this many threads that wait for ever; all of them run when this returns. */
void start_waiting(unsigned count);

#endif
