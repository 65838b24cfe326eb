/* A state directory with a spool, for tests of delivery. */
#ifndef SPOOL_SUPPORT_H
#define SPOOL_SUPPORT_H

#include "harness.h"

#include "store/spool.h"

/* Set-up and teardown of a test: the state directory; all agents that a test left are ended. */
int begin_delivery(void **state);
int end_delivery(void **state);
#define WITH_AGENTS(function) cmocka_unit_test_setup_teardown(function, begin_delivery, end_delivery)

/* Write a file of the state directory. */
void write_text(const char *name, const char *text);
/* Its text, "" where there is none; valid until the next call. */
const char *read_text(const char *name);
bool is_there(const char *name);

/* Set the actions of the fake agent from now on. */
void plan(const char *what);
/* How many agents were started so far. */
unsigned agents_started(void);
/* Wait until so many were. */
void await_agents(unsigned count);
/* Wait until an agent lives. */
void await_living_agent(void);

/* Entries of a folder of the spool. */
unsigned entries_in(const char *folder);
/* Put a report into a folder of the spool; the spool is there. Returns its name. */
const char *put_report(const char *folder, uint64_t ordinal, uint8_t number);
/* The same with this header, which gets its magic, version and checksum here. */
const char *put_header(const char *folder, struct lg__report_header header);

/* Options that are right, with the fake agent. */
lg_delivery_options good_options(void);
/* In a child: start a session and delivery; the child exits with 98 unless this status comes. */
lg_session *start_delivery(lg_delivery_options options, lg_status status);

/* In a child: exit with this code where the condition does not hold. */
#define REQUIRE(condition, code)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                 \
            _exit(code);                                                                           \
        }                                                                                          \
    } while (0)

#endif
