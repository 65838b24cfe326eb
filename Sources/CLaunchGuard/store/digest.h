/* BLAKE2s (RFC 7693) with a key of 16 bytes and a digest of 16 bytes. */
#ifndef LG_STORE_DIGEST_H
#define LG_STORE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

void lg__digest_keyed(const uint8_t key[16], const void *bytes, size_t size, uint8_t ret_digest[16]);

#endif
