/** Calls that belong to one thread, for example those of a user interface.
 *
 *  The thread that makes a confinement is its home. A confined call on the home thread runs at
 *  once, and costs a comparison. On another thread it is a fault of class LG_GUARD_CONFINEMENT:
 *  where that is survived, the work waits for the home thread; else it runs where it is called, as
 *  without the guard. With LG_GUARD_FATAL, the default of debug builds, the program ends there.
 *
 *      lg_confinement *window;                              // on the thread of the windows
 *      lg_confinement_create(NULL, &window);
 *      struct pollfd served = { lg_confinement_fd(window), POLLIN, 0 };
 *      while (poll(&served, 1, -1) > 0)                     // or the loop of a toolkit
 *          lg_confinement_serve(window);
 *
 *      lg_guard_confine(window, set_title, title);          // on any thread
 *
 *  Work that waits runs later, when its caller has gone on: it returns nothing, and what `argument`
 *  leads to must stay until then. It runs in the order of the calls, but after a call that the home
 *  thread makes meanwhile.
 *
 *  A home thread that serves no loop is noticed at the next call: where work has waited longer than
 *  `wait_ms`, that call returns LG_ERR_TIMEOUT, and is an event. Between calls nothing looks.
 *
 *  Not claimed: results of calls; `argument` beyond its life; calls that do not go through
 *  lg_guard_confine(); a home thread that has ended, whose number another thread may have.
 */
#ifndef LAUNCHGUARD_GUARD_CONFINE_H
#define LAUNCHGUARD_GUARD_CONFINE_H

#include <launchguard/guard.h>
#include <launchguard/launch.h>

/** A group of calls that belong to one thread. */
typedef struct lg_confinement lg_confinement;

/** Calls of one confinement that wait at the same time. */
#define LG_CONFINED_MAX 1000u

/** Options of lg_confinement_create(). Zero means the default, everywhere. */
typedef struct lg_confinement_options {
    uint32_t size;        /**< sizeof(lg_confinement_options) */
    /** time that work may wait before its home thread counts as one that serves no loop; default
     *  5000 */
    uint32_t wait_ms;
    /** for the events, NUL-terminated; copied, cut to LG_GUARD_FIELD_MAX bytes */
    const char *name;
    /** runs the work on the home thread, once a call, as launch.h says; called on the thread of the
     *  call. NULL: the home thread serves the confinement */
    lg_executor executor;
    void *user;           /**< handed to executor */
} lg_confinement_options;

#define LG_CONFINEMENT_OPTIONS_INIT { (uint32_t)sizeof(lg_confinement_options), 0, NULL, NULL, NULL }

LG_BEGIN

/** Make a confinement, whose home is the calling thread.
 *
 *  @param options          copied; NULL: LG_CONFINEMENT_OPTIONS_INIT.
 *  @param ret_confinement  ended by lg_confinement_destroy().
 *  @return LG_OK; LG_ERR_OPTION: the size is another one; LG_ERR_SYSTEM: no memory, or no
 *          descriptor (errno); LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: works, in the child's own memory.
 *  Allocates: yes, and without an executor one file descriptor.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_confinement_create(const lg_confinement_options *options, lg_confinement **ret_confinement);

/** End a confinement. No other call may use the confinement, now or later. Work that its executor
 *  still has does nothing.
 *
 *  @param confinement  may be NULL.
 *  @return number of calls that waited and will never run; more than 0 are an event.
 *
 *  Threads: one call.  Signals: unsafe.  After fork: reports nothing.  Allocates: no.
 *  Durable: nothing is stored; an event survives the process at once.
 */
LG_API uint32_t lg_confinement_destroy(lg_confinement *confinement);

/** Run work on the home thread.
 *
 *  @param work      called with `argument`, once: before this call returns, or later on the home
 *                   thread.
 *  @return LG_OK: it ran, or waits; LG_ERR_TIMEOUT: it waits, after other work that has waited
 *          longer than `wait_ms`; LG_ERR_LIMIT: LG_CONFINED_MAX calls wait, and this one will not
 *          run: an event; LG_ERR_SYSTEM: there is no memory for it, and it will not run (errno);
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: runs at once.
 *  Allocates: on another thread than its home.
 *  Durable: nothing is stored; an event survives the process at once.
 */
LG_API lg_status lg_guard_confine(lg_confinement *confinement, void (*work)(void *argument), void *argument);

/** Run the work that waits, for the home thread. Work that comes meanwhile may wait for the next
 *  call. Work may leave by longjmp(): the rest of it still waits then.
 *
 *  @return LG_OK; LG_ERR_STATE: this is not the home thread, and nothing ran; LG_ERR_FORKED: the
 *          work that waits is the parent's; LG_ERR_ARGUMENT.
 *
 *  Threads: the home thread.  Signals: unsafe.  After fork: does nothing.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_confinement_serve(lg_confinement *confinement);

/** The descriptor that can be read while work waits: for the loop of the home thread, which calls
 *  lg_confinement_serve() then, and reads nothing itself.
 *
 *  @return −1 with an executor.
 *
 *  Threads: safe.  Signals: safe.  After fork: as in the parent.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API int lg_confinement_fd(const lg_confinement *confinement);

/** Whether the home thread serves its work.
 *
 *  @param ret_waiting  calls that wait; may be NULL.
 *  @return LG_OK; LG_ERR_TIMEOUT: work has waited longer than `wait_ms`: an event, too;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: as in the parent at the fork.  Allocates: no.
 *  Durable: nothing is stored; an event survives the process at once.
 */
LG_API lg_status lg_confinement_check(lg_confinement *confinement, uint32_t *ret_waiting);

LG_END

#endif
