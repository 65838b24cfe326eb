/* Layer 1: every persisted structure. docs/FORMAT.md is the specification; the assertions below keep the two together.
 *
 * All numbers are little-endian and of fixed width, padding is explicit, strings are NUL-terminated within their arrays. New
 * fields come at the end of a structure or in bytes that are reserved (zero) today.
 */
#ifndef LG_STORE_FORMAT_H
#define LG_STORE_FORMAT_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The file format is little-endian, and so is every processor that LaunchGuard supports."
#endif

#define LG__RUN_MAJOR 1
#define LG__RUN_MINOR 2
#define LG__LEDGER_MAJOR 2
#define LG__LEDGER_MINOR 0
#define LG__BYTE_ORDER_MARK UINT32_C(0x01020304)

#define LG__MAGIC_RUN "\x89LGR\r\n\x1a\n"
#define LG__MAGIC_LEDGER "\x89LGL\r\n\x1a\n"

#define LG__NAME_BYTES 64
#define LG__BUILD_ID_BYTES 32
#define LG__SECTIONS_MAX 16

/* ---- Section 1: the header, at offset 0 of both kinds of file ---- */

enum lg__section_kind {
    LG__SECTION_IDENTITY = 1,
    LG__SECTION_STATE = 2,
    LG__SECTION_MODULES = 3,
    LG__SECTION_RECORD = 4,
    LG__SECTION_RING = 5,
    LG__SECTION_THREADS = 6,
    LG__SECTION_STACKS = 7,
    LG__SECTION_TAIL = 8,
    LG__SECTION_OWNERS = 9,
    LG__SECTION_HOT = 16,
    LG__SECTION_SLOT_A = 17,
    LG__SECTION_SLOT_B = 18
};

struct lg__section {
    uint32_t kind; /* enum lg__section_kind; a reader passes over kinds that it does not know */
    uint32_t reserved;
    uint64_t offset; /* from the start of the file, a multiple of 64 */
    uint64_t size;
};
static_assert(sizeof(struct lg__section) == 24, "FORMAT.md, header");

struct lg__header {
    uint8_t magic[8];
    uint32_t byte_order; /* LG__BYTE_ORDER_MARK */
    uint16_t major;      /* a reader refuses a larger one */
    uint16_t minor;      /* a larger one only adds */
    uint32_t header_bytes; /* size of this structure, its CRC included */
    uint32_t compat_flags;   /* unknown bit: read on */
    uint32_t incompat_flags; /* unknown bit: stop */
    uint32_t section_count;
    uint64_t total_bytes; /* size of the file */
    uint8_t reserved[24];
    struct lg__section sections[LG__SECTIONS_MAX];
    uint32_t crc; /* CRC-32C of all bytes before it */
    uint32_t padding;
};
static_assert(offsetof(struct lg__header, byte_order) == 8, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, major) == 12, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, minor) == 14, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, header_bytes) == 16, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, compat_flags) == 20, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, incompat_flags) == 24, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, section_count) == 28, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, total_bytes) == 32, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, sections) == 64, "FORMAT.md, header");
static_assert(offsetof(struct lg__header, crc) == 448, "FORMAT.md, header");
static_assert(sizeof(struct lg__header) == 456, "FORMAT.md, header");

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
    int32_t proc_pid; /* as /proc names the process, where that is not its pid: the files of another pid namespace */
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
    _Atomic uint32_t task_set; /* 1 while `task` holds the key of the running task; written after it */
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

enum lg__ended { LG__ENDED_NO = 0, LG__ENDED_EXIT = 1, LG__ENDED_STOP = 2 };

#define LG__CONTEXTS 16

struct lg__state {
    _Atomic uint32_t started; /* 1 when lg_start() completed */
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
    _Atomic uint32_t witnessed;      /* 1: witness_status is that of waitpid(), told by another process; written after it */
    _Atomic int32_t witness_status;
    _Atomic uint32_t oom_known;      /* 1: the two fields below are known; written at the start, after them */
    _Atomic uint64_t oom_kills;      /* processes that the kernel ended for lack of memory in this cgroup, before this run */
    _Atomic uint64_t oom_cgroup;     /* inode of the cgroup's directory */
    _Atomic uint64_t hang_ns;        /* CLOCK_MONOTONIC since when the launch hangs; 0: it does not */
    uint8_t reserved[160];
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
static_assert(offsetof(struct lg__state, contexts) == 256, "FORMAT.md, state");
static_assert(sizeof(struct lg__state) == 4352, "FORMAT.md, state");

/* ---- Run file: what belongs to which context; read when a crash is attributed ---- */

#define LG__OWNED_BYTES 240

struct lg__owner {
    _Atomic int32_t task_tid; /* thread that runs the context's current task; 0: none */
    uint32_t reserved0;
    _Atomic uint64_t task_ns; /* CLOCK_MONOTONIC of its begin */
    char modules[LG__OWNED_BYTES]; /* file names of modules, each with a NUL; an empty one ends the list */
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
    uint8_t reserved;
    uint8_t build_id[LG__BUILD_ID_BYTES];
};
static_assert(offsetof(struct lg__module_entry, path_offset) == 24, "FORMAT.md, modules");
static_assert(offsetof(struct lg__module_entry, build_id) == 32, "FORMAT.md, modules");
static_assert(sizeof(struct lg__module_entry) == 64, "FORMAT.md, modules");

struct lg__module_table {
    _Atomic uint32_t commit; /* LG__COMMIT_MODULES when whole, written last */
    uint32_t generation;     /* the larger of the two whole tables counts */
    uint32_t count;
    uint32_t text_size;
    uint32_t crc; /* CRC-32C of generation, count, text_size, the used entries, the used text, in this order */
    uint32_t omitted; /* modules that did not fit */
    uint64_t reserved;
    struct lg__module_entry entries[LG__MODULES_MAX];
    char text[LG__MODULES_TEXT_BYTES];
};
static_assert(offsetof(struct lg__module_table, entries) == 32, "FORMAT.md, modules");
static_assert(offsetof(struct lg__module_table, text) == 12320, "FORMAT.md, modules");
static_assert(sizeof(struct lg__module_table) == 32768, "FORMAT.md, modules");

/* ---- Run file: the crash record, committed in stages ---- */

#define LG__STAGES 16
#define LG__COMMIT_STAGE UINT64_C(0x4547415453474c00) /* "\0LGSTAGE" in the file, plus the stage in the lowest byte */

struct lg__stage {
    uint32_t offset;   /* of the block, from the start of the record section; written at creation */
    uint32_t capacity; /* written at creation; 0: this version never writes the stage */
    uint32_t size;
    uint32_t crc;            /* CRC-32C of the block's first `size` bytes */
    _Atomic uint64_t commit; /* LG__COMMIT_STAGE + stage when whole, written last */
};
static_assert(sizeof(struct lg__stage) == 24, "FORMAT.md, record");

enum lg__outcome {
    LG__OUTCOME_DYING = 0,
    LG__OUTCOME_CHAINED = 1, /* an earlier handler was called: the program may live on */
    LG__OUTCOME_HANDLED = 2   /* a call of the program came after it */
};

struct lg__note {
    uint32_t kind; /* lg_note_kind */
    int32_t signal;
    int32_t tid;
    uint32_t stage;
    uint64_t pc;
    uint32_t crc; /* CRC-32C of the 24 bytes before it */
    _Atomic uint32_t commit; /* 1 when whole, written last */
};
static_assert(sizeof(struct lg__note) == 32, "FORMAT.md, record");

#define LG__NOTES_MAX 16

struct lg__record {
    struct lg__stage stages[LG__STAGES];
    _Atomic uint32_t outcome; /* enum lg__outcome */
    _Atomic uint32_t note_count; /* notes begun; those beyond LG__NOTES_MAX are only counted */
    uint8_t reserved0[56];
    struct lg__note notes[LG__NOTES_MAX];
    uint8_t reserved1[64];
};
static_assert(offsetof(struct lg__record, outcome) == 384, "FORMAT.md, record");
static_assert(offsetof(struct lg__record, notes) == 448, "FORMAT.md, record");
static_assert(sizeof(struct lg__record) == 1024, "FORMAT.md, record");

#define LG__CRASH_HAS_ADDRESS 1u
#define LG__CRASH_HAS_SENDER 2u
#define LG__CRASH_HAS_SYSCALL 4u
#define LG__CRASH_SIGINFO_LOST 8u /* somebody took SA_SIGINFO from the handler: what the kernel said of the signal is not known */

struct lg__crash_header { /* stage 1 */
    int32_t signal;
    int32_t code;
    uint32_t kind;  /* lg_crash_kind */
    uint32_t flags; /* LG__CRASH_HAS_* */
    uint64_t address;
    uint64_t pc, sp, fp;
    uint64_t trap, error;
    int32_t tid;
    int32_t pid;
    int32_t sender_pid;
    uint32_t sender_uid;
    int32_t syscall_number;
    uint32_t syscall_arch;
    uint64_t monotonic_ns, boottime_ns, wall_ns;
    uint64_t stack_low, stack_high;
    uint32_t sequence;
    uint32_t reserved0;
    uint8_t reserved[56];
};
static_assert(offsetof(struct lg__crash_header, address) == 16, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_header, tid) == 64, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_header, monotonic_ns) == 88, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_header, stack_low) == 112, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_header, sequence) == 128, "FORMAT.md, record");
static_assert(sizeof(struct lg__crash_header) == 192, "FORMAT.md, record");

#define LG__STACK_BYTES 512
#define LG__CODE_BYTES 64

struct lg__crash_context { /* stage 2 */
    uint32_t arch; /* LG__ARCH_* */
    uint32_t register_count;
    uint64_t registers[40];
    char thread_name[16];
    uint64_t stack_start;
    uint64_t code_start;
    uint32_t stack_size;
    uint32_t code_size;
    uint8_t stack[LG__STACK_BYTES];
    uint8_t code[LG__CODE_BYTES];
};
static_assert(offsetof(struct lg__crash_context, registers) == 8, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_context, thread_name) == 328, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_context, stack_start) == 344, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_context, stack) == 368, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_context, code) == 880, "FORMAT.md, record");
static_assert(sizeof(struct lg__crash_context) == 944, "FORMAT.md, record");

#define LG__FRAMES_MAX 512
#define LG__FRAMES_LAST 64 /* of these, kept for the outermost frames of a deep stack */

/* X(identifier, value, "why a walk ended") */
#define LG__WALK_TABLE(X) \
    X(LG__WALK_COMPLETE, 0, "") \
    X(LG__WALK_BAD_POINTER, 1, "the frame pointer chain leaves the stack") \
    X(LG__WALK_UNREADABLE, 2, "memory of the stack cannot be read") \
    X(LG__WALK_NO_INFO, 3, "no unwind information for the next frame") \
    X(LG__WALK_LOOP, 4, "the chain of frames loops") \
    X(LG__WALK_LIMIT, 5, "the limit of frames was reached") \
    X(LG__WALK_NOT_READY, 6, "the module table was not ready") \
    X(LG__WALK_RECRASH, 7, "the walk itself crashed") \
    X(LG__WALK_FAILED, 8, "the unwinder gave up")

enum lg__walk {
#define LG__WALK_ENUM(identifier, value, sentence) identifier = value,
    LG__WALK_TABLE(LG__WALK_ENUM)
#undef LG__WALK_ENUM
};

struct lg__frames_head { /* followed by `stored` pcs */
    uint32_t stored;
    uint32_t first;
    uint64_t total;
    uint32_t reason;  /* enum lg__walk */
    uint32_t assumed; /* frames found by frame pointer in the middle of a walk by unwind tables: code without them */
};
static_assert(offsetof(struct lg__frames_head, total) == 8, "FORMAT.md, record");
static_assert(offsetof(struct lg__frames_head, reason) == 16, "FORMAT.md, record");
static_assert(offsetof(struct lg__frames_head, assumed) == 20, "FORMAT.md, record");
static_assert(sizeof(struct lg__frames_head) == 24, "FORMAT.md, record");

struct lg__crash_frames { /* stages 3 and 4; the committed size ends with the last stored pc */
    struct lg__frames_head head;
    uint64_t pcs[LG__FRAMES_MAX];
};
static_assert(offsetof(struct lg__crash_frames, pcs) == 24, "FORMAT.md, record");
static_assert(sizeof(struct lg__crash_frames) == 4120, "FORMAT.md, record");

#define LG__MESSAGES_MAX 8
#define LG__MESSAGES_TEXT_BYTES 6000

struct lg__message {
    uint32_t source; /* lg_message_source */
    uint32_t offset; /* into the text */
    uint32_t size;
    uint32_t cut; /* 1: there was more */
};
static_assert(offsetof(struct lg__message, offset) == 4, "FORMAT.md, record");
static_assert(offsetof(struct lg__message, cut) == 12, "FORMAT.md, record");
static_assert(sizeof(struct lg__message) == 16, "FORMAT.md, record");

struct lg__crash_messages { /* stage 5; the committed size ends with the used text */
    uint32_t kind; /* lg_crash_kind that the messages tell; 0: that of the header */
    uint32_t count;
    uint32_t text_size;
    uint32_t reserved;
    struct lg__message messages[LG__MESSAGES_MAX];
    char text[LG__MESSAGES_TEXT_BYTES];
};
static_assert(offsetof(struct lg__crash_messages, text_size) == 8, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_messages, messages) == 16, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_messages, text) == 144, "FORMAT.md, record");
static_assert(sizeof(struct lg__crash_messages) == 6144, "FORMAT.md, record");

struct lg__crash_threads { /* stage 6; the threads themselves are in their section */
    uint32_t listed;   /* threads besides the crashed one that the kernel listed */
    uint32_t captured; /* of these, how many captured themselves */
    uint32_t masked;   /* how many block the signal that asks for it */
    uint32_t silent;   /* how many did not answer in time */
    uint32_t omitted;  /* how many found no room */
    int32_t error;     /* errno of the listing; 0: it is complete */
    uint64_t waited_ns;
    uint8_t reserved[32];
};
static_assert(offsetof(struct lg__crash_threads, omitted) == 16, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_threads, waited_ns) == 24, "FORMAT.md, record");
static_assert(sizeof(struct lg__crash_threads) == 64, "FORMAT.md, record");

#define LG__RESOURCES 32
#define LG__RESOURCE_UNKNOWN UINT64_MAX
#define LG__RESOURCE_UNLIMITED (UINT64_MAX - 1) /* of a limit */
#define LG__MAP_BYTES 48864

struct lg__crash_process { /* stage 7; the committed size ends with the used text */
    uint64_t resources[LG__RESOURCES]; /* by lg_resource_id; LG__RESOURCE_UNKNOWN, LG__RESOURCE_UNLIMITED */
    uint32_t map_size;
    uint32_t map_cut;        /* 1: there was more */
    uint32_t stacks;         /* chunks of stack memory stored */
    uint32_t stacks_cut;     /* of these, how many are shorter than they should be, for lack of room */
    uint8_t reserved[16];
    char map[LG__MAP_BYTES]; /* text of /proc/self/maps */
};
static_assert(offsetof(struct lg__crash_process, map_size) == 256, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_process, stacks) == 264, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_process, map) == 288, "FORMAT.md, record");
static_assert(sizeof(struct lg__crash_process) == 49152, "FORMAT.md, record");

struct lg__crash_done { /* stage 8 */
    uint64_t monotonic_ns;
    uint32_t skipped; /* bit n: stage n crashed and was left out */
    uint32_t reserved;
};
static_assert(sizeof(struct lg__crash_done) == 16, "FORMAT.md, record");

/* ---- Run file: the other threads at the crash; each slot is committed by itself ---- */

struct lg__threads { /* followed by `slot_count` slots; written at creation */
    uint32_t slot_count;
    uint32_t slot_bytes; /* sizeof(struct lg__thread) of the writer */
    uint8_t reserved[56];
};
static_assert(offsetof(struct lg__threads, slot_bytes) == 4, "FORMAT.md, threads");
static_assert(sizeof(struct lg__threads) == 64, "FORMAT.md, threads");

#define LG__COMMIT_THREAD UINT32_C(0x44524854) /* "THRD" in the file */
#define LG__COMMIT_WALK UINT32_C(0x4b4c4157)   /* "WALK" in the file */
#define LG__THREADS_MAX 1024
#define LG__THREAD_FRAMES_MAX 96
#define LG__THREAD_FRAMES_LAST 16

struct lg__thread {
    _Atomic uint32_t commit; /* LG__COMMIT_THREAD when the part up to `walk` is whole, written last */
    uint32_t crc;            /* CRC-32C of the bytes behind it up to `walk` */
    int32_t tid;
    uint32_t how;   /* lg_thread_how */
    uint32_t state; /* letter of proc(5); 0: not asked for */
    uint32_t register_count;
    char name[16];
    uint64_t blocked; /* its signal mask, bit n − 1 for signal n */
    uint64_t pc, sp;  /* 0: unknown */
    uint64_t stack_low, stack_high; /* 0: unknown */
    uint64_t registers[40];
    uint8_t reserved[24];
    _Atomic uint32_t walk; /* LG__COMMIT_WALK when the rest is whole, written last */
    uint32_t walk_crc;     /* CRC-32C of the bytes behind it up to the last stored pc */
    uint32_t method;       /* stage whose method it is: 3 or 4 */
    uint32_t reserved1;
    struct lg__frames_head head;
    uint64_t pcs[LG__THREAD_FRAMES_MAX];
};
static_assert(offsetof(struct lg__thread, tid) == 8, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, name) == 24, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, blocked) == 40, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, registers) == 80, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, walk) == 424, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, walk_crc) == 428, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, method) == 432, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, head) == 440, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, pcs) == 464, "FORMAT.md, threads");
static_assert(sizeof(struct lg__thread) == 1232, "FORMAT.md, threads");

/* ---- Run file: stack memory at the crash; chunks one behind the other, each committed by itself ---- */

#define LG__COMMIT_CHUNK UINT32_C(0x4b4e4843) /* "CHNK" in the file */
#define LG__CHUNK_ALIGN 32u

struct lg__chunk { /* followed by `size` bytes, padded to LG__CHUNK_ALIGN */
    _Atomic uint32_t commit; /* LG__COMMIT_CHUNK when whole, written last */
    uint32_t crc;            /* CRC-32C of the bytes behind it and of the memory, in this order */
    uint64_t start;          /* address of the first byte */
    uint32_t size;
    int32_t tid;             /* whose stack it is */
    uint64_t reserved;
};
static_assert(offsetof(struct lg__chunk, start) == 8, "FORMAT.md, stacks");
static_assert(offsetof(struct lg__chunk, size) == 16, "FORMAT.md, stacks");
static_assert(offsetof(struct lg__chunk, tid) == 20, "FORMAT.md, stacks");
static_assert(sizeof(struct lg__chunk) == 32, "FORMAT.md, stacks");

/* ---- Run file: the last bytes of standard error ---- */

#define LG__TAIL_BYTES 4032

struct lg__tail { /* always current; no checksum */
    _Atomic uint64_t total; /* bytes ever written; the byte with number n is at n mod LG__TAIL_BYTES; stored after the bytes */
    uint8_t reserved[56];
    uint8_t bytes[LG__TAIL_BYTES];
};
static_assert(offsetof(struct lg__tail, bytes) == 64, "FORMAT.md, tail");
static_assert(sizeof(struct lg__tail) == 4096, "FORMAT.md, tail");

/* ---- Run file: the ring log ---- */

#define LG__CELL_BYTES 32u
#define LG__RING_CLOCK_MONOTONIC 1u /* time fields are CLOCK_MONOTONIC nanoseconds */
#define LG__RING_CLOCK_COUNTER 2u   /* time fields are cycles: ns = base_ns + ((t − base_count) × mult >> shift) */

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
    _Atomic int32_t tid;   /* owner; 0: shared by all threads */
    uint8_t reserved[52];
};
static_assert(sizeof(struct lg__lane) == 64, "FORMAT.md, ring");

#define LG__ENTRY_TEXT 0u
#define LG__ENTRY_CUT 0x80u /* flag in `kind` */

struct lg__entry { /* followed by `size` bytes of text; entries start at cells and may wrap at the end of the lane */
    uint64_t commit;   /* CRC-32C of the header behind this field and of the text, in the upper half; the lower half of sequence + 1 in the lower */
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

/* ---- Ledger: hot page ---- */

struct lg__hot {
    _Atomic uint64_t owner;        /* who is the primary: pid in the upper half, a hash of start time and boot id in the lower */
    _Atomic uint64_t next_ordinal; /* of the next run, from 1 */
    _Atomic uint32_t starting;     /* lg_start() calls begun since one last completed */
    uint32_t reserved0;
    _Atomic uint64_t crash_ordinal; /* last run that crashed */
    _Atomic uint64_t crash_ns;      /* CLOCK_MONOTONIC of it */
    uint8_t reserved[472];
};
static_assert(offsetof(struct lg__hot, next_ordinal) == 8, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot, starting) == 16, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__hot, crash_ordinal) == 24, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__hot) == 512, "FORMAT.md, ledger");

/* ---- Ledger: the book, in two slots written alternately ---- */

#define LG__CONTEXT_DUE 1u       /* a repair is needed whatever the streak */
#define LG__CONTEXT_REPORTING 2u /* on_report is being called */
#define LG__CONTEXT_SKIPPABLE 4u /* a suspect task may be left out: the built-in rung can be tried */
#define LG__CONTEXT_SHADOW 8u    /* the last launch decided and did nothing */

#define LG__RUNG_BUILT_IN 0x80000000u

#define LG__RUNGS 17 /* the built-in one and LG_REPAIRS_MAX of the program */
#define LG__SUSPECTS 8

struct lg__book_rung {
    char name[LG__NAME_BYTES];
    uint64_t series_wall_ns; /* when the last series of attempts began; 0: never */
    uint32_t impact;
    uint32_t attempts; /* allowed in a series */
    uint32_t timeout_ms;
    uint32_t flags; /* LG_REPAIR_*, LG__RUNG_BUILT_IN */
    uint64_t reserved;
};
static_assert(offsetof(struct lg__book_rung, series_wall_ns) == 64, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_rung, impact) == 72, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_rung, flags) == 84, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__book_rung) == 96, "FORMAT.md, ledger");

struct lg__book_suspect {
    char key[LG__NAME_BYTES];
    uint32_t crashes;
    uint32_t left_out; /* 1: the last launch left it out */
};
static_assert(offsetof(struct lg__book_suspect, crashes) == 64, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__book_suspect) == 72, "FORMAT.md, ledger");

struct lg__book_context {
    char name[LG__NAME_BYTES];
    uint32_t phase; /* lg_phase: where the launch of the last run is or was; docs/LAUNCH.md */
    uint32_t mode;  /* lg_launch_mode */
    uint32_t flags; /* LG__CONTEXT_* */
    uint32_t streak, unknown, reported, report_strikes;
    uint32_t rung, rung_count, attempts, interruptions;
    uint32_t skips, held_deaths;
    uint32_t good_runs, safe_crashes, retry_runs;
    uint32_t quiet;
    uint32_t report_after, repair_after, unknown_after;
    uint32_t count; /* LG_COUNT_* */
    uint32_t safe_retry_runs, safe_retry_max, safe_crash_limit;
    uint32_t deescalate_runs;
    uint32_t events; /* LG_EVENT_*, of the last launch */
    uint32_t suspect_count;
    uint32_t reserved0;
    uint64_t deescalate_ms, streak_gap_ms;
    uint64_t launches, crashes, repairs;
    uint64_t first_ordinal;    /* first run of the streak; 0 = no streak */
    uint64_t reported_ordinal; /* last run that was reported */
    uint64_t crash_boottime_ns, repair_boottime_ns; /* CLOCK_BOOTTIME; 0 = never */
    uint8_t crash_boot_id[16], repair_boot_id[16];
    char last_task[LG__NAME_BYTES]; /* task that the last counted crash came in; "" for none */
    uint8_t reserved[40];
    struct lg__book_suspect suspects[LG__SUSPECTS];
    struct lg__book_rung rungs[LG__RUNGS];
};
static_assert(offsetof(struct lg__book_context, phase) == 64, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, streak) == 76, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, rung) == 92, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, skips) == 108, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, good_runs) == 116, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, quiet) == 128, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, count) == 144, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, deescalate_runs) == 160, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, deescalate_ms) == 176, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, launches) == 192, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, first_ordinal) == 216, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, crash_boottime_ns) == 232, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, crash_boot_id) == 248, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, last_task) == 280, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, suspects) == 384, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_context, rungs) == 960, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__book_context) == 2592, "FORMAT.md, ledger");

struct lg__book_run {
    uint8_t uuid[16];
    uint64_t ordinal;
    uint64_t wall_ns;
    uint64_t duration_ns;
    uint32_t end;      /* lg_end */
    uint32_t evidence; /* lg_evidence */
    int32_t signal;
    int32_t code;
    uint32_t kind; /* lg_crash_kind */
    uint32_t launching, repairing, counted; /* bit i: contexts[i] */
    char app_version[LG__NAME_BYTES];
    uint64_t monotonic_ns; /* of the end, 0 = unknown */
    uint32_t attributed;   /* bit i: the crash was in a module or a task of contexts[i]; 0 for all: of nobody in particular */
    uint32_t events[LG__CONTEXTS]; /* LG_EVENT_*, of contexts[i] */
    uint8_t reserved[44];
};
static_assert(offsetof(struct lg__book_run, end) == 40, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_run, launching) == 60, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_run, app_version) == 72, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_run, monotonic_ns) == 136, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_run, attributed) == 144, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book_run, events) == 148, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__book_run) == 256, "FORMAT.md, ledger");

#define LG__TIMELINE 16

struct lg__book {
    char app_id[LG__NAME_BYTES];
    char app_version[LG__NAME_BYTES];
    uint8_t build_id[LG__BUILD_ID_BYTES];
    uint32_t build_id_size;
    uint32_t context_count;
    uint32_t timeline_count;
    uint32_t reserved0;
    uint64_t last_ordinal; /* the primary run that made the last store; 0 = none */
    uint8_t last_uuid[16];
    uint8_t reserved[56];
    struct lg__book_run timeline[LG__TIMELINE]; /* oldest first */
    struct lg__book_context contexts[LG__CONTEXTS];
};
static_assert(offsetof(struct lg__book, build_id) == 128, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book, build_id_size) == 160, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book, last_ordinal) == 176, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book, last_uuid) == 184, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book, timeline) == 256, "FORMAT.md, ledger");
static_assert(offsetof(struct lg__book, contexts) == 4352, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__book) == 45824, "FORMAT.md, ledger");

struct lg__slot {
    uint64_t generation; /* the larger of the two whole slots counts */
    uint32_t size;       /* bytes of the book that are used: up to the end of the last context */
    uint32_t crc;        /* CRC-32C of generation, size, the used bytes of the book, in this order */
    struct lg__book book;
};
static_assert(offsetof(struct lg__slot, book) == 16, "FORMAT.md, ledger");
static_assert(sizeof(struct lg__slot) == 45840, "FORMAT.md, ledger");

#endif
