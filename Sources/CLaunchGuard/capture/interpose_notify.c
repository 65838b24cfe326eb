/* timer_create() and mq_notify() of the shared library. For SIGEV_THREAD, libc makes a thread of
 * its own, with all signals blocked and without an alternate stack, and calls the function of the
 * program there. */
#include "capture/capture.h"

#ifdef LG_INTERPOSE_SIGNALS
#include "capture/internal.h"

#include <mqueue.h>

#define EXPORT __attribute__((visibility("default")))

/* A function of the program and its value. Nothing tells when libc calls a function for the last
 * time, so a place is kept for good, and equal ones share it. */
struct notification {
    _Atomic uint32_t state;
    void (*function)(union sigval);
    union sigval value;
};
enum { FREE, TAKEN, WHOLE };
#define NOTIFICATIONS 256u
static struct notification notifications[NOTIFICATIONS];

static void run(union sigval value)
{
    const struct notification *notification = value.sival_ptr;
    lg__capture_thread_begin();
    notification->function(notification->value);
}

/* NULL: all places are taken. */
static struct notification *place_of(const struct sigevent *event)
{
    for (struct notification *place = notifications; place < notifications + NOTIFICATIONS; place++) {
        uint32_t state = FREE;
        if (atomic_compare_exchange_strong(&place->state, &state, TAKEN)) {
            place->function = event->sigev_notify_function;
            place->value = event->sigev_value;
            atomic_store(&place->state, WHOLE);
            return place;
        }
        if (state == WHOLE && place->function == event->sigev_notify_function && place->value.sival_ptr == event->sigev_value.sival_ptr)
            return place;
    }
    return NULL;
}

/* Beyond the places, the function runs as without LaunchGuard. */
static const struct sigevent *protect(const struct sigevent *event, struct sigevent *to)
{
    struct notification *place = event && event->sigev_notify == SIGEV_THREAD ? place_of(event) : NULL;
    if (!place)
        return event;
    *to = *event;
    to->sigev_notify_function = run;
    to->sigev_value.sival_ptr = place;
    return to;
}

EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *ret_timer)
{
    struct sigevent to;
    return lg__libc_timer_create(clock, protect(event, &to) == &to ? &to : event, ret_timer);
}

EXPORT int mq_notify(mqd_t queue, const struct sigevent *event)
{
    struct sigevent to;
    return lg__libc_mq_notify(queue, protect(event, &to));
}
#else
typedef int lg__notify_not_interposed;
#endif
