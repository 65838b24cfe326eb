/* Guarded types without their guards: operations run unchecked, and a handle is the pointer. */
#ifndef LG_CORE
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/launchguard.h"

/* ---- arrays, arithmetic, strings ---- */

uint32_t lg_guard_utf8_beyond_ascii(const char *bytes, size_t size, size_t *at)
{
    const unsigned char *text = (const unsigned char *)bytes + *at;
    const unsigned more = text[0] < 0xc0 ? 0 : text[0] < 0xe0 ? 1 : text[0] < 0xf0 ? 2 : 3;
    uint32_t code = more ? text[0] & (0x3fu >> more) : text[0];
    for (unsigned i = 1; i <= more; i++)
        code = code << 6 | (text[i] & 0x3f);
    *at += 1 + more;
    return code;
}

size_t lg_guard_copy(char *to, size_t room, const char *from)
{
    const size_t size = strlen(from);
    memcpy(to, from, size + 1);
    return size;
}

/* ---- handles ---- */

struct lg_handles {
    char unused;
};

lg_status lg_handles_create(const char *name, lg_handles **ret_handles)
{
    if (!ret_handles)
        return LG_ERR_ARGUMENT;
    lg_handles *handles = malloc(sizeof *handles);
    if (!handles)
        return LG_ERR_SYSTEM;
    *ret_handles = handles;
    return LG_OK;
}

void lg_handles_destroy(lg_handles *handles)
{
    free(handles);
}

lg_status lg_handles_make(lg_handles *handles, void *object, lg_handle *ret_handle)
{
    if (!handles || !object || !ret_handle)
        return LG_ERR_ARGUMENT;
    *ret_handle = (lg_handle)(uintptr_t)object;
    return LG_OK;
}

void *lg_handles_get(const lg_handles *handles, lg_handle handle)
{
    return handles ? (void *)(uintptr_t)handle : NULL;
}

void *lg_handles_release(lg_handles *handles, lg_handle handle)
{
    return lg_handles_get(handles, handle);
}

/* ---- observers ---- */

/* Those that were removed stay in the chain, without a callback: a post may stand there. */
struct observer {
    struct observer *next;
    lg_owner owner;
    lg_observer_callback callback;
    void *user;
};

struct lg_observers {
    struct observer *first;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all lists */
static lg_owner owners;

lg_status lg_owner_create(const char *name, lg_owner *ret_owner)
{
    if (!ret_owner)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&lock);
    *ret_owner = ++owners;
    pthread_mutex_unlock(&lock);
    return LG_OK;
}

lg_status lg_owner_end(lg_owner owner)
{
    return LG_OK;
}

lg_status lg_observers_create(const char *name, lg_observers **ret_observers)
{
    if (!ret_observers)
        return LG_ERR_ARGUMENT;
    lg_observers *observers = calloc(1, sizeof *observers);
    if (!observers)
        return LG_ERR_SYSTEM;
    *ret_observers = observers;
    return LG_OK;
}

void lg_observers_destroy(lg_observers *observers)
{
    for (struct observer *observer = observers ? observers->first : NULL, *next; observer; observer = next) {
        next = observer->next;
        free(observer);
    }
    free(observers);
}

lg_status lg_observers_add(lg_observers *observers, lg_owner owner, lg_observer_callback callback, void *user)
{
    if (!observers || !callback)
        return LG_ERR_ARGUMENT;
    struct observer *observer = calloc(1, sizeof *observer);
    if (!observer)
        return LG_ERR_SYSTEM;
    observer->owner = owner;
    observer->callback = callback;
    observer->user = user;
    pthread_mutex_lock(&lock);
    struct observer **at = &observers->first;
    while (*at)
        at = &(*at)->next;
    *at = observer;
    pthread_mutex_unlock(&lock);
    return LG_OK;
}

lg_status lg_observers_remove(lg_observers *observers, lg_owner owner, lg_observer_callback callback, void *user)
{
    struct observer *found = NULL;
    if (!observers || !callback)
        return LG_ERR_ARGUMENT;
    pthread_mutex_lock(&lock);
    for (struct observer *at = observers->first; at; at = at->next)
        if (at->owner == owner && at->callback == callback && at->user == user)
            found = at;
    if (found)
        found->callback = NULL;
    pthread_mutex_unlock(&lock);
    if (!found)
        abort();
    return LG_OK;
}

size_t lg_observers_count(const lg_observers *observers)
{
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (const struct observer *at = observers ? observers->first : NULL; at; at = at->next)
        count += at->callback != NULL;
    pthread_mutex_unlock(&lock);
    return count;
}

size_t lg_observers_post(lg_observers *observers, const void *event)
{
    size_t called = 0, left = 0;
    pthread_mutex_lock(&lock);
    for (const struct observer *at = observers ? observers->first : NULL; at; at = at->next)
        left++; /* observers that a callback adds come after these */
    for (const struct observer *at = left ? observers->first : NULL; left; at = at->next, left--) {
        const struct observer observer = *at;
        if (!observer.callback)
            continue;
        pthread_mutex_unlock(&lock);
        observer.callback(event, observer.user);
        called++;
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return called;
}

/* ---- confinement ---- */

struct lg_confinement {
    char unused;
};

lg_status lg_confinement_create(const lg_confinement_options *options, lg_confinement **ret_confinement)
{
    if (!ret_confinement)
        return LG_ERR_ARGUMENT;
    if (options && options->size != sizeof *options)
        return LG_ERR_OPTION;
    lg_confinement *confinement = malloc(sizeof *confinement);
    if (!confinement)
        return LG_ERR_SYSTEM;
    *ret_confinement = confinement;
    return LG_OK;
}

uint32_t lg_confinement_destroy(lg_confinement *confinement)
{
    free(confinement);
    return 0;
}

lg_status lg_guard_confine(lg_confinement *confinement, void (*work)(void *argument), void *argument)
{
    if (!confinement || !work)
        return LG_ERR_ARGUMENT;
    work(argument);
    return LG_OK;
}

lg_status lg_confinement_serve(lg_confinement *confinement)
{
    return confinement ? LG_OK : LG_ERR_ARGUMENT;
}

int lg_confinement_fd(const lg_confinement *confinement)
{
    return -1;
}

lg_status lg_confinement_check(lg_confinement *confinement, uint32_t *ret_waiting)
{
    if (!confinement)
        return LG_ERR_ARGUMENT;
    if (ret_waiting)
        *ret_waiting = 0;
    return LG_OK;
}
#endif
