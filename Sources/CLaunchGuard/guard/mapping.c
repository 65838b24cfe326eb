/* Registered mappings: a page that is gone becomes a page of zeros. */
#include "guard/guard.h"

#include <pthread.h>
#include <sys/mman.h>

#include "launchguard/guard_memory.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "store/map.h"

/* Most pages of one event: a program that reads on through a mapping that is gone does not spend
 * its budget at once. To look at one costs less than a microsecond. */
#define PAGES_MAX 256u
/* A thread that finds another one at work in a mapping waits for so long at most, and goes back to
 * its access, which faults again or not. */
#define WAIT_NS UINT64_C(1000000)

/* Accesses that are repeated in a row because the system says that the page is there. Not every
 * system that says so is right. */
#define REPEATS_MAX 1000u

static struct mapping {
    _Atomic(uint8_t *) base; /* NULL: free; set last */
    _Atomic size_t size;     /* whole pages */
    _Atomic int protection;
    _Atomic size_t lost;
    _Atomic uint32_t repeats;
    _Atomic uint32_t turn;   /* enum turn (futex) */
} mappings[LG_GUARD_MAPS_MAX];
static _Atomic size_t page_size; /* of the kernel */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of those who register and take back */

/* ---- one thread at a time in a mapping ---- */

enum turn { NOBODY, ONE, ONE_AND_OTHERS_WAIT };

static bool enter(struct mapping *mapping)
{
    uint32_t turn = NOBODY;
    if (atomic_compare_exchange_strong(&mapping->turn, &turn, ONE))
        return true;
    turn = ONE;
    atomic_compare_exchange_strong(&mapping->turn, &turn, ONE_AND_OTHERS_WAIT);
    lg__os_futex_wait((const uint32_t *)&mapping->turn, ONE_AND_OTHERS_WAIT, WAIT_NS);
    return false;
}

static void leave(struct mapping *mapping)
{
    if (atomic_exchange(&mapping->turn, NOBODY) == ONE_AND_OTHERS_WAIT)
        lg__os_futex_wake((const uint32_t *)&mapping->turn);
}

/* ---- registering: ordinary threads ---- */

static bool is_beside(const struct mapping *mapping, const uint8_t *base, size_t size)
{
    const uint8_t *there = atomic_load(&mapping->base);
    return !there || base + size <= there || there + atomic_load(&mapping->size) <= base;
}

static lg_status add(uint8_t *base, size_t size, int protection)
{
    struct mapping *free = NULL;
    for (size_t i = LG_GUARD_MAPS_MAX; i-- > 0;) {
        if (!is_beside(&mappings[i], base, size))
            return LG_ERR_ALREADY;
        free = atomic_load(&mappings[i].base) ? free : &mappings[i];
    }
    if (!free)
        return LG_ERR_LIMIT;
    atomic_store(&free->size, size);
    atomic_store(&free->protection, protection);
    atomic_store(&free->lost, 0);
    atomic_store(&free->base, base);
    return LG_OK;
}

lg_status lg__mapping_add(void *base, size_t size, int protection)
{
    const size_t page = lg__os_page_size(), whole = lg__os_to_pages(size);
    if ((uintptr_t)base % page || whole < size || (uintptr_t)base + whole < whole || !(protection & PROT_READ) || protection & ~(PROT_READ | PROT_WRITE))
        return LG_ERR_OPTION;
    atomic_store(&page_size, page);
    pthread_mutex_lock(&lock);
    const lg_status status = add(base, whole, protection);
    pthread_mutex_unlock(&lock);
    return status;
}

static struct mapping *find(const void *base)
{
    for (size_t i = 0; i < LG_GUARD_MAPS_MAX; i++)
        if (atomic_load(&mappings[i].base) == base)
            return &mappings[i];
    return NULL;
}

lg_status lg__mapping_remove(void *base)
{
    pthread_mutex_lock(&lock);
    struct mapping *mapping = find(base);
    if (mapping) {
        while (!enter(mapping)) {}
        atomic_store(&mapping->base, NULL);
        leave(mapping);
    }
    pthread_mutex_unlock(&lock);
    return mapping ? LG_OK : LG_ERR_NOT_FOUND;
}

size_t lg_guard_map_lost(const void *base)
{
    const struct mapping *mapping = base ? find(base) : NULL;
    return mapping ? atomic_load(&mapping->lost) : 0;
}

/* ---- a fault: the handler ---- */

/* The page of an address in a mapping; NULL: the address is elsewhere. */
static uint8_t *page_in(const struct mapping *mapping, const void *address)
{
    return lg__map_page_of(atomic_load(&mapping->base), atomic_load(&mapping->size), atomic_load(&page_size), address);
}

static bool is_allowed(const struct mapping *mapping, const uint8_t *page, const void *at, uint64_t pc, const void *ucontext)
{
    const uint8_t *base = atomic_load(&mapping->base);
    const size_t bytes = atomic_load(&mapping->size), page_bytes = atomic_load(&page_size);
    char text[LG_GUARD_TEXT_MAX + 1], address[24], begin[24], size[24];
    lg__hook_words(text, sizeof text, "page %zu of %zu of a mapping is not there", (size_t)(page - base) / page_bytes + 1, bytes / page_bytes);
    lg__hook_words(address, sizeof address, "0x%zx", (size_t)at);
    lg__hook_words(begin, sizeof begin, "0x%zx", (size_t)base);
    lg__hook_words(size, sizeof size, "%zu", bytes);
    const lg_field fields[] = { { "address", address }, { "mapping", begin }, { "size", size } };
    const struct lg__guard_fault fault = { LG_GUARD_MEMORY, pc, ucontext, text, fields, sizeof fields / sizeof fields[0] };
    return lg__event_claim(&fault);
}

/* Replace the page, and those right after it that are gone as well. */
static bool replace(struct mapping *mapping, uint8_t *page)
{
    const size_t bytes = atomic_load(&page_size);
    const size_t left = (size_t)(atomic_load(&mapping->base) + atomic_load(&mapping->size) - page) / bytes;
    size_t count = 1;
    while (count < left && count < PAGES_MAX && lg__os_readable((uint64_t)(uintptr_t)(page + count * bytes)) == 0)
        count++;
    if (lg__os_pages_replace(page, count * bytes, atomic_load(&mapping->protection)) != 0)
        return false;
    atomic_store(&mapping->repeats, 0);
    atomic_fetch_add(&mapping->lost, count);
    return true;
}

/* No other thread is at work in the mapping, which may have been taken back meanwhile. */
static bool mend(struct mapping *mapping, const struct lg__arch_fault *fault, const void *address, const void *ucontext)
{
    uint8_t *page = page_in(mapping, address);
    const bool writes = fault->access != LG__ACCESS_READ && atomic_load(&mapping->protection) & PROT_WRITE;
    if (!page)
        return false;
    /* Another thread has mended the page, and may have written to it since. */
    if (lg__os_pages_there(page, atomic_load(&page_size), writes) && atomic_fetch_add(&mapping->repeats, 1) < REPEATS_MAX)
        return true;
    if (!is_allowed(mapping, page, address, fault->pc, ucontext))
        return false;
    LG_FAULT_POINT("mapping: allowed");
    return replace(mapping, page);
}

bool lg__mapping_claim(int signal, const siginfo_t *info, const void *ucontext)
{
    struct lg__arch_fault fault;
    if (signal != SIGBUS || info->si_code != BUS_ADRERR || !lg_guard_is_working(LG_GUARD_MEMORY))
        return false;
    lg__arch_fault(ucontext, &fault);
    if (fault.access == LG__ACCESS_FETCH)
        return false;
    for (size_t i = 0; i < LG_GUARD_MAPS_MAX; i++) {
        if (!page_in(&mappings[i], info->si_addr))
            continue;
        if (!enter(&mappings[i]))
            return true; /* the access is repeated */
        const bool is_mended = mend(&mappings[i], &fault, info->si_addr, ucontext);
        leave(&mappings[i]);
        return is_mended;
    }
    return false;
}
