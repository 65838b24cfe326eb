/* Calls into the program: on threads of our own, on the calling thread, or through the program's
 * executor. */
#include <signal.h>
#include <stdlib.h>

#include "capture/capture.h"
#include "launch/internal.h"
#include "os/os.h"
#include "store/text.h"

/* VOID: the time is over. LATE: and the answer came after it. */
enum { PENDING, ANSWERED_OK, ANSWERED_FAILED, VOID, ABORTED, LATE };

/* Never freed: an answer may come at any time from anywhere, and an executor may run its work late
 * or twice. There are few: attempts times rungs. */
struct lg_completion {
    _Atomic uint32_t state;  /* futex; leaves PENDING once, and VOID at most once */
    _Atomic uint32_t called;
    struct lg_completion *next; /* older one of the life */
    struct lg__life *life;
    uint32_t index;
    lg__work work;
    lg_repair_callback repair;
    const char *name; /* of the repair */
    lg_report_batch batch;
    void *user;
    _Atomic uint64_t end_ns; /* CLOCK_MONOTONIC, the end of the wait; LG__NO_TIMEOUT */
};

static void change(lg_completion *done, uint32_t from, uint32_t to)
{
    if (atomic_compare_exchange_strong(&done->state, &from, to))
        lg__os_futex_wake((const uint32_t *)&done->state);
}

static void answer_once(lg_completion *done, uint32_t state)
{
    change(done, PENDING, state);
}

void lg_complete(lg_completion *done, lg_status outcome)
{
    if (!done)
        return;
    answer_once(done, outcome == LG_OK ? ANSWERED_OK : ANSWERED_FAILED);
    change(done, VOID, LATE);
}

int lg_completion_wanted(const lg_completion *done)
{
    if (!done || atomic_load(&done->state) != PENDING)
        return 0;
    const struct lg__host *host = done->life->launch->host;
    const struct lg__state *state = host->run.state;
    return lg__host_unforked(host) && !atomic_load(&state->announced) && !atomic_load(&state->ended);
}

lg_launch *lg__callback_repairs(const lg_completion *done)
{
    return done->repair ? done->life->launch : NULL;
}

void lg_completion_wait_unwanted(const lg_completion *done)
{
    while (done && lg_completion_wanted(done))
        lg__os_futex_wait((const uint32_t *)&done->state, PENDING, LG__LAUNCH_LOOK_NS);
}

/* In the log as a whole; of a repair also in the ledger. */
static void keep_reason(const lg_completion *done, const char *text)
{
    const lg_launch *launch = done->life->launch;
    if (!done->repair) {
        lg__host_log(launch->host, LG_LEVEL_ERROR, "launch %s: the %s failed: %s", launch->name, done->batch.context ? "report" : "give-up", text);
        return;
    }
    lg__host_log(launch->host, LG_LEVEL_ERROR, "launch %s: repair \"%s\" failed: %s", launch->name, done->name, text);
    LG__WITH_CONTEXT(done->life, context) {
        memset(context->reason, 0, sizeof context->reason);
        memcpy(context->reason, text, lg__text_beginning(text, sizeof context->reason - 1));
    }
}

void lg_complete_text(lg_completion *done, lg_status outcome, const char *text)
{
    /* The reason comes first: after the answer the launch goes on. */
    if (done && text && outcome != LG_OK && atomic_load(&done->state) == PENDING)
        keep_reason(done, text);
    lg_complete(done, outcome);
    if (done)
        lg__host_hand_over(done->life->launch->host);
}

void lg__callback_abort(struct lg__life *life)
{
    for (lg_completion *done = life->completions; done; done = done->next) {
        answer_once(done, ABORTED);
        change(done, VOID, ABORTED); /* the grace of a repair ends, too */
    }
}

void lg__callback_pass(struct lg__life *life, uint64_t passed_ns)
{
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    for (lg_completion *done = life->completions; done; done = done->next) {
        uint64_t end = atomic_load(&done->end_ns);
        uint32_t state = atomic_load(&done->state);
        if ((state != PENDING && state != VOID) || end == LG__NO_TIMEOUT)
            continue;
        end = end > passed_ns ? end - passed_ns : 0;
        atomic_store(&done->end_ns, end);
        if (end <= now)
            answer_once(done, VOID);
        lg__os_futex_wake((const uint32_t *)&done->state);
    }
}

/* Until the state is another. */
static void wait_for(lg_completion *done, uint32_t state)
{
    for (;;) {
        uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), end = atomic_load(&done->end_ns);
        if (atomic_load(&done->state) != state || now >= end || lg__launch_interrupted(done->life->launch))
            return;
        lg__os_futex_wait((const uint32_t *)&done->state, state, end - now < LG__LAUNCH_LOOK_NS ? end - now : LG__LAUNCH_LOOK_NS);
    }
}

/* A repair has not answered in its time. Nothing else of the launch runs beside it, unless its
 * grace is over too. */
static enum lg__answer give_grace(lg_completion *done)
{
    const uint64_t grace_ns = (uint64_t)done->life->launch->options.repair_grace_ms * 1000000u;
    if (!atomic_load(&done->called))
        return LG__ANSWER_TIMEOUT; /* and never will be */
    atomic_store(&done->end_ns, lg__os_clock_ns(CLOCK_MONOTONIC) + grace_ns);
    wait_for(done, VOID);
    const uint32_t state = atomic_load(&done->state);
    return state == VOID ? LG__ANSWER_OVERRUN : state == ABORTED ? LG__ANSWER_ABORTED : LG__ANSWER_TIMEOUT;
}

/* The report has its turn. false: the life is over, and nothing is reported. */
static bool note_told(struct lg__life *life, const lg_report_batch *batch)
{
    bool reported = false;
    uint64_t ordinal = batch->report_count ? batch->reports[batch->report_count - 1]->ordinal : 0;
    LG__WITH_CONTEXT(life, context) {
        if (ordinal > context->reported_ordinal)
            context->reported_ordinal = ordinal;
        for (uint32_t i = 0; i < batch->report_count; i++)
            lg__reports_tell(life->launch->host, batch->reports[i]->ordinal);
        lg__decide_told(context);
        reported = true;
    }
    return reported;
}

/* Runs once. Work other than a report runs only while a thread waits for it: an executor that runs
 * it late or again does nothing. */
static void call_program(void *argument)
{
    lg_completion *done = argument;
    lg_launch *launch = done->life->launch;
    const lg_report_batch *batch = done->batch.context ? &done->batch : NULL;
    /* A report counts as reported as soon as it has its turn, also after the wait. */
    const uint32_t state = atomic_load(&done->state);
    if (atomic_exchange(&done->called, 1) || (state != PENDING && !(batch && state == VOID)))
        return;
    if (batch && !note_told(done->life, batch))
        return;
    if (done->work)
        lg_complete(done, done->work(done->life, done->index));
    else if (done->repair)
        done->repair(done, done->user);
    else if (batch)
        launch->options.on_report(batch, done, launch->options.user);
    else
        launch->options.on_give_up(launch, done->index, done, launch->options.user);
}

static void *call_on_thread(void *argument)
{
    call_program(argument);
    return NULL;
}

bool lg__callback_detach(void *(*function)(void *), void *argument, bool quiet)
{
    pthread_attr_t attributes;
    pthread_t thread;
    const uint64_t blocked = lg__os_signals_blocked();
    lg__os_first_thread_note();
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (quiet)
        lg__os_signals_set(blocked | lg__capture_quiet_mask());
    /* a quiet thread begins by itself: lg__capture_thread_begin() */
    int error = (quiet ? lg__capture_create_thread : pthread_create)(&thread, &attributes, function, argument);
    lg__os_signals_set(blocked);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

/* Keep the completion for the life and call it. false: the life is over, and the completion is
 * freed. */
static bool call_for(struct lg__life *life, lg_completion *done, uint64_t timeout_ns)
{
    lg_launch *launch = life->launch;
    done->life = life;
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    atomic_store(&done->end_ns, timeout_ns < LG__NO_TIMEOUT - now ? now + timeout_ns : LG__NO_TIMEOUT);
    pthread_mutex_lock(&launch->lock);
    bool goes_on = lg__life_current(life);
    if (goes_on) {
        done->next = life->completions;
        life->completions = done;
    }
    pthread_mutex_unlock(&launch->lock);
    if (!goes_on) {
        free(done);
        return false;
    }
    if (launch->options.callbacks == LG_CALLBACKS_EXECUTOR)
        launch->options.executor(call_program, done, launch->options.user);
    else if (launch->options.callbacks == LG_CALLBACKS_CALLER || !lg__callback_detach(call_on_thread, done, false))
        call_program(done); /* also where no thread is to be had */
    return true;
}

static enum lg__answer ask_program(struct lg__life *life, const lg_completion *what, uint64_t timeout_ns)
{
    lg_completion *done = malloc(sizeof *done);
    if (!done)
        return LG__ANSWER_FAILED;
    *done = *what;
    if (!call_for(life, done, timeout_ns))
        return LG__ANSWER_ABORTED;
    wait_for(done, PENDING);
    answer_once(done, VOID); /* from here on another answer has no effect */
    switch (atomic_load(&done->state)) {
    case ANSWERED_OK: return LG__ANSWER_OK;
    case ANSWERED_FAILED: return LG__ANSWER_FAILED;
    case VOID: return done->repair ? give_grace(done) : LG__ANSWER_TIMEOUT;
    case LATE: return LG__ANSWER_TIMEOUT;
    default: return LG__ANSWER_ABORTED;
    }
}

enum lg__answer lg__callback_repair(struct lg__life *life, const struct lg__rung *rung)
{
    return ask_program(life, &(lg_completion){ .repair = rung->run, .name = rung->name, .user = rung->user }, (uint64_t)rung->timeout_ms * 1000000u);
}

enum lg__answer lg__callback_give_up(struct lg__life *life, uint32_t hold, uint64_t timeout_ns)
{
    return ask_program(life, &(lg_completion){ .index = hold }, timeout_ns);
}

enum lg__answer lg__callback_run(struct lg__life *life, lg__work work, uint32_t index, bool here, uint64_t timeout_ns)
{
    lg_callbacks where = life->launch->options.callbacks;
    if (where == LG_CALLBACKS_CALLER || (here && where != LG_CALLBACKS_EXECUTOR))
        return work(life, index) == LG_OK ? LG__ANSWER_OK : LG__ANSWER_FAILED;
    return ask_program(life, &(lg_completion){ .work = work, .index = index }, timeout_ns);
}

void lg__callback_start(struct lg__life *life, lg__work work, uint32_t index)
{
    lg_completion *done = calloc(1, sizeof *done);
    if (!done)
        return;
    done->work = work;
    done->index = index;
    call_for(life, done, LG__NO_TIMEOUT);
}

/* A copy in one piece, which the callback may still be reading when the launch has gone on. Never
 * freed, as the completion. */
static bool copy_batch(lg_report_batch *to, const lg_report_batch *from)
{
    const uint32_t count = from->report_count;
    size_t size = strlen(from->context) + 1 + count * (sizeof(lg_report) + sizeof(lg_report *));
    for (uint32_t i = 0; i < count; i++)
        size += strlen(from->reports[i]->path) + 1 + strlen(from->reports[i]->uuid) + 1;
    lg_report *reports = malloc(size);
    if (!reports)
        return false;
    const lg_report **list = (const lg_report **)(void *)(reports + count);
    char *text = (char *)(list + count);
    *to = *from;
    to->reports = list;
    to->context = text;
    text = stpcpy(text, from->context) + 1;
    for (uint32_t i = 0; i < count; i++) {
        list[i] = &reports[i];
        reports[i] = *from->reports[i];
        reports[i].path = text;
        text = stpcpy(text, from->reports[i]->path) + 1;
        reports[i].uuid = text;
        text = stpcpy(text, from->reports[i]->uuid) + 1;
    }
    return true;
}

enum lg__answer lg__callback_report(struct lg__life *life, const lg_report_batch *batch, uint64_t timeout_ns)
{
    lg_completion what = { .life = life };
    return copy_batch(&what.batch, batch) ? ask_program(life, &what, timeout_ns) : LG__ANSWER_FAILED;
}
