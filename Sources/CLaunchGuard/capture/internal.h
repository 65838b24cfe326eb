/* Shared by the files of capture/ only. */
#ifndef LG_CAPTURE_INTERNAL_H
#define LG_CAPTURE_INTERNAL_H

#include "capture/capture.h"
#include "launchguard/reader.h"
#include "launchguard/session.h"
#include "os/os.h"

#include <ucontext.h>

/* ---- state of the handler: one for the process, in static memory ---- */

struct lg__capture {
    struct lg__capture_options options;
    struct sigaction previous[SIGSYS + 1];
    bool installed[SIGSYS + 1];
    pid_t pid;                    /* of the owner of the session */
    const _Atomic uint32_t *owns; /* 1; reads 0 in a forked child, whose copy of the page the kernel wipes */

    _Atomic uint32_t latch;   /* thread id of the crash under way; 0: none */
    _Atomic uint32_t phase;   /* enum lg__capture_phase */
    _Atomic uint32_t stage;   /* lg_stage under way */
    _Atomic uint64_t chain_sp; /* stack pointer of our handler while an earlier one runs */
    _Atomic uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: not armed */
    uint32_t sequence;
    uint32_t skipped; /* stages that crashed */
    siginfo_t info;   /* of the crash under way, for the deadline */
    bool siginfo_lost; /* it is not what the kernel said */
    uint32_t recrashes;
    struct lg__arch_mark stage_mark; /* where a stage that crashes goes on */
    struct lg__arch_mark read_mark;  /* where a guarded read that faults goes on */
    _Atomic bool reading;            /* read_mark is set */

    _Atomic uint32_t prepared; /* futex: 1 when lg__capture_prepare() is done */
};

enum lg__capture_phase { LG__PHASE_IDLE, LG__PHASE_CAPTURING, LG__PHASE_CHAINING };

extern struct lg__capture lg__capture;

/* True in the process that started the session; false in its children. */
bool lg__capture_owner(void);

/* ---- finish.c ---- */

/* The end: call the earlier handler (if `chain`), else die as if there had been no handler. Returns when the program is to go on or the
 * signal is queued. */
void lg__finish(int signal, siginfo_t *info, void *ucontext, bool chain);

/* ---- deadline.c ---- */

void lg__deadline_arm(void);
/* From here on it is the earlier handler that takes its time. */
void lg__deadline_arm_handler(void);
void lg__deadline_disarm(void);

/* ---- classify.c ---- */

/* Kind of a crash, and which fields of siginfo mean something. */
void lg__classify(const siginfo_t *info, const struct lg__arch_fault *fault, uint64_t stack_low, pid_t self,
                  struct lg__crash_header *header);

/* ---- memory.c: reads that never fault: pages found readable once are read with plain loads from then on ---- */

/* Forget which pages were found readable. At the begin of each crash. */
void lg__memory_forget(void);
/* Copy as many of `size` bytes as can be read from `from` on; returns how many. */
size_t lg__memory_read(void *to, uint64_t from, size_t size);
/* One word. */
bool lg__memory_word(uint64_t from, uint64_t *ret_word);

/* ---- stages.c ---- */

void lg__stage_header(int signal, const siginfo_t *info, const void *ucontext);
void lg__stage_context(const void *ucontext);
void lg__stage_frames(const void *ucontext);
void lg__stage_dwarf(const void *ucontext);
void lg__stage_messages(void); /* messages.c */
void lg__stage_threads(void);  /* threads.c */
void lg__stage_process(void);  /* process.c */
void lg__stage_done(void);
/* A stage that crashed: commit what it had. */
void lg__stage_process_commit(void);
/* A walk that crashed: commit what it had. */
void lg__stage_walk_crashed(unsigned stage);

/* ---- frames.c: where a walk puts its frames ---- */

struct lg__frames {
    struct lg__frames_head *head;
    uint64_t *pcs;
    uint32_t capacity; /* of pcs */
    uint32_t last;     /* of these, kept for the outermost frames of a deeper stack */
};

/* Empty it, before a walk. */
void lg__frames_begin(const struct lg__frames *frames);
/* Append one frame: the innermost ones in order, then a ring of the outermost. */
void lg__frames_add(const struct lg__frames *frames, uint64_t pc);
/* Put the ring in order once the walk is over. */
void lg__frames_finish(const struct lg__frames *frames, enum lg__walk reason);
/* Bytes that head and stored pcs take when they lie one behind the other. */
size_t lg__frames_size(const struct lg__frames *frames);

/* ---- walks: fill `frames` from the registers of an interrupted context, in the order of lg__arch_registers() ---- */

/* `wild`: pc was reached by a call through a bad pointer, so the caller's address lies where the call put it. Only on the thread whose
 * crash is being recorded, also for the stacks of others. */
void lg__unwind_fp(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames);
void lg__unwind_dwarf(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames);
/* Make the unwinder's tables; on an ordinary thread. */
void lg__unwind_dwarf_prepare(void);

/* ---- files.c: files of /proc; a path that does not start with '/' is relative to the directory of this process's threads ---- */

void lg__files_prepare(void);
/* A descriptor, to be closed with lg__os_close(), or −errno. */
int lg__files_open(const char *path);
/* Read a small file whole, cut to fit, with a NUL; returns its size, 0 if it cannot be read. */
size_t lg__files_read(const char *path, char *to, size_t size);
/* As lg__os_list_numbers(). "." is the directory of the threads itself. */
long lg__files_list(const char *path, bool (*each)(uint32_t number, void *argument), void *argument);
/* After the record: take a reserve again, should the process live on. */
void lg__files_restore(void);

/* ---- messages.c, exception.c, process.c: at start ---- */

void lg__messages_prepare(void);
void lg__exception_prepare(void);
void lg__process_prepare(void);

/* The C++ exception with which the calling thread terminates; NULL: none. */
struct lg__exception {
    const char *type; /* mangled; NULL: terminated without an exception */
    bool has_what;
    bool pure_virtual;
    char what[2048];
};
const struct lg__exception *lg__exception_pending(void);
void lg__exception_forget(void);

/* ---- threads.c ---- */

/* Walk the stacks of the threads that stage 6 found; after a crash in one of them, those that are left. */
void lg__threads_walk(void);
bool lg__threads_left(void);
/* Slots in use. */
uint32_t lg__threads_count(void);
/* Let them go on. */
void lg__threads_release(void);

/* Where a thread is for which an earlier handler was called: still in it, or gone on because that one jumped out. */
enum lg__place { LG__PLACE_UNKNOWN, LG__PLACE_INSIDE, LG__PLACE_OUTSIDE };
/* Ask it. Takes a moment; UNKNOWN also when another thread is asking. */
enum lg__place lg__threads_probe(int32_t tid);
/* The answer for an interrupted context of that thread. */
enum lg__place lg__capture_place(const void *ucontext);

/* ---- disposition.c ---- */

/* Signals that handler.c takes; 0 ends the list. */
extern const int lg__capture_signals[];
/* The handler installed for one of them. */
void (*lg__capture_handler(int signal))(int, siginfo_t *, void *);
/* What our handlers block: all but the crashes. Handler. */
uint64_t lg__capture_mask(void);
/* Install it again, with our flags. Handler. */
void lg__capture_install_again(int signal);
/* At the entry of a handler: true when somebody took SA_SIGINFO from it, so that `info` means nothing. */
bool lg__disposition_lost_siginfo(int signal);
/* A thread begins, or registers itself: does it block what it must not? */
void lg__disposition_check_thread(void);

/* ---- altstack.c ---- */

/* Smallest stack that will do. */
size_t lg__altstack_least(void);
/* Bounds of the calling thread's stack as known since its registration; zeros if unknown. */
void lg__altstack_bounds(uint64_t *ret_low, uint64_t *ret_high);

/* ---- modules.c ---- */

struct lg__module_range {
    uint64_t start, end, bias;
    uint64_t frame_header; /* address of PT_GNU_EH_FRAME; 0: none */
    uint64_t table;        /* address of its search table */
    uint64_t table_count;  /* entries */
};

/* Read the loaded modules and publish the table, in memory and in the run file. On an ordinary thread. */
void lg__modules_refresh(void);
/* The module that holds an address; NULL: none known. */
const struct lg__module_range *lg__modules_find(uint64_t address);

#endif
