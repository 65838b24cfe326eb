#ifndef STACK_WALK_INTERNAL_H
#define STACK_WALK_INTERNAL_H

#include "libdw.h"
#include "stack_walk.h"

/* ---- module_file.c: a file of a module ---- */

#define SEGMENTS_MAX 16

struct module_file {
    int descriptor;
    void *elf, *dwarf;
    void *eh_frame, *debug_frame; /* NULL: it has none */
    bool has_code;                /* and not only what a separate debug file keeps */
    uint16_t machine;
    struct segment {
        uint64_t address, offset, size; /* in the file */
        bool is_code, is_constant;
    } segments[SEGMENTS_MAX];
    uint32_t segment_count;
};

bool module_file_open(struct module_file *ret_file, const char *path);
void module_file_close(struct module_file *file);
/* Read constant bytes at an address of the file. */
bool module_file_read(const struct module_file *file, uint64_t address, void *to, size_t size);
bool module_file_is_code(const struct module_file *file, uint64_t address);

/* ---- walk ---- */

struct module {
    struct stack_walk_module place;
    struct module_file *files;
    size_t count;
};

struct stack_walk {
    struct module *modules;
    size_t count;
    /* of the walk under way */
    const struct stack_walk_memory *memory;
    size_t memory_count;
    uint32_t return_column, sp_column, fp_column;
    bool is_aarch64;
};

struct state {
    uint64_t values[STACK_WALK_REGISTERS];
    bool is_known[STACK_WALK_REGISTERS];
    uint64_t pc;
};

/* Bytes of the process. */
bool stack_walk_read(const struct stack_walk *walk, void *to, uint64_t at, size_t size);
bool stack_walk_word(const struct stack_walk *walk, uint64_t at, uint64_t *ret_word);
const struct module *stack_walk_module_at(const struct stack_walk *walk, uint64_t pc);

/* ---- expression.c ---- */

/* Where a value is, or the value itself. `cfa` NULL: it is what is computed. */
struct location {
    uint64_t value;
    bool is_value;
};
bool expression_evaluate(const struct stack_walk *walk, const libdw_op *ops, size_t count, const struct state *state, const uint64_t *cfa,
                         struct location *ret_location);

/* ---- call.c ---- */

/* Whether a call can return to an address: it is in code, after a call. `ret_target`: the function
 * that was called, 0: not known. */
bool call_returns_to(const struct stack_walk *walk, uint64_t pc, uint64_t *ret_target);

#endif
