/* DWARF expressions (DWARF 5, section 2.5): in unwind tables they stand where a rule is not "saved
 * at an offset", that is in signal frames and in the entries of the procedure linkage table. */
#include "walk/cfi.h"
#include "walk/dwarf.h"

#define BYTES_MAX 256u /* of one expression */
#define STEPS_MAX 256u
#define STACK_MAX 16u

struct machine {
    uint64_t stack[STACK_MAX];
    uint32_t depth;
    bool bad;
};

static void push(struct machine *machine, uint64_t value)
{
    if (machine->depth == STACK_MAX)
        machine->bad = true;
    else
        machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine)
{
    if (machine->depth == 0) {
        machine->bad = true;
        return 0;
    }
    return machine->stack[--machine->depth];
}

/* The entry at this distance from the top. */
static uint64_t pick(struct machine *machine, uint64_t below)
{
    if (below >= machine->depth) {
        machine->bad = true;
        return 0;
    }
    return machine->stack[machine->depth - 1 - below];
}

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

static uint64_t dereference(struct machine *machine, size_t size)
{
    uint64_t value = 0;
    if (size > sizeof value || lg__memory_read(&value, pop(machine), size) != size)
        machine->bad = true;
    return value;
}

static uint64_t of_register(struct machine *machine, uint64_t number, const uint64_t *registers)
{
    if (number >= LG__CFI_COLUMNS) {
        machine->bad = true;
        return 0;
    }
    return registers[number];
}

/* Operations on the two topmost entries. */
static void binary(struct machine *machine, uint8_t operation)
{
    uint64_t b = pop(machine), a = pop(machine), value = 0;
    int64_t sb = (int64_t)b, sa = (int64_t)a;
    switch (operation) {
    case DW_OP_and: value = a & b; break;
    case DW_OP_div:
        if (b == 0 || (sb == -1 && sa == INT64_MIN))
            machine->bad = true;
        else
            value = (uint64_t)(sa / sb);
        break;
    case DW_OP_minus: value = a - b; break;
    case DW_OP_mod:
        if (b == 0)
            machine->bad = true;
        else
            value = a % b;
        break;
    case DW_OP_mul: value = a * b; break;
    case DW_OP_or: value = a | b; break;
    case DW_OP_plus: value = a + b; break;
    case DW_OP_shl: value = b < 64 ? a << b : 0; break;
    case DW_OP_shr: value = b < 64 ? a >> b : 0; break;
    case DW_OP_shra: value = (uint64_t)(sa >> (b < 64 ? b : 63)); break;
    case DW_OP_xor: value = a ^ b; break;
    case DW_OP_eq: value = a == b; break;
    case DW_OP_ge: value = sa >= sb; break;
    case DW_OP_gt: value = sa > sb; break;
    case DW_OP_le: value = sa <= sb; break;
    case DW_OP_lt: value = sa < sb; break;
    case DW_OP_ne: value = a != b; break;
    default: machine->bad = true; break;
    }
    push(machine, value);
}

static void jump(struct code *code, bool taken)
{
    int64_t to = (int16_t)fixed(code, 2);
    to += (int64_t)code->at;
    if (!taken)
        return;
    if (to < 0 || (uint64_t)to > code->size)
        code->bad = true;
    else
        code->at = (size_t)to;
}

static void operate(struct machine *machine, struct code *code, const uint64_t *registers)
{
    uint64_t a, b, c;
    uint8_t operation = (uint8_t)fixed(code, 1);
    if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31) {
        push(machine, operation - DW_OP_lit0);
        return;
    }
    if (operation >= DW_OP_reg0 && operation <= DW_OP_reg31) {
        push(machine, of_register(machine, operation - DW_OP_reg0, registers));
        return;
    }
    if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31) {
        push(machine, of_register(machine, operation - DW_OP_breg0, registers) + leb(code, true));
        return;
    }
    switch (operation) {
    case DW_OP_addr: push(machine, fixed(code, 8)); break;
    case DW_OP_deref: push(machine, dereference(machine, 8)); break;

    case DW_OP_const1u: push(machine, fixed(code, 1)); break;
    case DW_OP_const1s: push(machine, (uint64_t)(int64_t)(int8_t)fixed(code, 1)); break;
    case DW_OP_const2u: push(machine, fixed(code, 2)); break;
    case DW_OP_const2s: push(machine, (uint64_t)(int64_t)(int16_t)fixed(code, 2)); break;
    case DW_OP_const4u: push(machine, fixed(code, 4)); break;
    case DW_OP_const4s: push(machine, (uint64_t)(int64_t)(int32_t)fixed(code, 4)); break;
    case DW_OP_const8u: case DW_OP_const8s: push(machine, fixed(code, 8)); break;
    case DW_OP_constu: push(machine, leb(code, false)); break;
    case DW_OP_consts: push(machine, leb(code, true)); break;
    case DW_OP_dup: push(machine, pick(machine, 0)); break;
    case DW_OP_drop: pop(machine); break;
    case DW_OP_over: push(machine, pick(machine, 1)); break;
    case DW_OP_pick: push(machine, pick(machine, fixed(code, 1))); break;
    case DW_OP_swap:
        a = pop(machine), b = pop(machine);
        push(machine, a), push(machine, b);
        break;
    case DW_OP_rot:
        a = pop(machine), b = pop(machine), c = pop(machine);
        push(machine, a), push(machine, c), push(machine, b);
        break;
    case DW_OP_abs:
        a = pop(machine);
        push(machine, (int64_t)a < 0 ? 0 - a : a);
        break;
    case DW_OP_neg: push(machine, 0 - pop(machine)); break;
    case DW_OP_not: push(machine, ~pop(machine)); break;
    case DW_OP_plus_uconst: push(machine, pop(machine) + leb(code, false)); break;
    case DW_OP_bra: jump(code, pop(machine) != 0); break;
    case DW_OP_skip: jump(code, true); break;
    case DW_OP_regx: push(machine, of_register(machine, leb(code, false), registers)); break;
    case DW_OP_bregx:
        a = of_register(machine, leb(code, false), registers);
        push(machine, a + leb(code, true));
        break;
    case DW_OP_deref_size: push(machine, dereference(machine, (size_t)fixed(code, 1))); break;
    case DW_OP_nop: break;
    default: binary(machine, operation); break;
    }
}

bool lg__expression_evaluate(uint64_t expression, uint64_t initial, const uint64_t registers[LG__REGISTERS_MAX], uint64_t *ret_value)
{
    static struct code codes[LG__WALKERS]; /* large */
    struct code *code = &codes[lg__memory_walker];
    struct machine machine = { .depth = 0 };
    if (!load(code, expression))
        return false;
    push(&machine, initial);
    for (unsigned steps = 0; code->at < code->size; steps++) {
        if (steps == STEPS_MAX)
            return false;
        operate(&machine, code, registers);
        if (machine.bad || code->bad)
            return false;
    }
    *ret_value = pop(&machine);
    return !machine.bad;
}
