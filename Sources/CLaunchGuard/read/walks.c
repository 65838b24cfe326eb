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
