/* A reader copies a part of a file while its process changes that part: the reader shows the part
 * as it was before or after, and no mixture, whatever the checksum says. The test changes the file
 * at fault points of the reader. */
#include "harness.h"
#include "sections.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "store/crc32c.h"

static uint8_t *file;
static size_t file_bytes;
static lg_reader *reader;

/* A change by the writer when the reader passes a point. */
static struct change {
    const char *point;
    unsigned passes; /* before it */
    void (*change)(void);
} changes[2];
static unsigned next, passed;

static void hook(const char *point)
{
    if (next == 2 || !changes[next].point || strcmp(point, changes[next].point) != 0 || passed++ < changes[next].passes)
        return;
    passed = 0;
    void (*change)(void) = changes[next++].change;
    if (change)
        change();
}

static void change_at(const char *point, unsigned passes, void (*change)(void))
{
    changes[0] = (struct change){ point, passes, change };
    changes[1].point = NULL;
    next = passed = 0;
    lg__fault_hook = hook;
}

static void *section(uint32_t kind)
{
    return section_of(file, kind);
}

static void map_file(const char *path)
{
    struct stat info;
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(descriptor, &info), 0);
    file_bytes = (size_t)info.st_size;
    file = mmap(NULL, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    assert_true(file != MAP_FAILED);
    close(descriptor);
}

static void *rests(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static void body(void *argument)
{
    (void)argument;
    lg_session *session = start_session();
    in_thread(rests, NULL);
    for (int i = 0; i < 20000; i++)
        lg_log(session, LG_LEVEL_INFO, "entry %d", i);
    crash();
}

static void leave_run(void)
{
    expect_signal(body, NULL, SIGSEGV);
    lg__crc32c_init();
    map_file(newest_run_path());
}

static void done(void)
{
    assert_true(next > 0);
    lg__fault_hook = NULL;
    lg_reader_close(reader);
    munmap(file, file_bytes);
}

/* ---- a stage of the record ---- */

static struct lg__stage *header_stage(void)
{
    return &((struct lg__record *)section(LG__SECTION_RECORD))->stages[LG_STAGE_HEADER];
}

static struct lg__crash_header *header_block(void)
{
    return (void *)((uint8_t *)section(LG__SECTION_RECORD) + header_stage()->offset);
}

static void put_header(uint64_t pc)
{
    header_block()->pc = pc;
}

static void seal_header(void)
{
    header_stage()->crc = lg__crc32c(0, header_block(), header_stage()->size);
}

static void put_second(void)
{
    put_header(2);
}

static void put_third(void)
{
    put_header(3);
    seal_header();
}

/* The block goes with the checksum that was read before it, by chance. */
static void test_stage(void **state)
{
    (void)state;
    lg_crash_info crash;
    leave_run();
    const uint64_t first = header_block()->pc;
    put_header(2);
    seal_header();
    put_header(first);
    reader = newest_run();
    change_at("reader: block", 0, put_second);
    changes[1] = (struct change){ "reader: stage", 0, put_third };
    assert_int_equal(lg_reader_crash(reader, &crash), LG_OK);
    assert_int_equal(next, 2);
    assert_true(crash.pc == 3);
    done();
}

/* ---- the state: a mark and its values ---- */

static void end_term(void)
{
    struct lg__state *state = section(LG__SECTION_STATE);
    atomic_store(&state->term_ns, 5);
}

static void test_state(void **state)
{
    (void)state;
    lg_run_info run;
    leave_run();
    atomic_store(&((struct lg__state *)section(LG__SECTION_STATE))->term_signal, SIGTERM);
    reader = newest_run();
    change_at("reader: copied", 0, end_term);
    assert_int_equal(lg_reader_run(reader, &run), LG_OK);
    assert_int_equal(run.term_signal, SIGTERM);
    assert_int_equal(run.term_ns, 5);
    done();
}

/* ---- a thread ---- */

static void put_thread(void)
{
    struct lg__thread *thread = (void *)((struct lg__threads *)section(LG__SECTION_THREADS) + 1);
    thread->state = 'Z';
    thread->crc = lg__crc32c(0, &thread->tid, offsetof(struct lg__thread, walk) - offsetof(struct lg__thread, tid));
}

static void test_thread(void **state)
{
    (void)state;
    lg_thread_info thread;
    leave_run();
    reader = newest_run();
    change_at("reader: copied", UINT_MAX, NULL);
    assert_int_equal(lg_reader_thread(reader, 0, &thread), LG_OK);
    assert_int_not_equal(thread.state, 'Z');
    change_at("reader: copied", passed - 1, put_thread); /* the slot is copied last */
    assert_int_equal(lg_reader_thread(reader, 0, &thread), LG_OK);
    assert_int_equal(thread.state, 'Z');
    done();
}

/* ---- the ring log: cells are reserved anew while a lane is copied ---- */

static struct lg__lane *lane_at(uint32_t index)
{
    struct lg__ring_header *ring = section(LG__SECTION_RING);
    return (void *)((uint8_t *)(ring + 1) + index * (sizeof(struct lg__lane) + ring->lane_cells * (size_t)LG__CELL_BYTES));
}

/* The lane that went around. */
static uint32_t used_lane(uint32_t *ret_cells)
{
    uint32_t index = 0;
    *ret_cells = ((struct lg__ring_header *)section(LG__SECTION_RING))->lane_cells;
    while (lane_at(index)->head <= *ret_cells)
        index++;
    return index;
}

static void reserve_half(void)
{
    uint32_t cells, index = used_lane(&cells);
    atomic_fetch_add(&lane_at(index)->head, cells / 2);
}

static void test_lane(void **state)
{
    (void)state;
    lg_log_info before, after;
    leave_run();
    reader = newest_run();
    assert_int_equal(lg_reader_log(reader, &before), LG_OK);
    uint32_t cells;
    change_at("reader: lane", used_lane(&cells), reserve_half);
    assert_int_equal(lg_reader_log(reader, &after), LG_OK);
    assert_true(after.overwritten_bytes - before.overwritten_bytes == cells / 2 * (uint64_t)LG__CELL_BYTES);
    assert_true(after.entries < before.entries);
    assert_int_equal(after.torn, before.torn);
    done();
}

/* ---- modules, and stack memory ---- */

static void next_modules(void)
{
    struct lg__module_table *tables = section(LG__SECTION_MODULES);
    for (int i = 0; i < 2; i++)
        tables[i].generation += 2;
}

static void test_modules(void **state)
{
    (void)state;
    lg_module module;
    leave_run();
    reader = newest_run();
    change_at("reader: table", 0, next_modules);
    assert_int_not_equal(lg_reader_module(reader, 0, &module), LG_OK);
    done();
}

static void free_chunk(void)
{
    struct lg__chunk *chunk = section(LG__SECTION_STACKS);
    atomic_store(&chunk->commit, 0);
}

static void test_chunk(void **state)
{
    (void)state;
    lg_memory_info memory;
    leave_run();
    reader = newest_run();
    change_at("reader: chunk", 0, free_chunk);
    assert_int_equal(lg_reader_memory(reader, 0, &memory), LG_ERR_INCOMPLETE);
    done();
}

/* ---- a slot of the ledger ---- */

static struct lg__slot *newest_slot(void)
{
    struct lg__slot *a = section(LG__SECTION_SLOT_A), *b = section(LG__SECTION_SLOT_B);
    return a->generation > b->generation ? a : b;
}

static void void_slot(void)
{
    newest_slot()->generation = 0;
}

static void test_slot(void **state)
{
    (void)state;
    lg_ledger_info info;
    expect_signal(body, NULL, SIGSEGV);
    lg__crc32c_init();
    map_file(state_path("ledger.lg"));
    assert_int_equal(lg_reader_open(state_path("ledger.lg"), &reader), LG_OK);
    assert_int_equal(lg_reader_ledger(reader, &info), LG_OK);
    const uint64_t newest = info.generation;
    assert_true(newest > 1);
    change_at("reader: slot", newest_slot() == section(LG__SECTION_SLOT_B), void_slot);
    assert_int_equal(lg_reader_ledger(reader, &info), LG_OK);
    assert_true(info.generation == newest - 1);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STATE(test_stage), WITH_STATE(test_state), WITH_STATE(test_thread), WITH_STATE(test_lane),
        WITH_STATE(test_modules), WITH_STATE(test_chunk), WITH_STATE(test_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
