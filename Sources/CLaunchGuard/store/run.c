#include "store/run.h"

#include <errno.h>

#include "launchguard/reader.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "store/crc32c.h"
#include "store/header.h"

/* The sections lie one after the other. A reader takes their places from the header, the writer
 * from here. Sections that every run writes come first, close together: each written page costs the
 * start some microseconds. Sections that only a crash writes come last, so that a clean run gives
 * them back in one piece. */
#define IDENTITY_AT 512u
#define RECORD_BYTES 69632u
#define RECORD_WITHOUT_PROCESS 20480u /* the block of that stage is the last one */
static_assert(sizeof(struct lg__header) <= IDENTITY_AT, "the header fits");

/* Blocks of the record, by stage. */
static const struct block {
    uint8_t stage;
    uint16_t offset;
    uint16_t capacity;
} blocks[] = {
    { LG_STAGE_HEADER, 1024, sizeof(struct lg__crash_header) },
    { LG_STAGE_CONTEXT, 1216, sizeof(struct lg__crash_context) },
    { LG_STAGE_FRAMES, 2176, offsetof(struct lg__crash_frames, functions) },
    { LG_STAGE_DWARF, 6336, sizeof(struct lg__crash_frames) },
    { LG_STAGE_DONE, 11008, sizeof(struct lg__crash_done) },
    { LG_STAGE_THREADS, 11072, sizeof(struct lg__crash_threads) },
    { LG_STAGE_MESSAGES, 11136, sizeof(struct lg__crash_messages) },
    { LG_STAGE_ASYNC, 17280, sizeof(struct lg__crash_async) },
    { LG_STAGE_PROCESS, RECORD_WITHOUT_PROCESS, sizeof(struct lg__crash_process) },
};
#define BLOCK_COUNT (sizeof blocks / sizeof blocks[0])
static_assert(RECORD_WITHOUT_PROCESS + sizeof(struct lg__crash_process) <= RECORD_BYTES, "the record fits");

LG__FIRST static const struct block *block_of(unsigned stage)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++)
        if (blocks[i].stage == stage)
            return &blocks[i];
    return NULL;
}

void lg__run_uuid_text(const uint8_t uuid[16], char text[37])
{
    static const char digits[] = "0123456789abcdef";
    char *at = text;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        *at++ = digits[uuid[i] >> 4];
        *at++ = digits[uuid[i] & 15];
    }
    *at = 0;
}

void lg__run_name(uint64_t ordinal, const uint8_t uuid[16], char name[LG__RUN_NAME_BYTES])
{
    char text[37], room[LG__OS_DIGITS];
    lg__run_uuid_text(uuid, text);
    lg__os_join(name, LG__RUN_NAME_BYTES, lg__os_digits(ordinal, 8, room), "-", text, ".lgrun");
}

static size_t align(size_t size)
{
    return (size + 63) & ~(size_t)63;
}

static uint32_t hang_slots(const struct lg__run_sizes *sizes)
{
    uint32_t slots = sizes->threads < LG__SNAPSHOT_THREADS_MAX ? sizes->threads : LG__SNAPSHOT_THREADS_MAX;
    return slots ? slots : 1;
}

static size_t record_bytes(const struct lg__run_sizes *sizes)
{
    return sizes->room < LG__ROOM_LITTLE ? RECORD_BYTES : RECORD_WITHOUT_PROCESS;
}

#define SECTIONS 16u

/* The sections of the file come first in the table. The others are in memory. */
struct layout {
    struct lg__section sections[SECTIONS];
    uint32_t in_file;
    size_t file_bytes, memory_bytes;
};

static void lay_out(const struct lg__run_sizes *sizes, struct layout *ret_layout)
{
    const struct {
        uint32_t kind;
        size_t size;
        enum lg__room last; /* in which the section is in the file */
    } parts[] = {
        { LG__SECTION_IDENTITY, sizeof(struct lg__identity), LG__ROOM_LEAST },
        { LG__SECTION_SYSTEM, sizeof(struct lg__system), LG__ROOM_LEAST },
        { LG__SECTION_STATE, sizeof(struct lg__state), LG__ROOM_LEAST },
        { LG__SECTION_RECORD, record_bytes(sizes), LG__ROOM_LEAST },
        { LG__SECTION_RING, lg__ring_size(lg__ring_shape(sizes->ring_bytes)), LG__ROOM_LEAST },
        { LG__SECTION_ANNOTATIONS, sizeof(struct lg__annotations), LG__ROOM_SMALL },
        { LG__SECTION_OWNERS, sizeof(struct lg__owners), LG__ROOM_LEAST },
        { LG__SECTION_PULSE, sizeof(struct lg__pulse), LG__ROOM_LITTLE },
        { LG__SECTION_TAIL, sizeof(struct lg__tail), LG__ROOM_LITTLE },
        { LG__SECTION_BRIEFS, sizeof(struct lg__briefs), LG__ROOM_LITTLE },
        { LG__SECTION_GUARDS, sizeof(struct lg__guards), LG__ROOM_SMALL },
        { LG__SECTION_MODULES, 2 * sizeof(struct lg__module_table), LG__ROOM_LITTLE },
        { LG__SECTION_THREADS, sizeof(struct lg__threads) + sizes->threads * sizeof(struct lg__thread), LG__ROOM_SMALL },
        { LG__SECTION_STACKS, sizes->stack_bytes, LG__ROOM_SMALL },
        { LG__SECTION_SNAPSHOTS, sizeof(struct lg__snapshots) + (hang_slots(sizes) + 1) * sizeof(struct lg__thread), LG__ROOM_SMALL },
        { LG__SECTION_MEMORY_SNAPSHOT, sizeof(struct lg__memory_snapshot) + hang_slots(sizes) * sizeof(struct lg__thread), LG__ROOM_SMALL },
    };
    static_assert(sizeof parts / sizeof parts[0] == SECTIONS, "all of them");
    uint32_t count = 0;
    size_t at = IDENTITY_AT, in_memory = 0;
    for (size_t i = 0; i < SECTIONS; i++)
        if (sizes->room <= parts[i].last) {
            ret_layout->sections[count++] = (struct lg__section){ parts[i].kind, 0, at, parts[i].size };
            at += align(parts[i].size);
        }
    ret_layout->in_file = count;
    ret_layout->file_bytes = (at + LG__PAGE - 1) & ~(size_t)(LG__PAGE - 1);
    for (size_t i = 0; i < SECTIONS; i++)
        if (sizes->room > parts[i].last) {
            ret_layout->sections[count++] = (struct lg__section){ parts[i].kind, 0, in_memory, parts[i].size };
            in_memory += align(parts[i].size);
        }
    ret_layout->memory_bytes = in_memory;
}

static void *place_of(const struct layout *layout, void *file, void *memory, uint32_t kind)
{
    uint32_t i = 0;
    while (layout->sections[i].kind != kind)
        i++;
    return (uint8_t *)(i < layout->in_file ? file : memory) + layout->sections[i].offset;
}

/* With the header it becomes a run file. */
static void fill_in(struct lg__run *run, const struct lg__identity *identity, const struct lg__run_sizes *sizes, const struct layout *layout)
{
    const struct lg__version version = { LG__RUN_MAJOR, LG__RUN_MINOR };
    *run->identity = *identity;
    run->identity->crc = lg__crc32c(0, run->identity, offsetof(struct lg__identity, crc));
    for (size_t i = 0; i < BLOCK_COUNT && blocks[i].offset < record_bytes(sizes); i++) {
        run->record->stages[blocks[i].stage].offset = blocks[i].offset;
        run->record->stages[blocks[i].stage].capacity = blocks[i].capacity;
    }
    LG_FAULT_POINT("run: without header");
    atomic_thread_fence(memory_order_release);
    lg__header_write(run->map.base, LG__MAGIC_RUN, version, layout->sections, layout->in_file, run->map.size);
    LG_FAULT_POINT("run: filled");
}

/* The first run of a process has memory of the usual size without a call. */
static _Alignas(LG__PAGE) uint8_t first_memory[20480];
static atomic_bool is_first_taken LG__SMALL;

static bool take_memory(size_t size, struct lg__map *ret_memory)
{
    *ret_memory = (struct lg__map){ first_memory, size, -1, 0 };
    return (size <= sizeof first_memory && !atomic_exchange(&is_first_taken, true)) || lg__map_anonymous(size, ret_memory);
}

static void give_memory_back(const struct lg__map *memory)
{
    if (memory->base == first_memory)
        atomic_store(&is_first_taken, false); /* nothing was written to it */
    else
        lg__map_free(memory);
}

lg_status lg__run_create(int directory, const char *name, const char *path, const char *spare, const char *ended,
                         const struct lg__run_sizes *sizes, const struct lg__identity *identity, struct lg__run *ret_run,
                         struct lg__problem *problem)
{
    struct lg__run run;
    struct layout layout;
    const struct lg__ring_shape shape = lg__ring_shape(sizes->ring_bytes);
    /* what the writers keep beside the file: of the ring log, of the annotations, then the sections
     * that are not in the file */
    struct lg__map memory;
    const size_t ring_memory = align(lg__ring_memory(shape)), writer_memory = ring_memory + align(sizeof(struct lg__annotation_memory));
    lay_out(sizes, &layout);
    const size_t total = layout.file_bytes;
    if (!take_memory(writer_memory + layout.memory_bytes, &memory))
        return lg__problem_set(problem, LG_ERR_SYSTEM, path, errno);
    const bool is_spare = directory >= 0 && spare && lg__map_recycle(directory, spare, name, total, &run.map);
    run.is_recycled = directory >= 0 && ended && !is_spare && lg__map_recycle(directory, ended, name, total, &run.map);
    if (directory >= 0 && !is_spare && !run.is_recycled) {
        lg_status status = lg__map_create(directory, name, path, total, &run.map, problem);
        if (status != LG_OK) {
            give_memory_back(&memory);
            return status;
        }
    } else if (directory < 0 && !lg__map_anonymous(total, &run.map)) {
        give_memory_back(&memory);
        return lg__problem_set(problem, LG_ERR_SYSTEM, NULL, 0);
    }
    uint8_t *const base = run.map.base, *const rest = (uint8_t *)memory.base + writer_memory;
    run.identity = place_of(&layout, base, rest, LG__SECTION_IDENTITY);
    run.system = place_of(&layout, base, rest, LG__SECTION_SYSTEM);
    run.state = place_of(&layout, base, rest, LG__SECTION_STATE);
    run.record = place_of(&layout, base, rest, LG__SECTION_RECORD);
    run.modules = place_of(&layout, base, rest, LG__SECTION_MODULES);
    run.tail = place_of(&layout, base, rest, LG__SECTION_TAIL);
    run.owners = place_of(&layout, base, rest, LG__SECTION_OWNERS);
    run.threads = place_of(&layout, base, rest, LG__SECTION_THREADS);
    run.slots = (struct lg__thread *)(void *)(run.threads + 1);
    run.slot_count = sizes->threads;
    run.stacks = place_of(&layout, base, rest, LG__SECTION_STACKS);
    run.stack_bytes = sizes->stack_bytes;
    run.pulse = place_of(&layout, base, rest, LG__SECTION_PULSE);
    run.briefs = place_of(&layout, base, rest, LG__SECTION_BRIEFS);
    run.snapshots = place_of(&layout, base, rest, LG__SECTION_SNAPSHOTS);
    run.snapshot_slots = (struct lg__thread *)(void *)(run.snapshots + 1);
    run.hang_slots = hang_slots(sizes);
    run.memory_snapshot = place_of(&layout, base, rest, LG__SECTION_MEMORY_SNAPSHOT);
    run.memory_slots = (struct lg__thread *)(void *)(run.memory_snapshot + 1);
    run.guards = place_of(&layout, base, rest, LG__SECTION_GUARDS);
    run.annotations.file = place_of(&layout, base, rest, LG__SECTION_ANNOTATIONS);
    run.annotations.memory = (struct lg__annotation_memory *)(void *)((uint8_t *)memory.base + ring_memory);
    lg__ring_init(&run.ring, place_of(&layout, base, rest, LG__SECTION_RING), memory.base, shape, run.state);
    fill_in(&run, identity, sizes, &layout);
    lg__map_show(&run.map);
    *ret_run = run;
    return LG_OK;
}

/* ---- the heads of sections that most runs never write ---- */

void lg__run_open_threads(const struct lg__run *run)
{
    run->threads->slot_bytes = sizeof(struct lg__thread);
    run->threads->slot_count = run->slot_count;
}

void lg__run_open_snapshots(const struct lg__run *run)
{
    struct lg__snapshots *snapshots = run->snapshots;
    snapshots->slot_bytes = sizeof(struct lg__thread);
    snapshots->slot_count = run->hang_slots + 1;
    snapshots->snapshots[0].slot_count = run->hang_slots;
    snapshots->snapshots[1].first_slot = run->hang_slots;
    snapshots->snapshots[1].slot_count = 1;
}

void lg__run_open_memory_snapshot(const struct lg__run *run)
{
    struct lg__memory_snapshot *memory = run->memory_snapshot;
    memory->slot_bytes = sizeof(struct lg__thread);
    memory->slot_count = memory->snapshot.slot_count = run->hang_slots;
}

struct lg__snapshot *lg__run_snapshot(const struct lg__run *run, uint32_t kind)
{
    return kind == LG_SNAPSHOT_MEMORY ? &run->memory_snapshot->snapshot : &run->snapshots->snapshots[kind - 1];
}

LG__FIRST static void open_briefs(const struct lg__run *run)
{
    run->briefs->brief_bytes = sizeof(struct lg__brief);
    run->briefs->count = LG__BRIEFS;
}

/* ---- the record ---- */

LG__FIRST static struct lg__brief *brief_of(const struct lg__run *run, unsigned slot)
{
    return &run->briefs->briefs[slot - 1];
}

LG__FIRST void *lg__run_stage(const struct lg__run *run, unsigned slot, unsigned stage)
{
    if (slot == 0)
        return (uint8_t *)run->record + block_of(stage)->offset;
    struct lg__brief *brief = brief_of(run, slot);
    return stage == LG_STAGE_HEADER ? (void *)&brief->header : stage == LG_STAGE_CONTEXT ? (void *)&brief->context : (void *)&brief->head;
}

LG__FIRST static _Atomic uint64_t *commit_word(const struct lg__run *run, unsigned slot, unsigned stage)
{
    return slot ? &brief_of(run, slot)->parts[stage - LG_STAGE_HEADER].commit : &run->record->stages[stage].commit;
}

/* Size and checksum of a stage: two fields of the file, in one word. */
typedef uint64_t size_and_crc __attribute__((may_alias));
static_assert(offsetof(struct lg__stage, size) % 8 == 0 && offsetof(struct lg__stage, crc) == offsetof(struct lg__stage, size) + 4, "one word");
static_assert(offsetof(struct lg__brief_commit, size) == 0 && offsetof(struct lg__brief_commit, crc) == 4, "one word");

LG__FIRST void lg__run_commit(const struct lg__run *run, unsigned slot, unsigned stage, size_t size)
{
    uint64_t crc = lg__crc32c(0, lg__run_stage(run, slot, stage), size);
    uint32_t *sealed = slot ? &brief_of(run, slot)->parts[stage - LG_STAGE_HEADER].size : &run->record->stages[stage].size;
    /* One store: a stage that is committed stays whole while it grows. */
    __atomic_store_n((size_and_crc *)(void *)sealed, crc << 32 | (uint32_t)size, __ATOMIC_RELEASE);
    atomic_store_explicit(commit_word(run, slot, stage), LG__COMMIT_STAGE + stage, memory_order_release);
}

bool lg__run_is_committed(const struct lg__run *run, unsigned slot, unsigned stage)
{
    return atomic_load(commit_word(run, slot, stage)) != 0;
}

void lg__run_uncommit_stage(const struct lg__run *run, unsigned slot, unsigned stage)
{
    atomic_store(commit_word(run, slot, stage), 0);
    atomic_thread_fence(memory_order_release); /* before what was committed changes */
}

LG__FIRST static _Atomic uint32_t *outcome_word(const struct lg__run *run, unsigned slot)
{
    return slot ? &brief_of(run, slot)->outcome : &run->record->outcome;
}

LG__FIRST static uint32_t outcome_of(uint32_t sequence, enum lg__outcome outcome)
{
    return sequence << LG__OUTCOME_BITS | (uint32_t)outcome;
}

LG__FIRST void lg__run_outcome(const struct lg__run *run, unsigned slot, uint32_t sequence, enum lg__outcome outcome)
{
    if (slot)
        open_briefs(run);
    atomic_store(outcome_word(run, slot), outcome_of(sequence, outcome));
}

static void change_outcome(const struct lg__run *run, unsigned slot, uint32_t sequence, enum lg__outcome from, enum lg__outcome to)
{
    uint32_t is = outcome_of(sequence, from);
    atomic_compare_exchange_strong(outcome_word(run, slot), &is, outcome_of(sequence, to));
}

void lg__run_left(const struct lg__run *run, unsigned slot, uint32_t sequence)
{
    change_outcome(run, slot, sequence, LG__OUTCOME_CHAINED, LG__OUTCOME_LEFT);
}

void lg__run_survived(const struct lg__run *run, unsigned slot, uint32_t sequence)
{
    change_outcome(run, slot, sequence, LG__OUTCOME_CHAINED, LG__OUTCOME_HANDLED);
    change_outcome(run, slot, sequence, LG__OUTCOME_LEFT, LG__OUTCOME_HANDLED);
}

void lg__run_within(const struct lg__run *run, unsigned slot, uint32_t sequence)
{
    atomic_store(slot ? &brief_of(run, slot)->within : &run->record->within, sequence);
}

static void uncommit_rest(const struct lg__run *run)
{
    for (unsigned i = 0; i < LG__NOTES_MAX; i++)
        atomic_store_explicit(&run->record->notes[i].commit, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < run->slot_count; i++) {
        atomic_store_explicit(&run->slots[i].commit, 0, memory_order_relaxed);
        atomic_store_explicit(&run->slots[i].walk, 0, memory_order_relaxed);
    }
    if (run->stack_bytes)
        atomic_store_explicit((_Atomic uint32_t *)(void *)run->stacks, 0, memory_order_relaxed);
    atomic_store_explicit(&run->record->note_count, 0, memory_order_relaxed);
}

void lg__run_uncommit(const struct lg__run *run, unsigned slot)
{
    const unsigned first = slot ? LG_STAGE_HEADER : 0, count = slot ? LG__BRIEF_PARTS : LG__STAGES;
    for (unsigned stage = first; stage < first + count; stage++)
        atomic_store_explicit(commit_word(run, slot, stage), 0, memory_order_relaxed);
    if (slot == 0)
        uncommit_rest(run);
    atomic_thread_fence(memory_order_release);
    lg__run_within(run, slot, 0);
    lg__run_outcome(run, slot, 0, LG__OUTCOME_DYING);
}

bool lg__run_keeps_briefs(const struct lg__run *run)
{
    const uintptr_t at = (uintptr_t)run->briefs, file = (uintptr_t)run->map.base;
    return at >= file && at < file + run->map.size;
}

/* Notes that are being written, a bit each. A thread that was stopped in the middle of one may go
 * on when a later crash has taken the record: the note is not given to another thread meanwhile. */
static _Atomic uint32_t notes_busy;

/* A note for the caller alone; NULL: there is none. */
static struct lg__note *take_note(struct lg__record *record)
{
    for (;;) {
        const uint32_t index = atomic_fetch_add_explicit(&record->note_count, 1, memory_order_relaxed);
        if (index >= LG__NOTES_MAX)
            return NULL;
        if (atomic_fetch_or(&notes_busy, 1u << index) >> index & 1)
            continue;
        if (!atomic_load(&record->notes[index].commit))
            return &record->notes[index];
        atomic_fetch_and(&notes_busy, ~(1u << index)); /* counted for an earlier crash */
    }
}

void lg__run_note(const struct lg__run *run, uint32_t kind, int signal, int tid, unsigned stage, uint64_t pc)
{
    struct lg__note *note = take_note(run->record);
    if (!note)
        return;
    note->kind = kind;
    note->signal = signal;
    LG_FAULT_POINT("run: note");
    note->tid = tid;
    note->stage = stage;
    note->pc = pc;
    note->crc = lg__crc32c(0, note, offsetof(struct lg__note, crc));
    atomic_store_explicit(&note->commit, 1, memory_order_release);
    atomic_fetch_and(&notes_busy, ~(1u << (note - run->record->notes)));
}

bool lg__run_is_finished(const struct lg__state_context *context)
{
    const uint32_t phase = atomic_load(&context->phase), finish = atomic_load(&context->finish);
    const bool mark_is_enough = finish == LG_FINISH_EITHER || finish == LG_FINISH_MARK;
    return phase == LG_PHASE_FINISHED || (phase == LG_PHASE_LAUNCHING && mark_is_enough && atomic_load(&context->marked) == 1);
}
