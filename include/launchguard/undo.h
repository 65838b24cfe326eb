/** Undo: a repair names the files that it is going to change, and LaunchGuard keeps copies of them
 *  until a launch is good again. A repair that guessed wrong then costs nothing.
 *
 *      static void wipe_index(lg_completion *done, void *user)
 *      {
 *          lg_status kept = lg_completion_keep(done, "/var/lib/player/index.db");
 *          if (kept != LG_OK) {
 *              lg_complete_text(done, kept, "index.db: no copy, so it is not wiped");
 *              return;
 *          }
 *          lg_complete(done, unlink("/var/lib/player/index.db") == 0 ? LG_OK : LG_ERR_FAILED);
 *      }
 *
 *  The next repair puts them back by lg_completion_undo(), a person by `launchguard undo`. The
 *  copies are deleted by the first launch after one that was finished and was no launch in safe
 *  mode.
 */
#ifndef LAUNCHGUARD_UNDO_H
#define LAUNCHGUARD_UNDO_H

#include <launchguard/completion.h>

/** Most bytes that the copies of a context may have, 256 MiB. One call never takes more than a
 *  quarter of the space that is free, nor more than 4096 files and directories, 32 deep. */
#define LG_KEEP_BYTES_MAX (UINT64_C(256) << 20)

/** What was at the path when it was kept. */
typedef enum lg_kept_kind { LG_KEPT_FILE = 1, LG_KEPT_DIRECTORY = 2, LG_KEPT_ABSENT = 3 } lg_kept_kind;

/** One path of which there is a copy. */
typedef struct lg_kept_file {
    uint32_t size;       /**< sizeof(lg_kept_file) of the library that made it */
    lg_kept_kind kind;
    const char *path;    /**< absolute, without links; valid during the call only */
    uint64_t bytes;      /**< of a file */
    uint64_t wall_ns;    /**< when it was copied: nanoseconds since 1970 */
} lg_kept_file;

/** Called for each path. */
typedef void (*lg_kept_visitor)(const lg_kept_file *kept, void *user);

LG_BEGIN

/** Keep a copy of a file, or of all regular files of a directory, before a repair changes it. Where
 *  the file system can, the copy shares its blocks with the original. Of a path with nothing there
 *  it is remembered that there was nothing. A path that was kept before in this trouble keeps its
 *  first copy. A simulated launch copies nothing.
 *
 *  @param done  from the callback of a repair that has not answered yet.
 *  @param path  absolute, or relative to the working directory. Links in it are followed.
 *  @return LG_OK; LG_ERR_LIMIT: a limit of LG_KEEP_BYTES_MAX, and there is no copy; LG_ERR_SYSTEM
 *          (errno): some of it has no copy; LG_ERR_STATE: not of a repair, or it is not wanted any
 *          more; LG_ERR_UNPROTECTED: there is no state directory; LG_ERR_ARGUMENT.
 *
 *  Threads: safe for one call at a time.  Signals: unsafe.  After fork: LG_ERR_STATE.
 *  Allocates: yes.
 *  Durable: the copies are on the disk before the call returns, also where the power fails.
 */
LG_API lg_status lg_completion_keep(lg_completion *done, const char *path);

/** Put back what earlier repairs of this trouble kept, as lg_undo(), in a repair.
 *
 *  @param done  from the callback of a repair that has not answered yet.
 *  @return as lg_undo(); LG_ERR_STATE as lg_completion_keep().
 *
 *  Threads: safe for one call at a time.  Signals: unsafe.  After fork: LG_ERR_STATE.
 *  Allocates: yes.
 *  Durable: as lg_undo().
 */
LG_API lg_status lg_completion_undo(lg_completion *done);

/** Put the kept files of a program back. Each is written beside its place first, so that the place
 *  has either the present file or the whole old one, with its mode, owner and time. What was absent
 *  is deleted, if it is a file. Other files stay. The copies stay, too: the call may be made again.
 *  End the program before.
 *
 *  @param state_directory  of the program.
 *  @param context          name of the launch's context.
 *  @return LG_OK; LG_ERR_NOT_FOUND: nothing is kept; LG_ERR_OWNER: the copies are another user's,
 *          and their paths that user's word: make the call as that user; LG_ERR_SYSTEM (errno): not
 *          all are back; LG_ERR_UNSUPPORTED: this is not Linux; LG_ERR_ARGUMENT.
 *
 *  Threads: safe for one call at a time.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: each file is on the disk before it takes its place.
 */
LG_API lg_status lg_undo(const char *state_directory, const char *context);

/** Visit the kept paths of a program, in no particular order.
 *
 *  @param state_directory  of the program.
 *  @param context          name of the launch's context.
 *  @param visit            called for each.
 *  @param user             handed to visit.
 *  @return LG_OK; LG_ERR_NOT_FOUND: nothing is kept; LG_ERR_SYSTEM (errno); LG_ERR_UNSUPPORTED:
 *          this is not Linux; LG_ERR_ARGUMENT.
 *
 *  Threads: safe.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_undo_list(const char *state_directory, const char *context, lg_kept_visitor visit, void *user);

LG_END

#endif
