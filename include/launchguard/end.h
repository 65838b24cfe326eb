/** Ends of runs, their evidence, and kinds of crashes.
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

/** X(identifier, value, "name", "what happened", "sentence"): kinds of crash. The kind follows from
 *  signal, code, trap number and addresses; for 23 to 40 from the message; for 48 from the memory
 *  map; for 52 from the instruction. What happened is a noun for the sentence that a report begins
 *  with; "": the signal says it. */
#define LG_CRASH_TABLE(X) \
    X(LG_CRASH_OTHER, 0, "signal", "", "A signal whose siginfo fits no other kind.") \
    X(LG_CRASH_NULL_READ, 1, "fault.null_read", "read through a NULL pointer", "A read at address 0: through a NULL pointer.") \
    X(LG_CRASH_NULL_WRITE, 2, "fault.null_write", "write through a NULL pointer", "A write at address 0: through a NULL pointer.") \
    X(LG_CRASH_NULL_OFFSET, 3, "fault.null_offset", "access through a NULL pointer", "An access close above address 0: a member or an element of a NULL object.") \
    X(LG_CRASH_READONLY_WRITE, 4, "fault.readonly_write", "write to read-only memory", "A write to memory that is mapped for reading alone.") \
    X(LG_CRASH_PROTECTED, 5, "fault.protected", "access to protected memory", "An access that the protection of the mapping forbids.") \
    X(LG_CRASH_EXEC_NX, 6, "fault.exec_nx", "call into memory that is no code", "A jump or call into memory that is not executable.") \
    X(LG_CRASH_JUMP_NULL, 7, "fault.jump_null", "call through a NULL pointer", "A call of a NULL function pointer.") \
    X(LG_CRASH_JUMP_BAD, 8, "fault.jump_bad", "call to an address where nothing is mapped", "A jump or call to an address where nothing is mapped.") \
    X(LG_CRASH_UNMAPPED, 9, "fault.unmapped", "access to memory that is not mapped", "An access to an address where nothing is mapped: a wild or dangling pointer.") \
    X(LG_CRASH_NON_CANONICAL, 10, "fault.general_protection", "access through an impossible pointer", "An access that the CPU refuses without an address: on x86-64, an address that no pointer can have.") \
    X(LG_CRASH_STACK_OVERFLOW, 11, "fault.stack_overflow", "stack overflow", "An access beyond the end of the thread's stack: recursion without end, or a huge frame.") \
    X(LG_CRASH_INT_DIVIDE, 12, "fault.int_div0", "integer division by zero", "A division of integers by zero; where the instruction cannot be read, also one whose result does not fit.") \
    X(LG_CRASH_FLOAT, 13, "fault.fp", "floating-point exception", "A floating-point exception that the program had enabled.") \
    X(LG_CRASH_ILLEGAL, 14, "trap.illegal", "illegal instruction or trap", "An illegal instruction: often a trap of the compiler, such as __builtin_trap().") \
    X(LG_CRASH_BREAKPOINT, 15, "trap.breakpoint", "breakpoint or trap", "A breakpoint instruction that no debugger took: often a trap of the compiler.") \
    X(LG_CRASH_BUS_FILE, 16, "fault.bus_file", "access to a mapped file that was cut", "An access to a mapped file that was truncated or could not be read.") \
    X(LG_CRASH_BUS, 17, "fault.bus", "bus error", "A misaligned access, or another error of the bus.") \
    X(LG_CRASH_ABORT, 18, "abort.explicit", "abort()", "A call of abort(), or of raise(SIGABRT), without a message.") \
    X(LG_CRASH_SYSCALL, 19, "sandbox.syscall", "refused system call", "A system call that seccomp refused.") \
    X(LG_CRASH_SIGNAL_SELF, 20, "signal.self", "", "A signal that the process sent to itself, or one of its timers.") \
    X(LG_CRASH_SIGNAL_EXTERNAL, 21, "signal.external", "", "A signal that another process or the kernel sent.") \
    X(LG_CRASH_SIGNAL_QUEUED, 22, "signal.queued", "", "A signal that was sent by sigqueue().") \
    X(LG_CRASH_ABORT_ASSERT, 23, "abort.assert", "failed assertion", "A failed assert().") \
    X(LG_CRASH_ABORT_FORTIFY, 24, "abort.fortify", "buffer overflow", "A check of _FORTIFY_SOURCE: a buffer overflow.") \
    X(LG_CRASH_ABORT_STACK_SMASH, 25, "abort.stack_smash", "overrun of a local array", "A damaged stack canary: a local array was overrun.") \
    X(LG_CRASH_ABORT_HEAP, 26, "abort.heap", "damaged heap", "A damaged heap, or a double or wrong free(), that malloc found.") \
    X(LG_CRASH_ABORT_LONGJMP, 27, "abort.longjmp", "longjmp() into a frame that is gone", "A longjmp() into a frame that is no longer there.") \
    X(LG_CRASH_ABORT_LIBC, 28, "abort.libc", "abort by libc", "Another message of libc before abort().") \
    X(LG_CRASH_ABORT_CPP_EXCEPTION, 29, "abort.cpp_exception", "uncaught exception", "A C++ exception that nothing caught.") \
    X(LG_CRASH_ABORT_CPP_TERMINATE, 30, "abort.cpp_terminate", "std::terminate()", "A call of std::terminate() without an exception.") \
    X(LG_CRASH_ABORT_PURE_VIRTUAL, 31, "abort.pure_virtual", "call of a pure virtual function", "A call of a pure virtual function.") \
    X(LG_CRASH_ABORT_SWIFT, 32, "abort.swift", "abort by the Swift runtime", "Another message of the Swift runtime before abort().") \
    X(LG_CRASH_ABORT_SWIFT_CAST, 33, "abort.swift.cast", "forced cast to a wrong type", "A forced cast (as!) to a type that the value does not have.") \
    X(LG_CRASH_ABORT_SWIFT_EXCLUSIVITY, 34, "abort.swift.exclusivity", "overlapping accesses to a variable", "Overlapping accesses to one Swift variable.") \
    X(LG_CRASH_ABORT_SWIFT_UNOWNED, 35, "abort.swift.unowned", "read of an unowned reference whose object is gone", "A read of an unowned reference whose object is gone.") \
    X(LG_CRASH_ABORT_ALLOC, 36, "abort.alloc", "failed allocation", "The Swift runtime could not allocate memory.") \
    X(LG_CRASH_TRAP_SWIFT, 37, "trap.swift", "failed check of Swift", "A failed check of Swift for which there is no finer kind: overflow, bounds, precondition(), assert().") \
    X(LG_CRASH_TRAP_SWIFT_FATAL_ERROR, 38, "trap.swift.fatal_error", "fatal error of Swift", "A call of fatalError(), or another failure that Swift names a fatal error.") \
    X(LG_CRASH_TRAP_SWIFT_NIL, 39, "trap.swift.nil", "unwrapped nil", "An Optional was unwrapped (!) that is nil.") \
    X(LG_CRASH_TRAP_SWIFT_ERROR, 40, "trap.swift.error", "error at try!", "An error that try! met.") \
    X(LG_CRASH_LIMIT_CPU, 41, "limit.cpu", "CPU time limit reached", "The soft limit of CPU time (RLIMIT_CPU) was reached.") \
    X(LG_CRASH_LIMIT_FSIZE, 42, "limit.fsize", "file size limit reached", "A write beyond the largest size of a file (RLIMIT_FSIZE).") \
    X(LG_CRASH_PIPE, 43, "signal.pipe", "write to a pipe that nobody reads", "A write to a pipe or socket that nobody reads (SIGPIPE).") \
    X(LG_CRASH_QUIT, 44, "signal.quit", "requested dump of all threads", "SIGQUIT: a requested dump of all threads, no crash.") \
    X(LG_CRASH_PKEY, 45, "fault.pkey", "access that a memory protection key forbids", "An access that a memory protection key forbids.") \
    X(LG_CRASH_HWPOISON, 46, "fault.hwpoison", "access to defective memory", "An access to memory that the hardware found defective.") \
    X(LG_CRASH_TAG, 47, "fault.tag", "access with a wrong memory tag", "An access with the wrong memory tag (MTE): a use after free, or an overflow.") \
    X(LG_CRASH_BUS_MEMORY, 48, "fault.bus_memory", "access to memory that the kernel could not provide", "Memory, such as a huge page, that the kernel could not provide at the first access.") \
    X(LG_CRASH_SINGLE_STEP, 49, "trap.single_step", "single step without a debugger", "A single-step trap without a debugger.") \
    X(LG_CRASH_BAD_STACK, 50, "fault.bad_stack", "access through a wild stack pointer", "The stack pointer itself leads nowhere.") \
    X(LG_CRASH_TRAP_SWIFT_TOP_LEVEL, 51, "trap.swift.top_level", "uncaught error at the top level", "An error that nothing caught reached the top level of the program; a launch weighs this end like an exit with a status that is not 0.") \
    X(LG_CRASH_INT_OVERFLOW, 52, "fault.int_overflow", "integer division whose result does not fit", "A division of integers whose result does not fit: of the least number by -1.")

/** Kind of a crash. */
typedef enum lg_crash_kind {
#define LG_CRASH_ENUM(identifier, value, name, what, sentence) identifier = value,
    LG_CRASH_TABLE(LG_CRASH_ENUM)
#undef LG_CRASH_ENUM
} lg_crash_kind;

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

/** Name of a crash kind, for example "fault.null_write"; "invalid" for a value that is not in the
 *  table.
 *
 *  Threads: safe.  Signals: safe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API const char *lg_crash_kind_name(lg_crash_kind kind);

LG_END

#endif
