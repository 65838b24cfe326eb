/* Confined calls. Work that comes from another thread waits in a queue, under the one lock of
 * lock.c; the home thread takes it piece by piece, and runs it without the lock. */
#include "launchguard/guard_confine.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "guards.h"

struct work {
    struct work *next;
    void (*run)(void *argument);
    void *argument;
    uint64_t since_ns;
};

struct lg_confinement {
    pthread_t home;
    pid_t process;
    const void *site; /* of the code that made it: it should serve it */
    uint64_t wait_ns;
    lg_executor executor;
    void *user;
    int event; /* can be read while work waits; −1: there is an executor */
    struct work *first, *last;
    uint32_t waiting;
    uint32_t with_executor; /* calls that it still owes */
    bool is_told;           /* that nobody serves it */
    bool is_destroyed;
    char name[LG_GUARD_FIELD_MAX + 1];
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool is_home(const lg_confinement *confinement)
{
    return pthread_equal(pthread_self(), confinement->home);
}

static bool lg__confine_claim(const lg_confinement *confinement, const void *site, const char *text, uint32_t count)
{
    char whole[LG_GUARD_TEXT_MAX + 1];
    lg__hook_words(whole, sizeof whole, text, confinement->name, count);
    const lg_field fields[] = { { "confinement", confinement->name } };
    return lg_guard_claim(LG_GUARD_CONFINEMENT, site, whole, fields, 1);
}

/* ---- the queue, under the lock ---- */

static void put(lg_confinement *confinement, struct work *work)
{
    if (confinement->last)
        confinement->last->next = work;
    else
        confinement->first = work;
    confinement->last = work;
    if (confinement->waiting++ == 0 && confinement->event >= 0)
        (void)eventfd_write(confinement->event, 1);
}

/* NULL: nothing waits. */
static struct work *take(lg_confinement *confinement)
{
    struct work *work = confinement->first;
    eventfd_t count;
    if (!work)
        return NULL;
    confinement->is_told = false;
    confinement->first = work->next;
    if (!work->next)
        confinement->last = NULL;
    if (--confinement->waiting == 0 && confinement->event >= 0)
        (void)eventfd_read(confinement->event, &count);
    return work;
}

/* Whether the first piece of work waits too long. *ret_tell: it was not reported so far. */
static bool is_late(lg_confinement *confinement, bool *ret_tell)
{
    const bool is = confinement->first && now_ns() - confinement->first->since_ns > confinement->wait_ns;
    *ret_tell = is && !confinement->is_told;
    confinement->is_told |= is;
    return is;
}

/* ---- running ---- */

/* Finish all other work before it runs, as it may not return. */
static void run(struct work *work)
{
    const struct work it = *work;
    free(work);
    it.run(it.argument);
}

static void lg__confine_run_for_executor(void *argument)
{
    lg_confinement *confinement = argument;
    lg__lock_take();
    const bool is_destroyed = confinement->is_destroyed;
    lg__lock_give();
    /* Where the executor has the wrong thread, the work waits for lg_confinement_serve(). */
    const bool here = is_destroyed || is_home(confinement) ||
                      !lg__confine_claim(confinement, confinement->site, "the executor of \"%s\" runs work on another thread than its home", 0);
    lg__lock_take();
    const bool is_over = --confinement->with_executor == 0 && confinement->is_destroyed;
    struct work *work = here ? take(confinement) : NULL;
    lg__lock_give();
    if (is_over)
        free(confinement);
    if (work)
        run(work);
}

static void lg__confine_tell_late(const lg_confinement *confinement, uint32_t waiting)
{
    lg__confine_claim(confinement, confinement->site, "the home thread of \"%s\" serves no loop: %u calls wait", waiting);
}

static lg_status lg__confine_wait_for_home(lg_confinement *confinement, void (*function)(void *), void *argument)
{
    struct work *work = malloc(sizeof *work);
    bool tell;
    if (!work)
        return LG_ERR_SYSTEM;
    *work = (struct work){ NULL, function, argument, now_ns() };
    lg__lock_take();
    const bool late = is_late(confinement, &tell), is_full = confinement->waiting >= LG_CONFINED_MAX;
    if (!is_full) {
        put(confinement, work);
        confinement->with_executor += confinement->executor != NULL;
    }
    const uint32_t waiting = confinement->waiting;
    lg__lock_give();
    if (tell)
        lg__confine_tell_late(confinement, waiting);
    if (is_full) {
        free(work);
        /* The caller's site has its event; this event is about the work that is lost. */
        lg__confine_claim(confinement, (const void *)(uintptr_t)function, "a call of \"%s\" is lost: %u wait already", waiting);
        return LG_ERR_LIMIT;
    }
    if (confinement->executor)
        confinement->executor(lg__confine_run_for_executor, confinement, confinement->user);
    return late ? LG_ERR_TIMEOUT : LG_OK;
}

/* ---- the interface ---- */

lg_status lg_confinement_create(const lg_confinement_options *options, lg_confinement **ret_confinement)
{
    static const lg_confinement_options none = LG_CONFINEMENT_OPTIONS_INIT;
    lg_confinement_options own = none;
    if (!ret_confinement)
        return LG_ERR_ARGUMENT;
    if (!lg__hook_confinement_options(&own, options ? options : &none))
        return LG_ERR_OPTION;
    options = &own;
    lg_confinement *confinement = calloc(1, sizeof *confinement);
    if (!confinement)
        return LG_ERR_SYSTEM;
    confinement->home = pthread_self();
    confinement->process = getpid();
    confinement->site = __builtin_return_address(0);
    confinement->wait_ns = (uint64_t)options->wait_ms * 1000000;
    confinement->executor = options->executor;
    confinement->user = options->user;
    confinement->event = options->executor ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    lg__hook_words(confinement->name, sizeof confinement->name, "%s", options->name ? options->name : "");
    if (!options->executor && confinement->event < 0) {
        free(confinement);
        return LG_ERR_SYSTEM;
    }
    *ret_confinement = confinement;
    return LG_OK;
}

uint32_t lg_confinement_destroy(lg_confinement *confinement)
{
    uint32_t lost = 0;
    if (!confinement)
        return 0;
    lg__lock_take();
    for (struct work *work; (work = take(confinement)); lost++)
        free(work);
    lg__lock_give();
    if (lost)
        lg__confine_claim(confinement, __builtin_return_address(0), "\"%s\" ends, and %u calls that wait are lost", lost);
    if (confinement->event >= 0)
        close(confinement->event);
    lg__lock_take();
    confinement->is_destroyed = true;
    const bool is_over = confinement->with_executor == 0;
    lg__lock_give();
    if (is_over)
        free(confinement);
    return lost;
}

lg_status lg_guard_confine(lg_confinement *confinement, void (*work)(void *argument), void *argument)
{
    if (!confinement || !work)
        return LG_ERR_ARGUMENT;
    if (!is_home(confinement) && lg__confine_claim(confinement, __builtin_return_address(0), "a call of \"%s\" comes from another thread than its home", 0))
        return lg__confine_wait_for_home(confinement, work, argument);
    work(argument);
    return LG_OK;
}

lg_status lg_confinement_serve(lg_confinement *confinement)
{
    if (!confinement)
        return LG_ERR_ARGUMENT;
    if (confinement->process != getpid())
        return LG_ERR_FORKED;
    if (!is_home(confinement))
        return LG_ERR_STATE;
    lg__lock_take();
    uint32_t left = confinement->waiting;
    struct work *work = take(confinement);
    lg__lock_give();
    while (work) {
        run(work);
        lg__lock_take();
        work = --left ? take(confinement) : NULL;
        lg__lock_give();
    }
    return LG_OK;
}

int lg_confinement_fd(const lg_confinement *confinement)
{
    return confinement ? confinement->event : -1;
}

lg_status lg_confinement_check(lg_confinement *confinement, uint32_t *ret_waiting)
{
    bool tell;
    if (!confinement)
        return LG_ERR_ARGUMENT;
    lg__lock_take();
    const bool late = is_late(confinement, &tell);
    const uint32_t waiting = confinement->waiting;
    lg__lock_give();
    if (tell)
        lg__confine_tell_late(confinement, waiting);
    if (ret_waiting)
        *ret_waiting = waiting;
    return late ? LG_ERR_TIMEOUT : LG_OK;
}
