/* Expressions of unwind tables. */
#include "internal.h"

#define DEPTH 64u
#define STEPS_MAX 4096u

enum {
    ADDR = 0x03, DEREF = 0x06, CONST_FIRST = 0x08, CONST_LAST = 0x11, DUP = 0x12, DROP, OVER, PICK, SWAP, ROT, ABS = 0x19, AND, DIV, MINUS, MOD,
    MUL, NEG, NOT, OR, PLUS, PLUS_UCONST, SHL, SHR, SHRA, XOR, BRA, EQ, GE, GT, LE, LT, NE, SKIP, LIT_FIRST = 0x30, LIT_LAST = 0x4f,
    REG_FIRST = 0x50, REG_LAST = 0x6f, BREG_FIRST = 0x70, BREG_LAST = 0x8f, REGX = 0x90, BREGX = 0x92, DEREF_SIZE = 0x94, NOP = 0x96,
    CALL_FRAME_CFA = 0x9c, STACK_VALUE = 0x9f,
};

static bool get(const struct state *state, uint64_t number, uint64_t *ret_value)
{
    if (number >= STACK_WALK_REGISTERS || !state->is_known[number])
        return false;
    *ret_value = state->values[number];
    return true;
}

/* Two operands, `a` the lower one. */
static bool two(uint8_t atom, uint64_t a, uint64_t b, uint64_t *ret)
{
    const int64_t x = (int64_t)a, y = (int64_t)b;
    switch (atom) {
    case AND: *ret = a & b; return true;
    case DIV: *ret = y == 0 ? 0 : y == -1 ? 0 - a : (uint64_t)(x / y); return y != 0;
    case MINUS: *ret = a - b; return true;
    case MOD: *ret = b ? a % b : 0; return b != 0;
    case MUL: *ret = a * b; return true;
    case OR: *ret = a | b; return true;
    case PLUS: *ret = a + b; return true;
    case SHL: *ret = b < 64 ? a << b : 0; return true;
    case SHR: *ret = b < 64 ? a >> b : 0; return true;
    case SHRA: *ret = (uint64_t)(x >> (b < 64 ? b : 63)); return true;
    case XOR: *ret = a ^ b; return true;
    case EQ: *ret = x == y; return true;
    case GE: *ret = x >= y; return true;
    case GT: *ret = x > y; return true;
    case LE: *ret = x <= y; return true;
    case LT: *ret = x < y; return true;
    case NE: *ret = x != y; return true;
    default: return false;
    }
}

static bool one(const struct stack_walk *walk, const libdw_op *op, uint64_t *value)
{
    switch (op->atom) {
    case DEREF: return stack_walk_word(walk, *value, value);
    case DEREF_SIZE:
        if (op->number != 1 && op->number != 2 && op->number != 4 && op->number != 8)
            return false;
        if (!stack_walk_word(walk, *value, value))
            return false;
        if (op->number < 8)
            *value &= (UINT64_C(1) << 8 * op->number) - 1;
        return true;
    case ABS: *value = (int64_t)*value < 0 ? 0 - *value : *value; return true;
    case NEG: *value = 0 - *value; return true;
    case NOT: *value = ~*value; return true;
    case PLUS_UCONST: *value += op->number; return true;
    default: return false;
    }
}

/* The operation to which one jumps; `count`: the end. false: none begins there. */
static bool jump(const libdw_op *ops, size_t count, size_t from, size_t *ret_to)
{
    /* an operation of three bytes; the distance is from its end */
    const uint64_t to = ops[from].offset + 3 + (uint64_t)(int64_t)(int16_t)ops[from].number;
    for (*ret_to = 0; *ret_to < count; ++*ret_to)
        if (ops[*ret_to].offset == to)
            return true;
    return false;
}

bool expression_evaluate(const struct stack_walk *walk, const libdw_op *ops, size_t count, const struct state *state, const uint64_t *cfa,
                         struct location *ret_location)
{
    uint64_t stack[DEPTH];
    size_t depth = 0, at = 0;
    bool is_value = false;
    for (unsigned steps = 0; at < count; at++) {
        const libdw_op *op = &ops[at];
        uint64_t value = 0;
        if (++steps > STEPS_MAX || is_value)
            return false;
        if (op->atom == ADDR || (op->atom >= CONST_FIRST && op->atom <= CONST_LAST)) {
            value = op->number;
        } else if (op->atom >= LIT_FIRST && op->atom <= LIT_LAST) {
            value = (uint64_t)op->atom - LIT_FIRST;
        } else if (op->atom >= BREG_FIRST && op->atom <= BREG_LAST) {
            if (!get(state, (uint64_t)op->atom - BREG_FIRST, &value))
                return false;
            value += op->number;
        } else if (op->atom == BREGX) {
            if (!get(state, op->number, &value))
                return false;
            value += op->number2;
        } else if (op->atom == REGX || (op->atom >= REG_FIRST && op->atom <= REG_LAST)) {
            /* in a register: no address */
            if (!get(state, op->atom == REGX ? op->number : (uint64_t)op->atom - REG_FIRST, &value) || count != 1)
                return false;
            is_value = true;
        } else if (op->atom == CALL_FRAME_CFA) {
            if (!cfa)
                return false;
            value = *cfa;
        } else if (op->atom == DUP || op->atom == OVER || op->atom == PICK) {
            const uint64_t below = op->atom == DUP ? 0 : op->atom == OVER ? 1 : op->number;
            if (below >= depth)
                return false;
            value = stack[depth - 1 - below];
        } else if (op->atom == DROP || op->atom == SWAP || op->atom == ROT) {
            const size_t needed = op->atom == DROP ? 1 : op->atom == SWAP ? 2 : 3;
            if (depth < needed)
                return false;
            const uint64_t top = stack[depth - 1];
            for (size_t i = 1; i < needed; i++)
                stack[depth - i] = stack[depth - i - 1];
            if (needed == 1)
                depth--;
            else
                stack[depth - needed] = top;
            continue;
        } else if (op->atom == SKIP || op->atom == BRA) {
            if (op->atom == BRA && depth == 0)
                return false;
            if (op->atom == BRA && stack[--depth] == 0)
                continue;
            if (!jump(ops, count, at, &at))
                return false;
            at--;
            continue;
        } else if (op->atom == STACK_VALUE) {
            is_value = true;
            continue;
        } else if (op->atom == NOP) {
            continue;
        } else if (depth >= 2 && two(op->atom, stack[depth - 2], stack[depth - 1], &value)) {
            stack[--depth - 1] = value;
            continue;
        } else if (depth >= 1 && one(walk, op, &stack[depth - 1])) {
            continue;
        } else {
            return false;
        }
        if (depth == DEPTH)
            return false;
        stack[depth++] = value;
    }
    if (depth == 0)
        return false;
    *ret_location = (struct location){ stack[depth - 1], is_value };
    return true;
}
