/* Entry of the signal handlers. */
#include <errno.h>

#include "capture/deadline.h"
#include "capture/internal.h"
#include "capture/in_handler.h"
#include "capture/recovering.h"
#include "capture/repeating.h"
#include "capture/walk_here.h"
#include "capture/watch_walk.h"
#include "os/arch_inline.h"
#include "os/fault_point.h"

#define FIRST_CHANCES 4
static lg__first_chance first_chances[FIRST_CHANCES] LG__SMALL;
static unsigned first_chance_count LG__SMALL;
static _Atomic(lg__first_chance) last_chance;

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

void lg__capture_set_program_chance(lg__first_chance function)
{
    atomic_store_explicit(&last_chance, function, memory_order_release);
}

/* Between abort() and its system call are two or three small frames. */
#define ABORT_WORDS 128u
/* No libc's abort() is longer; what lies after it raises nothing. */
#define ABORT_BYTES 512u

/* A signal that has come to our handler. */
struct arrival {
    int signal;
    siginfo_t *info;
    void *ucontext;
    uint64_t sp;
    bool sent;    /* from outside */
    bool owner;   /* this is the process of the session, no child of it */
    bool outer;   /* the thread was in the handler of a crash already */
    bool siginfo_lost;
    bool blocked; /* by the program: the kernel would end the process and ask no handler */
    bool aborts;  /* by abort(), on a thread that blocks SIGABRT */
    bool repeats; /* its handler does not mend it, and the process ends by it */
    struct lg__crash *begun; /* in the first step; NULL: none, or taken back */
    siginfo_t unknown;       /* in place of one that was lost */
};

static bool take_first_chance(const struct arrival *at)
{
    for (unsigned i = 0; i < first_chance_count; i++)
        if (first_chances[i](at->signal, at->info, at->ucontext))
            return true;
    return false;
}

/* Where the stack pointer does not show the place, a walk finds it. The walk needs memory that the
 * crash lock guards, as another thread may be recording a crash. */
static bool may_be_inside(const struct lg__crash *crash, int32_t self, const void *ucontext)
{
    struct lg__arch_fault fault;
    lg__arch_fault(ucontext, &fault);
    const bool has_lock = lg__crash_holder() == self;
    return (has_lock ? lg__in_handler_of_context(crash, ucontext) : lg__in_handler_by_stack(crash, fault.sp)) != LG__IN_HANDLER_NO;
}

/* The interrupted context is inside the earlier handler of a crash, or may be. */
static bool is_in_earlier_handler(const void *ucontext)
{
    const int32_t self = lg__os_tid();
    for (int i = 0; i < LG__CRASHES; i++) {
        const struct lg__crash *crash = &lg__crash_slots[i];
        const uint32_t state = lg__crash_state(atomic_load(&crash->word));
        if (crash->tid == self && lg__crash_next_is_open(state) && state != LG__CRASH_LEFT && may_be_inside(crash, self, ucontext))
            return true;
    }
    return false;
}

/* A fault of an instruction of the program, outside of all handlers of ours. */
static bool take_program_chance(const struct arrival *at)
{
    const lg__first_chance function = atomic_load_explicit(&last_chance, memory_order_acquire);
    return function && at->owner && !at->outer && !at->sent && !at->siginfo_lost && !lg__capture_is_exempt() &&
           !is_in_earlier_handler(at->ucontext) && function(at->signal, at->info, at->ucontext);
}

/* Other code took SA_SIGINFO from our handler: siginfo is not filled. The fault of an instruction
 * comes again when the instruction is repeated, with the handler as it should be. For any other
 * signal only the number is known. With keep_first no other code replaces our handler. */
static bool repeat_for_siginfo(struct arrival *at)
{
    struct lg__arch_fault fault;
    if (lg__fixed.options.keep_first || !lg__disposition_lost_siginfo(at->signal))
        return false;
    lg__arch_fault(at->ucontext, &fault);
    lg__install_again(at->signal);
    memset(&at->unknown, 0, sizeof at->unknown);
    at->unknown.si_signo = at->signal;
    at->unknown.si_code = SI_KERNEL;
    at->info = &at->unknown;
    at->siginfo_lost = true;
    return (fault.trap || fault.error) && at->signal != SIGTRAP && at->signal != SIGABRT;
}

/* An earlier handler that crashes inside itself over and over would do so for ever: each time the
 * kernel begins anew at the top of the alternate stack. */
#define DEPTH_MAX 8u

/* The outermost crash that a new crash of this thread is inside of; the ones between the two may be
 * displaced. An earlier crash whose handler the thread has left was survived: the thread went on
 * from there. */
static void look_back(int32_t self, const void *ucontext, uint32_t *ret_within, uint32_t *ret_depth)
{
    *ret_within = *ret_depth = 0;
    for (int i = 0; i < LG__CRASHES; i++) {
        struct lg__crash *crash = &lg__crash_slots[i];
        uint64_t word = atomic_load(&crash->word);
        uint32_t sequence = lg__crash_sequence(word);
        if (crash->tid != self || !lg__crash_next_is_open(lg__crash_state(word)))
            continue;
        enum lg__in_handler place = lg__crash_state(word) == LG__CRASH_LEFT ? LG__IN_HANDLER_NO : lg__in_handler_of_context(crash, ucontext);
        if (place == LG__IN_HANDLER_NO) {
            lg__crash_event(crash, sequence, LG__CRASH_REPEATS, false);
            continue;
        }
        if (*ret_within == 0 || sequence < *ret_within)
            *ret_within = sequence;
        if (place == LG__IN_HANDLER_YES && crash->depth >= *ret_depth)
            *ret_depth = crash->depth + 1;
    }
}

/* The first step, before any system call and any access to a thread-local variable: a filter of
 * system calls or a lost thread pointer may end the process there. NULL: another crash is being
 * recorded, or the program survived many; or this is a forked child. */
LG__FIRST static struct lg__crash *begin_record(int signal, const siginfo_t *info, const void *ucontext, const void *frame)
{
    lg__stages_expect();
    if (!lg__fixed.unforked || !atomic_load_explicit(lg__fixed.unforked, memory_order_relaxed))
        return NULL;
    /* Our own file was cut, and the record may be gone with it: a second SIGBUS would end the
     * process, until the signal is unblocked. */
    if (signal == SIGBUS && lg__map_holds(info->si_addr))
        return NULL;
    struct lg__crash *crash = lg__crash_begin_unnamed(signal, info, frame);
    if (crash)
        lg__stages_first(crash, ucontext);
    return crash;
}

/* The earlier handler of another thread's crash has set the default action, as the program sees it,
 * and ends the process by a signal to the process, which any thread may get. The signal belongs to
 * the thread whose crash is the cause. */
static bool pass_on(const struct arrival *at)
{
    if (!at->owner || !lg__fixed.options.keep_first || at->info->si_code != SI_USER || at->info->si_pid != lg__fixed.pid)
        return false;
    const struct lg__earlier earlier = lg__earlier_of(at->signal);
    const int32_t self = lg__os_tid();
    for (int i = 0; i < LG__CRASHES && earlier.handler == (uintptr_t)SIG_DFL; i++) {
        const struct lg__crash *crash = &lg__crash_slots[i];
        if (!lg__crash_next_is_open(lg__crash_state(atomic_load(&crash->word))) || crash->info.si_signo != at->signal || crash->tid == self)
            continue;
        /* the kernel lets only the first thread queue the siginfo of a kill() */
        siginfo_t queued = *at->info;
        queued.si_code = SI_QUEUE;
        if (lg__os_signal_queue(lg__fixed.pid, crash->tid, at->signal, &queued) == 0)
            return true;
    }
    return false;
}

/* Its address marks the siginfo of a kill() that was sent again. */
static const char sent_by_kill;

/* The signal comes again as it was sent: to the handlers of the program, and in the record. */
LG__FIRST static void restore_sender(siginfo_t *info)
{
    if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &sent_by_kill)
        return;
    info->si_code = SI_USER;
    info->si_value.sival_ptr = NULL;
}

/* Put a signal that was sent back to where it waits while it is blocked: the whole process, or this
 * thread. The kernel lets only the first thread queue the siginfo of a kill(). */
static bool send_again(const struct arrival *at, bool to_thread)
{
    const pid_t pid = lg__os_pid();
    siginfo_t info = *at->info;
    if (info.si_code == SI_USER && lg__os_tid() != pid) {
        info.si_code = SI_QUEUE;
        info.si_value.sival_ptr = (void *)(uintptr_t)&sent_by_kill;
    }
    lg__os_signal_block(at->signal, true);
    return (to_thread ? lg__os_signal_queue(pid, lg__os_tid(), at->signal, &info) : lg__os_signal_queue_process(pid, at->signal, &info)) == 0;
}

/* abort() raises the signal, and ends the process if it goes on. It does not return: its return
 * address is on the stack only while it runs, near the end. */
static bool is_of_abort(const siginfo_t *info, uint64_t sp)
{
    uint64_t word;
    if (!lg__libc_shut_abort || info->si_signo != SIGABRT || info->si_code != SI_TKILL || info->si_pid != lg__fixed.pid)
        return false;
    for (unsigned i = 0; i < ABORT_WORDS && lg__memory_word(sp + i * sizeof word, &word); i++)
        if (lg__arch_code_address(word) - lg__libc_shut_abort - 1 < ABORT_BYTES)
            return true;
    return false;
}

/* The signal was sent to a thread that would block it without LaunchGuard: by its mask, or inside a
 * handler that recovers. */
static bool defer(const struct arrival *at)
{
    if (at->info->si_code > 0 || at->aborts)
        return false;
    if (!at->blocked && !(at->owner && lg__recovering_defers(at->signal, at->sp)))
        return false;
    if (!send_again(at, !at->blocked || at->info->si_code == SI_TKILL))
        return false;
    lg__arch_block_on_return(at->ucontext, at->signal);
    return true;
}

/* The thread already records a crash of its own, and takes no second one. */
static bool drop_further(const struct arrival *at)
{
    if (!at->sent || !(at->outer || (!at->begun && lg__crash_holder() == lg__os_tid())))
        return false;
    lg__arch_block_on_return(at->ucontext, at->signal);
    return true;
}

/* A fault of the watch thread inside a walk: does not return. */
static bool leave_watch_walk(const struct arrival *at)
{
    if (lg__memory_walker != LG__WALKER_WATCH || lg__fixed_is_sent(at->info))
        return false;
    lg__crash_entered = at->outer;
    lg__watch_walk_recover();
    lg__crash_entered |= at->owner;
    return false;
}

/* The signal is no crash. The first claim that is true has done all the work. The first part of the
 * header is committed before: a filter may end the process at a call of ours here. */
static bool is_claimed(struct arrival *at)
{
    return drop_further(at) ||        /* sent over and over: the kernel would stack up handlers */
           repeat_for_siginfo(at) ||  /* siginfo is missing: the signal comes again, whole */
           defer(at) ||               /* as the kernel would: it comes when that handler returns */
           take_first_chance(at) ||   /* a file of ours was cut; or meant for another thread */
           lg__walk_here_takes(at->signal, at->info, at->ucontext) || /* the walk of a guard ends */
           pass_on(at) ||             /* for the thread whose crash is the cause */
           take_program_chance(at) || /* a guard makes up for it */
           leave_watch_walk(at);      /* a stack that the program changed meanwhile */
}

/* The crash that the first step began may be one of this process. It is none in a vforked child,
 * which has our memory, or where a thread of ours got a signal of the program. */
static bool may_be_crash(const struct arrival *at)
{
    return at->owner && !(at->sent ? lg__capture_is_exempt() : lg__memory_walker == LG__WALKER_WATCH);
}

/* The handler of the program recovers from such crashes as a rule. */
static bool is_expected(const struct arrival *at)
{
    return lg__crash_recovers(at->signal) && !at->repeats && !at->blocked && !at->siginfo_lost && !lg__fixed_is_sent(at->info) && lg__run_keeps_briefs(&lg__fixed.options.run);
}

static void take_back(struct arrival *at)
{
    if (at->begun)
        lg__crash_take_back(at->begun);
    at->begun = NULL;
}

/* Record the crash. NULL: this thread crashed while it wrote a record or died, and no earlier
 * handler is called for that. */
static struct lg__crash *record(const struct arrival *at)
{
    const int32_t self = at->begun ? lg__crash_holder() : lg__os_tid();
    if (!at->begun && !lg__wait_for_lock(at->signal, self, at->ucontext)) {
        struct lg__crash *current = lg__crash_current();
        if (lg__crash_holder() != self)
            return NULL;
        if (!lg__fixed_is_sent(at->info)) {
            lg__memory_recover();
            /* does not return while a stage can still be left out */
            lg__record_recrash(at->signal, at->ucontext);
        }
        if (current)
            lg__crash_event(current, lg__crash_sequence(atomic_load(&current->word)), LG__CRASH_DIES, false);
        return NULL;
    }
    uint32_t within, depth;
    look_back(self, at->ucontext, &within, &depth);
    const bool expected = is_expected(at);
    struct lg__crash *crash = lg__crash_begin(self, at->info, at->siginfo_lost, at->begun, expected);
    if (at->begun && at->begun != crash) {
        lg__stages_first(crash, at->ucontext);
        lg__crash_leave(at->begun);
    }
    LG_FAULT_POINT("lock: taken");
    crash->depth = depth;
    crash->within = within;
    crash->owes = expected;
    lg__run_within(&lg__fixed.options.run, lg__crash_slot_of(crash), within);
    lg__record_write(crash, at->ucontext);
    LG_FAULT_POINT("handler: recorded");
    return crash;
}

/* The rest of the work for a signal. */
struct rest {
    struct lg__crash *crash;
    bool chain;
    int error; /* errno */
};

/* Arguments and result of handle(). */
struct work {
    int signal;
    siginfo_t *info;
    void *ucontext;
    const void *frame;
    struct lg__crash *begun;
    struct rest rest;
    bool goes_on;
};

/* false: nothing is left to do. Not inlined: before this no thread-local variable has a known
 * place. */
static __attribute__((noinline)) bool handle(int signal, siginfo_t *info, void *ucontext, const void *frame, struct lg__crash *begun, struct rest *ret_rest)
{
    struct arrival at = { .signal = signal, .info = info, .ucontext = ucontext, .sp = lg__arch_interrupted_sp(ucontext), .sent = lg__fixed_is_sent(info),
                          .owner = lg__fixed_unforked(), .outer = lg__crash_entered,
                          .blocked = !lg__capture_is_exempt() && lg__mask_holds(ucontext, signal) };
    at.aborts = at.blocked && is_of_abort(info, at.sp);
    ret_rest->error = errno;
    /* else a thread that waited for the lock has it now */
    at.begun = begun && lg__crash_name(lg__os_tid(), frame) ? begun : NULL;
    if (!at.sent)
        lg__os_signal_block(signal, false);
    lg__crash_entered |= at.owner; /* not in a vforked child, which runs in our memory */
    if (at.begun && !may_be_crash(&at))
        take_back(&at);
    if (is_claimed(&at)) {
        take_back(&at);
        lg__crash_entered = at.outer;
        errno = ret_rest->error;
        return false;
    }
    at.repeats = at.owner && !at.sent && !at.siginfo_lost && lg__repeating_comes(info, ucontext);
    const bool ends = at.repeats || at.blocked || (at.owner && lg__recovering_defers(signal, at.sp));
    if (at.owner && !at.outer && lg__recovering_is_ended(at.sp, is_expected(&at))) {
        take_back(&at); /* the record of the fault that the handler has comes first */
        lg__recovering_ends(at.sp);
    }
    struct lg__crash *crash = at.owner ? record(&at) : NULL;
    if (crash)
        lg__in_handler_enter(crash, frame, ucontext);
    lg__crash_entered = false; /* an earlier handler need not return */
    ret_rest->crash = crash;
    ret_rest->chain = crash ? crash->depth <= DEPTH_MAX && !ends : !at.owner && !at.blocked;
    return true;
}

static void work(void *argument)
{
    struct work *work = argument;
    work->goes_on = handle(work->signal, work->info, work->ucontext, work->frame, work->begun, &work->rest);
}

static __attribute__((noinline)) void set_errno(int error)
{
    errno = error;
}

LG__FIRST LG__ARCH_HANDLER(lg__handler_crash)
{
    lg__arch_enter_handler();
    /* Somebody sent it, unless other code took SA_SIGINFO. */
    const bool is_told_as_sent = info->si_signo == SIGSYS && info->si_code <= 0;
    if (signal == SIGSYS && !is_told_as_sent && lg__arch_refused(ucontext))
        return;
    restore_sender(info);
    if (lg__fixed.options.keep_first && lg__finish_unrecorded(signal, info, ucontext))
        return;
    const void *frame = __builtin_frame_address(0);
    struct work todo = { .signal = signal, .info = info, .ucontext = ucontext, .frame = frame, .begun = begin_record(signal, info, ucontext, frame) };
    LG_FAULT_POINT("handler: first");
    struct lg__os_borrowed borrowed;
    const bool borrows = lg__os_thread_borrow(&borrowed);
    if (lg__handler_stack_is_small(ucontext, frame))
        lg__handler_stack_call(work, &todo);
    else
        work(&todo);
    if (borrows)
        lg__os_thread_give_back(&borrowed);
    if (todo.goes_on)
        lg__finish(signal, info, ucontext, todo.rest.crash, todo.rest.chain);
    if (!borrows)
        set_errno(todo.rest.error);
}

/* SIGTERM, SIGINT, SIGHUP: leave the mark, then do what would have happened. A program with a
 * handler of its own may live on; the watch thread notes for how long. A program without a handler
 * dies here and now, and no thread must be seen alive after the mark.
 *
 * To a program with a handler SIGHUP is mostly the request to read its configuration again, and a
 * handler that returns goes on: seen alive. A supervisor may send SIGHUP after SIGTERM, whose mark
 * then stays. */
LG__ARCH_HANDLER(lg__handler_terminate)
{
    lg__arch_enter_handler();
    int error = errno;
    struct lg__state *state = lg__fixed.options.run.state;
    bool goes_on = false;
    if (lg__fixed_unforked()) {
        const struct lg__earlier earlier = lg__earlier_of(signal);
        bool sent = lg__fixed_has_sender(info), kept = earlier.handler != (uintptr_t)SIG_DFL;
        int32_t noted = atomic_load_explicit(&state->term_signal, memory_order_relaxed);
        bool marked = !(signal == SIGHUP && kept && (noted == SIGTERM || noted == SIGINT));
        goes_on = marked && signal == SIGHUP && kept;
        if (marked) {
            atomic_store_explicit(&state->term_ns, lg__os_clock_ns(CLOCK_MONOTONIC), memory_order_relaxed);
            atomic_store_explicit(&state->term_pid, sent ? info->si_pid : 0, memory_order_relaxed);
            atomic_store_explicit(&state->term_uid, sent ? info->si_uid : 0, memory_order_relaxed);
            atomic_store_explicit(&state->term_kept, kept, memory_order_relaxed);
            atomic_store_explicit(&state->term_signal, signal, memory_order_release);
        }
        if (kept)
            lg__capture_wake_watch();
    }
    lg__finish(signal, info, ucontext, NULL, true);
    if (goes_on && atomic_load_explicit(&state->term_signal, memory_order_relaxed) == SIGHUP)
        atomic_store_explicit(&state->term_alive_ns, lg__os_clock_ns(CLOCK_MONOTONIC), memory_order_relaxed);
    errno = error;
}
