/* CRC-32C (Castagnoli), as in iSCSI (RFC 3720): polynomial 0x1edc6f41, reflected, start and final inversion. Handler. */
#ifndef LG_STORE_CRC32C_H
#define LG_STORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Begin with 0; feed the result of one call into the next to go on. */
uint32_t lg__crc32c(uint32_t crc, const void *bytes, size_t size);

/* Choose the CPU's instruction where it exists. Called once at start; before that the table is used. */
void lg__crc32c_init(void);

#endif
