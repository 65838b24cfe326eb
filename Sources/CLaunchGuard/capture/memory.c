/* Reads of memory that may not be there. */
#include "capture/internal.h"

/* Pages found readable during this crash, by a hash of their address; 0: free. 256 pages are a megabyte of stack and tables. */
#define PAGES 256u
static uint64_t readable[PAGES];

void lg__memory_forget(void)
{
    memset(readable, 0, sizeof readable);
}

/* A plain load where the kernel refuses to do it for us (a sandbox): a fault in it comes back here through the nested handler. */
static __attribute__((noinline)) bool read_guarded(void *to, uint64_t from, size_t size)
{
    if (lg__arch_mark(&lg__capture.read_mark) != 0)
        return false;
    atomic_store(&lg__capture.reading, true);
    const volatile uint8_t *byte = (const volatile uint8_t *)(uintptr_t)from;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)to)[i] = byte[i];
    atomic_store(&lg__capture.reading, false);
    return true;
}

bool lg__memory_read(void *to, uint64_t from, size_t size)
{
    if (size == 0)
        return true;
    if (from + size < from)
        return false;
    long count = lg__os_read_self(to, from, size);
    if (count >= 0 || count == -14 /* EFAULT */)
        return count == (long)size;
    return read_guarded(to, from, size);
}

static bool page_readable(uint64_t page)
{
    uint64_t *entry = &readable[(page / LG__PAGE) % PAGES];
    if (*entry == page && page)
        return true;
    uint8_t byte;
    if (!lg__memory_read(&byte, page, 1))
        return false;
    *entry = page;
    return true;
}

bool lg__memory_word(uint64_t from, uint64_t *ret_word)
{
    uint64_t page = from & ~(uint64_t)(LG__PAGE - 1);
    if (from > UINT64_MAX - sizeof *ret_word || !page_readable(page))
        return false;
    if (from + sizeof *ret_word > page + LG__PAGE && !page_readable(page + LG__PAGE))
        return false;
    memcpy(ret_word, (const void *)(uintptr_t)from, sizeof *ret_word);
    return true;
}
