/* From an address to the row of its call frame information.
 *
 * Trusts nothing in the tables: every read stays inside the segment that holds them, every count
 * has a bound. */
#include "walk/cfi.h"

#include "walk/dwarf.h"

#define STATES_MAX 8 /* of DW_CFA_remember_state, one in the other */

/* Bytes left to read. After a read beyond the end `bad` is set, and all reads give 0. */
struct input {
    const uint8_t *at, *end;
    bool bad;
};

struct state {
    int64_t cfa_value;
    uint8_t cfa_how, cfa_register;
    uint8_t how[LG__CFI_COLUMNS];
    int64_t value[LG__CFI_COLUMNS];
};

struct cie {
    uint64_t code_align;
    int64_t data_align;
    struct input program;
    uint8_t return_column;
    uint8_t pointers; /* DW_EH_PE_* of addresses in its FDEs */
    bool augmented, signal_frame;
};

/* Too large for small alternate stacks. */
static struct states {
    struct state now, initial, remembered[STATES_MAX];
} all_states[LG__WALKERS];

/* ---- reading ---- */

static uint64_t fixed(struct input *in, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(in->end - in->at) < size) {
        in->bad = true;
        in->at = in->end;
        return 0;
    }
    memcpy(&value, in->at, size);
    in->at += size;
    return value;
}

static uint8_t byte(struct input *in)
{
    if (in->at == in->end) {
        in->bad = true;
        return 0;
    }
    return *in->at++;
}

static uint64_t leb(struct input *in, unsigned *ret_bits, uint8_t *ret_last)
{
    uint64_t value = 0;
    unsigned bits = 0;
    uint8_t last;
    do {
        last = byte(in);
        if (bits < 64)
            value |= (uint64_t)(last & 0x7f) << bits;
        bits += 7;
    } while (last & 0x80);
    *ret_bits = bits;
    *ret_last = last;
    return value;
}

static uint64_t uleb(struct input *in)
{
    unsigned bits;
    uint8_t last;
    return leb(in, &bits, &last);
}

static int64_t sleb(struct input *in)
{
    unsigned bits;
    uint8_t last;
    uint64_t value = leb(in, &bits, &last);
    if (last & 0x40 && bits < 64)
        value |= ~UINT64_C(0) << bits;
    return (int64_t)value;
}

static void skip(struct input *in, uint64_t size)
{
    if (size > (size_t)(in->end - in->at)) {
        in->bad = true;
        size = (size_t)(in->end - in->at);
    }
    in->at += size;
}

/* A pointer in one of the encodings of LSB core, table 10-8 and 10-9. */
static uint64_t pointer(struct input *in, uint8_t encoding, uint64_t header)
{
    uint64_t from = (uint64_t)(uintptr_t)in->at, value;
    switch (encoding & DW_EH_PE_format) {
    case DW_EH_PE_absptr: case DW_EH_PE_udata8: case DW_EH_PE_sdata8: value = fixed(in, 8); break;
    case DW_EH_PE_uleb128: value = uleb(in); break;
    case DW_EH_PE_udata2: value = fixed(in, 2); break;
    case DW_EH_PE_udata4: value = fixed(in, 4); break;
    case DW_EH_PE_sleb128: value = (uint64_t)sleb(in); break;
    case DW_EH_PE_sdata2: value = (uint64_t)(int64_t)(int16_t)fixed(in, 2); break;
    case DW_EH_PE_sdata4: value = (uint64_t)(int64_t)(int32_t)fixed(in, 4); break;
    default: in->bad = true; return 0;
    }
    switch (encoding & DW_EH_PE_base) {
    case DW_EH_PE_absptr: return value;
    case DW_EH_PE_pcrel: return value + from;
    case DW_EH_PE_datarel: return value + header;
    default: in->bad = true; return 0;
    }
}

/* The entry (a CIE or an FDE) at an address: its bytes after the length. */
static bool entry_at(const struct lg__module_range *module, uint64_t address, struct input *ret_in)
{
    if (address < module->tables_start || address >= module->tables_end)
        return false;
    struct input in = { (const uint8_t *)(uintptr_t)address, (const uint8_t *)(uintptr_t)module->tables_end, false };
    uint64_t length = fixed(&in, 4);
    if (length == UINT32_MAX)
        length = fixed(&in, 8);
    if (in.bad || length == 0 || length > (size_t)(in.end - in.at))
        return false;
    in.end = in.at + length;
    *ret_in = in;
    return true;
}

/* ---- entries ---- */

static bool read_cie(const struct lg__module_range *module, uint64_t address, struct cie *ret_cie)
{
    struct input in;
    struct cie cie = { .pointers = 0 };
    if (!entry_at(module, address, &in) || fixed(&in, 4) != 0)
        return false;
    uint8_t version = byte(&in);
    const uint8_t *letters = in.at;
    while (byte(&in)) {} /* to the NUL */
    if (in.bad || (version != 1 && version != 3 && version != 4))
        return false;
    if (version == 4)
        skip(&in, 2); /* sizes of addresses and segments */
    cie.code_align = uleb(&in);
    cie.data_align = sleb(&in);
    uint64_t column = version == 1 ? byte(&in) : uleb(&in);
    if (column >= LG__CFI_COLUMNS)
        return false;
    cie.return_column = (uint8_t)column;
    if (*letters == 'z') {
        uint64_t size = uleb(&in);
        const uint8_t *program = in.at;
        if (size > (size_t)(in.end - in.at))
            return false;
        program += size;
        cie.augmented = true;
        for (letters++; *letters; letters++) {
            if (*letters == 'R') {
                cie.pointers = byte(&in);
            } else if (*letters == 'P') {
                uint8_t encoding = byte(&in);
                pointer(&in, encoding & 0x7f, 0);
            } else if (*letters == 'L') {
                byte(&in);
            } else if (*letters == 'S') {
                cie.signal_frame = true;
            } else if (*letters != 'B' && *letters != 'G') {
                /* AArch64: the key that signs; tagged memory */
                break; /* the rest is unknown, but its length is known */
            }
        }
        in.at = program;
    } else if (*letters) {
        return false;
    }
    cie.program = in;
    *ret_cie = cie;
    return !in.bad;
}

/* The search table: sorted pairs (first address, entry), both relative to its header. */
static uint64_t find_entry(const struct lg__module_range *module, uint64_t address)
{
    const uint8_t *table = (const uint8_t *)(uintptr_t)module->table;
    int64_t wanted = (int64_t)(address - module->frame_header);
    uint64_t low = 0, high = module->table_count;
    int32_t pair[2];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        memcpy(pair, table + middle * sizeof pair, sizeof pair[0]);
        if (wanted < pair[0])
            high = middle;
        else
            low = middle + 1;
    }
    if (low == 0)
        return 0;
    memcpy(pair, table + (low - 1) * sizeof pair, sizeof pair);
    return module->frame_header + (uint64_t)(int64_t)pair[1];
}

/* ---- the program ---- */

static void set(struct states *states, uint64_t column, enum lg__cfi_how how, int64_t value)
{
    if (column >= LG__CFI_COLUMNS)
        return; /* vector and state registers: never a stack pointer */
    states->now.how[column] = (uint8_t)how;
    states->now.value[column] = value;
}

static void set_cfa_register(struct states *states, struct input *in, uint64_t column)
{
    states->now.cfa_how = LG__CFI_REGISTER;
    states->now.cfa_register = (uint8_t)column;
    if (column >= LG__CFI_COLUMNS)
        in->bad = true;
}

/* Run a program until it has passed `address`; the program starts at `location`. */
static bool run(struct states *states, const struct cie *cie, struct input in, uint64_t header, uint64_t location, uint64_t address)
{
    unsigned depth = 0;
    uint64_t column;
    while (in.at < in.end && !in.bad) {
        uint8_t code = byte(&in);
        uint64_t low = code & 0x3f;
        switch (code & 0xc0) {
        case DW_CFA_advance_loc: location += low * cie->code_align; goto advanced;
        case DW_CFA_offset: set(states, low, LG__CFI_AT_OFFSET, (int64_t)uleb(&in) * cie->data_align); continue;
        case DW_CFA_restore:
            if (low < LG__CFI_COLUMNS)
                set(states, low, states->initial.how[low], states->initial.value[low]);
            continue;
        }
        switch (code) {
        case DW_CFA_nop: continue;
        case DW_CFA_set_loc: location = pointer(&in, cie->pointers, header); break;
        case DW_CFA_advance_loc1: location += byte(&in) * cie->code_align; break;
        case DW_CFA_advance_loc2: location += fixed(&in, 2) * cie->code_align; break;
        case DW_CFA_advance_loc4: location += fixed(&in, 4) * cie->code_align; break;

        case DW_CFA_offset_extended: column = uleb(&in); set(states, column, LG__CFI_AT_OFFSET, (int64_t)uleb(&in) * cie->data_align); continue;
        case DW_CFA_restore_extended:
            column = uleb(&in);
            if (column < LG__CFI_COLUMNS)
                set(states, column, states->initial.how[column], states->initial.value[column]);
            continue;
        case DW_CFA_undefined: set(states, uleb(&in), LG__CFI_UNDEFINED, 0); continue;
        case DW_CFA_same_value: set(states, uleb(&in), LG__CFI_SAME, 0); continue;
        case DW_CFA_register: column = uleb(&in); set(states, column, LG__CFI_REGISTER, (int64_t)uleb(&in)); continue;
        case DW_CFA_remember_state:
            if (depth == STATES_MAX)
                return false;
            states->remembered[depth++] = states->now;
            continue;
        case DW_CFA_restore_state:
            if (depth == 0)
                return false;
            states->now = states->remembered[--depth];
            continue;

        case DW_CFA_def_cfa: set_cfa_register(states, &in, uleb(&in)); states->now.cfa_value = (int64_t)uleb(&in); continue;
        case DW_CFA_def_cfa_register: set_cfa_register(states, &in, uleb(&in)); continue;
        case DW_CFA_def_cfa_offset: states->now.cfa_value = (int64_t)uleb(&in); continue;
        case DW_CFA_def_cfa_expression:
            states->now.cfa_how = LG__CFI_IS_EXPRESSION;
            states->now.cfa_value = (int64_t)(uintptr_t)in.at;
            skip(&in, uleb(&in));
            continue;
        case DW_CFA_expression:
        case DW_CFA_val_expression:
            column = uleb(&in);
            set(states, column, code == DW_CFA_expression ? LG__CFI_AT_EXPRESSION : LG__CFI_IS_EXPRESSION, (int64_t)(uintptr_t)in.at);
            skip(&in, uleb(&in));
            continue;
        case DW_CFA_offset_extended_sf: column = uleb(&in); set(states, column, LG__CFI_AT_OFFSET, sleb(&in) * cie->data_align); continue;
        case DW_CFA_def_cfa_sf: set_cfa_register(states, &in, uleb(&in)); states->now.cfa_value = sleb(&in) * cie->data_align; continue;
        case DW_CFA_def_cfa_offset_sf: states->now.cfa_value = sleb(&in) * cie->data_align; continue;
        case DW_CFA_val_offset: column = uleb(&in); set(states, column, LG__CFI_IS_OFFSET, (int64_t)uleb(&in) * cie->data_align); continue;
        case DW_CFA_val_offset_sf: column = uleb(&in); set(states, column, LG__CFI_IS_OFFSET, sleb(&in) * cie->data_align); continue;
        /* AArch64: the return address is signed from here on; it is stripped in any case */
        case DW_CFA_AARCH64_negate_ra_state:
            if (lg__arch != LG__ARCH_AARCH64)
                return false;
            continue;
        case DW_CFA_GNU_args_size: uleb(&in); continue;
        case DW_CFA_GNU_negative_offset_extended: column = uleb(&in); set(states, column, LG__CFI_AT_OFFSET, -((int64_t)uleb(&in) * cie->data_align)); continue;
        default: return false;
        }
    advanced:
        if (location > address)
            break;
    }
    return !in.bad;
}

static bool find_row(const struct lg__module_range *module, uint64_t address, struct lg__cfi_row *row)
{
    struct states *states = &all_states[lg__memory_walker];
    struct input in;
    struct cie cie;
    if (!entry_at(module, find_entry(module, address), &in))
        return false;
    uint64_t place = (uint64_t)(uintptr_t)in.at, back = fixed(&in, 4);
    if (back == 0 || !read_cie(module, place - back, &cie))
        return false;
    uint64_t begin = pointer(&in, cie.pointers, module->frame_header);
    uint64_t size = pointer(&in, cie.pointers & DW_EH_PE_format, 0);
    if (in.bad || address < begin || address - begin >= size)
        return false;
    if (cie.augmented)
        skip(&in, uleb(&in));

    memset(&states->now, 0, offsetof(struct state, value));
    memset(&states->initial, 0, offsetof(struct state, value));
    if (!run(states, &cie, cie.program, module->frame_header, begin, UINT64_MAX))
        return false;
    states->initial = states->now;
    if (!run(states, &cie, in, module->frame_header, begin, address))
        return false;

    row->cfa_how = states->now.cfa_how;
    row->cfa_register = states->now.cfa_register;
    row->cfa_value = states->now.cfa_value;
    row->return_column = cie.return_column;
    row->signal_frame = cie.signal_frame;
    row->function = size <= UINT32_MAX ? (struct lg__function){ (uint32_t)(address - begin), (uint32_t)size } : (struct lg__function){ 0, 0 };
    row->count = 0;
    for (uint8_t column = 0; column < LG__CFI_COLUMNS; column++)
        if (states->now.how[column] != LG__CFI_SAME)
            row->rules[row->count++] = (struct lg__cfi_rule){ states->now.value[column], column, states->now.how[column] };
    return row->cfa_how != 0;
}

bool lg__cfi_find(const struct lg__module_range *module, uint64_t address, struct lg__cfi_row *ret_row)
{
    return module->table_count != 0 && find_row(module, address, ret_row);
}
