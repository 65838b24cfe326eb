/** Reader: the data of a living program in a run file: heartbeats, deadlines, and the stacks that
 *  were taken when a heartbeat or the end of a job was late, or memory ran short.
 *
 *  The rules of reader.h hold here as well, and its library has the functions. The reader returns
 *  no data whose checksum or bounds are wrong. Strings must be escaped before a terminal shows
 *  them.
 */
#ifndef LAUNCHGUARD_SNAPSHOT_H
#define LAUNCHGUARD_SNAPSHOT_H

#include <launchguard/record.h>

/** A thread with a heartbeat. */
typedef struct lg_heartbeat_info {
    int32_t tid;
    uint32_t paused;          /**< 1: the thread was waiting, and not watched */
    char name[17];            /**< of the thread, at its first heartbeat */
    uint64_t beat_ns;         /**< CLOCK_MONOTONIC of the last heartbeat */
    /** CLOCK_MONOTONIC of the last heartbeat before the hang; 0: no hang */
    uint64_t hang_ns;
} lg_heartbeat_info;

/** A job with a deadline that had not ended. */
typedef struct lg_deadline_info {
    char name[64];
    int32_t tid;              /**< thread that began the job */
    uint32_t limit_ms;
    uint64_t begun_ns;        /**< CLOCK_MONOTONIC */
    /** CLOCK_MONOTONIC when the job was found about to overrun; 0: it was not */
    uint64_t near_ns;
} lg_deadline_info;

/** Why stacks were taken. Values are stored and never change. */
typedef enum lg_snapshot_kind {
    LG_SNAPSHOT_HANG = 1,     /**< a run loop hung: all threads */
    /** a job was about to overrun its deadline: the thread that began it */
    LG_SNAPSHOT_DEADLINE = 2,
    /** memory came near its limit for the first time in the run (lg_memory_watch()): all
     *  threads */
    LG_SNAPSHOT_MEMORY = 3
} lg_snapshot_kind;

/** Stacks of a program that lived on. The file keeps the last snapshot of each kind. */
typedef struct lg_snapshot_info {
    lg_snapshot_kind kind;
    /** the first thread asked: it hung, or began the job; 0 for LG_SNAPSHOT_MEMORY */
    int32_t tid;
    char name[64];            /**< of the thread, or of the job; "" for LG_SNAPSHOT_MEMORY */
    uint32_t sequence;        /**< from 1, in the order of the snapshots */
    uint32_t stored;          /**< threads that lg_reader_snapshot_thread() can return */
    /** CLOCK_MONOTONIC: the last heartbeat before the hang, the begin of the job, or when memory
     *  was found near its limit */
    uint64_t since_ns;
    uint64_t taken_ns;        /**< CLOCK_MONOTONIC */
    /** CLOCK_MONOTONIC of the next heartbeat, of the end of the job, or of the end of the shortage;
     *  0: it did not come */
    uint64_t resolved_ns;
    uint32_t complete;        /**< 1: the snapshot was finished, the numbers below are valid */
    uint32_t given_up;        /**< 1: the program crashed meanwhile */
    uint32_t listed;          /**< threads that the kernel listed, without those of LaunchGuard */
    uint32_t captured, masked, silent;
    uint32_t omitted;         /**< threads without room */
    /** errno of the listing; −1: the threads could not be asked; 0: the listing is complete */
    int32_t error;
    uint64_t took_ns;
} lg_snapshot_info;

LG_BEGIN

/** One thread with a heartbeat, from 0.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND after the last, or there was no space; LG_ERR_DAMAGED;
 *          LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_heartbeat(lg_reader *reader, uint32_t index, lg_heartbeat_info *ret_heartbeat);

/** One job with a deadline, from 0.
 *
 *  @return as lg_reader_heartbeat().
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_deadline(lg_reader *reader, uint32_t index, lg_deadline_info *ret_deadline);

/** The last snapshot of a kind.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND: none was taken, or there was no space; LG_ERR_DAMAGED;
 *          LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_snapshot(lg_reader *reader, lg_snapshot_kind kind, lg_snapshot_info *ret_snapshot);

/** One thread of the snapshot, 0 ≤ index < stored.
 *
 *  @return LG_OK; LG_ERR_NOT_FOUND after the last, or no snapshot; LG_ERR_INCOMPLETE: the thread
 *          was not committed, but one after it was; LG_ERR_DAMAGED; LG_ERR_STATE.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_snapshot_thread(lg_reader *reader, lg_snapshot_kind kind, uint32_t index, lg_thread_info *ret_thread);

/** One register of a thread of the snapshot, from 0.
 *
 *  @return as lg_reader_snapshot_thread(); LG_ERR_NOT_FOUND also after the last register.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_snapshot_register(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, lg_register *ret_register);

/** Size of the stack walk of a thread of the snapshot.
 *
 *  @return as lg_reader_snapshot_thread(); LG_ERR_INCOMPLETE: the stack was not walked.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_snapshot_stack(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, lg_stack_info *ret_info);

/** One pc of that walk, 0 ≤ index < stored.
 *
 *  @return as lg_reader_snapshot_stack(); LG_ERR_NOT_FOUND after the last.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_snapshot_frame(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, uint64_t *ret_pc);

/** The function of one frame of a thread's stack, 0 ≤ index < stored.
 *
 *  @return as lg_reader_snapshot_stack(); LG_ERR_NOT_FOUND: no table describes the frame, the stack
 *          was walked by frame pointers, or it leaves no room.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_snapshot_function(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, lg_function *ret_function);

/** One chain of asynchronous callers of a thread, as lg_reader_async_chain().
 *
 *  @return as lg_reader_snapshot_stack(); LG_ERR_NOT_FOUND after the last.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_snapshot_async_chain(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, lg_async_chain *ret_chain);

/** One caller of a chain, as lg_reader_async_caller().
 *
 *  @return as lg_reader_snapshot_async_chain(); LG_ERR_NOT_FOUND after the last.
 *
 *  Threads: one reader, one thread at a time.  Signals: unsafe.  After fork: safe.  Allocates: no.
 *  Durable: nothing is stored.
 */
LG_API lg_status lg_reader_snapshot_async_caller(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t chain, uint32_t index, uint64_t *ret_pc);

LG_END

#endif
