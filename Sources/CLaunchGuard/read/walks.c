/* Walks of stacks: their frames, their length and the reason of their end. */
#include "read/internal.h"

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
    ret_info->method = (lg_stage)method;
    const char *reason = head->reason < sizeof reasons / sizeof reasons[0] ? reasons[head->reason] : "for a reason this version does not know";
    lg__reader_text(ret_info->reason, sizeof ret_info->reason, reason, strlen(reason));
}

static lg_status read_frames(const lg_reader *reader, lg_stage stage, struct lg__crash_frames *ret_frames)
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
    return size >= head_size && lg__reader_walk_right(&ret_frames->head, LG__FRAMES_MAX) &&
           head_size + ret_frames->head.stored * sizeof ret_frames->pcs[0] <= size ? LG_OK : LG_ERR_DAMAGED;
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

/* A caller of the walk by frame pointers is not in the other walk. What a gap or an early end of
 * that walk may hide is no disagreement. */
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
            reason = "the walk by unwind tables broke off sooner, and each caller here is behind a call";
        }
    }
    lg__reader_text(choice.reason, sizeof choice.reason, reason, strlen(reason));
    *ret_choice = choice;
    return LG_OK;
}
