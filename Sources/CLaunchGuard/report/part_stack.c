/* Walks of stacks, and the module of each frame. */
#include "report/parts.h"

#include <string.h>

#include "read/innermost.h"
#include "report/items.h"
#include "report/values.h"

/* A frame while it is written. */
struct frame {
    uint64_t address, lookup, file_address;
    const lg_module *module;
    bool is_signal;
};

static const lg_module *module_at(const struct lg__report *report, uint64_t address)
{
    const lg_module *found = NULL;
    for (uint32_t i = 0; i < report->module_count; i++)
        if (lg__innermost_takes(&report->modules[i], found, address))
            found = &report->modules[i];
    return found;
}

bool lg__report_is_in_module(const struct lg__report *report, uint64_t address)
{
    return module_at(report, address);
}

#define OF struct frame

static void module(struct lg__report *report, const void *of)
{
    const struct frame *frame = of;
    if (frame->module)
        lg__values_path(report, frame->module->path);
}

static void file_address(struct lg__report *report, const void *of)
{
    const struct frame *frame = of;
    if (frame->module)
        lg__json_address(&report->json, frame->file_address);
}

static const struct lg__field frame_fields[] = {
    FIELD(ADDRESS, "address", address, "", "The program counter; of a caller, the address that the call returns to."),
    FIELD(ADDRESS, "lookup", lookup, "", "The address to look up: of a caller, the byte before."),
    MAY_BE("module", module, "string", "", "Path of the module that has code there."),
    MAY_BE("fileAddress", file_address, "address", "", "The address to look up, in the module's file."),
    FIELD(TRUE_IF, "isSignalHandlerCall", is_signal, "",
          "True: no function's call, but the kernel's of a signal handler: the next frame was interrupted, and its own address is looked up."),
    ADDED("isTailCalled", "boolean", "True: the next frame called another function, which ended by a jump to this one and has no frame."),
    ADDED_THAT(LEAVES, "symbols", "[symbol]",
               "Functions at the address, the innermost first; left out: they were not looked up. A report that is sent has the one of the "
               "symbol table, where the device has it."),
    LAST,
};
const struct lg__shape lg__shape_frame = { "frame", LG__SENTENCE("One call."), frame_fields };

#undef OF

bool lg__report_is_past_breakpoint(lg_reader *reader, const lg_crash_info *crash)
{
    lg_register cell;
    for (uint32_t i = 0; crash->kind == LG_CRASH_BREAKPOINT && i < 256 && lg_reader_register(reader, i, &cell) == LG_OK; i++)
        if (strcmp(cell.name, "rip") == 0)
            return true;
    return false;
}

static struct frame frame_at(const struct lg__report *report, uint64_t pc, bool exact)
{
    struct frame frame = { .address = pc, .lookup = exact ? pc : pc - 1 };
    frame.module = module_at(report, frame.lookup);
    if (frame.module)
        frame.file_address = frame.lookup - frame.module->bias;
    return frame;
}

void lg__report_frame(struct lg__report *report, uint64_t pc, bool exact)
{
    const struct frame frame = frame_at(report, pc, exact);
    lg__table_object(report, &lg__shape_frame, &frame);
}

#define OF struct lg__walk

static const char *const methods[] = { [LG_STAGE_FRAMES] = "frame-pointers", [LG_STAGE_DWARF] = "dwarf", [LG_STAGE_ASYNC] = "async" };
const struct lg__names lg__names_method = { "stack-method", LG__SENTENCE("How a stack was walked; async: the functions of a task that waits."), methods, LG_STAGE_ASYNC + 1, "unknown" };

bool lg__report_is_signal(const lg_stack_info *stack, uint64_t pc)
{
    return stack->signal_pc && pc == stack->signal_pc;
}

/* A frame that made no call: the innermost, the next after a signal's, or a function that will go
 * on. */
static bool was_interrupted(struct lg__report *report, const struct lg__walk *walk, uint32_t index)
{
    uint64_t inner;
    if (index == 0 || walk->info.method == LG_STAGE_ASYNC)
        return walk->is_top_exact || walk->info.method == LG_STAGE_ASYNC;
    const bool is_after_gap = index == walk->info.first && walk->info.total > walk->info.stored;
    return walk->info.signal_pc && !is_after_gap && walk->pc(report, walk->of, index - 1, &inner) == LG_OK && lg__report_is_signal(&walk->info, inner);
}

static lg_status read_frame(struct lg__report *report, const void *of, uint32_t index, void *ret_item)
{
    const struct lg__walk *walk = of;
    uint64_t pc;
    const lg_status status = report->frames_left ? walk->pc(report, walk->of, index, &pc) : LG_ERR_NOT_FOUND;
    if (status == LG_OK) {
        const bool is_signal = lg__report_is_signal(&walk->info, pc);
        report->frames_left--;
        *(struct frame *)ret_item = frame_at(report, pc, is_signal || was_interrupted(report, walk, index));
        ((struct frame *)ret_item)->is_signal = is_signal;
    }
    return status;
}

static void frames(struct lg__report *report, const void *of)
{
    const struct lg__walk *walk = of;
    const struct lg__items items = { &lg__shape_frame, walk->part, true, read_frame };
    struct frame frame;
    lg__items_write(report, &items, of, walk->info.stored, &frame);
}

static void omitted(struct lg__report *report, const void *of)
{
    const lg_stack_info *info = &((const struct lg__walk *)of)->info;
    lg__values_number(report, info->total > info->stored ? info->total - info->stored : 0);
}

static const struct lg__field stack_fields[] = {
    NAMED("method", info.method, &lg__names_method, "How the stack was walked."),
    VALUE("frames", frames, "[frame]", "", "The innermost first."),
    FIELD(NUMBER, "innermost", info.first, "", "Number of innermost frames in the list; the rest are the outermost, after a gap."),
    VALUE("omitted", omitted, "number", "", "Frames in that gap."),
    FIELD(NUMBER, "total", info.total, "", "Frames that were walked, the gap included."),
    FIELD(BOOL, "isTruncated", info.truncated, "", "Whether the walk ended early."),
    FIELD(TEXT_IF, "reason", info.reason, "", "Why it ended early."),
    FIELD(NUMBER_IF, "assumedFrames", info.assumed, "",
          "Frames of code without unwind tables, found by frame pointer in the middle of a DWARF walk."),
    ADDED("walkedAgainWith", "string",
          "Unwind tables with which the tool walked again, over the stored registers and stack bytes; left out: it is the handler's walk."),
    LAST,
};
const struct lg__shape lg__shape_stack = { "stack", LG__SENTENCE("A walk of a stack."), stack_fields };

#undef OF

void lg__report_stack(struct lg__report *report, const struct lg__walk *walk)
{
    lg__table_object(report, &lg__shape_stack, walk);
}

#define OF lg_register

static const struct lg__field register_fields[] = {
    FIELD(TEXT, "name", name, "", "For example rip."),
    FIELD(ADDRESS, "value", value, "", "What it held."),
    LAST,
};
const struct lg__shape lg__shape_register = { "crash-register", LG__SENTENCE("A register of a thread."), register_fields };

#undef OF
