/* The ring log: lanes of threads, and the shared lane, read by the public reader. After a death the
 * orders alone keep entries whole; a reader beside a living writer needs the checksum, since its
 * loads within one pread() have no order. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "launchguard/reader.h"
#include "orders.h"
#include "read/reader.h"
#include "stand_ins.h"
#include "store/ring.h"

/* An entry has two cells, one of them for this text: its writer and its number, twice. */
struct text { uint32_t number, again; };

#define LANES 3u
#define CELLS_MOST 8u

static struct {
    struct lg__ring_header header;
    struct { struct lg__lane lane; uint8_t cells[CELLS_MOST * LG__CELL_BYTES]; } lanes[LANES];
} file __attribute__((aligned(64)));
static uint8_t memory[4096] __attribute__((aligned(64)));
static struct lg__ring ring;
static struct lg__state state;
/* The number of the last entry of each writer whose call returned. */
static _Atomic uint32_t returned[ORDERS_THREADS + 1];
static struct stand_in_section sections[] = { { LG__SECTION_RING, &file, sizeof file } };

static bool is_shared;

static void make(uint32_t lanes, uint32_t cells)
{
    struct lg__ring_shape shape = { lanes, cells };
    is_shared = lanes == 1;
    sections[0].size = lg__ring_size(shape);
    lg__ring_init(&ring, &file, memory, shape, &state);
    orders_declare(&file, sizeof file, ORDERS_RACY | ORDERS_FILE);
    orders_declare(returned, sizeof returned, ORDERS_FILE);
}

static void put(uint32_t writer, uint32_t number)
{
    const struct text text = { writer << 16 | number, writer << 16 | number };
    must(lg__ring_text(&ring, 3, (const char *)&text, sizeof text) == LG_OK);
    atomic_store_explicit(&returned[writer], number, memory_order_release);
}

/* The entries that a reader finds: each is whole, and once; those of a writer come one after the
 * other. */
static void look(bool after_death)
{
    struct lg_reader reader;
    lg_log_info info;
    lg_log_entry entry;
    uint32_t last[ORDERS_THREADS + 1] = { 0 }, found[ORDERS_THREADS + 1] = { 0 }, known[ORDERS_THREADS + 1];
    for (unsigned i = 0; i <= ORDERS_THREADS; i++)
        known[i] = atomic_load_explicit(&returned[i], memory_order_acquire);
    stand_in_reader(&reader, sections, 1);
    must(lg_reader_log(&reader, &info) == LG_OK);
    for (uint64_t i = 0; i < info.entries; i++) {
        struct text text;
        must(lg_reader_log_entry(&reader, i, &entry) == LG_OK);
        must(entry.size == sizeof text && entry.level == 3);
        memcpy(&text, entry.text, sizeof text);
        must(text.number == text.again && text.number != 0);
        const uint32_t writer = text.number >> 16, number = text.number & 0xffff;
        must(writer <= ORDERS_THREADS);
        must(number > last[writer] || entry.lane != 0);
        must(!(found[writer] >> number & 1));
        last[writer] = number > last[writer] ? number : last[writer];
        found[writer] |= 1u << number;
    }
    /* In a lane of one writer entry n is in cell 2 (n - 1). */
    for (unsigned i = 0; i <= ORDERS_THREADS; i++)
        for (uint32_t number = 1; number <= known[i]; number++)
            must((found[i] >> number & 1) || info.overwritten_bytes > (is_shared ? 0 : (number - 1) * 2 * LG__CELL_BYTES));
    if (after_death)
        must(info.torn <= ORDERS_THREADS);
}

static void read_alive(void)
{
    look(false);
}

static void read_dead(void)
{
    look(true);
}

/* ---- one thread in its lane of two cells ---- */

static void make_lanes(void)
{
    make(2, 4);
}

static void make_lanes_quick(void)
{
    extern _Atomic bool lg__crc32c_by_cpu;
    lg__crc32c_by_cpu = true;
    make(2, 4);
    ring.clock->span = UINT64_MAX;
}

static void write_three(void)
{
    for (uint32_t i = 1; i <= 3; i++)
        put(0, i);
}

static void write_one(void)
{
    put(orders_self(), 1);
}

static void write_two(void)
{
    put(orders_self(), 1);
    put(orders_self(), 2);
}

static void make_lanes_alive(void)
{
    stand_in_checksums();
    make_lanes();
}

static void make_lanes_quick_alive(void)
{
    stand_in_checksums();
    make_lanes_quick();
}

/* ---- a handler comes in the middle of an entry ---- */

static void make_lanes_larger(void)
{
    make(3, 8);
}

static void interrupts(void)
{
    put(ORDERS_THREADS, 1);
}

static void all_are_there(void)
{
    look(true);
}

/* ---- two threads take the lane of one that has died ---- */

static void make_one_lane(void)
{
    make(2, 4);
}

/* The kernel says that a thread is gone, with all that the thread did. */
static _Atomic uint32_t gone;

long lg__os_signal_send(pid_t pid, pid_t tid, int signal)
{
    (void)pid;
    (void)signal;
    return atomic_load_explicit(&gone, memory_order_acquire) == (uint32_t)tid ? -ESRCH : 0;
}

static void make_dead_lane(void)
{
    make_one_lane();
    atomic_store(&ring.writers[1].word, (UINT64_C(1) << 32) | 99);
    atomic_store(&ring.writers[1].busy, 4096);
    gone = 99;
}

static void write_and_go(void)
{
    put(0, 1);
    atomic_store_explicit(&gone, 100, memory_order_release);
}

/* ---- the shared lane ---- */

static void make_shared(void)
{
    make(1, 8);
}

static void make_shared_small(void)
{
    make(1, 4);
}

static const struct scenario scenarios[] = {
    { .name = "lane that is read", .sections = "Ring log", .setup = make_lanes_alive, .threads = { write_three, read_alive } },
    { .name = "lane at a death", .sections = "Ring log", .setup = make_lanes, .threads = { write_three }, .dead = read_dead },
    { .name = "lane, quick, that is read", .sections = "Ring log", .setup = make_lanes_quick_alive, .threads = { write_three, read_alive } },
    { .name = "lane, quick, at a death", .sections = "Ring log", .setup = make_lanes_quick, .threads = { write_three }, .dead = read_dead },
    { .name = "handler in a lane", .sections = "Ring log", .setup = make_lanes_larger, .threads = { write_two }, .handler = interrupts, .check = all_are_there, .dead = read_dead },
    { .name = "lane of a dead thread", .sections = "Ring log", .setup = make_dead_lane, .threads = { write_one, write_one }, .check = all_are_there },
    { .name = "lane that is handed on", .sections = "Ring log", .setup = make_one_lane, .threads = { write_and_go, write_one }, .check = all_are_there },
    { .name = "shared lane", .sections = "Ring log", .setup = make_shared, .threads = { write_one, write_one }, .check = all_are_there },
    { .name = "shared lane at a death", .sections = "Ring log", .setup = make_shared, .threads = { write_one, write_one }, .switches = 1, .switches_of_all = 1, .dead = read_dead },
    { .name = "shared lane, a lap", .sections = "Ring log", .setup = make_shared_small, .threads = { write_two, write_one }, .check = all_are_there, .switches = 2, .switches_of_all = 3 },
};

int main(int argc, char **argv)
{
    return orders_main(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
