/* The switchboard of the guards in guard/: gives them the run file, breadcrumbs, the first chances
 * of the handler, and a libc thread that reports events. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "guard/guard.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/session.h"
#include "store/given.h"

/* The thread looks this often whether a site has unreported events, and whether any thread of the
 * program is left. */
#define LOOK_NS UINT64_C(1000000000)
/* lg_stop() waits for so long for a call of on_event that is under way. */
#define CALL_NS LG_PATIENCE(UINT64_C(200000000))

/* of the switches; no code of the program runs under it */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lg_session *guarded; /* NULL until the first start */
static bool is_started;
static _Atomic uint32_t changes; /* futex */
/* The thread of an earlier start ends when it sees another number of starts. */
static _Atomic uint32_t starts;
static struct teller {
    lg_guard_callback on_event;
    void *user;
    bool quiet;
} teller; /* under the lock */

/* ---- services of the session for guards ---- */

static void leave_breadcrumb(lg_level level, const char *text, const lg_field *fields, size_t count)
{
    const char *end = memchr(text, 0, LG_GUARD_TEXT_MAX);
    lg_log_fields(guarded, level, "guard", text, end ? (size_t)(end - text) : LG_GUARD_TEXT_MAX, fields, count);
}

static void wake(void)
{
    atomic_fetch_add(&changes, 1);
    lg__os_futex_wake((const uint32_t *)&changes);
}

static void say(lg_guard_class guard_class, const char *text)
{
    char line[32 + LG_GUARD_TEXT_MAX + 1];
    lg__hook_words(line, sizeof line, "launchguard: guard %s: %s", lg_guard_class_name(guard_class), text);
    lg__capture_say(LG_MESSAGE_GUARD, line);
}

static void off_in_child(void)
{
    lg__switch_off();
}

/* ---- reports to on_event ---- */

static void print(const lg_guard_event *event)
{
    char line[512];
    const int size = snprintf(line, sizeof line, "launchguard: guard %s: %s (%s, event %llu at 0x%llx)\n", lg_guard_class_name(event->guard_class),
                              event->text, lg_guard_action_name(event->action), (unsigned long long)event->count, (unsigned long long)event->site);
    if (write(STDERR_FILENO, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1) < 0)
        return; /* nobody reads it */
}

/* One thread reports at a time, so that calls of on_event never overlap; no thread waits for
 * another one's call. */
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;
/* A thread that reports looks again: it may have passed the site. */
static _Atomic uint32_t asked;

static struct teller teller_now(void)
{
    pthread_mutex_lock(&lock);
    const struct teller now = teller;
    pthread_mutex_unlock(&lock);
    return now;
}

static void tell_all(bool at_once)
{
    const struct teller to = teller_now();
    for (uint32_t site = 0; guarded && site < LG__GUARD_SITES; site++) {
        struct lg__site_event event;
        if (!lg__site_take(site, at_once, &event))
            continue;
        if (event.event.skipped + 1 == event.event.count) /* the first: of a new plugin, perhaps */
            lg_modules_refresh(guarded);
        if (!to.quiet)
            print(&event.event);
        if (to.on_event)
            to.on_event(&event.event, to.user);
    }
}

/* Report the unreported events. `at_once`: also of sites that were reported less than a second ago.
 * false: another thread reports them, or this one already does. */
static bool tell(bool at_once)
{
    if (at_once)
        atomic_store(&asked, 1);
    do {
        if (pthread_mutex_trylock(&telling) != 0)
            return false; /* whoever reports sees `asked` after that */
        do
            tell_all(atomic_exchange(&asked, 0) || at_once);
        while (atomic_load(&asked));
        pthread_mutex_unlock(&telling);
    } while (atomic_load(&asked));
    return true;
}

void lg__guards_tell(void)
{
    const uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + CALL_NS;
    const uint32_t nobody_wakes = 0;
    while (!tell(true) && lg__os_clock_ns(CLOCK_MONOTONIC) < until)
        lg__os_futex_wait(&nobody_wakes, 0, CALL_NS / 100);
}

static void *tell_events(void *argument)
{
    const uint32_t mine = (uint32_t)(uintptr_t)argument;
    lg__capture_own_begin();
    lg__capture_thread_begin();
    while (atomic_load(&starts) == mine && !lg__capture_alone()) {
        const uint32_t seen = atomic_load(&changes);
        tell(false);
        lg__capture_sleep((const uint32_t *)&changes, seen, LOOK_NS);
    }
    if (atomic_load(&starts) == mine + 1) /* stopped, and not started again */
        tell(true);
    lg__capture_own_end();
    return NULL;
}

void lg__guards_stop(void)
{
    pthread_mutex_lock(&lock);
    lg__switch_off();
    if (is_started) {
        is_started = false;
        atomic_fetch_add(&starts, 1);
        wake();
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the switches ---- */

static bool has_handlers(const lg_session *session)
{
    return lg__session_check(session) == LG_OK && session->capture != LG_CAPTURE_NONE;
}

/* Status of guards from the status of a session: guards work without files. */
static lg_status check_guarded(const lg_session *session)
{
    if (!session)
        return LG_ERR_ARGUMENT;
    const lg_status status = lg__session_check(session);
    return status == LG_ERR_UNPROTECTED ? LG_OK : status;
}

static lg_status set_classes(const lg_session *session, uint32_t classes)
{
    const uint32_t possible = has_handlers(session) ? classes : classes & ~LG__SWITCH_BY_SIGNAL;
    lg__switch_set(possible);
    return possible == classes ? LG_OK : LG_ERR_UNPROTECTED;
}

static bool is_policy(lg_guard_policy policy)
{
    return policy == LG_GUARD_SURVIVE || policy == LG_GUARD_REPORT || policy == LG_GUARD_FATAL;
}

static bool are_classes(uint32_t classes)
{
    return (classes & ~LG_GUARDS_ALL) == 0;
}

static void open_once(lg_session *session)
{
    static const _Atomic uint32_t always = 1; /* without files: the switches are off in a child */
    static bool is_open;
    if (is_open)
        return;
    is_open = true;
    guarded = session;
    pthread_atfork(NULL, NULL, off_in_child);
    const struct lg__guard_host host = {
        .file = session->host.run.guards,
        .unforked = session->host.unforked ? session->host.unforked : &always,
        .breadcrumb = leave_breadcrumb,
        .wake = wake,
        .say = say,
        .walk = lg__capture_walk,
    };
    lg__event_open(&host);
    lg__capture_set_program_chance(lg__chance_claim);
}

static bool are_started(void)
{
    pthread_mutex_lock(&lock);
    const bool are = is_started;
    pthread_mutex_unlock(&lock);
    return are;
}

static lg_status start_guards(lg_session *session, const lg_guard_options *options)
{
    if (is_started)
        return LG_ERR_ALREADY;
    open_once(session);
    lg__site_open(session->host.run.guards, options->budget);
    lg__switch_set_policy(LG_GUARDS_ALL, options->policy);
    teller.on_event = options->on_event;
    teller.user = options->user;
    teller.quiet = options->quiet;
    const uint32_t mine = atomic_fetch_add(&starts, 1) + 1;
    if ((teller.on_event || !teller.quiet) && !lg__callback_detach(tell_events, (void *)(uintptr_t)mine, true))
        return LG_ERR_SYSTEM;
    is_started = true;
    return set_classes(session, options->classes);
}

lg_status lg_guard_start(lg_session *session, const lg_guard_options *options)
{
    static const lg_guard_options none = { .size = sizeof none };
    lg_guard_options own = none;
    lg_status status = check_guarded(session);
    if (status != LG_OK)
        return status;
    if (!lg__given_take(&lg__given_guard_options, &own, options ? options : &none, NULL))
        return LG_ERR_OPTION;
    options = &own;
    if (session->host.simulated)
        return LG_OK;
    /* not under the lock: the loader has one of its own */
    status = are_started() ? LG_ERR_ALREADY : lg__ranges_set(NULL);
    if (status != LG_OK)
        return status;
    /* names the modules of an event's frames, also where no crash refreshes the table */
    lg_modules_refresh(session);
    pthread_mutex_lock(&lock);
    status = start_guards(session, options);
    pthread_mutex_unlock(&lock);
    return status;
}

lg_status lg_guard_stop(lg_session *session)
{
    const lg_status status = check_guarded(session);
    if (status == LG_OK && !session->host.simulated)
        lg__guards_stop();
    return status;
}

/* Whether started guards can be changed. */
static lg_status check_change(const lg_session *session, uint32_t classes)
{
    const lg_status status = check_guarded(session);
    return status != LG_OK || are_classes(classes) ? status : LG_ERR_OPTION;
}

lg_status lg_guard_set_classes(lg_session *session, uint32_t classes)
{
    lg_status status = check_change(session, classes);
    if (status != LG_OK || session->host.simulated)
        return status;
    pthread_mutex_lock(&lock);
    status = is_started ? set_classes(session, classes) : LG_ERR_STATE;
    pthread_mutex_unlock(&lock);
    return status;
}

lg_status lg_guard_set_policy(lg_session *session, uint32_t classes, lg_guard_policy policy)
{
    lg_status status = check_change(session, classes);
    if (status == LG_OK && !is_policy(policy))
        return LG_ERR_OPTION;
    if (status != LG_OK || session->host.simulated)
        return status;
    pthread_mutex_lock(&lock);
    status = is_started ? LG_OK : LG_ERR_STATE;
    if (is_started)
        lg__switch_set_policy(classes, policy);
    pthread_mutex_unlock(&lock);
    return status;
}

lg_status lg_guard_set_lists(lg_session *session, const lg_guard_lists *lists)
{
    const lg_status status = check_guarded(session);
    if (status != LG_OK)
        return status;
    lg_guard_lists own = LG_GUARD_LISTS_INIT;
    if (lists && !lg__given_take(&lg__given_guard_lists, &own, lists, NULL))
        return LG_ERR_OPTION;
    if (session->host.simulated)
        return LG_OK;
    return are_started() ? lg__ranges_set(lists ? &own : NULL) : LG_ERR_STATE;
}
