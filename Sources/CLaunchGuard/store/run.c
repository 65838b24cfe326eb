#include "store/run.h"

#include <errno.h>
#include <stdio.h>

#include "launchguard/reader.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "store/crc32c.h"
#include "store/header.h"

/* Where the sections are. A reader takes it from the header, the writer from here. What every run
 * writes comes first, close together: each page that is written costs the start some microseconds.
 * What only a crash or an option writes follows. Those whose size an option gives come last. */
#define IDENTITY_AT 512u
#define STATE_AT (IDENTITY_AT + (uint32_t)sizeof(struct lg__identity))
#define RECORD_AT (STATE_AT + (uint32_t)sizeof(struct lg__state))
#define RECORD_BYTES 69632u
#define BRIEFS_AT (RECORD_AT + RECORD_BYTES)
#define OWNERS_AT (BRIEFS_AT + (uint32_t)sizeof(struct lg__briefs))
#define PULSE_AT (OWNERS_AT + (uint32_t)sizeof(struct lg__owners))
#define TAIL_AT (PULSE_AT + (uint32_t)sizeof(struct lg__pulse))
#define MODULES_AT (TAIL_AT + (uint32_t)sizeof(struct lg__tail))
#define MODULES_BYTES (2u * (uint32_t)sizeof(struct lg__module_table))
#define VARIABLE_AT (MODULES_AT + MODULES_BYTES)

static_assert(sizeof(struct lg__header) <= IDENTITY_AT, "the header fits");
static_assert(STATE_AT % 64 == 0 && RECORD_AT % 64 == 0 && VARIABLE_AT % 64 == 0, "a cache line each");

/* Blocks of the record, by stage. */
static const struct block {
    uint8_t stage;
    uint16_t offset;
    uint16_t capacity;
} blocks[] = {
    { LG_STAGE_HEADER, 1024, sizeof(struct lg__crash_header) },
    { LG_STAGE_CONTEXT, 1216, sizeof(struct lg__crash_context) },
    { LG_STAGE_FRAMES, 2176, sizeof(struct lg__crash_frames) },
    { LG_STAGE_DWARF, 6336, sizeof(struct lg__crash_frames) },
    { LG_STAGE_DONE, 10496, sizeof(struct lg__crash_done) },
    { LG_STAGE_THREADS, 10560, sizeof(struct lg__crash_threads) },
    { LG_STAGE_MESSAGES, 10624, sizeof(struct lg__crash_messages) },
    { LG_STAGE_PROCESS, 20480, sizeof(struct lg__crash_process) },
};
#define BLOCK_COUNT (sizeof blocks / sizeof blocks[0])
static_assert(20480 + sizeof(struct lg__crash_process) <= RECORD_BYTES, "the record fits");

static const struct block *block_of(unsigned stage)
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
    char text[37];
    lg__run_uuid_text(uuid, text);
    snprintf(name, LG__RUN_NAME_BYTES, "%08llu-%s.lgrun", (unsigned long long)ordinal, text);
}

static size_t align(size_t size)
{
    return (size + 63) & ~(size_t)63;
}

lg_status lg__run_create(int directory, const char *name, const char *path, const char *ended,
                         const struct lg__run_sizes *sizes, const struct lg__identity *identity, struct lg__run *ret_run,
                         struct lg__problem *problem)
{
    struct lg__run run;
    const struct lg__ring_shape shape = lg__ring_shape(sizes->ring_bytes);
    /* what the writers keep beside the file: of the ring log, then of the annotations */
    struct lg__map memory;
    size_t ring_size = lg__ring_size(shape), threads_size = sizeof(struct lg__threads) + sizes->threads * sizeof(struct lg__thread);
    uint32_t hang_slots = sizes->threads == 0 ? 1 : sizes->threads < LG__SNAPSHOT_THREADS_MAX ? sizes->threads : LG__SNAPSHOT_THREADS_MAX;
    size_t snapshots_size = sizeof(struct lg__snapshots) + (hang_slots + 1) * sizeof(struct lg__thread);
    size_t threads_at = VARIABLE_AT, stacks_at = threads_at + align(threads_size), snapshots_at = stacks_at + align(sizes->stack_bytes);
    size_t ring_at = snapshots_at + align(snapshots_size), annotations_at = ring_at + align(ring_size);
    size_t total = (annotations_at + sizeof(struct lg__annotations) + LG__PAGE - 1) & ~(size_t)(LG__PAGE - 1);
    const struct lg__section sections[] = {
        { LG__SECTION_IDENTITY, 0, IDENTITY_AT, sizeof(struct lg__identity) },
        { LG__SECTION_STATE, 0, STATE_AT, sizeof(struct lg__state) },
        { LG__SECTION_RECORD, 0, RECORD_AT, RECORD_BYTES },
        { LG__SECTION_MODULES, 0, MODULES_AT, MODULES_BYTES },
        { LG__SECTION_TAIL, 0, TAIL_AT, sizeof(struct lg__tail) },
        { LG__SECTION_OWNERS, 0, OWNERS_AT, sizeof(struct lg__owners) },
        { LG__SECTION_THREADS, 0, threads_at, threads_size },
        { LG__SECTION_STACKS, 0, stacks_at, sizes->stack_bytes },
        { LG__SECTION_PULSE, 0, PULSE_AT, sizeof(struct lg__pulse) },
        { LG__SECTION_BRIEFS, 0, BRIEFS_AT, sizeof(struct lg__briefs) },
        { LG__SECTION_SNAPSHOTS, 0, snapshots_at, snapshots_size },
        { LG__SECTION_RING, 0, ring_at, ring_size },
        { LG__SECTION_ANNOTATIONS, 0, annotations_at, sizeof(struct lg__annotations) },
    };
    if (!lg__map_anonymous(align(lg__ring_memory(shape)) + sizeof(struct lg__annotation_memory), &memory))
        return lg__problem_set(problem, LG_ERR_SYSTEM, path, errno);
    const bool recycled = directory >= 0 && ended && lg__map_recycle(directory, ended, name, total, &run.map);
    if (directory >= 0 && !recycled) {
        lg_status status = lg__map_create(directory, name, path, total, &run.map, problem);
        if (status != LG_OK)
            return status;
    } else if (directory < 0 && !lg__map_anonymous(total, &run.map)) {
        return lg__problem_set(problem, LG_ERR_SYSTEM, NULL, 0);
    }
    uint8_t *base = run.map.base;
    run.identity = (struct lg__identity *)(void *)(base + IDENTITY_AT);
    run.state = (struct lg__state *)(void *)(base + STATE_AT);
    run.record = (struct lg__record *)(void *)(base + RECORD_AT);
    run.modules = (struct lg__module_table *)(void *)(base + MODULES_AT);
    run.tail = (struct lg__tail *)(void *)(base + TAIL_AT);
    run.owners = (struct lg__owners *)(void *)(base + OWNERS_AT);
    run.threads = (struct lg__threads *)(void *)(base + threads_at);
    run.slots = (struct lg__thread *)(void *)(base + threads_at + sizeof(struct lg__threads));
    run.stacks = base + stacks_at;
    run.stack_bytes = sizes->stack_bytes;
    run.pulse = (struct lg__pulse *)(void *)(base + PULSE_AT);
    run.briefs = (struct lg__briefs *)(void *)(base + BRIEFS_AT);
    run.snapshots = (struct lg__snapshots *)(void *)(base + snapshots_at);
    run.snapshot_slots = (struct lg__thread *)(void *)(base + snapshots_at + sizeof(struct lg__snapshots));
    run.hang_slots = hang_slots;
    *run.identity = *identity;
    run.identity->crc = lg__crc32c(0, run.identity, offsetof(struct lg__identity, crc));
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        run.record->stages[blocks[i].stage].offset = blocks[i].offset;
        run.record->stages[blocks[i].stage].capacity = blocks[i].capacity;
    }
    run.slot_count = sizes->threads;
    lg__ring_init(&run.ring, base + ring_at, memory.base, shape, run.state);
    run.annotations.file = (struct lg__annotations *)(void *)(base + annotations_at);
    run.annotations.memory = (struct lg__annotation_memory *)(void *)((uint8_t *)memory.base + align(lg__ring_memory(shape)));
    /* The header last: with it the file becomes a run file. */
    atomic_thread_fence(memory_order_release);
    const struct lg__version version = { LG__RUN_MAJOR, LG__RUN_MINOR };
    lg__header_write((struct lg__header *)(void *)base, LG__MAGIC_RUN, version, sections, sizeof sections / sizeof sections[0], total);
    LG_FAULT_POINT("run: filled");
    lg__map_show(&run.map);
    *ret_run = run;
    return LG_OK;
}

/* ---- the heads of what most runs never write ---- */

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

static void open_briefs(const struct lg__run *run)
{
    run->briefs->brief_bytes = sizeof(struct lg__brief);
    run->briefs->count = LG__BRIEFS;
}

/* ---- the record ---- */

static struct lg__brief *brief_of(const struct lg__run *run, unsigned slot)
{
    return &run->briefs->briefs[slot - 1];
}

void *lg__run_stage(const struct lg__run *run, unsigned slot, unsigned stage)
{
    if (slot == 0)
        return (uint8_t *)run->record + block_of(stage)->offset;
    struct lg__brief *brief = brief_of(run, slot);
    return stage == LG_STAGE_HEADER ? (void *)&brief->header : stage == LG_STAGE_CONTEXT ? (void *)&brief->context : (void *)&brief->head;
}

void lg__run_commit(const struct lg__run *run, unsigned slot, unsigned stage, size_t size)
{
    uint32_t crc = lg__crc32c(0, lg__run_stage(run, slot, stage), size);
    if (slot == 0) {
        struct lg__stage *entry = &run->record->stages[stage];
        entry->size = (uint32_t)size;
        entry->crc = crc;
        atomic_store_explicit(&entry->commit, LG__COMMIT_STAGE + stage, memory_order_release);
    } else {
        struct lg__brief_commit *part = &brief_of(run, slot)->parts[stage - LG_STAGE_HEADER];
        part->size = (uint32_t)size;
        part->crc = crc;
        atomic_store_explicit(&part->commit, LG__COMMIT_STAGE + stage, memory_order_release);
    }
}

static _Atomic uint64_t *commit_word(const struct lg__run *run, unsigned slot, unsigned stage)
{
    return slot ? &brief_of(run, slot)->parts[stage - LG_STAGE_HEADER].commit : &run->record->stages[stage].commit;
}

bool lg__run_is_committed(const struct lg__run *run, unsigned slot, unsigned stage)
{
    return atomic_load(commit_word(run, slot, stage)) != 0;
}

void lg__run_uncommit_stage(const struct lg__run *run, unsigned slot, unsigned stage)
{
    atomic_store(commit_word(run, slot, stage), 0);
}

static _Atomic uint32_t *outcome_word(const struct lg__run *run, unsigned slot)
{
    return slot ? &brief_of(run, slot)->outcome : &run->record->outcome;
}

static uint32_t outcome_of(uint32_t sequence, enum lg__outcome outcome)
{
    return sequence << LG__OUTCOME_BITS | (uint32_t)outcome;
}

void lg__run_outcome(const struct lg__run *run, unsigned slot, uint32_t sequence, enum lg__outcome outcome)
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
    lg__run_within(run, slot, 0);
    lg__run_outcome(run, slot, 0, LG__OUTCOME_DYING);
}

void lg__run_note(const struct lg__run *run, uint32_t kind, int signal, int tid, unsigned stage, uint64_t pc)
{
    uint32_t index = atomic_fetch_add_explicit(&run->record->note_count, 1, memory_order_relaxed);
    if (index >= LG__NOTES_MAX)
        return;
    struct lg__note *note = &run->record->notes[index];
    note->kind = kind;
    note->signal = signal;
    note->tid = tid;
    note->stage = stage;
    note->pc = pc;
    note->crc = lg__crc32c(0, note, offsetof(struct lg__note, crc));
    atomic_store_explicit(&note->commit, 1, memory_order_release);
}

