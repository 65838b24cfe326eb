/** Watching a living program: run loops that hang, jobs that overrun their deadline, memory that
 *  runs short.
 *
 *  A sleeping thread watches; in a program that uses none of these calls, no thread watches. A
 *  finding is first marked in the run file, so that it explains a death that follows. The watch
 *  then leaves a breadcrumb. The mark is removed when the condition is over.
 *
 *  Caveats
 *  - A process that is stopped, debugged, or asleep with its machine does not hang: only time in
 *    which the process could run counts.
 *  - To take the stacks of a hang or a shortage of memory, a signal interrupts every thread once. A
 *    call such as poll() or nanosleep() then returns EINTR, as it does for any signal.
 *    LG_LEAVE_OUT_THREADS leaves all threads alone except the one that hangs.
 */
#ifndef LAUNCHGUARD_WATCH_H
#define LAUNCHGUARD_WATCH_H

#include <launchguard/session.h>

/** Most threads with a heartbeat at a time, and most jobs with a deadline. */
#define LG_HEARTBEATS_MAX 16
#define LG_DEADLINES_MAX 32

/** Memory in use when a callback of lg_memory_watch() is called. */
typedef struct lg_memory {
    uint64_t used;    /**< bytes */
    uint64_t limit;   /**< bytes, the nearest of those that apply */
    uint32_t percent; /**< used, as a part of limit */
    /** 1: of the memory cgroup; 0: of this process against its own limit or the machine's memory */
    uint32_t of_cgroup;
} lg_memory;

/** Called when memory gets near the limit, on a thread of LaunchGuard that may block. The callback
 *  is called once, and again only after memory was below nine tenths of the warning threshold.
 *  Until the callback returns, the watch of memory stands still.
 *
 *  @param memory  borrowed during the call. */
typedef void (*lg_memory_callback)(const lg_memory *memory, void *user);

LG_BEGIN

/** Report that the run loop of the calling thread is alive: call it once in each round of the loop.
 *
 *  The first call of a thread begins the watch of its run loop. From then on the loop hangs when
 *  its heartbeat stays away for longer than lg_options.hang_launching_ms while a launch is under
 *  way, or longer than hang_running_ms at any other time. The watch then marks the hang, takes the
 *  stacks of all threads once, and leaves a breadcrumb. The next heartbeat removes the mark and
 *  leaves a breadcrumb with the length of the hang. A program that is killed during a hang ended by
 *  a hang. A loop that waits for events calls lg_heartbeat_pause() before it waits. The watch of a
 *  thread ends with the thread. Where the kernel ended the thread alone (seccomp), the ring log
 *  says so.
 *
 *  A heartbeat is proof that the program survived a crash that an earlier handler took back. At
 *  most once a second, the call also checks the crash handlers and the alternate stack of the
 *  calling thread. A lost protection is reported in the ring log, once, as a warning. Flags that
 *  signal() drops when it saves and restores a handler are put back.
 *
 *  @return LG_OK; LG_ERR_LIMIT: LG_HEARTBEATS_MAX other threads have heartbeats, and this thread is
 *          not watched; LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: with on_log, a thread.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_heartbeat(lg_session *session);

/** Report that the run loop of the calling thread is about to wait, for any length of time. The
 *  loop is not watched until its next lg_heartbeat(). A hang is over.
 *
 *  @return as lg_heartbeat(); LG_OK also for a thread without a heartbeat.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_heartbeat_pause(lg_session *session);

/** Begin a job with a time limit: something else (a supervisor, a platform's limit for background
 *  work) kills the program if the job takes longer.
 *
 *  When nine tenths of the time have passed and the job has not ended, the watch marks the job as
 *  about to overrun, takes the stack of the calling thread, and leaves a breadcrumb. Unlike the
 *  time of a hang, the time of a job goes on while the process is stopped or asleep with its
 *  machine.
 *
 *  @param name          for people, cut to LG_NAME_MAX bytes. Copied.
 *  @param milliseconds  1 to 86400000 (a day).
 *  @param ret_deadline  a number for lg_deadline_end(); 0 on failure.
 *  @return LG_OK; LG_ERR_LIMIT: LG_DEADLINES_MAX jobs have a deadline already; LG_ERR_ARGUMENT;
 *          LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: with on_log, a thread.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_deadline_begin(lg_session *session, const char *name, uint32_t milliseconds, uint64_t *ret_deadline);

/** Say that a task of Swift does a job. If the task waits when the job is about to overrun, the
 *  snapshot has the functions of the task that wait for each other, in the place of the stack of
 *  the thread that began the job.
 *
 *  @param task  the current task of the calling thread, as in an UnsafeCurrentTask; lives until
 *               lg_deadline_end().
 *  @return LG_OK; LG_ERR_NOT_FOUND: no such job, or the job has ended; LG_ERR_ARGUMENT: `task` does
 *          not look like a task that runs: the runtime is another one; LG_ERR_UNPROTECTED;
 *          LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_deadline_of_task(lg_session *session, uint64_t deadline, const void *task);

/** End a job, in time or not, from any thread. A job that was marked leaves a breadcrumb with its
 *  length.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND: no such job, or the job has ended; LG_ERR_UNPROTECTED;
 *          LG_ERR_CLOSED; LG_ERR_FORKED; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_deadline_end(lg_session *session, uint64_t deadline);

/** Warn when memory gets near its limit. The limit is the nearest one of the memory cgroup (version
 *  1 or 2) and the cgroups above it; else RLIMIT_AS or RLIMIT_DATA; else the memory of the machine.
 *  Cached files do not count as used, as the kernel drops them before it ends a process. The
 *  figures are marked in the run file and left as a breadcrumb before the callback is called. The
 *  mark is removed when the shortage is over. Before the first call of the callback in a run, also
 *  where there is no callback, the watch takes the stacks of all threads once, as for a hang; the
 *  callback waits for that, 0.6 s at most. LG_LEAVE_OUT_THREADS leaves the stacks out.
 *
 *  The watch looks once a second, and five times a second in the last quarter before the warning. A
 *  program that uses up its memory faster than that gets no warning.
 *
 *  @param percent   of the limit, 1 to 100.
 *  @param callback  NULL: mark and breadcrumb only.
 *  @param user      handed to the callback.
 *  @return LG_OK, also with a simulated session, and on another system than Linux, where nothing is
 *          watched; LG_ERR_ALREADY: a watch runs; LG_ERR_NOT_FOUND: no limit can be read;
 *          LG_ERR_ARGUMENT; LG_ERR_SYSTEM: no thread (errno); LG_ERR_UNPROTECTED; LG_ERR_CLOSED;
 *          LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: a thread that sleeps.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_memory_watch(lg_session *session, uint32_t percent, lg_memory_callback callback, void *user);

/** End the watch of lg_memory_watch(), and wait until its callback has returned, for good. In the
 *  callback the call does not wait. A mark of memory near its limit is removed. The program may
 *  then begin another watch.
 *
 *  @return LG_OK, also with a simulated session, and on another system than Linux;
 *          LG_ERR_NOT_FOUND: no watch runs; LG_ERR_ARGUMENT; LG_ERR_UNPROTECTED; LG_ERR_CLOSED;
 *          LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_memory_unwatch(lg_session *session);

LG_END

#endif
