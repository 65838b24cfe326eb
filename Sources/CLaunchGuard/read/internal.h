/* Layer 2: the post-mortem reader. It shares the layouts in store/format.h with the writers, and nothing else; it never sees
 * the handler. Shared by the files of read/ and by launch/evidence.c. */
#ifndef LG_READ_INTERNAL_H
#define LG_READ_INTERNAL_H

#include <stdbool.h>

#include "launchguard/reader.h"
#include "os/os.h"
#include "store/format.h"

struct lg_reader {
    int file;
    uint64_t file_size; /* when opened; it may shrink or grow meanwhile */
    lg_file_kind kind;
    struct lg__header header; /* a checked copy */

    uint8_t *log; /* snapshot of the ring section */
    struct lg__log_item {
        uint64_t time_ns;
        uint64_t sequence;
        uint32_t lane;
        uint64_t at; /* of the entry's first cell, from the start of the lane's cells */
    } *log_index;
    uint64_t log_count;
};

/* Copy bytes of the file; false if it has not that many. */
bool lg__reader_bytes(const lg_reader *reader, uint64_t offset, void *to, size_t size);
/* A section whose bounds lie within the file. */
bool lg__reader_section(const lg_reader *reader, uint32_t kind, struct lg__section *ret_section);
/* Copy a block of a section. */
bool lg__reader_block(const lg_reader *reader, uint32_t kind, uint64_t at, void *to, size_t size);
/* Copy a string from an array that may lack its NUL. */
void lg__reader_text(char *to, size_t to_size, const char *from, size_t from_size);
/* Lower-case hex with NUL. */
void lg__reader_hex(char *to, const uint8_t *bytes, size_t size);

/* Identity, checked. */
lg_status lg__reader_identity(const lg_reader *reader, struct lg__identity *ret_identity);
/* One stage of the record, checked; `size` is the capacity of `to`, the rest of it is zeroed. Adds to *ret_size the committed bytes. */
lg_status lg__reader_stage(const lg_reader *reader, unsigned stage, void *to, size_t size, size_t *ret_size);
/* The newest whole book of a ledger; bit i of *ret_valid: slot i is whole. */
lg_status lg__reader_book(const lg_reader *reader, struct lg__slot *ret_slot, uint32_t *ret_valid);

#endif
