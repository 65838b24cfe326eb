/** Start and stop.
 *
 *  A process has one session. lg_start() maps the files, finds out how the last run ended, and
 *  installs the crash handlers. Call it first in main(), never from a constructor: a handler that
 *  is installed before the constructor of the Swift runtime disables Swift's own backtrace.
 *
 *  Durability: data stored by a call that returned survives any death of the process, SIGKILL
 *  included. The data survives a power cut only if the kernel had written it back, for which
 *  LaunchGuard does not wait.
 *
 *  Caveats
 *  - A forked child is not protected. The child leaves the parent's files alone and dies as it
 *    would without LaunchGuard. The child may call exec, and its new program may start its own
 *    session.
 *  - Call daemon(), or whatever forks and lets the parent leave, before lg_start(), and begin the
 *    launch after that. Called between lg_launch_begin() and the end of the launch, it leaves the
 *    launch with a process that is gone, and the program goes on in a child that is not protected:
 *    no call has an effect there. The next start says so (LG_EVIDENCE_FORK), and does not count
 *    that end.
 *  - Crashes before lg_start() leave no record.
 *  - The handlers for SIGTERM, SIGINT and SIGHUP only note the signal. The effect of the signal on
 *    the program stays as it was.
 */
#ifndef LAUNCHGUARD_SESSION_H
#define LAUNCHGUARD_SESSION_H

#include <launchguard/status.h>

/** A running session: one per process. Handles stay valid until the process ends, also after
 *  lg_stop(). */
typedef struct lg_session lg_session;

/** Longest app_id and app_version, in bytes without the NUL. */
#define LG_NAME_MAX 63

/** Importance of an entry; the numbers leave room between them. */
typedef enum lg_level {
    LG_LEVEL_TRACE = 10,
    LG_LEVEL_DEBUG = 20,
    LG_LEVEL_INFO = 30,
    LG_LEVEL_NOTICE = 40,
    LG_LEVEL_WARNING = 50,
    LG_LEVEL_ERROR = 60,
    LG_LEVEL_CRITICAL = 70
} lg_level;

/** The program's own logger; see lg_options.on_log.
 *
 *  @param level     LG_LEVEL_*.
 *  @param category  the part of the program that speaks: always "launchguard". Static.
 *  @param text      one line, without control characters; NUL-terminated, at most LG_ON_LOG_MAX
 *                   bytes. Valid during the call. It may quote texts of the program, which need not
 *                   be UTF-8.
 *  @param user      lg_options.log_user. */
typedef void (*lg_log_callback)(lg_level level, const char *category, const char *text, void *user);

/** Longest text that lg_options.on_log gets, in bytes without the NUL. */
#define LG_ON_LOG_MAX 1023

/** Options of lg_start(). Zero means the default, everywhere. */
typedef struct lg_options {
    /** sizeof(lg_options); LG_OPTIONS_INIT sets it. */
    uint32_t size;

    /** Longest time for writing the crash record, in milliseconds; 0 = 3000, at least 100, at
     *  most 60000. The record ends then, with the parts it has. Without an earlier handler to call,
     *  the process has ended half a second later. */
    uint32_t deadline_ms;

    /** Reverse-DNS name of the application, for example "org.example.player"; 1 to LG_NAME_MAX
     *  bytes of letters, digits, '.', '-' and '_', not starting with '.'. Required. Borrowed during
     *  the call. */
    const char *app_id;

    /** Version of the application. A version (or a build id) that has not crashed before counts at
     *  the next start as an upgrade and resets all counters. 0 to LG_NAME_MAX bytes; NULL = "".
     *  Borrowed during the call. */
    const char *app_version;

    /** Directory of the ledger and the run files. Missing directories of the path are created with
     *  mode 0700. A link in the path is followed where root or this user owns it; another user's
     *  link only in the middle of the path, and only where neither the group nor all may write to
     *  the directory that it stands in. NULL = $STATE_DIRECTORY (its first part), else
     *  $XDG_STATE_HOME/<app_id>, else $HOME/.local/state/<app_id>. A setuid program ignores the
     *  environment and must set this option. Borrowed during the call.
     *
     *  A directory whose ledger belongs to another app_id stays as it is: this program uses the
     *  folder named by its own app_id in that directory. A breadcrumb and lg_session_message() say
     *  so, and lg_session_state_directory() returns the folder. */
    const char *state_directory;

    /** Size of the ring log in bytes; 0 = 262144. Between 4096 and 16777216; rounded up to a power
     *  of two. From 16384 on, the log is divided among 2 to 16 lanes of equal size (8 by default).
     *  Up to 15 threads have a lane each; all others share the first lane. */
    uint32_t ring_bytes;

    /** Number of ended run files that are kept; 0 = 32. Runs without a bad end give way first,
     *  until they are a quarter of that number. The first run of a streak is kept beyond that, and
     *  so is a run that delivery still owes a report (delivery.h). */
    uint32_t keep_runs;

    /** Space on the disk in bytes that ended run files take together; 0 = 67108864 (64 MiB). It is
     *  never more than a quarter of the file system. The newest one and the first run of a streak
     *  are kept beyond that. A run that delivery still owes a report gives way to this limit last,
     *  and is counted. */
    uint64_t keep_bytes;

    /** Bytes of stack memory that a crash record keeps, for all threads together; 0 = 131072.
     *  Between 4096 and 16777216. A quarter is for the crashed thread; the other threads share the
     *  rest. */
    uint32_t stack_bytes;

    /** Number of other threads for which a crash record has room; 0 = 64. Between 1 and 1024. */
    uint32_t thread_limit;

    /** LG_LEAVE_OUT_*: parts that the crash record leaves out. 0 = none. */
    uint32_t leave_out;

    /** 1: keep the last 16320 bytes of standard error in the run file. File descriptor 2 becomes a
     *  pipe, and a thread copies its contents to the former target of the descriptor. A child that
     *  outlives this process and still writes to the pipe gets SIGPIPE, and so does a program that
     *  replaces this one by exec() without a fork. */
    uint32_t keep_stderr;

    /** Longest time that a crash handler installed before lg_start() may take, in milliseconds; 0 =
     *  30000, at least 100, at most 3600000. A handler that hangs does not keep the process from
     *  ending. A handler that leaves by longjmp, so that the program goes on, is left alone. */
    uint32_t handler_ms;

    /** 1: a fault that repeats without progress does not end the process. Such a fault comes again
     *  at once at the same place, because the handler that was installed before lg_start() returned
     *  and changed nothing. It ends the process by its signal after `deadline_ms`. No launch is
     *  finished by time meanwhile, also with 1. */
    uint32_t keep_repeats;

    /** Role of a process that has launches of its own beside the primary process of the
     *  application, for example "worker". Its ledger and its run files are in the folder of that
     *  name in the state directory. 1 to LG_NAME_MAX bytes as in `app_id`, but neither "runs" nor a
     *  name that begins with "ledger.lg"; NULL: none. Borrowed during the call. */
    const char *role;

    /** Longest time between two heartbeats of a run loop (lg_heartbeat()) before the program counts
     *  as hanging, in milliseconds: while a launch is under way, and at any other time. 0 = 2000
     *  and 5000; at least 100, at most 3600000. */
    uint32_t hang_launching_ms;
    uint32_t hang_running_ms;

    /** 1: lg_start() loads libunwind, which takes some 0.3 ms. libunwind then walks the stack of
     *  the crashed thread if LaunchGuard's own walk by unwind tables crashes. Without libunwind,
     *  and in the static library, which never has it, a warning is logged, and the record of such a
     *  crash has the frames by frame pointers only. */
    uint32_t spare_walk;

    /** 1: LaunchGuard keeps first place for SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT and
     *  SIGSYS. A handler that the program installs after lg_start() by sigaction(), signal() or
     *  their relatives is called after the record, with its flags and its mask, like a handler that
     *  was there before; sigaction() answers the program as if LaunchGuard were not there.
     *  For the other signals that LaunchGuard takes, the program's choice replaces LaunchGuard's
     *  until it is SIG_DFL again. 0: a later handler replaces LaunchGuard's. Not in the static
     *  library, which logs a warning. Not for actions that are set by the system call itself. */
    uint32_t keep_first;

    /** LG_CAPTURE_NONE: LaunchGuard takes no signal, for a program that has a crash reporter
     *  already, which calls lg_crash_note(). Counters, launch protection, ring log, annotations,
     *  heartbeats and deadlines work as ever. There is no crash record, and no stacks of a hang or
     *  of a job. A SIGTERM, SIGINT or SIGHUP leaves no mark: announce the end by
     *  lg_will_terminate(). A page of the files that is lost, because somebody cut a file or the
     *  disk failed, is not replaced by memory: access to the page is a SIGBUS. 0: all; under
     *  valgrind, which reports crashes itself, none. */
    uint32_t capture;

    /** 1: the run file keeps the first 968 bytes of the program's arguments. Arguments may name
     *  users, files and keys, and the report of a crash shows them. 0: it keeps none. */
    uint32_t keep_command_line;

    /** Called with each breadcrumb that LaunchGuard itself writes into the ring log, with the
     *  problem of a start, and with the end of the last run unless that end was clean. The messages
     *  of its crash come along, because no crash handler calls on_log. NULL: nothing is called.
     *
     *  Each call comes after the one before it has returned, in the order of the breadcrumbs, while
     *  LaunchGuard holds none of its locks. on_log may make any call of LaunchGuard; breadcrumbs of
     *  that call come afterwards. Breadcrumbs that a call of the program causes come on the thread
     *  of that call, before it returns; where on_log runs on another thread at that moment, that
     *  thread delivers them. So the program must not hold a lock there that on_log takes.
     *  Breadcrumbs of a thread of LaunchGuard come on that thread. Those of the watch thread (a
     *  hang, a job near its deadline) come on a separate thread, which the first heartbeat or job
     *  makes; before that, with the next call. Simulated sessions never call on_log.
     *
     *  on_log is never called in a signal handler or in a forked child. No call begins once
     *  lg_stop() has returned or exit() has reached LaunchGuard; a call that began before may still
     *  run. A crash in on_log is a crash of the program, also during lg_start(). on_log must
     *  return: a longjmp out of it makes it its last call. If on_log does not keep up, breadcrumbs
     *  stay in the ring log alone, and a later call of on_log says how many. */
    lg_log_callback on_log;
    /** Handed to on_log. */
    void *log_user;
} lg_options;

/** For lg_options.capture. */
#define LG_CAPTURE_NONE 1u

/** For lg_options.leave_out. */
#define LG_LEAVE_OUT_MESSAGES 1u /**< texts of libc, the Swift runtime, C++ exceptions */
#define LG_LEAVE_OUT_THREADS 2u  /**< the other threads, which are then not interrupted */
/** stack memory, which holds the program's data; also the bytes around the stack pointer */
#define LG_LEAVE_OUT_STACKS 4u
#define LG_LEAVE_OUT_PROCESS 8u  /**< memory map and resource figures */

#ifdef __cplusplus
#define LG_OPTIONS_INIT lg_sized<lg_options>()
#else
#define LG_OPTIONS_INIT { .size = (uint32_t)sizeof(lg_options) }
#endif

/** The protection that a session can give. */
typedef enum lg_protection {
    /** No files: the program runs, launches proceed, nothing is recorded. */
    LG_PROTECTION_NONE = 0,
    /** A run file and the crash handlers, but no counters: another process of the application holds
     *  the ledger. Once that process has ended, the next of lg_launch_prepare(), lg_launch_begin()
     *  and lg_delivery_start() makes this LG_PROTECTION_FULL. */
    LG_PROTECTION_RECORD = 1,
    /** Everything. */
    LG_PROTECTION_FULL = 2,
    /** The launch protection alone: launches are counted, reported and repaired. This run has no
     *  file, and so no record of a crash and no log: the state directory has no room for one. */
    LG_PROTECTION_LAUNCH = 3
} lg_protection;

LG_BEGIN

/** Start the session: map the files, classify the last run, install the handlers. The call never
 *  blocks the launch. Where the last run left nothing that explains its end, and a living agent
 *  (delivery.h) is about to say how it ended, the call waits for that word, for 20 ms at most.
 *
 *  @param options      borrowed during the call.
 *  @param ret_session  always set to a handle that every other call accepts. A failure does not
 *                      keep the program from starting. lg_session_protection() returns the
 *                      protection of the session, lg_session_message() the problem.
 *  @return LG_OK: fully protected. There is a message only where the state directory belongs to
 *          another application, and a folder in it is used, or where the file system has no space
 *          for a whole run file: old runs have been deleted then, and this run's file is smaller.
 *          LG_ERR_DAMAGED, LG_ERR_NEWER: fully protected; the old ledger was unusable
 *          and is kept aside.
 *          LG_ERR_SECONDARY: LG_PROTECTION_RECORD. The call waits, for 10 s at most, where the
 *          other process is crashing or ending.
 *          LG_ERR_ALREADY: a session runs in this process, or was stopped; *ret_session is that
 *          session. After a failure the call may be repeated with better options.
 *          LG_ERR_ARGUMENT, LG_ERR_OPTION: a mistake in the call; LG_PROTECTION_NONE.
 *          LG_ERR_NO_DIRECTORY, LG_ERR_NOT_DIRECTORY, LG_ERR_LINK, LG_ERR_OWNER, LG_ERR_PERMISSION,
 *          LG_ERR_READ_ONLY, LG_ERR_NO_SPACE, LG_ERR_NOT_FOUND (a part of the path has just been
 *          removed), LG_ERR_LIMIT (RLIMIT_FSIZE or the file system allows no files of that size),
 *          LG_ERR_SYSTEM (errno): LG_PROTECTION_LAUNCH where the ledger could be opened and only
 *          the run's file could not be made; else LG_PROTECTION_NONE.
 *          LG_ERR_DISABLED: the last starts ended in a fault inside this call; LG_PROTECTION_NONE
 *          for some starts. The message says when LaunchGuard tries again.
 *          LG_ERR_UNSUPPORTED: this is not Linux, and every call works as documented for a session
 *          without files; LG_PROTECTION_NONE.
 *
 *  Threads: call it once, from main.  Signals: unsafe.
 *  After fork: a child of a process with a session gets LG_ERR_FORKED.  Allocates: yes.
 *  Durable: the run is in the ledger before the call returns.
 */
LG_API lg_status lg_start(const lg_options *options, lg_session **ret_session);

/** Stop the session: mark the run as cleanly ended and remove the handlers. The call is not needed
 *  before exit(): a return from main() and exit() mark the end as well.
 *
 *  @param session  from lg_start(); the handle stays valid, and every later call with it returns
 *                  LG_ERR_CLOSED.
 *  @return LG_OK; LG_ERR_CLOSED when stopped before; LG_ERR_FORKED; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_stop(lg_session *session);

/** Announce the end of the program, by its own decision or on request. Launches that are under way
 *  are over, and later events do not count against them. The call is not needed for a signal that
 *  asks the program to end (SIGTERM, SIGINT, SIGHUP), unless the program has its own handler for
 *  the signal: LaunchGuard notes the signal itself.
 *
 *  An end while a repair runs interrupts the repair all the same.
 *
 *  @return LG_OK, also when announced before; LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_will_terminate(lg_session *session);

/** Announce an intended restart of the program, by itself (exec) or by its supervisor. Otherwise as
 *  lg_will_terminate(). The last of several announcements counts.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_will_restart(lg_session *session);

/** Longest `type` of lg_crash_note(), in bytes without the NUL. */
#define LG_CRASH_TYPE_MAX 47

/** Report that the program has crashed. The call is for a component that sees crashes without a
 *  crash record: a managed runtime, or a crash reporter whose handlers end the process. The end of
 *  the run is LG_END_CRASH with LG_EVIDENCE_CRASH_NOTE, and counts like any crash, in the tasks
 *  that run now. Call it as soon as the crash is certain: nothing takes the call back later, not
 *  even exit(0), lg_stop() or a witness. A crash record of LaunchGuard's own says more, and wins.
 *
 *  @param type  what `launchguard inspect` calls the crash, for example "TypeError" or "SIGSEGV":
 *               NUL-terminated UTF-8, cut to LG_CRASH_TYPE_MAX bytes; NULL = "". Copied.
 *  @return LG_OK; LG_ERR_ALREADY: a crash was noted before, and stays; LG_ERR_UNPROTECTED;
 *          LG_ERR_CLOSED; LG_ERR_FORKED; LG_ERR_ARGUMENT: no session.
 *
 *  Threads: safe, lock-free.  Signals: safe.  After fork: the child writes nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_crash_note(lg_session *session, const char *type);

/** Store a child's wait status in its run file. Call it right after `waitpid()`: the time of the
 *  call is that of the end. An exit or a kill that left no mark is then known exactly.
 *
 *  @param state_directory  of the program that ended, as lg_session_state_directory() returns it
 *                          there: with the role's folder if the program has a role.
 *  @param pid              of the child, from waitpid(). The call uses the newest run with this
 *                          pid.
 *  @param wait_status      from waitpid().
 *  @return LG_OK; LG_ERR_NOT_FOUND: no run of this pid there; LG_ERR_STATE: the process is alive;
 *          LG_ERR_ALREADY: a status is stored already, or a later start of the program has
 *          classified the run without it; LG_ERR_DAMAGED; LG_ERR_NEWER;
 *          LG_ERR_PERMISSION; LG_ERR_READ_ONLY; LG_ERR_LINK; LG_ERR_OWNER: the file belongs to
 *          another user than its directory, or to another user than the caller, who is not root;
 *          LG_ERR_SYSTEM (errno); LG_ERR_UNSUPPORTED: this is not Linux; LG_ERR_ARGUMENT, also for
 *          the status of a process that has not ended.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: survives the process at once. It decides how the run ended.
 */
LG_API lg_status lg_witness(const char *state_directory, int32_t pid, int wait_status);

/** Store what a process said on standard error, as the parent that kept it knows it: after the end
 *  of the process, and before lg_witness().
 *
 *  @param state_directory  the directory of the process, not of the application; borrowed.
 *  @param pid              the process.
 *  @param bytes            the last bytes; borrowed. Of more than 16320 the last ones are stored.
 *  @param size             their number.
 *  @param total            bytes in all, at least `size`.
 *  @return LG_OK; LG_ERR_ALREADY: the run has them; LG_ERR_NOT_FOUND: no run of the process, or its
 *          file has no room for them; LG_ERR_STATE: the process lives; LG_ERR_DAMAGED;
 *          LG_ERR_NEWER; LG_ERR_PERMISSION; LG_ERR_READ_ONLY; LG_ERR_LINK; LG_ERR_OWNER, as of
 *          lg_witness(); LG_ERR_SYSTEM (errno); LG_ERR_UNSUPPORTED: this is not Linux;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: survives the process at once; a power cut after the kernel's write-back.
 */
LG_API lg_status lg_witness_stderr(const char *state_directory, int32_t pid, const char *bytes, size_t size, uint64_t total);

/** The state directory that lg_start() uses when options.state_directory is NULL: the folder of
 *  this application in it, if the directory belongs to another one.
 *
 *  @param app_id  as in lg_options.
 *  @param buffer  receives the path with its NUL.
 *  @param size    of the buffer; 4096 is always enough.
 *  @return LG_OK; LG_ERR_NO_DIRECTORY; LG_ERR_OPTION: the app_id makes no sense; LG_ERR_LIMIT: the
 *          buffer is too small; LG_ERR_UNSUPPORTED: this is not Linux; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_state_directory(const char *app_id, char *buffer, size_t size);

/** The protection of the session. It is constant from lg_start() until lg_stop(), after which it is
 *  LG_PROTECTION_NONE.
 *
 *  Threads: safe.  Signals: safe.  After fork: LG_PROTECTION_NONE.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_protection lg_session_protection(const lg_session *session);

/** The problem of the start and its remedy, for a log or a person. The message names the path and
 *  the system's reason.
 *
 *  @return "" without a problem; owned by the session.
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

/** Path of the state directory, with the folder of the role or of the application if there is one;
 *  "" for a session without files. Owned by the session.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_session_state_directory(const lg_session *session);

/** Read the table of loaded modules again. A crash record does not need this call after dlopen() or
 *  dlclose(), as the handler reads the changes from the loader's list. After a death without a
 *  crash record, by SIGKILL for example, the run file holds the table of the last call.
 *
 *  @return LG_OK; LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: the table in the run file is replaced.
 */
LG_API lg_status lg_modules_refresh(lg_session *session);

/** Give the calling thread a guarded alternate stack, so that an overflow of its own stack is
 *  recorded too. The thread that calls lg_start() has one without this call, and so have threads
 *  made with pthread_create() in programs that link the shared library or the Swift package.
 *  Programs that link the static library call this function on each further thread. The stack is
 *  freed when the thread ends. A larger alternate stack that the thread has already is kept.
 *
 *  @return LG_OK, also when the thread has one already; LG_ERR_SYSTEM (errno): no memory.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: maps pages.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_thread_register(void);

LG_END

#endif
