/* The parts of a run file about a program that lived: heartbeats, deadlines, and the stacks that
 * were taken when one of them did not come in time, or memory ran short. */
#include "read/reader.h"
#include "store/crc32c.h"

/* ---- pulse ---- */

static lg_status read_pulse(const lg_reader *reader, struct lg__pulse *ret_pulse)
{
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    if (!lg__reader_has_section(reader, LG__SECTION_PULSE))
        return LG_ERR_NOT_FOUND;
    return lg__reader_block(reader, LG__SECTION_PULSE, 0, ret_pulse, sizeof *ret_pulse) ? LG_OK : LG_ERR_DAMAGED;
}

lg_status lg_reader_heartbeat(lg_reader *reader, uint32_t index, lg_heartbeat_info *ret_heartbeat)
{
    struct lg__pulse pulse;
    if (!reader || !ret_heartbeat)
        return LG_ERR_ARGUMENT;
    lg_status status = read_pulse(reader, &pulse);
    if (status != LG_OK)
        return status;
    for (uint32_t i = 0; i < LG__HEARTBEATS; i++) {
        struct lg__heartbeat one, *from = &pulse.heartbeats[i];
        if (!atomic_load(&from->tid) || index--)
            continue;
        if (lg__reader_stable(reader, LG__SECTION_PULSE, offsetof(struct lg__pulse, heartbeats) + i * sizeof one, &one, sizeof one) &&
            atomic_load(&one.tid))
            from = &one;
        memset(ret_heartbeat, 0, sizeof *ret_heartbeat);
        ret_heartbeat->tid = atomic_load(&from->tid);
        ret_heartbeat->paused = atomic_load(&from->paused) == 1;
        lg__reader_text(ret_heartbeat->name, sizeof ret_heartbeat->name, from->name, sizeof from->name);
        ret_heartbeat->beat_ns = atomic_load(&from->beat_ns);
        ret_heartbeat->hang_ns = atomic_load(&from->hang_ns);
        return LG_OK;
    }
    return LG_ERR_NOT_FOUND;
}

lg_status lg_reader_deadline(lg_reader *reader, uint32_t index, lg_deadline_info *ret_deadline)
{
    struct lg__pulse pulse;
    if (!reader || !ret_deadline)
        return LG_ERR_ARGUMENT;
    lg_status status = read_pulse(reader, &pulse);
    if (status != LG_OK)
        return status;
    for (uint32_t i = 0; i < LG__DEADLINES; i++) {
        struct lg__deadline one, *deadline = &pulse.deadlines[i];
        if (!atomic_load(&deadline->number) || index--)
            continue;
        if (lg__reader_stable(reader, LG__SECTION_PULSE, offsetof(struct lg__pulse, deadlines) + i * sizeof one, &one, sizeof one) &&
            atomic_load(&one.number))
            deadline = &one;
        memset(ret_deadline, 0, sizeof *ret_deadline);
        lg__reader_text(ret_deadline->name, sizeof ret_deadline->name, deadline->name, sizeof deadline->name);
        ret_deadline->tid = atomic_load(&deadline->tid);
        ret_deadline->limit_ms = atomic_load(&deadline->limit_ms);
        ret_deadline->begun_ns = atomic_load(&deadline->begun_ns);
        ret_deadline->near_ns = atomic_load(&deadline->near_ns);
        return LG_OK;
    }
    return LG_ERR_NOT_FOUND;
}

/* ---- snapshots ---- */

lg_status lg__reader_snapshot(const lg_reader *reader, uint32_t kind, struct lg__snapshot *ret_snapshot, struct lg__reader_slots *ret_slots)
{
    /* both begin with the number of slots and the bytes of each */
    union {
        struct lg__snapshots two;
        struct lg__memory_snapshot one;
    } head;
    const bool is_memory = kind == LG_SNAPSHOT_MEMORY;
    const uint32_t section = is_memory ? LG__SECTION_MEMORY_SNAPSHOT : LG__SECTION_SNAPSHOTS;
    const size_t head_size = is_memory ? sizeof head.one : sizeof head.two;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    if (!lg__reader_has_section(reader, section))
        return LG_ERR_NOT_FOUND;
    if (!lg__reader_places(reader, section, &head, head_size, sizeof(struct lg__thread), LG__SLOTS_MAX))
        return LG_ERR_DAMAGED;
    const uint32_t slot_count = head.one.slot_count, slot_bytes = head.one.slot_bytes;
    *ret_snapshot = is_memory ? head.one.snapshot : head.two.snapshots[kind - 1];
    if (ret_snapshot->first_slot > slot_count || ret_snapshot->slot_count > slot_count - ret_snapshot->first_slot)
        return LG_ERR_DAMAGED;
    *ret_slots = (struct lg__reader_slots){ section, slot_bytes, ret_snapshot->slot_count,
                                            head_size + (uint64_t)ret_snapshot->first_slot * slot_bytes, ret_snapshot->sequence };
    return LG_OK;
}

static lg_status check_pulse(uint32_t commit, uint32_t right, uint32_t crc, const void *bytes, size_t size)
{
    if (commit == 0)
        return LG_ERR_INCOMPLETE;
    return commit == right && crc == lg__crc32c(0, bytes, size) ? LG_OK : LG_ERR_DAMAGED;
}

lg_status lg__reader_snapshot_head(struct lg__snapshot *snapshot)
{
    const size_t from = offsetof(struct lg__snapshot, kind);
    return check_pulse(atomic_load(&snapshot->commit), LG__COMMIT_SNAPSHOT, snapshot->crc, (const uint8_t *)snapshot + from,
                       offsetof(struct lg__snapshot, counted) - from);
}

lg_status lg__reader_snapshot_counts(struct lg__snapshot *snapshot)
{
    const size_t from = offsetof(struct lg__snapshot, listed);
    return check_pulse(atomic_load(&snapshot->counted), LG__COMMIT_COUNTS, snapshot->counts_crc, (const uint8_t *)snapshot + from,
                       offsetof(struct lg__snapshot, resolved_ns) - from);
}

static bool is_kind(lg_snapshot_kind kind)
{
    return kind >= LG_SNAPSHOT_HANG && kind <= LG_SNAPSHOT_MEMORY;
}

/* A snapshot that was taken; its slots mean nothing without its head. */
static lg_status read_snapshot(const lg_reader *reader, lg_snapshot_kind kind, struct lg__snapshot *ret_snapshot, struct lg__reader_slots *ret_slots)
{
    lg_status status = lg__reader_snapshot(reader, kind, ret_snapshot, ret_slots);
    if (status == LG_OK)
        status = lg__reader_snapshot_head(ret_snapshot);
    if (status == LG_OK && ret_snapshot->kind != (uint32_t)kind)
        status = LG_ERR_DAMAGED;
    return status == LG_ERR_INCOMPLETE ? LG_ERR_NOT_FOUND : status;
}

lg_status lg_reader_snapshot(lg_reader *reader, lg_snapshot_kind kind, lg_snapshot_info *ret_snapshot)
{
    struct lg__snapshot stored;
    struct lg__reader_slots slots;
    if (!reader || !ret_snapshot || !is_kind(kind))
        return LG_ERR_ARGUMENT;
    lg_status status = read_snapshot(reader, kind, &stored, &slots);
    if (status != LG_OK)
        return status;
    lg_snapshot_info info;
    memset(&info, 0, sizeof info);
    info.kind = kind;
    info.tid = stored.tid;
    lg__reader_text(info.name, sizeof info.name, stored.name, sizeof stored.name);
    info.sequence = stored.sequence;
    info.stored = lg__reader_slots_stored(reader, &slots);
    info.since_ns = stored.since_ns;
    info.taken_ns = stored.taken_ns;
    info.resolved_ns = atomic_load(&stored.resolved_ns);
    if (lg__reader_snapshot_counts(&stored) == LG_OK) {
        info.complete = 1;
        info.given_up = stored.given_up == 1;
        info.listed = stored.listed;
        info.captured = stored.captured;
        info.masked = stored.masked;
        info.silent = stored.silent;
        info.omitted = stored.omitted;
        info.error = stored.error;
        info.took_ns = stored.took_ns;
    }
    *ret_snapshot = info;
    return LG_OK;
}

static lg_status read_snapshot_slot(const lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, struct lg__thread *ret_slot, lg_status *ret_walk)
{
    struct lg__snapshot stored;
    struct lg__reader_slots slots;
    if (!is_kind(kind))
        return LG_ERR_ARGUMENT;
    lg_status status = read_snapshot(reader, kind, &stored, &slots);
    return status == LG_OK ? lg__reader_slot_of(reader, &slots, thread, ret_slot, ret_walk) : status;
}

lg_status lg_reader_snapshot_thread(lg_reader *reader, lg_snapshot_kind kind, uint32_t index, lg_thread_info *ret_thread)
{
    struct lg__thread slot;
    lg_status walk;
    if (!reader || !ret_thread)
        return LG_ERR_ARGUMENT;
    lg_status status = read_snapshot_slot(reader, kind, index, &slot, &walk);
    if (status == LG_OK)
        lg__reader_slot_info(&slot, ret_thread);
    return status;
}

lg_status lg_reader_snapshot_register(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, lg_register *ret_register)
{
    struct lg__thread slot;
    lg_status walk;
    if (!reader || !ret_register)
        return LG_ERR_ARGUMENT;
    lg_status status = read_snapshot_slot(reader, kind, thread, &slot, &walk);
    return status == LG_OK ? lg__reader_slot_register(reader, &slot, index, ret_register) : status;
}

/* The slot of a thread that has a walk. */
static lg_status walked(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, struct lg__thread *ret_slot)
{
    lg_status walk = LG_ERR_INCOMPLETE;
    const lg_status status = read_snapshot_slot(reader, kind, thread, ret_slot, &walk);
    return status == LG_OK ? walk : status;
}

lg_status lg_reader_snapshot_stack(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, lg_stack_info *ret_info)
{
    struct lg__thread slot;
    if (!reader || !ret_info)
        return LG_ERR_ARGUMENT;
    lg_status status = walked(reader, kind, thread, &slot);
    if (status == LG_OK)
        lg__reader_walk_info(&slot.head, slot.method, ret_info);
    return status;
}

lg_status lg_reader_snapshot_frame(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, uint64_t *ret_pc)
{
    struct lg__thread slot;
    if (!reader || !ret_pc)
        return LG_ERR_ARGUMENT;
    lg_status status = walked(reader, kind, thread, &slot);
    return status == LG_OK ? lg__reader_slot_frame(&slot, index, ret_pc) : status;
}

lg_status lg_reader_snapshot_function(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, lg_function *ret_function)
{
    struct lg__thread slot;
    if (!reader || !ret_function)
        return LG_ERR_ARGUMENT;
    lg_status status = walked(reader, kind, thread, &slot);
    return status == LG_OK ? lg__reader_slot_function(&slot, index, ret_function) : status;
}

lg_status lg_reader_snapshot_async_chain(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t index, lg_async_chain *ret_chain)
{
    struct lg__thread slot;
    if (!reader || !ret_chain)
        return LG_ERR_ARGUMENT;
    lg_status status = walked(reader, kind, thread, &slot);
    return status == LG_OK ? lg__reader_slot_chain(&slot, index, ret_chain) : status;
}

lg_status lg_reader_snapshot_async_caller(lg_reader *reader, lg_snapshot_kind kind, uint32_t thread, uint32_t chain, uint32_t index, uint64_t *ret_pc)
{
    struct lg__thread slot;
    if (!reader || !ret_pc)
        return LG_ERR_ARGUMENT;
    lg_status status = walked(reader, kind, thread, &slot);
    return status == LG_OK ? lg__reader_slot_caller(&slot, chain, index, ret_pc) : status;
}
