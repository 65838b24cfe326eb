/* Layer 1: the run file without its crash record. */
#ifndef LG_STORE_FORMAT_RUN_H
#define LG_STORE_FORMAT_RUN_H

#include "store/format_header.h"

/* ---- Run file: identity, written once ---- */

struct lg__identity {
    uint8_t uuid[16];
    uint8_t boot_id[16];
    uint64_t ordinal;
    uint64_t wall_ns;
    uint64_t monotonic_ns;
    uint64_t boottime_ns;
    uint64_t start_ticks;
    int32_t pid;
    uint32_t uid;
    uint32_t secondary;
    uint32_t arch; /* LG__ARCH_* */
    uint32_t build_id_size;
    /* the number in /proc, where it is not the pid: /proc is of another pid namespace */
    int32_t proc_pid;
    uint8_t build_id[LG__BUILD_ID_BYTES];
    char app_id[LG__NAME_BYTES];
    char app_version[LG__NAME_BYTES];
    char executable[256];
    uint8_t reserved[120];
    uint32_t crc; /* CRC-32C of all bytes before it */
    uint32_t padding;
};
static_assert(offsetof(struct lg__identity, boot_id) == 16, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, ordinal) == 32, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, wall_ns) == 40, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, monotonic_ns) == 48, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, boottime_ns) == 56, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, start_ticks) == 64, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, pid) == 72, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, uid) == 76, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, secondary) == 80, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, arch) == 84, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, build_id_size) == 88, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, proc_pid) == 92, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, build_id) == 96, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, app_id) == 128, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, app_version) == 192, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, executable) == 256, "FORMAT.md, identity");
static_assert(offsetof(struct lg__identity, crc) == 632, "FORMAT.md, identity");
static_assert(sizeof(struct lg__identity) == 640, "FORMAT.md, identity");

/* ---- Run file: the system that the run began on, written once, by the start ---- */

#define LG__COMMIT_SYSTEM UINT32_C(0x54535953) /* "SYST" in the file */
#define LG__COMMAND_LINE_BYTES 968

struct lg__machine {
    uint8_t id[16]; /* digest of the machine's id, for this application; 0: not known */
    char model[64];
    char os_id[32];
    char os_version[32];
};
static_assert(offsetof(struct lg__machine, model) == 16, "FORMAT.md, system");
static_assert(offsetof(struct lg__machine, os_id) == 80, "FORMAT.md, system");
static_assert(offsetof(struct lg__machine, os_version) == 112, "FORMAT.md, system");
static_assert(sizeof(struct lg__machine) == 144, "FORMAT.md, system");

struct lg__system {
    _Atomic uint32_t commit; /* LG__COMMIT_SYSTEM when whole, written last */
    /* CRC-32C of invocation to unit and the used bytes of the command line, in this order */
    uint32_t crc;
    uint8_t invocation[16]; /* of the systemd unit; 0: none */
    int32_t parent_pid;
    uint32_t command_line_size;
    uint32_t command_line_cut; /* 1: it was longer */
    uint32_t reserved;
    char kernel[64];
    char hardware[16];
    char container[32];
    char parent_name[16];
    struct lg__machine machine;
    char unit[128];
    char command_line[LG__COMMAND_LINE_BYTES]; /* each argument with a NUL */
};
static_assert(offsetof(struct lg__system, crc) == 4, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, invocation) == 8, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, parent_pid) == 24, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, command_line_size) == 28, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, command_line_cut) == 32, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, kernel) == 40, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, hardware) == 104, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, container) == 120, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, parent_name) == 152, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, machine) == 168, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, unit) == 312, "FORMAT.md, system");
static_assert(offsetof(struct lg__system, command_line) == 440, "FORMAT.md, system");
static_assert(sizeof(struct lg__system) == 1408, "FORMAT.md, system");

/* ---- Run file: state, always current; every field is stored in one piece ---- */

struct lg__state_context {
    char name[LG__NAME_BYTES]; /* written before `used` */
    _Atomic uint32_t used;
    _Atomic uint32_t phase; /* lg_phase */
    _Atomic uint64_t begun_ns;
    _Atomic uint64_t launching_ns;
    _Atomic uint64_t finished_ns;
    _Atomic int64_t window_ms;
    _Atomic uint32_t finish; /* lg_finish */
    _Atomic uint32_t rung;
    _Atomic uint32_t attempt;
    /* 1 while `task` holds the key of the running task; written after it */
    _Atomic uint32_t task_set;
    char task[LG__NAME_BYTES];
    _Atomic uint32_t marked; /* 1 after lg_launch_finished() */
    _Atomic uint32_t repaired; /* 1 after a repair succeeded in this run */
    uint8_t reserved[64];
};
static_assert(offsetof(struct lg__state_context, used) == 64, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, phase) == 68, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, begun_ns) == 72, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, launching_ns) == 80, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, finished_ns) == 88, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, window_ms) == 96, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, finish) == 104, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, rung) == 108, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, attempt) == 112, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, task_set) == 116, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, task) == 120, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, marked) == 184, "FORMAT.md, state");
static_assert(offsetof(struct lg__state_context, repaired) == 188, "FORMAT.md, state");
static_assert(sizeof(struct lg__state_context) == 256, "FORMAT.md, state");

enum lg__announced { LG__ANNOUNCED_NOTHING = 0, LG__ANNOUNCED_TERMINATION = 1, LG__ANNOUNCED_RESTART = 2 };

/* The low byte of the agent's word for the ended run is an lg_reported. The other bits of
 * LG_REPORTED_COUNTED are the low bits of the number of the run whose report counts this one. */
#define LG__REPORTED_KIND UINT32_C(0xff)
#define LG__REPORTED_SHIFT 8

enum lg__ended { LG__ENDED_NO = 0, LG__ENDED_EXIT = 1, LG__ENDED_STOP = 2, LG__ENDED_EXEC = 3 };

#define LG__CONTEXTS 16
#define LG__CRASH_TYPE_BYTES 48

/* lg_start() completed; and then: the process that held the ledger ended, and this one holds it. */
enum lg__started { LG__STARTED = 1, LG__STARTED_TOOK_OVER = 2 };

struct lg__state {
    _Atomic uint32_t started; /* enum lg__started */
    _Atomic uint32_t ended;   /* enum lg__ended; written after exit_code and ended_ns */
    _Atomic int32_t exit_code;
    _Atomic uint32_t healed_pages;
    _Atomic uint64_t ended_ns;
    _Atomic uint64_t term_ns;
    _Atomic int32_t term_signal; /* written after the other term fields */
    _Atomic int32_t term_pid;
    _Atomic uint32_t term_uid;
    _Atomic uint32_t context_count;
    _Atomic uint64_t announced_ns;
    _Atomic uint32_t announced;      /* enum lg__announced; written after announced_ns */
    /* 1: witness_status is that of waitpid(), stored by another process; written after it and
     * witnessed_ns */
    _Atomic uint32_t witnessed;
    _Atomic int32_t witness_status;
    /* 1: the two fields below are known; written at the start, after them */
    _Atomic uint32_t oom_known;
    /* processes that the kernel had ended for lack of memory in this cgroup when this one was last
     * seen alive: at the start, or by lg_memory_watch() */
    _Atomic uint64_t oom_kills;
    _Atomic uint64_t oom_cgroup;     /* inode of the cgroup's directory */
    /* CLOCK_MONOTONIC since when it hangs: the last heartbeat; 0: it does not */
    _Atomic uint64_t hang_ns;
    /* a later point of the ring log's clock than that of its header ... */
    _Atomic uint64_t clock_count;
    _Atomic uint64_t clock_ns;       /* ... and its CLOCK_MONOTONIC */
    _Atomic uint32_t clock_turn;     /* odd while the two are being written; 0: never */
    /* 1: the program has a handler of its own for the terminating signal */
    _Atomic uint32_t term_kept;
    /* CLOCK_MONOTONIC when it was last seen alive after the terminating signal, or its handler of
     * SIGHUP returned; 0: not */
    _Atomic uint64_t term_alive_ns;
    /* CLOCK_MONOTONIC when its CPU time was about to reach its hard limit; 0: it was not, or it
     * idles now; written last */
    _Atomic uint64_t cpu_near_ns;
    _Atomic uint64_t cpu_used_ns;    /* its CPU time then */
    _Atomic uint64_t cpu_limit_s;    /* RLIMIT_CPU, hard */
    /* CLOCK_MONOTONIC when its memory was last seen near the limit; 0: it is not; written last */
    _Atomic uint64_t memory_near_ns;
    _Atomic uint64_t memory_used;    /* bytes then */
    _Atomic uint64_t memory_limit;   /* bytes */
    _Atomic uint64_t memory_own;     /* bytes; 0: the limit is not of its cgroup */
    /* CLOCK_MONOTONIC of a fork during a launch, after which it was not seen alive for a tenth of a
     * second; 0: there was none */
    _Atomic uint64_t forked_ns;
    /* CLOCK_MONOTONIC when the program said that it had crashed; 0: it did not; written once */
    _Atomic uint64_t crash_noted_ns;
    char crash_type[LG__CRASH_TYPE_BYTES]; /* its word for that crash; written after it */
    /* 1: an agent waits for the process, and will store its wait status */
    _Atomic uint32_t attached;
    _Atomic uint32_t reported; /* see LG__REPORTED_KIND; written by the agent */
    /* CLOCK_MONOTONIC when the process was last seen alive while it hung */
    _Atomic uint64_t hung_alive_ns;
    /* CLOCK_MONOTONIC when the witness stored its status; written before the flag */
    _Atomic uint64_t witnessed_ns;
    struct lg__state_context contexts[LG__CONTEXTS];
};
static_assert(offsetof(struct lg__state, ended) == 4, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, exit_code) == 8, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, healed_pages) == 12, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, ended_ns) == 16, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, term_ns) == 24, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, term_signal) == 32, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, term_pid) == 36, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, term_uid) == 40, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, context_count) == 44, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, announced_ns) == 48, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, announced) == 56, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, witnessed) == 60, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, witness_status) == 64, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, oom_known) == 68, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, oom_kills) == 72, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, oom_cgroup) == 80, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, hang_ns) == 88, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, clock_count) == 96, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, clock_ns) == 104, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, clock_turn) == 112, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, term_kept) == 116, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, term_alive_ns) == 120, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, cpu_near_ns) == 128, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, cpu_used_ns) == 136, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, cpu_limit_s) == 144, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, memory_near_ns) == 152, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, memory_used) == 160, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, memory_limit) == 168, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, memory_own) == 176, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, forked_ns) == 184, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, crash_noted_ns) == 192, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, crash_type) == 200, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, attached) == 248, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, reported) == 252, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, hung_alive_ns) == 256, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, witnessed_ns) == 264, "FORMAT.md, state");
static_assert(offsetof(struct lg__state, contexts) == 272, "FORMAT.md, state");
static_assert(sizeof(struct lg__state) == 4368, "FORMAT.md, state");

/* ---- Run file: modules and tasks of each context; read when a crash is attributed ---- */

#define LG__OWNED_BYTES 240

struct lg__owner {
    _Atomic int32_t task_tid; /* thread that runs the context's current task; 0: none */
    uint32_t reserved0;
    _Atomic uint64_t task_ns; /* CLOCK_MONOTONIC of its begin */
    /* file names of modules, each with a NUL; an empty one ends the list */
    char modules[LG__OWNED_BYTES];
};
static_assert(offsetof(struct lg__owner, task_ns) == 8, "FORMAT.md, owners");
static_assert(offsetof(struct lg__owner, modules) == 16, "FORMAT.md, owners");
static_assert(sizeof(struct lg__owner) == 256, "FORMAT.md, owners");

struct lg__owners {
    struct lg__owner contexts[LG__CONTEXTS]; /* as in the state */
};
static_assert(sizeof(struct lg__owners) == 4096, "FORMAT.md, owners");

/* ---- Run file: modules, two tables written alternately ---- */

#define LG__MODULES_MAX 192
#define LG__MODULES_TEXT_BYTES 20448
#define LG__COMMIT_MODULES UINT32_C(0x4d4f4443) /* "CDOM" in the file */

struct lg__module_entry {
    uint64_t start, end, bias;
    uint32_t path_offset; /* into the table's text */
    uint16_t path_size;
    uint8_t build_id_size;
    uint8_t has_frames; /* 1: of a crash, a snapshot or a guard event */
    uint8_t build_id[LG__BUILD_ID_BYTES];
};
static_assert(offsetof(struct lg__module_entry, path_offset) == 24, "FORMAT.md, modules");
static_assert(offsetof(struct lg__module_entry, has_frames) == 31, "FORMAT.md, modules");
static_assert(offsetof(struct lg__module_entry, build_id) == 32, "FORMAT.md, modules");
static_assert(sizeof(struct lg__module_entry) == 64, "FORMAT.md, modules");

struct lg__module_table {
    _Atomic uint32_t commit; /* LG__COMMIT_MODULES when whole, written last */
    uint32_t generation;     /* the larger of the two whole tables counts */
    uint32_t count;
    uint32_t text_size;
    uint32_t omitted; /* modules that did not fit */
    /* CRC-32C of generation to omitted, the used entries, the used text, in this order */
    uint32_t crc;
    uint64_t reserved;
    struct lg__module_entry entries[LG__MODULES_MAX];
    char text[LG__MODULES_TEXT_BYTES];
};
static_assert(offsetof(struct lg__module_table, entries) == 32, "FORMAT.md, modules");
static_assert(offsetof(struct lg__module_table, text) == 12320, "FORMAT.md, modules");
static_assert(sizeof(struct lg__module_table) == 32768, "FORMAT.md, modules");

/* ---- Run file: the last bytes of standard error ---- */

#define LG__TAIL_BYTES 16320

struct lg__tail { /* always current; no checksum */
    /* bytes ever written, stored after them; byte n is at n mod LG__TAIL_BYTES */
    _Atomic uint64_t total;
    /* `total` after the write that is under way, stored before its bytes: those that it replaces
     * may be gone; 0: not known */
    _Atomic uint64_t begun;
    uint8_t reserved[48];
    uint8_t bytes[LG__TAIL_BYTES];
};
static_assert(offsetof(struct lg__tail, begun) == 8, "FORMAT.md, tail");
static_assert(offsetof(struct lg__tail, bytes) == 64, "FORMAT.md, tail");
static_assert(sizeof(struct lg__tail) == 16384, "FORMAT.md, tail");

/* ---- Run file: annotations ---- */

#define LG__ANNOTATIONS 64
#define LG__ANNOTATION_VALUES 128
#define LG__ANNOTATION_VALUE_BYTES 496
/* of `current`: the bits below are 1 + index of a value, or 0 */
#define LG__ANNOTATION_SEQUENCE_SHIFT 8
#define LG__ANNOTATION_VALUE_MASK UINT64_C(0xff)
#define LG__ANNOTATION_REDACTED UINT32_C(0x44455241) /* any other value than 0 says the same */
#define LG__ANNOTATION_CUT 1u
#define LG__ANNOTATION_NO_VALUE 2u

struct lg__annotation_slot { /* one a key */
    /* number of the change that set it, and 1 + index of its value; none: the slot is free */
    _Atomic uint64_t current;
    _Atomic uint32_t redacted;
    uint32_t reserved;
};
static_assert(offsetof(struct lg__annotation_slot, redacted) == 8, "FORMAT.md, annotations");
static_assert(sizeof(struct lg__annotation_slot) == 16, "FORMAT.md, annotations");

struct lg__annotation { /* never written to while a slot names it */
    uint64_t sequence; /* number of the change that set it */
    uint64_t monotonic_ns;
    uint32_t size;  /* of the value, without a NUL */
    uint32_t flags; /* LG__ANNOTATION_CUT, LG__ANNOTATION_NO_VALUE */
    char key[LG__NAME_BYTES];
    char value[LG__ANNOTATION_VALUE_BYTES];
    /* CRC-32C of monotonic_ns to key, the used bytes of the value, sequence, in this order */
    uint32_t crc;
    uint32_t reserved;
};
static_assert(offsetof(struct lg__annotation, monotonic_ns) == 8, "FORMAT.md, annotations");
static_assert(offsetof(struct lg__annotation, size) == 16, "FORMAT.md, annotations");
static_assert(offsetof(struct lg__annotation, flags) == 20, "FORMAT.md, annotations");
static_assert(offsetof(struct lg__annotation, key) == 24, "FORMAT.md, annotations");
static_assert(offsetof(struct lg__annotation, value) == 88, "FORMAT.md, annotations");
static_assert(offsetof(struct lg__annotation, crc) == 584, "FORMAT.md, annotations");
static_assert(sizeof(struct lg__annotation) == 592, "FORMAT.md, annotations");

struct lg__annotations {
    struct lg__annotation_slot slots[LG__ANNOTATIONS];
    struct lg__annotation values[LG__ANNOTATION_VALUES];
};
static_assert(offsetof(struct lg__annotations, values) == 1024, "FORMAT.md, annotations");
static_assert(sizeof(struct lg__annotations) == 76800, "FORMAT.md, annotations");

/* ---- Run file: the ring log ---- */

#define LG__CELL_BYTES 32u
#define LG__RING_CLOCK_MONOTONIC 1u /* time fields are CLOCK_MONOTONIC nanoseconds */
/* time fields are counts of the CPU, but for LG__ENTRY_MONOTONIC:
 * ns = base_ns + ((t − base_count) × mult >> shift) */
#define LG__RING_CLOCK_COUNTER 2u

struct lg__ring_header { /* written once */
    uint32_t lane_count;
    uint32_t lane_cells; /* a power of two */
    uint32_t cell_bytes;
    uint32_t clock;
    uint64_t base_count;
    uint64_t base_ns;
    uint64_t mult;
    uint32_t shift;
    uint32_t reserved0;
    uint64_t reserved1;
    uint32_t crc; /* CRC-32C of all bytes before it */
    uint32_t padding;
};
static_assert(offsetof(struct lg__ring_header, crc) == 56, "FORMAT.md, ring");
static_assert(sizeof(struct lg__ring_header) == 64, "FORMAT.md, ring");

struct lg__lane { /* followed by lane_cells × cell_bytes bytes */
    _Atomic uint64_t head; /* cells ever reserved */
    /* the thread that writes it, or wrote it last; 0: lane 0, or no thread */
    _Atomic int32_t tid;
    uint32_t reserved0;
    _Atomic uint64_t entries; /* ever committed */
    _Atomic uint64_t refused; /* of lane 0: entries that found no room */
    uint8_t reserved[32];
};
static_assert(offsetof(struct lg__lane, entries) == 16, "FORMAT.md, ring");
static_assert(offsetof(struct lg__lane, refused) == 24, "FORMAT.md, ring");
static_assert(sizeof(struct lg__lane) == 64, "FORMAT.md, ring");

#define LG__ENTRY_TEXT 0u
#define LG__ENTRY_FIELDS 1u
/* Flags in `kind`, and what is left of it without them. */
#define LG__ENTRY_CUT 0x80u
#define LG__ENTRY_MONOTONIC 0x40u /* `time` is CLOCK_MONOTONIC, whatever the clock of the ring is */
#define LG__ENTRY_KIND 0x3fu

/* followed by `size` bytes; entries start at cells and may wrap at the end of the lane */
struct lg__entry {
    /* CRC-32C of the header after this field and of the bytes, in the upper half; the lower half
     * of sequence + 1 in the lower */
    uint64_t commit;
    uint64_t sequence; /* value of head when the cells were reserved */
    uint64_t time;
    int32_t tid;
    uint16_t size;
    uint8_t level;
    uint8_t kind;
};
static_assert(offsetof(struct lg__entry, sequence) == 8, "FORMAT.md, ring");
static_assert(offsetof(struct lg__entry, tid) == 24, "FORMAT.md, ring");
static_assert(offsetof(struct lg__entry, size) == 28, "FORMAT.md, ring");
static_assert(sizeof(struct lg__entry) == LG__CELL_BYTES, "FORMAT.md, ring");

/* The bytes of an entry of kind LG__ENTRY_FIELDS. */
/* followed by the category, the text, and field_count fields: lg__field, key, value; nothing is
 * aligned */
struct lg__fields {
    uint8_t category_size; /* at most LG__NAME_BYTES - 1 */
    uint8_t field_count;
    uint16_t text_size;
};
static_assert(offsetof(struct lg__fields, text_size) == 2, "FORMAT.md, ring");
static_assert(sizeof(struct lg__fields) == 4, "FORMAT.md, ring");

struct lg__field {
    uint16_t key_size;
    uint16_t value_size;
};
static_assert(offsetof(struct lg__field, value_size) == 2, "FORMAT.md, ring");
static_assert(sizeof(struct lg__field) == 4, "FORMAT.md, ring");

#endif
