/* Simulated launches inside the test's own process, with a hard limit for each test: for tests that
 * need no death. */
#ifndef SIMULATED_H
#define SIMULATED_H

#include "scripted_life.h"

#include <launchguard/simulate.h>

extern lg_session *simulated;

/* Setup and teardown: a fresh simulated session and no lines; SIGALRM ends a test that hangs. */
int simulated_make(void **state);
int simulated_clean(void **state);
#define SIMULATED(function) cmocka_unit_test_setup_teardown(function, simulated_make, simulated_clean)

/* A launch; options may be NULL. */
lg_launch *simulated_launch(const lg_launch_options *options);

/* One task: its key is reported when the task runs; then `then` is called, if there is one. */
struct simulated_task {
    const char *key;
    uint32_t flags;
    lg_status answer;
    void (*then)(lg_launch *launch);
    bool protects, listens;
    lg_launch *launch;
};
lg_status simulated_add(lg_launch *launch, struct simulated_task *task);
lg_status simulated_repair(lg_launch *launch, const char *name, uint32_t flags, lg_repair_callback run);
void simulated_repaired(lg_completion *done, void *name); /* reports its name and succeeds */

/* Begin and crash this many times. */
void simulated_crashes(lg_launch *launch, unsigned times);

/* Assert that soon there are no more threads than before the first test. */
void await_no_threads(void);

#define assert_told(text) assert_string_equal(story_take(), (text))
/* The same, soon. */
void await_told(const char *text);

#endif
