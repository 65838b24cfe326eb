/* The stages of the record: each fills its block in the mapped file and commits it. */
#include "capture/internal.h"

/* How long a crash that comes right after the start waits for the module table. */
#define PREPARE_WAIT_NS UINT64_C(200000000)

/* More frames than stacks hold: 32 bytes each in 32 MiB. */
#define FRAMES_LIMIT (UINT32_C(1) << 20)

static const struct lg__run *run(void)
{
    return &lg__capture.options.run;
}

void lg__stage_header(int signal, const siginfo_t *info, const void *ucontext)
{
    struct lg__arch_fault fault;
    struct lg__crash_header *header = lg__run_stage(run(), LG_STAGE_HEADER);
    lg__arch_fault(ucontext, &fault);
    memset(header, 0, sizeof *header);
    lg__altstack_bounds(&header->stack_low, &header->stack_high);
    lg__classify(info, &fault, header->stack_low, lg__capture.pid, header);
    header->signal = signal;
    header->pc = fault.pc;
    header->sp = fault.sp;
    header->fp = fault.fp;
    header->trap = fault.trap;
    header->error = fault.error;
    header->pid = lg__capture.pid;
    header->tid = lg__latch_owner();
    header->monotonic_ns = lg__os_clock_ns(CLOCK_MONOTONIC);
    header->boottime_ns = lg__os_clock_ns(CLOCK_BOOTTIME);
    header->wall_ns = lg__os_clock_ns(CLOCK_REALTIME);
    header->sequence = lg__capture.sequence;
    if (lg__capture.siginfo_lost)
        header->flags = LG__CRASH_SIGINFO_LOST;
    lg__run_commit(run(), LG_STAGE_HEADER, sizeof *header);

    struct lg__hot *hot = lg__capture.options.hot;
    if (hot && signal != SIGQUIT) { /* a dump that somebody asked for is no crash */
        atomic_store_explicit(&hot->crash_ns, header->monotonic_ns, memory_order_relaxed);
        atomic_store_explicit(&hot->crash_ordinal, lg__capture.options.ordinal, memory_order_release);
        /* Another thread of the program crashed during lg_start(): that is no reason for LaunchGuard to suspect itself. */
        int32_t starting = lg__capture.options.starting_tid;
        if (starting && starting != header->tid)
            atomic_store_explicit(&hot->starting, 0, memory_order_relaxed);
    }
}

void lg__stage_context(const void *ucontext)
{
    struct lg__arch_fault fault;
    struct lg__crash_context *context = lg__run_stage(run(), LG_STAGE_CONTEXT);
    lg__memory_forget();
    lg__arch_fault(ucontext, &fault);
    context->arch = lg__arch;
    context->register_count = lg__arch_registers(ucontext, context->registers);
    lg__os_thread_name(context->thread_name);
    context->stack_start = fault.sp;
    bool wanted = !(lg__capture.options.leave_out & LG_LEAVE_OUT_STACKS);
    context->stack_size = wanted ? (uint32_t)lg__memory_read(context->stack, fault.sp, LG__STACK_BYTES) : 0;
    /* Around pc: where its first half cannot be read, from pc itself. */
    context->code_start = fault.pc - LG__CODE_BYTES / 2;
    context->code_size = (uint32_t)lg__memory_read(context->code, context->code_start, LG__CODE_BYTES);
    if (context->code_size < LG__CODE_BYTES / 2) {
        context->code_start = fault.pc;
        context->code_size = (uint32_t)lg__memory_read(context->code, fault.pc, LG__CODE_BYTES);
    }
    lg__run_commit(run(), LG_STAGE_CONTEXT, sizeof *context);
}

static bool wild_pc(void)
{
    const struct lg__crash_header *header = lg__run_stage(run(), LG_STAGE_HEADER);
    return header->kind == LG_CRASH_JUMP_NULL || header->kind == LG_CRASH_JUMP_BAD || header->kind == LG_CRASH_EXEC_NX;
}

static struct lg__frames frames_of(unsigned stage)
{
    struct lg__crash_frames *block = lg__run_stage(run(), stage);
    return (struct lg__frames){ &block->head, block->pcs, LG__FRAMES_MAX, LG__FRAMES_LAST, FRAMES_LIMIT };
}

void lg__stage_frames(const void *ucontext)
{
    uint64_t registers[LG__REGISTERS_MAX];
    struct lg__frames frames = frames_of(LG_STAGE_FRAMES);
    lg__frames_begin(&frames);
    lg__arch_registers(ucontext, registers);
    lg__unwind_fp(registers, wild_pc(), &frames);
    lg__run_commit(run(), LG_STAGE_FRAMES, lg__frames_size(&frames));
}

void lg__stage_dwarf(const void *ucontext)
{
    uint64_t registers[LG__REGISTERS_MAX];
    struct lg__frames frames = frames_of(LG_STAGE_DWARF);
    lg__frames_begin(&frames);
    lg__arch_registers(ucontext, registers);
    lg__capture_wait_prepared(PREPARE_WAIT_NS);
    lg__unwind_dwarf(registers, wild_pc(), &frames);
    lg__run_commit(run(), LG_STAGE_DWARF, lg__frames_size(&frames));
}

void lg__stage_spare_walk(const void *ucontext)
{
    static struct lg__crash_frames other;
    const struct lg__frames first = frames_of(LG_STAGE_DWARF);
    const struct lg__frames second = { &other.head, other.pcs, LG__FRAMES_MAX, LG__FRAMES_LAST, FRAMES_LIMIT };
    uint64_t registers[LG__REGISTERS_MAX];
    if (first.head->reason != LG__WALK_RECRASH)
        return;
    lg__frames_begin(&second);
    lg__arch_registers(ucontext, registers);
    lg__unwind_libunwind(registers, wild_pc(), &second);
    if (second.head->total <= first.head->total)
        return;
    lg__run_uncommit_stage(run(), LG_STAGE_DWARF);
    memcpy(lg__run_stage(run(), LG_STAGE_DWARF), &other, lg__frames_size(&second));
    lg__run_commit(run(), LG_STAGE_DWARF, lg__frames_size(&second));
}

void lg__stage_walk_crashed(unsigned stage)
{
    struct lg__frames frames = frames_of(stage);
    if (atomic_load(&run()->record->stages[stage].commit))
        return; /* the walk was whole; the crash came after it */
    if (frames.head->stored > LG__FRAMES_MAX)
        frames.head->stored = 0;
    lg__frames_finish(&frames, LG__WALK_RECRASH);
    lg__run_commit(run(), stage, lg__frames_size(&frames));
}

void lg__stage_done(void)
{
    struct lg__crash_done *done = lg__run_stage(run(), LG_STAGE_DONE);
    done->monotonic_ns = lg__os_clock_ns(CLOCK_MONOTONIC);
    done->skipped = lg__capture.skipped;
    lg__run_commit(run(), LG_STAGE_DONE, sizeof *done);
}
