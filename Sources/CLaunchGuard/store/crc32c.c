#include "store/crc32c.h"

#include "os/os.h"

LG__NOT_INSTRUMENTED_BEGIN

/* The table for CPUs without the instruction takes one nibble at a time: 16 entries need no
 * initialisation. */
static uint32_t by_table(uint32_t crc, const void *bytes, size_t size)
{
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    const uint8_t *byte = bytes;
    for (; size; size--) {
        crc ^= *byte++;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

LG__FIRST static uint32_t by_cpu(uint32_t start, const void *bytes, size_t size)
{
    const uint8_t *byte = bytes;
    uint64_t crc = start, word;
    for (; size >= sizeof word; size -= sizeof word, byte += sizeof word) {
        memcpy(&word, byte, sizeof word);
        crc = lg__arch_crc32c_8(crc, word);
    }
    for (; size; size--)
        crc = lg__arch_crc32c_1(crc, *byte++);
    return (uint32_t)crc;
}

_Atomic bool lg__crc32c_by_cpu LG__SMALL;

void lg__crc32c_init(void)
{
    atomic_store_explicit(&lg__crc32c_by_cpu, lg__arch_has_crc32c(), memory_order_relaxed);
}

LG__FIRST uint32_t lg__crc32c(uint32_t crc, const void *bytes, size_t size)
{
    return ~(atomic_load_explicit(&lg__crc32c_by_cpu, memory_order_relaxed) ? by_cpu(~crc, bytes, size) : by_table(~crc, bytes, size));
}

LG__NOT_INSTRUMENTED_END
