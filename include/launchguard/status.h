/** Results of calls.
 *
 *  One table makes the enum, the short name and the message (and the error codes of the Swift
 *  module). A value never changes its meaning. New values come at the end.
 */
#ifndef LAUNCHGUARD_STATUS_H
#define LAUNCHGUARD_STATUS_H

#include <launchguard/base.h>

/** X(identifier, value, "short name", "message: the problem and its remedy") */
#define LG_STATUS_TABLE(X)                                                                                             \
    X(LG_OK, 0, "ok", "everything worked")                                                                             \
    X(LG_ERR_ARGUMENT, 1, "argument", "a required argument is missing or NULL; see the function's documentation")      \
    X(LG_ERR_OPTION, 2, "option", "an option has a value that makes no sense; correct the value the message names")    \
    X(LG_ERR_SYSTEM, 3, "system", "a system call failed; errno says why")                                              \
    X(LG_ERR_NO_DIRECTORY, 4, "no-directory",                                                                          \
      "no state directory is known; set the option state_directory, or STATE_DIRECTORY, XDG_STATE_HOME or HOME")       \
    X(LG_ERR_NOT_DIRECTORY, 5, "not-directory",                                                                        \
      "the state directory's path, or a part of it, is not a directory; move that file away or choose another path")   \
    X(LG_ERR_LINK, 6, "link",                                                                                          \
      "a symbolic link stands where one of the files belongs, or another user's in the path of the state directory: remove it") \
    X(LG_ERR_OWNER, 7, "owner",                                                                                        \
      "the state directory or one of its files belongs to another user; change its owner or choose another directory") \
    X(LG_ERR_PERMISSION, 8, "permission",                                                                              \
      "this user may not write to the state directory; give write permission or choose another directory")             \
    X(LG_ERR_READ_ONLY, 9, "read-only",                                                                                \
      "the state directory is on a read-only file system; choose a directory on a writable one")                       \
    X(LG_ERR_NO_SPACE, 10, "no-space", "the file system of the state directory is full; free some space on it")        \
    X(LG_ERR_DAMAGED, 11, "damaged",                                                                                   \
      "a file is damaged: a checksum, bound or magic number is wrong; its readable parts were kept")                   \
    X(LG_ERR_NEWER, 12, "newer",                                                                                       \
      "a file was written by a newer, incompatible version of LaunchGuard; read it with that version")                 \
    X(LG_ERR_SECONDARY, 13, "secondary",                                                                               \
      "another live process of this application holds the ledger; this process records crashes but counts no launches") \
    X(LG_ERR_ALREADY, 14, "already", "this process made the call before; use the handle from the first call")          \
    X(LG_ERR_CLOSED, 15, "closed", "the session was stopped; nothing is recorded after lg_stop()")                     \
    X(LG_ERR_FORKED, 16, "forked", "this is a forked child; the session belongs to the parent and is left untouched")  \
    X(LG_ERR_DISABLED, 17, "disabled",                                                                                 \
      "LaunchGuard did not survive its own last starts and disabled itself for a while; it tries again by itself")   \
    X(LG_ERR_NOT_FOUND, 18, "not-found", "nothing has that name or number")                                            \
    X(LG_ERR_LIMIT, 19, "limit", "a fixed limit is reached; the function's documentation names it")                    \
    X(LG_ERR_STATE, 20, "state", "the call is not possible in this state; see the function's documentation")           \
    X(LG_ERR_DUPLICATE, 21, "duplicate", "the name is taken already; names of contexts, repairs and tasks are unique") \
    X(LG_ERR_UNPROTECTED, 22, "unprotected", "the session has no files; the program runs, but nothing is recorded")    \
    X(LG_ERR_TIMEOUT, 23, "timeout", "the time allowed has passed")                                                    \
    X(LG_ERR_FAILED, 24, "failed", "the program's own callback reported a failure")                                    \
    X(LG_ERR_INCOMPLETE, 25, "incomplete", "this part was not committed before the process ended")                             \
    X(LG_ERR_RESTART, 26, "restart", "a repair succeeded that needs a restart of the program; exit, or execute the program again") \
    X(LG_ERR_INTERRUPTED, 27, "interrupted", "the program is asked to end, or has announced its end; clean up and exit") \
    X(LG_ERR_CANCELLED, 28, "cancelled", "the caller was cancelled, and did not wait any longer") \
    X(LG_ERR_UNSUPPORTED, 29, "unsupported", "LaunchGuard protects programs on Linux alone; on this system the program runs as without it") \
    X(LG_ERR_NO_AGENT, 30, "no-agent",                                                                                 \
      "no program launchguard-agent was found, or it cannot be executed; install it, or name it in agent_path: reports stay owed")

/** Result of a call. */
typedef enum lg_status {
#define LG_STATUS_ENUM(identifier, value, name, message) identifier = value,
    LG_STATUS_TABLE(LG_STATUS_ENUM)
#undef LG_STATUS_ENUM
} lg_status;

LG_BEGIN

/** Short, stable name of a status, for example "no-space"; "unknown" for a value that is not in the
 *  table.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_status_name(lg_status status);

/** One sentence: the meaning of the status and the remedy. Static, English, without a full stop.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_status_message(lg_status status);

LG_END

#endif
