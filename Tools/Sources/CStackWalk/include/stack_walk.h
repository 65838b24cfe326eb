/* Walks a stack away from its process: over registers and stack bytes of a record, with the unwind
 * tables of files. Says what debug information has of the functions on it. */
#ifndef STACK_WALK_H
#define STACK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_WALK_REGISTERS 33
#define STACK_WALK_FRAMES 512

/* A loaded module. */
struct stack_walk_module {
    uint64_t start, end; /* the addresses that it covers */
    uint64_t bias;       /* address in the process minus address in the file */
};

/* Bytes of the process. */
struct stack_walk_memory {
    uint64_t start, size;
    const uint8_t *bytes;
};

/* The values of a thread, each by its number in DWARF for its processor. */
struct stack_walk_registers {
    uint64_t values[STACK_WALK_REGISTERS];
    uint64_t pc;
    bool is_aarch64;
    bool is_pc_wild; /* a call through a bad pointer led to pc */
};

struct stack_walk_frame {
    uint64_t pc;
    uint64_t function; /* of an assumed step: what the next frame called; 0: not known */
    bool is_exact;   /* pc is the next instruction to run, not a return address */
    bool is_signal;  /* the kernel's call of a signal handler */
    bool is_assumed; /* the next frame was found by frame pointer, without a table */
};

enum stack_walk_end {
    STACK_WALK_COMPLETE,
    STACK_WALK_NO_BYTES, /* the next value is in memory that is not stored */
    STACK_WALK_NO_INFO,
    STACK_WALK_CONTRADICTED, /* as that, and the frame pointer is another function's */
    STACK_WALK_LOOP,
    STACK_WALK_LIMIT,
    STACK_WALK_NO_FILE, /* the module at `wanted` was not given */
};

struct stack_walk_result {
    struct stack_walk_frame frames[STACK_WALK_FRAMES];
    uint32_t count;
    bool used_eh_frame, used_debug_frame;
    enum stack_walk_end end;
    uint64_t wanted; /* start of that module */
};

typedef struct stack_walk stack_walk;

/* A walk with no modules yet; NULL: libdw.so.1 cannot be loaded, or there is no memory. */
stack_walk *stack_walk_begin(void);
/* Adds a module with its files, of which each may have unwind tables, code or neither. The strings
 * are copied. */
bool stack_walk_add(stack_walk *walk, const struct stack_walk_module *module, const char *const *files, size_t count);
/* Whether the module that begins there was added. */
bool stack_walk_has(const stack_walk *walk, uint64_t start);
/* Walks one stack. `modules` are all of the process, also those that were not added. Frames are the
 * innermost first. */
void stack_walk_thread(stack_walk *walk, const struct stack_walk_module *modules, size_t module_count,
                       const struct stack_walk_memory *memory, size_t memory_count, const struct stack_walk_registers *registers,
                       struct stack_walk_result *ret_result);
/* Whether a function sets up a frame pointer, as far as its first instructions can be read. */
bool stack_walk_has_frame(const stack_walk *walk, uint64_t function, bool is_aarch64);
void stack_walk_end(stack_walk *walk);

/* The functions at an address of a file, the innermost inlined one first. */
struct stack_walk_functions {
    uint32_t count;    /* 0: not known */
    uint32_t noreturn; /* bits, the lowest for the first: its source says that it never returns */
};
/* Looks for them in a file's debug information; false: libdw.so.1 or the file cannot be read. */
bool stack_walk_find_functions(const char *path, const uint64_t *addresses, size_t count, struct stack_walk_functions *ret_functions);

#endif
