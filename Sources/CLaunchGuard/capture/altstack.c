/* Alternate signal stacks: without one, the overflow of a thread's stack leaves no trace. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

#include "capture/internal.h"

/* Room for the kernel's frame four times over (a crash inside the handler nests). */
#define ALTSTACK_BYTES 65536u

/* A program that does not know of LaunchGuard may have handlers made for the thread's own stack,
 * and our handler calls them on the alternate one. So the alternate stack is as large as the own
 * one, up to a bound. Of a stack without a limit, 8 MiB are the usual one. */
#define GUEST_BYTES (UINT64_C(8) << 20)
#define GUEST_MOST_BYTES (UINT64_C(1) << 30)

struct altstack {
    uint8_t *base; /* guard page, stack, guard page; NULL: none of ours */
    size_t size;   /* with the guards */
    uint32_t rounds;
    uint64_t stack_low, stack_high;
};

/* Initial-exec: exists with the thread, is never allocated on first use. */
static __thread struct altstack mine __attribute__((tls_model("initial-exec")));
static pthread_key_t altstack_key LG__SMALL;
static pthread_once_t key_once LG__SMALL = PTHREAD_ONCE_INIT;
static bool key_made LG__SMALL;

size_t lg__altstack_least(void)
{
    size_t size = 4 * lg__os_min_altstack();
    if (size < ALTSTACK_BYTES)
        size = ALTSTACK_BYTES;
    return lg__os_to_pages(size);
}

static _Atomic bool is_large LG__SMALL; /* where large stacks cost only addresses */
/* Addresses are: a thread gets no arena of malloc(), which libc would call. */
static _Atomic bool is_limited LG__SMALL;

/* For a thread that is in the middle of its work: 0 before the first session. */
static _Atomic size_t late_bytes LG__SMALL, page_bytes LG__SMALL;

void lg__altstack_prepare(void)
{
    /* a thread may begin meanwhile */
    atomic_store_explicit(&late_bytes, lg__altstack_least(), memory_order_relaxed);
    atomic_store_explicit(&page_bytes, lg__os_page_size(), memory_order_relaxed);
    atomic_store_explicit(&is_limited, lg__os_addresses_are_limited(), memory_order_relaxed);
    /* a forked child knows from its parent */
    const bool has_large = lg__fixed.options.preloaded && !is_limited && (is_large || lg__os_untouched_is_free());
    atomic_store_explicit(&is_large, has_large, memory_order_relaxed);
}

/* Size of this thread's alternate stack. A thread stack without a limit has no bounds. */
static size_t wanted(void)
{
    const size_t least = lg__altstack_least();
    const uint64_t own = mine.stack_high ? mine.stack_high - mine.stack_low : GUEST_BYTES;
    return !is_large || own <= least ? least : lg__os_to_pages((size_t)(own < GUEST_MOST_BYTES ? own : GUEST_MOST_BYTES));
}

/* Stacks of threads that have ended, for the next threads: to map and unmap a stack takes a good
 * part of the time that a new thread takes. */
#define SPARES 8
static _Atomic(uint8_t *) spares[SPARES] LG__SMALL;

/* The size of a spare one, with the guards: its first word. */
static size_t *size_of(uint8_t *base)
{
    return (size_t *)(void *)(base + lg__os_page_size());
}

static bool keep(uint8_t *base, size_t whole)
{
    *size_of(base) = whole;
    for (int i = 0; i < SPARES; i++) {
        uint8_t *none = NULL;
        if (atomic_compare_exchange_strong(&spares[i], &none, base))
            return true;
    }
    return false;
}

/* NULL with errno: no memory. */
static uint8_t *take(size_t whole)
{
    for (int i = 0; i < SPARES; i++) {
        uint8_t *base = atomic_load(&spares[i]) ? atomic_exchange(&spares[i], NULL) : NULL;
        if (base && *size_of(base) == whole)
            return base;
        if (base)
            munmap(base, *size_of(base));
    }
    /* Only for the first thread, which gets its stack before the program has other threads: the
     * mapping takes a descriptor for a moment, and they could miss its number. */
    uint8_t *base = is_large && lg__os_tid() == lg__os_pid() ? lg__os_map_named(whole) : MAP_FAILED;
    if (base == MAP_FAILED)
        base = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (mprotect(base + lg__os_page_size(), whole - 2 * lg__os_page_size(), PROT_READ | PROT_WRITE) == 0)
        return base;
    int error = errno;
    munmap(base, whole);
    errno = error;
    return NULL;
}

/* A function of the sanitizers' runtimes. In the last round of the destructors a runtime detaches
 * from the thread: it unmaps an alternate stack that is in use, also ours, and no code that the
 * runtime checks may run from there on. */
extern void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

static uint32_t round_of_release(void)
{
    return __sanitizer_set_death_callback ? PTHREAD_DESTRUCTOR_ITERATIONS - 1 : PTHREAD_DESTRUCTOR_ITERATIONS;
}

/* Destructors run in rounds: ours lets all others go first, so that they are still covered. */
static void release(void *argument)
{
    struct altstack *stack = argument;
    if (++stack->rounds < round_of_release() && pthread_setspecific(altstack_key, stack) == 0)
        return;
    if (!stack->base)
        return;
    stack_t current;
    bool is_current = sigaltstack(NULL, &current) == 0 && current.ss_sp == stack->base + lg__os_page_size();
    const stack_t none = { .ss_flags = SS_DISABLE };
    if (is_current && sigaltstack(&none, NULL) != 0)
        return; /* the kernel says that it is in use */
    if (!is_current || !keep(stack->base, stack->size))
        munmap(stack->base, stack->size);
    stack->base = NULL;
}

static void make_key(void)
{
    key_made = pthread_key_create(&altstack_key, release) == 0;
}

int lg__altstack_ensure(void)
{
    if (mine.base)
        return 0;
    if (!mine.stack_high)
        (lg__own_threads_is_own() || is_limited ? lg__os_stack_bounds_by_map : lg__os_stack_bounds)(&mine.stack_low, &mine.stack_high);
    stack_t current;
    if (sigaltstack(NULL, &current) == 0 && !(current.ss_flags & SS_DISABLE) && current.ss_size >= lg__altstack_least())
        return 0; /* the program gave the thread a larger one */
    pthread_once(&key_once, make_key);
    if (!key_made)
        return EAGAIN;
    size_t size = wanted(), whole = size + 2 * lg__os_page_size();
    uint8_t *base = take(whole);
    if (!base && size > lg__altstack_least()) { /* a limit came later */
        size = lg__altstack_least();
        whole = size + 2 * lg__os_page_size();
        base = take(whole);
    }
    if (!base)
        return errno;
    const stack_t stack = { .ss_sp = base + lg__os_page_size(), .ss_size = size };
    if (sigaltstack(&stack, NULL) != 0 || pthread_setspecific(altstack_key, &mine) != 0) {
        int error = errno;
        const stack_t none = { .ss_flags = SS_DISABLE };
        if (sigaltstack(NULL, &current) == 0 && current.ss_sp == base + lg__os_page_size())
            sigaltstack(&none, NULL);
        munmap(base, whole);
        return error ? error : ENOMEM;
    }
    mine.base = base;
    mine.size = whole;
    mine.rounds = 0;
    return 0;
}

/* ---- threads that nobody announced ---- */

/* Their stacks. libc says nothing of the end of such a thread: the next one takes the stack of one
 * that is dead. */
#define LATE 32
static struct late {
    _Atomic int32_t tid;   /* 0: none yet */
    uint8_t *_Atomic base; /* of the thread with this number */
} late[LATE];

static bool take_late(struct late *place, int32_t self)
{
    int32_t tid = atomic_load(&place->tid);
    return (!tid || lg__os_signal_send(lg__os_pid(), tid, 0) != 0) && atomic_compare_exchange_strong(&place->tid, &tid, self);
}

void lg__altstack_ensure_late(void)
{
    stack_t stack = { .ss_size = late_bytes }, current;
    if (mine.base || !late_bytes || (lg__os_altstack(NULL, &current) == 0 && !(current.ss_flags & SS_DISABLE) && current.ss_size >= late_bytes))
        return;
    if (!mine.stack_high)
        lg__os_stack_bounds_by_map(&mine.stack_low, &mine.stack_high);
    for (struct late *place = late; place < late + LATE; place++)
        if (take_late(place, lg__os_tid())) {
            if (!place->base)
                place->base = lg__os_map_guarded(late_bytes + 2 * page_bytes, page_bytes);
            if (place->base) {
                stack.ss_sp = place->base + page_bytes;
                lg__os_altstack(&stack, NULL);
            }
            return;
        }
}

void lg__altstack_bounds(uint64_t *ret_low, uint64_t *ret_high)
{
    *ret_low = mine.stack_low;
    *ret_high = mine.stack_high;
}
