/* The crashes of this process whose fate is open, and the crash lock. docs/CRASH.md. */
#ifndef LG_CAPTURE_CRASH_H
#define LG_CAPTURE_CRASH_H

#include "capture/crash_next.h"
#include "capture/fixed.h"

/* As many as the run file has records: the full one and the brief ones. */
#define LG__CRASHES (1 + LG__BRIEFS)

/* One crash. Its thread fills everything but the three words before the state is one in which other
 * threads look at it; a reader compares the word again after its look. */
struct lg__crash {
    _Atomic uint64_t word;        /* sequence number, enum lg__crash_state */
    /* CLOCK_MONOTONIC, of RECORDING, CHAINED and ENDING; 0: none yet. Where the place of the thread
     * is not known then, a later time to look again. */
    _Atomic uint64_t deadline_ns;
    _Atomic uint64_t handler_ns;  /* the first deadline of CHAINED */
    _Atomic uint64_t looked_ns;   /* CLOCK_MONOTONIC of the last signal of its timer */
    _Atomic uint64_t left_ns;     /* CLOCK_MONOTONIC when its handler was left */
    /* Its thread, and how often the handler of a question began and ended there. */
    _Atomic uint64_t visits;
    _Atomic long timer;           /* of CHAINED: number of a timer of the kernel; −1: none */
    int32_t tid;
    uint32_t depth;  /* crashes that it is known to be inside of, one in the other */
    uint32_t within; /* sequence number of the outermost of those; 0: none */
    bool siginfo_lost;
    /* Its record is brief because the handler recovers as a rule. The rest is written where the
     * handler does not (recovering.c). */
    bool owes;
    siginfo_t info;
    uint64_t handler_sp;    /* stack pointer of our handler, which calls the earlier one */
    uint64_t altstack_low;  /* lower end of the alternate stack that it runs on; 0: it does not */
    uint64_t return_pc;     /* the return address of the earlier handler */
    uint64_t stack_low, stack_high; /* of its thread; zeros if unknown */
};
extern struct lg__crash lg__crash_slots[LG__CRASHES] __attribute__((visibility("hidden")));

/* The calling thread is in the handler of a crash, before the earlier handler. Initial-exec: exists
 * with the thread. */
extern __thread bool lg__crash_entered __attribute__((tls_model("initial-exec")));

/* ---- the crash lock: held while a record is written, or until the process dies. Handler. ---- */

/* The holder of the lock, until that thread has asked for its number. The lock knows the place of
 * its handler's frame meanwhile. */
#define LG__CRASH_UNNAMED INT32_MAX

/* Take the lock. false: a thread has it; ask again after lg__crash_wait(), with `has_waited`. A
 * thread that waits gets its turn before one that comes later. */
bool lg__crash_lock(int32_t self, bool has_waited);
/* Give the holder without a number, which is the calling thread, its number. `frame`: as given to
 * lg__crash_begin_unnamed(). false: another thread took the lock over. */
bool lg__crash_name(int32_t self, const void *frame);
/* Whether the holder without a number is the calling thread, which was interrupted with the stack
 * pointer `sp` before it could ask. */
bool lg__crash_is_unnamed_self(uint64_t sp);
/* Take the lock over from the holder without a number. false: it has its number by now. */
bool lg__crash_take_over(int32_t self);
void lg__crash_wait(uint64_t timeout_ns);
void lg__crash_unlock(void);
/* The thread that has the lock; 0: none. */
int32_t lg__crash_holder(void);

/* ---- one crash. Handler. ---- */

/* Take the lock without a number, and begin a crash in a slot that no crash had before, so that
 * nothing is lost where lg__crash_take_back() follows. Makes no system call and uses no
 * thread-local variable. `frame`: of the handler. NULL: a thread has the lock, or there is no such
 * slot. */
struct lg__crash *lg__crash_begin_unnamed(int signal, const siginfo_t *info, const void *frame);
/* That crash was no crash. Opens the lock. */
void lg__crash_take_back(struct lg__crash *crash);
/* A new crash, in the slot that lg__crash_next_slot() returns. `earlier`: the crash has begun
 * already, and is to leave its slot if that is of the other kind; it keeps its number. `brief`: not
 * in the full record. Under the lock. */
struct lg__crash *lg__crash_begin(int32_t tid, const siginfo_t *info, bool siginfo_lost, struct lg__crash *earlier, bool brief);
/* After lg__crash_begin() gave the crash another slot, and what the earlier slot has is in the new
 * one: the earlier is free. */
void lg__crash_leave(struct lg__crash *earlier);
/* The full record is there for another crash. Under the lock. */
bool lg__crash_is_full_free(void);
/* The open crash with this number; NULL: there is none. */
struct lg__crash *lg__crash_find(uint32_t sequence);

/* An earlier handler of this fault signal was seen to recover from a crash. */
bool lg__crash_recovers(int signal);
/* It recovered from so many crashes that it is expected to recover from the next one. */
bool lg__crash_recovers_often(int signal);
/* The signal has another handler now. */
void lg__crash_distrust(int signal);

/* In a forked child: the crashes of the parent are none of its own. */
void lg__crash_forget(void);

/* The crash that is being recorded, or that the process dies of; NULL: none. Under the lock. */
struct lg__crash *lg__crash_current(void);

static inline unsigned lg__crash_slot_of(const struct lg__crash *crash)
{
    return (unsigned)(crash - lg__crash_slots);
}
static inline enum lg__crash_state lg__crash_state(uint64_t word)
{
    return (enum lg__crash_state)(word & 0xff);
}
static inline uint32_t lg__crash_sequence(uint64_t word)
{
    return (uint32_t)(word >> 8);
}

/* An event for the crash with this sequence number, by the table. Returns true when the state has
 * changed: the caller then does what the row says. */
bool lg__crash_event(struct lg__crash *crash, uint32_t sequence, enum lg__crash_event event, bool unseen);
/* The signal of a crash has its default action now, or is ignored and would end the process. */
bool lg__crash_action_is_default(int signal);
/* The handler of a crash was left at least a second ago. */
bool lg__crash_settled(const struct lg__crash *crash, uint64_t now_ns);

#endif
