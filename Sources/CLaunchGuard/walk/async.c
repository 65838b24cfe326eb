/* Callers that wait by Swift's `await`: the chain of AsyncContexts. An asynchronous function keeps
 * the address of its context in the word below its frame pointer, or, without a frame, in a
 * register. On Linux nothing marks such a frame, so each frame is tried, and symbols decide later.
 * A chain is kept only where all of it looks like one: each context aligned and readable, each
 * caller in the code of a module, no circle. */
#include "walk/walk.h"

/* The runtime's AsyncContext, as far as callers go (Task.h of Swift's ABI). */
struct context {
    uint64_t parent;        /* context of the caller; 0: the outermost one */
    uint64_t resume_parent; /* where the caller goes on */
};
#define CONTEXT_ALIGN 16u
/* A chain is followed beyond what has room, since a circle may come later; and after so many
 * contexts of all frames only the begin of each other one is. */
#define CONTEXTS_MAX 65536u
#define CONTEXTS_FEW 4u
#define NO_FRAME 1u /* no frame pointer */

static bool read_context(uint64_t at, struct context *ret_context)
{
    return at >= LG__PAGE && at % CONTEXT_ALIGN == 0 && lg__memory_read(ret_context, at, sizeof *ret_context) == sizeof *ret_context &&
           lg__loader_lists_code(ret_context->resume_parent);
}

/* Count the callers of a chain, `most` of them or less, and keep their addresses as far as they
 * have room. false: it is none. */
static bool follow(uint64_t at, uint32_t most, uint64_t *callers, uint32_t room, uint32_t *ret_count)
{
    struct context context;
    uint64_t seen = 0; /* a context that a circle comes back to (Brent) */
    uint32_t count = 0;
    for (; at && count < most; at = context.parent) {
        *ret_count = count;
        if (at == seen || !read_context(at, &context))
            return false;
        if ((count & (count - 1)) == 0)
            seen = at;
        if (count < room)
            callers[count] = context.resume_parent;
        count++;
    }
    *ret_count = count;
    return count;
}

#define HEAD ((uint32_t)(sizeof(struct lg__async_chain) / sizeof(uint64_t))) /* words */

static struct lg__async_chain chain_at(const struct lg__async *async, uint32_t at)
{
    struct lg__async_chain chain;
    memcpy(&chain, async->words + at, sizeof chain);
    return chain;
}

/* Keep the chain that begins at a context, if it is one. */
static void keep(struct lg__async *async, uint64_t pc, uint32_t frame, uint64_t fp, uint64_t at)
{
    struct lg__async_chain chain = { .pc = pc, .frame = frame };
    const uint32_t left = async->room - async->used;
    uint32_t room = left > HEAD && async->count < LG__ASYNC_CHAINS_MAX ? left - HEAD : 0;
    if (room > LG__ASYNC_CALLERS_MAX)
        room = LG__ASYNC_CALLERS_MAX;
    uint32_t count;
    if (!room || async->followed >= CONTEXTS_MAX) {
        if (follow(at, CONTEXTS_FEW, NULL, 0, &count))
            async->omitted++;
        return;
    }
    const bool is_chain = follow(at, CONTEXTS_MAX, async->words + async->used + HEAD, room, &count);
    async->followed += count;
    if (!is_chain)
        return;
    chain.count = (uint16_t)(count < room ? count : room);
    chain.cut = count > room;
    memcpy(async->words + async->used, &chain, sizeof chain);
    async->last = async->used;
    async->used += HEAD + chain.count;
    async->fp = fp;
    async->count++;
}

void lg__async_look(struct lg__async *async, uint64_t pc, uint32_t frame, const uint64_t *registers)
{
    const uint64_t fp = registers[lg__arch_fp];
    const bool without_frame = frame == 1 && fp == async->innermost.fp;
    uint64_t at;
    if (without_frame) {
        /* what was found by its frame pointer is not of the innermost frame */
        async->count = async->used = async->omitted = async->followed = 0;
    } else if (frame && async->count && fp == async->fp) {
        /* A callee without a frame pointer of its own: the chain is of the frame further out. */
        struct lg__async_chain chain = chain_at(async, async->last);
        chain.pc = pc;
        chain.frame = frame;
        memcpy(async->words + async->last, &chain, sizeof chain);
        return;
    }
    const bool known = fp % sizeof at == 0 && fp >= sizeof at && lg__memory_word(fp - sizeof at, &at);
    if (frame == 0)
        async->innermost = (struct lg__async_innermost){ pc, fp, registers[lg__arch_async] };
    if (without_frame && !(known && at == async->innermost.context))
        keep(async, async->innermost.pc, 0, NO_FRAME, async->innermost.context);
    if (known)
        keep(async, pc, frame, fp, at);
}

void lg__async_shorten(struct lg__async *async, uint32_t room)
{
    uint32_t kept = 0, used = 0;
    for (; kept < async->count && used + HEAD < room; kept++) {
        struct lg__async_chain chain = chain_at(async, used);
        if (chain.count > room - used - HEAD) {
            chain.count = (uint16_t)(room - used - HEAD);
            chain.cut = 1;
            memcpy(async->words + used, &chain, sizeof chain);
        }
        used += HEAD + chain.count;
    }
    async->omitted += async->count - kept;
    async->count = kept;
    async->used = used;
}

/* ---- a task that waits ---- */

/* The runtime's AsyncTask (Task.h of Swift's ABI, its private status in TaskPrivate.h), of Swift
 * 6.3. Where another runtime has other bits, a task looks like none. */
struct task {
    uint64_t metadata, references;
    uint64_t scheduler[2];
    uint32_t flags, id;
    uint64_t voucher, reserved;
    uint64_t resume; /* where the task goes on */
    uint64_t context;
    uint64_t private[3];
    uint64_t status;
};
#define JOB_KIND UINT32_C(0xff)     /* of the flags; 0: a task */
#define STATUS_RUNS UINT64_C(0x800)
#define STATUS_KNOWN UINT64_C(0xffffff) /* no other bits are set */

static enum lg__async_task state_of(const struct task *task)
{
    if (!task->metadata || task->flags & JOB_KIND || !task->id || task->status & ~STATUS_KNOWN || !task->status)
        return LG__ASYNC_NO_TASK;
    return task->status & STATUS_RUNS ? LG__ASYNC_TASK_RUNS : LG__ASYNC_TASK_WAITS;
}

static bool read_task(uint64_t at, size_t (*read)(void *to, uint64_t from, size_t size), struct task *ret_task)
{
    return at >= LG__PAGE && at % CONTEXT_ALIGN == 0 && read(ret_task, at, sizeof *ret_task) == sizeof *ret_task;
}

enum lg__async_task lg__async_task(uint64_t task, size_t (*read)(void *to, uint64_t from, size_t size))
{
    struct task now;
    return read_task(task, read, &now) ? state_of(&now) : LG__ASYNC_NO_TASK;
}

bool lg__async_walk_task(uint64_t task, const struct lg__frames *frames)
{
    struct task before, after;
    struct context context;
    uint64_t at, last, seen = 0;
    uint32_t count = 0;
    if (!read_task(task, lg__memory_read, &before) || state_of(&before) != LG__ASYNC_TASK_WAITS || !lg__loader_lists_code(before.resume))
        return false;
    lg__frames_begin(frames);
    lg__frames_add(frames, last = before.resume);
    for (at = before.context; at && count < frames->limit; at = context.parent, count++) {
        if (at == seen || !read_context(at, &context))
            return false;
        if ((count & (count - 1)) == 0)
            seen = at;
        /* a wait of the runtime has a context that goes on where the task does */
        if (count || context.resume_parent != last)
            lg__frames_add(frames, last = context.resume_parent);
    }
    lg__frames_finish(frames, at ? LG__WALK_LIMIT : LG__WALK_COMPLETE);
    return read_task(task, lg__memory_read, &after) && after.resume == before.resume && after.context == before.context &&
           state_of(&after) == LG__ASYNC_TASK_WAITS;
}
