/* Functions by the symbol table of a module's file. The file may be anything: it is read piece by
 * piece with bounds, and never mapped. */
#ifndef AGENT_ELF_SYMBOLS_H
#define AGENT_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbol {
    uint64_t address; /* in the file's own numbers: what is looked up */
    uint64_t start;   /* of the function */
    char *name;       /* as the linker knows it, of malloc(); NULL: not found */
    uint32_t string;  /* place of the name, while it is looked up */
    uint32_t rank;
};

/* Look these addresses up, which are in order, in the file at `path` if it has this build id, in
 * hexadecimal digits. `budget`: bytes that may still be read of tables. */
void elf_symbols_find(const char *path, const char *build_id, struct elf_symbol *symbols, size_t count, uint64_t *budget);

#endif
