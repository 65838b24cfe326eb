/* What code that is compiled for ThreadSanitizer calls. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

static uint64_t exchange(uint64_t old, uint64_t operand) { (void)old; return operand; }
static uint64_t add(uint64_t old, uint64_t operand) { return old + operand; }
static uint64_t subtract(uint64_t old, uint64_t operand) { return old - operand; }
static uint64_t and(uint64_t old, uint64_t operand) { return old & operand; }
static uint64_t or(uint64_t old, uint64_t operand) { return old | operand; }
static uint64_t xor(uint64_t old, uint64_t operand) { return old ^ operand; }

#define PC ((uintptr_t)__builtin_return_address(0))

#define PLAIN(name, size)                                                                      \
    void __tsan_read##name(void *p) { plain(p, size, false, size == 16, PC); }                             \
    void __tsan_write##name(void *p) { plain(p, size, true, size == 16, PC); }                             \
    void __tsan_unaligned_read##name(void *p) { plain(p, size, false, false, PC); }            \
    void __tsan_unaligned_write##name(void *p) { plain(p, size, true, false, PC); }            \
    void __tsan_volatile_read##name(void *p) { plain(p, size, false, false, PC); }             \
    void __tsan_volatile_write##name(void *p) { plain(p, size, true, false, PC); }             \
    void __tsan_read_write##name(void *p) { plain(p, size, false, false, PC); plain(p, size, true, false, PC); }

#define ATOMIC(bits, type)                                                                                                                  \
    type __tsan_atomic##bits##_load(const volatile type *p, int mo) { return (type)atomic_load_at((uint8_t *)(uintptr_t)p, bits / 8, mo, PC); } \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int mo) { atomic_store_at((uint8_t *)(uintptr_t)p, bits / 8, v, mo, PC); }   \
    MAKES(bits, type, exchange, exchange)                                                                                                   \
    MAKES(bits, type, fetch_add, add)                                                                                                       \
    MAKES(bits, type, fetch_sub, subtract)                                                                                                  \
    MAKES(bits, type, fetch_and, and)                                                                                                       \
    MAKES(bits, type, fetch_or, or)                                                                                                         \
    MAKES(bits, type, fetch_xor, xor)                                                                                                       \
    bool __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *c, type v, int mo, int failing)                              \
    {                                                                                                                                       \
        const uint64_t expected = *c, old = atomic_change_at((uint8_t *)(uintptr_t)p, bits / 8, exchange, v, &expected, mo, failing, PC);   \
        *c = (type)old;                                                                                                                     \
        return old == expected;                                                                                                             \
    }                                                                                                                                       \
    bool __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *c, type v, int mo, int failing)                                \
    {                                                                                                                                       \
        const uint64_t expected = *c, old = atomic_change_at((uint8_t *)(uintptr_t)p, bits / 8, exchange, v, &expected, mo, failing, PC);   \
        *c = (type)old;                                                                                                                     \
        return old == expected;                                                                                                             \
    }                                                                                                                                       \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type c, type v, int mo, int failing)                                  \
    {                                                                                                                                       \
        const uint64_t expected = c;                                                                                                        \
        return (type)atomic_change_at((uint8_t *)(uintptr_t)p, bits / 8, exchange, v, &expected, mo, failing, PC);                          \
    }

#define MAKES(bits, type, name, make)                                                                                      \
    type __tsan_atomic##bits##_##name(volatile type *p, type v, int mo)                                                    \
    {                                                                                                                      \
        return (type)atomic_change_at((uint8_t *)(uintptr_t)p, bits / 8, make, v, NULL, mo, mo, PC);                       \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
PLAIN(1, 1) PLAIN(2, 2) PLAIN(4, 4) PLAIN(8, 8) PLAIN(16, 16)
ATOMIC(8, uint8_t) ATOMIC(16, uint16_t) ATOMIC(32, uint32_t) ATOMIC(64, uint64_t)

void __tsan_read_range(void *p, size_t size) { plain(p, size, false, true, PC); }
void __tsan_write_range(void *p, size_t size) { plain(p, size, true, true, PC); }
void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}

void __tsan_atomic_thread_fence(int mo)
{
    if (!x || x->self < 0)
        return;
    const unsigned order = order_at(PC, FENCE, order_of(mo));
    arrive(order & SC);
    note("fence", NULL, order, 0, PC);
    do_fence(order);
}

/* A fence for the compiler: only what a death leaves depends on it. */
void __tsan_atomic_signal_fence(int mo)
{
    if (!x || x->self < 0)
        return;
    finish_stores();
    if (order_of(mo) & RELEASE)
        join(&self()->before, self()->did.at, self()->did.count, CLOCKS);
}

void *orders_memmove(void *to, const void *from, size_t size)
{
    plain((void *)(uintptr_t)from, size, false, false, PC);
    plain(to, size, true, false, PC);
    memmove(to, from, size);
    if (is_tracked(to))
        finish_stores();
    return to;
}

void *orders_memcpy(void *to, const void *from, size_t size)
{
    return orders_memmove(to, from, size);
}

void *orders_memset(void *to, int byte, size_t size)
{
    plain(to, size, true, false, PC);
    memset(to, byte, size);
    if (is_tracked(to))
        finish_stores();
    return to;
}

int orders_memcmp(const void *a, const void *b, size_t size)
{
    plain((void *)(uintptr_t)a, size, false, false, PC);
    plain((void *)(uintptr_t)b, size, false, false, PC);
    return memcmp(a, b, size);
}

void *orders_memchr(const void *in, int byte, size_t size)
{
    void *found = (void *)(uintptr_t)memchr(in, byte, size);
    if (is_tracked(in))
        plain((void *)(uintptr_t)in, found ? (size_t)((uint8_t *)found - (const uint8_t *)in) + 1 : size, false, false, PC);
    return found;
}

void *orders_malloc(size_t size)
{
    return room(size);
}

void *orders_calloc(size_t count, size_t size)
{
    return memset(room(count * size), 0, count * size);
}

void orders_free(void *memory)
{
    (void)memory;
}

uint64_t orders_time(void)
{
    return x->time += 1000;
}

void *__tsan_memcpy(void *to, const void *from, size_t size) { return orders_memmove(to, from, size); }
void *__tsan_memmove(void *to, const void *from, size_t size) { return orders_memmove(to, from, size); }
void *__tsan_memset(void *to, int byte, size_t size) { return orders_memset(to, byte, size); }
#pragma GCC diagnostic pop

void orders_pread(void *to, const void *from, size_t size)
{
    if (x->self >= 0) {
        arrive(false);
        do_fence(ACQUIRE);
        uint8_t *where = (uint8_t *)(uintptr_t)from, *end = where + size;
        cut(where);
        if (end < x->end)
            cut(end);
        for (uint32_t length; where < end && is_tracked(where); where += length) {
            length = piece_at(where, end);
            if (others(&x->writers, where) && self()->wrote)
                pass();
            load_piece(where, length, false);
        }
        do_fence(ACQUIRE);
    }
    memcpy(to, from, size);
}

void orders_declare(const void *where, size_t size, unsigned kinds)
{
    memset(x->kinds + ((const uint8_t *)where - x->begin), (int)kinds, size);
}

bool orders_wait(const volatile uint32_t *word, uint32_t value, bool ends)
{
    finish_stores();
    if (self()->wrote)
        pass();
    uint8_t *where = (uint8_t *)(uintptr_t)word;
    step_on(x->foot.stores, word);
    const struct location *location = known(where);
    const uint64_t now = location ? value_of(last_store(location), 4) : raw(where, 4);
    self()->wrote = true;
    if (now != value)
        return true;
    if (ends && orders_choose(2))
        return false;
    note("waits", where, value, 0, PC);
    self()->waits = word;
    self()->wait_ends = ends;
    pass();
    return true;
}

void orders_wake(const volatile uint32_t *word)
{
    finish_stores();
    if (self()->wrote)
        pass();
    step_on(x->foot.stores, word);
    note("wakes", (void *)(uintptr_t)word, 0, 0, PC);
    for (int i = 0; i < ORDERS_THREADS; i++)
        if (x->threads[i].waits == word)
            x->threads[i].waits = NULL;
    self()->wrote = true;
}
