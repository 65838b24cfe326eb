/* Layer 4: the acts that follow a decision of decide.c: store, call back, wait, run the tasks. */
#ifndef LG_LAUNCH_LAUNCH_H
#define LG_LAUNCH_LAUNCH_H

#include <pthread.h>
#include <stdbool.h>

#include "launch/account.h"
#include "launchguard/repair.h"
#include "launchguard/log.h"
#include "store/ledger.h"
#include "store/run.h"

/* The observers of a hang: the heartbeats, by their number, and the launches with a heartbeat of
 * their own. */
#define LG__HANG_LAUNCH LG__HEARTBEATS
#define LG__HANGS (LG__HEARTBEATS + 1)

/* In place of nanoseconds until the next work: there is none. */
#define LG__NEVER UINT64_MAX

/* The part of a session that its launches need. */
struct lg__host {
    pthread_mutex_t lock; /* of the ledger and of `launches` */
    struct lg__run run;   /* a forked child writes into its lock and into the two maps: one page */
    _Atomic bool counts;  /* this process is the primary of a ledger */
    _Atomic bool closed;
    /* Become the primary, where the former one has ended. true: the process counts. NULL: never. */
    bool (*take_over)(struct lg__host *host);
    /* 1 in the process that started the session, 0 in its forked children; NULL: not started */
    const _Atomic uint32_t *unforked;
    struct lg__problem problem;
    lg_launch *launches[LG_CONTEXTS_MAX];
    _Atomic uint32_t launch_count; /* launches are never removed */
    _Atomic uint64_t heartbeat_ns; /* CLOCK_MONOTONIC of the last lg_heartbeat() */
    _Atomic int32_t heartbeat_tid; /* of that thread; 0: there was none */
    _Atomic bool heartbeat_paused; /* lg_heartbeat_pause() came after it */
    /* calls of ours in which the program waits: no launch lives meanwhile */
    _Atomic uint32_t waits;
    _Atomic uint64_t hangs[LG__HANGS]; /* see hang.c */
    bool watched;                  /* lg__wake_now() wakes the watch thread */
    _Atomic uint64_t sleeps_until_ns; /* see wake.c */
    uint8_t boot_id[16];
    _Atomic uint64_t passed_ns;    /* simulated time */
    bool simulated;
    char directory[4096];     /* the state directory; "" for none */
    struct lg__ledger ledger; /* large, and most of it is never there: last */
};


/* ---- host.c ---- */

/* True in the process that started the session, false in its forked children. */
bool lg__host_unforked(const struct lg__host *host);

/* Append a breadcrumb of LaunchGuard's own, under any lock. lg__host_hand_over() hands it to the
 * program's logger: soon after, on a thread of libc, where neither the lock of a launch nor that of
 * the host is held. */
void lg__host_log(const struct lg__host *host, lg_level level, const char *format, ...) LG_PRINTF(3, 4);
void lg__host_hand_over(const struct lg__host *host);

/* Now, as the machine compares it. */
struct lg__moment lg__host_now(const struct lg__host *host);

/* ---- setup.c ---- */

/* As lg_launch_prepare(). */
lg_status lg__setup_launch(struct lg__host *host, const char *context, const lg_launch_options *options, lg_launch **ret_launch);

/* The part of the policy that is options alone. false: the options make no sense. */
bool lg__setup_policy(const lg_launch_options *given, struct lg__policy *ret_policy);

/* ---- hang.c ---- */

/* The program hangs since that time: set the mark in the run file. */
void lg__hang_begin(struct lg__host *host, unsigned who, uint64_t since_ns);
/* Note that the program is alive, while it hangs. Returns the nanoseconds until the next look. */
uint64_t lg__hang_look(struct lg__host *host, uint64_t now);
/* The hang is over: remove the mark. Returns the begin of the hang; 0: there was none, or another
 * thread has removed the mark. */
uint64_t lg__hang_end(struct lg__host *host, unsigned who);

/* ---- wake.c: the one way to wake the watch thread ---- */

/* The watch thread must look now. */
void lg__wake_now(struct lg__host *host);
/* The watch thread must look at this time, CLOCK_MONOTONIC, at the latest: wake it if it sleeps for
 * longer. Cheap where it does not. */
void lg__wake_at(struct lg__host *host, uint64_t at_ns);

/* ---- life.c: simulated lives ---- */

/* End a simulated life: all threads that work for it stop, and the launch can be begun again.
 * `end`: the end of the run. `reached`: as lg__account_reached() said. */
struct lg__reached;
void lg__life_end(lg_launch *launch, lg_end end, const struct lg__reached *reached);

/* Simulated time passes while the launch waits for the answer of a callback, or for a wish in a
 * hold. */
void lg__life_pass(lg_launch *launch, uint64_t passed_ns);

/* ---- window.c ---- */

/* Count the time that the launches live, and look for their heartbeats. Returns the nanoseconds
 * until the next look. On the watch thread. */
uint64_t lg__window_look_around(struct lg__host *host);

/* ---- terminate.c: the program ends by its own will ---- */

/* End all launches that are under way: from now on nothing counts against them. */
void lg__terminate_launches(struct lg__host *host);

/* ---- clean_end.c ---- */

/* Note in the ledger that this run ended by exit(0). Called once, when the run file says so. */
void lg__clean_end_note(struct lg__host *host);
/* Withdraw that note: after exit() the run ended with another status. */
void lg__clean_end_take_back(struct lg__host *host);

/* ---- account_run.c: how the last run ended, stored ---- */

/* Classify the last run and store the outcome together with the identity of this one. Under
 * host->lock. */
void lg__account_run_last(struct lg__host *host, const struct lg__identity *self);

/* Read how the last run of a ledger ended; `directory` is its state directory. `replaced` as for
 * lg__evidence_read(). */
void lg__account_run_read(const char *directory, const struct lg__ledger_payload *payload, const struct lg__hot *hot, bool replaced, struct lg__last_run *ret_last);

/* ---- reports.c: what a program is told of runs that have ended ---- */

#define LG__REPORT_PATH_BYTES (4096 + 96)

/* Path of the file of a run. */
void lg__reports_path(const char *directory, uint64_t ordinal, const uint8_t uuid[16], char ret_path[LG__REPORT_PATH_BYTES]);

/* The run ended badly, and the program has not learned of it. */
bool lg__reports_is_untold(const struct lg__ledger_run *run);

/* Mark a run as known to the program; not yet stored. false: the run is not in the timeline. Under
 * host->lock. */
bool lg__reports_tell(struct lg__host *host, uint64_t ordinal);

/* A copy of the timeline. */
struct lg__reports {
    const char *directory;
    uint32_t count;
    struct lg__ledger_run runs[LG__TIMELINE];
};

/* Under host->lock. The rest reads files, and needs no lock. */
void lg__reports_copy(const struct lg__host *host, struct lg__reports *ret_reports);

/* The last one that ended badly. false: there is none. */
bool lg__reports_last(const struct lg__reports *reports, uint32_t *ret_index);

/* What lg_report points to. */
struct lg__report_names {
    char path[LG__REPORT_PATH_BYTES], uuid[37];
};

/* One of them as a report; `contexts`: a bit for each context that is asked about. */
lg_report lg__reports_make(const struct lg__reports *reports, uint32_t index, uint32_t contexts, struct lg__report_names *ret_names);

/* ---- callback.c: calls into the program that may hang ---- */

struct lg__life;
struct lg__rung;

/* OVERRUN: a repair whose grace after the timeout is over, too, and which may run on. */
enum lg__answer { LG__ANSWER_OK, LG__ANSWER_FAILED, LG__ANSWER_TIMEOUT, LG__ANSWER_OVERRUN, LG__ANSWER_ABORTED };

#define LG__NO_TIMEOUT UINT64_MAX

/* Call where options.callbacks says and wait for the answer; nothing is called when the life is
 * over. `batch` is copied with what it points to. */
enum lg__answer lg__callback_report(struct lg__life *life, const lg_report_batch *batch, uint64_t timeout_ns);
enum lg__answer lg__callback_give_up(struct lg__life *life, uint32_t hold, uint64_t timeout_ns);
enum lg__answer lg__callback_repair(struct lg__life *life, const struct lg__rung *rung);

/* Run work that answers by its return. `here`: on this thread unless there is an executor; else
 * where options.callbacks says. */
typedef lg_status (*lg__work)(struct lg__life *life, uint32_t index);
enum lg__answer lg__callback_run(struct lg__life *life, lg__work work, uint32_t index, bool here, uint64_t timeout_ns);
/* The same, where nobody waits for the answer. */
void lg__callback_start(struct lg__life *life, lg__work work, uint32_t index);

/* End every wait for the callbacks of the life; later answers have no effect. Under the launch's
 * lock. */
void lg__callback_abort(struct lg__life *life);

/* Simulated time passes for the callbacks that are waited for. Under the launch's lock. */
void lg__callback_pass(struct lg__life *life, uint64_t passed_ns);

/* Run a function on a detached thread; false: no thread. `quiet`: it gets no signals of the
 * program, which may want to wait for them. */
bool lg__callback_detach(void *(*function)(void *), void *argument, bool quiet);

#endif
