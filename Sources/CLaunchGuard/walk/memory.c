/* Reads of memory that may not be mapped. */
#include "walk/walk.h"

/* Pages found readable during this crash, by a hash of their address; 0: free. 256 pages are a
 * megabyte of stack and tables. */
#define PAGES 256u
static uint64_t readable[LG__WALKERS][PAGES];

__thread uint32_t lg__memory_walker __attribute__((tls_model("initial-exec")));

void lg__memory_touch(void *memory, size_t size)
{
    uint8_t *byte = memory;
    for (size_t at = 0; at < size; at += LG__PAGE)
        /* an atomic operation keeps the values that a crash writes there meanwhile */
        __atomic_fetch_or(&byte[at], 0, __ATOMIC_RELAXED);
    __atomic_fetch_or(&byte[size - 1], 0, __ATOMIC_RELAXED);
}

uint32_t lg__memory_age[LG__WALKERS];

/* A fault can be recovered on a thread that walks, and nowhere else: each walker has one mark to
 * come back to. */
static struct recovery {
    bool possible;
    _Atomic bool reading; /* the mark is set */
    struct lg__arch_mark mark;
} recoveries[LG__WALKERS];

void lg__memory_forget(bool recovers)
{
    memset(readable[lg__memory_walker], 0, sizeof readable[lg__memory_walker]);
    lg__memory_age[lg__memory_walker]++;
    recoveries[lg__memory_walker].possible = recovers;
}

__attribute__((noinline)) bool lg__memory_guarded(void (*function)(void *), void *argument)
{
    struct recovery *recovery = &recoveries[lg__memory_walker];
    if (!recovery->possible) {
        function(argument);
        return true;
    }
    if (lg__arch_mark(&recovery->mark) != 0)
        return false;
    /* Only this thread's own nested handler reads the mark. */
    atomic_store_explicit(&recovery->reading, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    function(argument);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&recovery->reading, false, memory_order_relaxed);
    return true;
}

const struct lg__arch_mark *lg__memory_mark(void)
{
    struct recovery *recovery = &recoveries[lg__memory_walker];
    return atomic_exchange(&recovery->reading, false) ? &recovery->mark : NULL;
}

void lg__memory_recover(void)
{
    const struct lg__arch_mark *mark = lg__memory_mark();
    if (mark)
        lg__arch_jump(mark);
}

/* The memory need not be an object of the program: a stack has gaps between its variables. A
 * checker of memory (AddressSanitizer), whose memcpy() replaces that of libc, would end the process
 * for such a read, and to a checker of races (ThreadSanitizer) a stack that another thread uses is
 * one. Volatile, so that no compiler turns the loop into a call. */
#define UNCHECKED __attribute__((no_sanitize("address", "thread")))
typedef uint64_t word __attribute__((aligned(1), may_alias));

/* A plain load where the kernel refuses the read (a sandbox): a fault in the load comes back
 * through the nested handler. */
UNCHECKED static void load(void *address)
{
    (void)*(const volatile uint8_t *)address;
}

static bool probe(uint64_t page)
{
    int answer = lg__os_readable(page);
    return answer >= 0 ? answer : recoveries[lg__memory_walker].possible && lg__memory_guarded(load, (void *)(uintptr_t)page);
}

static bool page_readable(uint64_t page)
{
    uint64_t *entry = &readable[lg__memory_walker][(page / LG__PAGE) % PAGES];
    if (*entry == page && page)
        return true;
    if (!probe(page))
        return false;
    *entry = page;
    return true;
}

struct copy {
    void *to;
    const void *from;
    size_t size;
};

UNCHECKED static void copy(void *argument)
{
    const struct copy *copy = argument;
    const volatile uint8_t *from = copy->from;
    uint8_t *to = copy->to;
    size_t at = 0;
    for (; copy->size - at >= sizeof(word); at += sizeof(word))
        *(word *)(void *)(to + at) = *(const volatile word *)(const volatile void *)(from + at);
    for (; at < copy->size; at++)
        to[at] = from[at];
}

static inline size_t copy_pages(void *to, uint64_t from, size_t size, bool (*copy_page)(uint64_t page, struct copy *part))
{
    size_t done = 0;
    while (done < size && from + done >= from) {
        uint64_t page = (from + done) & ~(uint64_t)(LG__PAGE - 1);
        size_t step = (size_t)(page + LG__PAGE - (from + done));
        if (step > size - done)
            step = size - done;
        struct copy part = { (uint8_t *)to + done, (const void *)(uintptr_t)(from + done), step };
        if (!copy_page(page, &part))
            break;
        done += step;
    }
    return done;
}

/* Another thread may unmap the page between the question and the copy: a module that is being
 * unloaded. */
static bool copy_guarded(uint64_t page, struct copy *part)
{
    return page_readable(page) && lg__memory_guarded(copy, part);
}

size_t lg__memory_read(void *to, uint64_t from, size_t size)
{
    return copy_pages(to, from, size, copy_guarded);
}

/* Where the kernel refuses the question, the page is taken for readable. */
static bool copy_asked(uint64_t page, struct copy *part)
{
    if (lg__os_readable(page) == 0)
        return false;
    copy(part);
    return true;
}

size_t lg__memory_copy(void *to, uint64_t from, size_t size)
{
    return copy_pages(to, from, size, copy_asked);
}

bool lg__memory_has_code(void (*function)(void))
{
    return function && lg__os_readable((uint64_t)(uintptr_t)function & ~(uint64_t)(LG__PAGE - 1)) != 0;
}

UNCHECKED bool lg__memory_word(uint64_t from, uint64_t *ret_word)
{
    uint64_t page = from & ~(uint64_t)(LG__PAGE - 1);
    if (from > UINT64_MAX - sizeof *ret_word || !page_readable(page))
        return false;
    if (from + sizeof *ret_word > page + LG__PAGE && !page_readable(page + LG__PAGE))
        return false;
    *ret_word = *(const volatile word *)(uintptr_t)from;
    return true;
}
