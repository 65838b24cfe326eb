/* Walks of stacks: their frames and functions, their length and the reason of their end. */
#include "read/reader.h"
#include "store/crc32c.h"

bool lg__reader_walk_right(const struct lg__frames_head *head, uint32_t most)
{
    return head->stored <= most && head->first <= head->stored;
}

void lg__reader_walk_info(const struct lg__frames_head *head, uint32_t method, lg_stack_info *ret_info)
{
    static const char *const reasons[] = {
#define REASON(identifier, value, sentence) [value] = sentence,
        LG__WALK_TABLE(REASON)
#undef REASON
    };
    memset(ret_info, 0, sizeof *ret_info);
    ret_info->stored = head->stored;
    ret_info->first = head->first;
    ret_info->total = head->total;
    ret_info->truncated = head->reason != LG__WALK_COMPLETE;
    ret_info->assumed = head->assumed;
    ret_info->signal_pc = head->signal_pc;
    ret_info->method = (lg_stage)method;
    const char *reason = head->reason < sizeof reasons / sizeof reasons[0] ? reasons[head->reason] : "for a reason this version does not know";
    lg__reader_text(ret_info->reason, sizeof ret_info->reason, reason, strlen(reason));
}

lg_status lg__reader_function(const uint64_t *words, size_t count, uint32_t stored, uint32_t index, lg_function *ret_function)
{
    struct lg__functions head;
    struct lg__function function;
    if (index >= stored || stored >= count)
        return LG_ERR_NOT_FOUND;
    memcpy(&head, words + stored, sizeof head);
    const uint64_t *functions = words + stored + 1;
    if (index >= head.count || head.count > count - stored - 1 || head.count > LG__FUNCTIONS_MAX ||
        lg__crc32c(0, functions, head.count * sizeof function) != head.crc)
        return LG_ERR_NOT_FOUND;
    memcpy(&function, functions + index, sizeof function);
    if (function.offset >= function.size)
        return LG_ERR_NOT_FOUND;
    *ret_function = (lg_function){ function.offset, function.size };
    return LG_OK;
}

static lg_status read_frames_of(const lg_reader *reader, lg_stage stage, struct lg__crash_frames *ret_frames, size_t *ret_size)
{
    if (stage != LG_STAGE_FRAMES && stage != LG_STAGE_DWARF)
        return LG_ERR_ARGUMENT;
    size_t size = 0;
    lg_status status = lg__reader_crashed(reader);
    if (status == LG_OK)
        status = lg__reader_stage(reader, stage, ret_frames, sizeof *ret_frames, &size);
    if (status != LG_OK)
        return status;
    const size_t head_size = offsetof(struct lg__crash_frames, pcs);
    if (size < head_size || !lg__reader_walk_right(&ret_frames->head, LG__FRAMES_MAX) ||
        head_size + ret_frames->head.stored * sizeof ret_frames->pcs[0] > size)
        return LG_ERR_DAMAGED;
    *ret_size = size;
    return LG_OK;
}

static lg_status read_frames(const lg_reader *reader, lg_stage stage, struct lg__crash_frames *ret_frames)
{
    size_t size;
    return read_frames_of(reader, stage, ret_frames, &size);
}

lg_status lg_reader_stack(lg_reader *reader, lg_stage stage, lg_stack_info *ret_info)
{
    struct lg__crash_frames frames;
    if (!reader || !ret_info)
        return LG_ERR_ARGUMENT;
    lg_status status = read_frames(reader, stage, &frames);
    if (status == LG_OK)
        lg__reader_walk_info(&frames.head, stage, ret_info);
    return status;
}

lg_status lg_reader_frame(lg_reader *reader, lg_stage stage, uint32_t index, uint64_t *ret_pc)
{
    struct lg__crash_frames frames;
    if (!reader || !ret_pc)
        return LG_ERR_ARGUMENT;
    lg_status status = read_frames(reader, stage, &frames);
    if (status != LG_OK)
        return status;
    if (index >= frames.head.stored)
        return LG_ERR_NOT_FOUND;
    *ret_pc = frames.pcs[index];
    return LG_OK;
}

lg_status lg_reader_function(lg_reader *reader, uint32_t index, lg_function *ret_function)
{
    struct lg__crash_frames frames;
    size_t size = 0;
    if (!reader || !ret_function)
        return LG_ERR_ARGUMENT;
    lg_status status = read_frames_of(reader, LG_STAGE_DWARF, &frames, &size);
    if (status != LG_OK)
        return status;
    if (size > sizeof frames)
        size = sizeof frames; /* a later version has more after them */
    const size_t head_size = offsetof(struct lg__crash_frames, pcs);
    const uint64_t *words = (const uint64_t *)(const void *)((const uint8_t *)&frames + head_size);
    return lg__reader_function(words, (size - head_size) / sizeof *words, frames.head.stored, index, ret_function);
}

/* A caller of the walk by frame pointers is not in the other walk. A caller that a gap or an early
 * end of the other walk may hide is no disagreement. */
static bool disagree(const struct lg__crash_frames *pointers, const struct lg__crash_frames *tables)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < pointers->head.first; i++) {
        uint32_t found = at;
        while (found < tables->head.first && tables->pcs[found] != pointers->pcs[i])
            found++;
        if (found == tables->head.first)
            return tables->head.first == tables->head.stored && (tables->head.reason == LG__WALK_COMPLETE || at < tables->head.first);
        at = found + 1;
    }
    return false;
}

lg_status lg_reader_stack_choice(lg_reader *reader, lg_stack_choice *ret_choice)
{
    struct lg__crash_frames pointers, tables;
    if (!reader || !ret_choice)
        return LG_ERR_ARGUMENT;
    lg_status of_pointers = read_frames(reader, LG_STAGE_FRAMES, &pointers), of_tables = read_frames(reader, LG_STAGE_DWARF, &tables);
    lg_stack_choice choice = { LG_STAGE_DWARF, 0, "" };
    const char *reason = "the walk by frame pointers cannot be read";
    if (of_tables != LG_OK || !tables.head.stored) {
        if (of_pointers != LG_OK)
            return of_tables != LG_OK ? of_pointers : LG_ERR_INCOMPLETE;
        choice.stage = LG_STAGE_FRAMES;
        reason = "there is no walk by unwind tables";
    } else if (of_pointers == LG_OK) {
        choice.disagree = disagree(&pointers, &tables);
        reason = "unwind tables describe every frame, a frame pointer may hold any value";
        if (tables.head.reason != LG__WALK_COMPLETE && tables.head.total < pointers.head.total) {
            choice.stage = LG_STAGE_FRAMES;
            reason = "the walk by unwind tables broke off sooner, and each caller here is after a call";
        }
    }
    lg__reader_text(choice.reason, sizeof choice.reason, reason, strlen(reason));
    *ret_choice = choice;
    return LG_OK;
}
