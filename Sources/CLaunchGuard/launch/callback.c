/* Calls into the program: on threads of our own, on the calling thread, or through the program's executor. */
#include <stdlib.h>

#include "launch/internal.h"
#include "os/os.h"

/* Threads that wait; those that call into the program have a stack of the usual size. */
#define WAITER_STACK_BYTES (128u << 10)

enum { PENDING, ANSWERED, VOID, ABORTED };
enum kind { REPORT, REPAIR, GIVE_UP, WORK };

/* Never freed but by lg__callback_run(): an answer may come at any time from anywhere, and there are few: attempts times rungs. */
struct lg_completion {
    _Atomic uint32_t state; /* futex */
    lg_status outcome;
    enum kind kind;
    lg_launch *launch;
    lg_report_callback report;
    lg_repair_callback repair;
    lg_give_up_callback give_up;
    lg_status (*work)(void *argument);
    lg_report_batch batch;
    void *user;
    _Atomic uint32_t holders; /* of kind WORK: who may still touch it */
    _Atomic uint64_t end_ns;  /* CLOCK_MONOTONIC: until then the answer is waited for; LG__NO_TIMEOUT */
};

static void answer(lg_completion *done, lg_status outcome, uint32_t state)
{
    uint32_t pending = PENDING;
    if (atomic_load(&done->state) != PENDING)
        return;
    done->outcome = outcome;
    if (atomic_compare_exchange_strong(&done->state, &pending, state))
        lg__os_futex_wake((const uint32_t *)&done->state);
}

void lg_complete(lg_completion *done, lg_status outcome)
{
    if (done)
        answer(done, outcome, ANSWERED);
}

void lg__callback_abort(lg_completion *done)
{
    if (done)
        answer(done, LG_ERR_CLOSED, ABORTED);
}

void lg__callback_pass(lg_completion *done, uint64_t passed_ns)
{
    uint32_t pending = PENDING;
    uint64_t end = atomic_load(&done->end_ns);
    if (end == LG__NO_TIMEOUT)
        return;
    end = end > passed_ns ? end - passed_ns : 0;
    atomic_store(&done->end_ns, end);
    if (end <= lg__os_clock_ns(CLOCK_MONOTONIC) && atomic_compare_exchange_strong(&done->state, &pending, VOID))
        lg__os_futex_wake((const uint32_t *)&done->state);
}

static void wait_for(lg_completion *done)
{
    const uint64_t hour = UINT64_C(3600) * 1000000000u;
    for (;;) {
        uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), end = atomic_load(&done->end_ns);
        if (atomic_load(&done->state) != PENDING || now >= end)
            return;
        lg__os_futex_wait((const uint32_t *)&done->state, PENDING, end - now < hour ? end - now : hour);
    }
}

static void call(void *argument)
{
    lg_completion *done = argument;
    switch (done->kind) {
    case REPORT: done->report(&done->batch, done, done->user); break;
    case REPAIR: done->repair(done, done->user); break;
    case GIVE_UP: done->give_up(done->launch, done, done->user); break;
    case WORK:
        answer(done, done->work(done->user), ANSWERED);
        if (atomic_fetch_sub(&done->holders, 1) == 1)
            free(done);
        break;
    }
}

static void *call_on_thread(void *argument)
{
    call(argument);
    return NULL;
}

bool lg__callback_detach(void *(*function)(void *), void *argument, bool small)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (small)
        pthread_attr_setstacksize(&attributes, WAITER_STACK_BYTES);
    int error = pthread_create(&thread, &attributes, function, argument);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

static enum lg__answer ask(lg_launch *launch, lg_completion *done, bool here, uint64_t timeout_ns)
{
    uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    atomic_store(&done->end_ns, timeout_ns < LG__NO_TIMEOUT - now ? now + timeout_ns : LG__NO_TIMEOUT);
    pthread_mutex_lock(&launch->lock);
    launch->asked = done;
    pthread_mutex_unlock(&launch->lock);
    if (launch->options.callbacks == LG_CALLBACKS_EXECUTOR)
        launch->options.executor(call, done, launch->options.user);
    else if (here || launch->options.callbacks == LG_CALLBACKS_CALLER || !lg__callback_detach(call_on_thread, done, false))
        call(done); /* also where no thread is to be had */
    wait_for(done);
    pthread_mutex_lock(&launch->lock);
    if (launch->asked == done)
        launch->asked = NULL;
    pthread_mutex_unlock(&launch->lock);
    uint32_t pending = PENDING;
    if (atomic_compare_exchange_strong(&done->state, &pending, VOID) || pending == VOID)
        return LG__ANSWER_TIMEOUT; /* from here on an answer has no effect */
    if (atomic_load(&done->state) == ABORTED)
        return LG__ANSWER_ABORTED;
    return done->outcome == LG_OK ? LG__ANSWER_OK : LG__ANSWER_FAILED;
}

static lg_completion *make(lg_launch *launch, enum kind kind, void *user)
{
    lg_completion *done = calloc(1, sizeof *done);
    if (done) {
        done->kind = kind;
        done->launch = launch;
        done->user = user;
    }
    return done;
}

enum lg__answer lg__callback_repair(lg_launch *launch, lg_repair_callback repair, void *user, uint64_t timeout_ns)
{
    lg_completion *done = make(launch, REPAIR, user);
    if (!done)
        return LG__ANSWER_FAILED;
    done->repair = repair;
    return ask(launch, done, false, timeout_ns);
}

enum lg__answer lg__callback_give_up(lg_launch *launch, uint64_t timeout_ns)
{
    lg_completion *done = make(launch, GIVE_UP, launch->options.user);
    if (!done)
        return LG__ANSWER_FAILED;
    done->give_up = launch->options.on_give_up;
    return ask(launch, done, false, timeout_ns);
}

enum lg__answer lg__callback_run(lg_launch *launch, lg_status (*work)(void *argument), void *argument, bool here, uint64_t timeout_ns)
{
    lg_completion *done = make(launch, WORK, argument);
    if (!done)
        return work(argument) == LG_OK ? LG__ANSWER_OK : LG__ANSWER_FAILED;
    done->work = work;
    atomic_store(&done->holders, 2);
    enum lg__answer answered = ask(launch, done, here, timeout_ns);
    if (atomic_fetch_sub(&done->holders, 1) == 1)
        free(done);
    return answered;
}

/* A copy in one piece, which the callback may still be reading when the launch has gone on. Never freed, as the completion. */
static bool copy_batch(lg_report_batch *to, const lg_report_batch *from)
{
    size_t size = strlen(from->context) + 1 + from->report_count * sizeof *from->reports;
    for (uint32_t i = 0; i < from->report_count; i++)
        size += strlen(from->reports[i].path) + 1 + strlen(from->reports[i].uuid) + 1;
    lg_report *reports = malloc(size);
    if (!reports)
        return false;
    char *text = (char *)(reports + from->report_count);
    *to = *from;
    to->reports = reports;
    to->context = text;
    text = stpcpy(text, from->context) + 1;
    for (uint32_t i = 0; i < from->report_count; i++) {
        reports[i] = from->reports[i];
        reports[i].path = text;
        text = stpcpy(text, from->reports[i].path) + 1;
        reports[i].uuid = text;
        text = stpcpy(text, from->reports[i].uuid) + 1;
    }
    return true;
}

enum lg__answer lg__callback_report(lg_launch *launch, const lg_report_batch *batch, uint64_t timeout_ns)
{
    lg_completion *done = make(launch, REPORT, launch->options.user);
    if (!done || !copy_batch(&done->batch, batch)) {
        free(done);
        return LG__ANSWER_FAILED;
    }
    done->report = launch->options.on_report;
    return ask(launch, done, false, timeout_ns);
}
