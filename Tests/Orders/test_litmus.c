/* The model itself: the classical programs, each with what C11 and x86-64 allow and forbid. */
#include <stdatomic.h>

#include "orders.h"

#define RELAXED memory_order_relaxed
#define set(word, value, order) atomic_store_explicit(&word, value, order)
#define get(word, order) atomic_load_explicit(&word, order)

static _Atomic uint32_t a, b;
static uint32_t text;
static uint32_t r1, r2, r3, r4;

/* An outcome is the number that the results make. */
static void see(void)
{
    orders_saw(r1 + 2 * r2 + 4 * r3 + 8 * r4);
}

#define OUTCOME(one, two, three, four) (UINT64_C(1) << ((one) + 2 * (two) + 4 * (three) + 8 * (four)))

/* ---- store buffering ---- */

static void buffers_a(void)
{
    set(a, 1, RELAXED);
    r1 = get(b, RELAXED);
}

static void buffers_b(void)
{
    set(b, 1, RELAXED);
    r2 = get(a, RELAXED);
}

static void buffers_a_strong(void)
{
    atomic_store(&a, 1);
    r1 = atomic_load(&b);
}

static void buffers_b_strong(void)
{
    atomic_store(&b, 1);
    r2 = atomic_load(&a);
}

static void buffers_a_fence(void)
{
    set(a, 1, RELAXED);
    atomic_thread_fence(memory_order_seq_cst);
    r1 = get(b, RELAXED);
}

static void buffers_b_fence(void)
{
    set(b, 1, RELAXED);
    atomic_thread_fence(memory_order_seq_cst);
    r2 = get(a, RELAXED);
}

static void buffers_a_released(void)
{
    set(a, 1, memory_order_release);
    atomic_thread_fence(memory_order_acq_rel);
    r1 = get(b, memory_order_acquire);
}

static void buffers_b_released(void)
{
    set(b, 1, memory_order_release);
    atomic_thread_fence(memory_order_acq_rel);
    r2 = get(a, memory_order_acquire);
}

static void buffers_b_add(void)
{
    atomic_fetch_add(&b, 1);
    r2 = atomic_load(&a);
}

static void one_saw(void)
{
    see();
    must(r1 || r2);
}

/* ---- message passing ---- */

static void sends(void)
{
    set(a, 1, RELAXED);
    set(b, 1, RELAXED);
}

static void receives(void)
{
    r1 = get(b, RELAXED);
    r2 = get(a, RELAXED);
}

static void sends_released(void)
{
    set(a, 1, RELAXED);
    set(b, 1, memory_order_release);
}

static void sends_fence(void)
{
    set(a, 1, RELAXED);
    atomic_thread_fence(memory_order_release);
    set(b, 1, RELAXED);
}

static void receives_acquired(void)
{
    r1 = get(b, memory_order_acquire);
    r2 = get(a, RELAXED);
}

static void receives_fence(void)
{
    r1 = get(b, RELAXED);
    atomic_thread_fence(memory_order_acquire);
    r2 = get(a, RELAXED);
}

static void passed(void)
{
    see();
    must(!r1 || r2);
}

/* by way of a third thread's exchange, which acquires and releases nothing */
static void forwards(void)
{
    atomic_fetch_add_explicit(&b, 1, RELAXED);
}

static void receives_forwarded(void)
{
    r1 = get(b, memory_order_acquire) == 2;
    r2 = get(a, RELAXED);
}

static void adds_released(void)
{
    set(a, 1, RELAXED);
    atomic_fetch_add_explicit(&b, 1, memory_order_release);
}

/* a plain text */
static void sends_text(void)
{
    text = 1;
    set(b, 1, memory_order_release);
}

static void receives_text(void)
{
    r1 = get(b, memory_order_acquire);
    r2 = r1 ? text : 0;
}

/* A store may overtake a sequentially consistent one before it, as on AArch64. */
static void sends_strong_then_weak(void)
{
    atomic_fetch_add(&a, 1);
    set(b, 1, RELAXED);
    atomic_load(&a);
}

static void sends_strong_then_fence(void)
{
    atomic_fetch_add(&a, 1);
    atomic_thread_fence(memory_order_release);
    set(b, 1, RELAXED);
    atomic_load(&a);
}

static void receives_strong(void)
{
    r1 = get(b, RELAXED);
    atomic_thread_fence(memory_order_acquire);
    r2 = atomic_load(&a);
}

/* A load without an order comes after a sequentially consistent one that follows it. */
static void receives_backwards(void)
{
    r1 = get(b, RELAXED);
    r2 = atomic_load(&a);
}

/* ---- two readers of two writers ---- */

static void writes_a(void)
{
    set(a, 1, RELAXED);
}

static void writes_b(void)
{
    set(b, 1, RELAXED);
}

static void writes_a_strong(void)
{
    atomic_store(&a, 1);
}

static void writes_b_strong(void)
{
    atomic_store(&b, 1);
}

static void looks_a_first(void)
{
    r1 = get(a, memory_order_acquire);
    r2 = get(b, memory_order_acquire);
}

static void looks_b_first(void)
{
    r3 = get(b, memory_order_acquire);
    r4 = get(a, memory_order_acquire);
}

static void looks_a_first_strong(void)
{
    r1 = atomic_load(&a);
    r2 = atomic_load(&b);
}

static void looks_b_first_strong(void)
{
    r3 = atomic_load(&b);
    r4 = atomic_load(&a);
}

static void looks_a_first_fence(void)
{
    r1 = get(a, RELAXED);
    atomic_thread_fence(memory_order_seq_cst);
    r2 = get(b, RELAXED);
}

static void looks_b_first_fence(void)
{
    r3 = get(b, RELAXED);
    atomic_thread_fence(memory_order_seq_cst);
    r4 = get(a, RELAXED);
}

static void agree(void)
{
    see();
    must(!(r1 && !r2 && r3 && !r4));
}

/* ---- one location has one order ---- */

static void writes_twice(void)
{
    set(a, 1, RELAXED);
    set(a, 2, RELAXED);
}

static void looks_twice(void)
{
    const uint32_t first = get(a, RELAXED), second = get(a, RELAXED);
    orders_saw(first * 3 + second);
    must(second >= first);
}

/* ---- two writers of two locations, each the other way round ---- */

static void writes_a_then_b(void)
{
    set(a, 1, RELAXED);
    set(b, 2, RELAXED);
}

static void writes_b_then_a(void)
{
    set(b, 1, RELAXED);
    set(a, 2, RELAXED);
}

static void writes_a_then_b_strong(void)
{
    atomic_store(&a, 1);
    atomic_store(&b, 2);
}

static void writes_b_then_a_strong(void)
{
    atomic_store(&b, 1);
    atomic_store(&a, 2);
}

static void see_last(void)
{
    orders_saw(get(a, RELAXED) == 1 && get(b, RELAXED) == 1);
}

static void one_is_last(void)
{
    must(!(get(a, RELAXED) == 1 && get(b, RELAXED) == 1));
}

/* ---- what is never explored, load buffering; and what no model allows ---- */

static void copies_a(void)
{
    r1 = get(a, RELAXED);
    set(b, 1, RELAXED);
}

static void copies_b(void)
{
    r2 = get(b, RELAXED);
    set(a, 1, RELAXED);
}

static void not_buffered(void)
{
    must(!(r1 && r2));
}

static void takes(void)
{
    uint32_t free = 0;
    if (atomic_compare_exchange_strong_explicit(&a, &free, 1, RELAXED, RELAXED))
        atomic_fetch_add_explicit(&b, 1, RELAXED);
}

static void one_took(void)
{
    must(get(b, RELAXED) == 1);
}

/* ---- a death ---- */

static struct { _Atomic uint32_t first, second; } file;

static void declare_file(void)
{
    orders_declare(&file, sizeof file, ORDERS_FILE);
}

static void stores_both(void)
{
    set(file.first, 1, RELAXED);
    set(file.second, 1, RELAXED);
}

static void stores_both_ordered(void)
{
    set(file.first, 1, RELAXED);
    atomic_signal_fence(memory_order_release);
    set(file.second, 1, RELAXED);
}

static void after_death(void)
{
    orders_saw(file.first + 2 * file.second);
}

static void after_death_ordered(void)
{
    after_death();
    must(file.first || !file.second);
}

/* ---- a handler of a signal ---- */

static void interrupts(void)
{
    r1 = get(a, RELAXED);
    r2 = get(b, RELAXED);
}

static void sends_to_handler(void)
{
    set(a, 1, RELAXED);
    set(b, 1, RELAXED);
    (void)get(b, RELAXED);
}

#define NONE OUTCOME(0, 0, 0, 0)
#define BOTH OUTCOME(1, 1, 0, 0)
#define FIRST OUTCOME(1, 0, 0, 0)
#define SECOND OUTCOME(0, 1, 0, 0)
#define DISAGREE OUTCOME(1, 0, 1, 0)

static const struct scenario scenarios[] = {
    { .name = "SB", .threads = { buffers_a, buffers_b }, .check = see, .wanted = NONE | BOTH | FIRST | SECOND, .wanted_x86 = NONE | BOTH | FIRST | SECOND },
    { .name = "SB of release and acquire", .threads = { buffers_a_released, buffers_b_released }, .check = see, .wanted = NONE, .wanted_x86 = NONE },
    { .name = "SB, sequentially consistent", .threads = { buffers_a_strong, buffers_b_strong }, .check = one_saw, .wanted = BOTH | FIRST | SECOND, .wanted_x86 = BOTH | FIRST | SECOND },
    { .name = "SB with fences", .threads = { buffers_a_fence, buffers_b_fence }, .check = one_saw, .wanted = BOTH | FIRST | SECOND, .wanted_x86 = BOTH | FIRST | SECOND },
    { .name = "SB of store and change", .threads = { buffers_a_strong, buffers_b_add }, .check = one_saw, .wanted = BOTH | FIRST | SECOND, .wanted_x86 = BOTH | FIRST | SECOND },
    { .name = "SB with one fence", .threads = { buffers_a_fence, buffers_b }, .check = see, .wanted = NONE, .wanted_x86 = NONE },
    { .name = "MP", .threads = { sends, receives }, .check = see, .wanted = FIRST | NONE | BOTH | SECOND },
    { .name = "MP on x86-64", .threads = { sends, receives }, .check = see, .wanted_x86 = NONE | BOTH | SECOND },
    { .name = "MP, released alone", .threads = { sends_released, receives }, .check = see, .wanted = FIRST },
    { .name = "MP, acquired alone", .threads = { sends, receives_acquired }, .check = see, .wanted = FIRST },
    { .name = "MP, released and acquired", .threads = { sends_released, receives_acquired }, .check = passed, .wanted = NONE | BOTH | SECOND, .wanted_x86 = NONE | BOTH | SECOND },
    { .name = "MP with fences", .threads = { sends_fence, receives_fence }, .check = passed, .wanted = NONE | BOTH | SECOND, .wanted_x86 = NONE | BOTH | SECOND },
    { .name = "MP, fence and acquire", .threads = { sends_fence, receives_acquired }, .check = passed, .wanted = BOTH },
    { .name = "MP, forwarded by a change", .threads = { adds_released, forwards, receives_forwarded }, .check = passed, .wanted = BOTH },
    { .name = "MP of a plain text", .threads = { sends_text, receives_text }, .check = passed, .wanted = NONE | BOTH },
    { .name = "MP, overtaking", .threads = { sends_strong_then_weak, receives_strong }, .check = see, .wanted = FIRST | BOTH | NONE | SECOND },
    { .name = "MP, not overtaking", .threads = { sends_strong_then_fence, receives_strong }, .check = passed, .wanted = BOTH | NONE | SECOND },
    { .name = "MP, overtaken load", .threads = { sends_strong_then_fence, receives_backwards }, .check = see, .wanted = FIRST | BOTH | NONE | SECOND },
    { .name = "IRIW", .threads = { writes_a, writes_b, looks_a_first, looks_b_first }, .check = see, .wanted = DISAGREE },
    { .name = "IRIW, sequentially consistent", .threads = { writes_a_strong, writes_b_strong, looks_a_first_strong, looks_b_first_strong }, .check = agree, .wanted = OUTCOME(1, 1, 1, 1) },
    { .name = "IRIW with fences", .threads = { writes_a, writes_b, looks_a_first_fence, looks_b_first_fence }, .check = agree, .wanted = OUTCOME(1, 1, 1, 1) },
    { .name = "CoRR", .threads = { writes_twice, looks_twice }, .wanted = 1 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8, .wanted_x86 = 1 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 },
    { .name = "2+2W", .threads = { writes_a_then_b, writes_b_then_a }, .check = see_last, .wanted = 3, .wanted_x86 = 1 },
    { .name = "2+2W, sequentially consistent", .threads = { writes_a_then_b_strong, writes_b_then_a_strong }, .check = one_is_last },
    { .name = "LB is not explored", .threads = { copies_a, copies_b }, .check = not_buffered },
    { .name = "one takes", .threads = { takes, takes, takes }, .check = one_took },
    { .name = "death", .setup = declare_file, .threads = { stores_both }, .dead = after_death, .wanted = 15 },
    { .name = "death, in order", .setup = declare_file, .threads = { stores_both_ordered }, .dead = after_death_ordered, .wanted = 11 },
    { .name = "handler", .threads = { sends_to_handler }, .handler = interrupts, .check = see, .wanted = NONE | FIRST | BOTH, .wanted_x86 = NONE | FIRST | BOTH },
};

int main(int argc, char **argv)
{
    return orders_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
