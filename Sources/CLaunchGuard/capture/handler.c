/* Entry of the crash handlers: whose crash is it, is it the first, which stage goes wrong. */
#include <errno.h>
#include <sys/mman.h>

#include "capture/internal.h"
#include "os/fault_point.h"

struct lg__capture lg__capture;

/* Crashes; then limits, a request for a dump, and a lost reader: those four leave a record only where they would end the process. */
const int lg__capture_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGXCPU, SIGXFSZ, SIGQUIT, SIGPIPE, 0 };
#define CRASH_COUNT 7
#define RECORD_COUNT (sizeof lg__capture_signals / sizeof lg__capture_signals[0] - 1)
static const int terminate_signals[] = { SIGTERM, SIGINT, SIGHUP };
#define TERMINATE_COUNT (sizeof terminate_signals / sizeof terminate_signals[0])

/* More crashes than stages inside one handler: something is wrong beyond leaving a stage out. */
#define RECRASHES_MAX 8u

/* How long the record waits for what was written to standard error just before. */
#define TAIL_WAIT_NS UINT64_C(100000000)

/* How often a thread that crashed second looks whether the first one has gone on. */
#define LOOK_NS UINT64_C(20000000)

#define FIRST_CHANCES 4
static lg__first_chance first_chances[FIRST_CHANCES];
static unsigned first_chance_count;

bool lg__capture_add_first_chance(lg__first_chance function)
{
    for (unsigned i = 0; i < first_chance_count; i++)
        if (first_chances[i] == function)
            return true;
    if (first_chance_count == FIRST_CHANCES)
        return false;
    first_chances[first_chance_count++] = function;
    return true;
}

/* True in the process that started the session; false in its children. The pid by system call, because a vforked child has all
 * of our memory; the page, because a child in a new pid namespace may have our pid. */
bool lg__capture_owner(void)
{
    return lg__os_pid() == lg__capture.pid && lg__capture.owns && atomic_load_explicit(lg__capture.owns, memory_order_relaxed);
}

/* Stages as capture() runs them, with what belongs to a stage but is done when it is committed: libunwind walks where our own walk crashed,
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

/* Write the record. Runs the stages in order of commit, the cheapest and surest first; a crash inside one comes back to the
 * jump target, costs that stage alone, and the next one follows. */
static __attribute__((noinline)) void capture(int signal, const siginfo_t *info, bool siginfo_lost, const void *ucontext)
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
    lg__deadline_disarm();
}

/* A second crash on the thread whose crash is being recorded. Does not return while a stage can still be left out. */
static __attribute__((noinline)) void recrash(int signal, const void *ucontext)
{
    struct lg__arch_fault fault;
    if (atomic_exchange(&lg__capture.reading, false))
        lg__arch_jump(&lg__capture.read_mark);
    /* Counted before the note, whose own store may be what crashes. */
    if (lg__capture.recrashes++ >= RECRASHES_MAX)
        return;
    lg__arch_fault(ucontext, &fault);
    lg__run_note(&lg__capture.options.run, LG_NOTE_RECRASH, signal, lg__os_tid(), atomic_load(&lg__capture.stage), fault.pc);
    if (atomic_load(&lg__capture.phase) == LG__PHASE_CAPTURING)
        lg__arch_jump(&lg__capture.stage_mark);
}

/* How far below an alternate stack its overflow may come to light. */
#define OVERFLOW_REACH UINT64_C(65536)

/* True when a stack pointer belongs to the earlier handler that ours called, and not to the program after that one jumped out. */
static bool inside_chain(uint64_t sp, const stack_t *altstack)
{
    uint64_t handler = atomic_load(&lg__capture.chain_sp), own_low, own_high;
    uint64_t low = (uint64_t)(uintptr_t)altstack->ss_sp, high = low + altstack->ss_size;
    if (handler < low || handler >= high)
        return sp < handler;
    if (sp >= low) /* ours runs on the alternate stack: so does what it called */
        return sp < handler;
    /* What it called ran out of that stack; unless the thread's own lies there. */
    lg__altstack_bounds(&own_low, &own_high);
    return sp + OVERFLOW_REACH >= low && !(sp >= own_low && sp < own_high);
}

enum lg__place lg__capture_place(const void *ucontext)
{
    const stack_t *altstack = &((const ucontext_t *)ucontext)->uc_stack;
    uint64_t handler = atomic_load(&lg__capture.chain_sp), low = (uint64_t)(uintptr_t)altstack->ss_sp;
    struct lg__arch_fault context;
    if (!handler)
        return LG__PLACE_OUTSIDE; /* it returned */
    /* On its own stack a program that went on may well be deeper than the handler was: only the alternate stack tells. */
    if (handler < low || handler >= low + altstack->ss_size)
        return LG__PLACE_UNKNOWN;
    lg__arch_fault(ucontext, &context);
    return inside_chain(context.sp, altstack) ? LG__PLACE_INSIDE : LG__PLACE_OUTSIDE;
}

bool lg__capture_busy(void)
{
    return atomic_load(&lg__capture.latch) != 0;
}

bool lg__capture_inside(void)
{
    stack_t altstack;
    return atomic_load(&lg__capture.phase) == LG__PHASE_CHAINING && atomic_load(&lg__capture.latch) == (uint32_t)lg__os_tid() &&
           sigaltstack(NULL, &altstack) == 0 && inside_chain((uint64_t)(uintptr_t)__builtin_frame_address(0), &altstack);
}

/* A signal that came from outside is no crash of the stage that it interrupted. What abort() and raise() send is. */
bool lg__capture_sent(const siginfo_t *info)
{
    return info->si_code <= 0 && !(info->si_code == SI_TKILL && info->si_pid == lg__capture.pid);
}

/* Become the one crash that is recorded. false: it happened while that crash was dealt with, and the rest is done. */
static bool take_latch(int signal, const siginfo_t *info, const ucontext_t *ucontext)
{
    uint32_t self = (uint32_t)lg__os_tid();
    uint64_t until = 0;
    bool was_outside = false;
    for (;;) {
        uint32_t owner = 0;
        if (atomic_compare_exchange_strong(&lg__capture.latch, &owner, self))
            break;
        uint32_t sequence = lg__capture.sequence;
        bool chaining = atomic_load(&lg__capture.phase) == LG__PHASE_CHAINING;
        if (owner == self) {
            struct lg__arch_fault fault;
            lg__arch_fault(ucontext, &fault);
            if (!chaining || inside_chain(fault.sp, &ucontext->uc_stack)) {
                if (!lg__capture_sent(info))
                    recrash(signal, ucontext);
                return false;
            }
            break; /* the earlier handler jumped out and the program went on: this is a new crash */
        }
        if (!until) {
            struct lg__arch_fault fault;
            lg__arch_fault(ucontext, &fault);
            lg__run_note(&lg__capture.options.run, LG_NOTE_ALSO_CRASHED, signal, (int)self, atomic_load(&lg__capture.stage), fault.pc);
            /* Without an alternate stack it cannot tell; after the time for both it is not believed to come back. */
            until = lg__os_clock_ns(CLOCK_MONOTONIC) +
                    ((uint64_t)lg__capture.options.deadline_ms + lg__capture.options.handler_ms) * 1000000u;
        }
        /* Wait for the other crash to end the process. An earlier handler may have taken it back and jumped out: that thread tells. */
        lg__os_futex_wait((const uint32_t *)&lg__capture.latch, owner, LOOK_NS);
        bool over = lg__os_clock_ns(CLOCK_MONOTONIC) > until;
        if (!chaining || sequence != lg__capture.sequence)
            continue;
        /* Twice: it may have come out to die at once. */
        bool outside = lg__threads_probe((int32_t)owner) == LG__PLACE_OUTSIDE;
        if ((over || (outside && was_outside)) && atomic_compare_exchange_strong(&lg__capture.latch, &owner, self))
            break;
        was_outside = outside;
    }
    if (lg__capture.sequence)
        lg__run_uncommit(&lg__capture.options.run);
    atomic_store(&lg__capture.phase, LG__PHASE_IDLE);
    return true;
}

/* Somebody took SA_SIGINFO from our handler: `info` is not filled. Faults of an instruction happen again when it is repeated, with the handler as it
 * should be; of anything else the signal itself is all that is known. True: repeat. */
static bool mend_siginfo(int signal, siginfo_t *info, const void *ucontext)
{
    struct lg__arch_fault fault;
    lg__arch_fault(ucontext, &fault);
    lg__capture_install_again(signal);
    if (fault.trap && signal != SIGTRAP && signal != SIGABRT)
        return true;
    memset(info, 0, sizeof *info);
    info->si_signo = signal;
    info->si_code = SI_KERNEL;
    return false;
}

/* This thread is inside on_crash(), before the earlier handler. Initial-exec: exists with the thread. */
static __thread bool entered __attribute__((tls_model("initial-exec")));

static void on_crash(int signal, siginfo_t *info, void *ucontext)
{
    siginfo_t unknown;
    lg__arch_enter_handler();
    if (signal == SIGSYS && lg__arch_refused(ucontext))
        return;
    /* A signal that somebody sends while this thread's crash is dealt with already: not one more of them. */
    if (entered && lg__capture_sent(info)) {
        lg__arch_block_on_return(ucontext, signal);
        return;
    }
    if (!lg__capture_sent(info))
        lg__os_signal_block(signal, false);
    bool owner = lg__capture_owner(), outer = entered;
    entered |= owner; /* not in a vforked child, whose memory this is not */
    int error = errno;
    if (lg__disposition_lost_siginfo(signal)) {
        info = &unknown;
        if (mend_siginfo(signal, info, ucontext)) {
            entered = outer;
            return;
        }
    }
    for (unsigned i = 0; i < first_chance_count; i++)
        if (first_chances[i](signal, info, ucontext)) {
            entered = outer;
            errno = error;
            return;
        }
    bool chain = true, captured = owner && take_latch(signal, info, ucontext);
    if (captured) {
        capture(signal, info, info == &unknown, ucontext);
        atomic_store(&lg__capture.chain_sp, (uint64_t)(uintptr_t)__builtin_frame_address(0));
        atomic_store(&lg__capture.phase, LG__PHASE_CHAINING);
    } else if (owner) {
        chain = atomic_load(&lg__capture.phase) == LG__PHASE_CHAINING; /* inside an earlier handler: as if we were not there */
    }
    entered = false; /* an earlier handler need not return */
    lg__finish(signal, info, ucontext, chain, captured);
    errno = error;
}

/* SIGTERM, SIGINT, SIGHUP: leave the mark, then do what would have happened. */
static void on_terminate(int signal, siginfo_t *info, void *ucontext)
{
    lg__arch_enter_handler();
    int error = errno;
    if (lg__capture_owner()) {
        struct lg__state *state = lg__capture.options.run.state;
        bool sent = info->si_code <= 0;
        atomic_store_explicit(&state->term_ns, lg__os_clock_ns(CLOCK_MONOTONIC), memory_order_relaxed);
        atomic_store_explicit(&state->term_pid, sent ? info->si_pid : 0, memory_order_relaxed);
        atomic_store_explicit(&state->term_uid, sent ? info->si_uid : 0, memory_order_relaxed);
        atomic_store_explicit(&state->term_signal, signal, memory_order_release);
    }
    lg__finish(signal, info, ucontext, true, false);
    errno = error;
}

void (*lg__capture_handler(int signal))(int, siginfo_t *, void *)
{
    for (size_t i = 0; i < TERMINATE_COUNT; i++)
        if (terminate_signals[i] == signal)
            return on_terminate;
    return on_crash;
}

/* Without SA_NODEFER: under a storm of signals from outside the kernel would pile up handlers before the first instruction of one ran. A fault
 * inside the handler must come back to it, though: on_crash() unblocks its signal, unless somebody sent it. */
#define RECORD_FLAGS (SA_SIGINFO | SA_ONSTACK)

uint64_t lg__capture_mask(void)
{
    uint64_t mask = UINT64_MAX;
    for (size_t i = 0; i < CRASH_COUNT; i++)
        mask &= ~(UINT64_C(1) << (lg__capture_signals[i] - 1));
    return mask;
}

/* The flags: where an earlier handler, or none because the signal is ignored, lets system calls go on, ours does, too. */
static int record_flags(int signal)
{
    const struct sigaction *previous = &lg__capture.previous[signal];
    bool restart = previous->sa_flags & SA_RESTART || previous->sa_handler == SIG_IGN;
    return RECORD_FLAGS | (restart ? SA_RESTART : 0);
}

void lg__capture_install_again(int signal)
{
    const struct lg__os_disposition ours = { (uintptr_t)on_crash, (unsigned long)record_flags(signal) };
    struct lg__os_disposition before;
    lg__os_signal_take(signal, &ours, lg__capture_mask(), signal, &before);
}

static bool install(int signal)
{
    struct sigaction action = { .sa_sigaction = on_crash, .sa_flags = record_flags(signal) };
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < CRASH_COUNT; i++)
        sigdelset(&action.sa_mask, lg__capture_signals[i]);
    return sigaction(signal, &action, NULL) == 0;
}

/* A signal that the kernel would let end any process but the first of a pid namespace: not even its handler would run. */
static bool is_kept_away(const struct sigaction *previous)
{
    return previous->sa_handler == SIG_DFL && lg__capture.pid == 1;
}

static bool install_record(int signal, bool is_crash)
{
    struct sigaction *previous = &lg__capture.previous[signal];
    if (sigaction(signal, NULL, previous) != 0)
        return false;
    /* What the program ignores, or deals with itself as a part of its work, is not an end. */
    if (!is_crash && (previous->sa_handler == SIG_IGN || (signal == SIGPIPE && previous->sa_handler != SIG_DFL) || is_kept_away(previous)))
        return true;
    lg__capture.installed[signal] = install(signal);
    return lg__capture.installed[signal];
}

static bool install_terminate(int signal)
{
    struct sigaction *previous = &lg__capture.previous[signal];
    struct sigaction action = { .sa_sigaction = on_terminate };
    if (sigaction(signal, NULL, previous) != 0)
        return false;
    if (previous->sa_handler == SIG_IGN || is_kept_away(previous))
        return true; /* ignored stays ignored: there is no end to mark */
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous->sa_flags & (SA_RESTART | SA_NODEFER));
    action.sa_mask = previous->sa_mask;
    lg__capture.installed[signal] = sigaction(signal, &action, NULL) == 0;
    return lg__capture.installed[signal];
}

/* A page that reads 1 here and 0 in a forked child. */
static bool make_owner_page(void)
{
    void *page = mmap(NULL, LG__PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    lg__os_wipe_on_fork(page, LG__PAGE); /* an old kernel: the pid alone has to tell */
    atomic_store((_Atomic uint32_t *)page, 1);
    lg__capture.owns = page;
    return true;
}

bool lg__capture_start(const struct lg__capture_options *options)
{
    lg__capture.options = *options;
    lg__capture.pid = lg__os_pid();
    if (!lg__capture.owns && !make_owner_page())
        return false;
    lg__os_bind();
    lg__files_prepare();
    lg__messages_prepare();
    for (size_t i = 0; i < RECORD_COUNT; i++)
        if (!install_record(lg__capture_signals[i], i < CRASH_COUNT))
            return false;
    for (size_t i = 0; i < TERMINATE_COUNT; i++)
        if (!install_terminate(terminate_signals[i]))
            return false;
    lg__disposition_check_thread();
    return true;
}

const _Atomic uint32_t *lg__capture_owner_flag(void)
{
    return lg__capture.owns;
}

void lg__capture_stop(void)
{
    for (int signal = 1; signal <= SIGSYS; signal++) {
        struct sigaction current;
        if (!lg__capture.installed[signal] || sigaction(signal, NULL, &current) != 0)
            continue;
        if (current.sa_sigaction == on_crash || current.sa_sigaction == on_terminate)
            sigaction(signal, &lg__capture.previous[signal], NULL);
        lg__capture.installed[signal] = false;
    }
}
