/* Layer 1: the crash record of a run file. */
#ifndef LG_STORE_FORMAT_RECORD_H
#define LG_STORE_FORMAT_RECORD_H

#include "store/format_header.h"

/* ---- Run file: the crash record, committed in stages ---- */

#define LG__STAGES 16
/* "\0LGSTAGE" in the file, plus the stage in the lowest byte */
#define LG__COMMIT_STAGE UINT64_C(0x4547415453474c00)

struct lg__stage {
    uint32_t offset;   /* of the block, from the start of the record section; written at creation */
    uint32_t capacity; /* written at creation; 0: this version never writes the stage */
    uint32_t size;
    uint32_t crc;            /* CRC-32C of the block's first `size` bytes */
    _Atomic uint64_t commit; /* LG__COMMIT_STAGE + stage when whole, written last */
};
static_assert(sizeof(struct lg__stage) == 24, "FORMAT.md, record");

enum lg__outcome {
    LG__OUTCOME_DYING = 0,     /* the process was about to die of it */
    LG__OUTCOME_CHAINED = 1,   /* an earlier handler was called: the program may live on */
    LG__OUTCOME_HANDLED = 2,   /* its thread was seen to go on after it */
    LG__OUTCOME_LEFT = 3,      /* that handler was left, and the signal may come again */
    LG__OUTCOME_RECORDING = 4  /* its record is not finished */
};

/* In the word of an outcome: enum lg__outcome, and above it the low bits of the crash's sequence
 * number, so that a late word about one crash is never taken for the next. */
#define LG__OUTCOME_BITS 8u

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
    _Atomic uint32_t outcome; /* see LG__OUTCOME_BITS */
    /* places taken for notes; those beyond LG__NOTES_MAX are only counted */
    _Atomic uint32_t note_count;
    /* sequence number of the crash in whose earlier handler this one happened; 0: none */
    _Atomic uint32_t within;
    uint8_t reserved0[52];
    struct lg__note notes[LG__NOTES_MAX];
    uint8_t reserved1[64];
};
static_assert(offsetof(struct lg__record, outcome) == 384, "FORMAT.md, record");
static_assert(offsetof(struct lg__record, within) == 392, "FORMAT.md, record");
static_assert(offsetof(struct lg__record, notes) == 448, "FORMAT.md, record");
static_assert(sizeof(struct lg__record) == 1024, "FORMAT.md, record");

#define LG__CRASH_HAS_ADDRESS 1u
#define LG__CRASH_HAS_SENDER 2u
#define LG__CRASH_HAS_SYSCALL 4u
/* other code took SA_SIGINFO from the handler: the kernel's account of the signal is not known */
#define LG__CRASH_SIGINFO_LOST 8u
/* the process had passed through exit() */
#define LG__CRASH_EXITING 16u

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
    X(LG__WALK_FAILED, 8, "the unwinder gave up") \
    X(LG__WALK_NO_CALL, 9, "the next return address is not after a call")

enum lg__walk {
#define LG__WALK_ENUM(identifier, value, sentence) identifier = value,
    LG__WALK_TABLE(LG__WALK_ENUM)
#undef LG__WALK_ENUM
};

struct lg__frames_head { /* followed by `stored` pcs */
    uint16_t stored;
    uint16_t first;
    uint32_t total;
    uint32_t reason;  /* enum lg__walk */
    /* frames found by frame pointer in the middle of a walk by unwind tables: code without them */
    uint32_t assumed;
    /* Of each frame from which the kernel called a signal handler, as the walk found by unwind
     * tables: the next frame was interrupted. One value is enough: a process returns from all its
     * handlers at one place. 0: none. */
    uint64_t signal_pc;
};
static_assert(offsetof(struct lg__frames_head, total) == 4, "FORMAT.md, record");
static_assert(offsetof(struct lg__frames_head, reason) == 8, "FORMAT.md, record");
static_assert(offsetof(struct lg__frames_head, assumed) == 12, "FORMAT.md, record");
static_assert(offsetof(struct lg__frames_head, signal_pc) == 16, "FORMAT.md, record");
static_assert(sizeof(struct lg__frames_head) == 24, "FORMAT.md, record");

/* Where a frame is in its function, by the unwind tables: that much of a place is the same in each
 * build in which the function is. */
struct lg__function {
    uint32_t offset; /* of the instruction that is looked up, from the begin of the function */
    uint32_t size;   /* of the function; 0: not known */
};
static_assert(sizeof(struct lg__function) == 8, "FORMAT.md, record");

/* Directly after the last stored pc of a walk by unwind tables, as far as there is room. */
struct lg__functions {
    uint32_t count; /* of the first frames, in their order */
    uint32_t crc;   /* CRC-32C of the functions */
    struct lg__function functions[];
};
static_assert(sizeof(struct lg__functions) == 8, "FORMAT.md, record");

/* As many frames as a fingerprint looks at. */
#define LG__FUNCTIONS_MAX 66
#define LG__FUNCTIONS_WORDS (LG__FUNCTIONS_MAX + 1)

/* Stages 3 and 4; the committed size ends with the last stored pc, and in stage 4 with the
 * functions after it. */
struct lg__crash_frames {
    struct lg__frames_head head;
    uint64_t pcs[LG__FRAMES_MAX];
    uint64_t functions[LG__FUNCTIONS_WORDS]; /* room for them after all pcs */
};
static_assert(offsetof(struct lg__crash_frames, pcs) == 24, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_frames, functions) == 4120, "FORMAT.md, record");
static_assert(sizeof(struct lg__crash_frames) == 4656, "FORMAT.md, record");

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
    uint32_t kind; /* lg_crash_kind by the messages; 0: that of the header */
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
    uint64_t cpu_ns;   /* CPU time of the crashed thread since it began; 0: unknown */
    uint8_t reserved[24];
};
static_assert(offsetof(struct lg__crash_threads, omitted) == 16, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_threads, waited_ns) == 24, "FORMAT.md, record");
static_assert(offsetof(struct lg__crash_threads, cpu_ns) == 32, "FORMAT.md, record");
static_assert(sizeof(struct lg__crash_threads) == 64, "FORMAT.md, record");

#define LG__RESOURCES 32
#define LG__RESOURCE_UNKNOWN UINT64_MAX
#define LG__RESOURCE_UNLIMITED (UINT64_MAX - 1) /* of a limit */
#define LG__MAP_BYTES 48864

struct lg__crash_process { /* stage 7; the committed size ends with the used text */
    /* by lg_resource_id; LG__RESOURCE_UNKNOWN, LG__RESOURCE_UNLIMITED */
    uint64_t resources[LG__RESOURCES];
    uint32_t map_size;
    uint32_t map_cut;        /* 1: there was more */
    uint32_t stacks;         /* chunks of stack memory stored */
    /* of these, how many are shorter than they should be, for lack of room */
    uint32_t stacks_cut;
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

/* A frame whose word below the frame pointer leads to a chain that could be one of the Swift
 * runtime's AsyncContexts. Whether the frame's function is asynchronous, so that it is one, only
 * symbols tell. */
struct lg__async_chain { /* followed by the callers' addresses, `count` words */
    uint64_t pc;    /* of the frame, as in its walk */
    uint32_t frame; /* its number in the walk by unwind tables; 0: the innermost */
    uint16_t count;
    uint16_t cut;   /* 1: there was more */
};
static_assert(sizeof(struct lg__async_chain) == 16, "FORMAT.md, record");

#define LG__ASYNC_CHAINS_MAX 16
#define LG__ASYNC_CALLERS_MAX 192
#define LG__ASYNC_WORDS 399

/* Stage 9, committed where a chain was found; the committed size ends with the last chain. */
struct lg__crash_async {
    uint32_t count;   /* chains */
    uint32_t omitted; /* those that found no room */
    uint64_t words[LG__ASYNC_WORDS];
};
static_assert(offsetof(struct lg__crash_async, words) == 8, "FORMAT.md, record");
static_assert(sizeof(struct lg__crash_async) == 3200, "FORMAT.md, record");

/* ---- Run file: brief records, of crashes while an earlier one was with its handler ---- */

#define LG__BRIEFS 4
#define LG__BRIEF_FRAMES_MAX 128
#define LG__BRIEF_FRAMES_LAST 16

enum lg__brief_part { LG__BRIEF_HEADER, LG__BRIEF_CONTEXT, LG__BRIEF_FRAMES, LG__BRIEF_PARTS };

struct lg__brief {
    struct lg__brief_commit {
        uint32_t size;
        uint32_t crc;            /* CRC-32C of the first `size` bytes of the part */
        /* LG__COMMIT_STAGE + stage when whole, written last: stages 1, 2 and 3 */
        _Atomic uint64_t commit;
    } parts[LG__BRIEF_PARTS];
    _Atomic uint32_t outcome; /* see LG__OUTCOME_BITS */
    _Atomic uint32_t within;  /* as in struct lg__record */
    uint8_t reserved0[8];
    struct lg__crash_header header;
    struct lg__crash_context context;
    struct lg__frames_head head; /* the part LG__BRIEF_FRAMES: head and stored pcs */
    uint64_t pcs[LG__BRIEF_FRAMES_MAX];
    uint8_t reserved1[56];
};
static_assert(sizeof(struct lg__brief_commit) == 16, "FORMAT.md, brief records");
static_assert(offsetof(struct lg__brief, outcome) == 48, "FORMAT.md, brief records");
static_assert(offsetof(struct lg__brief, within) == 52, "FORMAT.md, brief records");
static_assert(offsetof(struct lg__brief, header) == 64, "FORMAT.md, brief records");
static_assert(offsetof(struct lg__brief, context) == 256, "FORMAT.md, brief records");
static_assert(offsetof(struct lg__brief, head) == 1200, "FORMAT.md, brief records");
static_assert(offsetof(struct lg__brief, pcs) == 1224, "FORMAT.md, brief records");
static_assert(sizeof(struct lg__brief) == 2304, "FORMAT.md, brief records");

struct lg__briefs {
    uint32_t count;       /* of the records that follow; 0 until the first one */
    uint32_t brief_bytes; /* sizeof(struct lg__brief) of the writer */
    uint8_t reserved[56];
    struct lg__brief briefs[LG__BRIEFS];
};
static_assert(offsetof(struct lg__briefs, brief_bytes) == 4, "FORMAT.md, brief records");
static_assert(offsetof(struct lg__briefs, briefs) == 64, "FORMAT.md, brief records");
static_assert(sizeof(struct lg__briefs) == 9280, "FORMAT.md, brief records");

/* ---- Run file: the other threads at the crash; each slot is committed by itself ---- */

struct lg__threads { /* followed by `slot_count` slots; all zero until a crash comes to them */
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
    /* LG__COMMIT_THREAD when the part up to `walk` is whole, written last */
    _Atomic uint32_t commit;
    uint32_t crc;            /* CRC-32C of the bytes after it up to `walk` */
    int32_t tid;
    uint32_t how;   /* lg_thread_how */
    uint32_t state; /* letter of proc(5); 0: not asked for */
    uint32_t register_count;
    char name[16];
    uint64_t blocked; /* its signal mask, bit n − 1 for signal n */
    uint64_t pc, sp;  /* 0: unknown */
    uint64_t stack_low, stack_high; /* 0: unknown */
    uint64_t registers[40];
    /* of the crash or the snapshot whose question it answers: an answer that comes late belongs to
     * no later one; 0: not known */
    uint32_t sequence;
    uint32_t reserved0;
    uint64_t cpu_ns; /* its CPU time since it began; 0: unknown */
    uint64_t reserved;
    _Atomic uint32_t walk; /* LG__COMMIT_WALK when the rest is whole, written last */
    /* CRC-32C of the bytes after it up to the last stored pc, and of the words of the chains */
    uint32_t walk_crc;
    uint32_t method;       /* stage whose method it is: 3, 4 or 9 */
    uint8_t async_words;    /* of chains of asynchronous callers: the last ones of `pcs` */
    uint8_t async_chains;
    uint16_t async_omitted; /* chains that found no room */
    struct lg__frames_head head;
    uint64_t pcs[LG__THREAD_FRAMES_MAX];
};
static_assert(offsetof(struct lg__thread, tid) == 8, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, name) == 24, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, blocked) == 40, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, registers) == 80, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, sequence) == 400, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, cpu_ns) == 408, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, walk) == 424, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, walk_crc) == 428, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, method) == 432, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, async_words) == 436, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, async_chains) == 437, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, async_omitted) == 438, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, head) == 440, "FORMAT.md, threads");
static_assert(offsetof(struct lg__thread, pcs) == 464, "FORMAT.md, threads");
static_assert(sizeof(struct lg__thread) == 1232, "FORMAT.md, threads");

/* ---- Run file: stack memory at the crash; consecutive chunks, each committed by itself ---- */

#define LG__COMMIT_CHUNK UINT32_C(0x4b4e4843) /* "CHNK" in the file */
#define LG__CHUNK_ALIGN 32u

struct lg__chunk { /* followed by `size` bytes, padded to LG__CHUNK_ALIGN */
    _Atomic uint32_t commit; /* LG__COMMIT_CHUNK when whole, written last */
    uint32_t crc;            /* CRC-32C of the bytes after it and of the memory, in this order */
    uint64_t start;          /* address of the first byte */
    uint32_t size;
    int32_t tid;             /* whose stack it is */
    uint64_t reserved;
};
static_assert(offsetof(struct lg__chunk, start) == 8, "FORMAT.md, stacks");
static_assert(offsetof(struct lg__chunk, size) == 16, "FORMAT.md, stacks");
static_assert(offsetof(struct lg__chunk, tid) == 20, "FORMAT.md, stacks");
static_assert(sizeof(struct lg__chunk) == 32, "FORMAT.md, stacks");

#endif
