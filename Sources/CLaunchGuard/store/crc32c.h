/* CRC-32C (Castagnoli), as in iSCSI (RFC 3720): polynomial 0x1edc6f41, reflected, start and final
 * inversion. Handler. */
#ifndef LG_STORE_CRC32C_H
#define LG_STORE_CRC32C_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "os/arch_inline.h"

/* Begin with 0; feed the result of one call into the next to go on. */
uint32_t lg__crc32c(uint32_t crc, const void *bytes, size_t size);

/* Choose the CPU's instruction where it exists. Called once at start; before that the table is
 * used. */
void lg__crc32c_init(void);

/* Whether the CPU has the instruction; false before lg__crc32c_init(). */
extern _Atomic bool lg__crc32c_by_cpu;

/* Copy, and continue a checksum over the copied bytes, also while another thread changes the
 * source. Only if lg__crc32c_by_cpu; without the inversions at start and end. */
static inline __attribute__((always_inline)) uint64_t lg__crc32c_copy(uint64_t crc, uint8_t *to, const void *from, size_t size)
{
    const uint8_t *byte = from;
    size_t at = 0;
#define COPY(type, step)                     \
    do {                                     \
        type bytes;                          \
        memcpy(&bytes, byte + at, sizeof bytes); \
        crc = step(crc, bytes);              \
        memcpy(to + at, &bytes, sizeof bytes);   \
        at += sizeof bytes;                  \
    } while (0)
    for (const size_t pairs = size & ~(size_t)15; at != pairs;) {
        COPY(uint64_t, lg__arch_crc32c_8);
        COPY(uint64_t, lg__arch_crc32c_8);
    }
    if (size & 8)
        COPY(uint64_t, lg__arch_crc32c_8);
    if (size % 8 == 0)
        return crc;
    if (size & 4)
        COPY(uint32_t, lg__arch_crc32c_4);
    if (size & 2)
        COPY(uint16_t, lg__arch_crc32c_2);
    if (size & 1)
        COPY(uint8_t, lg__arch_crc32c_1);
#undef COPY
    return crc;
}

#endif
