/** Watching a program that lives: run loops that hang, jobs that overrun their deadline, memory that runs short.
 *
 *  A sleeping thread watches; who does nothing of this is not watched. What it finds is marked in the run file before anything else, so that a death
 *  that follows is told by it, is left as a breadcrumb, and is taken back when it is over.
 *
 *  Caveats
 *  - A process that is stopped, debugged, or asleep with its machine does not hang: only time that it lived is counted.
 *  - To take the stacks of a hang every thread is interrupted once by a signal; a call such as poll() or nanosleep() returns EINTR then, as it
 *    does for any signal. LG_LEAVE_OUT_THREADS leaves all threads alone but the one that hangs.
 */
#ifndef LAUNCHGUARD_WATCH_H
#define LAUNCHGUARD_WATCH_H

#include <launchguard/session.h>

/** So many threads may have a heartbeat at a time, and so many jobs a deadline. */
#define LG_HEARTS_MAX 16
#define LG_DEADLINES_MAX 32

/** Memory in use when a callback of lg_memory_watch() is called. */
typedef struct lg_memory {
    uint64_t used;    /**< bytes */
    uint64_t limit;   /**< bytes, the nearest of those that apply */
    uint32_t percent; /**< used of limit */
    uint32_t of_cgroup; /**< 1: of the memory cgroup; 0: of this process against its own limit or the machine's memory */
} lg_memory;

/** Called when memory gets near the limit, on a thread of LaunchGuard that may block: once, and again only after it was below nine tenths
 *  of what it was asked to warn of. While it has not returned nothing more is looked at.
 *  @param memory  borrowed during the call. */
typedef void (*lg_memory_callback)(const lg_memory *memory, void *user);

LG_BEGIN

/** The run loop of the calling thread is alive: call it once round the loop.
 *
 *  The first call of a thread opts its run loop in: from then on it hangs when it stays away for longer than lg_options.hang_launching_ms while a
 *  launch is under way, or hang_running_ms. Then the hang is marked, the stacks of all threads are taken, once, and a breadcrumb says so; the next
 *  heartbeat takes the mark back and leaves a breadcrumb with the length. A program that is killed meanwhile ended by a hang. A loop that
 *  waits for events calls lg_heartbeat_pause() before it waits. A thread that ends is forgotten; one that was ended by the kernel while others live on
 *  (seccomp) is told in the ring log.
 *
 *  A crash that an earlier handler took back is known to be survived from here on. At most once a second it also looks whether the
 *  crash handlers and the alternate stack of the calling thread are still what they should be: what took protection away is said in
 *  the ring log, once, as a warning; flags that signal() drops when it saves and restores a handler are put back.
 *
 *  @return LG_OK; LG_ERR_LIMIT: LG_HEARTS_MAX other threads have heartbeats, this one's is not watched; LG_ERR_UNPROTECTED; LG_ERR_CLOSED;
 *          LG_ERR_FORKED; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_heartbeat(lg_session *session);

/** The run loop of the calling thread is about to wait, for as long as it takes: it is not watched until its next lg_heartbeat(). A hang is over.
 *
 *  @return as lg_heartbeat(); LG_OK also for a thread without a heartbeat.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_heartbeat_pause(lg_session *session);

/** A job begins that has to be over in so many milliseconds, because somebody kills the program if it is not (a supervisor, a platform's limit for background work).
 *
 *  When nine tenths have passed and it has not ended it is marked as about to overrun, with the stack of the calling thread and a breadcrumb. Unlike a
 *  hang's, its time goes on while the process is stopped or asleep with its machine.
 *
 *  @param name          for people, at most LG_NAME_MAX bytes; longer is cut. Copied.
 *  @param milliseconds  1 to 86400000 (a day).
 *  @param ret_deadline  a number for lg_deadline_end(); 0 on failure.
 *  @return LG_OK; LG_ERR_LIMIT: LG_DEADLINES_MAX jobs have one already; LG_ERR_ARGUMENT; LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_deadline_begin(lg_session *session, const char *name, uint32_t milliseconds, uint64_t *ret_deadline);

/** The job is over, in time or not; any thread may say so. One that was marked leaves a breadcrumb with its length.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND: no such job, or it has ended; LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_deadline_end(lg_session *session, uint64_t deadline);

/** Be warned when memory gets near its limit: that of the memory cgroup (version 1 or 2) or of one above it, the nearest; else RLIMIT_AS or RLIMIT_DATA; else
 *  the machine's memory. Cached files, which the kernel drops before it ends anybody, are not counted as used. The figures are marked in the run file
 *  and left as a breadcrumb before the callback is called, and the mark is taken back when it is over.
 *
 *  It looks once a second, and five times a second in the last quarter before the warning: who eats all of it faster than that is not warned.
 *
 *  @param percent   of the limit, 1 to 100.
 *  @param callback  NULL: mark and breadcrumb only.
 *  @param user      handed to the callback.
 *  @return LG_OK, with a simulated session too, where nothing is watched; LG_ERR_ALREADY: it was called before; LG_ERR_NOT_FOUND: there is no limit that can be read; LG_ERR_ARGUMENT; LG_ERR_SYSTEM: no thread (errno);
 *          LG_ERR_UNPROTECTED; LG_ERR_CLOSED; LG_ERR_FORKED.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: does nothing.  Allocates: a thread that sleeps.
 *  Durable: survives the process at once.
 */
LG_API lg_status lg_memory_watch(lg_session *session, uint32_t percent, lg_memory_callback callback, void *user);

LG_END

#endif
