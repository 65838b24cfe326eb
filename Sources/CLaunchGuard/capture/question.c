#include "capture/question.h"

#include "capture/internal.h"
#include "os/fault_point.h"

LG__NOT_INSTRUMENTED_BEGIN

/* A thread writes an answer in less time, unless the thread does not run. */
#define WRITING_NS UINT64_C(2000000)

#define ANSWER_BITS 3u
#define TURN_MASK (UINT32_MAX >> ANSWER_BITS)
/* In the value of the signal: the place, and above it the asker. */
#define PLACE_BITS 24u

/* In `answered`: the number of answers, and above it the low bits of the turn. */
#define COUNT_BITS 11u
#define COUNT_MASK ((1u << COUNT_BITS) - 1)
static_assert(LG__THREADS_MAX <= COUNT_MASK && LG__QUESTION_WATCH_PLACES <= COUNT_MASK, "all of a turn can be counted");

/* futexes: turn, enum lg__answer */
static _Atomic uint32_t crash_words[LG__THREADS_MAX], watch_words[LG__QUESTION_WATCH_PLACES];
static struct lg__thread look_slot;

static struct asker {
    _Atomic uint32_t *words;
    uint32_t places;
    _Atomic uint32_t turn;
    _Atomic uint64_t until_ns;
    uint32_t sequence;         /* of what it asks for */
    _Atomic uint32_t answered; /* futex; of this turn alone */
    _Atomic uint32_t expected; /* the answer with this number wakes the asker */
    _Atomic uint32_t inside;   /* futex: threads between the signal and the end of its handler */
} askers[LG__ASKERS] = {
    { .words = crash_words, .places = LG__THREADS_MAX },
    { .words = watch_words, .places = LG__QUESTION_WATCH_PLACES },
};

static struct lg__os_disposition libc_action LG__SMALL;

/* The context that a question interrupted on the calling thread. The handler of a question may run
 * on the alternate stack as an earlier handler does, and must not be taken for one. NULL: no
 * question is being answered. */
static __thread const void *interrupted __attribute__((tls_model("initial-exec")));

/* The handler marks its begin in these bytes, which lie on one page. */
#define ENTRY_BYTES UINT64_C(64)
#define VISIT_BITS 16

void lg__question_forget(void)
{
    for (unsigned i = 0; i < LG__ASKERS; i++) {
        atomic_store(&askers[i].until_ns, 0);
        atomic_store(&askers[i].inside, 0);
    }
}

struct lg__thread *lg__question_slot(enum lg__asker asker, uint32_t place)
{
    const struct lg__run *run = &lg__fixed.options.run;
    if (asker == LG__ASKER_CRASH)
        return &run->slots[place];
    if (place == LG__QUESTION_LOOK)
        return &look_slot;
    if (place >= LG__QUESTION_MEMORY)
        return &run->memory_slots[place - LG__QUESTION_MEMORY];
    return &run->snapshot_slots[place == LG__QUESTION_JOB ? run->hang_slots : place];
}

static uint32_t word_of(uint32_t turn, enum lg__answer answer)
{
    return (turn & TURN_MASK) << ANSWER_BITS | (uint32_t)answer;
}

static bool change(enum lg__asker asker, uint32_t place, uint32_t turn, enum lg__answer from, enum lg__answer to)
{
    uint32_t is = word_of(turn, from);
    return atomic_compare_exchange_strong(&askers[asker].words[place], &is, word_of(turn, to));
}

/* ---- on the threads that are asked ---- */

static bool write_answer(enum lg__asker asker, uint32_t place, uint32_t turn, const void *ucontext)
{
    struct asker *of = &askers[asker];
    LG_FAULT_POINT("question: answers");
    if (!change(asker, place, turn, LG__ANSWER_ASKED, LG__ANSWER_WRITING))
        return false;
    LG_FAULT_POINT("question: writes");
    lg__thread_capture(lg__question_slot(asker, place), ucontext);
    if (!change(asker, place, turn, LG__ANSWER_WRITING, LG__ANSWER_STANDS)) {
        change(asker, place, turn, LG__ANSWER_LATE, LG__ANSWER_LEFT);
        return false;
    }
    LG_FAULT_POINT("question: stands");
    uint32_t count = atomic_load(&of->answered);
    do
        if ((count ^ turn << COUNT_BITS) & ~COUNT_MASK)
            return true; /* the next question has begun: this answer is none to it */
    while (!atomic_compare_exchange_weak(&of->answered, &count, count + 1));
    if ((count & COUNT_MASK) + 1 >= atomic_load(&of->expected))
        lg__os_futex_wake((const uint32_t *)&of->answered);
    return true;
}

static void stand(enum lg__asker asker, uint32_t place, uint32_t turn)
{
    _Atomic uint32_t *word = &askers[asker].words[place];
    uint64_t until = atomic_load(&askers[asker].until_ns), now;
    while (atomic_load(word) == word_of(turn, LG__ANSWER_STANDS) && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until)
        lg__os_futex_wait((const uint32_t *)word, word_of(turn, LG__ANSWER_STANDS), until - now);
    change(asker, place, turn, LG__ANSWER_STANDS, LG__ANSWER_LEFT);
}

/* The handler is as good as left: the thread blocks what it did before. */
static void leave(enum lg__asker asker, const void *ucontext)
{
    lg__os_signals_set(lg__arch_blocked(ucontext));
    if (atomic_fetch_sub(&askers[asker].inside, 1) == 1)
        lg__os_futex_wake((const uint32_t *)&askers[asker].inside);
}

/* A thread that crashes does not stand for a snapshot, not even before the first instruction of its
 * handler: its record would wait. */
static bool is_wanted_elsewhere(const void *ucontext)
{
    struct lg__arch_fault context;
    lg__arch_fault(ucontext, &context);
    return lg__capture_busy() || lg__crash_entered || context.pc == (uint64_t)(uintptr_t)lg__fixed.on_crash;
}

/* A value that only the calling thread has, above the bits of a count. */
static uint64_t visitor(void)
{
    return (uint64_t)(uintptr_t)&interrupted / sizeof interrupted << VISIT_BITS;
}

void lg__question_visited(struct lg__crash *crash)
{
    atomic_store(&crash->visits, visitor() | (interrupted != NULL));
}

/* Begin or end: the count of each crash of this thread changes. Only a slot that has gone to
 * another thread's crash meanwhile keeps its count. */
static void visit(void)
{
    for (struct lg__crash *crash = lg__crash_slots; crash < lg__crash_slots + LG__CRASHES; crash++) {
        uint64_t is = atomic_load(&crash->visits);
        if (is >> VISIT_BITS << VISIT_BITS == visitor())
            atomic_compare_exchange_strong(&crash->visits, &is, visitor() | ((is + 1) & ((UINT64_C(1) << VISIT_BITS) - 1)));
    }
}

bool lg__question_is_outside(const struct lg__crash *crash, uint64_t pc, uint64_t *ret_visits)
{
    *ret_visits = atomic_load(&crash->visits);
    return *ret_visits % 2 == 0 && pc - (uint64_t)(uintptr_t)lg__question_handler >= ENTRY_BYTES;
}

/* With the context of what the thread does outside of this handler. */
static void answer_question(uint32_t asker, uint32_t place, uint32_t turn, const void *ucontext)
{
    LG_FAULT_POINT("thread: asked");
    if (asker == LG__ASKER_CRASH) {
        atomic_fetch_add(&askers[asker].inside, 1);
        if (write_answer(asker, place, turn, interrupted)) {
            LG_FAULT_POINT("thread: answered");
            stand(asker, place, turn);
        }
        return;
    }
    if (place != LG__QUESTION_LOOK && is_wanted_elsewhere(ucontext))
        return;
    LG_FAULT_POINT("snapshot: answers");
    if (write_answer(asker, place, turn, interrupted)) {
        LG_FAULT_POINT("snapshot: stands");
        stand(asker, place, turn);
    }
}

/* true: a crash asked. */
static bool handle(int signal, siginfo_t *info, void *ucontext)
{
    uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    uint32_t turn = (uint32_t)(value >> 32), asker = (uint32_t)value >> PLACE_BITS, place = (uint32_t)value & ((1u << PLACE_BITS) - 1);
    if (info->si_code == SI_TIMER) {
        lg__fixed.on_deadline(value, ucontext, interrupted);
        return false;
    }
    /* libc's own use of the signal */
    if (info->si_code != SI_QUEUE || info->si_pid != lg__fixed.pid) {
        if (libc_action.handler > (uintptr_t)SIG_IGN)
            ((void (*)(int, siginfo_t *, void *))libc_action.handler)(signal, info, ucontext);
        return false;
    }
    if (asker >= LG__ASKERS || place >= askers[asker].places)
        return false;
    answer_question(asker, place, turn, ucontext);
    return asker == LG__ASKER_CRASH;
}

__attribute__((noinline, aligned(64))) void lg__question_handler(int signal, siginfo_t *info, void *ucontext)
{
    /* A thread that was let go may not have left yet when the next question comes. */
    const void *const outer = interrupted;
    if (!outer) {
        interrupted = ucontext;
        visit();
    }
    const bool leaves = handle(signal, info, ucontext);
    if (!outer) {
        visit();
        interrupted = NULL;
    }
    if (leaves)
        leave(LG__ASKER_CRASH, ucontext);
}

void lg__question_answer_crash(uint32_t places, const void *ucontext)
{
    int32_t self = lg__os_tid();
    uint32_t turn = askers[LG__ASKER_CRASH].turn;
    for (uint32_t i = 0; i < places; i++)
        /* Only a slot that is asked has the thread of this turn. */
        if (lg__question_answer(LG__ASKER_CRASH, i) == LG__ANSWER_ASKED && lg__question_slot(LG__ASKER_CRASH, i)->tid == self)
            write_answer(LG__ASKER_CRASH, i, turn, ucontext);
}

/* ---- on the asker ---- */

/* The signal stays taken: a late answer must not find the default action, which would end the
 * process with the wrong status. */
bool lg__question_take_signal(void)
{
    if (lg__fixed.options.none)
        return false;
    /* The signal does not block itself: a thread that is about to answer must not look like a
     * thread that never will. */
    const struct lg__os_disposition ours = { (uintptr_t)lg__question_handler, SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER };
    struct lg__os_disposition is = lg__os_signal_now(LG__QUESTION_SIGNAL);
    /* libc takes the signal back when the program makes its first thread */
    if (is.handler == (uintptr_t)lg__question_handler)
        return true;
    /* Before our handler is installed: libc may be in the middle of its own use of the signal, and
     * would wait for an answer for ever. The watch thread and a crash may both come here at
     * once. */
    libc_action = is;
    if (lg__os_signal_take(LG__QUESTION_SIGNAL, &ours, lg__fixed.mask & ~LG__QUESTION_BIT, SIGSEGV, &is) != 0)
        return false;
    LG_FAULT_POINT("threads: signal taken");
    return true;
}

bool lg__question_begin(enum lg__asker asker, uint32_t sequence, uint64_t until_ns)
{
    struct asker *of = &askers[asker];
    of->turn = (of->turn + 1) & TURN_MASK;
    of->sequence = sequence;
    atomic_store(&of->until_ns, until_ns);
    atomic_store(&of->answered, of->turn << COUNT_BITS);
    atomic_store(&of->expected, UINT32_MAX);
    return lg__question_take_signal();
}

static enum lg__answer answer_of(uint32_t word)
{
    return (enum lg__answer)(word & ((1u << ANSWER_BITS) - 1));
}

static bool is_written(uint32_t word)
{
    return answer_of(word) == LG__ANSWER_WRITING || answer_of(word) == LG__ANSWER_LATE;
}

bool lg__question_is_blocked(enum lg__asker asker, uint32_t place)
{
    return is_written(atomic_load(&askers[asker].words[place]));
}

bool lg__question_take(enum lg__asker asker, uint32_t place)
{
    struct asker *of = &askers[asker];
    uint32_t word = atomic_load(&of->words[place]);
    do
        if (is_written(word))
            return false;
    while (!atomic_compare_exchange_weak(&of->words[place], &word, word_of(of->turn, LG__ANSWER_CLOSED)));
    return true;
}

bool lg__question_ask(enum lg__asker asker, uint32_t place, int32_t tid)
{
    struct asker *of = &askers[asker];
    LG_FAULT_POINT("question: clears");
    lg__thread_clear(lg__question_slot(asker, place), tid, of->sequence);
    LG_FAULT_POINT("question: cleared");
    atomic_store(&of->words[place], word_of(of->turn, LG__ANSWER_ASKED));
    LG_FAULT_POINT("question: asked");
    if (lg__os_signal_ask(lg__fixed.pid, tid, LG__QUESTION_SIGNAL, (uint64_t)of->turn << 32 | (uint32_t)asker << PLACE_BITS | place) == 0)
        return true;
    /* the user's queue of signals is full, or the thread has just ended */
    change(asker, place, of->turn, LG__ANSWER_ASKED, LG__ANSWER_CLOSED);
    return false;
}

enum lg__answer lg__question_answer(enum lg__asker asker, uint32_t place)
{
    uint32_t word = atomic_load(&askers[asker].words[place]);
    return word >> ANSWER_BITS == askers[asker].turn ? answer_of(word) : LG__ANSWER_NONE;
}

bool lg__question_is_open(enum lg__asker asker, uint32_t place, int32_t tid)
{
    const enum lg__answer answer = lg__question_answer(asker, place);
    return (answer == LG__ANSWER_ASKED || answer == LG__ANSWER_STANDS) && lg__question_slot(asker, place)->tid == tid &&
           lg__os_clock_ns(CLOCK_MONOTONIC) < atomic_load(&askers[asker].until_ns);
}

uint32_t lg__question_answered(enum lg__asker asker)
{
    return atomic_load(&askers[asker].answered) & COUNT_MASK;
}

void lg__question_wait(enum lg__asker asker, uint32_t expected, uint64_t until_ns)
{
    struct asker *of = &askers[asker];
    uint32_t answered;
    uint64_t now;
    atomic_store(&of->expected, expected);
    while (((answered = atomic_load(&of->answered)) & COUNT_MASK) < expected && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until_ns)
        lg__os_futex_wait((const uint32_t *)&of->answered, answered, until_ns - now);
}

bool lg__question_close(enum lg__asker asker, uint32_t place)
{
    uint32_t turn = askers[asker].turn;
    if (change(asker, place, turn, LG__ANSWER_ASKED, LG__ANSWER_CLOSED) || lg__question_answer(asker, place) == LG__ANSWER_CLOSED)
        return true;
    for (uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + WRITING_NS;
         lg__question_answer(asker, place) == LG__ANSWER_WRITING && lg__os_clock_ns(CLOCK_MONOTONIC) < until;) {}
    return false;
}

bool lg__question_release(enum lg__asker asker, uint32_t place)
{
    static const enum lg__answer next[] = { [LG__ANSWER_ASKED] = LG__ANSWER_CLOSED, [LG__ANSWER_WRITING] = LG__ANSWER_LATE,
                                            [LG__ANSWER_STANDS] = LG__ANSWER_LEFT };
    const uint32_t turn = askers[asker].turn;
    enum lg__answer answer;
    do {
        answer = lg__question_answer(asker, place);
        if (answer < LG__ANSWER_ASKED || answer > LG__ANSWER_STANDS)
            return false;
    } while (!change(asker, place, turn, answer, next[answer]));
    lg__os_futex_wake((const uint32_t *)&askers[asker].words[place]);
    return answer == LG__ANSWER_STANDS;
}

void lg__question_wait_left(enum lg__asker asker, uint64_t until_ns)
{
    uint32_t inside;
    uint64_t now;
    while ((inside = atomic_load(&askers[asker].inside)) && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until_ns)
        lg__os_futex_wait((const uint32_t *)&askers[asker].inside, inside, until_ns - now);
}

LG__NOT_INSTRUMENTED_END
