/** Handles that know that their object is gone.
 *
 *  A program gives out a handle in place of a pointer. The table knows the object of each handle,
 *  and that a handle was released: it gives a slot to another object under another number, its
 *  generation. No handle ever becomes valid again.
 *
 *      lg_handle handle;
 *      lg_handles_make(textures, texture, &handle);
 *      …
 *      struct texture *texture = lg_handles_get(textures, handle);
 *      if (texture)
 *          draw(texture);
 *      …
 *      destroy_texture(lg_handles_release(textures, handle));
 *
 *  The class is LG_GUARD_HANDLE. The use of a handle after its release, a second release, and a
 *  number that is no handle of the table are faults. A fault that is survived gives NULL. In all
 *  other cases, a spent budget among them, the handle acts like a plain pointer: the call gives its
 *  object, freed or not, and a second release gives that object again, to be freed twice. It never
 *  gives another object: where the slot has one, the call gives NULL.
 *
 *  The table keeps no freed memory: that would cost memory without bound, replace the allocator of
 *  the program, and fight AddressSanitizer, which does it better. So a pointer that
 *  lg_handles_get() gave is a plain one: a program that frees the object on one thread, while
 *  another thread uses that pointer, needs a lock of its own, as without handles. A handle of one
 *  table may be taken for one of another table.
 */
#ifndef LAUNCHGUARD_GUARD_HANDLES_H
#define LAUNCHGUARD_GUARD_HANDLES_H

#include <launchguard/guard.h>

/** A table of handles. */
typedef struct lg_handles lg_handles;

/** A handle: a number that can be copied and compared. 0 is none, as NULL is no pointer. */
typedef uint64_t lg_handle;

/** Handles of one table at the same time. */
#define LG_HANDLES_MAX 67108800u

LG_BEGIN

/** Make a table.
 *
 *  @param name         for the events, NUL-terminated; copied, cut to LG_GUARD_FIELD_MAX bytes;
 *                      NULL: "".
 *  @param ret_handles  ended by lg_handles_destroy().
 *  @return LG_OK; LG_ERR_SYSTEM: no memory (errno); LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: works, in the child's own memory.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_handles_create(const char *name, lg_handles **ret_handles);

/** End a table. The objects stay as they are. No other call may use the table, now or later.
 *
 *  @param handles  may be NULL.
 *
 *  Threads: one call.  Signals: unsafe.  After fork: works, in the child's own memory.
 *  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API void lg_handles_destroy(lg_handles *handles);

/** Give an object a handle. An object may have several.
 *
 *  @param object  not NULL.
 *  @return LG_OK; LG_ERR_LIMIT: the table has LG_HANDLES_MAX handles; LG_ERR_SYSTEM: no memory
 *          (errno); LG_ERR_ARGUMENT.
 *
 *  Threads: safe, lock-free.  Signals: unsafe.  After fork: works, in the child's own memory.
 *  Allocates: where the table grows; it keeps what it has.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_handles_make(lg_handles *handles, void *object, lg_handle *ret_handle);

/** The object of a handle.
 *
 *  @return NULL for handle 0, without an event; after a fault that is survived NULL.
 *
 *  Threads: safe, wait-free.  Signals: safe.  After fork: as a plain pointer.  Allocates: no.
 *  Durable: nothing is stored; an event survives the process at once.
 */
LG_API void *lg_handles_get(const lg_handles *handles, lg_handle handle);

/** Release a handle, and get its object for the last time.
 *
 *  @return as lg_handles_get().
 *
 *  Threads: safe, lock-free; of two releases one gets the object.  Signals: safe.
 *  After fork: as a plain pointer.  Allocates: no.
 *  Durable: nothing is stored; an event survives the process at once.
 */
LG_API void *lg_handles_release(lg_handles *handles, lg_handle handle);

LG_END

#endif
