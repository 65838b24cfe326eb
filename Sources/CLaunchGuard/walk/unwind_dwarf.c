/* The walk by unwind tables: .eh_frame of each module, at the place in the module table.
 *
 * One step finds the row for the place in the code and computes the caller's registers from the
 * row. Code that no table describes (a just-in-time compiler's, hand-written assembler) takes one
 * step by its frame pointer, if the frame pointer passes every check that can be made; such steps
 * are counted. Nothing else is guessed. */
#include "walk/cfi.h"
#include "os/fault_point.h"
#include "store/crc32c.h"

/* The largest frame that is believed without a table. */
#define ASSUMED_BYTES_MAX (UINT64_C(1) << 20)
/* A walk may come to a lower address this many times: a signal handler's own stack, a coroutine's.
 * A chain that loops does so for ever. */
#define LANDINGS_MAX 8u

/* ---- rows: found once per place, and anew for each crash and each snapshot ---- */

#define MEMO_ENTRIES 256u
#define MEMO_RULES 7u

/* A row of the usual kind: every register saved at an offset. Small, because each page that the row
 * first touches costs as much as many frames. */
struct memo {
    uint64_t address;
    uint32_t age; /* lg__memory_age when the row was found; 0: free */
    int32_t cfa_offset;
    uint8_t cfa_register, return_column, count;
    uint8_t columns[MEMO_RULES];
    int32_t offsets[MEMO_RULES];
    struct lg__function function;
};
static struct {
    struct memo memos[MEMO_ENTRIES];
    struct lg__cfi_row row;
    struct lg__function functions[LG__FUNCTIONS_MAX]; /* of the first frames of a walk */
} scratch[LG__WALKERS];

static void remember(struct memo *memo, uint64_t address, const struct lg__cfi_row *row)
{
    if (row->count > MEMO_RULES || row->cfa_how != LG__CFI_REGISTER || row->signal_frame || row->cfa_value != (int32_t)row->cfa_value)
        return;
    memo->age = 0;
    for (uint32_t i = 0; i < row->count; i++) {
        if (row->rules[i].how != LG__CFI_AT_OFFSET || row->rules[i].value != (int32_t)row->rules[i].value)
            return;
        memo->columns[i] = row->rules[i].column;
        memo->offsets[i] = (int32_t)row->rules[i].value;
    }
    memo->address = address;
    memo->cfa_offset = (int32_t)row->cfa_value;
    memo->cfa_register = row->cfa_register;
    memo->return_column = row->return_column;
    memo->count = (uint8_t)row->count;
    memo->function = row->function;
    memo->age = lg__memory_age[lg__memory_walker];
}

static void recall(const struct memo *memo, struct lg__cfi_row *row)
{
    row->cfa_value = memo->cfa_offset;
    row->cfa_how = LG__CFI_REGISTER;
    row->cfa_register = memo->cfa_register;
    row->return_column = memo->return_column;
    row->signal_frame = 0;
    row->function = memo->function;
    row->count = memo->count;
    for (uint32_t i = 0; i < memo->count; i++)
        row->rules[i] = (struct lg__cfi_rule){ memo->offsets[i], memo->columns[i], LG__CFI_AT_OFFSET };
}

struct query {
    const struct lg__module_range *module;
    uint64_t address;
    struct lg__cfi_row *row;
    bool found;
};

static void find(void *argument)
{
    struct query *query = argument;
    LG_FAULT_POINT("walk: tables");
    query->found = lg__cfi_find(query->module, query->address, query->row);
}

static bool row_at(uint64_t address, struct lg__cfi_row *row)
{
    struct memo *memo = &scratch[lg__memory_walker].memos[(address ^ address >> 8 ^ address >> 16) % MEMO_ENTRIES];
    if (memo->age && memo->age == lg__memory_age[lg__memory_walker] && memo->address == address) {
        recall(memo, row);
        return true;
    }
    struct query query = { lg__loader_find(address), address, row, false };
    if (!query.module || !lg__memory_guarded(find, &query) || !query.found)
        return false;
    remember(memo, address, row);
    return true;
}

/* ---- steps ---- */

enum step { STEP_ON, STEP_OUTERMOST, STEP_NO_INFO, STEP_UNREADABLE };

static bool rule_value(const struct lg__cfi_rule *rule, uint64_t cfa, const uint64_t *registers, uint64_t *ret_value)
{
    uint64_t at = (uint64_t)rule->value;
    switch ((enum lg__cfi_how)rule->how) {
    case LG__CFI_AT_OFFSET: return lg__memory_word(cfa + at, ret_value);
    case LG__CFI_IS_OFFSET: *ret_value = cfa + at; return true;
    case LG__CFI_AT_EXPRESSION: return lg__expression_evaluate(at, cfa, registers, &at) && lg__memory_word(at, ret_value);
    case LG__CFI_IS_EXPRESSION: return lg__expression_evaluate(at, cfa, registers, ret_value);
    case LG__CFI_REGISTER:
        if (at >= LG__CFI_COLUMNS)
            return false;
        *ret_value = registers[at];
        return true;
    default: *ret_value = 0; return true; /* undefined: no step asks for this value */
    }
}

/* The frame's address by the frame pointer and the row's place for it. */
static bool address_by_frame_pointer(const struct lg__cfi_row *row, const uint64_t registers[LG__REGISTERS_MAX], uint64_t *ret_cfa)
{
    for (uint32_t i = 0; i < row->count; i++)
        if (row->rules[i].column == lg__arch_fp && row->rules[i].how == LG__CFI_AT_OFFSET) {
            *ret_cfa = registers[lg__arch_fp] - (uint64_t)row->rules[i].value;
            return true;
        }
    return false;
}

/* The caller's registers by a row. `sp_is_known`: else the stack pointer is at most that of the
 * frame. */
static enum step step_by_row(const struct lg__cfi_row *row, bool sp_is_known, uint64_t registers[LG__REGISTERS_MAX])
{
    uint64_t next[LG__REGISTERS_MAX], cfa;
    if (row->cfa_how == LG__CFI_REGISTER && row->cfa_register == lg__arch_sp && !sp_is_known) {
        if (!address_by_frame_pointer(row, registers, &cfa))
            return STEP_NO_INFO;
    } else if (row->cfa_how == LG__CFI_REGISTER)
        cfa = registers[row->cfa_register] + (uint64_t)row->cfa_value;
    else if (!lg__expression_evaluate((uint64_t)row->cfa_value, 0, registers, &cfa))
        return STEP_UNREADABLE;
    memcpy(next, registers, sizeof next);
    next[lg__arch_sp] = cfa;
    for (uint32_t i = 0; i < row->count; i++) {
        const struct lg__cfi_rule *rule = &row->rules[i];
        if (rule->how == LG__CFI_UNDEFINED && rule->column == row->return_column)
            return STEP_OUTERMOST;
        if (!rule_value(rule, cfa, registers, &next[rule->column]))
            return STEP_UNREADABLE;
    }
    next[lg__arch_pc] = lg__arch_code_address(next[row->return_column]);
    memcpy(registers, next, sizeof next);
    return STEP_ON;
}

/* Whether a call can return to an address: one inside the code of a module, or, in code of no
 * module, after a call instruction or where a signal handler returns to. */
static bool may_return_to(uint64_t pc)
{
    const struct lg__module_range *module = lg__loader_find(pc);
    return module ? pc >= module->code_start && pc < module->code_end : lg__caller_follows_call(pc) || lg__arch_is_signal_return(pc, lg__memory_read);
}

/* The caller's registers by the frame pointer, if the frame pointer is aligned, not below the stack
 * pointer and not far above it, both words at the frame pointer can be read, and the return address
 * is one. The callee-saved registers stay as they are; the stack pointer is the end of the two
 * words. */
static bool step_by_frame_pointer(uint64_t registers[LG__REGISTERS_MAX])
{
    uint64_t frame = registers[lg__arch_fp], sp = registers[lg__arch_sp], next, caller;
    if (frame % sizeof frame != 0 || frame < sp || frame - sp > ASSUMED_BYTES_MAX || !lg__memory_word(frame, &next) ||
        !lg__memory_word(frame + sizeof next, &caller))
        return false;
    caller = lg__arch_code_address(caller);
    if (!may_return_to(caller))
        return false;
    registers[lg__arch_pc] = caller;
    registers[lg__arch_fp] = next;
    registers[lg__arch_sp] = frame + 2 * sizeof next;
    return true;
}

/* An interrupted pc without code was called: back to the caller, if the place where the call put
 * its return address has one. */
static bool step_out_of_nowhere(uint64_t registers[LG__REGISTERS_MAX])
{
    uint64_t start[LG__REGISTERS_MAX], word = 0;
    memcpy(start, registers, sizeof start);
    if (lg__arch == LG__ARCH_X86_64 && !lg__memory_word(registers[lg__arch_sp], &word))
        return false;
    lg__arch_return_to_caller(start, word);
    start[lg__arch_pc] = lg__arch_code_address(start[lg__arch_pc]);
    if (!may_return_to(start[lg__arch_pc]))
        return false;
    memcpy(registers, start, sizeof start);
    return true;
}

int lg__unwind_dwarf_step(uint64_t registers[LG__REGISTERS_MAX])
{
    struct lg__cfi_row *row = &scratch[lg__memory_walker].row;
    if (!row_at(registers[lg__arch_pc], row))
        return -1;
    enum step step = step_by_row(row, true, registers);
    return step == STEP_ON ? 1 : step == STEP_OUTERMOST ? 0 : -1;
}

/* ---- the walk ---- */

static enum lg__walk walk(uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames)
{
    struct lg__cfi_row *row = &scratch[lg__memory_walker].row;
    struct lg__function *functions = scratch[lg__memory_walker].functions;
    /* pc is the next instruction to run, not a return address */
    bool interrupted = true, sp_is_known = true;
    unsigned landings = 0;
    for (uint32_t count = 0; count < frames->limit; count++) {
        uint64_t pc = registers[lg__arch_pc], sp = registers[lg__arch_sp], code;
        lg__frames_add(frames, pc);
        if (frames->async)
            lg__async_look(frames->async, pc, count, registers);
        bool nowhere = interrupted && (wild || !lg__memory_word(pc, &code));
        bool signal_frame = false;
        wild = false;
        if (count < LG__FUNCTIONS_MAX)
            functions[count] = (struct lg__function){ 0, 0 };
        /* A return address may be the first address after its function: the call is the instruction
         * before. */
        if (!nowhere && row_at(interrupted ? pc : pc - 1, row)) {
            if (count < LG__FUNCTIONS_MAX)
                functions[count] = row->function;
            enum step step = step_by_row(row, sp_is_known, registers);
            if (step != STEP_ON)
                return step == STEP_OUTERMOST ? LG__WALK_COMPLETE : step == STEP_NO_INFO ? LG__WALK_NO_INFO : LG__WALK_UNREADABLE;
            signal_frame = row->signal_frame;
            sp_is_known = true;
        } else if (!nowhere && sp_is_known && lg__arch_is_signal_return(pc, lg__memory_read)) {
            if (!lg__arch_leave_signal(registers, lg__memory_read))
                return LG__WALK_UNREADABLE;
            signal_frame = true;
        } else if (nowhere && step_out_of_nowhere(registers)) {
            if (count > 0)
                frames->head->assumed++;
        } else if (step_by_frame_pointer(registers)) {
            frames->head->assumed++;
            sp_is_known = lg__arch_record_ends_frame;
        } else {
            return LG__WALK_NO_INFO;
        }
        if (signal_frame)
            frames->head->signal_pc = pc;
        if (registers[lg__arch_pc] == 0 && !signal_frame)
            return LG__WALK_COMPLETE;
        if (registers[lg__arch_sp] <= sp && !signal_frame &&
            ((registers[lg__arch_pc] == pc && registers[lg__arch_sp] == sp) || ++landings > LANDINGS_MAX))
            return LG__WALK_LOOP;
        if (!signal_frame && !may_return_to(registers[lg__arch_pc])) {
            /* a value that is no return address is evidence: shown once */
            lg__frames_add(frames, registers[lg__arch_pc]);
            if (count + 1 < LG__FUNCTIONS_MAX)
                functions[count + 1] = (struct lg__function){ 0, 0 };
            return LG__WALK_NO_INFO;
        }
        interrupted = signal_frame;
    }
    return LG__WALK_LIMIT;
}

void lg__unwind_dwarf(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames)
{
    lg__loader_settle();
    uint64_t start[LG__REGISTERS_MAX];
    memcpy(start, registers, sizeof start);
    enum lg__walk reason = walk(start, wild, frames);
    lg__frames_finish(frames, reason);
}

size_t lg__unwind_dwarf_functions(const struct lg__frames *frames, uint32_t words)
{
    const uint32_t stored = frames->head->stored, first = frames->head->first;
    if (stored >= words)
        return 0;
    uint32_t count = first < LG__FUNCTIONS_MAX ? first : LG__FUNCTIONS_MAX;
    if (count > words - stored - 1)
        count = words - stored - 1;
    struct lg__functions *after = (struct lg__functions *)(void *)(frames->pcs + stored);
    const size_t size = count * sizeof after->functions[0];
    memcpy(after->functions, scratch[lg__memory_walker].functions, size);
    after->count = count;
    after->crc = lg__crc32c(0, after->functions, size);
    return sizeof *after + size;
}
