/* Writing the record: the stages in order of commit, the cheapest and surest first. A crash in a
 * stage costs that stage alone. */
#include "capture/deadline.h"
#include "capture/internal.h"
#include "os/fault_point.h"

/* More crashes than stages inside one handler: the fault is not in a stage. */
#define RECRASHES_MAX 8u

/* A stage that calls code of others has ended by this signal, or hangs. */
#define CUTS_MAX 3u

/* The record waits at most this long for text that was written to standard error just before. */
#define TAIL_WAIT_NS LG_PATIENCE(UINT64_C(100000000))

/* The stages in their order, with two walks that are part of a commit: libunwind walks where our
 * own walk crashed, and the stacks of the other threads are walked. */
#define SPARE_WALK (LG__STAGES + LG_STAGE_DWARF)
#define WALK_THREADS (LG__STAGES + LG_STAGE_THREADS)

/* The record that is being written; the crash lock guards it. */
static struct {
    _Atomic uint32_t part;  /* stage or walk under way; a thread that waits for the lock notes it */
    uint32_t skipped;       /* stages that crashed */
    uint32_t recrashes;
    /* signals since the time was over: more than 0 end the record. Of this thread alone. */
    _Atomic uint32_t cuts;
    bool marked;            /* there is a place to go back to */
    struct lg__arch_mark mark; /* where a stage that crashes goes on */
    struct lg__crash *crash;
} recording LG__SMALL;

uint32_t lg__record_stage(void)
{
    return atomic_load(&recording.part) % LG__STAGES;
}

static void run_stage(unsigned stage, const void *ucontext)
{
    struct lg__crash *crash = recording.crash;
    switch (stage) {
    case LG_STAGE_HEADER:
        lg__stages_header(crash, ucontext);
        LG_FAULT_POINT("handler: header");
        break;
    case LG_STAGE_CONTEXT:
        /* Up to the frames nothing can wait, except a look at memory: its page may have to come
         * from a file system that is gone, and only SIGKILL ends such a wait. */
        if (crash->owes)
            lg__deadline_attend(crash);
        else
            lg__deadline_arm(crash);
        lg__stages_context(crash, ucontext);
        LG_FAULT_POINT("handler: context");
        break;
    case LG_STAGE_FRAMES:
        lg__stages_frames(crash, ucontext);
        LG_FAULT_POINT("handler: frames");
        break;
    case LG_STAGE_DWARF:
        lg__deadline_arm_signal(crash);
        LG_FAULT_POINT("handler: before dwarf");
        lg__stages_dwarf(crash, ucontext);
        LG_FAULT_POINT("handler: dwarf");
        break;
    case SPARE_WALK:
        /* after the frames: the first touch of each of its pages in a new file costs 20 us */
        lg__loader_write(true);
        lg__stages_spare_walk(crash, ucontext);
        LG_FAULT_POINT("handler: spare walk");
        break;
    case LG_STAGE_MESSAGES:
        lg__messages_stage();
        LG_FAULT_POINT("handler: messages");
        break;
    case LG_STAGE_THREADS:
        lg__other_threads_stage();
        LG_FAULT_POINT("handler: threads");
        break;
    case WALK_THREADS:
        lg__other_threads_walk();
        lg__loader_write(true); /* of modules that no frame of the crashed thread is in */
        LG_FAULT_POINT("handler: thread stacks");
        break;
    case LG_STAGE_PROCESS:
        lg__process_stage(ucontext);
        LG_FAULT_POINT("handler: process");
        break;
    default:
        lg__stages_done(recording.skipped);
        LG_FAULT_POINT("handler: done");
        break;
    }
}

static bool is_wanted(unsigned stage)
{
    uint32_t left_out = lg__fixed.options.leave_out;
    switch (stage) {
    case LG_STAGE_MESSAGES: return !(left_out & LG_LEAVE_OUT_MESSAGES);
    case LG_STAGE_THREADS:
    case WALK_THREADS: return !(left_out & LG_LEAVE_OUT_THREADS);
    case LG_STAGE_PROCESS: return !(left_out & LG_LEAVE_OUT_PROCESS) || !(left_out & LG_LEAVE_OUT_STACKS);
    default: return true;
    }
}

/* A stage crashed. True: the stage goes on from where it was. */
static bool after_crash(unsigned stage)
{
    recording.skipped |= 1u << stage % LG__STAGES;
    /* in case the crash came before they were set */
    lg__deadline_arm(recording.crash);
    lg__deadline_arm_signal(recording.crash);
    if (stage == LG_STAGE_FRAMES || stage == LG_STAGE_DWARF)
        lg__stages_walk_crashed(recording.crash, stage);
    else if (stage == LG_STAGE_PROCESS)
        lg__process_commit();
    return stage == WALK_THREADS && lg__other_threads_left();
}

/* A crash inside a stage comes back to the mark, and the next stage follows. */
__attribute__((noinline)) void lg__record_write(struct lg__crash *crash, const void *ucontext)
{
    static const uint8_t full[] = { LG_STAGE_HEADER,   LG_STAGE_CONTEXT, LG_STAGE_FRAMES,  LG_STAGE_DWARF, SPARE_WALK,
                                    LG_STAGE_MESSAGES, LG_STAGE_THREADS, WALK_THREADS,     LG_STAGE_PROCESS, LG_STAGE_DONE };
    /* a brief record has the first stages */
    const volatile unsigned count = lg__crash_slot_of(crash) ? LG__BRIEF_PARTS : sizeof full;
    volatile unsigned next = 0;
    recording.crash = crash;
    recording.skipped = 0;
    recording.recrashes = 0;
    recording.cuts = 0;
    if (lg__arch_mark(&recording.mark) != 0 && !recording.cuts && next < count && !after_crash(full[next]))
        next++;
    recording.marked = true;
    for (; next < count && !recording.cuts; next++) {
        atomic_store_explicit(&recording.part, full[next], memory_order_relaxed);
        if (is_wanted(full[next]))
            run_stage(full[next], ucontext);
    }
    recording.marked = false;
    if (!lg__crash_slot_of(recording.crash))
        lg__tail_settle(TAIL_WAIT_NS);
    lg__files_restore();
}

void lg__record_let_go(struct lg__crash *crash, enum lg__crash_event event, bool unseen)
{
    const uint32_t sequence = lg__crash_sequence(atomic_load(&crash->word));
    const bool chains = event == LG__CRASH_CHAINS;
    if (!crash->owes)
        lg__other_threads_release();
    LG_FAULT_POINT("finish: threads released");
    lg__run_outcome(&lg__fixed.options.run, lg__crash_slot_of(crash), sequence, LG__OUTCOME_CHAINED);
    if (chains)
        lg__deadline_arm_handler(crash);
    if (chains && !crash->owes)
        lg__deadline_arm_timer(crash);
    lg__crash_event(crash, sequence, event, unseen);
    LG_FAULT_POINT("finish: let go");
    /* The record's time runs until the watch thread has that of the handler. */
    if (chains && !crash->owes) {
        lg__capture_wake_watch();
        /* The handler may stop all threads by a signal: they block it until they have left ours. */
        lg__other_threads_wait_left();
    }
    if (chains)
        lg__deadline_arm_handler(crash); /* again: other threads may have been waited for */
    lg__deadline_disarm();
    lg__crash_unlock();
}

__attribute__((noinline)) void lg__record_recrash(int signal, const void *ucontext)
{
    struct lg__arch_fault fault;
    /* Counted before the note: the store of the note may be the crash. */
    if (!recording.marked || recording.recrashes++ >= RECRASHES_MAX)
        return;
    lg__arch_fault(ucontext, &fault);
    lg__run_note(&lg__fixed.options.run, LG_NOTE_RECRASH, signal, lg__os_tid(), lg__record_stage(), fault.pc);
    lg__arch_jump(&recording.mark);
}

/* The stage under way is left when the handler of the signal returns, and no other stage begins.
 * Without `ucontext`, and in a stage that may call other code, which holds locks, the stage ends by
 * itself. false: it has not for a while, or there is no record of this thread. */
static bool cut(uint64_t value, void *ucontext)
{
    const struct lg__crash *crash = lg__crash_holder() == lg__os_tid() ? lg__crash_current() : NULL;
    const uint64_t word = crash ? atomic_load(&crash->word) : 0;
    if (lg__crash_state(word) != LG__CRASH_RECORDING || lg__crash_sequence(word) != value)
        return false;
    const uint32_t part = recording.part;
    recording.cuts++;
    if (!recording.marked)
        return true; /* outside of the stages no wait is long */
    /* A header that is about to change must not stay uncommitted. */
    if (!ucontext || part == SPARE_WALK || part == LG_STAGE_MESSAGES || !lg__run_is_committed(&lg__fixed.options.run, lg__crash_slot_of(crash), LG_STAGE_HEADER))
        return recording.cuts < CUTS_MAX;
    lg__memory_mark(); /* a later fault must not come back to a read that was left */
    lg__arch_jump_on_return(ucontext, &recording.mark);
    return true;
}

void lg__record_deadline(uint64_t value, void *ucontext, const void *outer)
{
    LG_FAULT_POINT("deadline: over");
    if (!cut(value, ucontext == outer ? ucontext : NULL))
        lg__deadline_passed(value, outer);
}
