/* How the writers keep out of each other's way.
 *
 * A cell is written only by who has the right to. In a lane of its own that is the one thread that claimed the lane, and of that
 * thread only the outermost entry: `busy` sends a signal handler that comes in between to the shared lane. So entries of such a lane are written
 * strictly one after the other, whatever other threads do, and nobody waits.
 *
 * Lane 0 is for all the rest: threads beyond the number of lanes, nested entries, LaunchGuard itself. There each cell has a claim
 * word in memory: the number of the last claim (the cell's own sequence + 1) and whether its writer is still busy. A writer reserves cells by
 * adding to `head`, then claims each by compare-and-swap, from a free word with a smaller number only. Hence
 * - a cell has one writer at a time: who finds a busy word goes away;
 * - an entry whose call returned stays whole until `head` is a lap further, and then it counts as overwritten: the word of its cells has its
 *   number, who claims them next has a larger one, and reserved it a lap later; a writer that reserved a lap earlier and wakes up late
 *   finds a larger number than its own and goes away;
 * - nobody waits for anybody: who goes away reserves again, behind. Cells that it leaves behind hold nothing with their sequence.
 * A writer that was passed by a whole lap while it wrote, which it sees by `head` after its commit, writes its entry once more: the
 * first one has left the window that a reader looks at, and head only grows. So an entry that returned is there or was overwritten by
 * later ones, and is there once. */
#include "store/ring.h"

#include <errno.h>

#include "launchguard/log.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "store/crc32c.h"

#define LANES_MAX 16u
/* A lane has room for two of the longest entries at least: whoever stands still somewhere in a shared one leaves room for another. */
#define LANE_CELLS_MIN 256u
/* More than this many lanes only where they are large all the same. */
#define LANES_USUAL 8u
#define LANE_CELLS_LARGE 2048u

static_assert(sizeof(struct lg__entry) + LG_LOG_TEXT_MAX <= 4096, "an entry fits into 4 KiB");
static_assert(sizeof(struct lg__ring_owner) == 64, "a cache line");

struct lg__ring_shape lg__ring_shape(uint32_t bytes)
{
    uint32_t cells = 128;
    while (cells < bytes / LG__CELL_BYTES)
        cells *= 2;
    uint32_t lanes = 1;
    while (lanes < LANES_MAX && cells / 2 >= (lanes < LANES_USUAL ? LANE_CELLS_MIN : LANE_CELLS_LARGE)) {
        lanes *= 2;
        cells /= 2;
    }
    return (struct lg__ring_shape){ lanes, cells };
}

static size_t lane_size(uint64_t cells)
{
    return sizeof(struct lg__lane) + (size_t)cells * LG__CELL_BYTES;
}

size_t lg__ring_size(struct lg__ring_shape shape)
{
    return sizeof(struct lg__ring_header) + shape.lanes * lane_size(shape.cells);
}

size_t lg__ring_memory(struct lg__ring_shape shape)
{
    return shape.lanes * sizeof(struct lg__ring_owner) + shape.cells * sizeof(uint64_t);
}

void lg__ring_init(struct lg__ring *ring, void *section, void *memory, struct lg__ring_shape shape)
{
    struct lg__ring_header *header = section;
    header->lane_count = shape.lanes;
    header->lane_cells = shape.cells;
    header->cell_bytes = LG__CELL_BYTES;
    header->clock = LG__RING_CLOCK_MONOTONIC;
    header->crc = lg__crc32c(0, header, offsetof(struct lg__ring_header, crc));
    ring->owners = memory;
    ring->claims = (_Atomic uint64_t *)(void *)(ring->owners + shape.lanes);
    ring->cell_count = shape.cells;
    ring->lane_count = shape.lanes;
    for (uint32_t lane = 0; lane < shape.lanes; lane++)
        ring->owners[lane].lane = (struct lg__lane *)(void *)((uint8_t *)(header + 1) + lane * lane_size(shape.cells));
}

/* Id of the calling thread; asked for once a thread. Initial-exec: never allocated on first use, so safe in a handler. */
static pid_t thread_id(void)
{
    static __thread pid_t cached __attribute__((tls_model("initial-exec")));
    if (!cached)
        cached = lg__os_tid();
    return cached;
}

/* ---- writing into cells that are the caller's ---- */

struct text {
    struct lg__entry entry; /* all but commit, sequence and time */
    const char *bytes;
    uint64_t cells;
};

static struct text make_text(unsigned level, unsigned kind, const char *bytes, size_t size)
{
    struct text text = { .entry = { .kind = (uint8_t)kind }, .bytes = bytes };
    if (size > LG_LOG_TEXT_MAX) {
        size = LG_LOG_TEXT_MAX;
        text.entry.kind |= LG__ENTRY_CUT;
    }
    text.entry.tid = thread_id();
    text.entry.size = (uint16_t)size;
    text.entry.level = (uint8_t)(level > 255 ? 255 : level);
    text.cells = (sizeof text.entry + size + LG__CELL_BYTES - 1) / LG__CELL_BYTES;
    return text;
}

/* Copy into the cells from byte `at` on, around the end of the lane. */
static void copy_in(uint8_t *cells, uint64_t end, uint64_t at, const void *from, size_t size)
{
    at &= end - 1;
    size_t straight = size < end - at ? size : (size_t)(end - at);
    memcpy(cells + at, from, straight);
    if (size > straight)
        memcpy(cells, (const uint8_t *)from + straight, size - straight);
}

static void put(struct lg__lane *lane, uint64_t cell_count, struct text *text, uint64_t sequence)
{
    struct lg__entry *entry = &text->entry;
    entry->sequence = sequence;
    /* After the reservation, so that the times of one thread never run against its sequence, even with a signal between. */
    entry->time = lg__os_clock_ns(CLOCK_MONOTONIC);
    const size_t commit_bytes = sizeof entry->commit;
    uint32_t crc = lg__crc32c(0, (const uint8_t *)entry + commit_bytes, sizeof *entry - commit_bytes);
    crc = lg__crc32c(crc, text->bytes, entry->size);

    uint8_t *cells = (uint8_t *)(lane + 1);
    uint64_t at = sequence * LG__CELL_BYTES, end = cell_count * LG__CELL_BYTES;
    uint8_t *cell = cells + (at & (end - 1));
    _Atomic uint64_t *commit = (_Atomic uint64_t *)(void *)cell;
    /* The old commit word of this cell must be gone before its old content is: else a death in between shows a mixture
     * whose checksum alone stands between it and the reader. */
    atomic_store_explicit(commit, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    memcpy(cell + commit_bytes, (const uint8_t *)entry + commit_bytes, sizeof *entry - commit_bytes);
    LG_FAULT_POINT("ring: before text");
    if (entry->size)
        copy_in(cells, end, at + sizeof *entry, text->bytes, entry->size);
    LG_FAULT_POINT("ring: before commit");
    atomic_store_explicit(commit, (uint64_t)crc << 32 | (uint32_t)(sequence + 1), memory_order_release);
}

/* ---- the shared lane ---- */

#define BUSY UINT64_C(1)

/* The claim word of the cell that was reserved as `sequence`. */
static uint64_t claim_of(uint64_t sequence)
{
    return (sequence + 1) << 1;
}

static void unclaim(const struct lg__ring *ring, uint64_t sequence, uint64_t cells)
{
    for (uint64_t i = sequence; i < sequence + cells; i++)
        atomic_store_explicit(&ring->claims[i & (ring->cell_count - 1)], claim_of(i), memory_order_release);
}

static bool claim(const struct lg__ring *ring, uint64_t sequence, uint64_t cells)
{
    for (uint64_t i = sequence; i < sequence + cells; i++) {
        _Atomic uint64_t *word = &ring->claims[i & (ring->cell_count - 1)];
        uint64_t before = atomic_load_explicit(word, memory_order_relaxed);
        if ((before & BUSY) || before >= claim_of(i) ||
            !atomic_compare_exchange_strong_explicit(word, &before, claim_of(i) | BUSY, memory_order_acquire, memory_order_relaxed)) {
            unclaim(ring, sequence, i - sequence);
            /* No claim is beyond head, unless the file was cut and head is zero again: it must not take laps to get there. */
            _Atomic uint64_t *head = &ring->owners[0].lane->head;
            uint64_t now = atomic_load(head);
            while (now < before >> 1 && !atomic_compare_exchange_weak(head, &now, before >> 1))
                continue;
            return false;
        }
    }
    return true;
}

static bool write_shared(const struct lg__ring *ring, struct text *text)
{
    struct lg__lane *lane = ring->owners[0].lane;
    /* Two laps: then what is in the way does not go away. */
    for (uint64_t left = 2 * ring->cell_count / text->cells + 8; left > 0; left--) {
        uint64_t sequence = atomic_fetch_add(&lane->head, text->cells);
        LG_FAULT_POINT("ring: reserved");
        if (!claim(ring, sequence, text->cells))
            continue;
        put(lane, ring->cell_count, text, sequence);
        unclaim(ring, sequence, text->cells);
        if (atomic_load(&lane->head) - sequence <= ring->cell_count)
            return true;
    }
    return false;
}

/* ---- lanes of threads ---- */

/* What the calling thread claimed last. One pointer: a signal handler sees the old one or the new one. */
static __thread struct lg__ring_owner *mine __attribute__((tls_model("initial-exec")));

static bool is_mine(const struct lg__ring *ring)
{
    return (uintptr_t)mine - (uintptr_t)ring->owners < ring->lane_count * sizeof *mine;
}

/* Make a lane this thread's, if its word is still `before`: the count in it tells a thread from another that has the same id later. */
static bool take(struct lg__ring_owner *owner, uint64_t before, pid_t tid)
{
    uint64_t now = ((before >> 32) + 1) << 32 | (uint32_t)tid;
    if (!atomic_compare_exchange_strong(&owner->word, &before, now))
        return false;
    /* From a thread that is dead. Where it is this thread's own already, the one that is busy may be interrupted by this. */
    if ((uint32_t)before != (uint32_t)tid)
        atomic_exchange_explicit(&owner->busy, 0, memory_order_acquire);
    atomic_store_explicit(&owner->lane->tid, tid, memory_order_relaxed);
    mine = owner;
    return true;
}

/* A lane for the calling thread: the one it has, one that nobody has had, one whose thread is dead; else the shared one. Entries stay. */
static void find_lane(const struct lg__ring *ring)
{
    enum { HAS, UNUSED, DEAD, ROUNDS };
    pid_t tid = thread_id(), pid = 0;
    for (int round = HAS; round < ROUNDS; round++)
        for (uint32_t lane = 1; lane < ring->lane_count; lane++) {
            struct lg__ring_owner *owner = &ring->owners[lane];
            uint64_t before = atomic_load(&owner->word);
            pid_t other = (pid_t)(uint32_t)before;
            if (round == DEAD && !pid)
                pid = lg__os_pid();
            bool free = round == HAS ? other == tid : round == UNUSED ? before == 0 : lg__os_signal_send(pid, other, 0) == -ESRCH;
            if (free && take(owner, before, tid))
                return;
        }
    mine = &ring->owners[0];
}

bool lg__ring_write(const struct lg__ring *ring, unsigned level, unsigned kind, const char *bytes, size_t size)
{
    struct text text = make_text(level, kind, bytes, size);
    if (!is_mine(ring))
        find_lane(ring);
    struct lg__ring_owner *owner = mine;
    /* What jumped out of the middle of an entry leaves the lane busy: the thread then goes on in the shared one. */
    if (owner == ring->owners || atomic_load_explicit(&owner->busy, memory_order_relaxed))
        return write_shared(ring, &text);
    atomic_store_explicit(&owner->busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    /* Head first: a death behind it leaves an entry without its commit word, not old entries that look torn. */
    uint64_t sequence = atomic_load_explicit(&owner->lane->head, memory_order_relaxed);
    atomic_store_explicit(&owner->lane->head, sequence + text.cells, memory_order_relaxed);
    put(owner->lane, ring->cell_count, &text, sequence);
    atomic_store_explicit(&owner->busy, 0, memory_order_release);
    return true;
}

bool lg__ring_note(const struct lg__ring *ring, unsigned level, const char *bytes, size_t size)
{
    struct text text = make_text(level, LG__ENTRY_TEXT, bytes, size);
    return write_shared(ring, &text);
}
