/* The frame-pointer walk: needs no table and no library, and none of its reads can fault. A caller
 * is shown only where its address follows a call: the register may hold any value, and point to
 * data of the program. */
#include "walk/walk.h"

/* Two frames that are farther apart than this are not of one stack. */
#define FRAME_BYTES_MAX (UINT64_C(64) << 20)

void lg__unwind_fp(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames)
{
    uint64_t pc = registers[lg__arch_pc], sp = registers[lg__arch_sp];
    enum lg__walk reason = LG__WALK_LIMIT;
    uint64_t word;
    lg__frames_add(frames, pc);
    if (wild && lg__memory_word(sp, &word)) {
        uint64_t before[LG__REGISTERS_MAX];
        memcpy(before, registers, sizeof before);
        lg__arch_return_to_caller(before, word);
        word = lg__arch_code_address(before[lg__arch_pc]);
        if (lg__caller_is_one(word))
            lg__frames_add(frames, word);
    }

    uint64_t frame = registers[lg__arch_fp];
    while (frames->head->total < frames->limit) {
        uint64_t next, caller;
        if (frame == 0) {
            reason = LG__WALK_COMPLETE;
            break;
        }
        if (frame % sizeof(uint64_t) != 0 || (frames->head->total == 1 && frame + LG__PAGE < sp)) {
            reason = LG__WALK_BAD_POINTER;
            break;
        }
        if (!lg__memory_word(frame, &next) || !lg__memory_word(frame + sizeof next, &caller)) {
            reason = LG__WALK_UNREADABLE;
            break;
        }
        if (caller == 0) {
            reason = LG__WALK_COMPLETE;
            break;
        }
        caller = lg__arch_code_address(caller);
        if (!lg__caller_is_one(caller)) {
            reason = LG__WALK_NO_CALL;
            break;
        }
        lg__frames_add(frames, caller);
        if (next != 0 && next <= frame) {
            reason = next == frame ? LG__WALK_LOOP : LG__WALK_BAD_POINTER;
            break;
        }
        if (next - frame > FRAME_BYTES_MAX && next != 0) {
            reason = LG__WALK_BAD_POINTER;
            break;
        }
        frame = next;
    }
    lg__frames_finish(frames, reason);
}
