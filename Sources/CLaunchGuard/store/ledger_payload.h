/* The payload of the ledger in a slot: how much of it is used, and whether it is whole. Shared by
 * the writer and the reader. */
#ifndef LG_STORE_LEDGER_PAYLOAD_H
#define LG_STORE_LEDGER_PAYLOAD_H

#include <stdbool.h>

#include "store/format.h"

/* Bytes of the payload that are used: up to the end of the last context. The count of contexts must
 * be right. */
uint32_t lg__ledger_payload_used(const struct lg__ledger_payload *payload);

/* A program, as the ledger compares it: CRC-32C of its version and build id. */
uint32_t lg__ledger_payload_program(const char version[LG__NAME_BYTES], const uint8_t *build_id, uint32_t build_id_size);

/* CRC-32C of generation, size and the first `size` bytes of the payload. */
uint32_t lg__ledger_payload_crc(uint64_t generation, uint32_t size, const struct lg__ledger_payload *payload);

/* Whether a slot in the caller's own memory was stored to its end, and every number and string in
 * it is within its bounds. The bytes after its used part become zero. */
bool lg__ledger_payload_check(struct lg__slot *slot);

/* Copy the used part of a slot's payload, which another process may be writing; the rest stays as
 * it is, its pages untouched. Returns its generation; 0: it was not stored to its end, or a number
 * or a string in it is out of bounds. The machine gets no other payload. */
uint64_t lg__ledger_payload_load(const struct lg__slot *slot, struct lg__ledger_payload *ret_book);

#endif
