/* The session: the uppermost layer of the core, which ties the other ones together.
 *
 * A file belongs here if it needs two or more of the folders below and acts for one session
 * (`lg_session`) or on the files of one: the calls of the public API that take a session, the
 * watchers of a living program and the thread that calls them, and the calls of another process on
 * a state directory (lg_witness(), lg_launch_query(), lg_launch_reset()). A file that can do its
 * work with one folder below belongs into that folder. Nothing in the folders below includes a
 * header of this one.
 *
 * Inside, arrows point down as well: start.c, stop.c and simulate.c; then watch.c, the work of the
 * watch thread; then the watchers that it calls (heartbeats, job_deadlines, memory_watch, limits),
 * which wake it by launch/wake.c and do not know it; at the bottom session.c and the options. */
#ifndef LG_SESSION_H
#define LG_SESSION_H

#include <signal.h>

#include "capture/capture.h"
#include "launch/launch.h"
#include "launchguard/session.h"

/* The last look at the CPU time of a program that has a limit of it. */
struct lg__cpu_look {
    uint64_t at_ns; /* CLOCK_MONOTONIC; 0: there was none */
    uint64_t used_ns, pause_ns;
    uint64_t idle_at_ns; /* since when it idles near the limit; 0: it does not */
    bool near; /* the limit may end it soon */
    bool logged; /* there is a breadcrumb */
};

/* The session of a program that does not know of LaunchGuard. */
struct lg__preloaded {
    void (*leaves)(int status); /* before _exit() ends the process, on any thread. Handler. */
    void (*forked)(void); /* in a forked child, whose session is closed: starts one of its own */
    bool (*ended)(int status);  /* the run has its mark. true: its file has gone. Handler. */
};

struct lg_session {
    const struct lg__preloaded *preloaded; /* NULL: the program knows of its session */
    bool forked; /* a preloaded one in a forked child */
    pid_t parent;
    uint64_t touched_signals; /* as in struct lg__os_process, early in the start */
    struct lg__cpu_look cpu; /* of the watch thread */
    _Atomic lg_protection protection;
    uint32_t deadline_ms, handler_ms, keep_repeats, hang_launching_ms, hang_running_ms, keep_runs, leave_out, keep_stderr, spare_walk, keep_first, capture,
        keep_command_line;
    struct lg__run_sizes sizes;
    uint64_t keep_bytes;
    char app_id[LG__NAME_BYTES], app_version[LG__NAME_BYTES];
    char role[LG__NAME_BYTES]; /* last part of the state directory; "": none */
    int runs_directory; /* descriptor, during the start alone; −1: none */
    uint64_t runs_identity; /* lg__os_file_identity() of that directory */
    uint64_t root_identity; /* of "/" at the start of a preloaded session */
    uint64_t ordinal;
    uint64_t process; /* as the primary of the ledger; 0: it is never one */
    bool ledger_alone; /* the run has no file */
    struct lg_session *older; /* of a simulated one: sessions are kept until the process ends */
    /* reads 1 while lg__session_check() says LG_OK; never NULL; exchanged while others read it */
    _Atomic(const _Atomic uint32_t *) open;
    char run_path[4096 + 96];
    struct lg__host host; /* last, as it ends in what is never there */
};

/* start.c: lg_start() for a program that does not know of LaunchGuard. Each forked child has a
 * session of its own; no thread is made until there is a crash; SIGPIPE is no crash. */
lg_status lg__start_preloaded(const lg_options *options, const struct lg__preloaded *preloaded, lg_session **ret_session);
/* start.c: in a forked child, or in a child that gave its run up: close the session. A preloaded
 * session begins anew. */
void lg__start_in_child(void);

/* options.c: check the texts of the options, and copy all into the session. */
lg_status lg__options_take(struct lg_session *session, const lg_options *options);
/* options.c: choose the state directory. */
lg_status lg__options_directory(struct lg_session *session, const lg_options *options);
/* options.c: the directory belongs to another application; go on to the folder of this one in it.
 * false: there can be none, and the problem is noted. */
bool lg__options_own_folder(struct lg_session *session);

/* system.c: store the system that the run begins on. `cgroups` is the text of lg__os_cgroups(), or
 * "". */
void lg__system_take(struct lg_session *session, const char *cgroups);

/* ---- start_faults.c: LaunchGuard must not be the reason why a program does not start ---- */

/* The primary begins to start. false: it must not, after faults of its own in the last starts. */
bool lg__start_faults_begin(struct lg__host *host, const struct lg__identity *identity);
/* A first chance that claims nothing: note a fault of the start itself. Handler. */
bool lg__start_faults_fault(int signal, siginfo_t *info, void *ucontext);
/* The start is complete: it is trusted again. */
void lg__start_faults_end(void);
/* The start failed with an error code: it has neither faulted nor completed. */
void lg__start_faults_survived(void);

/* watch.c: from now on the session can be watched. Returns the function of the watch thread. */
void (*lg__watch_start(struct lg_session *session))(void);

/* stderr_thread.c: keep the end of standard error. */
void lg__stderr_thread_start(struct lg_session *session);
/* signal_redirect.c: a first chance. A signal sent to the process that the kernel gave to one of
 * our threads belongs to the program. It goes to the first thread of the program, so that the
 * record has a stack that means something. Handler. */
bool lg__signal_redirect(int signal, siginfo_t *info, void *ucontext);

/* last_run.c: classify the last run, and put its end into the outbox, unless it was clean. The
 * process is the primary. */
void lg__last_run_account(struct lg_session *session, const struct lg__identity *identity);

/* take_over.c: another process was the primary when the ledger was opened. Wait for it if it is
 * ending. true: this process is the primary now. */
bool lg__take_over_at_start(struct lg_session *session);
/* The same later, for a session that began beside a primary. true: the session counts. Any
 * thread. */
bool lg__take_over(struct lg__host *host);
/* The first question of the calls that only the primary makes: LG_OK also for a simulated session.
 * Else LG_ERR_SECONDARY, or why no call can be made. */
lg_status lg__take_over_check(lg_session *session);

/* guards.c: the guards are off, and the thread that reports their events ends. */
void lg__guards_stop(void);
/* Report the remaining events of guards on the calling thread. */
void lg__guards_tell(void);

/* log_thread.c: a libc thread hands over the breadcrumbs of the watch thread, where the program has
 * a logger. There is a thread from the first call on. */
void lg__log_thread_want(struct lg_session *session);
/* A breadcrumb waits to be handed over, or no more will come. On any thread. */
void lg__log_thread_wake(void);

/* limits.c: the process forked. During a launch the run file notes the fork for a tenth of a
 * second. */
void lg__limits_forked(struct lg_session *session);
/* limits.c: look at a program that has used `used_ns` of `limit_s` seconds on that many processors.
 * The next look is as far away as the limit, for all processors together use time up no faster.
 * `near` is set near the limit while the program goes on using CPU time, and taken back when the
 * program idles for a second: a program that sleeps is not ended by the limit. Looks at one that
 * idles get rare, as they use up its CPU time. Returns the nanoseconds until the next look. */
uint64_t lg__limits_cpu(struct lg__cpu_look *look, uint64_t limit_s, uint64_t used_ns, unsigned processors, uint64_t now);
/* limits.c: note that a program that was asked to end, or forked, lives on, and that its CPU time
 * is about to reach the hard limit. For the watch thread: `now` is CLOCK_MONOTONIC. Returns the
 * nanoseconds until the next look; LG__NEVER: none is needed. */
uint64_t lg__limits_look(struct lg_session *session, uint64_t now);

/* stop.c: mark a clean end, where it is one. For lg__os_at_exit(); `session` is a struct
 * lg_session. */
void lg__stop_at_exit(int code, void *session);

/* witness_wait.c: called before the last run is classified. Waits, for 20 ms at most, where a
 * living agent is about to store how that run ended, and nothing else shows it. */
void lg__witness_wait(const struct lg_session *session);

/* retention.c. The name of the ended run that gives way to this one; its file can be used for this
 * run. false: none is known. */
bool lg__retention_oldest(const struct lg_session *session, char ret_name[LG__RUN_NAME_BYTES]);
/* Delete the ended runs beyond the limits, and list the runs whose files the next starts may
 * use. Most starts find a list and do nothing here. The last run gives its unused blocks back. */
void lg__retention_apply(struct lg_session *session);
/* Delete the ended run that gives way first, but not the last one, which is not classified yet.
 * `firsts_too`: also the first run of a streak. false: there is none. */
bool lg__retention_make_room(struct lg_session *session, bool firsts_too);
/* All ended runs give their unused blocks back. */
void lg__retention_trim(const struct lg_session *session);

/* ---- disk_space.c: the files, also where their file system is full ---- */

/* lg__ledger_open() and lg__run_create() of a start. */
lg_status lg__disk_space_ledger(struct lg_session *session, int directory, const char *path, uint64_t process, const uint8_t boot_id[16]);
lg_status lg__disk_space_run(struct lg_session *session, const char *name, const char *ended, const struct lg__identity *identity);
/* The run's file could not be made: the run is in memory, where the ledger can protect alone.
 * Returns `why`. */
lg_status lg__disk_space_none(struct lg_session *session, lg_status why, const struct lg__identity *identity);

/* The reason why a call on this session does nothing: LG_OK if it does something. Signals: safe. */
lg_status lg__session_check(const struct lg_session *session);
/* session.c: open the directory of the runs, after the start. −1, with errno: the path leads
 * elsewhere by now, as after a chroot(). */
int lg__session_open_runs(const struct lg_session *session);

/* Whether a launch is under way. Handler. */
bool lg__session_launching(const struct lg_session *session);

/* ---- heartbeats.c, job_deadlines.c: duties of a living program ---- */

/* Called before the first heartbeat can come. */
void lg__heartbeats_prepare(struct lg_session *session);
/* For the watch thread: look at all of them, now. Returns the nanoseconds that the thread may
 * sleep; LG__NEVER: without a limit. */
uint64_t lg__heartbeats_look(struct lg_session *session);
uint64_t lg__job_deadlines_look(struct lg_session *session);
/* memory_watch.c: take the snapshot that lg_memory_watch() waits for. */
uint64_t lg__memory_watch_look(struct lg_session *session);
/* The calling thread waits in a call of ours: its heartbeat pauses, and goes on with the second
 * call, which gets the result of the first one. */
bool lg__heartbeats_hold(struct lg_session *session);
void lg__heartbeats_go_on(struct lg_session *session, bool beats);
/* Number of threads that ended without giving their heartbeat back. */
void lg__heartbeats_check(struct lg_session *session);

/* Whether lg__session_check() says LG_OK, for frequent callers. Signals: safe. */
static inline bool lg__session_open(const struct lg_session *session)
{
    lg__capture_thread_calls();
    return atomic_load_explicit(atomic_load_explicit(&session->open, memory_order_relaxed), memory_order_relaxed);
}

/* The target of `open` while the session is not open. */
extern const _Atomic uint32_t lg__session_closed;

#endif
