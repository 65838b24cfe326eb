/** Ends of runs, and their evidence.
 *
 *  An ordered list of rules decides (docs/ENDS.md has the table): the process is alive; the
 *  program's own record or word of a crash; the wait status that a witness stored; the marks of an
 *  end; another boot; the signs of an end from outside. Without any of them the end is unknown.
 *
 *  A wait status of SIGKILL shows how the run ended. The signs of an end from outside show why.
 */
#ifndef LAUNCHGUARD_END_H
#define LAUNCHGUARD_END_H

#include <launchguard/base.h>

/** X(identifier, value, "name"). Values are stored in ledgers and never change. */
#define LG_END_TABLE(X)                  \
    X(LG_END_NONE, 0, "none")            \
    X(LG_END_CLEAN, 1, "clean")          \
    X(LG_END_TERMINATED, 2, "terminated") \
    X(LG_END_CRASH, 3, "crash")          \
    X(LG_END_HANG, 4, "hang")            \
    X(LG_END_OOM, 5, "oom")              \
    X(LG_END_KILLED, 6, "killed")        \
    X(LG_END_EXIT, 7, "exit")            \
    X(LG_END_REBOOT, 8, "reboot")        \
    X(LG_END_UPGRADE, 9, "upgrade")      \
    X(LG_END_DEBUGGER, 10, "debugger")   \
    X(LG_END_UNKNOWN, 11, "unknown")     \
    X(LG_END_RUNNING, 12, "running")

/** End of a run. LG_END_NONE: no run; LG_END_RUNNING: the run has not ended; LG_END_UPGRADE: only
 *  simulated. */
typedef enum lg_end {
#define LG_END_ENUM(identifier, value, name) identifier = value,
    LG_END_TABLE(LG_END_ENUM)
#undef LG_END_ENUM
} lg_end;

/** 1: an end that nobody wishes for. LG_END_EXIT is one: exit(0) is LG_END_CLEAN. */
static inline int lg_end_is_bad(lg_end end)
{
    return end == LG_END_CRASH || end == LG_END_HANG || end == LG_END_OOM || end == LG_END_KILLED || end == LG_END_EXIT || end == LG_END_UNKNOWN;
}

/** X(identifier, value, "name", "sentence"). Values are stored in ledgers and never change. */
#define LG_EVIDENCE_TABLE(X) \
    X(LG_EVIDENCE_NONE, 0, "no-run", "no run is known before this one") \
    X(LG_EVIDENCE_PROCESS_ALIVE, 1, "process-alive", "the process is alive") \
    X(LG_EVIDENCE_CRASH_NOTE, 2, "crash-note", "the program itself said that it had crashed, by lg_crash_note()") \
    X(LG_EVIDENCE_CRASH_RECORD, 3, "crash-record", "the run file holds a crash record") \
    X(LG_EVIDENCE_EXIT_MARK, 4, "exit-mark", \
      "the process passed through exit() and left the mark with the status") \
    X(LG_EVIDENCE_STOP_MARK, 5, "stop-mark", "the program called lg_stop()") \
    X(LG_EVIDENCE_TERMINATE_MARK, 6, "terminate-mark", \
      "the process noted a terminating signal and left no later mark") \
    X(LG_EVIDENCE_BOOT_DIFFERS, 7, "boot-differs", \
      "the machine was booted again after the run, which left no mark of an end") \
    X(LG_EVIDENCE_NO_MARK, 8, "no-mark", \
      "the process was gone without any mark: killed, or ended without exit()") \
    X(LG_EVIDENCE_FILE_UNREADABLE, 9, "file-unreadable", "the run file is missing or damaged") \
    X(LG_EVIDENCE_HANDLED, 10, "handled", \
      "the process survived the signal of its crash record and left no other mark") \
    X(LG_EVIDENCE_CRASH_MARK, 11, "crash-mark", \
      "the run file is missing or damaged, but the ledger holds the crash mark of the run") \
    X(LG_EVIDENCE_EXEC, 12, "exec", "the process executed a program over itself") \
    X(LG_EVIDENCE_DUMP_RECORD, 13, "dump-record", \
      "the run file holds the dump of all threads that SIGQUIT asked for") \
    X(LG_EVIDENCE_TRACER, 14, "tracer", "a debugger was attached at the crash") \
    X(LG_EVIDENCE_WITNESS, 15, "witness", "another process waited for this one and stored its status") \
    X(LG_EVIDENCE_TERMINATION_ANNOUNCED, 16, "termination-announced", "the program announced its end") \
    X(LG_EVIDENCE_RESTART_ANNOUNCED, 17, "restart-announced", "the program announced its restart") \
    X(LG_EVIDENCE_HANG_MARK, 18, "hang-mark", "the process was marked as hanging and left no other mark") \
    X(LG_EVIDENCE_OOM_COUNTER, 19, "oom-counter", \
      "the process left no mark, and the kernel ended a process of the same cgroup for lack of memory meanwhile") \
    X(LG_EVIDENCE_STOP_TIMEOUT, 20, "stop-timeout", \
      "the process was asked to end, was still alive a while later, and was then gone without any mark") \
    X(LG_EVIDENCE_CPU_LIMIT, 21, "cpu-limit", \
      "the process was about to reach its limit of CPU time, and was then gone without any mark") \
    X(LG_EVIDENCE_DEADLINE, 22, "deadline", \
      "a job was about to overrun its deadline, and the process was then gone without any mark") \
    X(LG_EVIDENCE_NEAR_MEMORY_LIMIT, 23, "near-memory-limit", \
      "the memory of the process was near the limit, and the process was then gone without any mark") \
    X(LG_EVIDENCE_KERNEL_LOG, 24, "kernel-log", \
      "the kernel's log says that the kernel ended the process for lack of memory") \
    X(LG_EVIDENCE_MEMORY_SHARE, 25, "memory-share", \
      "the process had more than half of its cgroup's memory for itself when the kernel ended one of the group for lack of memory") \
    X(LG_EVIDENCE_FORK, 26, "fork", \
      "the process forked a child during a launch and was gone right after without any mark, as the parent in daemon() is")

/** The evidence that decided an end. */
typedef enum lg_evidence {
#define LG_EVIDENCE_ENUM(identifier, value, name, sentence) identifier = value,
    LG_EVIDENCE_TABLE(LG_EVIDENCE_ENUM)
#undef LG_EVIDENCE_ENUM
} lg_evidence;

LG_BEGIN

/** Name of an end in the words of the glossary, for example "crash"; "invalid" for a value that is
 *  not in the table.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_end_name(lg_end end);

/** The evidence as a sentence without a full stop. Its subject is the run, its process or its file.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_evidence_sentence(lg_evidence evidence);

LG_END

#endif
