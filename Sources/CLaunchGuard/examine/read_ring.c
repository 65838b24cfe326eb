/* The ring log: a snapshot, the valid entries of all lanes, merged by time. */
#include <errno.h>
#include <stdlib.h>

#include "examine/fields.h"
#include "launchguard/log.h"
#include "os/fault_point.h"
#include "read/reader.h"
#include "store/clock.h"
#include "store/crc32c.h"

/* The largest ring log that is read: a hostile file may be sparse and claim any size. */
#define LOG_BYTES_MAX (UINT64_C(256) << 20)

/* A ring section as its header says, checked against the section's size. */
struct layout {
    struct lg__ring_header header;
    uint64_t lane_bytes; /* lane header and cells */
    uint64_t cell_mask;  /* of bytes within the cells */
    struct lg__clock_point later; /* of its clock; 0: none */
};

static const uint8_t *lane_cells(const lg_reader *reader, const struct layout *layout, uint32_t lane)
{
    return reader->log + sizeof(struct lg__ring_header) + lane * layout->lane_bytes + sizeof(struct lg__lane);
}

static lg_status check_layout(const void *begin, uint64_t size, struct layout *ret_layout)
{
    struct layout layout;
    if (size < sizeof layout.header)
        return LG_ERR_DAMAGED;
    memcpy(&layout.header, begin, sizeof layout.header);
    const struct lg__ring_header *header = &layout.header;
    if (header->crc != lg__crc32c(0, header, offsetof(struct lg__ring_header, crc)) || header->cell_bytes != LG__CELL_BYTES ||
        header->lane_count == 0 || header->lane_cells == 0 || (header->lane_cells & (header->lane_cells - 1)) != 0)
        return LG_ERR_DAMAGED;
    layout.lane_bytes = sizeof(struct lg__lane) + (uint64_t)header->lane_cells * LG__CELL_BYTES;
    layout.cell_mask = (uint64_t)header->lane_cells * LG__CELL_BYTES - 1;
    if ((size - sizeof layout.header) / layout.lane_bytes < header->lane_count)
        return LG_ERR_DAMAGED;
    *ret_layout = layout;
    return LG_OK;
}

/* Copy out of the cells from byte `at` on, around the end of the lane. */
static void copy_out(const uint8_t *cells, uint64_t mask, uint64_t at, void *to, size_t size)
{
    at &= mask;
    size_t straight = size < mask + 1 - at ? size : (size_t)(mask + 1 - at);
    memcpy(to, cells + at, straight);
    memcpy((uint8_t *)to + straight, cells, size - straight);
}

/* The entry that was reserved as `sequence`; false if there is no whole one. */
static bool ring_entry_at(const uint8_t *cells, uint64_t mask, uint64_t sequence, struct lg__entry *ret_entry, char text[LG_LOG_TEXT_MAX])
{
    copy_out(cells, mask, sequence * LG__CELL_BYTES, ret_entry, sizeof *ret_entry);
    if (ret_entry->sequence != sequence || (uint32_t)ret_entry->commit != (uint32_t)(sequence + 1) || ret_entry->size > LG_LOG_TEXT_MAX ||
        sizeof *ret_entry + ret_entry->size > mask + 1)
        return false;
    copy_out(cells, mask, sequence * LG__CELL_BYTES + sizeof *ret_entry, text, ret_entry->size);
    const size_t commit_bytes = sizeof ret_entry->commit;
    uint32_t crc = lg__crc32c(0, (const uint8_t *)ret_entry + commit_bytes, sizeof *ret_entry - commit_bytes);
    return (uint32_t)(ret_entry->commit >> 32) == lg__crc32c(crc, text, ret_entry->size);
}

static uint64_t entry_cells(const struct lg__entry *entry)
{
    return (sizeof *entry + entry->size + LG__CELL_BYTES - 1) / LG__CELL_BYTES;
}

static unsigned entry_kind(const struct lg__entry *entry)
{
    return entry->kind & LG__ENTRY_KIND;
}

/* The later point of the clock that the state has, if it can be one of this ring; else 0. */
static struct lg__clock_point later_point(const lg_reader *reader, const struct lg__ring_header *header)
{
    const struct lg__clock_point none = { 0, 0 };
    struct {
        uint64_t count, ns;
        uint32_t turn, after;
    } now, before = { 0 };
    static_assert(offsetof(struct lg__state, clock_ns) == offsetof(struct lg__state, clock_count) + 8 &&
                  offsetof(struct lg__state, clock_turn) == offsetof(struct lg__state, clock_count) + 16, "read in one piece");
    if (header->clock != LG__RING_CLOCK_COUNTER)
        return none;
    for (int i = 0; i < 8; i++, before = now) { /* its writer may be writing it */
        if (!lg__reader_block(reader, LG__SECTION_STATE, offsetof(struct lg__state, clock_count), &now, sizeof now))
            return none;
        if (i > 0 && now.turn == before.turn && now.turn % 2 == 0 && now.count == before.count && now.ns == before.ns) {
            struct lg__clock_point point = { now.count, now.ns };
            return now.turn && lg__clock_fits(header, point) ? point : none;
        }
    }
    return none;
}

static uint64_t to_ns(const struct layout *layout, const struct lg__entry *entry)
{
    const struct lg__ring_header *header = &layout->header;
    __extension__ typedef unsigned __int128 wide;
    if (header->clock != LG__RING_CLOCK_COUNTER || (entry->kind & LG__ENTRY_MONOTONIC))
        return entry->time;
    if (!layout->later.count)
        return header->base_ns + lg__clock_line(header, entry->time);
    /* Exact to the nanosecond at both points. */
    return header->base_ns + (uint64_t)((wide)(entry->time - header->base_count) * (layout->later.ns - header->base_ns) /
                                        (layout->later.count - header->base_count));
}

/* An entry was begun here, and it is not whole. Cells that were reserved and then not written have
 * other numbers. */
static bool begun(const uint8_t *cells, uint64_t mask, uint64_t sequence)
{
    struct lg__entry entry;
    copy_out(cells, mask, sequence * LG__CELL_BYTES, &entry, sizeof entry);
    return (entry.sequence == sequence && entry.tid != 0) || (uint32_t)entry.commit == (uint32_t)(sequence + 1);
}

static void read_lane(lg_reader *reader, const struct layout *layout, uint32_t lane, lg_log_info *info)
{
    const uint8_t *cells = lane_cells(reader, layout, lane);
    struct { uint64_t head, after, entries, refused; } of;
    static_assert(offsetof(struct lg__lane, entries) == 16, "the begin of a lane");
    memcpy(&of, cells - sizeof(struct lg__lane), sizeof of);
    const uint64_t head = of.head, count = layout->header.lane_cells, before = reader->log_count;
    /* Cells that were reserved for later entries while the lane was copied may be a mixture. */
    const uint64_t last = of.after > head ? of.after : head, oldest = last > count ? last - count : 0;
    uint64_t at = oldest < head ? oldest : head, overwritten = at, unknown = 0;
    while (at < head) {
        struct lg__entry entry;
        char text[LG_LOG_TEXT_MAX];
        /* No entry ends beyond head: one that claims to would carry the walk past the largest
         * number. */
        if (!ring_entry_at(cells, layout->cell_mask, at, &entry, text) || entry_cells(&entry) > head - at) {
            info->torn += begun(cells, layout->cell_mask, at);
            at++;
            continue;
        }
        if (entry_kind(&entry) > LG__ENTRY_FIELDS)
            unknown++;
        else
            reader->log_index[reader->log_count++] = (struct lg__log_item){ to_ns(layout, &entry), entry.sequence, lane, entry.tid };
        at += entry_cells(&entry);
    }
    /* Each that was overwritten began in an overwritten cell. */
    uint64_t shown = reader->log_count - before + unknown, gone = of.entries > shown ? of.entries - shown : 0;
    info->unknown += unknown;
    info->refused += of.refused;
    info->overwritten_bytes += overwritten * LG__CELL_BYTES;
    info->overwritten_entries += gone < overwritten ? gone : overwritten;
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_writer(const void *left, const void *right)
{
    const struct lg__log_item *a = left, *b = right;
    int lanes = order(a->lane, b->lane), threads = order((uint32_t)a->tid, (uint32_t)b->tid);
    return lanes ? lanes : threads ? threads : order(a->sequence, b->sequence);
}

/* Two clocks that agree to some microseconds: no entry is earlier than the one before it of the
 * same thread. The items come lane by lane, in the order of their sequences. */
static void straighten(struct lg__log_item *items, uint64_t count)
{
    uint64_t right = 1;
    while (right < count && (items[right].lane != items[right - 1].lane || items[right].time_ns >= items[right - 1].time_ns))
        right++;
    if (right >= count)
        return;
    qsort(items, count, sizeof *items, by_writer);
    for (uint64_t i = 1; i < count; i++)
        if (items[i].lane == items[i - 1].lane && items[i].tid == items[i - 1].tid && items[i].time_ns < items[i - 1].time_ns)
            items[i].time_ns = items[i - 1].time_ns;
}

static int earlier(const void *left, const void *right)
{
    const struct lg__log_item *a = left, *b = right;
    /* One order for any content: qsort() goes wrong with a comparison that contradicts itself. */
    int times = order(a->time_ns, b->time_ns), lanes = order(a->lane, b->lane);
    return times ? times : lanes ? lanes : order(a->sequence, b->sequence);
}

#define LANE_BEHIND 8u

/* The bytes of a lane that hold something: up to the end of the longest entry that may have been
 * begun before its head. The rest of the snapshot stays zero, as it is in the file. */
static bool copy_lane(lg_reader *reader, const struct lg__section *section, const struct layout *layout, uint32_t lane)
{
    const uint64_t at = sizeof(struct lg__ring_header) + lane * layout->lane_bytes;
    uint64_t first = sizeof(struct lg__lane) + 2 * LG__CELL_BYTES, head, used;
    static_assert(offsetof(struct lg__lane, head) == 0, "the begin of a lane");
    if (first > layout->lane_bytes)
        first = layout->lane_bytes;
    if (!lg__reader_bytes(reader, section->offset + at, reader->log + at, first))
        return false;
    memcpy(&head, reader->log + at, sizeof head);
    const uint64_t longest = sizeof(struct lg__entry) + LG_LOG_TEXT_MAX;
    used = head == 0 ? first : head >= layout->header.lane_cells ? layout->lane_bytes : sizeof(struct lg__lane) + head * LG__CELL_BYTES + longest;
    if (used > layout->lane_bytes)
        used = layout->lane_bytes;
    if (used > first && !lg__reader_bytes(reader, section->offset + at + first, reader->log + at + first, used - first))
        return false;
    /* In the snapshot the head after the copy takes the place of the thread. */
    LG_FAULT_POINT("reader: lane");
    static_assert(offsetof(struct lg__lane, tid) == LANE_BEHIND && offsetof(struct lg__lane, entries) == LANE_BEHIND + sizeof head, "its place");
    return lg__reader_bytes(reader, section->offset + at, reader->log + at + LANE_BEHIND, sizeof head);
}

/* The section and its layout; LG_ERR_DAMAGED. */
static lg_status find_ring(const lg_reader *reader, struct lg__section *ret_section, struct layout *ret_layout)
{
    struct lg__ring_header header;
    if (!lg__reader_section(reader, LG__SECTION_RING, ret_section) || ret_section->size > LOG_BYTES_MAX ||
        !lg__reader_block(reader, LG__SECTION_RING, 0, &header, sizeof header))
        return LG_ERR_DAMAGED;
    return check_layout(&header, ret_section->size, ret_layout);
}

lg_status lg_reader_log_check(lg_reader *reader)
{
    struct lg__section section;
    struct layout layout;
    if (!reader)
        return LG_ERR_ARGUMENT;
    return reader->kind == LG_FILE_RUN ? find_ring(reader, &section, &layout) : LG_ERR_STATE;
}

lg_status lg_reader_log(lg_reader *reader, lg_log_info *ret_info)
{
    struct lg__section section;
    struct layout layout;
    lg_log_info info = { 0 };
    if (!reader || !ret_info)
        return LG_ERR_ARGUMENT;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    free(reader->log);
    free(reader->log_index);
    reader->log = NULL;
    reader->log_index = NULL;
    reader->log_count = 0;
    lg_status status = find_ring(reader, &section, &layout);
    if (status != LG_OK)
        return status;
    reader->log = calloc(1, section.size);
    if (!reader->log)
        return LG_ERR_SYSTEM;
    memcpy(reader->log, &layout.header, sizeof layout.header);
    for (uint32_t lane = 0; lane < layout.header.lane_count; lane++)
        if (!copy_lane(reader, &section, &layout, lane)) {
            free(reader->log);
            reader->log = NULL;
            return LG_ERR_DAMAGED;
        }
    /* At most one entry a cell. */
    uint64_t most = (uint64_t)layout.header.lane_count * layout.header.lane_cells;
    reader->log_index = malloc(most * sizeof *reader->log_index);
    if (!reader->log_index)
        return LG_ERR_SYSTEM;
    layout.later = later_point(reader, &layout.header);
    for (uint32_t lane = 0; lane < layout.header.lane_count; lane++)
        read_lane(reader, &layout, lane, &info);
    if (layout.header.clock == LG__RING_CLOCK_COUNTER)
        straighten(reader->log_index, reader->log_count);
    if (layout.header.lane_count > 1 || layout.header.clock == LG__RING_CLOCK_COUNTER)
        qsort(reader->log_index, reader->log_count, sizeof *reader->log_index, earlier);
    info.entries = reader->log_count;
    *ret_info = info;
    return LG_OK;
}

/* An entry of the snapshot, and its bytes. */
static bool entry_of(const lg_reader *reader, uint64_t index, struct lg__entry *ret_entry, char bytes[LG_LOG_TEXT_MAX])
{
    struct layout layout;
    struct lg__section section;
    if (!reader->log || index >= reader->log_count)
        return false;
    const struct lg__log_item *item = &reader->log_index[index];
    return lg__reader_section(reader, LG__SECTION_RING, &section) && check_layout(reader->log, section.size, &layout) == LG_OK &&
           ring_entry_at(lane_cells(reader, &layout, item->lane), layout.cell_mask, item->sequence, ret_entry, bytes);
}

lg_status lg_reader_log_entry(lg_reader *reader, uint64_t index, lg_log_entry *ret_entry)
{
    struct lg__entry entry;
    char bytes[LG_LOG_TEXT_MAX];
    if (!reader || !ret_entry)
        return LG_ERR_ARGUMENT;
    if (!entry_of(reader, index, &entry, bytes))
        return LG_ERR_NOT_FOUND;
    struct lg__reader_fields fields = { .category = bytes, .text = bytes, .text_size = entry.size };
    bool damaged = entry_kind(&entry) == LG__ENTRY_FIELDS && !lg__reader_fields(bytes, entry.size, &fields);
    if (damaged)
        fields = (struct lg__reader_fields){ .category = bytes, .text = bytes };
    const struct lg__log_item *item = &reader->log_index[index];
    ret_entry->sequence = entry.sequence;
    ret_entry->monotonic_ns = item->time_ns;
    ret_entry->lane = item->lane;
    ret_entry->tid = entry.tid;
    ret_entry->level = entry.level;
    ret_entry->cut = (entry.kind & LG__ENTRY_CUT) != 0;
    ret_entry->size = fields.text_size;
    memcpy(ret_entry->text, fields.text, fields.text_size);
    ret_entry->text[fields.text_size] = 0;
    memcpy(ret_entry->category, fields.category, fields.category_size);
    ret_entry->category[fields.category_size] = 0;
    ret_entry->field_count = fields.field_count;
    ret_entry->damaged = damaged;
    return LG_OK;
}

lg_status lg_reader_log_field(lg_reader *reader, uint64_t index, uint32_t field, lg_log_field *ret_field)
{
    struct lg__entry entry;
    struct lg__reader_fields fields;
    char bytes[LG_LOG_TEXT_MAX];
    if (!reader || !ret_field)
        return LG_ERR_ARGUMENT;
    if (!entry_of(reader, index, &entry, bytes) || entry_kind(&entry) != LG__ENTRY_FIELDS || !lg__reader_fields(bytes, entry.size, &fields) ||
        field >= fields.field_count)
        return LG_ERR_NOT_FOUND;
    const char *at = fields.fields;
    for (uint32_t i = 0; i <= field; i++)
        lg__reader_field(at, ret_field, &at);
    return LG_OK;
}
