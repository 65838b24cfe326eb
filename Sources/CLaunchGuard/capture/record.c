/* Writing the record: the stages in order of commit, the cheapest and surest first. A crash in one costs that one alone. */
#include "capture/internal.h"
#include "os/fault_point.h"

/* More crashes than stages inside one handler: something is wrong beyond leaving a stage out. */
#define RECRASHES_MAX 8u

/* How long the record waits for what was written to standard error just before. */
#define TAIL_WAIT_NS UINT64_C(100000000)

/* Stages as they are run, with what belongs to a stage but is done when it is committed: libunwind walks where our own walk crashed,
 * and the stacks of the other threads are walked. */
#define SPARE_WALK (LG__STAGES + LG_STAGE_DWARF)
#define WALK_THREADS (LG__STAGES + LG_STAGE_THREADS)

static void run_stage(unsigned stage, int signal, const siginfo_t *info, const void *ucontext)
{
    switch (stage) {
    case LG_STAGE_HEADER:
        lg__stage_header(signal, info, ucontext);
        LG_FAULT_POINT("handler: header");
        break;
    case LG_STAGE_CONTEXT:
        /* Nothing before this point can wait for anybody, but a look at memory can: its page may have to come from a file system that is gone.
         * From here on the watch thread ends what takes too long. */
        lg__deadline_arm();
        lg__stage_context(ucontext);
        LG_FAULT_POINT("handler: context");
        break;
    case LG_STAGE_FRAMES:
        lg__stage_frames(ucontext);
        LG_FAULT_POINT("handler: frames");
        break;
    case LG_STAGE_DWARF:
        LG_FAULT_POINT("handler: before dwarf");
        lg__stage_dwarf(ucontext);
        LG_FAULT_POINT("handler: dwarf");
        break;
    case SPARE_WALK:
        lg__stage_spare_walk(ucontext);
        LG_FAULT_POINT("handler: spare walk");
        break;
    case LG_STAGE_MESSAGES:
        lg__stage_messages();
        LG_FAULT_POINT("handler: messages");
        break;
    case LG_STAGE_THREADS:
        lg__stage_threads();
        LG_FAULT_POINT("handler: threads");
        break;
    case WALK_THREADS:
        lg__threads_walk();
        LG_FAULT_POINT("handler: thread stacks");
        break;
    case LG_STAGE_PROCESS:
        lg__stage_process();
        LG_FAULT_POINT("handler: process");
        break;
    default:
        lg__stage_done();
        LG_FAULT_POINT("handler: done");
        break;
    }
}

static bool is_wanted(unsigned stage)
{
    uint32_t left_out = lg__capture.options.leave_out;
    switch (stage) {
    case LG_STAGE_MESSAGES: return !(left_out & LG_LEAVE_OUT_MESSAGES);
    case LG_STAGE_THREADS:
    case WALK_THREADS: return !(left_out & LG_LEAVE_OUT_THREADS);
    case LG_STAGE_PROCESS: return !(left_out & LG_LEAVE_OUT_PROCESS) || !(left_out & LG_LEAVE_OUT_STACKS);
    default: return true;
    }
}

/* A stage crashed. True: it is to go on from where it was. */
static bool after_crash(unsigned stage)
{
    lg__capture.skipped |= 1u << stage % LG__STAGES;
    lg__deadline_arm(); /* in case the crash came before it was */
    if (stage == LG_STAGE_FRAMES || stage == LG_STAGE_DWARF)
        lg__stage_walk_crashed(stage);
    else if (stage == LG_STAGE_PROCESS)
        lg__stage_process_commit();
    return stage == WALK_THREADS && lg__threads_left();
}

/* A crash inside a stage comes back to the jump target, and the next stage follows. */
__attribute__((noinline)) void lg__record_write(int signal, const siginfo_t *info, bool siginfo_lost, const void *ucontext)
{
    static const uint8_t stages[] = { LG_STAGE_HEADER,   LG_STAGE_CONTEXT, LG_STAGE_FRAMES,  LG_STAGE_DWARF, SPARE_WALK,
                                      LG_STAGE_MESSAGES, LG_STAGE_THREADS, WALK_THREADS,     LG_STAGE_PROCESS, LG_STAGE_DONE };
    volatile unsigned next = 0;
    lg__capture.sequence++;
    lg__capture.skipped = 0;
    lg__capture.recrashes = 0;
    lg__capture.info = *info;
    lg__capture.siginfo_lost = siginfo_lost;
    if (lg__arch_mark(&lg__capture.stage_mark) != 0 && next < sizeof stages && !after_crash(stages[next]))
        next++;
    atomic_store(&lg__capture.phase, LG__PHASE_CAPTURING); /* from here on there is a place to go back to */
    for (; next < sizeof stages; next++) {
        atomic_store_explicit(&lg__capture.stage, stages[next] % LG__STAGES, memory_order_relaxed);
        if (is_wanted(stages[next]))
            run_stage(stages[next], signal, info, ucontext);
    }
    lg__tail_settle(TAIL_WAIT_NS);
    lg__files_restore();
}

bool lg__record_gives_up(void)
{
    return lg__capture.recrashes > RECRASHES_MAX;
}

/* A second crash on the thread whose crash is being recorded. Does not return while a stage can still be left out. */
__attribute__((noinline)) void lg__record_recrash(int signal, const void *ucontext)
{
    struct lg__arch_fault fault;
    /* Counted before the note, whose own store may be what crashes. */
    if (lg__capture.recrashes++ >= RECRASHES_MAX)
        return;
    lg__arch_fault(ucontext, &fault);
    lg__run_note(&lg__capture.options.run, LG_NOTE_RECRASH, signal, lg__os_tid(), atomic_load(&lg__capture.stage), fault.pc);
    if (atomic_load(&lg__capture.phase) == LG__PHASE_CAPTURING)
        lg__arch_jump(&lg__capture.stage_mark);
}
