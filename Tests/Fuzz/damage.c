#include "damage.h"

#include <string.h>

#include "launchguard/log.h"
#include "store/ledger_payload.h"
#include "store/crc32c.h"
#include "store/format.h"

static uint8_t *bytes;
static size_t size;

/* ---- chance: xorshift64* ---- */

static uint64_t state;

static uint64_t chance(uint64_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * UINT64_C(2685821657736338717) >> 16) % below;
}

/* A number that breaks careless arithmetic. */
static uint64_t nasty(void)
{
    static const uint64_t numbers[] = { 0, 1, 16, 17, 127, 128, 129, 192, 193, 512, 513, 4000, 4001, 0x7fff, 0xffff, 0x7fffffff,
                                        0x80000000, UINT32_MAX, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 31, INT64_MAX };
    return chance(4) ? numbers[chance(sizeof numbers / sizeof numbers[0])] : chance(size + 64);
}

/* ---- kinds of damage ---- */

/* The begin of a section, from the header as it is now. */
static size_t near_section(void)
{
    struct lg__header header;
    if (size < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    uint64_t offset = header.sections[chance(LG__SECTIONS_MAX)].offset;
    return offset < size ? (size_t)offset + chance(2048) : size;
}

/* Mostly a byte that was written, as most of a file is zeros. Often a byte of the header or of the
 * begin of a section. */
static size_t place(void)
{
    for (int tries = 0; tries < 64; tries++) {
        size_t at = chance(3) ? chance(size) : chance(2) ? chance(8) * 4096 + chance(1024) : near_section();
        if (at < size && bytes[at])
            return at;
    }
    return chance(size);
}

static void hit(void)
{
    size_t at = place(), length;
    uint64_t value = nasty();
    switch (chance(6)) {
    case 0:
        bytes[at] ^= (uint8_t)(1u << chance(8));
        break;
    case 1:
    case 2:
        length = chance(2) ? 4 : 8;
        at &= ~(length - 1);
        if (at + length <= size)
            memcpy(bytes + at, &value, length);
        break;
    case 3:
        length = 1 + chance(64);
        for (size_t i = at; i < at + length && i < size; i++)
            bytes[i] = (uint8_t)chance(256);
        break;
    case 4: /* one part over another */
        length = 1 + chance(512);
        size_t from = place();
        if (at + length <= size && from + length <= size)
            memmove(bytes + at, bytes + from, length);
        break;
    default:
        length = 1 + chance(4096);
        memset(bytes + at, chance(2) ? 0 : 0xff, at + length <= size ? length : size - at);
    }
}

/* Fill a lane with whole entries, with a head where sums overflow. */
static void craft_lane(struct lg__lane *lane, uint64_t cells)
{
    struct lg__entry *entries = (void *)(lane + 1);
    uint64_t head = nasty();
    memcpy(&lane->head, &head, sizeof head);
    for (uint64_t sequence = head > cells ? head - cells : 0; sequence != head; sequence++) {
        size_t cell = (size_t)(sequence % cells);
        struct lg__entry *entry = &entries[cell];
        entry->sequence = sequence;
        entry->size = (uint16_t)(chance(8) ? chance(3) * 16 : nasty());
        entry->kind = (uint8_t)(chance(4) ? chance(3) : nasty());
        if (entry->kind == LG__ENTRY_FIELDS && cell + 1 < cells)
            /* head and sizes of the entry */
            entries[cell + 1].commit = chance(2) ? chance(8) | chance(3) << 8 | chance(8) << 16 | chance(4) << 32 : nasty();
        if (entry->size > LG_LOG_TEXT_MAX || entry->size > (cells - 1) * sizeof *entry)
            continue;
        size_t straight = (cells - 1 - cell) * sizeof *entry;
        straight = straight < entry->size ? straight : entry->size;
        uint32_t crc = lg__crc32c(0, &entry->sequence, sizeof *entry - sizeof entry->commit);
        crc = lg__crc32c(crc, entry + 1, straight);
        crc = lg__crc32c(crc, entries, entry->size - straight);
        entry->commit = (uint64_t)crc << 32 | (uint32_t)(sequence + 1);
    }
}

/* A ring log that no version writes: a cycle counter, any number of lanes. */
static void craft_ring(struct lg__ring_header *ring, size_t room)
{
    uint64_t cells = ring->lane_cells, lanes = ring->lane_count;
    if (chance(2)) {
        ring->lane_cells = 32;
        ring->lane_count = 3;
        ring->clock = LG__RING_CLOCK_COUNTER;
        ring->mult = nasty();
        ring->shift = (uint32_t)nasty();
        cells = 32;
        lanes = 3;
    }
    size_t lane_bytes = sizeof(struct lg__lane) + cells * sizeof(struct lg__entry);
    if (cells == 0 || cells > 4096 || (cells & (cells - 1)) != 0 || lanes > (room - sizeof *ring) / lane_bytes)
        return;
    for (uint64_t lane = 0; lane < lanes; lane++)
        craft_lane((void *)((uint8_t *)(ring + 1) + lane * lane_bytes), cells);
}

/* ---- repairing checksums, so that damage gets past the first check ---- */

#define SEAL(structure) ((structure)->crc = lg__crc32c(0, structure, offsetof(__typeof__(*(structure)), crc)))

static void seal_record(uint8_t *section, size_t room)
{
    struct lg__record *record = (void *)section;
    for (unsigned i = 0; i < LG__STAGES; i++) {
        struct lg__stage *stage = &record->stages[i];
        if (stage->offset < room && stage->size <= room - stage->offset)
            stage->crc = lg__crc32c(0, section + stage->offset, stage->size);
    }
    for (unsigned i = 0; i < LG__NOTES_MAX; i++)
        SEAL(&record->notes[i]);
}

static void seal_modules(struct lg__module_table *table)
{
    if (table->count > LG__MODULES_MAX || table->text_size > LG__MODULES_TEXT_BYTES)
        return;
    uint32_t crc = lg__crc32c(0, &table->generation, 4 * sizeof(uint32_t));
    crc = lg__crc32c(crc, table->entries, table->count * sizeof table->entries[0]);
    table->crc = lg__crc32c(crc, table->text, table->text_size);
}

/* Mostly the size is corrected, too, where the number of contexts fits and the strings end. */
static void seal_slot(struct lg__slot *slot)
{
    if (chance(4) && slot->payload.context_count <= LG__CONTEXTS)
        slot->size = lg__ledger_payload_used(&slot->payload);
    if (slot->size > sizeof slot->payload)
        return;
    for (uint32_t i = 0; chance(4) && i < LG__CONTEXTS; i++) {
        struct lg__ledger_context *context = &slot->payload.contexts[i];
        context->name[LG__NAME_BYTES - 1] = context->last_task[LG__NAME_BYTES - 1] = 0;
        for (uint32_t k = 0; k < LG__SUSPECTS; k++)
            context->suspects[k].key[LG__NAME_BYTES - 1] = 0;
        for (uint32_t k = 0; k < LG__RUNGS; k++)
            context->rungs[k].name[LG__NAME_BYTES - 1] = 0;
    }
    slot->crc = lg__ledger_payload_crc(slot->generation, slot->size, &slot->payload);
}

/* A wrong number in the book: a count, a rung, a phase. */
static void lie(struct lg__slot *slot)
{
    struct lg__ledger_payload *book = &slot->payload;
    struct lg__ledger_context *context = &book->contexts[chance(2)];
    uint32_t *const numbers[] = { &slot->size,     &book->context_count,  &book->timeline_count, &book->build_id_size,   &context->phase,
                                  &context->mode,  &context->rung_count,  &context->rung,        &context->suspect_count, &context->attempts,
                                  &context->flags, &context->safe_crashes };
    *numbers[chance(sizeof numbers / sizeof numbers[0])] = chance(2) ? (uint32_t)chance(20) : (uint32_t)nasty();
}

static void seal_threads(uint8_t *section, size_t first_at, size_t room)
{
    for (size_t at = first_at; at <= room && room - at >= sizeof(struct lg__thread); at += sizeof(struct lg__thread)) {
        struct lg__thread *thread = (void *)(section + at);
        const size_t first = offsetof(struct lg__thread, tid), second = offsetof(struct lg__thread, method);
        thread->crc = lg__crc32c(0, (uint8_t *)thread + first, offsetof(struct lg__thread, walk) - first);
        if (thread->head.stored <= LG__THREAD_FRAMES_MAX)
            thread->walk_crc = lg__crc32c(0, (uint8_t *)thread + second, offsetof(struct lg__thread, pcs) - second + thread->head.stored * 8);
        if (atomic_load(&thread->commit) == 0)
            break;
    }
}

/* `count` snapshots after the first 64 bytes. */
static void seal_snapshots(uint8_t *section, unsigned count, size_t room)
{
    const size_t first = offsetof(struct lg__snapshots, snapshots), head = first + count * sizeof(struct lg__snapshot);
    for (unsigned i = 0; room >= head && i < count; i++) {
        struct lg__snapshot *one = (void *)(section + first + i * sizeof *one);
        one->crc = lg__crc32c(0, &one->kind, offsetof(struct lg__snapshot, counted) - offsetof(struct lg__snapshot, kind));
        one->counts_crc = lg__crc32c(0, &one->listed, offsetof(struct lg__snapshot, resolved_ns) - offsetof(struct lg__snapshot, listed));
    }
    seal_threads(section, head, room);
}

static void seal_system(struct lg__system *system)
{
    const size_t from = offsetof(struct lg__system, invocation);
    if (system->command_line_size <= sizeof system->command_line)
        system->crc = lg__crc32c(0, system->invocation, offsetof(struct lg__system, command_line) - from + system->command_line_size);
}

/* Mostly also numbers of crashes that name each other. */
static void seal_briefs(struct lg__briefs *briefs)
{
    for (unsigned i = 0; i < LG__BRIEFS; i++) {
        struct lg__brief *brief = &briefs->briefs[i];
        const uint8_t *const parts[LG__BRIEF_PARTS] = { (void *)&brief->header, (void *)&brief->context, (void *)&brief->head };
        if (chance(2)) {
            brief->header.sequence = (uint32_t)chance(4);
            atomic_store(&brief->within, (uint32_t)chance(4));
            atomic_store(&brief->outcome, (uint32_t)chance(3));
        }
        if (chance(8) == 0)
            brief->head.stored = (uint32_t)nasty();
        for (unsigned part = 0; part < LG__BRIEF_PARTS; part++) {
            if (chance(4) == 0)
                atomic_store(&brief->parts[part].commit, chance(2) ? LG__COMMIT_STAGE + part + 1 : 0);
            if (brief->parts[part].size <= (size_t)((uint8_t *)(brief + 1) - parts[part]))
                brief->parts[part].crc = lg__crc32c(0, parts[part], brief->parts[part].size);
        }
    }
}

static void seal_stacks(uint8_t *section, size_t room)
{
    for (size_t at = 0; at < room && room - at >= sizeof(struct lg__chunk);) {
        struct lg__chunk *chunk = (void *)(section + at);
        const size_t from = offsetof(struct lg__chunk, start);
        if (atomic_load(&chunk->commit) == 0 || chunk->size > room - at - sizeof *chunk)
            break;
        chunk->crc = lg__crc32c(0, (uint8_t *)chunk + from, sizeof *chunk - from + chunk->size);
        at = (at + sizeof *chunk + chunk->size + LG__CHUNK_ALIGN - 1) & ~(size_t)(LG__CHUNK_ALIGN - 1);
    }
}

/* Mostly a slot names a value that has its number. */
static void seal_annotations(struct lg__annotations *annotations)
{
    for (unsigned i = 0; i < LG__ANNOTATIONS; i++) {
        uint64_t current = atomic_load(&annotations->slots[i].current), number = current & LG__ANNOTATION_VALUE_MASK;
        if (number == 0 || number > LG__ANNOTATION_VALUES)
            continue;
        struct lg__annotation *value = &annotations->values[number - 1];
        if (chance(4))
            value->sequence = current >> LG__ANNOTATION_SEQUENCE_SHIFT;
        if (chance(16) == 0)
            value->size = (uint32_t)nasty();
        if (value->size > sizeof value->value)
            continue;
        const size_t from = offsetof(struct lg__annotation, monotonic_ns);
        uint32_t crc = lg__crc32c(0, (uint8_t *)value + from, offsetof(struct lg__annotation, value) + value->size - from);
        value->crc = lg__crc32c(crc, &value->sequence, sizeof value->sequence);
    }
}

static void seal_guards(struct lg__guards *guards)
{
    if (chance(8) == 0)
        guards->site_count = (uint32_t)nasty();
    if (chance(8) == 0)
        atomic_store(&guards->site_bytes, (uint32_t)nasty());
    for (unsigned i = 0; i < LG__GUARD_SITES; i++) {
        struct lg__guard_site *site = &guards->sites[i];
        if (chance(8) == 0)
            site->field_count = (uint32_t)nasty();
        if (chance(8) == 0)
            site->frame_count = (uint32_t)nasty();
        site->crc = lg__crc32c(0, &site->guard_class, sizeof *site - offsetof(struct lg__guard_site, guard_class));
    }
}

static void seal(void)
{
    struct lg__header *header = (void *)bytes;
    if (size < sizeof *header)
        return;
    SEAL(header);
    for (unsigned i = 0; i < LG__SECTIONS_MAX; i++) {
        const struct lg__section *section = &header->sections[i];
        if (section->offset > size || section->offset % 8 || size - section->offset < sizeof(struct lg__module_table))
            continue;
        uint8_t *at = bytes + section->offset;
        size_t room = size - section->offset;
        switch (section->kind) {
        case LG__SECTION_IDENTITY: SEAL((struct lg__identity *)(void *)at); break;
        case LG__SECTION_RECORD: seal_record(at, room); break;
        case LG__SECTION_MODULES:
            seal_modules((void *)at);
            if (room >= 2 * sizeof(struct lg__module_table))
                seal_modules((void *)(at + sizeof(struct lg__module_table)));
            break;
        default: break;
        }
    }
    for (unsigned i = 0; i < LG__SECTIONS_MAX; i++) {
        const struct lg__section *section = &header->sections[i];
        if (section->offset > size || section->offset % 8)
            continue;
        size_t room = section->size < size - section->offset ? (size_t)section->size : size - section->offset;
        if (section->kind == LG__SECTION_THREADS)
            seal_threads(bytes + section->offset, sizeof(struct lg__threads), room);
        if (section->kind == LG__SECTION_SNAPSHOTS)
            seal_snapshots(bytes + section->offset, LG__SNAPSHOTS, room);
        if (section->kind == LG__SECTION_MEMORY_SNAPSHOT)
            seal_snapshots(bytes + section->offset, 1, room);
        if (section->kind == LG__SECTION_SYSTEM && room >= sizeof(struct lg__system))
            seal_system((void *)(bytes + section->offset));
        if (section->kind == LG__SECTION_BRIEFS && room >= sizeof(struct lg__briefs))
            seal_briefs((void *)(bytes + section->offset));
        if (section->kind == LG__SECTION_STACKS)
            seal_stacks(bytes + section->offset, room);
        if (section->kind == LG__SECTION_ANNOTATIONS && room >= sizeof(struct lg__annotations))
            seal_annotations((void *)(bytes + section->offset));
        if (section->kind == LG__SECTION_GUARDS && room >= sizeof(struct lg__guards))
            seal_guards((void *)(bytes + section->offset));
    }
    /* These parts are at the end of their files. */
    for (unsigned i = 0; i < LG__SECTIONS_MAX; i++) {
        const struct lg__section *section = &header->sections[i];
        if (section->offset > size || section->offset % 8 || size - section->offset < sizeof(struct lg__ring_header) + 64)
            continue;
        struct lg__ring_header *ring = (void *)(bytes + section->offset);
        if ((section->kind == LG__SECTION_SLOT_A || section->kind == LG__SECTION_SLOT_B) && size - section->offset >= sizeof(struct lg__slot)) {
            if (chance(3) == 0)
                lie((void *)ring);
            seal_slot((void *)ring);
        }
        if (section->kind == LG__SECTION_RING) {
            if (chance(4) == 0)
                craft_ring(ring, size - section->offset);
            SEAL(ring);
        }
    }
}

size_t damage(uint8_t *those_bytes, size_t their_size, size_t room, uint64_t number)
{
    bytes = those_bytes;
    size = their_size;
    state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (chance(16) == 0) {
        size = chance(2) ? chance(size + 1) : size - chance(size < 64 ? size : 64);
    } else if (chance(32) == 0) {
        size_t more = chance(room - size + 1);
        memset(bytes + size, 0, more);
        size += more;
    }
    if (size)
        for (uint64_t hits = chance(5); hits; hits--)
            hit();
    if (chance(4))
        seal();
    return size;
}
