/* Included before all else where sources are compiled for the model: calls of libc that read or
 * write memory, clocks and checksums are the model's. */
#ifndef INSTRUMENTED_H
#define INSTRUMENTED_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "orders.h"
#include "os/arch_inline.h"
#include "stand_ins.h"

#define malloc orders_malloc
#define calloc orders_calloc
#define free orders_free
#define pread stand_in_pread
#define lg__arch_counter orders_time
#define lg__arch_counter_ordered orders_time
#define memcpy orders_memcpy
#define memmove orders_memmove
#define memset orders_memset
#define memcmp orders_memcmp
#undef memchr /* a macro of newer libcs, which keeps the type of its argument */
#define memchr orders_memchr

#define lg__arch_crc32c_8(crc, word) stand_in_crc(crc, word, 8)
#define lg__arch_crc32c_4(crc, word) stand_in_crc(crc, word, 4)
#define lg__arch_crc32c_2(crc, word) stand_in_crc(crc, word, 2)
#define lg__arch_crc32c_1(crc, word) stand_in_crc(crc, word, 1)

#endif
