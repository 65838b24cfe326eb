/* Reads of memory that may not be there. */
#include "capture/internal.h"

/* Pages found readable during this crash, by a hash of their address; 0: free. 256 pages are a megabyte of stack and tables. */
#define PAGES 256u
static uint64_t readable[PAGES];

void lg__memory_forget(void)
{
    memset(readable, 0, sizeof readable);
}

/* A plain load where the kernel refuses to do it for us (a sandbox): a fault in it comes back here through the nested handler. Only on the
 * thread whose crash is being recorded; there is one mark to come back to. */
static __attribute__((noinline)) bool load_guarded(uint64_t address)
{
    if (atomic_load(&lg__capture.latch) != (uint32_t)lg__os_tid() || lg__arch_mark(&lg__capture.read_mark) != 0)
        return false;
    atomic_store(&lg__capture.reading, true);
    (void)*(const volatile uint8_t *)(uintptr_t)address;
    atomic_store(&lg__capture.reading, false);
    return true;
}

/* Whether one byte can be read: by the kernel, where it does that for us. */
static bool byte_readable(uint64_t address)
{
    uint8_t byte;
    long count = lg__os_read_self(&byte, address, 1);
    if (count >= 0 || count == -14 /* EFAULT */)
        return count == 1;
    return load_guarded(address);
}

static bool page_readable(uint64_t page)
{
    uint64_t *entry = &readable[(page / LG__PAGE) % PAGES];
    if (*entry == page && page)
        return true;
    if (!byte_readable(page))
        return false;
    *entry = page;
    return true;
}

size_t lg__memory_read(void *to, uint64_t from, size_t size)
{
    size_t done = 0;
    while (done < size && from + done >= from) {
        uint64_t page = (from + done) & ~(uint64_t)(LG__PAGE - 1);
        size_t step = (size_t)(page + LG__PAGE - (from + done));
        if (step > size - done)
            step = size - done;
        if (!page_readable(page))
            break;
        memcpy((uint8_t *)to + done, (const void *)(uintptr_t)(from + done), step);
        done += step;
    }
    return done;
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
