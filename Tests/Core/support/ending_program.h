/* A program with one launch that ends in any way, and the verdict of the next start. */
#ifndef ENDING_PROGRAM_H
#define ENDING_PROGRAM_H

#include "harness.h"

#include <sys/types.h>

#include "store/format.h"

/* ---- in a child ---- */

extern lg_session *session;
extern lg_launch *launch;

/* Start the session and begin the launch "main", which only a mark finishes. */
void begin(void);
void begin_counting(uint32_t count);

enum way { CRASH, ABORT, PIPE_SIGNAL, EXIT_0, EXIT_7, EXIT_7_AT_ONCE, STOP, STOP_AND_EXIT_5, TERMINATE, INTERRUPT, KILL, DUMP,
           WILL_TERMINATE, WILL_RESTART, WILL_BOTH, WILL_TERMINATE_AND_CRASH, WILL_TERMINATE_AND_EXIT_7, ALARM, USER, REAL_TIME, FINISH_AND_KILL };

#define WAY(way) ((void *)(uintptr_t)(way))

/* End in this way; where this does not end the process, by SIGKILL. */
void end_by(enum way way);
/* A handler that does nothing. */
void nothing(int signal);

/* Bodies of children: begin and end by WAY(…). */
void body(void *argument);
void body_counts_exit(void *argument);
/* The program's own handler recovers from a crash; the program goes on, and is killed. */
void body_survives(void *argument);

/* ---- in the test ---- */

/* The next start, which accounts for the previous run: that run's entry. */
lg_timeline_entry next_start(void);
/* Run a program to its end, then make the next start. */
lg_timeline_entry after(void (*body)(void *), void *argument);

#define expect_end(entry, what, why) expect_end_at(entry, what, why, __LINE__)
void expect_end_at(lg_timeline_entry entry, lg_end end, lg_evidence evidence, int line);

/* Where a section of an open file begins. */
off_t section_at(int file, uint32_t kind);
/* Change the state in the newest run file. */
void write_state(size_t at, const void *value, size_t size);
/* As if the machine had been booted since; and the reverse. */
void change_boot_id(void);
/* A context as it is stored. */
struct lg__ledger_context stored_context(const char *name);

#endif
