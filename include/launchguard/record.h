/** Reader: the crash record of a run file.
 *
 *  The rules of reader.h hold here as well, and its library has the functions. The reader returns
 *  no data whose checksum or bounds are wrong. Strings must be escaped before a terminal shows
 *  them.
 */
#ifndef LAUNCHGUARD_RECORD_H
#define LAUNCHGUARD_RECORD_H

#include <launchguard/base.h>
#include <launchguard/end.h>
#include <launchguard/status.h>

/** An open file; see reader.h. */
typedef struct lg_reader lg_reader;

/** Parts of the crash record in the order in which the handler commits them. The numbers are those
 *  of docs/FORMAT.md. */
typedef enum lg_stage {
    LG_STAGE_HEADER = 1,
    LG_STAGE_CONTEXT = 2,
    LG_STAGE_FRAMES = 3,       /**< frame-pointer walk */
    LG_STAGE_DWARF = 4,        /**< DWARF unwinding */
    LG_STAGE_MESSAGES = 5,     /**< texts of libc, the Swift runtime or a C++ exception */
    LG_STAGE_THREADS = 6,      /**< the other threads */
    LG_STAGE_PROCESS = 7,      /**< memory map, resource figures, stack memory */
    LG_STAGE_DONE = 8,
    /** chains of asynchronous callers; committed after LG_STAGE_DWARF, where one was found */
    LG_STAGE_ASYNC = 9
} lg_stage;

/** The crash header: stage 1 of the record, with the name of the thread from stage 2 and the kind
 *  that follows from the messages of stage 5. A record of SIGQUIT is no crash but a requested dump
 *  of all threads: see lg_reader_verdict(). */
typedef struct lg_crash_info {
    int32_t signal;
    int32_t code;             /**< si_code */
    lg_crash_kind kind;
    /** 1: `address` is the faulting address; 0: the signal has none (the field would alias pid and
     *  uid) */
    uint32_t has_address;
    uint64_t address;
    uint64_t pc, sp, fp;      /**< of the crashed thread at the fault */
    uint64_t trap;            /**< trap number (x86-64), else 0 */
    uint64_t error;           /**< page fault error code (x86-64), else 0 */
    int32_t tid;
    char thread_name[17];     /**< "" when stage 2 was not reached */
    int32_t sender_pid;       /**< for signals that were sent; 0 otherwise */
    uint32_t sender_uid;
    int32_t syscall_number;   /**< for SIGSYS by seccomp; −1 otherwise */
    uint64_t monotonic_ns;    /**< CLOCK_MONOTONIC of the fault */
    uint64_t boottime_ns;     /**< CLOCK_BOOTTIME of the fault */
    uint64_t wall_ns;         /**< CLOCK_REALTIME of the fault */
    uint64_t stack_low;       /**< bounds of the thread's stack, 0 when unknown */
    uint64_t stack_high;
    uint32_t sequence;        /**< 1 for the first crash of the run */
    uint32_t stages;          /**< bit n: lg_stage n is committed and its checksum is right */
    /** 1: the program took SA_SIGINFO from the handler; code, address and sender are unknown */
    uint32_t siginfo_lost;
    /** bit n: lg_stage n crashed, and its data is cut short or missing */
    uint32_t skipped;
    /** stretches of stack memory that were cut short for lack of room */
    uint32_t stacks_cut;
    /** 1: the program survived the crash (an earlier handler took it back) */
    uint32_t handled;
    uint32_t recrash_count;   /**< crashes inside the handler; see lg_reader_note() */
    uint32_t also_crashed_count; /**< other threads that crashed meanwhile; see lg_reader_note() */
    /* The struct grows at its end only. */
    /** 1: a brief record holds the crash: header, context and frame-pointer walk */
    uint32_t brief;
    /** sequence of the outermost crash in whose earlier handler this one happened on the same
     *  thread; 0: in none */
    uint32_t within;
    uint32_t is_end;          /**< 1: this is the crash that counts; see lg_reader_select_crash() */
    uint32_t exiting;         /**< 1: the process had passed through exit() before */
    /** 1: the signal was sent to the process, and any thread may have got it: `tid` and the stack
     *  say nothing about the cause */
    uint32_t any_thread;
    /** chains of asynchronous callers that found no room; see lg_reader_async_chain() */
    uint32_t async_omitted;
} lg_crash_info;

/** Registers of the crashed thread. */
typedef struct lg_register {
    char name[8];
    uint64_t value;
} lg_register;

/** Events while the record was written. */
typedef enum lg_note_kind { LG_NOTE_RECRASH = 1, LG_NOTE_ALSO_CRASHED = 2 } lg_note_kind;

typedef struct lg_note {
    lg_note_kind kind;
    int32_t signal;
    int32_t tid;
    lg_stage stage;           /**< stage that the handler was in */
    uint64_t pc;
} lg_note;

/** One walk of the crashed thread's stack. Both methods begin with the innermost frame. The pc of a
 *  caller is a return address: look up the byte before it. The frame after one whose pc is
 *  `signal_pc` was interrupted by a signal: look up its pc itself. */
typedef struct lg_stack_info {
    uint32_t stored;          /**< frames that the file holds */
    /** of these, the number of innermost frames; the rest are the outermost, after a gap */
    uint32_t first;
    uint64_t total;           /**< frames walked, gap included */
    uint32_t truncated;       /**< 1: the walk ended early; `reason` says why */
    /** frames of code without unwind tables, found by frame pointer in the middle of a DWARF
     *  walk */
    uint32_t assumed;
    /** LG_STAGE_FRAMES: by frame pointers; LG_STAGE_DWARF; LG_STAGE_ASYNC: of LG_THREAD_TASK, and
     *  each pc is looked up as it is */
    lg_stage method;
    uint64_t signal_pc;       /**< where the kernel calls signal handlers; 0: not on this stack */
    char reason[64];
} lg_stack_info;

/** Bytes of the text of a place, its NUL included. */
#define LG_PLACE_BYTES 288

/** Where a frame is in its function, by the unwind tables of the program that died: known without
 *  symbols, and the same in each build that has the same code for the function. */
typedef struct lg_function {
    uint32_t offset;          /**< bytes from the begin of the function to the instruction */
    uint32_t size;            /**< of the function, in bytes */
} lg_function;

/** Functions that wait for a function of the stack by Swift's `await`, and so are on no stack. The
 *  handler finds them by memory alone: they are callers only if the function of the frame is
 *  asynchronous, which its symbol tells. */
typedef struct lg_async_chain {
    uint64_t pc;              /**< of the frame, as in the DWARF walk */
    uint32_t frame;           /**< its number in that walk, gap included; 0: the innermost */
    uint32_t count;           /**< callers that the file holds */
    uint32_t truncated;       /**< 1: there were more */
} lg_async_chain;

/** The walk that shows the stack of the crashed thread. The two walks disagree where the one by
 *  frame pointers has a caller that the DWARF walk does not have; that it leaves callers out is no
 *  disagreement, since not every function has a frame pointer. */
typedef struct lg_stack_choice {
    lg_stage stage;           /**< LG_STAGE_DWARF or LG_STAGE_FRAMES */
    uint32_t disagree;        /**< 1: the walks disagree */
    char reason[128];         /**< why it is this walk; one English sentence without an end */
} lg_stack_choice;

/** Longest text of one message. */
#define LG_MESSAGE_MAX 6000

/** Source of a message. */
typedef enum lg_message_source {
    LG_MESSAGE_LIBC = 1,      /**< text of assert(), of the checks of FORTIFY, heap and stack */
    LG_MESSAGE_SWIFT = 2,     /**< text of the Swift runtime */
    LG_MESSAGE_CPP_TYPE = 3,  /**< mangled type name of the uncaught C++ exception */
    LG_MESSAGE_CPP_WHAT = 4,  /**< what() of that exception */
    LG_MESSAGE_GUARD = 5,     /**< text of the guard that ended the program (LG_GUARD_FATAL) */
    LG_MESSAGE_STDERR = 6,    /**< text from standard error: lg_reader_last_words() */
    LG_MESSAGE_GLIB = 7       /**< text of a failed check of GLib */
} lg_message_source;

/** A text from before the end. */
typedef struct lg_message {
    lg_message_source source;
    uint32_t cut;             /**< 1: the rest of the text is missing */
    uint32_t size;            /**< bytes of text */
    char text[LG_MESSAGE_MAX + 1]; /**< NUL after `size` bytes */
} lg_message;

/** Origin of the state of a thread. */
typedef enum lg_thread_how {
    LG_THREAD_CAPTURED = 1,   /**< the thread captured itself: registers and stack are there */
    /** the thread blocks every signal: only the kernel's data is there */
    LG_THREAD_MASKED = 2,
    /** the thread did not answer in time: only the kernel's data is there */
    LG_THREAD_SILENT = 3,
    /** no thread: a task of Swift that waits, of a job that thread `tid` began; its stack are the
     *  functions that wait for each other */
    LG_THREAD_TASK = 4
} lg_thread_how;

/** The other threads at the crash, counted. */
typedef struct lg_threads_info {
    uint32_t stored;          /**< readable with lg_reader_thread() */
    uint32_t complete;        /**< 1: stage 6 was committed, the numbers below are valid */
    uint32_t listed;          /**< threads besides the crashed one that the kernel listed */
    uint32_t captured, masked, silent;
    uint32_t omitted;         /**< threads without room */
    int32_t error;            /**< errno of the listing; 0: the listing is complete */
    uint64_t waited_ns;       /**< time that the handler waited for the threads */
    /** CPU time of the crashed thread since that thread began; 0: unknown */
    uint64_t crashed_cpu_ns;
} lg_threads_info;

/** One other thread at the crash. */
typedef struct lg_thread_info {
    int32_t tid;
    lg_thread_how how;
    char state;               /**< letter as in proc(5), for example 'S'; 0 when unknown */
    char name[17];
    uint32_t register_count;  /**< see lg_reader_thread_register() */
    /** signal mask of the thread: bit n − 1 for signal n; 0 when unknown */
    uint64_t blocked;
    uint64_t pc, sp;          /**< 0: unknown */
    uint64_t stack_low, stack_high; /**< 0: unknown */
    uint64_t cpu_ns;          /**< CPU time since the thread began; 0: unknown */
    /** chains of asynchronous callers that found no room; see lg_reader_thread_async_chain() */
    uint32_t async_omitted;
} lg_thread_info;

/** A stretch of stack memory. */
typedef struct lg_memory_info {
    uint64_t start;           /**< address */
    uint32_t size;            /**< bytes */
    int32_t tid;              /**< thread of the stack */
} lg_memory_info;

/** X(identifier, index, "name", "unit"): figures of the process and of the system at the crash. */
#define LG_RESOURCE_TABLE(X)                                                \
    X(LG_RESOURCE_RESIDENT, 0, "resident", "bytes")                         \
    X(LG_RESOURCE_RESIDENT_PEAK, 1, "resident_peak", "bytes")               \
    X(LG_RESOURCE_VIRTUAL, 2, "virtual", "bytes")                           \
    X(LG_RESOURCE_VIRTUAL_LIMIT, 3, "virtual_limit", "bytes")               \
    X(LG_RESOURCE_DATA_LIMIT, 4, "data_limit", "bytes")                     \
    X(LG_RESOURCE_STACK_LIMIT, 5, "stack_limit", "bytes")                   \
    X(LG_RESOURCE_CGROUP_MEMORY, 6, "cgroup_memory", "bytes")               \
    X(LG_RESOURCE_CGROUP_LIMIT, 7, "cgroup_limit", "bytes")                 \
    X(LG_RESOURCE_CGROUP_OOM_KILLS, 8, "cgroup_oom_kills", "")              \
    X(LG_RESOURCE_MEMORY_TOTAL, 9, "memory_total", "bytes")                 \
    X(LG_RESOURCE_MEMORY_FREE, 10, "memory_free", "bytes")                  \
    X(LG_RESOURCE_SWAP_TOTAL, 11, "swap_total", "bytes")                    \
    X(LG_RESOURCE_SWAP_FREE, 12, "swap_free", "bytes")                      \
    X(LG_RESOURCE_PRESSURE_SOME, 13, "memory_pressure_some", "0.01 %")      \
    X(LG_RESOURCE_PRESSURE_FULL, 14, "memory_pressure_full", "0.01 %")      \
    X(LG_RESOURCE_DESCRIPTORS, 15, "descriptors", "")                       \
    X(LG_RESOURCE_DESCRIPTOR_LIMIT, 16, "descriptor_limit", "")             \
    X(LG_RESOURCE_THREADS, 17, "threads", "")                               \
    X(LG_RESOURCE_CPU_USER, 18, "cpu_user", "ns")                           \
    X(LG_RESOURCE_CPU_SYSTEM, 19, "cpu_system", "ns")                       \
    X(LG_RESOURCE_CPU_LIMIT, 20, "cpu_limit", "s")                          \
    X(LG_RESOURCE_FAULTS_MINOR, 21, "faults_minor", "")                     \
    X(LG_RESOURCE_FAULTS_MAJOR, 22, "faults_major", "")                     \
    X(LG_RESOURCE_LOAD, 23, "load_1_min", "0.01")                           \
    X(LG_RESOURCE_UPTIME, 24, "uptime", "s")                                \
    X(LG_RESOURCE_TRACER, 25, "tracer_pid", "")

typedef enum lg_resource_id {
#define LG_RESOURCE_ENUM(identifier, index, name, unit) identifier = index,
    LG_RESOURCE_TABLE(LG_RESOURCE_ENUM)
#undef LG_RESOURCE_ENUM
} lg_resource_id;

/** One figure. */
typedef struct lg_resource {
    char name[32];
    char unit[8];
    uint32_t known;           /**< 0: the figure could not be read */
    /** UINT64_MAX where a limit is unlimited; 0 where the figure is unknown */
    uint64_t value;
} lg_resource;

LG_BEGIN

/** Number of crashes that the run file holds. The record holds one of them. While that crash is
 *  with an earlier handler of the program, another crash goes into a brief record.
 *
 *  @return LG_OK; LG_ERR_DAMAGED: the brief records are out of bounds; LG_ERR_STATE;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_crash_count(lg_reader *reader, uint32_t *ret_count);

/** Select one crash. All functions below speak of the selected crash. For a crash in a brief
 *  record, notes, the DWARF walk, messages, other threads, stack memory, memory map and figures
 *  give LG_ERR_NOT_FOUND.
 *
 *  lg_reader_open() selects the crash that counts as the end of the run. It is the last crash that
 *  the process died of; where none is known to be that, the last one whose earlier handler was
 *  called and that nothing is known to have survived. Where that crash happened in the earlier
 *  handler of another such crash, the other crash counts. A dump that SIGQUIT asked for counts only
 *  where no such crash exists. If the program survived all of them, the last one counts.
 *  lg_reader_verdict() does not depend on the selection.
 *
 *  @param index  from 0, in the order of `sequence`; crashes whose header is damaged come first.
 *  @return LG_OK; LG_ERR_NOT_FOUND: no such crash; LG_ERR_STATE; LG_ERR_ARGUMENT.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_select_crash(lg_reader *reader, uint32_t index);

/** The crash header.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND: the run has no crash record; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_crash(lg_reader *reader, lg_crash_info *ret_crash);

/** One register, from 0.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND after the last; LG_ERR_INCOMPLETE; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_register(lg_reader *reader, uint32_t index, lg_register *ret_register);

/** Bytes around a crash: of the stack (upwards from sp) or of the code (around pc), as far as the
 *  handler could read them.
 *
 *  @param which      0 stack, 1 code.
 *  @param buffer     at least 512 bytes.
 *  @param ret_start  address of the first byte.
 *  @param ret_size   bytes; 0 when nothing could be read.
 *  @return LG_OK; LG_ERR_INCOMPLETE; LG_ERR_DAMAGED; LG_ERR_NOT_FOUND; LG_ERR_STATE;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_bytes(lg_reader *reader, uint32_t which, uint8_t *buffer, uint64_t *ret_start, size_t *ret_size);

/** One note of the record, from 0.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND after the last; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_note(lg_reader *reader, uint32_t index, lg_note *ret_note);

/** Size of one walk.
 *
 *  @param stage  LG_STAGE_FRAMES or LG_STAGE_DWARF.
 *  @return LG_OK; LG_ERR_INCOMPLETE; LG_ERR_NOT_FOUND: no crash; LG_ERR_DAMAGED; LG_ERR_STATE;
 *          LG_ERR_ARGUMENT.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_stack(lg_reader *reader, lg_stage stage, lg_stack_info *ret_info);

/** Which of the two walks shows the stack, and why.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND: no crash; LG_ERR_INCOMPLETE, LG_ERR_DAMAGED: neither walk can
 *          be read; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_stack_choice(lg_reader *reader, lg_stack_choice *ret_choice);

/** One pc of a walk, 0 ≤ index < stored.
 *
 *  @return as lg_reader_stack(); LG_ERR_NOT_FOUND after the last.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_frame(lg_reader *reader, lg_stage stage, uint32_t index, uint64_t *ret_pc);

/** The function of one frame of the DWARF walk, 0 ≤ index < stored.
 *
 *  @return as lg_reader_stack(); LG_ERR_NOT_FOUND: no table describes the frame, or it is not
 *          one of the innermost 66.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_function(lg_reader *reader, uint32_t index, lg_function *ret_function);

/** One chain of asynchronous callers of the crashed thread, from 0, in the order of their frames.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND after the last, or no crash, or a brief record;
 *          LG_ERR_INCOMPLETE: no chain was found; LG_ERR_DAMAGED; LG_ERR_STATE; LG_ERR_ARGUMENT.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_async_chain(lg_reader *reader, uint32_t index, lg_async_chain *ret_chain);

/** One caller of a chain, 0 ≤ index < count, the nearest first. Its pc is where it goes on once the
 *  callee has ended, and is looked up as it is.
 *
 *  @return as lg_reader_async_chain(); LG_ERR_NOT_FOUND after the last.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_async_caller(lg_reader *reader, uint32_t chain, uint32_t index, uint64_t *ret_pc);

/** One message, from 0: text of libc, the Swift runtime or a C++ exception.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND after the last, or no crash, or a brief record;
 *          LG_ERR_INCOMPLETE; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_message(lg_reader *reader, uint32_t index, lg_message *ret_message);

/** The reason that the program gave on standard error before it ended by its own will: an exit with
 *  a status, or a crash of its runtime without a message in the record. The text is that of an
 *  uncaught exception, a panic or a failed check, in one line; of an exit without any of these it
 *  is the last line.
 *
 *  @param ret_message  its source is LG_MESSAGE_STDERR.
 *  @return LG_OK; LG_ERR_NOT_FOUND: standard error was not kept, says no reason, or the run did not
 *          end so; LG_ERR_DAMAGED; LG_ERR_STATE: not a run file; LG_ERR_SYSTEM: no memory.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: yes.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_last_words(lg_reader *reader, lg_message *ret_message);

/** The other threads at the crash, counted.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND: no crash, or the file has no room for threads; LG_ERR_DAMAGED;
 *          LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_threads(lg_reader *reader, lg_threads_info *ret_info);

/** One other thread, 0 ≤ index < stored.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND after the last; LG_ERR_INCOMPLETE: the thread was not committed,
 *          but one after it was; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_thread(lg_reader *reader, uint32_t index, lg_thread_info *ret_thread);

/** One register of another thread, from 0.
 *
 *  @return as lg_reader_thread(); LG_ERR_NOT_FOUND also after its last register.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_thread_register(lg_reader *reader, uint32_t thread, uint32_t index, lg_register *ret_register);

/** Size of the walk of another thread's stack.
 *
 *  @return as lg_reader_thread(); LG_ERR_INCOMPLETE: the stack was not walked.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_thread_stack(lg_reader *reader, uint32_t thread, lg_stack_info *ret_info);

/** One pc of that walk, 0 ≤ index < stored.
 *
 *  @return as lg_reader_thread_stack(); LG_ERR_NOT_FOUND after the last.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_thread_frame(lg_reader *reader, uint32_t thread, uint32_t index, uint64_t *ret_pc);

/** The function of one frame of a thread's stack, 0 ≤ index < stored.
 *
 *  @return as lg_reader_thread_stack(); LG_ERR_NOT_FOUND: no table describes the frame, the stack
 *          was walked by frame pointers, or it leaves no room.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_thread_function(lg_reader *reader, uint32_t thread, uint32_t index, lg_function *ret_function);

/** One chain of asynchronous callers of a thread, as lg_reader_async_chain().
 *
 *  @return as lg_reader_thread_stack(); LG_ERR_NOT_FOUND after the last.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_thread_async_chain(lg_reader *reader, uint32_t thread, uint32_t index, lg_async_chain *ret_chain);

/** One caller of a chain, as lg_reader_async_caller().
 *
 *  @return as lg_reader_thread_async_chain(); LG_ERR_NOT_FOUND after the last.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_thread_async_caller(lg_reader *reader, uint32_t thread, uint32_t chain, uint32_t index, uint64_t *ret_pc);

/** One stretch of stack memory, from 0; the crashed thread's is the first.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND after the last, or no crash; LG_ERR_INCOMPLETE: a later crash of
 *          the living program is being recorded; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_memory(lg_reader *reader, uint32_t index, lg_memory_info *ret_info);

/** The bytes of one stretch of stack memory.
 *
 *  @param buffer  at least lg_memory_info.size bytes; zeroed when the checksum is wrong.
 *  @return as lg_reader_memory(); LG_ERR_ARGUMENT: the buffer is too small.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_memory_bytes(lg_reader *reader, uint32_t index, uint8_t *buffer, size_t size);

/** The memory map: text as in /proc/PID/maps.
 *
 *  @param buffer    may be NULL when `size` is 0; receives the text with a NUL, cut to fit.
 *  @param ret_size  bytes of the whole text, without a NUL.
 *  @param ret_cut   1: the record had no room for all of the map.
 *  @return LG_OK; LG_ERR_NOT_FOUND: no crash, a brief record, or the file had no space for it;
 *          LG_ERR_INCOMPLETE; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_map(lg_reader *reader, char *buffer, size_t size, size_t *ret_size, uint32_t *ret_cut);

/** One figure of the process or of the system at the crash.
 *
 *  @param index  LG_RESOURCE_*.
 *  @return LG_OK; LG_ERR_NOT_FOUND: no such figure, no crash, a brief record, or the file had no
 *          space for it; LG_ERR_INCOMPLETE; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_resource(lg_reader *reader, uint32_t index, lg_resource *ret_resource);

LG_END

#endif
