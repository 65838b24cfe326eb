/* One life of a program with one launch, two repairs and two tasks; the test scripts the events. */
#ifndef SCRIPTED_LIFE_H
#define SCRIPTED_LIFE_H

#include "harness.h"

#include "launch/ended.h"
#include "store/format.h"

enum act {
    GO_ON,
    CRASH,     /* SIGSEGV */
    EXIT_7,    /* exit(7) */
    QUICK_7,   /* _exit(7): no mark */
    KILL,      /* SIGKILL */
    TERMINATE, /* SIGTERM */
    HANG,
    FAIL,      /* the callback or task answers with an error */
    SILENT,    /* the callback returns and never answers */
    PROTECT,   /* lg_launch_protect() */
    PROTECT_AND_FAIL,
    FINISH,    /* lg_launch_finished() */
    STOP       /* lg_stop() */
};

struct life {
    const char *version;
    lg_launch_options options;
    enum act in_report, in_protect, in_small, in_large, in_give_up, in_a, in_b, after;
    uint32_t small_flags, large_flags, attempts, timeout_ms, a_flags, b_flags;
    bool no_repairs, by_key;
    void (*before)(lg_launch *launch); /* begin */
    void (*then)(lg_launch *launch);   /* after it */
};

/* The defaults first, then the values that a test gives. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define LIFE(...)                                                                                                                          \
    (&(struct life){ .version = "1.0", .options = LG_LAUNCH_OPTIONS_INIT, .options.on_report = life_report, .options.on_status = life_status, \
                     .options.on_give_up = life_give_up, __VA_ARGS__ })

void life_report(const lg_report_batch *batch, lg_completion *done, void *user);
void life_status(lg_launch *launch, lg_launch_status status, void *user);
void life_give_up(lg_launch *launch, uint32_t hold, lg_completion *done, void *user);

/* In a child. */
extern const struct life *life;
extern lg_session *life_session;
void live(void *argument);
void act(enum act what);
void life_repair(lg_launch *launch, const char *name, lg_repair_callback run);
void await_status(lg_launch *launch, lg_launch_status status);

/* The lines that the child's callbacks report, each with a semicolon; in shared memory. */
extern char *story;
/* Within one process: the lines since the last call, valid until the next call; and whether they
 * equal the given ones. */
const char *story_take(void);
bool story_is(const char *expected);
/* Wait until this is the last line. The status of a launch changes before on_status is called. */
void await_last_line(const char *line);
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Run this life; assert the end (0: exit(0), a signal, or −n: exit(n)) and the lines. */
void lives(const struct life *given, int end, const char *expected);
/* The same without a look at the lines. */
void lives_somehow(const struct life *given, int end);

/* Set-up of a test: a directory and no lines. */
int life_make(void **state);
#define WITH_LIFE(function) cmocka_unit_test_setup_teardown(function, life_make, remove_state)

/* The context "main", as it is stored. */
struct lg__ledger_context stored(void);
struct lg__ledger_payload stored_book(void);
/* The same where there may be no ledger yet. */
bool read_book(struct lg__ledger_payload *ret_book);
/* Store another ledger payload, as if it had been so all the time. */
void store_book(const struct lg__ledger_payload *book);
/* Only start a session and end it: the last run is accounted for, and nothing else happens. */
void account(void);

/* Keep a copy of the ledger and of the newest run, and restore it. */
void state_save(void);
void state_restore(void);

#define HEALTHY "checking;a;b;"
#define SEGV 11
#define KILLED 9
#define TERMINATED 15

#endif
