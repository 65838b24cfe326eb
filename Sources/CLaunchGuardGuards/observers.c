/* Observers with owners, under the one lock of lock.c. A post walks by serial numbers: it
 * takes the next observer under the lock, lets go, and calls. So nothing has to be put in order
 * when a callback changes the list, or never returns. */
#include "launchguard/guard_observers.h"

#include <stdlib.h>
#include <string.h>

#include "guards.h"

struct observer {
    uint64_t serial; /* in the order of the adds */
    lg_owner owner;
    lg_observer_callback callback;
    void *user;
};

struct lg_observers {
    struct observer *all; /* sorted by serial */
    size_t count, room;
    uint64_t last_serial;
    struct lg_observers *next;
    char name[LG_GUARD_FIELD_MAX + 1];
};

/* An owner's number is its index, and above it its generation. */
struct owner {
    uint32_t generation; /* odd: it lives */
    uint32_t next_free;  /* index + 1 */
    size_t observers;    /* in all lists */
    char name[LG_GUARD_FIELD_MAX + 1];
};

static struct lg_observers *lists;
static struct owner *owners;
static uint32_t owner_count, owner_room, owner_free;

/* ---- under the lock ---- */

/* NULL: it has ended, or never was. */
static struct owner *living(lg_owner number)
{
    const uint32_t index = (uint32_t)number, generation = (uint32_t)(number >> 32);
    return index < owner_count && (generation & 1) && owners[index].generation == generation ? &owners[index] : NULL;
}

static size_t index_of(const lg_observers *list, lg_owner owner, lg_observer_callback callback, void *user)
{
    size_t i = list->count;
    while (i && !(list->all[i - 1].owner == owner && list->all[i - 1].callback == callback && list->all[i - 1].user == user))
        i--;
    return i; /* and 1; 0: it is not there */
}

/* The first observer whose serial is larger. */
static size_t index_after(const lg_observers *list, uint64_t serial)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (list->all[middle].serial > serial)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void drop(lg_observers *list, size_t index)
{
    struct owner *owner = living(list->all[index].owner);
    if (owner)
        owner->observers--;
    list->count--;
    memmove(&list->all[index], &list->all[index + 1], (list->count - index) * sizeof *list->all);
}

static void drop_all_of(lg_owner owner)
{
    for (lg_observers *list = lists; list; list = list->next)
        for (size_t i = list->count; i > 0; i--)
            if (list->all[i - 1].owner == owner)
                drop(list, i - 1);
}

static bool append(lg_observers *list, lg_owner owner, lg_observer_callback callback, void *user)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 4;
        struct observer *all = realloc(list->all, room * sizeof *all);
        if (!all)
            return false;
        list->all = all;
        list->room = room;
    }
    list->all[list->count++] = (struct observer){ ++list->last_serial, owner, callback, user };
    struct owner *of = living(owner);
    if (of)
        of->observers++;
    return true;
}

/* Index of an owner that nobody has; UINT32_MAX: there is no memory. */
static uint32_t take_owner(void)
{
    if (owner_free) {
        const uint32_t index = owner_free - 1;
        owner_free = owners[index].next_free;
        return index;
    }
    if (owner_count == owner_room) {
        const uint32_t room = owner_room ? 2 * owner_room : 16;
        struct owner *all = realloc(owners, room * sizeof *all);
        if (!all)
            return UINT32_MAX;
        owners = all;
        owner_room = room;
    }
    owners[owner_count].generation = 0;
    return owner_count++;
}

/* ---- faults, reported without the lock ---- */

static bool lg__observers_claim(const void *site, const lg_observers *list, lg_owner owner, const char *fault)
{
    char text[LG_GUARD_TEXT_MAX + 1], number[20];
    lg__hook_words(number, sizeof number, "0x%llx", (unsigned long long)owner);
    lg__hook_words(text, sizeof text, "an observer of \"%s\" %s", list->name, fault);
    const lg_field fields[] = { { "subject", list->name }, { "owner", number } };
    return lg_guard_claim(LG_GUARD_OBSERVER, site, text, fields, 2);
}

/* ---- owners ---- */

lg_status lg_owner_create(const char *name, lg_owner *ret_owner)
{
    if (!ret_owner)
        return LG_ERR_ARGUMENT;
    lg__lock_take();
    const uint32_t index = take_owner();
    if (index != UINT32_MAX) {
        owners[index].generation++;
        owners[index].observers = 0;
        lg__hook_words(owners[index].name, sizeof owners[index].name, "%s", name ? name : "");
        *ret_owner = (uint64_t)owners[index].generation << 32 | index;
    }
    lg__lock_give();
    return index == UINT32_MAX ? LG_ERR_SYSTEM : LG_OK;
}

lg_status lg_owner_end(lg_owner number)
{
    const void *site = __builtin_return_address(0);
    char text[LG_GUARD_TEXT_MAX + 1], name[LG_GUARD_FIELD_MAX + 1] = "";
    size_t left = 0;
    lg__lock_take();
    struct owner *owner = living(number);
    if (owner) {
        left = owner->observers;
        memcpy(name, owner->name, sizeof name);
        if (++owner->generation < UINT32_MAX - 1) { /* else no number is left */
            owner->next_free = owner_free;
            owner_free = (uint32_t)number + 1;
        }
    }
    lg__lock_give();
    if (!owner) {
        lg_guard_claim(LG_GUARD_OBSERVER, site, "an owner that is not there ends", NULL, 0);
        return LG_ERR_NOT_FOUND;
    }
    lg__hook_words(text, sizeof text, "owner \"%s\" ends before its observers: %zu", name, left);
    const lg_field fields[] = { { "owner", name } };
    if (left && lg_guard_claim(LG_GUARD_OBSERVER, site, text, fields, 1)) {
        lg__lock_take();
        drop_all_of(number);
        lg__lock_give();
    }
    return LG_OK;
}

/* ---- lists ---- */

lg_status lg_observers_create(const char *name, lg_observers **ret_observers)
{
    if (!ret_observers)
        return LG_ERR_ARGUMENT;
    lg_observers *list = calloc(1, sizeof *list);
    if (!list)
        return LG_ERR_SYSTEM;
    lg__hook_words(list->name, sizeof list->name, "%s", name ? name : "");
    lg__lock_take();
    list->next = lists;
    lists = list;
    lg__lock_give();
    *ret_observers = list;
    return LG_OK;
}

void lg_observers_destroy(lg_observers *list)
{
    if (!list)
        return;
    lg__lock_take();
    while (list->count)
        drop(list, list->count - 1);
    struct lg_observers **at = &lists;
    while (*at != list)
        at = &(*at)->next;
    *at = list->next;
    lg__lock_give();
    free(list->all);
    free(list);
}

lg_status lg_observers_add(lg_observers *list, lg_owner owner, lg_observer_callback callback, void *user)
{
    if (!list || !callback)
        return LG_ERR_ARGUMENT;
    lg__lock_take();
    const bool is_dead = !living(owner), is_there = index_of(list, owner, callback, user) != 0;
    bool is_added = !is_dead && !is_there && append(list, owner, callback, user);
    lg__lock_give();
    if (is_dead || is_there) {
        if (lg__observers_claim(__builtin_return_address(0), list, owner, is_dead ? "is added, and its owner has ended" : "is added twice"))
            return is_dead ? LG_ERR_NOT_FOUND : LG_ERR_DUPLICATE;
        lg__lock_take();
        is_added = append(list, owner, callback, user);
        lg__lock_give();
    }
    return is_added ? LG_OK : LG_ERR_SYSTEM;
}

lg_status lg_observers_remove(lg_observers *list, lg_owner owner, lg_observer_callback callback, void *user)
{
    if (!list || !callback)
        return LG_ERR_ARGUMENT;
    lg__lock_take();
    const size_t index = index_of(list, owner, callback, user);
    if (index)
        drop(list, index - 1);
    lg__lock_give();
    if (index)
        return LG_OK;
    if (!lg__observers_claim(__builtin_return_address(0), list, owner, "is removed, and is not there"))
        abort();
    return LG_ERR_NOT_FOUND;
}

size_t lg_observers_post(lg_observers *list, const void *event)
{
    size_t called = 0;
    if (!list)
        return 0;
    lg__lock_take();
    const uint64_t last = list->last_serial; /* a callback may add observers, for the next event */
    for (size_t next = 0; next < list->count && list->all[next].serial <= last;) {
        const struct observer observer = list->all[next];
        const bool is_dead = !living(observer.owner);
        lg__lock_give();
        if (is_dead && lg__observers_claim(__builtin_return_address(0), list, observer.owner, "has a dead owner, and an event")) {
            lg__lock_take();
            next = index_after(list, observer.serial - 1);
            if (next < list->count && list->all[next].serial == observer.serial)
                drop(list, next);
            continue;
        }
        observer.callback(event, observer.user);
        called++;
        lg__lock_take();
        next = index_after(list, observer.serial);
    }
    lg__lock_give();
    return called;
}

size_t lg_observers_count(const lg_observers *list)
{
    if (!list)
        return 0;
    lg__lock_take();
    const size_t count = list->count;
    lg__lock_give();
    return count;
}
