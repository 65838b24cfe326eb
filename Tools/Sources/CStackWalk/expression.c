/* Expressions of unwind tables, as libdw decodes them, for the machine of the core. */
#include "../../../Sources/CLaunchGuard/walk/dwarf.h"
#include "../../../Sources/CLaunchGuard/walk/expression.h"

#include "internal.h"

static bool constant(const struct state *state, uint64_t number, uint64_t offset, struct lg__operation *ret_operation)
{
    if (number >= STACK_WALK_REGISTERS || !state->is_known[number])
        return false;
    *ret_operation = (struct lg__operation){ DW_OP_const8u, state->values[number] + offset };
    return true;
}

static bool decode(const libdw_op *op, const struct state *state, struct lg__operation *ret_operation)
{
    *ret_operation = (struct lg__operation){ op->atom, op->number };
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        return constant(state, op->atom - DW_OP_breg0, op->number, ret_operation);
    if (op->atom == DW_OP_bregx)
        return constant(state, op->number, op->number2, ret_operation);
    if (op->atom == DW_OP_addr || (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts))
        ret_operation->code = DW_OP_const8u;
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        *ret_operation = (struct lg__operation){ DW_OP_const8u, op->atom - DW_OP_lit0 };
    return true;
}

/* The operation to which one of three bytes jumps: the distance is from its end. */
static bool jump(const libdw_op *ops, size_t count, size_t *at)
{
    const uint64_t to = ops[*at].offset + 3 + (uint64_t)(int64_t)(int16_t)ops[*at].number;
    for (*at = 0; *at < count; ++*at)
        if (ops[*at].offset == to)
            return true;
    return false;
}

static bool read_memory(const void *walk, void *to, uint64_t from, size_t size)
{
    return stack_walk_read(walk, to, from, size);
}

bool expression_evaluate(const struct stack_walk *walk, const libdw_op *ops, size_t count, const struct state *state, const uint64_t *cfa,
                         struct location *ret_location)
{
    struct lg__expression machine = { .read = read_memory, .memory = walk };
    struct lg__operation operation;
    /* libdw's way to write "in that register" */
    if (count == 1 && ops->atom == DW_OP_regx) {
        if (!constant(state, ops->number, 0, &operation))
            return false;
        *ret_location = (struct location){ operation.operand, true };
        return true;
    }
    const bool begins_with_cfa = cfa && count > 0 && ops->atom == DW_OP_call_frame_cfa;
    const bool is_value = count > 0 && ops[count - 1].atom == DW_OP_stack_value;
    if (begins_with_cfa)
        lg__expression_push(&machine, *cfa);
    for (size_t at = begins_with_cfa; at < count - is_value;) {
        bool jumps;
        if (!decode(&ops[at], state, &operation) || !lg__expression_operate(&machine, &operation, &jumps))
            return false;
        if (!jumps)
            at++;
        else if (!jump(ops, count, &at))
            return false;
    }
    *ret_location = (struct location){ lg__expression_pop(&machine), is_value };
    return !machine.bad;
}
