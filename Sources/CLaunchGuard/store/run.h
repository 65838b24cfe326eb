/* The run file: created at start, written by one process until its death. */
#ifndef LG_STORE_RUN_H
#define LG_STORE_RUN_H

#include "store/annotation.h"
#include "store/format.h"
#include "store/map.h"
#include "store/ring.h"

struct lg__run {
    struct lg__map map;
    bool is_recycled; /* the file was that of an ended run */
    struct lg__identity *identity;
    struct lg__system *system;
    struct lg__state *state;
    struct lg__owners *owners;
    struct lg__module_table *modules; /* two */
    struct lg__record *record;
    struct lg__tail *tail;
    struct lg__threads *threads;
    struct lg__thread *slots;
    uint32_t slot_count;
    uint8_t *stacks;          /* stack_bytes */
    uint32_t stack_bytes;
    struct lg__pulse *pulse;
    struct lg__briefs *briefs;
    struct lg__guards *guards;
    struct lg__snapshots *snapshots;
    struct lg__thread *snapshot_slots; /* those of the hang, then that of the deadline */
    struct lg__memory_snapshot *memory_snapshot;
    struct lg__thread *memory_slots;   /* as many as those of the hang */
    uint32_t hang_slots;
    struct lg__ring ring;
    struct lg__annotation_writer annotations;
};

/* The sections that are in the file. The others are in memory, which is gone when the process ends.
 */
enum lg__room {
    LG__ROOM_FULL,
    LG__ROOM_SMALL,  /* all of them as well: the sizes are less */
    LG__ROOM_LITTLE, /* not process, annotations, guard events, threads, stacks, snapshots */
    LG__ROOM_LEAST,  /* only identity, system, state, record, ring log and owners */
};

/* The sizes of a run file that follow from the options and from the room for the file. The process
 * stage is never written from LG__ROOM_LITTLE on. */
struct lg__run_sizes {
    uint32_t ring_bytes;
    uint32_t threads;
    uint32_t stack_bytes;
    enum lg__room room;
};

#define LG__RUN_NAME_BYTES 80

/* Name of a file that a run which left nothing has left for the next one: to make a file and to
 * free its blocks costs ten times as much (ext4). */
#define LG__RUN_SPARE "spare"

/* File name of a run: "<ordinal, 8 digits>-<uuid>.lgrun". */
void lg__run_name(uint64_t ordinal, const uint8_t uuid[16], char name[LG__RUN_NAME_BYTES]);

/* UUID in text form, 36 characters. */
void lg__run_uuid_text(const uint8_t uuid[16], char text[37]);

/* Create a run file in a directory; directory −1: in memory only. `identity` is stored as it is,
 * its CRC computed. `spare`, and else `ended`, an ended run: names of files of which one is used if
 * it can be; NULL: none. */
lg_status lg__run_create(int directory, const char *name, const char *path, const char *spare, const char *ended,
                         const struct lg__run_sizes *sizes, const struct lg__identity *identity, struct lg__run *ret_run,
                         struct lg__problem *problem);

/* Before the first thread of a crash is stored, and before a snapshot is: their heads. A head of
 * zeros has no places. Any number of times. Handler, watch thread. */
void lg__run_open_threads(const struct lg__run *run);
void lg__run_open_snapshots(const struct lg__run *run);
void lg__run_open_memory_snapshot(const struct lg__run *run);
/* The snapshot of an lg_snapshot_kind. Handler. */
struct lg__snapshot *lg__run_snapshot(const struct lg__run *run, uint32_t kind);

/* The records of the run: slot 0 is the full one, the others are brief and have stages 1 to 3. */

/* The launch is finished: by its phase, or by a mark that the process has not seen yet, because
 * another process made it. */
bool lg__run_is_finished(const struct lg__state_context *context);

/* The block of a stage, to be filled in place. Handler. */
void *lg__run_stage(const struct lg__run *run, unsigned slot, unsigned stage);
/* Commit the first `size` bytes of a stage's block. More bytes of a committed stage may be added by
 * a later commit: the stage is whole at each moment, if the bytes before stay as they are.
 * Handler. */
void lg__run_commit(const struct lg__run *run, unsigned slot, unsigned stage, size_t size);
bool lg__run_is_committed(const struct lg__run *run, unsigned slot, unsigned stage);
/* Take one stage back, to write the stage once more. Handler. */
void lg__run_uncommit_stage(const struct lg__run *run, unsigned slot, unsigned stage);
/* Take a whole record back, with its notes: a later crash takes its place. Handler. */
void lg__run_uncommit(const struct lg__run *run, unsigned slot);
/* The brief records are in the file: with little space they are in memory. Handler. */
bool lg__run_keeps_briefs(const struct lg__run *run);
/* The outcome of the crash with this sequence number, for its record. Handler. */
void lg__run_outcome(const struct lg__run *run, unsigned slot, uint32_t sequence, enum lg__outcome outcome);
/* The earlier handler of the crash was left; the crash was survived. Stores nothing where a later
 * crash has taken the place of this one, and no LEFT after HANDLED. On any thread. Handler. */
void lg__run_left(const struct lg__run *run, unsigned slot, uint32_t sequence);
void lg__run_survived(const struct lg__run *run, unsigned slot, uint32_t sequence);
/* The crash in whose earlier handler this crash happened; 0: none. Handler. */
void lg__run_within(const struct lg__run *run, unsigned slot, uint32_t sequence);

/* Note an event while the record was written. Handler. */
void lg__run_note(const struct lg__run *run, uint32_t kind, int signal, int tid, unsigned stage, uint64_t pc);

#endif
