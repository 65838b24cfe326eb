/* libdw and libelf as far as they are called here. They are loaded when the first walk begins: the
 * tool works without, and needs no headers of theirs. */
#ifndef STACK_WALK_LIBDW_H
#define STACK_WALK_LIBDW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An operation of DWARF expressions. */
typedef struct {
    uint8_t atom;
    uint64_t number, number2, offset;
} libdw_op;

/* An entry of debug information. */
typedef struct {
    void *address, *unit, *abbreviation;
    long padding;
} libdw_die;

extern struct libdw {
    unsigned (*elf_version)(unsigned version);
    void *(*elf_begin)(int file, int command, void *of);
    int (*elf_end)(void *elf);
    void *(*dwarf_begin_elf)(void *elf, int command, void *section_group);
    int (*dwarf_end)(void *dwarf);
    void *(*dwarf_getcfi)(void *dwarf);
    void *(*dwarf_getcfi_elf)(void *elf);
    int (*dwarf_cfi_end)(void *tables);
    int (*dwarf_cfi_addrframe)(void *tables, uint64_t address, void **ret_row);
    int (*dwarf_frame_info)(void *row, uint64_t *ret_start, uint64_t *ret_end, bool *ret_signal);
    int (*dwarf_frame_cfa)(void *row, libdw_op **ret_ops, size_t *ret_count);
    int (*dwarf_nextcu)(void *dwarf, uint64_t offset, uint64_t *ret_next, size_t *ret_header_size, uint64_t *, uint8_t *, uint8_t *);
    void *(*dwarf_offdie)(void *dwarf, uint64_t offset, libdw_die *ret_entry);
    int (*dwarf_haspc)(libdw_die *entry, uint64_t address);
    int (*dwarf_child)(libdw_die *entry, libdw_die *ret_child);
    int (*dwarf_siblingof)(libdw_die *entry, libdw_die *ret_sibling);
    int (*dwarf_tag)(libdw_die *entry);
    int (*dwarf_hasattr_integrate)(libdw_die *entry, unsigned attribute);
    int (*dwarf_frame_register)(void *row, int number, libdw_op memory[3], libdw_op **ret_ops, size_t *ret_count);
} libdw;

/* ELF_C_READ_MMAP would fault if the file is cut meanwhile. */
enum { LIBDW_ELF_READ = 1, LIBDW_DWARF_READ = 0, LIBDW_EV_CURRENT = 1 };
enum {
    LIBDW_TAG_CLASS = 0x02,
    LIBDW_TAG_ENUMERATION = 0x04,
    LIBDW_TAG_STRUCTURE = 0x13,
    LIBDW_TAG_INLINED = 0x1d,
    LIBDW_TAG_MODULE = 0x1e,
    LIBDW_TAG_SUBPROGRAM = 0x2e,
    LIBDW_TAG_NAMESPACE = 0x39,
    LIBDW_AT_NORETURN = 0x87,
};

bool libdw_load(void);

#endif
