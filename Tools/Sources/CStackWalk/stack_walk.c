/* The walk away from the process. libdw finds the rows, since it finds them in .eh_frame without a
 * search table, in .debug_frame, and in compressed sections; its own walk is not used, as it goes
 * on by the frame pointer without saying so.
 *
 * Code without a row is passed by its frame pointer, or as a leaf, only where the call before the
 * return address does not speak against it. */
#include "stack_walk.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The largest frame and the largest function that are believed without a table. */
#define ASSUMED_BYTES_MAX (UINT64_C(1) << 20)
#define ASSUMED_FUNCTION_MAX (UINT64_C(1) << 16)
/* As of the walk in the handler: a signal handler's own stack, a coroutine's. */
#define LANDINGS_MAX 8u
/* In so many bytes of a function its frame pointer is set up. */
#define PROLOGUE_BYTES 40u

/* ---- modules ---- */

stack_walk *stack_walk_begin(void)
{
    return libdw_load() ? calloc(1, sizeof(stack_walk)) : NULL;
}

bool stack_walk_has(const stack_walk *walk, uint64_t start)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->modules[i].place.start == start)
            return true;
    return false;
}

bool stack_walk_add(stack_walk *walk, const struct stack_walk_module *place, const char *const *files, size_t count)
{
    struct module *modules = realloc(walk->modules, (walk->count + 1) * sizeof *modules);
    if (!modules)
        return false;
    walk->modules = modules;
    struct module module = { .place = *place, .files = calloc(count + 1, sizeof *module.files) };
    for (size_t i = 0; module.files && i < count; i++)
        if (module_file_open(&module.files[module.count], files[i]))
            module.count++;
    modules[walk->count++] = module;
    return module.files;
}

void stack_walk_end(stack_walk *walk)
{
    for (size_t i = 0; i < walk->count; i++) {
        for (size_t k = 0; k < walk->modules[i].count; k++)
            module_file_close(&walk->modules[i].files[k]);
        free(walk->modules[i].files);
    }
    free(walk->modules);
    free(walk);
}

/* Of modules within each other `module` is the innermost, which begins last. */
static bool is_inner(const struct stack_walk_module *module, const struct stack_walk_module *found, uint64_t pc)
{
    return pc >= module->start && pc < module->end && (!found || module->start > found->start);
}

const struct module *stack_walk_module_at(const struct stack_walk *walk, uint64_t pc)
{
    const struct module *found = NULL;
    for (size_t i = 0; i < walk->count; i++)
        if (is_inner(&walk->modules[i].place, found ? &found->place : NULL, pc))
            found = &walk->modules[i];
    return found;
}

static bool is_code(const struct stack_walk *walk, uint64_t pc)
{
    const struct module *module = stack_walk_module_at(walk, pc);
    for (size_t i = 0; module && i < module->count; i++)
        if (module_file_is_code(&module->files[i], pc - module->place.bias))
            return true;
    return false;
}

/* ---- memory ---- */

bool stack_walk_read(const struct stack_walk *walk, void *to, uint64_t at, size_t size)
{
    for (size_t i = 0; i < walk->memory_count; i++) {
        const struct stack_walk_memory *memory = &walk->memory[i];
        if (at >= memory->start && at - memory->start < memory->size && memory->size - (at - memory->start) >= size) {
            memcpy(to, memory->bytes + (at - memory->start), size);
            return true;
        }
    }
    const struct module *module = stack_walk_module_at(walk, at);
    for (size_t i = 0; module && i < module->count; i++)
        if (module_file_read(&module->files[i], at - module->place.bias, to, size))
            return true;
    return false;
}

bool stack_walk_word(const struct stack_walk *walk, uint64_t at, uint64_t *ret_word)
{
    return stack_walk_read(walk, ret_word, at, sizeof *ret_word);
}

/* ---- rows ---- */

struct row {
    void *frame; /* of libdw; free() it */
    int return_column;
    bool is_signal, is_of_debug_frame;
};

static bool find_row(const struct stack_walk *walk, uint64_t pc, struct row *ret_row)
{
    const struct module *module = stack_walk_module_at(walk, pc);
    for (unsigned debug = 0; module && debug < 2; debug++)
        for (size_t i = 0; i < module->count; i++) {
            void *tables = debug ? module->files[i].debug_frame : module->files[i].eh_frame;
            uint64_t start, end;
            if (!tables || libdw.dwarf_cfi_addrframe(tables, pc - module->place.bias, &ret_row->frame) != 0)
                continue;
            ret_row->is_of_debug_frame = debug;
            ret_row->return_column = libdw.dwarf_frame_info(ret_row->frame, &start, &end, &ret_row->is_signal);
            if (ret_row->return_column >= 0 && ret_row->return_column < STACK_WALK_REGISTERS)
                return true;
            free(ret_row->frame);
        }
    return false;
}

static bool has_row(const struct stack_walk *walk, uint64_t pc)
{
    struct row row;
    if (!find_row(walk, pc, &row))
        return false;
    free(row.frame);
    return true;
}

/* Whether the kernel called a signal handler there. */
static bool is_signal(const struct stack_walk *walk, uint64_t pc)
{
    struct row row;
    if (!find_row(walk, pc - 1, &row))
        return false;
    free(row.frame);
    return row.is_signal;
}

/* ---- steps ---- */

enum step { STEP_ON, STEP_OUTERMOST, STEP_NO_BYTES, STEP_NO_INFO, STEP_CONTRADICTED };

static uint64_t code_address(const struct stack_walk *walk, uint64_t pc)
{
    return walk->is_aarch64 ? pc & ((UINT64_C(1) << 48) - 1) : pc; /* without a signature */
}

/* The value that a register had in the caller. */
static enum step value_of(const struct stack_walk *walk, const struct row *row, int column, const struct state *state, uint64_t cfa,
                          struct state *next)
{
    libdw_op memory[3], *ops;
    size_t count;
    struct location location;
    if (libdw.dwarf_frame_register(row->frame, column, memory, &ops, &count) != 0)
        return STEP_NO_INFO;
    if (count == 0) {
        if (ops == memory)
            next->is_known[column] = false;
        return STEP_ON; /* else it is the same */
    }
    if (!expression_evaluate(walk, ops, count, state, &cfa, &location))
        return STEP_NO_BYTES;
    if (!location.is_value && !stack_walk_word(walk, location.value, &location.value))
        return STEP_NO_BYTES;
    next->values[column] = location.value;
    next->is_known[column] = true;
    return STEP_ON;
}

static enum step step_by_row(const struct stack_walk *walk, const struct row *row, struct state *state)
{
    struct state next = *state;
    struct location cfa;
    libdw_op *ops;
    size_t count;
    if (libdw.dwarf_frame_cfa(row->frame, &ops, &count) != 0 || count == 0)
        return STEP_NO_INFO;
    if (!expression_evaluate(walk, ops, count, state, NULL, &cfa))
        return STEP_NO_BYTES;
    next.values[walk->sp_column] = cfa.value;
    next.is_known[walk->sp_column] = true;
    for (int column = 0; column < STACK_WALK_REGISTERS; column++) {
        const bool is_return = column == row->return_column;
        /* a rule for the stack pointer is rare, and of signal frames */
        if ((uint32_t)column == walk->sp_column && !row->is_signal)
            continue;
        const enum step step = value_of(walk, row, column, state, cfa.value, &next);
        if (is_return && step == STEP_ON && !next.is_known[column])
            return STEP_OUTERMOST;
        if (step != STEP_ON && (is_return || (uint32_t)column == walk->sp_column))
            return step;
        if (step != STEP_ON)
            next.is_known[column] = false;
    }
    next.pc = code_address(walk, next.values[row->return_column]);
    *state = next;
    return STEP_ON;
}

/* Whether code without a row at `at` can have been called before `caller`. */
enum call { CALL_NONE, CALL_OF_ANOTHER, CALL_INDIRECT, CALL_DIRECT };
static enum call call_before(const struct stack_walk *walk, uint64_t caller, uint64_t at, uint64_t *ret_target)
{
    if (!call_returns_to(walk, caller, ret_target))
        return is_signal(walk, caller) ? CALL_INDIRECT : CALL_NONE;
    if (!*ret_target || stack_walk_module_at(walk, *ret_target) != stack_walk_module_at(walk, at)) {
        *ret_target = 0;
        return CALL_INDIRECT;
    }
    return *ret_target <= at && at - *ret_target < ASSUMED_FUNCTION_MAX && !has_row(walk, *ret_target) ? CALL_DIRECT : CALL_OF_ANOTHER;
}

static bool read_frame(const struct stack_walk *walk, const struct state *state, uint64_t *ret_next, uint64_t *ret_caller)
{
    const uint64_t frame = state->values[walk->fp_column], sp = state->values[walk->sp_column];
    if (!state->is_known[walk->fp_column] || frame % 8 != 0 || frame < sp || frame - sp > ASSUMED_BYTES_MAX ||
        !stack_walk_word(walk, frame, ret_next) || !stack_walk_word(walk, frame + 8, ret_caller))
        return false;
    *ret_caller = code_address(walk, *ret_caller);
    return true;
}

/* The return address of a function that has no frame. */
static bool read_leaf(const struct stack_walk *walk, const struct state *state, uint64_t *ret_caller)
{
    if (!walk->is_aarch64)
        return stack_walk_word(walk, state->values[walk->sp_column], ret_caller);
    *ret_caller = code_address(walk, state->values[30]);
    return state->is_known[30];
}

/* Out of code without a row: `at` is the instruction that is looked up. `ret_function`: what the
 * caller called. */
static enum step step_without_row(const struct stack_walk *walk, struct state *state, uint64_t at, bool interrupted, uint64_t *ret_function)
{
    uint64_t next = 0, caller = 0, leaf = 0, of_frame = 0, of_leaf = 0;
    const bool has_frame = read_frame(walk, state, &next, &caller);
    const bool has_leaf = interrupted && read_leaf(walk, state, &leaf);
    const enum call by_frame = has_frame ? call_before(walk, caller, at, &of_frame) : CALL_NONE;
    /* of two functions that may hold the address, the one that begins last does */
    if (has_leaf && call_before(walk, leaf, at, &of_leaf) == CALL_DIRECT && (by_frame != CALL_DIRECT || of_leaf > of_frame)) {
        *ret_function = of_leaf;
        state->pc = leaf;
        if (!walk->is_aarch64)
            state->values[walk->sp_column] += 8;
        return STEP_ON;
    }
    if (by_frame < CALL_INDIRECT)
        return by_frame == CALL_NONE ? STEP_NO_INFO : STEP_CONTRADICTED;
    *ret_function = of_frame;
    state->pc = caller;
    state->values[walk->sp_column] = state->values[walk->fp_column] + 16;
    state->values[walk->fp_column] = next;
    return STEP_ON;
}

/* A call through a bad pointer: back to the caller. */
static bool step_out_of_nowhere(const struct stack_walk *walk, struct state *state)
{
    uint64_t caller = 0, target;
    if (!read_leaf(walk, state, &caller) || !call_returns_to(walk, caller, &target))
        return false;
    if (!walk->is_aarch64)
        state->values[walk->sp_column] += 8;
    state->pc = caller;
    return true;
}

/* ---- the walk ---- */

/* The module of an address that nobody has added. */
static const struct stack_walk_module *missing(const struct stack_walk *walk, const struct stack_walk_module *modules, size_t count, uint64_t pc)
{
    const struct stack_walk_module *found = NULL;
    const struct module *added = stack_walk_module_at(walk, pc);
    for (size_t i = 0; i < count; i++)
        if (is_inner(&modules[i], found, pc))
            found = &modules[i];
    return found && (!added || found->start > added->place.start) ? found : NULL;
}

/* The same of the callers that code without a row may have. */
static const struct stack_walk_module *missing_caller(const struct stack_walk *walk, const struct state *state, bool interrupted,
                                                      const struct stack_walk_module *modules, size_t count)
{
    uint64_t next, caller = 0, leaf = 0;
    const struct stack_walk_module *module = NULL;
    if (read_frame(walk, state, &next, &caller))
        module = missing(walk, modules, count, caller - 1);
    if (!module && interrupted && read_leaf(walk, state, &leaf))
        module = missing(walk, modules, count, leaf - 1);
    return module;
}

static enum stack_walk_end end_of(enum step step)
{
    switch (step) {
    case STEP_OUTERMOST: return STACK_WALK_COMPLETE;
    case STEP_NO_BYTES: return STACK_WALK_NO_BYTES;
    case STEP_CONTRADICTED: return STACK_WALK_CONTRADICTED;
    default: return STACK_WALK_NO_INFO;
    }
}

static enum stack_walk_end walk_from(struct stack_walk *walk, struct state *state, bool wild, const struct stack_walk_module *modules,
                                     size_t module_count, struct stack_walk_result *result)
{
    bool interrupted = true;
    unsigned landings = 0;
    while (result->count < STACK_WALK_FRAMES) {
        struct stack_walk_frame *frame = &result->frames[result->count];
        const uint64_t pc = state->pc, sp = state->values[walk->sp_column], at = interrupted ? pc : pc - 1;
        const struct stack_walk_module *wanted = missing(walk, modules, module_count, at);
        if (wanted) {
            result->wanted = wanted->start;
            return STACK_WALK_NO_FILE;
        }
        *frame = (struct stack_walk_frame){ .pc = pc, .is_exact = interrupted };
        result->count++;
        struct row row = { 0 };
        if (wild || (interrupted && result->count == 1 && !is_code(walk, pc))) {
            wild = false;
            uint64_t caller = 0;
            wanted = read_leaf(walk, state, &caller) ? missing(walk, modules, module_count, caller - 1) : NULL;
            if (wanted) {
                result->wanted = wanted->start;
                return STACK_WALK_NO_FILE;
            }
            if (!step_out_of_nowhere(walk, state))
                return STACK_WALK_NO_INFO;
        } else if (find_row(walk, at, &row)) {
            frame->is_signal = row.is_signal;
            *(row.is_of_debug_frame ? &result->used_debug_frame : &result->used_eh_frame) = true;
            const enum step step = step_by_row(walk, &row, state);
            free(row.frame);
            if (step != STEP_ON)
                return end_of(step);
        } else {
            wanted = missing_caller(walk, state, interrupted, modules, module_count);
            if (wanted) {
                result->wanted = wanted->start;
                return STACK_WALK_NO_FILE;
            }
            const enum step step = step_without_row(walk, state, at, interrupted, &frame->function);
            if (step != STEP_ON)
                return end_of(step);
            frame->is_assumed = true;
        }
        if (frame->is_signal)
            frame->is_exact = true;
        if (state->pc == 0 && !frame->is_signal)
            return STACK_WALK_COMPLETE;
        if (state->values[walk->sp_column] <= sp && !frame->is_signal &&
            ((state->pc == pc && state->values[walk->sp_column] == sp) || ++landings > LANDINGS_MAX))
            return STACK_WALK_LOOP;
        wanted = missing(walk, modules, module_count, frame->is_signal ? state->pc : state->pc - 1);
        if (!wanted && !frame->is_signal && !is_code(walk, state->pc - 1)) {
            /* a value that is no return address is evidence: shown once */
            if (result->count < STACK_WALK_FRAMES)
                result->frames[result->count++] = (struct stack_walk_frame){ .pc = state->pc };
            return STACK_WALK_NO_INFO;
        }
        interrupted = frame->is_signal;
    }
    return STACK_WALK_LIMIT;
}

bool stack_walk_has_frame(const stack_walk *walk, uint64_t function, bool is_aarch64)
{
    const struct module *module = stack_walk_module_at(walk, function);
    uint8_t code[PROLOGUE_BYTES];
    for (size_t i = 0; module && i < module->count; i++) {
        if (!module_file_read(&module->files[i], function - module->place.bias, code, sizeof code))
            continue;
        for (size_t at = 0; at + 4 <= sizeof code; at++) {
            /* push %rbp, and one of the two forms of mov %rsp, %rbp */
            static const uint8_t forms[2][4] = { { 0x55, 0x48, 0x89, 0xe5 }, { 0x55, 0x48, 0x8b, 0xec } };
            uint32_t instruction;
            memcpy(&instruction, code + at, sizeof instruction);
            /* add x29, sp, … */
            if (is_aarch64 ? at % 4 == 0 && (instruction & 0xffc003ff) == 0x910003fd
                           : memcmp(code + at, forms[0], 4) == 0 || memcmp(code + at, forms[1], 4) == 0)
                return true;
        }
        return false;
    }
    return true;
}

void stack_walk_thread(stack_walk *walk, const struct stack_walk_module *modules, size_t module_count,
                       const struct stack_walk_memory *memory, size_t memory_count, const struct stack_walk_registers *registers,
                       struct stack_walk_result *ret_result)
{
    struct state state = { .pc = registers->pc };
    memcpy(state.values, registers->values, sizeof state.values);
    walk->memory = memory;
    walk->memory_count = memory_count;
    walk->is_aarch64 = registers->is_aarch64;
    walk->sp_column = registers->is_aarch64 ? 31 : 7;
    walk->fp_column = registers->is_aarch64 ? 29 : 6;
    for (uint32_t i = 0; i < (registers->is_aarch64 ? 32u : 16u); i++)
        state.is_known[i] = true;
    memset(ret_result, 0, sizeof *ret_result);
    ret_result->end = walk_from(walk, &state, registers->is_pc_wild, modules, module_count, ret_result);
}
