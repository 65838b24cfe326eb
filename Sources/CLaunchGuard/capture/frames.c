/* The frames of a walk: the innermost ones in order, then a ring of the outermost. */
#include "capture/internal.h"

#define FIRST (LG__FRAMES_MAX - LG__FRAMES_LAST)

void lg__frames_add(struct lg__crash_frames *frames, uint64_t pc)
{
    uint32_t at = frames->total < FIRST ? (uint32_t)frames->total : FIRST + (uint32_t)((frames->total - FIRST) % LG__FRAMES_LAST);
    frames->pcs[at] = pc;
    frames->total++;
    if (frames->stored < LG__FRAMES_MAX)
        frames->stored++;
    if (frames->first < FIRST)
        frames->first++;
}

static void reverse(uint64_t *pcs, uint32_t from, uint32_t to)
{
    for (; from + 1 < to; from++, to--) {
        uint64_t pc = pcs[from];
        pcs[from] = pcs[to - 1];
        pcs[to - 1] = pc;
    }
}

void lg__frames_finish(struct lg__crash_frames *frames, enum lg__walk reason)
{
    frames->reason = reason;
    if (frames->total > LG__FRAMES_MAX) {
        /* The oldest of the ring is where the next frame would have gone; rotate it to the front. */
        uint32_t oldest = FIRST + (uint32_t)((frames->total - FIRST) % LG__FRAMES_LAST);
        reverse(frames->pcs, FIRST, oldest);
        reverse(frames->pcs, oldest, LG__FRAMES_MAX);
        reverse(frames->pcs, FIRST, LG__FRAMES_MAX);
    } else {
        frames->first = frames->stored; /* no gap */
    }
}
