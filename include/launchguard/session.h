/** Start and stop.
 *
 *  One session a process. lg_start() maps the files, finds out how the last run ended, and installs the crash handlers; call
 *  it first thing in main(), never from a constructor (a handler that is installed before the constructor of the Swift
 *  runtime disables Swift's own backtrace).
 *
 *  What survives what: everything stored by a call that returned survives any death of the process, SIGKILL included. It
 *  survives a power cut only if the kernel had written it back, which LaunchGuard does not wait for.
 *
 *  Caveats
 *  - A forked child is not protected: it leaves the parent's files alone and dies as it would without LaunchGuard. It may
 *    call exec; its new program may start its own session.
 *  - Crashes before lg_start() leave no record.
 *  - The handlers for SIGTERM, SIGINT and SIGHUP only note the signal; what the program does with it stays as it was.
 */
#ifndef LAUNCHGUARD_SESSION_H
#define LAUNCHGUARD_SESSION_H

#include <launchguard/status.h>

/** A running session: one per process. Handles stay valid until the process ends, also after lg_stop(). */
typedef struct lg_session lg_session;

/** Longest app_id and app_version, in bytes without the NUL. */
#define LG_NAME_MAX 63

/** Options of lg_start(). Zero means default, everywhere. */
typedef struct lg_options {
    /** sizeof(lg_options); LG_OPTIONS_INIT sets it. */
    uint32_t size;

    /** Longest time that the crash record may take, in milliseconds; 0 = 3000, at least 100, at most 60000. Where no earlier handler
     *  is to be called, it is the longest time from the fault to the end of the process. */
    uint32_t deadline_ms;

    /** Reverse-DNS name of the application, for example "org.example.player"; 1 to LG_NAME_MAX bytes of letters, digits,
     *  '.', '-' and '_', not starting with '.'. Required. Borrowed during the call. */
    const char *app_id;

    /** Version of the application; a different one (or a different build id) at the next start counts as an upgrade and
     *  resets all counters. 0 to LG_NAME_MAX bytes; NULL = "". Borrowed during the call. */
    const char *app_version;

    /** Directory of the ledger and the run files; created with mode 0700 where missing, with its parents. NULL =
     *  $STATE_DIRECTORY (its first part), else $XDG_STATE_HOME/<app_id>, else $HOME/.local/state/<app_id>. The environment is
     *  ignored in a setuid program, which must say it here. Borrowed during the call. */
    const char *state_directory;

    /** Size of the ring log in bytes; 0 = 262144. Between 4096 and 16777216; rounded up to a power of two. From 16384 on it is
     *  divided among 2 to 16 lanes of equal size (8 by default): up to 15 threads write one each, all others share the first. */
    uint32_t ring_bytes;

    /** How many ended run files are kept; 0 = 32. The first run of a streak is kept beyond that. */
    uint32_t keep_runs;

    /** How many bytes of ended run files are kept; 0 = 67108864 (64 MiB). */
    uint64_t keep_bytes;

    /** Bytes of stack memory that a crash record keeps, for all threads together; 0 = 131072. Between 4096 and 16777216. The crashed
     *  thread has a quarter of it, the others share the rest. */
    uint32_t stack_bytes;

    /** How many other threads a crash record has room for; 0 = 64. Between 1 and 1024. */
    uint32_t thread_limit;

    /** LG_LEAVE_OUT_*: parts that a crash record shall not have. 0 = it has all. */
    uint32_t leave_out;

    /** 1: keep the last 4032 bytes of standard error in the run file. File descriptor 2 becomes a pipe, and a thread copies what comes out of
     *  it to where it pointed before. A child that outlives this process and still writes to it gets SIGPIPE,
     *  and so does a program that takes the place of this one by exec() without a fork. */
    uint32_t keep_stderr;

    /** Longest time that a crash handler which was installed before lg_start() may take, in milliseconds; 0 = 30000, at least 100, at most
     *  3600000. One that hangs does not keep the process from ending; one that jumps out and lets the program go on is left alone. */
    uint32_t handler_ms;

    /** For a process that has launches of its own beside the primary process of the application, for example a "worker": its ledger and its run files are in the
     *  folder of that name in the state directory. 1 to LG_NAME_MAX bytes as in `app_id`, but neither "runs" nor beginning with "ledger.lg"; NULL: none. Borrowed during the call. */
    const char *role;

    /** Longest time between two heartbeats of a run loop (lg_heartbeat()) before the program is said to hang, in milliseconds: while a launch
     *  is under way, and else. 0 = 2000 and 5000; at least 100, at most 3600000. */
    uint32_t hang_launching_ms;
    uint32_t hang_running_ms;
} lg_options;

/** For lg_options.leave_out. */
#define LG_LEAVE_OUT_MESSAGES 1u /**< texts of libc, the Swift runtime, C++ exceptions */
#define LG_LEAVE_OUT_THREADS 2u  /**< the other threads: they are not interrupted */
#define LG_LEAVE_OUT_STACKS 4u   /**< stack memory, which holds the program's data; also the bytes around the stack pointer */
#define LG_LEAVE_OUT_PROCESS 8u  /**< memory map and resource figures */

#ifdef __cplusplus
#define LG_OPTIONS_INIT lg_options { (uint32_t)sizeof(lg_options), 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0 }
#else
#define LG_OPTIONS_INIT { .size = (uint32_t)sizeof(lg_options) }
#endif

/** How much of its promises a session can keep. */
typedef enum lg_protection {
    /** No files: the program runs, launches proceed, nothing is recorded. */
    LG_PROTECTION_NONE = 0,
    /** A run file and the crash handlers, but no counters: another process of the application holds the ledger. */
    LG_PROTECTION_RECORD = 1,
    /** Everything. */
    LG_PROTECTION_FULL = 2
} lg_protection;

LG_BEGIN

/** Start the session: map the files, classify the last run, install the handlers. Never blocks the launch.
 *
 *  @param options      borrowed during the call.
 *  @param ret_session  always set to a handle that every other call accepts, also on failure: the program starts anyway.
 *                      lg_session_protection() says what the session can do, lg_session_message() what is wrong.
 *  @return LG_OK: fully protected, nothing to say.
 *          LG_ERR_DAMAGED, LG_ERR_NEWER, LG_ERR_OLDER: fully protected; the old ledger was unusable and is kept aside.
 *          LG_ERR_SECONDARY: LG_PROTECTION_RECORD.
 *          LG_ERR_ALREADY: a session runs in this process, or was stopped; *ret_session is that one. After a failure the call may be
 *          repeated with better options.
 *          LG_ERR_ARGUMENT, LG_ERR_OPTION: a mistake in the call; LG_PROTECTION_NONE.
 *          LG_ERR_NO_DIRECTORY, LG_ERR_NOT_DIRECTORY, LG_ERR_LINK, LG_ERR_OWNER, LG_ERR_PERMISSION, LG_ERR_READ_ONLY,
 *          LG_ERR_NO_SPACE, LG_ERR_DISABLED, LG_ERR_SYSTEM (errno): LG_PROTECTION_NONE.
 *
 *  Threads: call it once, from main.  Signals: unsafe.  After fork: a child of a process with a session gets LG_ERR_FORKED.
 *  Allocates: yes.
 *  Durable: the run is in the ledger before the call returns.
 */
LG_API lg_status lg_start(const lg_options *options, lg_session **ret_session);

/** Stop the session: mark the run as cleanly ended and take the handlers down. Not needed before exit(): leaving main or
 *  calling exit() marks the end as well.
 *
 *  @param session  from lg_start(); its handle stays valid, every later call with it returns LG_ERR_CLOSED.
 *  @return LG_OK; LG_ERR_CLOSED when stopped before; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_stop(lg_session *session);

/** The program is about to end by its own will, or because it was asked to: launches that are under way are over, and what happens from now on does not count
 *  against them. A signal that asks to end (SIGTERM, SIGINT, SIGHUP) is noted without this call where the program has no handler of its own for it.
 *
 *  An end while a repair runs interrupts the repair all the same.
 *
 *  @return LG_OK, also when announced before; LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_will_terminate(lg_session *session);

/** The program is about to be started again on purpose, by itself (exec) or by its supervisor. Otherwise as lg_will_terminate(); of several announcements
 *  the last one counts.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_will_restart(lg_session *session);

/** Tell the run file of a dead process how it ended, for a supervisor that has waited for it: an exit without a mark, a kill and their like are then known exactly.
 *
 *  @param state_directory  of the program that ended; with the role's folder if it has a role.
 *  @param pid              of it, as waitpid() told. The newest run with this pid is meant.
 *  @param wait_status      of waitpid().
 *  @return LG_OK; LG_ERR_NOT_FOUND: no run of this pid there; LG_ERR_STATE: it is alive; LG_ERR_ALREADY: somebody told before; LG_ERR_DAMAGED; LG_ERR_NEWER; LG_ERR_OLDER; LG_ERR_PERMISSION; LG_ERR_LINK;
 *          LG_ERR_OWNER: the file is not the directory's owner's, or not of the caller, who is not root; LG_ERR_SYSTEM (errno); LG_ERR_ARGUMENT, also for the status of a process
 *          that has not ended.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: survives the process at once; before the next start of the program it decides how the run ended.
 */
LG_API lg_status lg_witness(const char *state_directory, int32_t pid, int wait_status);

/** The state directory that lg_start() uses when options.state_directory is NULL.
 *
 *  @param app_id  as in lg_options.
 *  @param buffer  gets the path with its NUL.
 *  @param size    of the buffer; 4096 is always enough.
 *  @return LG_OK; LG_ERR_NO_DIRECTORY; LG_ERR_OPTION: the app_id makes no sense; LG_ERR_LIMIT: the buffer is too small; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_state_directory(const char *app_id, char *buffer, size_t size);

/** What the session can do; constant from lg_start() on, but for lg_stop(), after which it is LG_PROTECTION_NONE.
 *
 *  Threads: safe.  Signals: safe.  After fork: LG_PROTECTION_NONE.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_protection lg_session_protection(const lg_session *session);

/** What went wrong at the start and what to do about it, for a log or a person: names the path and the system's reason.
 *
 *  @return "" when nothing did; owned by the session.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_session_message(const lg_session *session);

/** Path of this run's file; "" for a session without files. Owned by the session.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_session_run_path(const lg_session *session);

/** Path of the state directory, with the role's folder; "" for a session without files. Owned by the session.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_session_state_directory(const lg_session *session);

/** Read the table of loaded modules again. A crash record needs no call after dlopen() or dlclose(): the handler sees from the loader's
 *  list what has changed. A death without a crash record, by SIGKILL for example, leaves the table of the last call.
 *
 *  @return LG_OK; LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: the table in the run file is replaced.
 */
LG_API lg_status lg_modules_refresh(lg_session *session);

/** Give the calling thread a guarded alternate stack, so that also the overflow of its stack is recorded. Threads made with
 *  pthread_create() get one by themselves in programs that link the shared library or the Swift package, as does the thread
 *  that calls lg_start(); programs that link the static library call this on each further thread. It is freed when the
 *  thread ends. A larger alternate stack that the thread has already is kept.
 *
 *  @return LG_OK, also when the thread has one already; LG_ERR_SYSTEM (errno): no memory.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: maps pages.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_thread_register(void);

LG_END

#endif
