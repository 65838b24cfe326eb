/* The ledger: the newest whole slot. */
#include "read/internal.h"
#include "store/crc32c.h"
#include "store/run.h"

lg_status lg__reader_book(const lg_reader *reader, struct lg__slot *ret_slot, uint32_t *ret_valid)
{
    static const uint32_t kinds[2] = { LG__SECTION_SLOT_A, LG__SECTION_SLOT_B };
    struct lg__slot slot;
    if (reader->kind != LG_FILE_LEDGER)
        return LG_ERR_STATE;
    *ret_valid = 0;
    ret_slot->generation = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (!lg__reader_block(reader, kinds[i], 0, &slot, sizeof slot) || slot.generation == 0 || slot.size != sizeof slot.book)
            continue;
        uint32_t crc = lg__crc32c(0, &slot, offsetof(struct lg__slot, crc));
        if (slot.crc != lg__crc32c(crc, &slot.book, sizeof slot.book) || slot.book.context_count > LG__CONTEXTS ||
            slot.book.timeline_count > LG__TIMELINE || slot.book.build_id_size > LG__BUILD_ID_BYTES)
            continue;
        *ret_valid |= 1u << i;
        if (slot.generation > ret_slot->generation)
            *ret_slot = slot;
    }
    return *ret_valid ? LG_OK : LG_ERR_DAMAGED;
}

lg_status lg_reader_ledger(lg_reader *reader, lg_ledger_info *ret_info)
{
    struct lg__slot slot;
    uint32_t valid;
    if (!reader || !ret_info)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__reader_book(reader, &slot, &valid);
    if (status != LG_OK)
        return status;
    memset(ret_info, 0, sizeof *ret_info);
    lg__reader_text(ret_info->app_id, sizeof ret_info->app_id, slot.book.app_id, sizeof slot.book.app_id);
    lg__reader_text(ret_info->app_version, sizeof ret_info->app_version, slot.book.app_version, sizeof slot.book.app_version);
    lg__reader_hex(ret_info->build_id, slot.book.build_id, slot.book.build_id_size);
    ret_info->generation = slot.generation;
    ret_info->last_ordinal = slot.book.last_ordinal;
    ret_info->context_count = slot.book.context_count;
    ret_info->timeline_count = slot.book.timeline_count;
    ret_info->slots_valid = valid;
    return LG_OK;
}

/* What the next launch would be; the same rules as launch/decide.c, of which the reader knows only the stored outcome. */
static lg_launch_status status_of(const struct lg__book_context *context)
{
    if (context->flags & LG__CONTEXT_REPAIRING)
        return LG_LAUNCH_REPAIRING;
    if (context->flags & LG__CONTEXT_EXHAUSTED)
        return LG_LAUNCH_CHECKING;
    bool streak = context->repair_after && context->streak >= context->repair_after;
    bool unknown = context->unknown_after && context->unknown >= context->unknown_after;
    if ((context->flags & LG__CONTEXT_NEEDS_REPAIR) || ((streak || unknown) && context->rung < context->rung_count))
        return LG_LAUNCH_NEEDS_REPAIR;
    return context->streak || context->unknown || (context->flags & LG__CONTEXT_PROBATION) ? LG_LAUNCH_CHECKING : LG_LAUNCH_NORMAL;
}

lg_status lg_reader_ledger_context(lg_reader *reader, uint32_t index, lg_ledger_context *ret_context)
{
    struct lg__slot slot;
    uint32_t valid;
    if (!reader || !ret_context)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__reader_book(reader, &slot, &valid);
    if (status != LG_OK)
        return status;
    if (index >= slot.book.context_count)
        return LG_ERR_NOT_FOUND;
    const struct lg__book_context *stored = &slot.book.contexts[index];
    lg_ledger_context context;
    memset(&context, 0, sizeof context);
    lg__reader_text(context.name, sizeof context.name, stored->name, sizeof stored->name);
    lg__reader_text(context.rung_name, sizeof context.rung_name, stored->rung_name, sizeof stored->rung_name);
    context.streak = stored->streak;
    context.unknown = stored->unknown;
    context.reported = stored->reported;
    context.rung = stored->rung;
    context.rung_count = stored->rung_count;
    context.attempts = stored->attempts;
    context.interruptions = stored->interruptions;
    context.probation = (stored->flags & LG__CONTEXT_PROBATION) != 0;
    context.exhausted = (stored->flags & LG__CONTEXT_EXHAUSTED) != 0;
    context.needs_repair = (stored->flags & LG__CONTEXT_NEEDS_REPAIR) != 0;
    context.report_after = stored->report_after;
    context.repair_after = stored->repair_after;
    context.unknown_after = stored->unknown_after;
    context.status = status_of(stored);
    context.launches = stored->launches;
    context.crashes = stored->crashes;
    context.repairs = stored->repairs;
    *ret_context = context;
    return LG_OK;
}

lg_status lg_reader_timeline(lg_reader *reader, uint32_t index, lg_timeline_entry *ret_entry)
{
    struct lg__slot slot;
    uint32_t valid;
    if (!reader || !ret_entry)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__reader_book(reader, &slot, &valid);
    if (status != LG_OK)
        return status;
    if (index >= slot.book.timeline_count)
        return LG_ERR_NOT_FOUND;
    const struct lg__book_run *stored = &slot.book.timeline[index];
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
    entry.repaired = stored->repaired;
    *ret_entry = entry;
    return LG_OK;
}
