/* One thread in its slot: its own account, the kernel's account, and its stack. */
#include "capture/internal.h"
#include "capture/question.h"
#include "store/crc32c.h"

LG__NOT_INSTRUMENTED_BEGIN

/* At most this many frames of a thread are walked: the other threads and the later stages need
 * time, too. */
#define FRAMES_LIMIT 4096u
/* Chains of asynchronous callers leave room for so many functions: fingerprints have them. */
#define FUNCTIONS_FIRST 24u

static void commit(struct lg__thread *slot)
{
    slot->crc = lg__crc32c(0, &slot->tid, offsetof(struct lg__thread, walk) - offsetof(struct lg__thread, tid));
    atomic_store_explicit(&slot->commit, LG__COMMIT_THREAD, memory_order_release);
}

void lg__thread_clear(struct lg__thread *slot, int32_t tid, uint32_t sequence)
{
    memset(slot, 0, offsetof(struct lg__thread, pcs));
    slot->tid = tid;
    slot->sequence = sequence;
}

void lg__thread_capture(struct lg__thread *slot, const void *ucontext)
{
    struct lg__arch_fault context;
    lg__arch_fault(ucontext, &context);
    slot->how = LG_THREAD_CAPTURED;
    slot->pc = context.pc;
    slot->sp = context.sp;
    slot->blocked = lg__arch_blocked(ucontext);
    slot->register_count = lg__arch_registers(ucontext, slot->registers);
    lg__altstack_bounds(&slot->stack_low, &slot->stack_high);
    lg__os_thread_name(slot->name);
    /* since the thread began: until a second reading the thread stands still */
    slot->cpu_ns = lg__os_thread_cpu_ns(0);
    commit(slot);
}

/* ---- the kernel's account ---- */

/* Read a file of a thread: /proc/self/task/TID/name. */
static size_t read_file(int32_t tid, const char *name, char *to, size_t size)
{
    char path[32], digits[12];
    size_t count = 0, at = 0;
    for (uint32_t rest = (uint32_t)tid; rest || !count; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count)
        path[at++] = digits[--count];
    path[at++] = '/';
    memcpy(path + at, name, strlen(name) + 1);
    return lg__files_read(path, to, size);
}

int lg__thread_blocks(int32_t tid, uint64_t *ret_blocked, uint32_t *ret_state)
{
    char text[LG__FILES_STATUS_BYTES];
    *ret_blocked = 0;
    *ret_state = 0;
    if (read_file(tid, "status", text, sizeof text) == 0)
        return lg__os_signal_send(lg__fixed.pid, tid, 0) == 0 ? 0 : -1;
    lg__os_number(lg__os_text_after(text, "SigBlk"), 16, ret_blocked);
    *ret_state = (unsigned char)*lg__os_text_after(text, "State");
    return *ret_blocked >> (LG__QUESTION_SIGNAL - 1) & 1;
}

bool lg__capture_thread_gone(int32_t tid)
{
    uint64_t blocked;
    uint32_t state;
    return lg__thread_blocks(tid, &blocked, &state) < 0 || state == 'Z' || state == 'X';
}

uint32_t lg__capture_rights(int32_t tid)
{
    static const char *const lines[] = { "Uid", "Gid", "Groups", "CapPrm", "CapEff" };
    char text[LG__FILES_STATUS_BYTES];
    uint32_t crc = 0;
    if (read_file(tid, "status", text, sizeof text) == 0)
        return 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *line = lg__os_text_after(text, lines[i]), *end = memchr(line, '\n', strlen(line));
        crc = lg__crc32c(crc, line, end ? (size_t)(end - line) : 0);
    }
    return crc ? crc : 1;
}

/* "NUMBER six-arguments sp pc" while it is in a system call, "running" else (proc(5),
 * /proc/PID/syscall). */
static bool read_place(const char *text, uint64_t *ret_sp, uint64_t *ret_pc)
{
    uint64_t before_last = 0, last = 0;
    if (text[0] < '-' || text[0] > '9')
        return false;
    for (; *text; text++)
        if (text[0] == ' ' && text[1] == '0' && text[2] == 'x') {
            before_last = last;
            lg__os_number(text + 3, 16, &last);
        }
    *ret_sp = before_last;
    *ret_pc = last;
    return true;
}

bool lg__thread_sleeps(int32_t tid, uint64_t *ret_sp, uint64_t *ret_pc)
{
    char text[256];
    return read_file(tid, "syscall", text, sizeof text) && read_place(text, ret_sp, ret_pc);
}

bool lg__thread_describe(struct lg__thread *slot)
{
    char text[256];
    int blocks = lg__thread_blocks(slot->tid, &slot->blocked, &slot->state);
    if (blocks < 0)
        return false;
    slot->how = blocks ? LG_THREAD_MASKED : LG_THREAD_SILENT;
    size_t size = read_file(slot->tid, "comm", text, sizeof text);
    memcpy(slot->name, text, size && size <= sizeof slot->name ? size - 1 : 0);
    if (read_file(slot->tid, "syscall", text, sizeof text))
        read_place(text, &slot->sp, &slot->pc);
    slot->cpu_ns = lg__os_thread_cpu_ns(slot->tid);
    commit(slot);
    return true;
}

/* ---- its stack ---- */

static struct lg__frames frames_of(struct lg__thread *slot)
{
    return (struct lg__frames){ &slot->head, slot->pcs, LG__THREAD_FRAMES_MAX, LG__THREAD_FRAMES_LAST, FRAMES_LIMIT, NULL };
}

/* The last words of `pcs` take the chains. Returns the first of these words. */
static uint32_t put_chains(struct lg__thread *slot, struct lg__async *async)
{
    const uint32_t functions = slot->head.first < FUNCTIONS_FIRST ? slot->head.first : FUNCTIONS_FIRST, taken = slot->head.stored + 1u + functions;
    lg__async_shorten(async, taken < LG__THREAD_FRAMES_MAX ? LG__THREAD_FRAMES_MAX - taken : 0);
    const uint32_t first = LG__THREAD_FRAMES_MAX - async->used;
    if (async->used)
        memcpy(slot->pcs + first, async->words, async->used * sizeof slot->pcs[0]);
    slot->async_words = (uint8_t)async->used;
    slot->async_chains = (uint8_t)async->count;
    slot->async_omitted = (uint16_t)(async->omitted < UINT16_MAX ? async->omitted : UINT16_MAX);
    return first;
}

static void commit_walk(struct lg__thread *slot, struct lg__async *async)
{
    const struct lg__frames frames = frames_of(slot);
    const uint32_t words = put_chains(slot, async);
    if (slot->method == LG_STAGE_DWARF)
        lg__unwind_dwarf_functions(&frames, words);
    else if (slot->head.stored < words)
        slot->pcs[slot->head.stored] = 0; /* no functions, and no older ones */
    size_t size = offsetof(struct lg__thread, pcs) - offsetof(struct lg__thread, method) + slot->head.stored * sizeof slot->pcs[0];
    const uint32_t crc = lg__crc32c(0, &slot->method, size);
    slot->walk_crc = lg__crc32c(crc, slot->pcs + words, async->used * sizeof slot->pcs[0]);
    atomic_store_explicit(&slot->walk, LG__COMMIT_WALK, memory_order_release);
}

void lg__thread_walk(struct lg__thread *slot)
{
    struct lg__frames frames = frames_of(slot);
    uint64_t registers[LG__REGISTERS_MAX], words[LG__THREAD_FRAMES_MAX];
    struct lg__async async = { .words = words, .room = LG__THREAD_FRAMES_MAX };
    memcpy(registers, slot->registers, sizeof registers);
    registers[lg__arch_pc] = slot->pc;
    registers[lg__arch_sp] = slot->sp;
    slot->method = LG_STAGE_DWARF;
    frames.async = &async;
    lg__frames_begin(&frames);
    lg__unwind_dwarf(registers, false, &frames);
    frames.async = NULL;
    if (slot->head.reason != LG__WALK_COMPLETE && slot->register_count) {
        uint64_t total = slot->head.total;
        slot->method = LG_STAGE_FRAMES;
        lg__frames_begin(&frames);
        lg__unwind_fp(registers, false, &frames);
        if (slot->head.total <= total) { /* as lg_reader_stack_choice() chooses for a crash */
            slot->method = LG_STAGE_DWARF;
            lg__frames_begin(&frames);
            lg__unwind_dwarf(registers, false, &frames);
        }
    }
    commit_walk(slot, &async);
}

bool lg__thread_walk_task(struct lg__thread *slot, uint64_t task)
{
    const struct lg__frames frames = frames_of(slot);
    if (!lg__async_walk_task(task, &frames))
        return false;
    slot->how = LG_THREAD_TASK;
    slot->method = LG_STAGE_ASYNC;
    commit(slot);
    commit_walk(slot, &(struct lg__async){ .words = NULL });
    return true;
}

void lg__thread_walk_crashed(struct lg__thread *slot)
{
    const struct lg__frames frames = frames_of(slot);
    if (slot->head.stored > LG__THREAD_FRAMES_MAX)
        slot->head.stored = 0;
    lg__frames_finish(&frames, LG__WALK_RECRASH);
    commit_walk(slot, &(struct lg__async){ .words = NULL });
}

LG__NOT_INSTRUMENTED_END
