/* Layer 1: the parts of a run file about a program that lives: heartbeats, deadlines, snapshots of
 * its stacks. */
#ifndef LG_STORE_FORMAT_LIVE_H
#define LG_STORE_FORMAT_LIVE_H

#include "store/format_record.h"

/* ---- Run file: pulse, always current; every field is stored in one piece ---- */

#define LG__HEARTBEATS 16
#define LG__DEADLINES 32

struct lg__heartbeat {
    _Atomic int32_t tid;     /* 0: free; written last */
    _Atomic uint32_t paused; /* 1: it waits, and is not watched */
    char name[16];           /* of the thread */
    _Atomic uint64_t beat_ns; /* CLOCK_MONOTONIC of the last heartbeat */
    _Atomic uint64_t hang_ns; /* that of the last one before it hung; 0: it does not hang */
    uint8_t reserved[24];
};
static_assert(offsetof(struct lg__heartbeat, paused) == 4, "FORMAT.md, pulse");
static_assert(offsetof(struct lg__heartbeat, name) == 8, "FORMAT.md, pulse");
static_assert(offsetof(struct lg__heartbeat, beat_ns) == 24, "FORMAT.md, pulse");
static_assert(offsetof(struct lg__heartbeat, hang_ns) == 32, "FORMAT.md, pulse");
static_assert(sizeof(struct lg__heartbeat) == 64, "FORMAT.md, pulse");

struct lg__deadline {
    char name[LG__NAME_BYTES];
    _Atomic uint64_t number;  /* of the job; 0: free; written last */
    _Atomic uint64_t begun_ns; /* CLOCK_MONOTONIC */
    /* CLOCK_MONOTONIC when it was found about to overrun; 0: it was not */
    _Atomic uint64_t near_ns;
    _Atomic uint32_t limit_ms;
    _Atomic int32_t tid; /* thread that began it */
    uint8_t reserved[32];
};
static_assert(offsetof(struct lg__deadline, number) == 64, "FORMAT.md, pulse");
static_assert(offsetof(struct lg__deadline, begun_ns) == 72, "FORMAT.md, pulse");
static_assert(offsetof(struct lg__deadline, near_ns) == 80, "FORMAT.md, pulse");
static_assert(offsetof(struct lg__deadline, limit_ms) == 88, "FORMAT.md, pulse");
static_assert(offsetof(struct lg__deadline, tid) == 92, "FORMAT.md, pulse");
static_assert(sizeof(struct lg__deadline) == 128, "FORMAT.md, pulse");

struct lg__pulse {
    struct lg__heartbeat heartbeats[LG__HEARTBEATS];
    struct lg__deadline deadlines[LG__DEADLINES];
};
static_assert(offsetof(struct lg__pulse, deadlines) == 1024, "FORMAT.md, pulse");
static_assert(sizeof(struct lg__pulse) == 5120, "FORMAT.md, pulse");

/* ---- Run file: snapshots; head and slots are committed by themselves ---- */

#define LG__SNAPSHOTS 2 /* that share a section; the third kind has one of its own */
#define LG__SNAPSHOT_KINDS 3
#define LG__SNAPSHOT_THREADS_MAX 64
#define LG__COMMIT_SNAPSHOT UINT32_C(0x50414e53) /* "SNAP" in the file */
#define LG__COMMIT_COUNTS UINT32_C(0x53544e43)   /* "CNTS" in the file */

struct lg__snapshot {
    uint32_t first_slot; /* written before the first snapshot */
    uint32_t slot_count; /* the same */
    /* LG__COMMIT_SNAPSHOT when the part up to `counted` is whole, written last */
    _Atomic uint32_t commit;
    uint32_t crc;            /* CRC-32C of the bytes after it up to `counted` */
    uint32_t kind;           /* lg_snapshot_kind */
    uint32_t sequence;       /* from 1, of all kinds together */
    int32_t tid;             /* thread that hangs, or that began the job; 0: none */
    uint32_t reserved0;
    char name[LG__NAME_BYTES]; /* of the thread, or of the job */
    /* CLOCK_MONOTONIC: the last heartbeat, the begin of the job, or when memory was found near its
     * limit */
    uint64_t since_ns;
    uint64_t taken_ns;       /* CLOCK_MONOTONIC */
    uint8_t reserved1[16];
    /* LG__COMMIT_COUNTS when the part up to `resolved_ns` is whole, written last */
    _Atomic uint32_t counted;
    uint32_t counts_crc;      /* CRC-32C of the bytes after it up to `resolved_ns` */
    uint32_t listed;          /* threads besides those of LaunchGuard */
    uint32_t captured, masked, silent, omitted;
    int32_t error;            /* errno of the listing; 0: it is complete */
    uint32_t given_up;        /* 1: a crash came in between */
    uint32_t reserved2;
    uint64_t took_ns;
    _Atomic uint64_t resolved_ns; /* CLOCK_MONOTONIC when it was over; 0: it is not */
    uint8_t reserved3[72];
};
static_assert(offsetof(struct lg__snapshot, commit) == 8, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, kind) == 16, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, tid) == 24, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, name) == 32, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, since_ns) == 96, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, taken_ns) == 104, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, counted) == 128, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, listed) == 136, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, error) == 156, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, given_up) == 160, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, took_ns) == 168, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshot, resolved_ns) == 176, "FORMAT.md, snapshots");
static_assert(sizeof(struct lg__snapshot) == 256, "FORMAT.md, snapshots");

/* followed by `slot_count` slots, each a struct lg__thread; all zero until a snapshot is taken */
struct lg__snapshots {
    uint32_t slot_count;
    uint32_t slot_bytes;
    uint8_t reserved[56];
    struct lg__snapshot snapshots[LG__SNAPSHOTS];
};
static_assert(offsetof(struct lg__snapshots, slot_bytes) == 4, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__snapshots, snapshots) == 64, "FORMAT.md, snapshots");
static_assert(sizeof(struct lg__snapshots) == 576, "FORMAT.md, snapshots");

/* the same with one */
struct lg__memory_snapshot {
    uint32_t slot_count;
    uint32_t slot_bytes;
    uint8_t reserved[56];
    struct lg__snapshot snapshot;
};
static_assert(offsetof(struct lg__memory_snapshot, slot_bytes) == 4, "FORMAT.md, snapshots");
static_assert(offsetof(struct lg__memory_snapshot, snapshot) == 64, "FORMAT.md, snapshots");
static_assert(sizeof(struct lg__memory_snapshot) == 320, "FORMAT.md, snapshots");

#endif
