/* Stage 6: the other threads. Each one answers the question of the crash and stands still, so that
 * the crashed thread can walk its stack. */
#include "capture/internal.h"
#include "capture/question.h"
#include "os/fault_point.h"

/* After this time without an answer the kernel is asked for the reason. */
#define ANSWER_NS UINT64_C(2000000)
/* The longest wait is this part of the deadline. */
#define PATIENCE_PART 10u
/* All stacks are walked in this part of the deadline: the later stages need time, too. */
#define WALK_PART 4u

/* State of the crash that has the lock; a thread that waits for the lock reads `asked`. */
static struct {
    _Atomic uint32_t asked; /* places in use */
    /* of these, without a thread that was asked; whose stack was walked */
    uint32_t unasked, walked;
} threads;

static const struct lg__run *run(void)
{
    return &lg__fixed.options.run;
}

static uint64_t deadline_part(uint32_t part)
{
    return (uint64_t)lg__fixed.options.deadline_ms * 1000000u / part;
}

static bool ask_thread(uint32_t number, void *argument)
{
    struct lg__crash_threads *counts = argument;
    int32_t tid = (int32_t)number;
    uint32_t place = atomic_load(&threads.asked);
    if (tid == lg__crash_holder() || lg__own_threads_exempt(tid))
        return true;
    counts->listed++;
    while (place < run()->slot_count && !lg__question_take(LG__ASKER_CRASH, place))
        place++;
    if (place == run()->slot_count) {
        counts->omitted++;
        return true;
    }
    threads.unasked += place - threads.asked; /* places where a late answer is being written */
    atomic_store(&threads.asked, place + 1); /* before the question: a waiting thread looks there */
    if (!lg__question_ask(LG__ASKER_CRASH, place, tid))
        threads.unasked++;
    return true;
}

/* Threads that will not answer, so that the crash does not wait for them. */
static uint32_t count_mute(void)
{
    uint32_t mute = 0, state;
    uint64_t blocked;
    for (uint32_t i = 0; i < threads.asked; i++)
        if (lg__question_answer(LG__ASKER_CRASH, i) == LG__ANSWER_ASKED && lg__thread_blocks(run()->slots[i].tid, &blocked, &state) != 0)
            mute++;
    return mute;
}

/* The kernel's account of a thread that did not answer. */
static void describe(uint32_t index, struct lg__crash_threads *counts)
{
    struct lg__thread *slot = &run()->slots[index];
    if (!lg__thread_describe(slot))
        counts->listed--; /* the thread ended meanwhile */
    else if (slot->how == LG_THREAD_MASKED)
        counts->masked++;
    else
        counts->silent++;
}

void lg__other_threads_stage(void)
{
    struct lg__crash_threads *counts = lg__run_stage(run(), 0, LG_STAGE_THREADS);
    uint64_t start = lg__os_clock_ns(CLOCK_MONOTONIC);
    lg__run_open_threads(run());
    memset(counts, 0, sizeof *counts);
    counts->cpu_ns = lg__os_thread_cpu_ns(lg__crash_holder());
    atomic_store(&threads.asked, 0);
    threads.unasked = threads.walked = 0;
    const uint32_t sequence = lg__crash_sequence(atomic_load(&lg__crash_current()->word));
    LG_FAULT_POINT("threads: asks");
    if (lg__question_begin(LG__ASKER_CRASH, sequence, start + deadline_part(1))) {
        long listed = lg__files_list_threads(ask_thread, counts);
        counts->error = listed < 0 ? (int32_t)-listed : 0;
    } else {
        counts->error = -1;
    }
    LG_FAULT_POINT("threads: asked");
    uint32_t expected = threads.asked - threads.unasked;
    lg__question_wait(LG__ASKER_CRASH, expected, start + ANSWER_NS);
    if (lg__question_answered(LG__ASKER_CRASH) < expected)
        lg__question_wait(LG__ASKER_CRASH, expected - count_mute(), start + deadline_part(PATIENCE_PART));
    counts->waited_ns = lg__os_clock_ns(CLOCK_MONOTONIC) - start;
    for (uint32_t i = 0; i < threads.asked; i++) {
        if (lg__question_answer(LG__ASKER_CRASH, i) == LG__ANSWER_NONE)
            continue;
        if (lg__question_close(LG__ASKER_CRASH, i))
            describe(i, counts);
        else
            counts->captured++;
    }
    lg__run_commit(run(), 0, LG_STAGE_THREADS, sizeof *counts);
}

void lg__other_threads_walk(void)
{
    uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + deadline_part(WALK_PART);
    while (threads.walked < threads.asked && lg__os_clock_ns(CLOCK_MONOTONIC) < until) {
        /* first: a walk that crashes is not tried again */
        const uint32_t place = threads.walked++;
        struct lg__thread *slot = &run()->slots[place];
        if (lg__question_answer(LG__ASKER_CRASH, place) != LG__ANSWER_NONE && atomic_load(&slot->commit) && slot->pc)
            lg__thread_walk(slot);
    }
}

bool lg__other_threads_left(void)
{
    return threads.walked < threads.asked;
}

uint32_t lg__other_threads_count(void)
{
    return atomic_load(&threads.asked);
}

void lg__other_threads_answer(const void *ucontext)
{
    lg__question_answer_crash(lg__other_threads_count(), ucontext);
}

void lg__other_threads_release(void)
{
    for (uint32_t i = 0; i < threads.asked; i++)
        lg__question_release(LG__ASKER_CRASH, i);
    atomic_store(&threads.asked, 0);
}

void lg__other_threads_wait_left(void)
{
    lg__question_wait_left(LG__ASKER_CRASH, lg__os_clock_ns(CLOCK_MONOTONIC) + deadline_part(PATIENCE_PART));
}
