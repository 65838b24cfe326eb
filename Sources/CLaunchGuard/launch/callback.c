#include <stdlib.h>

#include "launch/launch.h"
#include "os/os.h"

/* Threads that wait, or that call into the program: the program's code deserves a stack of the usual size. */
#define WAITER_STACK_BYTES (128u << 10)

enum { PENDING, ANSWERED, VOID };

/* Never freed: an answer may come at any time from anywhere, and there are few: attempts times rungs. */
struct lg_completion {
    _Atomic uint32_t state; /* futex */
    lg_status outcome;
    lg_report_callback report;
    lg_repair_callback repair;
    lg_report_batch batch;
    void *user;
};

void lg_complete(lg_completion *done, lg_status outcome)
{
    uint32_t pending = PENDING;
    if (!done || atomic_load(&done->state) != PENDING)
        return;
    done->outcome = outcome;
    if (atomic_compare_exchange_strong(&done->state, &pending, ANSWERED))
        lg__os_futex_wake((const uint32_t *)&done->state);
}

static enum lg__answer wait_for(lg_completion *done, uint64_t timeout_ns)
{
    uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + timeout_ns;
    uint64_t now;
    while (atomic_load(&done->state) == PENDING && (now = lg__os_clock_ns(CLOCK_MONOTONIC)) < until)
        lg__os_futex_wait((const uint32_t *)&done->state, PENDING, until - now);
    uint32_t pending = PENDING;
    if (atomic_compare_exchange_strong(&done->state, &pending, VOID))
        return LG__ANSWER_TIMEOUT; /* from here on an answer has no effect */
    return done->outcome == LG_OK ? LG__ANSWER_OK : LG__ANSWER_FAILED;
}

static void *call(void *argument)
{
    lg_completion *done = argument;
    if (done->repair)
        done->repair(done, done->user);
    else
        done->report(&done->batch, done, done->user);
    return NULL;
}

static bool detach(void *(*function)(void *), void *argument, size_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_bytes)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    int error = pthread_create(&thread, &attributes, function, argument);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

bool lg__callback_detach(void *(*function)(void *), void *argument)
{
    return detach(function, argument, WAITER_STACK_BYTES);
}

/* On a thread of its own, so that a callback that hangs costs its time and no more. Without a thread, here. */
static enum lg__answer call_and_wait(lg_completion *done, uint64_t timeout_ns)
{
    if (!detach(call, done, 0))
        call(done);
    return wait_for(done, timeout_ns);
}

enum lg__answer lg__callback_repair(lg_repair_callback repair, void *user, uint64_t timeout_ns)
{
    lg_completion *done = calloc(1, sizeof *done);
    if (!done)
        return LG__ANSWER_FAILED;
    done->repair = repair;
    done->user = user;
    return call_and_wait(done, timeout_ns);
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

enum lg__answer lg__callback_report(lg_report_callback report, const lg_report_batch *batch, void *user, uint64_t timeout_ns)
{
    lg_completion *done = calloc(1, sizeof *done);
    if (!done || !copy_batch(&done->batch, batch)) {
        free(done);
        return LG__ANSWER_FAILED;
    }
    done->report = report;
    done->user = user;
    return call_and_wait(done, timeout_ns);
}
