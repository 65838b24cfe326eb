/* Damage to the bytes of a run file or ledger, repeatable by number. */
#ifndef DAMAGE_H
#define DAMAGE_H

#include <stddef.h>
#include <stdint.h>

/* Damage `bytes`, which have room for `room`; returns their new size. The same number does the same
 * to the same bytes. */
size_t damage(uint8_t *bytes, size_t size, size_t room, uint64_t number);

#endif
