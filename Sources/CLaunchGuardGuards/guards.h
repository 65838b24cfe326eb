/* The typed guards, a library of their own: liblaunchguard-guards. They find a fault before it
 * happens, and ask lg_guard_claim() about it. They use the core's public functions and
 * guard/hook.h alone, and no signal handler knows them.
 *
 * One file a guard; they stand on lock.c and on the stubs of the CPU. */
#ifndef LG_GUARDS_H
#define LG_GUARDS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "guard/hook.h"

/* ---- lock.c: of lists and queues ---- */

void lg__lock_take(void);
void lg__lock_give(void);

/* ---- handles.c ---- */

/* A slot that was released in this generation is not used again, so that no number comes twice.
 * Tests make it less. */
extern uint32_t lg__handles_oldest;

/* ---- stub_*.c: calls that lead to no function, one file a CPU ---- */

/* Entries in place of functions of any type, LG__STUBS of them. A call of an entry asks `target`,
 * with the number of the entry and the return address of the call, and goes on at the address that
 * it returns, with all arguments; at 0 as a call through NULL does. */
#define LG__STUBS 64u
void lg__stub_open(const void *(*target)(uint32_t index, const void *caller));
const void *lg__stub_entry(uint32_t index);

#endif
