/* Every order of events of three threads that crash, explored over the real lg__crash_next() and
 * lg__crash_next_slot().
 *
 * The threads, the kernel and the watch thread are a model here, in the steps of capture/handler.c,
 * finish.c and deadline.c: no other thread can see the middle of one step. Each thread crashes up
 * to twice, and the plan of its earlier handler is open at each crash. There is none, it returns,
 * it removes itself and returns, it is abort()'s, it hangs, it leaves by longjmp, it crashes, it
 * calls exit(); or the record itself hangs, and is cut short or not.
 *
 * Checked in every state and at every end (docs/CRASH.md, section 5): P1, a process that dies of a
 * crash has the crash in its file and not as survived; P2, some step is always possible, and no
 * thread whose earlier handler runs holds the lock; P3, only a thread that hangs is ended for its
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/crash_next.h"

#define THREADS 3
#define SLOTS 3 /* one full record and two brief ones: few enough that crashes are displaced */
#define NESTING 2
#define NOBODY 15

enum plan { NO_HANDLER, RETURNS, RESETS, ABORTS, HANGS, JUMPS, CRASHES, EXITS, RECORD_HANGS, PLANS, RESETS_AND_JUMPS = PLANS, RAISES, PASSES, PASSES_ABORT, ALL_PLANS };
enum at { OUT, WANTS, LOOKS_BACK, BEGINS, WRITES, LETS_GO, UNLOCKS, INSIDE, RETURNING, DYING, GONE };
/* as likely as in docs/FORMAT.md, the likeliest first */
enum outcome { IS_DYING, IS_LEFT, IS_CHAINED, IS_RECORDING, IS_HANDLED };

struct frame { uint8_t plan, slot, sequence; }; /* a crash whose handler the thread is inside */

/* the survival of a crash is about to be stored; slot NOBODY: none is */
struct storing { uint8_t slot, sequence; };

struct thread {
    uint8_t at, depth, left, repeats, is_default;
    struct storing storing;
    struct frame frames[NESTING];
};

struct slot { uint8_t state, sequence, thread, recorded, outcome, within; };

struct state {
    struct thread threads[THREADS];
    struct slot slots[SLOTS];
    uint8_t holder, next, sequence, displaced;
    struct storing watch_storing;
};

/* ---- the rows under test; a mutant changes one of them ---- */

/* unseen −1: the row holds in both cases */
static struct { int from, event, to, unseen; bool on; } mutant;
static bool with_all_plans; /* the rarer plans, too; fewer threads crash then */

static enum lg__crash_state next_state(enum lg__crash_state from, enum lg__crash_event event, bool unseen)
{
    if (mutant.on && mutant.from == (int)from && mutant.event == (int)event && (mutant.unseen < 0 || mutant.unseen == unseen))
        return (enum lg__crash_state)mutant.to;
    return lg__crash_next(from, event, unseen);
}

/* ---- the set of states ---- */

#define TABLE_BITS 23
#define TABLE (1u << TABLE_BITS)
static struct state *table, *stack;
static uint8_t *used;
static size_t stack_size, stack_room, state_count, end_count, step_count;
static const char *wrong; /* the first error */

/* Merge states without a difference that matters: crashes without a reference are forgotten, and
 * numbers keep their order alone. */
static void normalize(struct state *state)
{
    bool used_number[256] = { false };
    uint8_t rank[256], next = 0;
    for (int i = 0; i < THREADS; i++) {
        for (unsigned k = 0; k < NESTING; k++)
            used_number[state->threads[i].frames[k].sequence] = true;
        used_number[state->threads[i].storing.sequence] = true;
    }
    used_number[state->watch_storing.sequence] = true;
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &state->slots[i];
        bool settled = (slot->state == LG__CRASH_SURVIVED || slot->state == LG__CRASH_FREE) && slot->outcome == IS_HANDLED;
        if (settled && !used_number[slot->sequence])
            *slot = (struct slot){ .state = LG__CRASH_FREE };
        used_number[slot->sequence] = used_number[slot->within] = true;
    }
    used_number[0] = true;
    for (int i = 0; i < 256; i++)
        rank[i] = used_number[i] ? next++ : 0;
    for (int i = 0; i < THREADS; i++) {
        for (unsigned k = 0; k < NESTING; k++)
            state->threads[i].frames[k].sequence = rank[state->threads[i].frames[k].sequence];
        state->threads[i].storing.sequence = rank[state->threads[i].storing.sequence];
    }
    state->watch_storing.sequence = rank[state->watch_storing.sequence];
    for (int i = 0; i < SLOTS; i++) {
        state->slots[i].sequence = rank[state->slots[i].sequence];
        state->slots[i].within = rank[state->slots[i].within];
    }
    state->sequence = (uint8_t)(next - 1);
}

/* Threads that may crash equally often are alike. */
static void swap_threads(struct state *state, uint8_t a, uint8_t b)
{
    const struct thread first = state->threads[a];
    state->threads[a] = state->threads[b];
    state->threads[b] = first;
    uint8_t *const names[] = { &state->holder, &state->next, &state->slots[0].thread, &state->slots[1].thread, &state->slots[2].thread };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        *names[i] = *names[i] == a ? b : *names[i] == b ? a : *names[i];
}

static void sort_threads(struct state *state)
{
    for (int round = 0; round < THREADS; round++)
        for (uint8_t i = 0; i + 1 < THREADS; i++)
            if (memcmp(&state->threads[i], &state->threads[i + 1], sizeof state->threads[i]) > 0)
                swap_threads(state, i, (uint8_t)(i + 1));
}

static void add(const struct state *found)
{
    uint64_t hash = UINT64_C(1469598103934665603);
    struct state normal = *found;
    const struct state *const state = &normal;
    normalize(&normal);
    sort_threads(&normal);
    step_count++;
    const uint8_t *bytes = (const uint8_t *)state;
    for (size_t i = 0; i < sizeof *state; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    uint32_t at = (uint32_t)(hash >> 32) & (TABLE - 1);
    for (; used[at]; at = (at + 1) & (TABLE - 1))
        if (memcmp(&table[at], state, sizeof *state) == 0)
            return;
    used[at] = 1;
    table[at] = *state;
    if (++state_count > TABLE / 4 * 3)
        wrong = "there are more states than room";
    if (stack_size == stack_room) {
        stack_room = stack_room ? 2 * stack_room : 1 << 16;
        stack = realloc(stack, stack_room * sizeof *stack);
        assert_non_null(stack);
    }
    stack[stack_size++] = *state;
}

static void check(bool holds, const char *what)
{
    if (!holds && !wrong)
        wrong = what;
}

/* ---- one crash ---- */

static struct frame *top(struct thread *thread)
{
    return &thread->frames[thread->depth - 1];
}

/* Our handler of this crash has not returned. */
static bool is_in_handler_of(const struct thread *thread, uint8_t sequence)
{
    for (unsigned i = 0; i < thread->depth; i++)
        if (thread->frames[i].sequence == sequence)
            return true;
    return false;
}

/* And an earlier handler was called for this crash. */
static bool is_inside(const struct thread *thread, uint8_t sequence)
{
    for (unsigned i = 0; i < thread->depth; i++)
        if (thread->frames[i].sequence == sequence && thread->frames[i].plan < PASSES)
            return true;
    return false;
}

/* Evidence about a crash has come. It counts at once, but never while the signal may come again
 * unseen. */
static void check_evidence(const struct state *state, uint8_t slot, bool is_survived)
{
    bool says_so = state->slots[slot].state == LG__CRASH_SURVIVED;
    check(says_so || !is_survived, "evidence that a crash was survived is not believed");
    check(!says_so || is_survived, "a crash counts as survived too early");
    check(says_so || state->slots[slot].state == LG__CRASH_LEFT, "a crash whose handler was left keeps its slot from later ones");
}

/* Apply an event. A crash that was survived moves to *storing. */
static bool event(struct state *state, uint8_t slot, uint8_t sequence, enum lg__crash_event what, bool unseen, struct storing *storing)
{
    struct slot *of = &state->slots[slot];
    enum lg__crash_state to = next_state((enum lg__crash_state)of->state, what, unseen);
    if (of->sequence != sequence || to == (enum lg__crash_state)of->state)
        return false;
    of->state = (uint8_t)to;
    if (to == LG__CRASH_SURVIVED && storing)
        *storing = (struct storing){ slot, sequence };
    if (to == LG__CRASH_ENDING)
        of->outcome = IS_DYING;
    /* LEFT and HANDLED are stored a moment later, but always in this order */
    if (to == LG__CRASH_LEFT)
        of->outcome = IS_LEFT;
    return true;
}

static void store(struct state *state, struct storing *storing)
{
    struct slot *slot = &state->slots[storing->slot];
    check(slot->sequence != storing->sequence || !is_inside(&state->threads[slot->thread], storing->sequence),
          "a crash is stored as survived while its handler runs");
    if (slot->sequence == storing->sequence && (slot->outcome == IS_CHAINED || slot->outcome == IS_LEFT))
        slot->outcome = IS_HANDLED;
    *storing = (struct storing){ NOBODY, 0 };
}

/* ---- ends ---- */

/* The crash that counts, by docs/FORMAT.md; NULL: the file holds only survived crashes. */
static const struct slot *end_of(const struct state *state)
{
    const struct slot *end = NULL;
    for (int pass = IS_DYING; pass <= IS_CHAINED && !end; pass++)
        for (int i = 0; i < SLOTS; i++)
            if (state->slots[i].recorded && state->slots[i].outcome == pass && (!end || state->slots[i].sequence > end->sequence))
                end = &state->slots[i];
    for (bool found = end != NULL; found && end->within;) {
        found = false;
        for (int i = 0; i < SLOTS; i++)
            if (state->slots[i].recorded && state->slots[i].outcome != IS_HANDLED && state->slots[i].sequence == end->within) {
                end = &state->slots[i];
                found = true;
                break;
            }
    }
    return end;
}

static bool was_survived(const struct state *state, uint8_t sequence)
{
    for (int i = 0; i < SLOTS; i++)
        if (state->slots[i].recorded && state->slots[i].sequence == sequence)
            return state->slots[i].outcome == IS_HANDLED;
    return false;
}

/* The process dies of this crash of a thread. `unseen`: the signal came again with its default
 * action. */
static void dies(const struct state *state, const struct thread *thread, uint8_t sequence, bool unseen)
{
    const struct slot *end = end_of(state);
    end_count++;
    check(!was_survived(state, sequence), "P1: the process dies of a crash that the file calls survived");
    check(end != NULL || (unseen && state->displaced), "P1: the process dies of a crash, and the file holds no crash");
    if (unseen || !end)
        return; /* several crashes may be open: none is known to be the end */
    bool right = end->sequence == sequence;
    /* one crash is ended at its deadline in the same moment in which the process dies of the
     * other */
    for (int i = 0; i < SLOTS; i++)
        right = right || (state->slots[i].state == LG__CRASH_ENDING && state->slots[i].sequence != sequence);
    for (unsigned i = 0; i < thread->depth; i++)
        /* this crash was nested in the other */
        right = right || end->sequence == thread->frames[i].sequence;
    check(right, "P3: the file names another crash than the one that ends the process");
}

/* True while a survival is about to be stored in this slot: an exit waits until it is. */
static bool is_being_stored(const struct state *state, uint8_t slot)
{
    bool is = state->watch_storing.slot == slot && state->watch_storing.sequence == state->slots[slot].sequence;
    for (int i = 0; i < THREADS; i++)
        is = is || (state->threads[i].storing.slot == slot && state->threads[i].storing.sequence == state->slots[slot].sequence);
    return is;
}

/* exit() by a thread outside every handler: the work of lg__capture_exits(). */
static void exits(struct state state, unsigned self)
{
    end_count++;
    for (uint8_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &state.slots[i];
        const struct thread *thread = &state.threads[slot->thread];
        bool outside = !is_inside(thread, slot->sequence);
        struct storing storing = { NOBODY, 0 };
        if (slot->state == LG__CRASH_CHAINED ? outside : slot->state == LG__CRASH_LEFT && !thread->repeats)
            event(&state, i, slot->sequence, LG__CRASH_EXITS, false, &storing);
        if (storing.slot != NOBODY)
            store(&state, &storing);
        bool settled = !slot->recorded || !outside || thread->repeats || thread->at != OUT || slot->outcome == IS_HANDLED || is_being_stored(&state, i);
        check(settled, "an exit does not settle a crash that its thread has left");
    }
    (void)self;
}

/* ---- steps ---- */

static void fault(struct state state, unsigned self)
{
    struct thread *thread = &state.threads[self];
    thread->at = WANTS;
    thread->depth++;
    for (uint8_t plan = 0; plan < (with_all_plans ? ALL_PLANS : PLANS); plan++) {
        if (thread->depth == NESTING && (plan == CRASHES || plan == PASSES_ABORT))
            continue;
        *top(thread) = (struct frame){ plan, NOBODY, 0 };
        add(&state);
    }
}

static void step_out(const struct state *was, unsigned self)
{
    struct state state = *was;
    struct thread *thread = &state.threads[self];
    if (thread->repeats) {
        dies(&state, thread, thread->frames[0].sequence, true);
        return;
    }
    /* with the default action the kernel calls no handler */
    if (thread->left > 0 && !thread->is_default) {
        thread->left--;
        fault(state, self);
        thread->left++;
    }
    exits(state, self);
    for (uint8_t i = 0; i < SLOTS; i++) { /* a call into the library */
        struct state next = *was;
        if (next.slots[i].state == LG__CRASH_CHAINED && next.slots[i].thread == self &&
            event(&next, i, next.slots[i].sequence, LG__CRASH_OUTSIDE, thread->is_default, &next.threads[self].storing)) {
            check_evidence(&next, i, !thread->is_default);
            add(&next);
        }
    }
    if (thread->is_default) { /* the program installs a handler again */
        struct state next = *was;
        next.threads[self].is_default = 0;
        add(&next);
    }
    if (thread->left == 0) {
        thread->at = GONE;
        add(&state);
    }
}

static void step_wants(struct state state, unsigned self)
{
    struct thread *thread = &state.threads[self];
    if (state.holder == NOBODY || state.holder == self) {
        state.holder = (uint8_t)self;
        if (state.next == self)
            state.next = NOBODY;
        thread->at = LOOKS_BACK;
    } else if (state.next == NOBODY) {
        state.next = (uint8_t)self;
    } else {
        return;
    }
    add(&state);
}

static void step_looks_back(struct state state, unsigned self)
{
    struct thread *thread = &state.threads[self];
    for (uint8_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &state.slots[i];
        bool left = slot->state == LG__CRASH_LEFT || (slot->state == LG__CRASH_CHAINED && !is_inside(thread, slot->sequence));
        if (slot->thread == self && left) {
            event(&state, i, slot->sequence, LG__CRASH_REPEATS, false, &thread->storing);
            check_evidence(&state, i, true);
            add(&state);
            return;
        }
    }
    thread->at = BEGINS;
    add(&state);
}

static void step_begins(struct state state, unsigned self)
{
    struct thread *thread = &state.threads[self];
    struct lg__crash_slot view[SLOTS];
    uint8_t within = 0;
    for (int i = 0; i < SLOTS; i++) {
        const struct slot *slot = &state.slots[i];
        view[i] = (struct lg__crash_slot){ (enum lg__crash_state)slot->state, slot->sequence,
                                           slot->state == LG__CRASH_LEFT && !state.threads[slot->thread].repeats };
        if (slot->thread == self && slot->state == LG__CRASH_CHAINED && (!within || slot->sequence < within))
            within = slot->sequence;
    }
    int chosen = lg__crash_next_slot(view, SLOTS, false);
    struct frame *frame = top(thread);
    frame->sequence = ++state.sequence;
    struct slot *slot = &state.slots[chosen];
    if (lg__crash_next_is_open((enum lg__crash_state)slot->state)) {
        event(&state, (uint8_t)chosen, slot->sequence, LG__CRASH_DISPLACED, false, &thread->storing);
        check(chosen != 0 || view[0].settled, "the full record was taken from a crash whose fate is open");
        state.displaced = 1;
    }
    check(slot->state == LG__CRASH_FREE || slot->state == LG__CRASH_SURVIVED, "a slot is taken that is not free");
    *slot = (struct slot){ .state = LG__CRASH_FREE, .sequence = frame->sequence, .thread = (uint8_t)self, .within = within, .outcome = IS_RECORDING };
    event(&state, (uint8_t)chosen, frame->sequence, LG__CRASH_BEGINS, false, NULL);
    check(slot->state == LG__CRASH_RECORDING, "a crash begins and is not recorded");
    frame->slot = (uint8_t)chosen;
    thread->at = WRITES;
    add(&state);
}

/* The deadline of a record that hangs ends the record, where the stage can be left; where it cannot
 * be, watch() comes. */
static void step_cut(struct state state, unsigned self)
{
    static const uint8_t plans[] = { NO_HANDLER, RETURNS, JUMPS };
    for (size_t i = 0; i < sizeof plans; i++) {
        top(&state.threads[self])->plan = plans[i];
        add(&state);
    }
}

static void step_lets_go(struct state state, unsigned self)
{
    struct thread *thread = &state.threads[self];
    struct frame *frame = top(thread);
    struct slot *slot = &state.slots[frame->slot];
    if (frame->plan == NO_HANDLER) {
        event(&state, frame->slot, frame->sequence, LG__CRASH_DIES, false, NULL);
        check(slot->state == LG__CRASH_ENDING, "a crash without an earlier handler does not end");
        thread->at = DYING;
    } else {
        bool passes = frame->plan == PASSES || frame->plan == PASSES_ABORT;
        slot->outcome = IS_CHAINED;
        event(&state, frame->slot, frame->sequence, passes ? LG__CRASH_PASSES : LG__CRASH_CHAINS, frame->plan == PASSES_ABORT, &thread->storing);
        if (passes)
            check_evidence(&state, frame->slot, frame->plan == PASSES);
        check(passes || slot->state == LG__CRASH_CHAINED, "an earlier handler is called, and its crash is not chained");
        check(slot->state != LG__CRASH_RECORDING && slot->state != LG__CRASH_FREE, "a thread leaves its crash in a state that does not allow it");
        thread->at = UNLOCKS;
    }
    add(&state);
}

/* Leave the handler of the innermost crash. `repeats`: the signal comes again, with its default
 * action. */
static void leave(struct thread *thread, bool repeats)
{
    if (thread->depth > 1) {
        memset(top(thread), 0, sizeof *top(thread));
        thread->depth--;
        thread->at = INSIDE;
        return;
    }
    thread->depth = 0;
    thread->at = OUT;
    thread->repeats = repeats;
    if (!repeats)
        memset(thread->frames, 0, sizeof thread->frames);
}

static void step_unlocks(struct state state, unsigned self)
{
    struct thread *thread = &state.threads[self];
    state.holder = state.next;
    state.next = NOBODY;
    if (top(thread)->plan == PASSES || top(thread)->plan == PASSES_ABORT)
        leave(thread, top(thread)->plan == PASSES_ABORT);
    else
        thread->at = INSIDE;
    add(&state);
}

static void step_inside(struct state state, unsigned self)
{
    struct thread *thread = &state.threads[self];
    struct frame *frame = top(thread);
    switch (frame->plan) {
    case RESETS: thread->is_default = 1; /* fall through */
    case ABORTS:
    case RAISES:
    case RETURNS: thread->at = RETURNING; break;
    case RESETS_AND_JUMPS: thread->is_default = 1; /* fall through */
    case JUMPS:
        thread->depth = 0;
        memset(thread->frames, 0, sizeof thread->frames);
        thread->at = OUT;
        break;
    case CRASHES:
        frame->plan = RETURNS; /* the next step of the handler when its own crash is over */
        fault(state, self);
        return;
    case EXITS:
        end_count++;
        check(frame->slot == NOBODY || !was_survived(&state, frame->sequence), "P1: a handler ends the process, and the file calls its crash survived");
        check(frame->slot == NOBODY || state.displaced || end_of(&state), "P1: a handler ends the process, and the file holds no crash");
        return;
    default: return; /* the thread hangs */
    }
    add(&state);
}

static void step_returning(struct state state, unsigned self)
{
    struct thread *thread = &state.threads[self];
    const struct frame frame = *top(thread);
    event(&state, frame.slot, frame.sequence, LG__CRASH_RETURNS, thread->is_default || frame.plan == ABORTS || frame.plan == RAISES, &thread->storing);
    if (state.slots[frame.slot].sequence == frame.sequence && state.slots[frame.slot].thread == self)
        check_evidence(&state, frame.slot, !thread->is_default && frame.plan != ABORTS && frame.plan != RAISES);
    if (thread->depth > 1 && frame.plan != RETURNS && frame.plan != RAISES) {
        dies(&state, thread, frame.sequence, true);
        return;
    }
    leave(thread, frame.plan != RETURNS && frame.plan != RAISES);
    add(&state);
}

static void step(const struct state *was, unsigned self)
{
    struct state state = *was;
    struct thread *thread = &state.threads[self];
    if (thread->storing.slot != NOBODY) {
        store(&state, &thread->storing);
        add(&state);
        return;
    }
    switch (thread->at) {
    case OUT: step_out(was, self); break;
    case WANTS: step_wants(state, self); break;
    case LOOKS_BACK: step_looks_back(state, self); break;
    case BEGINS: step_begins(state, self); break;
    case WRITES:
        if (top(thread)->plan == RECORD_HANGS) {
            step_cut(state, self);
            break;
        }
        state.slots[top(thread)->slot].recorded = 1;
        thread->at = LETS_GO;
        add(&state);
        break;
    case LETS_GO: step_lets_go(state, self); break;
    case UNLOCKS: step_unlocks(state, self); break;
    case INSIDE: step_inside(state, self); break;
    case RETURNING: step_returning(state, self); break;
    case DYING: dies(&state, thread, top(thread)->sequence, false); break;
    default: break;
    }
}

/* ---- the watch thread ---- */

static void watch(const struct state *was)
{
    struct state state = *was;
    if (state.watch_storing.slot != NOBODY) {
        store(&state, &state.watch_storing);
        add(&state);
        return;
    }
    for (uint8_t i = 0; i < SLOTS; i++) {
        state = *was;
        struct slot *slot = &state.slots[i];
        const struct thread *thread = &state.threads[slot->thread];
        bool inside = is_inside(thread, slot->sequence);
        enum lg__crash_event what = LG__CRASH_EVENTS;
        if (slot->state == LG__CRASH_CHAINED && thread->at == GONE)
            what = LG__CRASH_VANISHES;
        else if (slot->state == LG__CRASH_CHAINED && !inside)
            what = LG__CRASH_OUTSIDE;
        else if (slot->state == LG__CRASH_CHAINED && thread->at == INSIDE && inside && top((struct thread *)(uintptr_t)thread)->plan == HANGS)
            what = LG__CRASH_EXPIRES;
        else if (slot->state == LG__CRASH_RECORDING && thread->at == WRITES && top((struct thread *)(uintptr_t)thread)->plan == RECORD_HANGS)
            what = LG__CRASH_EXPIRES;
        else if (slot->state == LG__CRASH_LEFT && thread->at == GONE)
            what = LG__CRASH_VANISHES;
        else if (slot->state == LG__CRASH_LEFT && !thread->repeats && !is_in_handler_of(thread, slot->sequence))
            what = LG__CRASH_SETTLES;
        if (what == LG__CRASH_EVENTS)
            continue;
        bool changed = event(&state, i, slot->sequence, what, thread->is_default, &state.watch_storing);
        if (what != LG__CRASH_EXPIRES) {
            check_evidence(&state, i, what == LG__CRASH_VANISHES || !thread->is_default);
            if (changed)
                add(&state);
            continue;
        }
        check(slot->state == LG__CRASH_ENDING, "P2: a crash whose time is over does not end the process");
        slot->recorded = 1; /* its header is stored before its deadline is armed */
        dies(&state, thread, slot->sequence, false);
    }
}

/* ---- all of it ---- */

static void check_state(const struct state *state)
{
    if (state->holder != NOBODY) {
        uint8_t at = state->threads[state->holder].at;
        check(at != OUT && at != INSIDE && at != RETURNING && at != GONE, "P2: the lock is held by a thread whose earlier handler runs");
    }
    for (int i = 0; i < SLOTS; i++)
        check(state->slots[i].state != LG__CRASH_RECORDING || state->holder == state->slots[i].thread, "a record is written without the lock");
}

static void print_state(const struct state *state)
{
    print_message("             lock %u, next %u, displaced %u\n", state->holder, state->next, state->displaced);
    for (int i = 0; i < THREADS; i++) {
        const struct thread *thread = &state->threads[i];
        print_message("             thread %d: at %u, repeats %u, default %u, stores %u;", i, thread->at, thread->repeats, thread->is_default, thread->storing.slot);
        for (unsigned k = 0; k < thread->depth; k++)
            print_message(" crash %u in slot %u, plan %u;", thread->frames[k].sequence, thread->frames[k].slot, thread->frames[k].plan);
        print_message("\n");
    }
    for (int i = 0; i < SLOTS; i++) {
        const struct slot *slot = &state->slots[i];
        print_message("             slot %d: state %u, crash %u of thread %u within %u, recorded %u, outcome %u\n", i, slot->state, slot->sequence,
                      slot->thread, slot->within, slot->recorded, slot->outcome);
    }
}

/* In a state without a further step only crashes that lost their slots to later ones may hang. */
static void check_dead_end(const struct state *state)
{
    for (unsigned i = 0; i < THREADS; i++) {
        const struct thread *thread = &state->threads[i];
        bool hangs_unseen = thread->at == INSIDE && thread->depth && thread->frames[thread->depth - 1].plan == HANGS && state->displaced;
        check(thread->at == GONE || hangs_unseen, "P2: no further step is possible");
    }
}

/* With this number of crashes for each of the threads. */
static void explore(const uint8_t crashes[THREADS])
{
    struct state first;
    memset(used, 0, TABLE);
    stack_size = state_count = end_count = step_count = 0;
    wrong = NULL;
    memset(&first, 0, sizeof first);
    first.holder = first.next = first.watch_storing.slot = NOBODY;
    for (unsigned i = 0; i < THREADS; i++) {
        first.threads[i].left = crashes[i];
        first.threads[i].storing.slot = NOBODY;
    }
    add(&first);
    while (stack_size && !wrong) {
        const struct state state = stack[--stack_size];
        const size_t steps = step_count, ends = end_count;
        check_state(&state);
        for (unsigned i = 0; i < THREADS && !wrong; i++)
            step(&state, i);
        watch(&state);
        if (steps == step_count && ends == end_count)
            check_dead_end(&state);
        if (wrong && !mutant.on)
            print_state(&state);
    }
}

static void test_every_order(void **state)
{
    (void)state;
    /* The last two take a minute: with LAUNCHGUARD_EVERY_ORDER alone. */
    static const uint8_t all[][THREADS] = { { 1, 1, 1 }, { 1, 1, 0 }, { 3, 0, 0 }, { 2, 1, 0 }, { 2, 2, 0 } };
    const size_t count = getenv("LAUNCHGUARD_EVERY_ORDER") ? 5 : 3;
    mutant.on = false;
    for (size_t i = 0; i < count; i++) {
        with_all_plans = i > 0 && i < 4;
        explore(all[i]);
        print_message("             crashes of the threads: %u, %u, %u: %zu states, %zu ends\n", all[i][0], all[i][1], all[i][2], state_count, end_count);
        if (wrong)
            fail_msg("%s", wrong);
        assert_true(state_count > 100 && end_count > 100);
    }
}

/* ---- the reverse: a wrong row of the table must not pass ---- */

/* Rows whose change has no visible effect, with the reason. */
static const struct { int from, event, to; const char *reason; } equivalent[] = {
    { LG__CRASH_CHAINED, LG__CRASH_DISPLACED, LG__CRASH_SURVIVED, "the record is taken back next" },
    { LG__CRASH_LEFT, LG__CRASH_DISPLACED, LG__CRASH_SURVIVED, "the record is taken back next" },
};

static bool is_equivalent(void)
{
    for (size_t i = 0; i < sizeof equivalent / sizeof equivalent[0]; i++)
        if (equivalent[i].from == mutant.from && equivalent[i].event == mutant.event && equivalent[i].to == mutant.to)
            return true;
    return false;
}

static void test_mutants(void **state)
{
    (void)state;
    static const uint8_t fewer[][THREADS] = { { 1, 0, 0 }, { 2, 0, 0 }, { 1, 1, 0 } };
    unsigned killed = 0, survived = 0;
    for (mutant.from = 0; mutant.from <= LG__CRASH_ENDING; mutant.from++)
        for (mutant.event = 0; mutant.event < LG__CRASH_EVENTS; mutant.event++)
            for (mutant.unseen = -1; mutant.unseen < 2; mutant.unseen++)
                for (mutant.to = 0; mutant.to <= LG__CRASH_ENDING; mutant.to++) {
                    const enum lg__crash_state from = (enum lg__crash_state)mutant.from;
                    const enum lg__crash_event what = (enum lg__crash_event)mutant.event;
                    enum lg__crash_state seen = lg__crash_next(from, what, false), unseen = lg__crash_next(from, what, true);
                    enum lg__crash_state is = mutant.unseen == 1 ? unseen : seen;
                    if ((seen == unseen) != (mutant.unseen < 0) || is == from || (int)is == mutant.to)
                        continue;
                    mutant.on = true;
                    for (size_t i = 0; i == 0 || (i < sizeof fewer / sizeof fewer[0] && !wrong); i++) {
                        with_all_plans = true;
                        explore(fewer[i]);
                    }
                    killed += wrong != NULL;
                    if (!wrong && !is_equivalent()) {
                        survived++;
                        print_message("             survives: state %d, event %d, unseen %d: to %d instead of %d\n", mutant.from, mutant.event, mutant.unseen,
                                      mutant.to, is);
                    }
                }
    with_all_plans = false;
    mutant.on = false;
    print_message("             %u mutants killed\n", killed);
    assert_int_equal(survived, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_order), cmocka_unit_test(test_mutants) };
    table = calloc(TABLE, sizeof *table);
    used = calloc(TABLE, 1);
    if (!table || !used)
        return 1;
    return cmocka_run_group_tests_name("every order", tests, NULL, NULL);
}
