/* The stages of the record: each fills its block in the mapped file and commits it. */
#include "capture/internal.h"

/* More frames than stacks hold: 32 bytes each in 32 MiB. */
#define FRAMES_LIMIT (UINT32_C(1) << 20)

LG__FIRST static const struct lg__run *run(void)
{
    return &lg__fixed.options.run;
}

LG__FIRST void lg__stages_expect(void)
{
    const struct lg__record *record = run()->record;
    const struct lg__crash_header *header = lg__run_stage(run(), 0, LG_STAGE_HEADER);
    __builtin_prefetch(&record->stages[LG_STAGE_HEADER], 1);
    __builtin_prefetch(&record->outcome, 1);
    __builtin_prefetch(header, 1);
    __builtin_prefetch(&header->tid, 1);
    __builtin_prefetch(&header->sequence, 1);
}

/* The bytes of a header that are known at once. */
#define FIRST_BYTES offsetof(struct lg__crash_header, tid)

/* The lower end of the stack that the crashed code was on: an alternate one, or the thread's
 * own. */
LG__FIRST static uint64_t low_of(const struct lg__arch_fault *fault, const void *ucontext, uint64_t own_low)
{
    const stack_t *other = &((const ucontext_t *)ucontext)->uc_stack;
    const uint64_t low = (uint64_t)(uintptr_t)other->ss_sp;
    const bool is_there = other->ss_size && fault->sp + LG__OVERFLOW_BELOW_SP >= low && fault->sp < low + other->ss_size;
    return is_there ? low : own_low;
}

LG__FIRST static void fill_first(struct lg__crash_header *header, const struct lg__crash *crash, const void *ucontext)
{
    struct lg__arch_fault fault;
    lg__arch_fault(ucontext, &fault);
    lg__classify(&crash->info, &fault, low_of(&fault, ucontext, header->stack_low), lg__fixed.pid, header);
    header->pc = fault.pc;
    header->sp = fault.sp;
    header->fp = fault.fp;
    header->trap = fault.trap;
    header->error = fault.error;
    if (crash->siginfo_lost)
        header->flags = LG__CRASH_SIGINFO_LOST;
    if (atomic_load_explicit(&run()->state->ended, memory_order_relaxed) == LG__ENDED_EXIT)
        header->flags |= LG__CRASH_EXITING;
}

LG__FIRST void lg__stages_first(const struct lg__crash *crash, const void *ucontext)
{
    const unsigned slot = lg__crash_slot_of(crash);
    struct lg__crash_header *header = lg__run_stage(run(), slot, LG_STAGE_HEADER);
    memset(header, 0, sizeof *header);
    fill_first(header, crash, ucontext);
    lg__run_commit(run(), slot, LG_STAGE_HEADER, FIRST_BYTES);
}

void lg__stages_header(const struct lg__crash *crash, const void *ucontext)
{
    const unsigned slot = lg__crash_slot_of(crash);
    const int signal = crash->info.si_signo;
    struct lg__crash_header *header = lg__run_stage(run(), slot, LG_STAGE_HEADER), whole;
    memset(&whole, 0, sizeof whole);
    lg__altstack_bounds(&whole.stack_low, &whole.stack_high);
    fill_first(&whole, crash, ucontext);
    whole.pid = lg__fixed.pid;
    whole.tid = crash->tid;
    whole.monotonic_ns = lg__os_clock_ns(CLOCK_MONOTONIC);
    whole.boottime_ns = lg__os_clock_ns(CLOCK_BOOTTIME);
    whole.wall_ns = lg__os_clock_ns(CLOCK_REALTIME);
    whole.sequence = lg__crash_sequence(atomic_load(&crash->word));
    /* The bounds of the stack change the kind of a few crashes. Otherwise what is committed stays
     * as it is, and the rest is added. */
    if (memcmp(header, &whole, FIRST_BYTES) != 0) {
        lg__run_uncommit_stage(run(), slot, LG_STAGE_HEADER);
        memcpy(header, &whole, FIRST_BYTES);
    }
    memcpy((uint8_t *)header + FIRST_BYTES, (const uint8_t *)&whole + FIRST_BYTES, sizeof whole - FIRST_BYTES);
    lg__run_commit(run(), slot, LG_STAGE_HEADER, sizeof whole);

    struct lg__hot *hot = lg__fixed.options.hot;
    if (hot && signal != SIGQUIT) { /* a requested dump is no crash */
        atomic_store_explicit(&hot->crash_ns, header->monotonic_ns, memory_order_relaxed);
        atomic_store_explicit(&hot->crash_ordinal, lg__fixed.options.ordinal, memory_order_release);
        /* Another thread of the program crashed during lg_start(): that is no reason for
         * LaunchGuard to suspect itself. */
        int32_t starting = lg__fixed.options.starting_tid;
        if (starting && starting != header->tid)
            atomic_store_explicit(&hot->starting, 0, memory_order_relaxed);
    }
}

void lg__stages_context(const struct lg__crash *crash, const void *ucontext)
{
    const unsigned slot = lg__crash_slot_of(crash);
    struct lg__arch_fault fault;
    struct lg__crash_context *context = lg__run_stage(run(), slot, LG_STAGE_CONTEXT);
    lg__memory_forget(true);
    lg__arch_fault(ucontext, &fault);
    context->arch = lg__arch;
    context->register_count = lg__arch_registers(ucontext, context->registers);
    lg__os_thread_name(context->thread_name);
    context->stack_start = fault.sp;
    bool wanted = !(lg__fixed.options.leave_out & LG_LEAVE_OUT_STACKS);
    context->stack_size = wanted ? (uint32_t)lg__memory_read(context->stack, fault.sp, LG__STACK_BYTES) : 0;
    /* Around pc; where the first half cannot be read, from pc itself. */
    context->code_start = fault.pc - LG__CODE_BYTES / 2;
    context->code_size = (uint32_t)lg__memory_read(context->code, context->code_start, LG__CODE_BYTES);
    if (context->code_size < LG__CODE_BYTES / 2) {
        context->code_start = fault.pc;
        context->code_size = (uint32_t)lg__memory_read(context->code, fault.pc, LG__CODE_BYTES);
    }
    lg__run_commit(run(), slot, LG_STAGE_CONTEXT, sizeof *context);
}

static bool wild_pc(unsigned slot)
{
    const struct lg__crash_header *header = lg__run_stage(run(), slot, LG_STAGE_HEADER);
    return header->kind == LG_CRASH_JUMP_NULL || header->kind == LG_CRASH_JUMP_BAD || header->kind == LG_CRASH_EXEC_NX;
}

static struct lg__frames frames_of(unsigned slot, unsigned stage)
{
    /* the pcs are after it, in both kinds of record */
    struct lg__frames_head *head = lg__run_stage(run(), slot, stage);
    if (slot)
        return (struct lg__frames){ head, (uint64_t *)(void *)(head + 1), LG__BRIEF_FRAMES_MAX, LG__BRIEF_FRAMES_LAST, FRAMES_LIMIT, NULL };
    return (struct lg__frames){ head, (uint64_t *)(void *)(head + 1), LG__FRAMES_MAX, LG__FRAMES_LAST, FRAMES_LIMIT, NULL };
}

typedef void (*walker)(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames);

static void walk_stage(unsigned slot, unsigned stage, const void *ucontext, walker walk)
{
    uint64_t registers[LG__REGISTERS_MAX];
    struct lg__frames frames = frames_of(slot, stage);
    struct lg__crash_async *chains = slot == 0 && stage == LG_STAGE_DWARF ? lg__run_stage(run(), slot, LG_STAGE_ASYNC) : NULL;
    struct lg__async async = { .words = chains ? chains->words : NULL, .room = LG__ASYNC_WORDS };
    frames.async = chains ? &async : NULL;
    lg__frames_begin(&frames);
    lg__arch_registers(ucontext, registers);
    walk(registers, wild_pc(slot), &frames);
    const size_t functions = stage == LG_STAGE_DWARF ? lg__unwind_dwarf_functions(&frames, LG__FRAMES_MAX + LG__FUNCTIONS_WORDS) : 0;
    lg__run_commit(run(), slot, stage, lg__frames_size(&frames) + functions);
    if (!async.count)
        return;
    chains->count = async.count;
    chains->omitted = async.omitted;
    lg__run_commit(run(), slot, LG_STAGE_ASYNC, offsetof(struct lg__crash_async, words) + async.used * sizeof chains->words[0]);
}

void lg__stages_frames(const struct lg__crash *crash, const void *ucontext)
{
    walk_stage(lg__crash_slot_of(crash), LG_STAGE_FRAMES, ucontext, lg__unwind_fp);
}

/* The walk by frame pointers comes before the loader's list of modules is read. Only now is it
 * known which of its callers are data of a module that looks like a call. */
static void drop_false_callers(unsigned slot)
{
    const struct lg__frames frames = frames_of(slot, LG_STAGE_FRAMES);
    uint32_t good = 1;
    if (!lg__run_is_committed(run(), slot, LG_STAGE_FRAMES) || frames.head->stored > frames.capacity)
        return;
    while (good < frames.head->first && lg__caller_is_in_code(frames.pcs[good]))
        good++;
    if (good >= frames.head->first)
        return;
    lg__run_uncommit_stage(run(), slot, LG_STAGE_FRAMES);
    lg__frames_cut(&frames, good, LG__WALK_NO_CALL);
    lg__run_commit(run(), slot, LG_STAGE_FRAMES, lg__frames_size(&frames));
}

/* Innermost functions that may use one large frame: the one that has the frame, and its callees. */
#define OVERFLOW_FRAMES 4u

/* The address is in a frame of the stack, or just below all of them. All of a stack is memory that
 * can be used, so this one was used up, whatever its bounds are: those of a coroutine are not
 * known, and the program may have lowered the limit. */
static bool is_in_frames(uint64_t address, const void *ucontext)
{
    uint64_t registers[LG__REGISTERS_MAX];
    lg__arch_registers(ucontext, registers);
    if (address + LG__OVERFLOW_BELOW_SP < registers[lg__arch_sp])
        return false;
    for (unsigned i = 0; i < OVERFLOW_FRAMES && lg__unwind_dwarf_step(registers) > 0; i++)
        if (address < registers[lg__arch_sp])
            return true;
    return false;
}

/* The kind of a crash whose stack has no bounds, or other ones. */
static void find_overflow(unsigned slot, const void *ucontext)
{
    struct lg__crash_header *header = lg__run_stage(run(), slot, LG_STAGE_HEADER);
    if (header->signal != SIGSEGV || (header->kind != LG_CRASH_UNMAPPED && header->kind != LG_CRASH_PROTECTED) || !is_in_frames(header->address, ucontext))
        return;
    lg__run_uncommit_stage(run(), slot, LG_STAGE_HEADER);
    header->kind = LG_CRASH_STACK_OVERFLOW;
    lg__run_commit(run(), slot, LG_STAGE_HEADER, sizeof *header);
}

void lg__stages_dwarf(const struct lg__crash *crash, const void *ucontext)
{
    walk_stage(lg__crash_slot_of(crash), LG_STAGE_DWARF, ucontext, lg__unwind_dwarf);
    drop_false_callers(lg__crash_slot_of(crash));
    find_overflow(lg__crash_slot_of(crash), ucontext);
}

void lg__stages_spare_walk(const struct lg__crash *crash, const void *ucontext)
{
    static struct lg__crash_frames other;
    const unsigned slot = lg__crash_slot_of(crash);
    const struct lg__frames first = frames_of(slot, LG_STAGE_DWARF);
    const struct lg__frames second = { &other.head, other.pcs, LG__FRAMES_MAX, LG__FRAMES_LAST, FRAMES_LIMIT, NULL };
    uint64_t registers[LG__REGISTERS_MAX];
    if (first.head->reason != LG__WALK_RECRASH)
        return;
    lg__frames_begin(&second);
    lg__arch_registers(ucontext, registers);
    lg__unwind_libunwind(registers, wild_pc(slot), &second);
    if (second.head->total <= first.head->total)
        return;
    lg__run_uncommit_stage(run(), slot, LG_STAGE_DWARF);
    memcpy(first.head, &other, lg__frames_size(&second));
    lg__run_commit(run(), slot, LG_STAGE_DWARF, lg__frames_size(&second));
}

void lg__stages_walk_crashed(const struct lg__crash *crash, unsigned stage)
{
    const unsigned slot = lg__crash_slot_of(crash);
    struct lg__frames frames = frames_of(slot, stage);
    if (lg__run_is_committed(run(), slot, stage))
        return; /* the walk was whole, and the crash came after the walk */
    if (frames.head->stored > frames.capacity)
        frames.head->stored = 0;
    lg__frames_finish(&frames, LG__WALK_RECRASH);
    lg__run_commit(run(), slot, stage, lg__frames_size(&frames));
}

void lg__stages_done(uint32_t skipped)
{
    struct lg__crash_done *done = lg__run_stage(run(), 0, LG_STAGE_DONE);
    done->monotonic_ns = lg__os_clock_ns(CLOCK_MONOTONIC);
    done->skipped = skipped;
    lg__run_commit(run(), 0, LG_STAGE_DONE, sizeof *done);
}
