#include "store/digest.h"

#include <string.h>

#define BLOCK_BYTES 64u
#define WORD_BYTES 4u

static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

/* The order in which each round takes the words of the message (RFC 7693, section 2.7). */
static const uint8_t order[10][16] = {
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }, { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
    { 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 }, { 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
    { 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 }, { 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
    { 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 }, { 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
    { 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 }, { 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static uint32_t rotate(uint32_t word, unsigned by)
{
    return word >> by | word << (32 - by);
}

static void mix(uint32_t v[16], unsigned a, unsigned b, unsigned c, unsigned d, uint32_t x, uint32_t y)
{
    v[a] += v[b] + x;
    v[d] = rotate(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotate(v[b] ^ v[c], 12);
    v[a] += v[b] + y;
    v[d] = rotate(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = rotate(v[b] ^ v[c], 7);
}

/* `total` is the number of bytes with those of this block. */
static void compress(uint32_t state[8], const uint8_t block[BLOCK_BYTES], uint64_t total, int is_last)
{
    uint32_t v[16], message[16];
    memcpy(message, block, sizeof message); /* little-endian, as every processor here */
    memcpy(v, state, 8 * WORD_BYTES);
    memcpy(v + 8, initial, sizeof initial);
    v[12] ^= (uint32_t)total;
    v[13] ^= (uint32_t)(total >> 32);
    if (is_last)
        v[14] = ~v[14];
    for (unsigned round = 0; round < 10; round++) {
        const uint8_t *next = order[round];
        for (unsigned i = 0; i < 4; i++)
            mix(v, i, 4 + i, 8 + i, 12 + i, message[next[2 * i]], message[next[2 * i + 1]]);
        for (unsigned i = 0; i < 4; i++)
            mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, message[next[8 + 2 * i]], message[next[9 + 2 * i]]);
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] ^= v[i] ^ v[i + 8];
    explicit_bzero(message, sizeof message); /* it may be the key */
}

void lg__digest_keyed(const uint8_t key[16], const void *bytes, size_t size, uint8_t ret_digest[16])
{
    uint32_t state[8];
    uint8_t block[BLOCK_BYTES] = { 0 };
    memcpy(state, initial, sizeof state);
    state[0] ^= 0x01010000u ^ 16u << 8 ^ 16u; /* no tree; bytes of the key and of the digest */
    memcpy(block, key, 16);
    compress(state, block, BLOCK_BYTES, size == 0);
    explicit_bzero(block, sizeof block);
    for (size_t at = 0; at < size; at += BLOCK_BYTES) {
        const size_t rest = size - at, part = rest < BLOCK_BYTES ? rest : BLOCK_BYTES;
        memset(block, 0, sizeof block);
        memcpy(block, (const uint8_t *)bytes + at, part);
        compress(state, block, BLOCK_BYTES + at + part, rest <= BLOCK_BYTES);
    }
    memcpy(ret_digest, state, 16);
}
