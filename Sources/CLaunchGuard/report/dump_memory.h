/* The memory of a record in a minidump: stretches in order, of which no two overlap, since readers
 * refuse a list in which two do. */
#ifndef LG_REPORT_DUMP_MEMORY_H
#define LG_REPORT_DUMP_MEMORY_H

#include "report/dump_file.h"
#include "report/part.h"

struct lg__dump_stretch {
    uint64_t start;
    size_t size;
    uint8_t *bytes; /* of malloc() */
    bool is_stack;  /* of the thread */
    int32_t tid;
    struct lg__dump_place place;
};

struct lg__dump_memory {
    struct lg__dump_stretch *list;
    size_t count, room;
    size_t left; /* bytes that may still be taken */
    bool failed; /* no memory */
};

/* Take the stacks of the selected crash, and after all of them what is beside: bytes around the
 * program counter, and those at the stack pointer where no stack has them. A stack for which there
 * is no room any more is left out. */
void lg__dump_memory_stacks(struct lg__dump_memory *memory, lg_reader *reader);
void lg__dump_memory_beside(struct lg__dump_memory *memory, lg_reader *reader, int32_t tid);

/* Order the stacks, before what is beside them. One that begins in another one loses what is there
 * already. */
void lg__dump_memory_part(struct lg__dump_memory *memory);

/* Order all, and blank what must not be in the file: redacted values, and where it leaves the
 * machine arguments, environment and home directories. Where it is not known what is redacted, no
 * memory is left. */
void lg__dump_memory_blank(struct lg__dump_memory *memory, const struct lg__report *report);

/* The stack of a thread: the stretch that holds its stack pointer, or else its first one; NULL: it
 * has none. */
const struct lg__dump_stretch *lg__dump_memory_stack(const struct lg__dump_memory *memory, int32_t tid, uint64_t sp);

/* Append the bytes, and the list of them. */
void lg__dump_memory_append(struct lg__dump_memory *memory, struct lg__dump_file *file);
void lg__dump_memory_add(const struct lg__dump_memory *memory, struct lg__dump_file *file);

void lg__dump_memory_free(struct lg__dump_memory *memory);

#endif
