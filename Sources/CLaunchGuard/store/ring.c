/* Rules by which the writers of a ring keep out of each other's way.
 *
 * Only a writer with the right to a cell writes it. In a lane of its own that is the one thread
 * that claimed the lane, and of that thread only the outermost entry: `busy` sends a signal handler
 * that comes in between to the shared lane. So entries of such a lane are written strictly one
 * after the other, whatever other threads do, and no thread waits.
 *
 * Lane 0 is for all the rest: threads beyond the number of lanes, nested entries, LaunchGuard
 * itself. There each cell has a claim word in memory: the number of the last claim (the cell's own
 * sequence + 1) and whether its writer is still busy. A writer reserves cells by adding to `head`,
 * then claims each by compare-and-swap, from a free word with a smaller number only. Hence
 * - a cell has one writer at a time: a writer that finds a busy word goes away;
 * - an entry whose call returned stays whole until `head` is a lap further, and then it counts as
 *   overwritten: the word of its cells has its number, the next claim has a larger one, reserved a
 *   lap later; a writer that reserved a lap earlier and wakes up late finds a larger number than
 *   its own and goes away;
 * - no writer waits for another: one that goes away reserves again, further on. Cells that it
 *   leaves hold nothing with their sequence.
 *
 * A writer that was passed by a whole lap while it wrote, which it sees by `head` after its commit,
 * writes its entry once more: the first one has left the window that a reader looks at, and head
 * only grows. So an entry that returned is there or was overwritten by later ones, and is there
 * once.
 *
 * A signal handler may jump out of the middle of an entry. The next entry of that thread from a
 * caller of the left one gives back what that one held: the frame of a writer says whether it was
 * left (ring_left.h). */
#include "store/ring.h"

#include <errno.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "store/crc32c.h"
#include "store/ring_left.h"

#define LANES_MAX 16u
/* A lane has room for at least two of the longest entries: a stopped writer in a shared lane leaves
 * room for another one. */
#define LANE_CELLS_MIN 256u
/* More than this many lanes only where they are large all the same. */
#define LANES_USUAL 8u
#define LANE_CELLS_LARGE 2048u

static_assert(sizeof(struct lg__entry) + LG_LOG_TEXT_MAX <= 4096, "an entry fits into 4 KiB");
static_assert(sizeof(struct lg__ring_writer) == 64, "a cache line");

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
    return sizeof(struct lg__clock) + shape.lanes * sizeof(struct lg__ring_writer) + shape.cells * sizeof(uint64_t);
}

void lg__ring_init(struct lg__ring *ring, void *section, void *memory, struct lg__ring_shape shape, struct lg__state *state)
{
    struct lg__ring_header *header = section;
    header->lane_count = shape.lanes;
    header->lane_cells = shape.cells;
    header->cell_bytes = LG__CELL_BYTES;
    ring->clock = memory;
    ring->writers = (struct lg__ring_writer *)(void *)(ring->clock + 1);
    ring->claims = (_Atomic uint64_t *)(void *)(ring->writers + shape.lanes);
    ring->cell_count = shape.cells;
    ring->lane_count = shape.lanes;
    ring->outbox = NULL;
    const uint64_t bytes = shape.cells * (uint64_t)LG__CELL_BYTES;
    for (uint32_t lane = 0; lane < shape.lanes; lane++) {
        struct lg__ring_writer *writer = &ring->writers[lane];
        writer->lane = (struct lg__lane *)(void *)((uint8_t *)(header + 1) + lane * lane_size(shape.cells));
        writer->first = ring->writers;
        writer->mask = bytes - 1;
        writer->quick = atomic_load_explicit(&lg__crc32c_by_cpu, memory_order_relaxed) ? bytes : 0;
        writer->clock = ring->clock;
    }
    ring->writers->busy = LG__RING_SHARED;
    lg__clock_init(ring->clock, header, state);
    header->crc = lg__crc32c(0, header, offsetof(struct lg__ring_header, crc));
}

/* ---- writing into cells that are the caller's ---- */

/* An entry after its commit word is three words: sequence, time, and this one, which is known
 * before there are cells for it. */
static inline uint64_t last_word(int32_t tid, unsigned level, unsigned kind, size_t size)
{
    return (uint32_t)tid | (uint64_t)((uint32_t)size | level << 16 | kind << 24) << 32;
}
#define LEVEL_MAX 255u
#define KIND(flag) ((uint64_t)(flag) << 56)
static_assert(offsetof(struct lg__entry, sequence) == 8 && offsetof(struct lg__entry, time) == 16 && offsetof(struct lg__entry, tid) == 24 &&
              offsetof(struct lg__entry, size) == 28 && offsetof(struct lg__entry, level) == 30 && offsetof(struct lg__entry, kind) == 31, "three words");

static inline uint64_t cells_of(size_t size)
{
    return (sizeof(struct lg__entry) + size + LG__CELL_BYTES - 1) / LG__CELL_BYTES;
}

/* Copy into the cells from byte `at` on, around the end of the lane, and continue the checksum over
 * the copied bytes. */
static uint32_t copy_in(uint32_t crc, uint8_t *cells, uint64_t mask, uint64_t at, const void *from, size_t size)
{
    at &= mask;
    size_t straight = size <= mask - at ? size : (size_t)(mask + 1 - at);
    if (size == 0)
        return crc;
    memcpy(cells + at, from, straight);
    memcpy(cells, (const uint8_t *)from + straight, size - straight);
    crc = lg__crc32c(crc, cells + at, straight);
    return lg__crc32c(crc, cells, size - straight);
}

/* The old commit word of a cell must be gone before its old content is: else a death in between
 * shows a mixture whose checksum alone stands between it and the reader. And not before the new
 * head is there: else an old entry looks torn. */
static inline uint64_t *open_cell(uint8_t *cell)
{
    atomic_store_explicit((_Atomic uint64_t *)(void *)cell, 0, memory_order_release);
    atomic_thread_fence(memory_order_release);
    return (uint64_t *)(void *)cell;
}

static inline void commit_entry(uint64_t *cell, uint64_t sequence, uint64_t crc)
{
    LG_FAULT_POINT("ring: before commit");
    atomic_store_explicit((_Atomic uint64_t *)(void *)cell, crc << 32 | (uint32_t)(sequence + 1), memory_order_release);
}

/* The time is taken after the reservation, so that the times of one thread never run against its
 * sequence, even with a signal between. */
static void put_entry(const struct lg__ring_writer *writer, uint64_t sequence, const char *bytes, size_t size, uint64_t last)
{
    uint64_t words[3] = { sequence, 0, last };
    words[2] |= KIND(lg__clock_now(writer->clock, &words[1]));
    uint8_t *cells = (uint8_t *)(writer->lane + 1);
    uint64_t at = sequence * LG__CELL_BYTES & writer->mask;
    uint64_t *cell = open_cell(cells + at);
    memcpy(cell + 1, words, sizeof words);
    LG_FAULT_POINT("ring: before text");
    uint32_t crc = lg__crc32c(0, words, sizeof words);
    commit_entry(cell, sequence, copy_in(crc, cells, writer->mask, at + sizeof(struct lg__entry), bytes, size));
}

/* The same by the CPU's instruction and counter alone; false: they are not there, or the entry runs
 * around the end of the lane. */
static inline __attribute__((always_inline)) bool put_quickly(const struct lg__ring_writer *writer, struct lg__lane *lane, uint64_t sequence,
                                                              const char *bytes, size_t size, uint64_t last)
{
    uint64_t at = sequence * LG__CELL_BYTES & writer->mask, time;
    uint8_t *place = (uint8_t *)(lane + 1) + at;
    if (at + sizeof(struct lg__entry) + size > writer->quick || !lg__clock_count(writer->clock, &time))
        return false;
    uint64_t *cell = open_cell(place);
    cell[1] = sequence;
    cell[2] = time;
    cell[3] = last;
    LG_FAULT_POINT("ring: before text");
    uint64_t crc = lg__arch_crc32c_8(lg__arch_crc32c_8(lg__arch_crc32c_8(UINT32_MAX, sequence), time), last);
    commit_entry(cell, sequence, ~lg__crc32c_copy(crc, (uint8_t *)(cell + 4), bytes, size));
    return true;
}

/* ---- the shared lane ---- */

/* Id of the calling thread; asked for once a thread. Initial-exec: never allocated on first use, so
 * safe in a handler. */
static pid_t thread_id(void)
{
    static __thread pid_t cached __attribute__((tls_model("initial-exec")));
    if (!cached)
        cached = lg__os_tid();
    return cached;
}

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

static bool claim_cells(const struct lg__ring *ring, uint64_t sequence, uint64_t cells)
{
    for (uint64_t i = sequence; i < sequence + cells; i++) {
        _Atomic uint64_t *word = &ring->claims[i & (ring->cell_count - 1)];
        uint64_t before = atomic_load_explicit(word, memory_order_relaxed);
        if ((before & BUSY) || before >= claim_of(i) ||
            !atomic_compare_exchange_strong_explicit(word, &before, claim_of(i) | BUSY, memory_order_acquire, memory_order_relaxed)) {
            unclaim(ring, sequence, i - sequence);
            /* No claim is beyond head, unless the file was cut and head is zero again: it must not
             * take laps to get there. */
            _Atomic uint64_t *head = &ring->writers[0].lane->head;
            uint64_t now = atomic_load(head);
            while (now < before >> 1 && !atomic_compare_exchange_weak(head, &now, before >> 1))
                continue;
            return false;
        }
    }
    return true;
}

static lg_status claim_and_put(const struct lg__ring *ring, unsigned level, unsigned kind, const char *bytes, size_t size,
                               struct lg__ring_entry *own)
{
    struct lg__lane *lane = ring->writers[0].lane;
    const uint64_t last = last_word(thread_id(), level, kind, size);
    const uint64_t cells = cells_of(size);
    /* Two laps: after them the obstacle does not go away. */
    for (uint64_t left = 2 * ring->cell_count / cells + 8; left > 0; left--) {
        uint64_t sequence = atomic_fetch_add(&lane->head, cells);
        LG_FAULT_POINT("ring: reserved");
        own->sequence = sequence;
        atomic_signal_fence(memory_order_seq_cst);
        if (!claim_cells(ring, sequence, cells))
            continue;
        put_entry(ring->writers, sequence, bytes, size, last);
        unclaim(ring, sequence, cells);
        if (atomic_load(&lane->head) - sequence <= ring->cell_count) {
            atomic_fetch_add_explicit(&lane->entries, 1, memory_order_relaxed);
            return LG_OK;
        }
    }
    atomic_fetch_add_explicit(&lane->refused, 1, memory_order_relaxed);
    return LG_ERR_LIMIT;
}

/* The cells of an entry that was left. Those that it had not claimed, or had freed, stay. */
static void give_back(const struct lg__ring_entry *left)
{
    for (uint64_t i = left->sequence; i < left->sequence + left->cells; i++) {
        uint64_t busy = claim_of(i) | BUSY;
        atomic_compare_exchange_strong(&left->ring->claims[i & (left->ring->cell_count - 1)], &busy, claim_of(i));
    }
}

static __attribute__((noinline)) lg_status write_shared(const struct lg__ring *ring, unsigned level, unsigned kind, const char *bytes, size_t size,
                                                        uintptr_t frame)
{
    struct lg__ring_entry left;
    while (lg__ring_left_take(frame, &left))
        give_back(&left);
    uint32_t depth;
    struct lg__ring_entry *own = lg__ring_left_enter(ring, frame, cells_of(size), &depth);
    lg_status status = claim_and_put(ring, level, kind, bytes, size, own);
    lg__ring_left_leave(depth);
    return status;
}

/* ---- lanes of threads ---- */

/* The lane that the calling thread claimed last. One pointer: a signal handler sees the old one or
 * the new one. */
static struct lg__ring_writer of_no_ring;
static __thread struct lg__ring_writer *mine __attribute__((tls_model("initial-exec"))) = &of_no_ring;

/* Make a lane this thread's, if its word is still `before`: the count in the word separates a
 * thread from a later one with the same id. */
static bool take_lane(struct lg__ring_writer *writer, uint64_t before, pid_t tid)
{
    uint64_t now = ((before >> 32) + 1) << 32 | (uint32_t)tid;
    if (!atomic_compare_exchange_strong(&writer->word, &before, now))
        return false;
    /* Free the lane of a dead thread. A lane that was this thread's own may really be busy: this
     * call may have interrupted its writer. */
    if ((uint32_t)before != (uint32_t)tid)
        atomic_exchange_explicit(&writer->busy, 0, memory_order_acquire);
    atomic_store_explicit(&writer->lane->tid, tid, memory_order_relaxed);
    writer->tid = tid;
    mine = writer;
    return true;
}

/* A lane for the calling thread: its own, an unused one, or one whose thread is dead, as the kernel
 * says (a destructor of thread-local data does not run at every end); else the shared one. Entries
 * stay. */
static __attribute__((noinline)) void find_lane(const struct lg__ring *ring)
{
    enum { HAS, UNUSED, DEAD, ROUNDS };
    pid_t tid = thread_id(), pid = 0;
    lg__clock_writer(ring->clock, tid);
    for (int round = HAS; round < ROUNDS; round++)
        for (uint32_t lane = 1; lane < ring->lane_count; lane++) {
            struct lg__ring_writer *writer = &ring->writers[lane];
            uint64_t before = atomic_load(&writer->word);
            pid_t other = (pid_t)(uint32_t)before;
            if (round == DEAD && !pid)
                pid = lg__os_pid();
            bool free = round == HAS ? other == tid : round == UNUSED ? before == 0 : lg__os_signal_send(pid, other, 0) == -ESRCH;
            if (free && take_lane(writer, before, tid))
                return;
        }
    mine = ring->writers;
}

/* Count the entry, and free the lane. */
static inline lg_status leave_lane(struct lg__ring_writer *writer)
{
    *(uint64_t *)&writer->lane->entries += 1; /* no other thread of this process looks at it */
    atomic_store_explicit(&writer->busy, 0, memory_order_release);
    return LG_OK;
}

/* The rare case is called last, so that the common one needs no room on the stack. */
static __attribute__((noinline)) lg_status put_and_leave(struct lg__ring_writer *writer, uint64_t sequence, const char *bytes, size_t size, uint64_t last)
{
    put_entry(writer, sequence, bytes, size, last);
    return leave_lane(writer);
}

static __attribute__((noinline)) lg_status write_unusual(const struct lg__ring *ring, unsigned level, unsigned kind, const char *bytes, size_t size,
                                                         uintptr_t frame);

/* `frame`: of the outermost function of this file. */
static inline __attribute__((always_inline)) lg_status write_entry(const struct lg__ring *ring, unsigned level, unsigned kind, const char *bytes,
                                                                   size_t size, uintptr_t frame)
{
    struct lg__ring_writer *writer = mine;
    if (writer->first != ring->writers || size > LG_LOG_TEXT_MAX || level > LEVEL_MAX || atomic_load_explicit(&writer->busy, memory_order_relaxed))
        return write_unusual(ring, level, kind, bytes, size, frame);
    atomic_store_explicit(&writer->busy, frame, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    /* Head first: a death after it leaves an entry without its commit word, not old entries that
     * look torn. */
    struct lg__lane *lane = writer->lane;
    uint64_t last = last_word(writer->tid, level, kind, size), sequence = atomic_load_explicit(&lane->head, memory_order_relaxed);
    atomic_store_explicit(&lane->head, sequence + cells_of(size), memory_order_relaxed);
    return put_quickly(writer, lane, sequence, bytes, size, last) ? leave_lane(writer) : put_and_leave(writer, sequence, bytes, size, last);
}

static lg_status write_unusual(const struct lg__ring *ring, unsigned level, unsigned kind, const char *bytes, size_t size, uintptr_t frame)
{
    if (size > LG_LOG_TEXT_MAX) {
        size = LG_LOG_TEXT_MAX;
        kind |= LG__ENTRY_CUT;
    }
    level = level > LEVEL_MAX ? LEVEL_MAX : level;
    if (mine->first != ring->writers)
        find_lane(ring);
    const uintptr_t busy = atomic_load_explicit(&mine->busy, memory_order_relaxed);
    if (busy && !lg__ring_left_is(busy, frame))
        return write_shared(ring, level, kind, bytes, size, frame);
    atomic_store_explicit(&mine->busy, 0, memory_order_relaxed);
    return write_entry(ring, level, kind, bytes, size, frame);
}

#define FRAME ((uintptr_t)__builtin_frame_address(0))

lg_status lg__ring_text(const struct lg__ring *ring, unsigned level, const char *text, size_t size)
{
    return write_entry(ring, level, LG__ENTRY_TEXT, text, size, FRAME);
}

bool lg__ring_write(const struct lg__ring *ring, unsigned level, unsigned kind, const char *bytes, size_t size)
{
    return write_unusual(ring, level, kind, bytes, size, FRAME) == LG_OK;
}

bool lg__ring_note(const struct lg__ring *ring, unsigned level, const char *bytes, size_t size)
{
    lg__outbox_put(ring->outbox, level, bytes, size);
    return write_shared(ring, level, LG__ENTRY_TEXT, bytes, size < LG_LOG_TEXT_MAX ? size : LG_LOG_TEXT_MAX, FRAME) == LG_OK;
}
