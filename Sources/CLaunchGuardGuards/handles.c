/* Handles with generations. Slots lie in chunks that never move, each twice as large as the one
 * before, so that a reader needs no lock and waits for nobody.
 *
 * A slot's generation is odd while it has an object, and only grows: a handle is valid as long as
 * its generation is that of its slot. A released slot has the next generation and keeps its object,
 * which the unguarded operation gives, until it is to have another one. */
#include "launchguard/guard_handles.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "guards.h"

#define FIRST 64u  /* slots of the first chunk */
#define CHUNKS 20u /* LG_HANDLES_MAX in all */
static_assert(FIRST * ((1u << CHUNKS) - 1) == LG_HANDLES_MAX, "slots of all chunks");

struct slot {
    _Atomic(void *) object;
    _Atomic uint32_t generation;
    _Atomic uint32_t next; /* of the free slots: its index + 1; 0: none */
};

struct lg_handles {
    _Atomic(struct slot *) chunks[CHUNKS];
    _Atomic uint64_t free; /* index + 1 of the first free slot; above it a number of changes */
    _Atomic uint32_t used; /* slots that had an object once */
    char name[LG_GUARD_FIELD_MAX + 1];
};

uint32_t lg__handles_oldest = UINT32_MAX - 6;

/* ---- slots ---- */

static uint32_t chunk_of(uint32_t index)
{
    return 25u - (uint32_t)__builtin_clz(index + FIRST);
}

static uint32_t place_of(uint32_t index)
{
    return index + FIRST - (FIRST << chunk_of(index));
}

/* NULL: the table has no such slot. */
static struct slot *slot_at(const lg_handles *handles, uint32_t index)
{
    if (index >= LG_HANDLES_MAX)
        return NULL;
    struct slot *chunk = atomic_load_explicit(&handles->chunks[chunk_of(index)], memory_order_acquire);
    return chunk ? &chunk[place_of(index)] : NULL;
}

static bool add_chunk(lg_handles *handles, uint32_t number)
{
    struct slot *chunk = calloc(FIRST << number, sizeof *chunk), *none = NULL;
    if (!chunk)
        return false;
    if (!atomic_compare_exchange_strong(&handles->chunks[number], &none, chunk))
        free(chunk); /* another thread was faster */
    return true;
}

static bool take_free(lg_handles *handles, uint32_t *ret_index)
{
    uint64_t head = atomic_load(&handles->free), next;
    do {
        if ((uint32_t)head == 0)
            return false;
        *ret_index = (uint32_t)head - 1;
        next = ((head >> 32) + 1) << 32 | atomic_load(&slot_at(handles, *ret_index)->next);
        LG_FAULT_POINT("handle-free");
    } while (!atomic_compare_exchange_weak(&handles->free, &head, next));
    return true;
}

static void give_free(lg_handles *handles, uint32_t index)
{
    uint64_t head = atomic_load(&handles->free), next;
    do {
        atomic_store(&slot_at(handles, index)->next, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | (index + 1);
    } while (!atomic_compare_exchange_weak(&handles->free, &head, next));
}

static lg_status take_new(lg_handles *handles, uint32_t *ret_index)
{
    uint32_t index = atomic_load(&handles->used);
    do {
        if (index >= LG_HANDLES_MAX)
            return LG_ERR_LIMIT;
        if (!slot_at(handles, index) && !add_chunk(handles, chunk_of(index)))
            return LG_ERR_SYSTEM;
    } while (!atomic_compare_exchange_weak(&handles->used, &index, index + 1));
    *ret_index = index;
    return LG_OK;
}

/* ---- faults ---- */

static const char *fault_of(const lg_handles *handles, lg_handle handle, bool is_release)
{
    const struct slot *slot = slot_at(handles, (uint32_t)handle);
    const uint32_t generation = (uint32_t)(handle >> 32);
    if (!slot || !(generation & 1) || generation > atomic_load(&slot->generation))
        return "is none of";
    return is_release ? "is released twice in" : "is used after its release in";
}

/* The result of the call in place of the object. */
static void *lg__handles_claim(const lg_handles *handles, lg_handle handle, bool is_release, const void *site)
{
    char text[LG_GUARD_TEXT_MAX + 1], number[20];
    lg__hook_words(number, sizeof number, "0x%llx", (unsigned long long)handle);
    lg__hook_words(text, sizeof text, "handle %s %s \"%s\"", number, fault_of(handles, handle, is_release), handles->name);
    const lg_field fields[] = { { "handle", number }, { "table", handles->name } };
    const struct slot *slot = slot_at(handles, (uint32_t)handle);
    if (lg_guard_claim(LG_GUARD_HANDLE, site, text, fields, 2) || !slot)
        return NULL;
    /* never another object */
    void *object = atomic_load(&slot->object);
    return atomic_load(&slot->generation) == (uint32_t)(handle >> 32) + 1 ? object : NULL;
}

/* ---- the interface ---- */

lg_status lg_handles_create(const char *name, lg_handles **ret_handles)
{
    if (!ret_handles)
        return LG_ERR_ARGUMENT;
    lg_handles *handles = calloc(1, sizeof *handles);
    if (!handles)
        return LG_ERR_SYSTEM;
    lg__hook_words(handles->name, sizeof handles->name, "%s", name ? name : "");
    *ret_handles = handles;
    return LG_OK;
}

void lg_handles_destroy(lg_handles *handles)
{
    if (!handles)
        return;
    for (uint32_t i = 0; i < CHUNKS; i++)
        free(atomic_load(&handles->chunks[i]));
    free(handles);
}

lg_status lg_handles_make(lg_handles *handles, void *object, lg_handle *ret_handle)
{
    uint32_t index;
    if (!handles || !object || !ret_handle)
        return LG_ERR_ARGUMENT;
    if (!take_free(handles, &index)) {
        const lg_status status = take_new(handles, &index);
        if (status != LG_OK)
            return status;
    }
    struct slot *slot = slot_at(handles, index);
    uint32_t generation = atomic_load_explicit(&slot->generation, memory_order_relaxed);
    /* The released object is gone before the new one is there: a reader that sees the new one, with
     * an older generation in hand, finds that another generation stands there. */
    if (generation)
        atomic_store_explicit(&slot->generation, generation += 2, memory_order_release);
    atomic_store_explicit(&slot->object, object, memory_order_release);
    atomic_store_explicit(&slot->generation, ++generation, memory_order_release);
    *ret_handle = (uint64_t)generation << 32 | index;
    return LG_OK;
}

void *lg_handles_get(const lg_handles *handles, lg_handle handle)
{
    if (!handles || !handle)
        return NULL;
    const uint32_t generation = (uint32_t)(handle >> 32);
    const struct slot *slot = slot_at(handles, (uint32_t)handle);
    if (slot && (generation & 1) && atomic_load_explicit(&slot->generation, memory_order_acquire) == generation) {
        LG_FAULT_POINT("handle-valid");
        void *object = atomic_load_explicit(&slot->object, memory_order_acquire);
        if (atomic_load_explicit(&slot->generation, memory_order_relaxed) == generation)
            return object;
    }
    return lg__handles_claim(handles, handle, false, __builtin_return_address(0));
}

void *lg_handles_release(lg_handles *handles, lg_handle handle)
{
    if (!handles || !handle)
        return NULL;
    uint32_t generation = (uint32_t)(handle >> 32);
    struct slot *slot = slot_at(handles, (uint32_t)handle);
    if (!slot || !(generation & 1) || !atomic_compare_exchange_strong(&slot->generation, &generation, generation + 1))
        return lg__handles_claim(handles, handle, true, __builtin_return_address(0));
    void *object = atomic_load_explicit(&slot->object, memory_order_relaxed);
    if (generation < lg__handles_oldest)
        give_free(handles, (uint32_t)handle);
    return object;
}
