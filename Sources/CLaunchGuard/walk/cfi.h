/* Call frame information: the rules of .eh_frame for one place in the code (DWARF 5, section 6.4;
 * LSB core, section 10.6). */
#ifndef LG_WALK_CFI_H
#define LG_WALK_CFI_H

#include "walk/walk.h"

/* Integer registers, stack pointer, return address: the same numbers as in lg__arch_registers(). */
#define LG__CFI_COLUMNS 33u

enum lg__cfi_how {
    LG__CFI_SAME,
    LG__CFI_UNDEFINED,
    LG__CFI_AT_OFFSET,     /* saved at CFA + value */
    LG__CFI_IS_OFFSET,     /* is CFA + value */
    LG__CFI_REGISTER,      /* is in the register `value` */
    LG__CFI_AT_EXPRESSION, /* saved at the address that the expression at `value` gives */
    LG__CFI_IS_EXPRESSION  /* is the result of the expression at `value` */
};

struct lg__cfi_rule {
    int64_t value;
    uint8_t column;
    uint8_t how; /* enum lg__cfi_how; SAME is not listed */
};

struct lg__cfi_row {
    int64_t cfa_value;    /* offset to cfa_register, or address of an expression */
    uint8_t cfa_how;      /* LG__CFI_REGISTER or LG__CFI_IS_EXPRESSION */
    uint8_t cfa_register;
    uint8_t return_column;
    uint8_t signal_frame; /* the caller was interrupted, not at a call */
    struct lg__function function; /* the one that holds the address */
    uint32_t count;
    struct lg__cfi_rule rules[LG__CFI_COLUMNS];
};

/* The row for an address inside a module. false: the module has none for the address, or none that
 * makes sense. Reads the module's own tables with plain loads that stay inside the segment of the
 * tables: call the function where a fault is recovered. One walk at a time. */
bool lg__cfi_find(const struct lg__module_range *module, uint64_t address, struct lg__cfi_row *ret_row);

/* Value of an expression, which begins with its length; `initial` is the first entry on its stack.
 * false: the expression cannot be read, or not be understood. */
bool lg__expression_evaluate(uint64_t expression, uint64_t initial, const uint64_t registers[LG__REGISTERS_MAX], uint64_t *ret_value);

#endif
