/* For tests that kill: run a function in a fresh child process, see how the child dies, read its
 * files with the public reader.
 *
 * A child has a hard time limit and is killed by it; the test then fails. */
#ifndef HARNESS_H
#define HARNESS_H

#include <sys/types.h>

#include "child.h"
#include "remains.h"

#define LIMIT_MS 120000 /* a child that takes longer hangs, also on a busy machine */

/* How a child ended. */
struct death {
    int status; /* of waitpid() */
    double ms;  /* from fork to wait */
    bool late;  /* it had to be killed at the limit */
};

/* A fresh directory under TMPDIR for this test; removed with everything in it by state_remove(). */
const char *state_make(void);
void state_remove(void);
/* Path of a name in that directory; valid until the tenth call from now. */
const char *state_path(const char *name);

/* Set-up and teardown of a test with such a directory. */
int make_state(void **state);
int remove_state(void **state);
/* cmocka's own has another name from version to version. */
#define assert_within(value, least, most)                                            \
    do {                                                                             \
        const uint64_t seen_value = (uint64_t)(value);                               \
        if (seen_value < (uint64_t)(least) || seen_value > (uint64_t)(most))         \
            fail_msg("%s is %llu", #value, (unsigned long long)seen_value);          \
    } while (0)

#define WITH_STATE(function) cmocka_unit_test_setup_teardown(function, make_state, remove_state)

/* A child of a process, also a dead one; 0: there is none. */
pid_t any_child(pid_t parent);
/* Kill all children of this process, and of those that they leave to it. */
void end_children(void);

/* In a child: restore the signal actions, as the test framework's own handlers leave crashes by
 * longjmp. */
void plain_signals(void);

/* Run `body(argument)` in a child; when it returns the child calls exit(0). */
struct death run_child(void (*body)(void *), void *argument);
/* The same, asserted to die of this signal, or to exit with this code, in time. */
void expect_signal(void (*body)(void *), void *argument, int signal);
void expect_exit(void (*body)(void *), void *argument, int code);
/* Assert that the child died of this signal, in time. */
void expect_death(struct death death, int signal);

/* In a child: start a session in the state directory; the child exits with code 99 if it is not
 * fully protected. */
lg_session *start_session(void);
/* As start_session(), with this version of the program. */
lg_session *start_version(const char *version);
/* As start_session(), with other options. Where these name no program, directory or deadline, those
 * of start_session() apply. */
lg_session *start_with(lg_options options);
/* As start_session(), with standard error in the file "stderr" of the state directory, and
 * captured. */
lg_session *start_keeping_stderr(void);

/* Memory that children share with the test, all zero. */
void *shared_memory(size_t size);

/* Print the reason and skip the test. */
void skip_because(const char *reason);
/* Skip a test of two users where there cannot be two, or where the other one may not enter the
 * folder of the state directory: a TMPDIR of the user's own. */
void skip_without_two_users(void);

#endif
