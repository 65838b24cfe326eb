#include "capture/deadline.h"

#include "capture/internal.h"
#include "capture/in_handler.h"
#include "capture/question.h"
#include "capture/watch_walk.h"
#include "os/fault_point.h"

/* The watch thread looks at a thread that is with its earlier handler at this interval. */
#define LOOK_NS UINT64_C(1000000000)
/* At its deadline a thread is looked at this many times, at this interval, and always found inside:
 * a short signal handler that looks the same on a walk is over by then. */
#define LOOKS 3
#define LOOKS_APART_NS UINT64_C(20000000)
/* An exit waits this long for a look of the watch thread. */
#define EXIT_NS LG_PATIENCE(UINT64_C(200000000))
/* At an exit: for a thread that is just ending. */
#define ENDING_TRIES (int)LG_PATIENCE(20)
#define ENDING_NS UINT64_C(1000000)
/* A thread whose place does not show is looked at again this often, but no longer than a question
 * stands: the machine may be busy. */
#define TRIES 200
#define ANSWER_NS UINT64_C(50000000)
#define STANDS_NS UINT64_C(2000000000)

/* A crashed thread that does not take signals, as in a page fault of a file system that does not
 * answer, is ended this long after its deadline. */
#define KILL_NS LG_PATIENCE(UINT64_C(1000000000))
/* After the deadline of a record its thread gets a signal at this interval, and the watch thread
 * looks at it LOOKS times. The clock goes on while the process is stopped, and the thread is to go
 * on then as well: looks count, and not the time since the deadline. */
#define CUT_NS UINT64_C(250000000)
/* A look at an earlier handler that comes so much later than it was due comes after a stop. No look
 * at other threads takes so long. */
#define LATE_NS UINT64_C(3000000000)

/* ---- on the crashed thread ---- */

/* Kernel timers that run while a record is written: for the crashed thread, then for the process.
 * The crash lock guards them. */
static long timers[2] = { -1, -1 };

static void arm(struct lg__crash *crash, uint32_t ms)
{
    atomic_store(&crash->deadline_ns, lg__os_clock_ns(CLOCK_MONOTONIC) + (uint64_t)ms * 1000000u);
}

void lg__deadline_arm(struct lg__crash *crash)
{
    const uint64_t time_ns = (uint64_t)lg__fixed.options.deadline_ms * 1000000u;
    if (atomic_load(&crash->deadline_ns))
        return;
    arm(crash, lg__fixed.options.deadline_ms);
    timers[0] = -1;
    timers[1] = lg__os_timer_begin(0, SIGKILL, 0, time_ns + KILL_NS, 0);
}

/* The watch thread looks each second while such crashes come. Each side first changes its own word
 * and then reads the other's. */
static _Atomic uint32_t attended; /* counts these crashes */
static _Atomic bool attentive;

/* A question of an exit to the watch thread, and the answer. */
static _Atomic uint32_t exit_asked, exit_answered; /* futex */

void lg__deadline_attend(struct lg__crash *crash)
{
    atomic_fetch_add(&attended, 1);
    if (!atomic_load(&attentive)) {
        lg__capture_wake_watch();
        if (!lg__capture_watched()) {
            lg__deadline_arm(crash);
            return;
        }
    }
    if (!atomic_load(&crash->deadline_ns))
        arm(crash, lg__fixed.options.deadline_ms);
}

void lg__deadline_forget(void)
{
    timers[0] = timers[1] = -1;
    atomic_store(&attentive, false);
    atomic_store(&exit_answered, atomic_load(&exit_asked));
}

/* On the watch thread: such crashes came since the last look. */
static bool were_attended(void)
{
    static uint32_t seen;
    bool more = atomic_load(&attended) != seen;
    if (!more) {
        atomic_store(&attentive, false);
        more = atomic_load(&attended) != seen;
    }
    if (more)
        atomic_store(&attentive, true);
    seen = atomic_load(&attended);
    return more;
}

void lg__deadline_arm_signal(struct lg__crash *crash)
{
    const uint64_t until = atomic_load(&crash->deadline_ns), now = lg__os_clock_ns(CLOCK_MONOTONIC);
    if (timers[0] >= 0)
        return;
    if (timers[1] >= 0 && lg__question_take_signal())
        timers[0] = lg__os_timer_begin(crash->tid, LG__QUESTION_SIGNAL, lg__crash_sequence(atomic_load(&crash->word)), until > now ? until - now : 1, CUT_NS);
    if (timers[0] < 0)
        lg__capture_wake_watch(); /* the user's signals are used up, or a sandbox refuses timers */
}

void lg__deadline_disarm(void)
{
    for (int i = 0; i < 2; i++)
        if (timers[i] >= 0)
            lg__os_timer_end(timers[i]);
    timers[0] = timers[1] = -1;
}

void lg__deadline_arm_handler(struct lg__crash *crash)
{
    const uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + (uint64_t)lg__fixed.options.handler_ms * 1000000u;
    atomic_store(&crash->handler_ns, until);
    atomic_store(&crash->deadline_ns, until);
}

/* After a stop the time of an earlier handler begins anew. The slot may have another crash. */
static bool begins_anew(struct lg__crash *crash, uint64_t due)
{
    const uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), until = now + (uint64_t)lg__fixed.options.handler_ms * 1000000u;
    uint64_t handler_ns = atomic_load(&crash->handler_ns), deadline_ns = atomic_load(&crash->deadline_ns);
    if (now < due + LATE_NS)
        return false;
    if (atomic_compare_exchange_strong(&crash->handler_ns, &handler_ns, until))
        atomic_compare_exchange_strong(&crash->deadline_ns, &deadline_ns, until);
    return true;
}

/* Committed stages stay. The process dies of its own signal, on this thread because the crashed
 * thread does not answer. A sandbox may allow a plain signal only. */
static _Noreturn void end_process(const struct lg__crash *crash)
{
    siginfo_t info = crash->info;
    int signal = info.si_signo;
    lg__os_signal_default(signal);
    if (lg__os_pid() != 1 &&
        (lg__os_signal_queue(lg__os_pid(), lg__os_tid(), signal, &info) == 0 || lg__os_signal_send(lg__os_pid(), lg__os_tid(), signal) == 0))
        lg__os_signal_block(signal, false); /* delivered here */
    lg__os_exit(128 + signal);
}

static bool is_still(const struct lg__crash *crash, uint64_t word)
{
    return atomic_load(&crash->word) == word;
}

/* The value of a timer: sequence number of the crash, and this for its earlier handler. */
#define OF_HANDLER (UINT64_C(1) << 32)

/* After the deadline, so that the watch thread comes first where it runs. The timer goes on
 * until the crash is CHAINED no more. */
void lg__deadline_arm_timer(struct lg__crash *crash)
{
    const uint64_t time_ns = (uint64_t)lg__fixed.options.handler_ms * 1000000u, value = OF_HANDLER | lg__crash_sequence(atomic_load(&crash->word));
    if (crash->altstack_low && lg__question_take_signal())
        atomic_store(&crash->timer, lg__os_timer_begin(crash->tid, LG__QUESTION_SIGNAL, value, time_ns + KILL_NS, LOOKS_APART_NS));
}

/* A thread stands still for the record of another thread's crash, or waits to write one of its own,
 * also on the alternate stack: its place does not show. */
static bool may_stand(const struct lg__crash *crash)
{
    const int32_t holder = lg__crash_holder();
    return holder && holder != crash->tid;
}

/* The same looks as those of the watch thread, which may not run. */
static void handler_passed(uint32_t sequence, const void *ucontext)
{
    static _Atomic uint64_t inside; /* sequence number, looks */
    struct lg__crash *crash = lg__crash_find(sequence);
    const uint64_t word = crash ? atomic_load(&crash->word) : 0;
    struct lg__arch_fault context;
    lg__arch_fault(ucontext, &context);
    if (!crash || crash->tid != lg__os_tid() || lg__crash_state(word) != LG__CRASH_CHAINED || !is_still(crash, word) || may_stand(crash) ||
        lg__os_clock_ns(CLOCK_MONOTONIC) < atomic_load(&crash->handler_ns))
        return;
    const uint64_t first = atomic_load(&crash->handler_ns) + KILL_NS, last = atomic_exchange(&crash->looked_ns, lg__os_clock_ns(CLOCK_MONOTONIC));
    if (begins_anew(crash, last > first ? last : first))
        return;
    const enum lg__in_handler place = lg__in_handler_by_stack(crash, context.sp);
    if (place == LG__IN_HANDLER_NO)
        lg__crash_event(crash, sequence, LG__CRASH_OUTSIDE, lg__crash_action_is_default(crash->info.si_signo));
    if (place != LG__IN_HANDLER_YES)
        return;
    const uint64_t before = atomic_load(&inside), looks = before >> 32 == sequence ? (uint32_t)before + 1 : 1;
    atomic_store(&inside, (uint64_t)sequence << 32 | looks);
    if (looks >= LOOKS && lg__crash_event(crash, sequence, LG__CRASH_EXPIRES, false))
        end_process(crash);
}

void lg__deadline_passed(uint64_t value, const void *ucontext)
{
    struct lg__crash *crash = lg__crash_holder() == lg__os_tid() ? lg__crash_current() : NULL;
    uint64_t word = crash ? atomic_load(&crash->word) : 0;
    if (value & OF_HANDLER) {
        handler_passed((uint32_t)value, ucontext);
        return;
    }
    if (!crash || lg__crash_sequence(word) != value || lg__crash_next_is_open(lg__crash_state(word)))
        return; /* the record was done when the signal came */
    if (lg__crash_state(word) == LG__CRASH_ENDING || lg__crash_event(crash, lg__crash_sequence(word), LG__CRASH_EXPIRES, false))
        end_process(crash);
}

void lg__deadline_end_holder(void)
{
    struct lg__crash *crash = lg__crash_current();
    if (crash)
        end_process(crash);
}

/* ---- on the watch thread: where is a thread that was with its earlier handler? ---- */

enum finding { INSIDE, OUTSIDE, UNKNOWN, NO_ANSWER, VANISHED };

static enum finding finding_of(enum lg__in_handler place)
{
    return place == LG__IN_HANDLER_YES ? INSIDE : place == LG__IN_HANDLER_NO ? OUTSIDE : UNKNOWN;
}

/* The place of a sleeping thread as the kernel reports it: a question would end the sleep. No
 * answer where the thread may sleep in the handler of a question, which may run on the alternate
 * stack, as an earlier handler does. */
static enum finding look_asleep(const struct lg__crash *crash)
{
    uint64_t sp, pc, before, after;
    if (!lg__question_is_outside(crash, 0, &before) || !lg__thread_sleeps(crash->tid, &sp, &pc) ||
        !lg__question_is_outside(crash, pc, &after) || after != before)
        return NO_ANSWER;
    const enum lg__in_handler place = lg__in_handler_by_stack(crash, sp);
    return place == LG__IN_HANDLER_UNKNOWN ? NO_ANSWER : finding_of(place);
}

/* A question without an answer stays open for its time: repeated questions would keep a slow thread
 * from ever finishing its answer. */
static void close_question(void)
{
    if (!lg__question_close(LG__ASKER_WATCH, LG__QUESTION_LOOK))
        lg__question_release(LG__ASKER_WATCH, LG__QUESTION_LOOK);
}

static enum finding ask_thread(const struct lg__crash *crash)
{
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    if (lg__os_signal_send(lg__fixed.pid, crash->tid, 0) != 0)
        return VANISHED;
    if (!lg__question_is_open(LG__ASKER_WATCH, LG__QUESTION_LOOK, crash->tid)) {
        if (lg__question_is_blocked(LG__ASKER_WATCH, LG__QUESTION_LOOK))
            return NO_ANSWER;
        if (!lg__question_begin(LG__ASKER_WATCH, 0, now + STANDS_NS) || !lg__question_take(LG__ASKER_WATCH, LG__QUESTION_LOOK) ||
            !lg__question_ask(LG__ASKER_WATCH, LG__QUESTION_LOOK, crash->tid))
            return look_asleep(crash);
    }
    lg__question_wait(LG__ASKER_WATCH, 1, now + ANSWER_NS);
    struct lg__thread *slot = lg__question_slot(LG__ASKER_WATCH, LG__QUESTION_LOOK);
    if (lg__question_answer(LG__ASKER_WATCH, LG__QUESTION_LOOK) != LG__ANSWER_STANDS) {
        enum finding finding = look_asleep(crash);
        if (finding != NO_ANSWER)
            close_question();
        return finding;
    }
    enum lg__in_handler place = lg__in_handler_by_stack(crash, slot->sp);
    if (place == LG__IN_HANDLER_UNKNOWN) {
        lg__memory_forget(true);
        lg__watch_walk(slot);
        place = lg__in_handler_by_walk(crash, &slot->head, slot->pcs);
    }
    return lg__question_release(LG__ASKER_WATCH, LG__QUESTION_LOOK) ? finding_of(place) : NO_ANSWER;
}

static void pause_ns(uint64_t time_ns)
{
    static const uint32_t nobody_wakes = 0;
    lg__os_futex_wait(&nobody_wakes, 0, time_ns);
}

static enum finding look_once(const struct lg__crash *crash)
{
    LG_FAULT_POINT("watch: looks");
    const enum finding finding = look_asleep(crash);
    return finding == NO_ANSWER ? ask_thread(crash) : finding;
}

/* The finding at the deadline. INSIDE needs several equal looks; UNKNOWN means that no look found a
 * place. A look without an answer costs time, but no try: a thread may take that long to write its
 * answer. */
static enum finding look_closely(const struct lg__crash *crash, uint64_t word)
{
    const uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + STANDS_NS;
    enum finding finding = UNKNOWN;
    for (int tries = 0, inside = 0; tries < TRIES && is_still(crash, word) && lg__os_clock_ns(CLOCK_MONOTONIC) < until;
         tries += finding != NO_ANSWER) {
        finding = look_once(crash);
        if (finding == OUTSIDE || finding == VANISHED)
            return finding;
        if (finding == INSIDE && !may_stand(crash) && ++inside == LOOKS)
            return INSIDE;
        /* After any other finding the pause differs, so that looks get out of step with a periodic
         * thread. */
        pause_ns(finding == INSIDE ? LOOKS_APART_NS : LOOKS_APART_NS / 16);
    }
    close_question();
    return UNKNOWN;
}

static enum finding look(const struct lg__crash *crash, bool exiting)
{
    if (!exiting && !crash->altstack_low)
        return UNKNOWN; /* only a question could find out, and it would end a sleep */
    enum finding finding = look_once(crash);
    if (finding == NO_ANSWER)
        close_question(); /* until the next look nobody would let the thread go on */
    /* A thread that ends in the kernel answers nothing, although pthread_join() has returned; it is
     * gone a moment later. An exit does not look again. */
    for (int tries = 0; exiting && finding == NO_ANSWER && tries < ENDING_TRIES; tries++) {
        pause_ns(ENDING_NS);
        finding = lg__os_signal_send(lg__fixed.pid, crash->tid, 0) != 0 ? VANISHED : look_asleep(crash);
    }
    return finding;
}

/* ---- on the watch thread: one crash ---- */

/* The deadline of the crash has passed, or it is time to look; returns nanoseconds until the next
 * look. There always is one: a later look may show a place that this one does not. After the time
 * of the handler the pauses double, because looks disturb a thread that recovered. */
static uint64_t look_at_chained(struct lg__crash *crash, uint64_t word, uint64_t deadline, bool exiting)
{
    uint32_t sequence = lg__crash_sequence(word);
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    uint64_t handler_ns = atomic_load(&crash->handler_ns);
    bool over = deadline && now >= deadline;
    /* Most handlers are done sooner, and a look may disturb one that has just begun. */
    uint64_t first = handler_ns - (uint64_t)lg__fixed.options.handler_ms * 1000000u + LOOK_NS;
    if (deadline && !over && !exiting && now < first)
        return (first < deadline ? first : deadline) - now;
    if (over)
        LG_FAULT_POINT("deadline: over");
    if (over && begins_anew(crash, deadline))
        return 1;
    enum finding finding = over ? look_closely(crash, word) : look(crash, exiting);
    if (!is_still(crash, word))
        return 1;
    if (finding == INSIDE && over && lg__crash_event(crash, sequence, LG__CRASH_EXPIRES, false))
        end_process(crash);
    if (finding == VANISHED)
        lg__crash_event(crash, sequence, LG__CRASH_VANISHES, false);
    if (finding == OUTSIDE)
        lg__crash_event(crash, sequence, exiting ? LG__CRASH_EXITS : LG__CRASH_OUTSIDE, lg__crash_action_is_default(crash->info.si_signo));
    now = lg__os_clock_ns(CLOCK_MONOTONIC);
    /* The time for the rest of a record may end before the handler's time. */
    if (finding == UNKNOWN && over)
        atomic_compare_exchange_strong(&crash->deadline_ns, &deadline, now + (now > handler_ns ? now - handler_ns : LOOK_NS));
    if (!is_still(crash, word) || over)
        return 1;
    return !deadline || deadline > now + LOOK_NS ? LOOK_NS : deadline > now ? deadline - now : 1;
}

/* A record whose time is over does not end. */
static bool hangs(uint64_t word, uint64_t now)
{
    static uint64_t seen, next_ns;
    static unsigned looks;
    if (seen != word)
        next_ns = looks = 0;
    seen = word;
    if (now >= next_ns) {
        next_ns = now + CUT_NS;
        looks++;
    }
    return looks >= LOOKS;
}

static uint64_t look_at(struct lg__crash *crash, bool exiting)
{
    uint64_t word = atomic_load(&crash->word), deadline = atomic_load(&crash->deadline_ns), now = lg__os_clock_ns(CLOCK_MONOTONIC);
    uint32_t sequence = lg__crash_sequence(word);
    switch (lg__crash_state(word)) {
    case LG__CRASH_RECORDING:
    case LG__CRASH_ENDING:
        if (!deadline)
            return LOOK_NS;
        if (now < deadline)
            return deadline - now < LOOK_NS ? deadline - now : LOOK_NS;
        LG_FAULT_POINT("deadline: over");
        if (lg__crash_state(word) == LG__CRASH_RECORDING && !hangs(word, now))
            return CUT_NS;
        if (lg__crash_state(word) == LG__CRASH_ENDING || lg__crash_event(crash, sequence, LG__CRASH_EXPIRES, false))
            end_process(crash);
        return 1;
    case LG__CRASH_CHAINED:
        return look_at_chained(crash, word, deadline, exiting);
    case LG__CRASH_LEFT:
        if (!lg__crash_settled(crash, now))
            return LOOK_NS;
        if (exiting)
            lg__crash_event(crash, sequence, LG__CRASH_EXITS, false);
        else
            lg__crash_event(crash, sequence, LG__CRASH_SETTLES, lg__crash_action_is_default(crash->info.si_signo));
        return UINT64_MAX;
    default:
        return UINT64_MAX;
    }
}

uint64_t lg__capture_deadline(void)
{
    uint64_t sleep = were_attended() ? LOOK_NS : UINT64_MAX;
    uint32_t asked = atomic_load(&exit_asked);
    bool exiting = asked != atomic_load(&exit_answered);
    for (int i = 0; i < LG__CRASHES; i++) {
        uint64_t next = look_at(&lg__crash_slots[i], exiting);
        sleep = next < sleep ? next : sleep;
    }
    if (exiting) {
        atomic_store(&exit_answered, asked);
        lg__os_futex_wake((const uint32_t *)&exit_answered);
    }
    return sleep;
}

void lg__deadline_exits(void)
{
    uint32_t asked = atomic_fetch_add(&exit_asked, 1) + 1, seen;
    uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + EXIT_NS, now;
    lg__capture_wake_watch();
    while ((int32_t)((seen = atomic_load(&exit_answered)) - asked) < 0 && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until)
        lg__os_futex_wait((const uint32_t *)&exit_answered, seen, until - now);
}
