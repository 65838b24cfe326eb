#include "store/ring.h"

#include "launchguard/log.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "store/crc32c.h"

static_assert(sizeof(struct lg__entry) + LG_LOG_TEXT_MAX <= 4096, "an entry fits into 4 KiB");

uint32_t lg__ring_cells(uint32_t bytes)
{
    uint32_t cells = 128;
    while (cells < bytes / LG__CELL_BYTES)
        cells *= 2;
    return cells;
}

size_t lg__ring_size(uint32_t cells)
{
    return sizeof(struct lg__ring_header) + sizeof(struct lg__lane) + (size_t)cells * LG__CELL_BYTES;
}

void lg__ring_init(struct lg__ring *ring, void *section, uint32_t cells)
{
    struct lg__ring_header *header = section;
    header->lane_count = 1;
    header->lane_cells = cells;
    header->cell_bytes = LG__CELL_BYTES;
    header->clock = LG__RING_CLOCK_MONOTONIC;
    header->crc = lg__crc32c(0, header, offsetof(struct lg__ring_header, crc));
    ring->lane = (struct lg__lane *)(header + 1);
    ring->cells = (uint8_t *)(ring->lane + 1);
    ring->cell_count = cells;
}

/* Id of the calling thread; asked for once a thread. Initial-exec: never allocated on first use, so safe in a handler. */
static pid_t thread_id(void)
{
    static __thread pid_t cached __attribute__((tls_model("initial-exec")));
    if (!cached)
        cached = lg__os_tid();
    return cached;
}

/* Copy into the cells from byte `at` on, around the end of the lane. */
static void copy_in(const struct lg__ring *ring, uint64_t at, const void *from, size_t size)
{
    uint64_t end = ring->cell_count * LG__CELL_BYTES;
    at &= end - 1;
    size_t straight = size < end - at ? size : (size_t)(end - at);
    memcpy(ring->cells + at, from, straight);
    if (size > straight)
        memcpy(ring->cells, (const uint8_t *)from + straight, size - straight);
}

void lg__ring_write(const struct lg__ring *ring, unsigned level, const char *text, size_t size)
{
    struct lg__entry entry;
    entry.kind = LG__ENTRY_TEXT;
    if (size > LG_LOG_TEXT_MAX) {
        size = LG_LOG_TEXT_MAX;
        entry.kind = LG__ENTRY_CUT;
    }
    uint64_t cells = (sizeof entry + size + LG__CELL_BYTES - 1) / LG__CELL_BYTES;
    entry.tid = thread_id();
    entry.size = (uint16_t)size;
    entry.level = (uint8_t)(level > 255 ? 255 : level);
    entry.sequence = atomic_fetch_add_explicit(&ring->lane->head, cells, memory_order_relaxed);
    /* After the reservation, so that the times of one thread never run against its sequence, even with a signal between. */
    entry.time = lg__os_clock_ns(CLOCK_MONOTONIC);
    const size_t commit_bytes = sizeof entry.commit;
    uint32_t crc = lg__crc32c(0, (const uint8_t *)&entry + commit_bytes, sizeof entry - commit_bytes);
    crc = lg__crc32c(crc, text, size);

    uint64_t at = entry.sequence * LG__CELL_BYTES;
    uint8_t *cell = ring->cells + (at & (ring->cell_count * LG__CELL_BYTES - 1));
    _Atomic uint64_t *commit = (_Atomic uint64_t *)(void *)cell;
    /* The old commit word of this cell must be gone before its old content is: else a death in between shows a mixture
     * whose checksum alone stands between it and the reader. */
    atomic_store_explicit(commit, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    memcpy(cell + commit_bytes, (const uint8_t *)&entry + commit_bytes, sizeof entry - commit_bytes);
    LG_FAULT_POINT("ring: before text");
    if (size)
        copy_in(ring, at + sizeof entry, text, size);
    LG_FAULT_POINT("ring: before commit");
    atomic_store_explicit(commit, (uint64_t)crc << 32 | (uint32_t)(entry.sequence + 1), memory_order_release);
}
