/* DWARF expressions in memory: in unwind tables they stand where a rule is not "saved at an
 * offset", that is in signal frames and in the entries of the procedure linkage table. */
#include "walk/cfi.h"
#include "walk/dwarf.h"
#include "walk/expression.h"

#define BYTES_MAX 256u /* of one expression */

struct code {
    uint8_t bytes[BYTES_MAX];
    size_t size, at;
    bool bad;
};

static uint64_t fixed(struct code *code, size_t size)
{
    uint64_t value = 0;
    if (code->size - code->at < size) {
        code->bad = true;
        return 0;
    }
    memcpy(&value, code->bytes + code->at, size);
    code->at += size;
    return value;
}

static uint64_t leb(struct code *code, bool is_signed)
{
    uint64_t value = 0;
    unsigned bits = 0;
    uint8_t last;
    do {
        last = (uint8_t)fixed(code, 1);
        if (bits < 64)
            value |= (uint64_t)(last & 0x7f) << bits;
        bits += 7;
    } while (last & 0x80);
    if (is_signed && last & 0x40 && bits < 64)
        value |= ~UINT64_C(0) << bits;
    return value;
}

static bool load(struct code *code, uint64_t expression)
{
    /* The length first: few bytes, so that nothing after the expression need be readable. */
    uint8_t last = 0x80;
    size_t size = 0;
    for (unsigned bits = 0; last & 0x80; bits += 7) {
        if (bits > 14 || lg__memory_read(&last, expression++, 1) != 1)
            return false;
        size |= (size_t)(last & 0x7f) << bits;
    }
    code->size = size;
    code->at = 0;
    code->bad = false;
    return size <= BYTES_MAX && lg__memory_read(code->bytes, expression, size) == size;
}

static uint64_t of_register(struct code *code, uint64_t number, const uint64_t *registers)
{
    if (number >= LG__CFI_COLUMNS) {
        code->bad = true;
        return 0;
    }
    return registers[number];
}

static struct lg__operation constant(uint64_t value)
{
    return (struct lg__operation){ DW_OP_const8u, value };
}

static struct lg__operation decode(struct code *code, const uint64_t *registers)
{
    const uint8_t operation = (uint8_t)fixed(code, 1);
    uint64_t value;
    if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31)
        return constant(operation - DW_OP_lit0);
    if (operation >= DW_OP_reg0 && operation <= DW_OP_reg31)
        return constant(of_register(code, operation - DW_OP_reg0, registers));
    if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
        return constant(of_register(code, operation - DW_OP_breg0, registers) + leb(code, true));
    switch (operation) {
    case DW_OP_const1u: return constant(fixed(code, 1));
    case DW_OP_const1s: return constant((uint64_t)(int64_t)(int8_t)fixed(code, 1));
    case DW_OP_const2u: return constant(fixed(code, 2));
    case DW_OP_const2s: return constant((uint64_t)(int64_t)(int16_t)fixed(code, 2));
    case DW_OP_const4u: return constant(fixed(code, 4));
    case DW_OP_const4s: return constant((uint64_t)(int64_t)(int32_t)fixed(code, 4));
    case DW_OP_addr:
    case DW_OP_const8u:
    case DW_OP_const8s: return constant(fixed(code, 8));
    case DW_OP_constu: return constant(leb(code, false));
    case DW_OP_consts: return constant(leb(code, true));
    case DW_OP_regx: return constant(of_register(code, leb(code, false), registers));
    case DW_OP_bregx: value = of_register(code, leb(code, false), registers); return constant(value + leb(code, true));
    case DW_OP_plus_uconst: return (struct lg__operation){ operation, leb(code, false) };
    case DW_OP_pick:
    case DW_OP_deref_size: return (struct lg__operation){ operation, fixed(code, 1) };
    case DW_OP_bra:
    case DW_OP_skip: return (struct lg__operation){ operation, (uint64_t)(int64_t)(int16_t)fixed(code, 2) };
    default: return (struct lg__operation){ operation, 0 };
    }
}

static bool jump(struct code *code, uint64_t distance)
{
    code->at += (size_t)distance;
    return code->at <= code->size;
}

static bool read_memory(const void *memory, void *to, uint64_t from, size_t size)
{
    (void)memory;
    return lg__memory_read(to, from, size) == size;
}

bool lg__expression_evaluate(uint64_t expression, uint64_t initial, const uint64_t registers[LG__REGISTERS_MAX], uint64_t *ret_value)
{
    static struct code codes[LG__WALKERS]; /* large */
    struct code *code = &codes[lg__memory_walker];
    struct lg__expression machine = { .stack = { initial }, .depth = 1, .read = read_memory };
    if (!load(code, expression))
        return false;
    while (code->at < code->size) {
        const struct lg__operation operation = decode(code, registers);
        bool jumps;
        if (code->bad || !lg__expression_operate(&machine, &operation, &jumps) || (jumps && !jump(code, operation.operand)))
            return false;
    }
    *ret_value = lg__expression_pop(&machine);
    return !machine.bad;
}
