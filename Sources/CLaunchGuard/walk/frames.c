/* The frames of a walk: the innermost ones in order, then a ring of the outermost. */
#include "walk/walk.h"

void lg__frames_begin(const struct lg__frames *frames)
{
    memset(frames->head, 0, sizeof *frames->head);
}

void lg__frames_add(const struct lg__frames *frames, uint64_t pc)
{
    struct lg__frames_head *head = frames->head;
    uint32_t first = frames->capacity - frames->last;
    uint32_t at = head->total < first ? head->total : first + (head->total - first) % frames->last;
    frames->pcs[at] = pc;
    head->total++;
    if (head->stored < frames->capacity)
        head->stored++;
    if (head->first < first)
        head->first++;
}

static void reverse(uint64_t *pcs, uint32_t from, uint32_t to)
{
    for (; from + 1 < to; from++, to--) {
        uint64_t pc = pcs[from];
        pcs[from] = pcs[to - 1];
        pcs[to - 1] = pc;
    }
}

void lg__frames_finish(const struct lg__frames *frames, enum lg__walk reason)
{
    struct lg__frames_head *head = frames->head;
    uint32_t first = frames->capacity - frames->last;
    head->reason = reason;
    if (head->total > frames->capacity) {
        /* The oldest frame of the ring is where the next one would have gone: rotate it to the
         * front. */
        uint32_t oldest = first + (head->total - first) % frames->last;
        reverse(frames->pcs, first, oldest);
        reverse(frames->pcs, oldest, frames->capacity);
        reverse(frames->pcs, first, frames->capacity);
    } else {
        head->first = head->stored; /* no gap */
    }
}

void lg__frames_cut(const struct lg__frames *frames, uint32_t from, enum lg__walk reason)
{
    struct lg__frames_head *head = frames->head;
    head->stored = head->first = (uint16_t)from;
    head->total = from;
    head->reason = reason;
}

size_t lg__frames_size(const struct lg__frames *frames)
{
    uint32_t stored = frames->head->stored <= frames->capacity ? frames->head->stored : frames->capacity;
    return sizeof *frames->head + (size_t)stored * sizeof frames->pcs[0];
}
