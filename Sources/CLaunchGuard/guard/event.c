/* One fault: the decision, and its traces. */
#include "guard/guard.h"

#include "os/fault_point.h"
#include "os/os.h"

static struct lg__guard_host host;

void lg__event_open(const struct lg__guard_host *from)
{
    host = *from;
}

static lg_guard_action decide(lg_guard_class guard_class, uint32_t site, uint64_t now)
{
    switch (lg__switch_policy(guard_class)) {
    case LG_GUARD_REPORT: return LG_GUARD_REPORTED;
    case LG_GUARD_FATAL: return LG_GUARD_ENDED;
    case LG_GUARD_SURVIVE: break;
    }
    return lg__site_spend(site, now) ? LG_GUARD_SURVIVED : LG_GUARD_EXHAUSTED;
}

static void describe(uint32_t site, const struct lg__guard_fault *fault, uint64_t now)
{
    uint64_t frames[LG__GUARD_FRAMES];
    uint32_t count = host.walk ? host.walk(fault->ucontext, frames, LG__GUARD_FRAMES) : 0, first = 0;
    if (count == 0)
        count = lg__stack_walk(fault->ucontext, frames, LG__GUARD_FRAMES);
    while (first < count && frames[first] != fault->site)
        first++;
    if (first == count) { /* else our own functions come first */
        first = 0;
        if (fault->ucontext)
            frames[0] = fault->site; /* the call led to a place without code */
    }
    lg__site_describe(site, fault, frames + first, count - first, now);
}

/* End the program as abort() does, but without the lock of abort(). The prefix shows whose function
 * this is: the crash begins in it. */
static _Noreturn void lg__event_end_program(void)
{
    lg__os_signal_block(SIGABRT, false);
    lg__os_signal_send(lg__os_pid(), lg__os_tid(), SIGABRT);
    lg__os_signal_default(SIGABRT); /* the program's handler returned */
    lg__os_signal_send(lg__os_pid(), lg__os_tid(), SIGABRT);
    __builtin_trap();
}

static lg_level level_of(lg_guard_action action)
{
    return action == LG_GUARD_SURVIVED ? LG_LEVEL_WARNING : LG_LEVEL_ERROR;
}

static bool holds(lg_guard_class guard_class, uint64_t site)
{
    return lg_guard_is_working(guard_class) && atomic_load_explicit(host.unforked, memory_order_relaxed) && lg__ranges_hold(guard_class, site);
}

bool lg__event_survives(lg_guard_class guard_class, uint64_t site)
{
    return holds(guard_class, site) && lg__switch_policy(guard_class) == LG_GUARD_SURVIVE;
}

bool lg__event_claim(const struct lg__guard_fault *fault)
{
    if (!holds(fault->guard_class, fault->site))
        return false;
    const uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC);
    bool is_new;
    const uint32_t site = lg__site_find(fault->guard_class, fault->site, &is_new);
    const lg_guard_action action = decide(fault->guard_class, site, now);
    if (is_new)
        describe(site, fault, now);
    const bool is_due = lg__site_is_due(site, action, now);
    if (is_due) {
        LG_FAULT_POINT("guard: breadcrumb");
        host.breadcrumb(level_of(action), fault->text, fault->fields, fault->field_count);
    }
    /* From here on the program's callback may be called, and may end the process. */
    lg__site_count(site, action, now);
    if (is_due)
        host.wake();
    if (action == LG_GUARD_ENDED)
        host.say(fault->guard_class, fault->text);
    if (action == LG_GUARD_ENDED && !fault->ucontext)
        lg__event_end_program();
    return action == LG_GUARD_SURVIVED;
}

int lg_guard_claim(lg_guard_class guard_class, const void *site, const char *text, const lg_field *fields, size_t count)
{
    if (guard_class > LG_GUARD_HANDLE || !lg_guard_is_working(guard_class))
        return 0;
    const struct lg__guard_fault fault = {
        .guard_class = guard_class,
        .site = (uint64_t)(uintptr_t)(site ? site : __builtin_return_address(0)),
        .text = text ? text : "",
        .fields = fields,
        .field_count = fields ? count : 0,
    };
    return lg__event_claim(&fault);
}
