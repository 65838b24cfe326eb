/* The other threads at the crash: a slot each, its two parts committed one after the other. */
#include "read/reader.h"
#include "store/crc32c.h"

static lg_status read_slots(const lg_reader *reader, struct lg__reader_slots *ret_slots)
{
    struct lg__threads head;
    struct lg__crash_header crash;
    lg_status status = lg__reader_recorded(reader);
    if (status != LG_OK)
        return status;
    if (!lg__reader_has_section(reader, LG__SECTION_THREADS))
        return LG_ERR_NOT_FOUND; /* there was no space for it */
    if (!lg__reader_places(reader, LG__SECTION_THREADS, &head, sizeof head, sizeof(struct lg__thread), LG__SLOTS_MAX))
        return LG_ERR_DAMAGED;
    const bool known = lg__reader_stage(reader, LG_STAGE_HEADER, &crash, sizeof crash, NULL) == LG_OK;
    *ret_slots = (struct lg__reader_slots){ LG__SECTION_THREADS, head.slot_bytes, head.slot_count, sizeof head, known ? crash.sequence : 0 };
    return LG_OK;
}

static_assert(sizeof(struct lg__thread) <= LG__STABLE_BYTES, "read at once");

static uint64_t thread_slot_at(const struct lg__reader_slots *slots, uint32_t index)
{
    return slots->at + (uint64_t)index * slots->bytes;
}

uint32_t lg__reader_slots_stored(const lg_reader *reader, const struct lg__reader_slots *slots)
{
    uint32_t count = slots->count, commit = 0;
    while (count && lg__reader_block(reader, slots->section, thread_slot_at(slots, count - 1), &commit, sizeof commit) && commit == 0)
        count--;
    return count;
}

static lg_status check_walk(struct lg__thread *thread)
{
    uint32_t commit = atomic_load(&thread->walk);
    if (commit == 0)
        return LG_ERR_INCOMPLETE;
    if (commit != LG__COMMIT_WALK || thread->async_words > LG__THREAD_FRAMES_MAX ||
        !lg__reader_walk_right(&thread->head, LG__THREAD_FRAMES_MAX - thread->async_words))
        return LG_ERR_DAMAGED;
    const struct lg__reader_chains chains = lg__reader_slot_chains(thread);
    const size_t size = offsetof(struct lg__thread, pcs) - offsetof(struct lg__thread, method) + thread->head.stored * sizeof thread->pcs[0];
    const uint32_t crc = lg__crc32c(lg__crc32c(0, &thread->method, size), chains.words, chains.size * sizeof chains.words[0]);
    return thread->walk_crc == crc && lg__reader_chains_right(&chains) ? LG_OK : LG_ERR_DAMAGED;
}

lg_status lg__reader_slot_of(const lg_reader *reader, const struct lg__reader_slots *slots, uint32_t index, struct lg__thread *ret_thread,
                             lg_status *ret_walk)
{
    if (index >= slots->count)
        return LG_ERR_NOT_FOUND;
    if (!lg__reader_stable(reader, slots->section, thread_slot_at(slots, index), ret_thread, sizeof *ret_thread))
        return LG_ERR_DAMAGED;
    uint32_t commit = atomic_load(&ret_thread->commit);
    if (commit == 0)
        return index < lg__reader_slots_stored(reader, slots) ? LG_ERR_INCOMPLETE : LG_ERR_NOT_FOUND;
    const size_t from = offsetof(struct lg__thread, tid);
    if (commit != LG__COMMIT_THREAD || ret_thread->register_count > LG__REGISTERS_MAX ||
        ret_thread->crc != lg__crc32c(0, (const uint8_t *)ret_thread + from, offsetof(struct lg__thread, walk) - from))
        return LG_ERR_DAMAGED;
    if (slots->sequence && ret_thread->sequence != slots->sequence)
        return LG_ERR_INCOMPLETE; /* an answer that came too late for its own crash */
    *ret_walk = check_walk(ret_thread);
    if (*ret_walk != LG_OK)
        ret_thread->async_omitted = 0;
    return LG_OK;
}

lg_status lg__reader_slot(const lg_reader *reader, uint32_t index, struct lg__thread *ret_thread, lg_status *ret_walk)
{
    struct lg__reader_slots slots;
    lg_status status = read_slots(reader, &slots);
    return status == LG_OK ? lg__reader_slot_of(reader, &slots, index, ret_thread, ret_walk) : status;
}

/* ---- the values of a slot ---- */

void lg__reader_slot_info(const struct lg__thread *slot, lg_thread_info *ret_thread)
{
    memset(ret_thread, 0, sizeof *ret_thread);
    ret_thread->tid = slot->tid;
    ret_thread->how = (lg_thread_how)slot->how;
    ret_thread->state = (char)(slot->state > ' ' && slot->state < 127 ? slot->state : 0);
    lg__reader_text(ret_thread->name, sizeof ret_thread->name, slot->name, sizeof slot->name);
    ret_thread->register_count = slot->register_count;
    ret_thread->blocked = slot->blocked;
    ret_thread->pc = slot->pc;
    ret_thread->sp = slot->sp;
    ret_thread->stack_low = slot->stack_low;
    ret_thread->stack_high = slot->stack_high;
    ret_thread->cpu_ns = slot->cpu_ns;
    ret_thread->async_omitted = slot->async_omitted;
}

lg_status lg__reader_slot_register(const lg_reader *reader, const struct lg__thread *slot, uint32_t index, lg_register *ret_register)
{
    struct lg__identity identity;
    if (index >= slot->register_count)
        return LG_ERR_NOT_FOUND;
    uint32_t arch = lg__reader_identity(reader, &identity) == LG_OK ? identity.arch : 0;
    lg__reader_register_name(arch, index, ret_register->name);
    ret_register->value = slot->registers[index];
    return LG_OK;
}

lg_status lg__reader_slot_frame(const struct lg__thread *slot, uint32_t index, uint64_t *ret_pc)
{
    if (index >= slot->head.stored)
        return LG_ERR_NOT_FOUND;
    *ret_pc = slot->pcs[index];
    return LG_OK;
}

lg_status lg__reader_slot_function(const struct lg__thread *slot, uint32_t index, lg_function *ret_function)
{
    if (slot->method != LG_STAGE_DWARF)
        return LG_ERR_NOT_FOUND;
    return lg__reader_function(slot->pcs, LG__THREAD_FRAMES_MAX - slot->async_words, slot->head.stored, index, ret_function);
}

/* ---- the threads of a crash ---- */

lg_status lg_reader_threads(lg_reader *reader, lg_threads_info *ret_info)
{
    struct lg__reader_slots slots;
    struct lg__crash_threads counted;
    if (!reader || !ret_info)
        return LG_ERR_ARGUMENT;
    lg_status status = read_slots(reader, &slots);
    if (status != LG_OK)
        return status;
    lg_threads_info info;
    memset(&info, 0, sizeof info);
    info.stored = lg__reader_slots_stored(reader, &slots);
    if (lg__reader_stage(reader, LG_STAGE_THREADS, &counted, sizeof counted, NULL) == LG_OK) {
        info.complete = 1;
        info.listed = counted.listed;
        info.captured = counted.captured;
        info.masked = counted.masked;
        info.silent = counted.silent;
        info.omitted = counted.omitted;
        info.error = counted.error;
        info.waited_ns = counted.waited_ns;
        info.crashed_cpu_ns = counted.cpu_ns;
    }
    *ret_info = info;
    return LG_OK;
}

lg_status lg_reader_thread(lg_reader *reader, uint32_t index, lg_thread_info *ret_thread)
{
    struct lg__thread slot;
    lg_status walk;
    if (!reader || !ret_thread)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__reader_slot(reader, index, &slot, &walk);
    if (status != LG_OK)
        return status;
    lg__reader_slot_info(&slot, ret_thread);
    return LG_OK;
}

lg_status lg_reader_thread_register(lg_reader *reader, uint32_t thread, uint32_t index, lg_register *ret_register)
{
    struct lg__thread slot;
    lg_status walk;
    if (!reader || !ret_register)
        return LG_ERR_ARGUMENT;
    lg_status status = lg__reader_slot(reader, thread, &slot, &walk);
    return status == LG_OK ? lg__reader_slot_register(reader, &slot, index, ret_register) : status;
}

/* The slot of a thread that has a walk. */
static lg_status walked(lg_reader *reader, uint32_t thread, struct lg__thread *ret_slot)
{
    lg_status walk = LG_ERR_INCOMPLETE;
    const lg_status status = lg__reader_slot(reader, thread, ret_slot, &walk);
    return status == LG_OK ? walk : status;
}

lg_status lg_reader_thread_stack(lg_reader *reader, uint32_t thread, lg_stack_info *ret_info)
{
    struct lg__thread slot;
    if (!reader || !ret_info)
        return LG_ERR_ARGUMENT;
    lg_status status = walked(reader, thread, &slot);
    if (status == LG_OK)
        lg__reader_walk_info(&slot.head, slot.method, ret_info);
    return status;
}

lg_status lg_reader_thread_frame(lg_reader *reader, uint32_t thread, uint32_t index, uint64_t *ret_pc)
{
    struct lg__thread slot;
    if (!reader || !ret_pc)
        return LG_ERR_ARGUMENT;
    lg_status status = walked(reader, thread, &slot);
    return status == LG_OK ? lg__reader_slot_frame(&slot, index, ret_pc) : status;
}

lg_status lg_reader_thread_function(lg_reader *reader, uint32_t thread, uint32_t index, lg_function *ret_function)
{
    struct lg__thread slot;
    if (!reader || !ret_function)
        return LG_ERR_ARGUMENT;
    lg_status status = walked(reader, thread, &slot);
    return status == LG_OK ? lg__reader_slot_function(&slot, index, ret_function) : status;
}

lg_status lg_reader_thread_async_chain(lg_reader *reader, uint32_t thread, uint32_t index, lg_async_chain *ret_chain)
{
    struct lg__thread slot;
    if (!reader || !ret_chain)
        return LG_ERR_ARGUMENT;
    lg_status status = walked(reader, thread, &slot);
    return status == LG_OK ? lg__reader_slot_chain(&slot, index, ret_chain) : status;
}

lg_status lg_reader_thread_async_caller(lg_reader *reader, uint32_t thread, uint32_t chain, uint32_t index, uint64_t *ret_pc)
{
    struct lg__thread slot;
    if (!reader || !ret_pc)
        return LG_ERR_ARGUMENT;
    lg_status status = walked(reader, thread, &slot);
    return status == LG_OK ? lg__reader_slot_caller(&slot, chain, index, ret_pc) : status;
}
