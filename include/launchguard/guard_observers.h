/** Observers with owners, comparable to KVO and a notification centre.
 *
 *  A subject has a list of observers. Each observer is a callback with the pointer that it gets,
 *  and belongs to an owner: the part of the program that the pointer leads to. The code that frees
 *  that part ends its owner first.
 *
 *      lg_owner owner;
 *      lg_owner_create("window", &owner);
 *      lg_observers_add(changes, owner, on_change, window);
 *      …
 *      lg_observers_post(changes, &change);
 *      …
 *      lg_observers_remove(changes, owner, on_change, window);
 *      lg_owner_end(owner);
 *      free(window);
 *
 *  The class is LG_GUARD_OBSERVER. Its faults, survived and else:
 *
 *    an observer is added twice             it is there once; else it is called twice
 *    one is removed that is not there       nothing happens; else abort(), as KVO throws
 *    an owner ends before its observers     all of them are removed; else they stay
 *    an event meets a dead owner            its observer is removed; else it is called all the same
 *    an observer is added to a dead owner   nothing happens; else it is added
 *
 *  An owner whose observers are removed costs nothing at its end. A program that leaves the removal
 *  to the guard has a bug: without the guard, observers are called with a dangling pointer.
 *
 *  Callbacks run on the thread that posts, in the order in which they were added, and under no lock
 *  of LaunchGuard. A callback may add and remove observers, end owners, post to any list, and leave
 *  by longjmp(). An added observer waits for the next event; a removed one is not called any more.
 *
 *  Not claimed: an observer whose owner never ends is called for ever; a callback that runs on
 *  another thread while its owner ends runs on. Nothing may use a list while it is destroyed, and
 *  no callback may destroy it.
 */
#ifndef LAUNCHGUARD_GUARD_OBSERVERS_H
#define LAUNCHGUARD_GUARD_OBSERVERS_H

#include <launchguard/guard.h>

/** The observers of one subject. */
typedef struct lg_observers lg_observers;

/** An owner of observers: a number that can be copied and compared, and is never given twice. 0 is
 *  none. */
typedef uint64_t lg_owner;

/** Called for an event.
 *
 *  @param event  from lg_observers_post(); borrowed during the call.
 *  @param user   from lg_observers_add(). */
typedef void (*lg_observer_callback)(const void *event, void *user);

LG_BEGIN

/** Make a list without observers.
 *
 *  @param name           of the subject, for the events, NUL-terminated; copied, cut to
 *                        LG_GUARD_FIELD_MAX bytes; NULL: "".
 *  @param ret_observers  ended by lg_observers_destroy().
 *  @return LG_OK; LG_ERR_SYSTEM: no memory (errno); LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: works, in the child's own memory.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_observers_create(const char *name, lg_observers **ret_observers);

/** End a list, with the observers in it. No other call may use it, now or later.
 *
 *  @param observers  may be NULL.
 *
 *  Threads: one call.  Signals: unsafe.  After fork: works, in the child's own memory.
 *  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API void lg_observers_destroy(lg_observers *observers);

/** Make an owner.
 *
 *  @param name       for the events, as above.
 *  @param ret_owner  ended by lg_owner_end().
 *  @return LG_OK; LG_ERR_SYSTEM: no memory (errno); LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: works, in the child's own memory.
 *  Allocates: yes; the memory of an owner is used again.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_owner_create(const char *name, lg_owner *ret_owner);

/** End an owner. It should have no observers any more.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND: there is no such owner, or it has ended: an event, too.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: works, in the child's own memory.  Allocates: no.
 *  Durable: nothing is stored; an event survives the process at once.
 */
LG_API lg_status lg_owner_end(lg_owner owner);

/** Add an observer.
 *
 *  @param owner     from lg_owner_create().
 *  @param callback  and `user`: what is called; with the owner they are one observer.
 *  @return LG_OK; LG_ERR_DUPLICATE: it is there, and the fault was survived; LG_ERR_NOT_FOUND: the
 *          owner has ended, or never was, and the fault was survived; LG_ERR_SYSTEM: no memory
 *          (errno); LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: works, in the child's own memory.  Allocates: yes.
 *  Durable: nothing is stored; an event survives the process at once.
 */
LG_API lg_status lg_observers_add(lg_observers *observers, lg_owner owner, lg_observer_callback callback, void *user);

/** Remove an observer; of two that are the same, the last one.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND: it is not there, and the fault was survived; LG_ERR_ARGUMENT.
 *
 *  Threads: safe; a call of the observer on another thread may still run.  Signals: unsafe.
 *  After fork: works, in the child's own memory.  Allocates: no.
 *  Durable: nothing is stored; an event survives the process at once.
 */
LG_API lg_status lg_observers_remove(lg_observers *observers, lg_owner owner, lg_observer_callback callback, void *user);

/** Call all observers with an event.
 *
 *  @param event  handed to them as it is; may be NULL.
 *  @return observers that were called.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: works, in the child's own memory.  Allocates: no.
 *  Durable: nothing is stored; an event of a guard survives the process at once.
 */
LG_API size_t lg_observers_post(lg_observers *observers, const void *event);

/** Observers in the list, those of dead owners among them.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: works, in the child's own memory.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API size_t lg_observers_count(const lg_observers *observers);

LG_END

#endif
