/* Layer 2: the post-mortem reader. It shares the layouts in store/format.h and the check of a
 * payload in store/ledger_payload.h with the writers; it never sees the handler. Shared by the
 * files of read/ and examine/. */
#ifndef LG_READ_READER_H
#define LG_READ_READER_H

#include <stdbool.h>

#include "launchguard/reader.h"
#include "os/os.h"
#include "store/format.h"

/* A committed block: its place, and the values of its commit. */
struct lg__reader_commit {
    uint32_t section; /* kind */
    uint64_t at;
    uint32_t capacity, size, crc;
    uint64_t commit;
};

/* The last whole block, if it is no larger: one with the same commit has the same bytes. */
struct lg__reader_memo {
    bool known;
    struct lg__reader_commit commit;
    uint8_t bytes[1024];
};

struct lg_reader {
    int file;
    uint64_t file_size; /* when opened; it may shrink or grow meanwhile */
    lg_file_kind kind;
    struct lg__header header; /* a checked copy */
    /* number and size of the brief records, which were written at creation */
    lg_status briefs;
    uint32_t brief_count, brief_bytes;
    /* the process of the run with this uuid was seen to be gone: a dead process stays dead */
    bool is_gone;
    uint8_t gone[LG__UUID_BYTES];

    uint8_t *log; /* snapshot of the ring section */
    struct lg__log_item {
        uint64_t time_ns;
        uint64_t sequence;
        uint32_t lane;
        int32_t tid;
    } *log_index;
    uint64_t log_count;

    struct lg__reader_memo *memo;     /* of headers, and of all other stages */
    struct lg__module_table *modules; /* the whole table that was read last; NULL: none was */

    struct lg__slot *amended; /* in place of the slot of that generation; NULL: none is */

    /* of the selected crash: LG__PLACE_RECORD, or 1 + the index of a brief record */
    uint32_t place;

    uint32_t chunk_index; /* of the chunk of stack memory at `chunk_at`: to go on from there */
    uint64_t chunk_at;
};

/* A block of the record and the stack memory are read if they are no larger than this: a hostile
 * file may be sparse and claim any size. */
#define LG__STAGE_BYTES_MAX (UINT32_C(1) << 20)
#define LG__STACKS_BYTES_MAX (UINT64_C(64) << 20)
#define LG__SLOTS_MAX UINT32_C(4096)
#define LG__BRIEFS_MAX UINT32_C(64)

/* A block that a living process changes during the copy is copied again, so many times. */
#define LG__READER_TRIES 8

#define LG__PLACE_RECORD UINT32_C(0)

/* The block of the process without the map. */
struct lg__reader_process {
    uint64_t resources[LG__RESOURCES];
    uint32_t map_size, map_cut, stacks, stacks_cut;
    uint8_t reserved[16];
};
static_assert(sizeof(struct lg__reader_process) == offsetof(struct lg__crash_process, map), "the part before the map");

/* Copy bytes of the file; false if it has not that many. */
bool lg__reader_bytes(const lg_reader *reader, uint64_t offset, void *to, size_t size);
/* A section whose bounds lie within the file. */
bool lg__reader_section(const lg_reader *reader, uint32_t kind, struct lg__section *ret_section);
/* Copy a block of a section. */
bool lg__reader_block(const lg_reader *reader, uint32_t kind, uint64_t at, void *to, size_t size);
/* The same of a small block, at most LG__STABLE_BYTES, which a living process may be changing: two
 * copies one after the other are equal. Where they never are, the last one counts. */
#define LG__STABLE_BYTES 1280u
bool lg__reader_stable(const lg_reader *reader, uint32_t kind, uint64_t at, void *to, size_t size);
/* Copy the head of a section of places, which begins with their number and the bytes of each.
 * false: they do not lie within the section, or have fewer bytes than `least`, or are more than
 * `most`. */
bool lg__reader_places(const lg_reader *reader, uint32_t kind, void *ret_head, size_t head_size, size_t least, uint32_t most);
/* Copy a string from an array that may lack its NUL. */
void lg__reader_text(char *to, size_t to_size, const char *from, size_t from_size);
/* Lower-case hex with NUL. */
void lg__reader_hex(char *to, const uint8_t *bytes, size_t size);

/* True while the process of the run lives; after false it stays false for this reader. Ask before
 * the read of anything that the process may still change. */
bool lg__reader_alive(lg_reader *reader);
/* Identity, checked. */
lg_status lg__reader_identity(const lg_reader *reader, struct lg__identity *ret_identity);
/* The modules that a context of the run owns, checked; the bytes after the end of the list become
 * zero. LG_ERR_DAMAGED: out of bounds, or the list has no end. A caller that asks for the context
 * does not see it. */
lg_status lg__reader_owner(const lg_reader *reader, uint32_t index, struct lg__owner *ret_owner);
/* One stage of the selected crash, checked; `size` is the capacity of `to`, the rest of it is
 * zeroed. Stores the committed bytes. LG_ERR_INCOMPLETE: not committed; LG_ERR_NOT_FOUND: not
 * committed, and the file has no room for it. */
lg_status lg__reader_stage(const lg_reader *reader, unsigned stage, void *to, size_t size, size_t *ret_size);
/* The same in two parts: the first bytes of the block, and those after them. Not the whole block
 * is ever in memory. */
lg_status lg__reader_stage_parts(const lg_reader *reader, unsigned stage, void *head, size_t head_size, void *rest, size_t rest_size,
                                 size_t *ret_size);
/* The same of the crash in a place. */
lg_status lg__reader_stage_at(const lg_reader *reader, uint32_t place, unsigned stage, void *to, size_t size, size_t *ret_size);
/* The head of the full record: LG_OK, LG_ERR_STATE, LG_ERR_DAMAGED. */
lg_status lg__reader_record(const lg_reader *reader, struct lg__record *ret_record);
/* LG_OK if there is a crash record, also with a damaged header; LG_ERR_NOT_FOUND; LG_ERR_STATE. */
lg_status lg__reader_crashed(const lg_reader *reader);
/* The same, and LG_ERR_NOT_FOUND where the selected crash is in a brief record. */
lg_status lg__reader_recorded(const lg_reader *reader);

/* Number and size of the places for brief records, read when the file is opened.
 * LG_ERR_NOT_FOUND: the file had no space for them; LG_ERR_DAMAGED. */
void lg__reader_briefs_open(lg_reader *reader);
lg_status lg__reader_briefs(const lg_reader *reader, uint32_t *ret_count, uint32_t *ret_bytes);
/* Bit i: the header of brief record i may be committed, and has to be read; clear: it is not. One
 * read instead of one each. */
uint64_t lg__reader_briefs_begun(const lg_reader *reader, uint32_t count, uint32_t bytes);
/* One part of the brief record in a place, not yet checked. LG_ERR_NOT_FOUND: brief records have no
 * such stage. */
lg_status lg__reader_brief_part(const lg_reader *reader, uint32_t place, unsigned stage, struct lg__reader_commit *ret_commit);

/* The crashes of the run in the order of their sequences; those whose header is damaged come first,
 * with sequence 0. */
struct lg__reader_crashes {
    uint32_t count;
    uint32_t end; /* index of the crash that counts as the end of the run; 0 where there is none */
    struct lg__reader_crash {
        uint32_t place, sequence;
        uint32_t outcome, within; /* as in struct lg__record */
        int32_t signal;
        bool whole; /* its header is */
    } crashes[1 + LG__BRIEFS_MAX];
};
void lg__reader_crashes(const lg_reader *reader, struct lg__reader_crashes *ret_crashes);
/* Outcome of the crash in a place, and the crash in whose earlier handler it happened; 0 where they
 * cannot be read. */
void lg__reader_outcome(const lg_reader *reader, uint32_t place, uint32_t *ret_outcome, uint32_t *ret_within);
/* The messages, checked. */
lg_status lg__reader_messages(const lg_reader *reader, struct lg__crash_messages *ret_messages);
/* Chains of asynchronous callers, one after the other. */
struct lg__reader_chains {
    const uint64_t *words;
    uint32_t size, count;
};
/* All of them lie within the words. */
bool lg__reader_chains_right(const struct lg__reader_chains *chains);
/* Those of the crashed thread, checked. */
lg_status lg__reader_async(const lg_reader *reader, struct lg__crash_async *ret_async, struct lg__reader_chains *ret_chains);
/* The part of the process's block before the map, checked. The first `size` bytes of the map go to
 * `map`. */
lg_status lg__reader_process(const lg_reader *reader, struct lg__reader_process *ret_process, char *map, size_t size);
/* The memory map of the crash has the address in memory of no file. */
bool lg__reader_is_memory(const lg_reader *reader, uint64_t address);
/* Whether the numbers of a walk are consistent; `most` pcs fit. */
bool lg__reader_walk_right(const struct lg__frames_head *head, uint32_t most);
/* The place of a frame within its function, from the `count` words of a walk by unwind tables, the
 * pcs first. */
lg_status lg__reader_function(const uint64_t *words, size_t count, uint32_t stored, uint32_t index, lg_function *ret_function);
/* The values of the head of a walk. */
void lg__reader_walk_info(const struct lg__frames_head *head, uint32_t method, lg_stack_info *ret_info);
/* Name of a register. */
void lg__reader_register_name(uint32_t arch, uint32_t index, char to[8]);
/* Whether the header names a section of a kind, also one out of bounds. A file that was made with
 * little space lacks some sections (FORMAT.md, section 3). */
bool lg__reader_has_section(const lg_reader *reader, uint32_t kind);
/* One slot of the other threads: its first part, checked, and its walk when it has one. *ret_walk:
 * the state of the walk. LG_ERR_NOT_FOUND after the last; LG_ERR_INCOMPLETE: not committed, but
 * one after it is, or committed for an earlier crash. */
lg_status lg__reader_slot(const lg_reader *reader, uint32_t index, struct lg__thread *ret_thread, lg_status *ret_walk);
/* The place of thread slots: those of a crash, or of one snapshot. */
struct lg__reader_slots {
    uint32_t section; /* kind */
    uint32_t bytes;   /* of each */
    uint32_t count;
    uint64_t at;      /* of the first one in the section */
    uint32_t sequence; /* of their crash or snapshot; 0: not known */
};
/* The number of slots up to the last one whose commit word is not 0. */
uint32_t lg__reader_slots_stored(const lg_reader *reader, const struct lg__reader_slots *slots);
/* As lg__reader_slot(). */
lg_status lg__reader_slot_of(const lg_reader *reader, const struct lg__reader_slots *slots, uint32_t index, struct lg__thread *ret_thread,
                             lg_status *ret_walk);
/* The values of a checked slot. */
void lg__reader_slot_info(const struct lg__thread *slot, lg_thread_info *ret_thread);
lg_status lg__reader_slot_register(const lg_reader *reader, const struct lg__thread *slot, uint32_t index, lg_register *ret_register);
lg_status lg__reader_slot_frame(const struct lg__thread *slot, uint32_t index, uint64_t *ret_pc);
lg_status lg__reader_slot_function(const struct lg__thread *slot, uint32_t index, lg_function *ret_function);
/* Where its walk is right. */
struct lg__reader_chains lg__reader_slot_chains(const struct lg__thread *slot);
lg_status lg__reader_slot_chain(const struct lg__thread *slot, uint32_t index, lg_async_chain *ret_chain);
lg_status lg__reader_slot_caller(const struct lg__thread *slot, uint32_t chain, uint32_t index, uint64_t *ret_pc);
/* Head of a snapshot, and the place of its slots. LG_ERR_NOT_FOUND: the file had no space for it;
 * LG_ERR_DAMAGED. */
lg_status lg__reader_snapshot(const lg_reader *reader, uint32_t kind, struct lg__snapshot *ret_snapshot, struct lg__reader_slots *ret_slots);
/* The two parts of a snapshot's head: LG_OK, LG_ERR_INCOMPLETE: not committed, LG_ERR_DAMAGED. */
lg_status lg__reader_snapshot_head(struct lg__snapshot *snapshot);
lg_status lg__reader_snapshot_counts(struct lg__snapshot *snapshot);
/* The newest whole payload of a ledger; bit i of *ret_valid: slot i is whole. */
lg_status lg__reader_payload(const lg_reader *reader, struct lg__slot *ret_slot, uint32_t *ret_valid);

#endif
