/* For tests that kill: run a function in a fresh child process, see how it dies, read what it left with the public reader.
 *
 * A child has a hard time limit and is killed by it; the test then fails. */
#ifndef HARNESS_H
#define HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <launchguard/launchguard.h>

#define LIMIT_MS 20000

/* How a child ended. */
struct death {
    int status; /* of waitpid() */
    double ms;  /* from fork to wait */
    bool late;  /* it had to be killed at the limit */
};

/* A fresh directory under TMPDIR for this test; removed with everything in it by state_remove(). */
const char *state_make(void);
void state_remove(void);
/* Path of something in it; valid until the tenth call from now. */
const char *state_path(const char *name);

/* In a child: the test framework's own handlers, which jump out of crashes, are not inherited. */
void plain_signals(void);

/* Run `body(argument)` in a child; when it returns the child calls exit(0). */
struct death run_child(void (*body)(void *), void *argument);
/* The same, asserted to die of this signal, or to exit with this code, in time. */
void expect_signal(void (*body)(void *), void *argument, int signal);
void expect_exit(void (*body)(void *), void *argument, int code);

/* In a child: start a session in the state directory; aborts the child with exit code 99 if it is not fully protected. */
lg_session *start_session(void);
/* The same with a version. */
lg_session *start_version(const char *version);

/* Open the newest run file; or the one with this ordinal. Asserts that it opens. */
lg_reader *newest_run(void);
lg_reader *run_numbered(uint64_t ordinal);
/* Path of the newest run file, NULL if there is none. */
const char *newest_run_path(void);
unsigned count_runs(void);

/* Its crash record, asserted to be whole up to this stage. */
lg_crash_info crash_of(lg_reader *reader, unsigned last_stage);
/* The first context of the ledger. */
lg_launch_info ledger_context(const char *name);
lg_timeline_entry last_of_timeline(void);

/* True if the text is in the ring log. */
bool log_has(lg_reader *reader, const char *text);

/* Print the reason and skip the test. */
void skip_because(const char *reason);

#endif
