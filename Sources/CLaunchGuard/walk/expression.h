/* The machine of DWARF expressions (DWARF 5, section 2.5). Two readers of unwind tables decode
 * operations for it: the crash handler from the memory of its process, and the tool from what libdw
 * found in files. It is safe in a signal handler if the reads are.
 *
 * walk/dwarf.h comes before it: the tool has neither in a folder of its own. */
#ifndef LG_WALK_EXPRESSION_H
#define LG_WALK_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LG__EXPRESSION_STEPS_MAX 256u
#define LG__EXPRESSION_STACK_MAX 16u

struct lg__operation {
    uint8_t code; /* DW_OP_const8u for each one that pushes a constant or a register's value */
    uint64_t operand;
};

struct lg__expression {
    uint64_t stack[LG__EXPRESSION_STACK_MAX];
    uint32_t depth, steps;
    bool bad;
    bool (*read)(const void *memory, void *to, uint64_t from, size_t size);
    const void *memory;
};

static inline void lg__expression_push(struct lg__expression *machine, uint64_t value)
{
    if (machine->depth == LG__EXPRESSION_STACK_MAX)
        machine->bad = true;
    else
        machine->stack[machine->depth++] = value;
}

static inline uint64_t lg__expression_pop(struct lg__expression *machine)
{
    if (machine->depth == 0) {
        machine->bad = true;
        return 0;
    }
    return machine->stack[--machine->depth];
}

/* The entry at this distance from the top. */
static inline uint64_t lg__expression_pick(struct lg__expression *machine, uint64_t below)
{
    if (below >= machine->depth) {
        machine->bad = true;
        return 0;
    }
    return machine->stack[machine->depth - 1 - below];
}

static inline uint64_t lg__expression_dereference(struct lg__expression *machine, uint64_t size)
{
    uint64_t value = 0;
    if (size > sizeof value || !machine->read(machine->memory, &value, lg__expression_pop(machine), (size_t)size))
        machine->bad = true;
    return value;
}

/* Operations on the two topmost entries. */
static inline uint64_t lg__expression_combine(struct lg__expression *machine, uint8_t code)
{
    const uint64_t b = lg__expression_pop(machine), a = lg__expression_pop(machine);
    const int64_t sb = (int64_t)b, sa = (int64_t)a;
    switch (code) {
    case DW_OP_and: return a & b;
    case DW_OP_div:
        if (b != 0 && !(sb == -1 && sa == INT64_MIN))
            return (uint64_t)(sa / sb);
        break;
    case DW_OP_minus: return a - b;
    case DW_OP_mod:
        if (b != 0)
            return a % b;
        break;
    case DW_OP_mul: return a * b;
    case DW_OP_or: return a | b;
    case DW_OP_plus: return a + b;
    case DW_OP_shl: return b < 64 ? a << b : 0;
    case DW_OP_shr: return b < 64 ? a >> b : 0;
    case DW_OP_shra: return (uint64_t)(sa >> (b < 64 ? b : 63));
    case DW_OP_xor: return a ^ b;
    case DW_OP_eq: return a == b;
    case DW_OP_ge: return sa >= sb;
    case DW_OP_gt: return sa > sb;
    case DW_OP_le: return sa <= sb;
    case DW_OP_lt: return sa < sb;
    case DW_OP_ne: return a != b;
    default: break;
    }
    machine->bad = true;
    return 0;
}

/* One operation. `ret_jumps`: the next one is at the distance of the operand. false: the expression
 * has no value. */
static inline bool lg__expression_operate(struct lg__expression *machine, const struct lg__operation *operation, bool *ret_jumps)
{
    uint64_t a, b, c;
    *ret_jumps = operation->code == DW_OP_skip;
    switch (operation->code) {
    case DW_OP_const8u: lg__expression_push(machine, operation->operand); break;
    case DW_OP_deref: lg__expression_push(machine, lg__expression_dereference(machine, 8)); break;
    case DW_OP_deref_size: lg__expression_push(machine, lg__expression_dereference(machine, operation->operand)); break;
    case DW_OP_dup: lg__expression_push(machine, lg__expression_pick(machine, 0)); break;
    case DW_OP_drop: lg__expression_pop(machine); break;
    case DW_OP_over: lg__expression_push(machine, lg__expression_pick(machine, 1)); break;
    case DW_OP_pick: lg__expression_push(machine, lg__expression_pick(machine, operation->operand)); break;
    case DW_OP_swap:
        a = lg__expression_pop(machine), b = lg__expression_pop(machine);
        lg__expression_push(machine, a), lg__expression_push(machine, b);
        break;
    case DW_OP_rot:
        a = lg__expression_pop(machine), b = lg__expression_pop(machine), c = lg__expression_pop(machine);
        lg__expression_push(machine, a), lg__expression_push(machine, c), lg__expression_push(machine, b);
        break;
    case DW_OP_abs:
        a = lg__expression_pop(machine);
        lg__expression_push(machine, (int64_t)a < 0 ? 0 - a : a);
        break;
    case DW_OP_neg: lg__expression_push(machine, 0 - lg__expression_pop(machine)); break;
    case DW_OP_not: lg__expression_push(machine, ~lg__expression_pop(machine)); break;
    case DW_OP_plus_uconst: lg__expression_push(machine, lg__expression_pop(machine) + operation->operand); break;
    case DW_OP_bra: *ret_jumps = lg__expression_pop(machine) != 0; break;
    case DW_OP_skip:
    case DW_OP_nop: break;
    default: lg__expression_push(machine, lg__expression_combine(machine, operation->code)); break;
    }
    return !machine->bad && ++machine->steps <= LG__EXPRESSION_STEPS_MAX;
}

#endif
