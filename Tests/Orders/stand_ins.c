#include "stand_ins.h"

#include <signal.h>
#include <string.h>

#include "launchguard/reader.h"
#include "orders.h"
#include "os/os.h"
#include "read/reader.h"
#include "store/crc32c.h"

#define STAND_IN __attribute__((weak))

STAND_IN pid_t lg__os_tid(void)
{
    return (pid_t)(100 + orders_self());
}

STAND_IN pid_t lg__os_pid(void)
{
    return 100;
}

STAND_IN uint64_t lg__os_clock_ns(int clock)
{
    (void)clock;
    return orders_time();
}

STAND_IN void lg__os_futex_wait(const uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    orders_wait(word, seen, timeout_ns != UINT64_MAX);
}

STAND_IN void lg__os_futex_wake(const uint32_t *word)
{
    orders_wake(word);
}

STAND_IN long lg__os_signal_send(pid_t pid, pid_t tid, int signal)
{
    (void)pid;
    (void)tid;
    (void)signal;
    return 0;
}

STAND_IN bool lg__os_on_alternate_stack(uintptr_t *ret_low, uintptr_t *ret_high)
{
    *ret_low = *ret_high = 0;
    return false;
}

STAND_IN _Atomic bool lg__crc32c_by_cpu;
static bool checks;

void stand_in_checksums(void)
{
    checks = true;
}

uint64_t stand_in_crc(uint64_t crc, uint64_t bytes, unsigned count)
{
    for (; checks && count > 0; count--, bytes >>= 8)
        crc = (uint32_t)(crc * 31 + (bytes & 0xff));
    return crc;
}

STAND_IN uint32_t lg__crc32c(uint32_t crc, const void *bytes, size_t size)
{
    uint64_t now = ~crc;
    for (size_t i = 0; i < size; i++)
        now = stand_in_crc(now, ((const uint8_t *)bytes)[i], 1);
    return ~(uint32_t)now;
}

STAND_IN bool lg__arch_counter_invariant(void)
{
    return false;
}

STAND_IN bool lg__os_counter_allowed(void)
{
    return true;
}

STAND_IN bool lg__os_counter_trusted(void)
{
    return true;
}

STAND_IN uint64_t lg__arch_counter_hz(void)
{
    return 1000000000;
}

/* Each section begins at its own multiple of a gigabyte. */
#define SECTION_SHIFT 30

ssize_t stand_in_pread(int file, void *to, size_t size, off_t at)
{
    const struct stand_in_section *sections = (const struct stand_in_section *)(uintptr_t)(unsigned)file;
    const struct stand_in_section *section = &sections[(at >> SECTION_SHIFT) - 1];
    orders_pread(to, (const uint8_t *)section->at + (at & ((1 << SECTION_SHIFT) - 1)), size);
    return (ssize_t)size;
}

void stand_in_reader(struct lg_reader *ret_reader, const struct stand_in_section *sections, uint32_t count)
{
    memset(ret_reader, 0, sizeof *ret_reader);
    ret_reader->file = (int)(unsigned)(uintptr_t)sections; /* static memory, without PIE */
    ret_reader->file_size = UINT64_MAX;
    ret_reader->kind = LG_FILE_RUN;
    ret_reader->header.section_count = count;
    for (uint32_t i = 0; i < count; i++)
        ret_reader->header.sections[i] = (struct lg__section){ .kind = sections[i].kind, .offset = (i + UINT64_C(1)) << SECTION_SHIFT, .size = sections[i].size };
}
