/* The ledger: the newest whole slot. */
#include <stdlib.h>

#include "os/fault_point.h"
#include "read/context.h"
#include "read/reader.h"
#include "store/hint.h"
#include "store/ledger_payload.h"
#include "store/run.h"

/* Read one slot; its payload is in place. Returns its generation; 0: it is not whole. */
static uint64_t read_ledger_slot(const lg_reader *reader, uint32_t kind, struct lg__slot *ret_slot)
{
    uint64_t before, after;
    static_assert(offsetof(struct lg__slot, generation) == 0, "read alone");
    /* The writer voids the generation first, and stores it last. */
    if (!lg__reader_block(reader, kind, 0, &before, sizeof before) || !lg__reader_block(reader, kind, 0, ret_slot, sizeof *ret_slot))
        return 0;
    LG_FAULT_POINT("reader: slot");
    if (!lg__reader_block(reader, kind, 0, &after, sizeof after) || before != after || ret_slot->generation != before)
        return 0;
    return lg__ledger_payload_check(ret_slot) ? ret_slot->generation : 0;
}

static lg_status newest_payload(const lg_reader *reader, struct lg__slot *ret_slot, uint32_t *ret_valid)
{
    if (reader->kind != LG_FILE_LEDGER)
        return LG_ERR_STATE;
    uint64_t first = read_ledger_slot(reader, LG__SECTION_SLOT_A, ret_slot), second = read_ledger_slot(reader, LG__SECTION_SLOT_B, ret_slot);
    *ret_valid = (first ? 1u : 0u) | (second ? 2u : 0u);
    if (!*ret_valid)
        return LG_ERR_DAMAGED;
    if (second > first)
        return LG_OK;
    /* Once more, as one slot takes a lot of stack. A living process may have written to it
     * meanwhile, and so to the other one before. */
    if (read_ledger_slot(reader, LG__SECTION_SLOT_A, ret_slot) || read_ledger_slot(reader, LG__SECTION_SLOT_B, ret_slot))
        return LG_OK;
    return LG_ERR_DAMAGED;
}

lg_status lg__reader_payload(const lg_reader *reader, struct lg__slot *ret_slot, uint32_t *ret_valid)
{
    const lg_status status = newest_payload(reader, ret_slot, ret_valid);
    if (status == LG_OK && reader->amended && reader->amended->generation == ret_slot->generation)
        memcpy(ret_slot, reader->amended, sizeof *ret_slot);
    return status;
}

void lg__reader_amend(lg_reader *reader, struct lg__slot *slot)
{
    free(reader->amended);
    reader->amended = slot;
}

/* All zeros: there is none. */
static void copy_hint(const lg_reader *reader, struct lg__hint *ret_hint)
{
    if (!lg__reader_bytes(reader, LG__HINT_AT, ret_hint, sizeof *ret_hint) || !lg__hint_is_whole(ret_hint))
        memset(ret_hint, 0, sizeof *ret_hint);
}

lg_status lg__reader_copy_ledger(const lg_reader *reader, struct lg__hot *ret_hot, struct lg__hint *ret_hint, struct lg__slot *ret_slot)
{
    uint32_t valid;
    lg_status status = lg__reader_payload(reader, ret_slot, &valid);
    if (status == LG_OK && !lg__reader_stable(reader, LG__SECTION_HOT, 0, ret_hot, sizeof *ret_hot))
        status = LG_ERR_DAMAGED;
    copy_hint(reader, ret_hint);
    return status;
}

/* The newest payload, for a call of the program that asks for something in it. */
static lg_status book_for(const lg_reader *reader, const void *result, struct lg__slot *ret_slot)
{
    uint32_t valid;
    return reader && result ? lg__reader_payload(reader, ret_slot, &valid) : LG_ERR_ARGUMENT;
}

lg_status lg_reader_ledger(lg_reader *reader, lg_ledger_info *ret_info)
{
    struct lg__slot slot;
    struct lg__hot hot;
    struct lg__hint hint;
    uint32_t valid;
    if (!reader || !ret_info)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__reader_payload(reader, &slot, &valid);
    if (status != LG_OK)
        return status;
    memset(ret_info, 0, sizeof *ret_info);
    lg__reader_text(ret_info->app_id, sizeof ret_info->app_id, slot.payload.app_id, sizeof slot.payload.app_id);
    lg__reader_text(ret_info->app_version, sizeof ret_info->app_version, slot.payload.app_version, sizeof slot.payload.app_version);
    lg__reader_hex(ret_info->build_id, slot.payload.build_id, slot.payload.build_id_size);
    ret_info->generation = slot.generation;
    ret_info->last_ordinal = slot.payload.last_ordinal;
    ret_info->context_count = slot.payload.context_count;
    ret_info->timeline_count = slot.payload.timeline_count;
    ret_info->slots_valid = valid;
    if (lg__reader_stable(reader, LG__SECTION_HOT, 0, &hot, sizeof hot)) {
        ret_info->start_faults = atomic_load(&hot.faults.count);
        ret_info->starts_left = atomic_load(&hot.faults.left);
        ret_info->start_fault_wall_ns = atomic_load(&hot.faults.wall_ns);
    }
    copy_hint(reader, &hint);
    ret_info->hint = hint.said;
    return LG_OK;
}

lg_status lg_reader_ledger_context(lg_reader *reader, uint32_t index, lg_launch_info *ret_info)
{
    struct lg__slot slot;
    lg_status status = book_for(reader, ret_info, &slot);
    if (status != LG_OK)
        return status;
    if (index >= slot.payload.context_count)
        return LG_ERR_NOT_FOUND;
    lg_launch_info info;
    lg__reader_context_info(&slot.payload.contexts[index], &info);
    return lg__reader_context_give(&info, ret_info);
}

lg_status lg_reader_ledger_rung(lg_reader *reader, uint32_t context, uint32_t index, lg_ledger_rung *ret_rung)
{
    struct lg__slot slot;
    lg_status status = book_for(reader, ret_rung, &slot);
    if (status != LG_OK)
        return status;
    if (context >= slot.payload.context_count || index >= slot.payload.contexts[context].rung_count)
        return LG_ERR_NOT_FOUND;
    const struct lg__ledger_rung *stored = &slot.payload.contexts[context].rungs[index];
    lg_ledger_rung rung;
    memset(&rung, 0, sizeof rung);
    lg__reader_text(rung.name, sizeof rung.name, stored->name, sizeof stored->name);
    rung.impact = stored->impact;
    rung.attempts = stored->attempts;
    rung.timeout_ms = stored->timeout_ms;
    rung.flags = stored->flags & ~LG__RUNG_BUILT_IN;
    rung.built_in = (stored->flags & LG__RUNG_BUILT_IN) != 0;
    rung.series_wall_ns = stored->series_wall_ns;
    rung.fate = stored->fate;
    *ret_rung = rung;
    return LG_OK;
}

lg_status lg_reader_ledger_suspect(lg_reader *reader, uint32_t context, uint32_t index, lg_ledger_suspect *ret_suspect)
{
    struct lg__slot slot;
    lg_status status = book_for(reader, ret_suspect, &slot);
    if (status != LG_OK)
        return status;
    if (context >= slot.payload.context_count || index >= slot.payload.contexts[context].suspect_count)
        return LG_ERR_NOT_FOUND;
    const struct lg__ledger_suspect *stored = &slot.payload.contexts[context].suspects[index];
    lg_ledger_suspect suspect;
    memset(&suspect, 0, sizeof suspect);
    lg__reader_text(suspect.key, sizeof suspect.key, stored->key, sizeof stored->key);
    suspect.crashes = stored->crashes;
    suspect.left_out = stored->left_out == 1;
    *ret_suspect = suspect;
    return LG_OK;
}

lg_status lg_reader_timeline(lg_reader *reader, uint32_t index, lg_timeline_entry *ret_entry)
{
    struct lg__slot slot;
    lg_status status = book_for(reader, ret_entry, &slot);
    if (status != LG_OK)
        return status;
    if (index >= slot.payload.timeline_count)
        return LG_ERR_NOT_FOUND;
    const struct lg__ledger_run *stored = &slot.payload.timeline[index];
    lg_timeline_entry entry;
    memset(&entry, 0, sizeof entry);
    lg__run_uuid_text(stored->uuid, entry.uuid);
    lg__reader_text(entry.app_version, sizeof entry.app_version, stored->app_version, sizeof stored->app_version);
    entry.ordinal = stored->ordinal;
    entry.wall_ns = stored->wall_ns;
    entry.duration_ns = stored->duration_ns;
    entry.verdict = (lg_verdict){ (lg_end)stored->end,           (lg_evidence)stored->evidence, stored->signal, stored->code,
                                  (lg_crash_kind)stored->kind, stored->monotonic_ns };
    entry.launching = stored->launching;
    entry.repairing = stored->repairing;
    entry.counted = stored->counted;
    entry.attributed = stored->attributed;
    entry.late = stored->late;
    entry.told = stored->told == 1;
    entry.degraded = stored->degraded == 1;
    lg__reader_text(entry.reason, sizeof entry.reason, stored->reason, sizeof stored->reason);
    static_assert(sizeof entry.events == sizeof stored->events, "as many contexts");
    memcpy(entry.events, stored->events, sizeof entry.events);
    *ret_entry = entry;
    return LG_OK;
}
