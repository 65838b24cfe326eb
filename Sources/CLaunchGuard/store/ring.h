/* The ring log: appending entries. Many writers, no lock, no allocation, no system call but the
 * first on a thread. */
#ifndef LG_STORE_RING_H
#define LG_STORE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launchguard/log.h"
#include "store/clock.h"
#include "store/format.h"
#include "store/outbox.h"

/* The writer of a lane. In memory, not in the file: damage of the file does not make two threads
 * write one lane. */
struct lg__ring_writer {
    /* upper half: number of claims; lower half: tid; 0: never claimed */
    _Atomic uint64_t word;
    /* the frame in which its thread is in the middle of an entry; 0: it is not */
    _Atomic uintptr_t busy;
    struct lg__lane *lane;
    /* The same for all lanes of a ring: here, so that an entry needs this line alone. */
    const struct lg__ring_writer *first; /* of lane 0 */
    uint64_t mask;  /* bytes of the cells of a lane, less one */
    uint64_t quick; /* those bytes, where the CPU has an instruction for the checksum; else 0 */
    struct lg__clock *clock;
    int32_t tid; /* as in `word`, for its thread */
    uint8_t padding[4]; /* a cache line each */
};

/* The writer's own view. Sizes and addresses are kept here and never read back from the file, which
 * may be damaged. */
struct lg__ring {
    /* one a lane; that of lane 0, which all threads share, stands for no thread */
    struct lg__ring_writer *writers;
    struct lg__clock *clock;
    _Atomic uint64_t *claims;      /* one a cell of lane 0 */
    uint64_t cell_count;           /* of each lane, a power of two */
    uint32_t lane_count;
    struct lg__outbox *outbox; /* gets what lg__ring_note() appends; NULL: none */
};

/* The layout of a ring log of about some bytes: the cells of all lanes are the power of two not
 * below. */
struct lg__ring_shape {
    uint32_t lanes, cells; /* cells of each lane */
};
struct lg__ring_shape lg__ring_shape(uint32_t bytes);

/* Bytes of the section, and of what the writers keep in memory beside it. */
size_t lg__ring_size(struct lg__ring_shape shape);
size_t lg__ring_memory(struct lg__ring_shape shape);

/* Lay out a ring log in zeroed memory. `memory` is never given back: threads remember addresses in
 * it. `state` takes later points of the clock. */
void lg__ring_init(struct lg__ring *ring, void *section, void *memory, struct lg__ring_shape shape, struct lg__state *state);

/* Append one text of the program; `size` is cut to LG_LOG_TEXT_MAX. LG_ERR_LIMIT: writers that
 * stand still in the middle of their entries leave no room for it. Handler. */
lg_status lg__ring_text(const struct lg__ring *ring, unsigned level, const char *text, size_t size);

/* Append one entry of the program, of a kind LG__ENTRY_*; false where the other says LG_ERR_LIMIT.
 * Handler. */
bool lg__ring_write(const struct lg__ring *ring, unsigned level, unsigned kind, const char *text, size_t size);

/* The same for an entry of LaunchGuard's own, in the shared lane: a thread of the program that logs
 * much does not overwrite it, and a thread of LaunchGuard's takes no lane. The outbox of the ring
 * gets it too. Handler. */
bool lg__ring_note(const struct lg__ring *ring, unsigned level, const char *text, size_t size);

#endif
