/* Shared by the files of capture/ only. */
#ifndef LG_CAPTURE_INTERNAL_H
#define LG_CAPTURE_INTERNAL_H

#include "capture/capture.h"
#include "capture/crash.h"
#include "launchguard/reader.h"
#include "launchguard/session.h"
#include "os/os.h"

#include <ucontext.h>

/* Small memory that a crash writes to first: beside initialized variables, on pages that exist. */
#define LG__SMALL __attribute__((section(".data.lg_small")))

/* ---- walkers ---- */

/* Three threads walk stacks: the one whose crash is recorded; the watch thread, for a snapshot of a
 * program that lives; and one whose guard has found a fault, over its own stack. Each of the three
 * has its own memory for a walk: a crash waits for no other walk, and a page that one of them lost
 * does not mislead another. */
enum lg__walker { LG__WALKER_CRASH, LG__WALKER_WATCH, LG__WALKER_GUARD, LG__WALKERS };
/* The walker that the calling thread is. Initial-exec: exists with the thread. */
extern __thread uint32_t lg__memory_walker __attribute__((tls_model("initial-exec")));

/* ---- handler.c: what is installed ---- */

void lg__handler_crash(int signal, siginfo_t *info, void *ucontext);
void lg__handler_terminate(int signal, siginfo_t *info, void *ucontext);

/* ---- record.c ---- */

/* Write the record of this crash, under the crash lock. */
void lg__record_write(struct lg__crash *crash, const void *ucontext);
/* Add to the first stages of a full record the rest. Under the crash lock, inside the handler of
 * the crash. */
void lg__record_complete(struct lg__crash *crash);
/* A second crash on the thread whose crash is being recorded. Does not return while a stage can
 * still be left out. */
void lg__record_recrash(int signal, const void *ucontext);
/* lg_stage under way. */
uint32_t lg__record_stage(void);

/* ---- turn.c ---- */

/* Take the crash lock. false: the calling thread has the lock already, and crashed while it wrote a
 * record or died. */
bool lg__turn_take(int signal, int32_t self, const void *ucontext);

/* ---- complete.c: crashes whose handler recovers as a rule ---- */

/* The crash has a brief record, whose rest can be written now. On its thread, inside its
 * handler. */
bool lg__complete_is_owed(uint32_t sequence);
/* Write that rest, under the crash lock: `inner`, a crash inside that handler, has begun. */
void lg__complete_outer(uint32_t sequence, struct lg__crash *inner);
/* Write that rest, if it is owed: the handler does not recover from the crash. */
void lg__complete_record(uint32_t sequence);

/* ---- classify.c ---- */

/* Kind of a crash, and which fields of siginfo are valid. */
void lg__classify(const siginfo_t *info, const struct lg__arch_fault *fault, uint64_t stack_low, pid_t self,
                  struct lg__crash_header *header);

/* ---- memory.c: reads that never fault; plain loads where a page was readable before ---- */

/* Forget which pages were found readable. At the begin of each crash on its thread, and of each
 * snapshot on the watch thread. `recovers`: the handler sends faults of this thread's reads back
 * with lg__memory_recover(). */
void lg__memory_forget(bool recovers);
/* Counts these calls for each walker: a page learned at an earlier count is no longer known. */
extern uint32_t lg__memory_age[LG__WALKERS];
/* In the handler, for a fault of the calling thread: if a guarded read made the fault, go back to
 * that read. */
void lg__memory_recover(void);
/* The same for a handler that returns: the mark to go back to. NULL: no guarded read made the
 * fault. */
const struct lg__arch_mark *lg__memory_mark(void);
/* Make our own pages exist; in the handler that costs microseconds for each. On an ordinary thread,
 * also while another thread crashes. */
void lg__memory_touch(void *memory, size_t size);
void lg__memory_prepare(void);
/* Call a function that reads with plain loads from memory that may be gone (the file of a module
 * was cut). false: the function crashed. It must not call any other function of memory.c. */
bool lg__memory_guarded(void (*function)(void *), void *argument);
/* Copy as many of the `size` bytes from `from` on as can be read; returns their number. */
size_t lg__memory_read(void *to, uint64_t from, size_t size);
/* The same on an ordinary thread, before the handlers are installed, too: asks the kernel about
 * each page each time, and keeps nothing. */
size_t lg__memory_copy(void *to, uint64_t from, size_t size);
/* On an ordinary thread: a function of another module is there to be called. NULL is not. */
bool lg__memory_has_code(void (*function)(void));
/* One word. */
bool lg__memory_word(uint64_t from, uint64_t *ret_word);

/* ---- stages.c ---- */

/* Memory of the full record is about to be written: it comes from far while other work is done. */
void lg__stages_expect(void);
/* The part of the header that is known at once. No system call, and no thread-local variable. */
void lg__stages_first(const struct lg__crash *crash, const void *ucontext);
void lg__stages_header(const struct lg__crash *crash, const void *ucontext);
void lg__stages_context(const struct lg__crash *crash, const void *ucontext);
void lg__stages_frames(const struct lg__crash *crash, const void *ucontext);
void lg__stages_dwarf(const struct lg__crash *crash, const void *ucontext);
/* stage 4 once more, where its walk crashed */
void lg__stages_spare_walk(const struct lg__crash *crash, const void *ucontext);
void lg__messages_stage(void); /* messages.c */
void lg__other_threads_stage(void);  /* other_threads.c */
void lg__process_stage(void);  /* process.c */
void lg__stages_done(uint32_t skipped);
/* A stage crashed: commit its data so far. */
void lg__process_commit(void);
/* A walk crashed: commit its frames so far. */
void lg__stages_walk_crashed(const struct lg__crash *crash, unsigned stage);

/* ---- frames.c: where a walk puts its frames ---- */

struct lg__frames {
    struct lg__frames_head *head;
    uint64_t *pcs;
    uint32_t capacity; /* of pcs */
    uint32_t last;     /* of them kept for the outermost frames of a deeper stack */
    uint32_t limit;    /* a walk ends after this number of frames */
};

/* Empty it, before a walk. */
void lg__frames_begin(const struct lg__frames *frames);
/* Append one frame: the innermost ones in order, then a ring of the outermost. */
void lg__frames_add(const struct lg__frames *frames, uint64_t pc);
/* Put the ring in order once the walk is over. */
void lg__frames_finish(const struct lg__frames *frames, enum lg__walk reason);
/* After that: keep the frames before this one of the innermost frames, and no others. */
void lg__frames_cut(const struct lg__frames *frames, uint32_t from, enum lg__walk reason);
/* Bytes that head and stored pcs take when they lie one behind the other. */
size_t lg__frames_size(const struct lg__frames *frames);

/* ---- caller.c ---- */

/* The bytes before an address are a call instruction. */
bool lg__caller_follows_call(uint64_t pc);
/* An address is not in the data of a module, by the modules that are known by now. */
bool lg__caller_is_in_code(uint64_t pc);
/* Both. */
bool lg__caller_is_one(uint64_t pc);

/* ---- walks: fill `frames` from registers in the order of lg__arch_registers() ---- */

/* `wild`: a call through a bad pointer led to pc, so the caller's address lies where the call put
 * it. Only on the thread whose crash is being recorded, also for the stacks of others. */
void lg__unwind_fp(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames);
void lg__unwind_dwarf(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames);
/* After that walk: puts the functions of its first frames behind its stored pcs, as many as
 * `words`, the room of `frames->pcs`, can hold. Returns the bytes that they take. */
size_t lg__unwind_dwarf_functions(const struct lg__frames *frames, uint32_t words);
/* One step by the row for pc itself: 1, 0 at the outermost frame, −1 there is none. */
int lg__unwind_dwarf_step(uint64_t registers[LG__REGISTERS_MAX]);
/* Touch the memory that it writes to. */
void lg__unwind_dwarf_prepare(void);
/* The same walk by libunwind, where that is loaded. */
void lg__unwind_libunwind(const uint64_t registers[LG__REGISTERS_MAX], bool wild, const struct lg__frames *frames);
/* Load libunwind, on an ordinary thread. false: it is not there. */
bool lg__unwind_libunwind_prepare(void);

/* own_threads.c: the thread is not asked and not counted: it is ours and does nothing for the
 * program. Handler. */
bool lg__own_threads_exempt(int32_t tid);
/* The calling thread is one of ours. */
bool lg__own_threads_is_own(void);
/* An earlier handler is called next: the watch thread and the threads that wait take this signal
 * for a second, by which that handler may stop them (stoppable.h). Waits until they do. Under the
 * crash lock. Handler. */
void lg__own_threads_offer(int signal);

/* ---- files.c: files of /proc; a relative path begins at the threads of this process ---- */

void lg__files_prepare(void);
/* A descriptor, to be closed with lg__os_close(), or −errno. */
int lg__files_open(const char *path);
/* Read a small file whole, with a NUL; long lines, and then the end, are cut to fit. Returns the
 * size of the text, 0 if the file cannot be read. */
size_t lg__files_read(const char *path, char *to, size_t size);
/* Room for a status file of proc(5). */
#define LG__FILES_STATUS_BYTES 2560u
/* Size of a file as the kernel states it, 0: unknown. */
uint64_t lg__files_size(const char *path);
/* lg__os_list_numbers() of the directory of the threads. */
long lg__files_list_threads(bool (*each)(uint32_t number, void *argument), void *argument);
/* In a forked child: the threads are those of the parent. */
void lg__files_forget(void);
/* After the record: take a reserve again, in case the process lives on. */
void lg__files_restore(void);

/* ---- messages.c, exception.c: at start ---- */

void lg__messages_prepare(void);
void lg__exception_prepare(void);

/* The C++ exception with which the calling thread terminates; NULL: none. */
struct lg__exception {
    const char *type; /* mangled; NULL: terminated without an exception */
    bool has_what;
    bool pure_virtual;
    char what[2048];
};
const struct lg__exception *lg__exception_pending(void);
void lg__exception_forget(void);

/* ---- thread.c: one thread in its slot ---- */

/* `sequence`: of the crash or the snapshot that asks. */
void lg__thread_clear(struct lg__thread *slot, int32_t tid, uint32_t sequence);
/* The calling thread's own account: its identity and the registers of the interrupted context.
 * Commits the first part. */
void lg__thread_capture(struct lg__thread *slot, const void *ucontext);
/* The kernel's account of a thread that does not answer; commits the first part. false: the thread
 * is gone. */
bool lg__thread_describe(struct lg__thread *slot);
/* 1: the thread blocks the question, 0: it does not, −1: it is gone. */
int lg__thread_blocks(int32_t tid, uint64_t *ret_blocked, uint32_t *ret_state);
/* The thread waits in the kernel, in a system call or for a page: its stack pointer and pc. false:
 * the thread runs, or the kernel does not show them. */
bool lg__thread_sleeps(int32_t tid, uint64_t *ret_sp, uint64_t *ret_pc);
/* Walk the thread's stack, which stands still or may be wrong; commits the second part. */
void lg__thread_walk(struct lg__thread *slot);
/* That walk crashed: commit its frames so far. */
void lg__thread_walk_crashed(struct lg__thread *slot);

/* ---- other_threads.c ---- */

/* On a thread that waits for the crash lock: answer a question to this thread, from where the
 * thread crashed. */
void lg__other_threads_answer(const void *ucontext);
/* Walk the stacks of the threads that stage 6 found; after a crash in one of the walks, the stacks
 * that are left. */
void lg__other_threads_walk(void);
bool lg__other_threads_left(void);
/* Places in use. */
uint32_t lg__other_threads_count(void);
/* Let these threads go on. */
void lg__other_threads_release(void);
/* Wait until they have the signal masks that they had before, for a while. */
void lg__other_threads_wait_left(void);

/* ---- earlier.c ---- */

/* An action of the program, in the kernel's terms. */
struct lg__earlier {
    uintptr_t handler; /* or SIG_DFL, SIG_IGN */
    uint64_t flags;
    uint64_t mask;     /* bit n − 1 for signal n */
};
/* The action that the program has for a signal of ours, or believes to have. Handler. */
struct lg__earlier lg__earlier_of(int signal);
void lg__earlier_set(int signal, const struct lg__earlier *to);
void lg__earlier_set_default(int signal);
/* There is a function to be called. */
static inline bool lg__earlier_is_function(const struct lg__earlier *earlier)
{
    return earlier->handler != (uintptr_t)SIG_DFL && earlier->handler != (uintptr_t)SIG_IGN;
}
static inline struct lg__earlier lg__earlier_from(const struct sigaction *action)
{
    return (struct lg__earlier){ (uintptr_t)action->sa_handler, (uint32_t)action->sa_flags, *(const uint64_t *)(const void *)&action->sa_mask };
}

/* ---- finish.c ---- */

/* The end: call the earlier handler (if `chain`), else die as if there had been no handler. Returns
 * when the program is to go on or the signal is queued. `crash`: the recorded crash, under the
 * crash lock, which this function gives up; NULL: no crash was recorded. */
void lg__finish(int signal, siginfo_t *info, void *ucontext, struct lg__crash *crash, bool chain);

/* The signals that the kernel would block while the earlier handler runs. Handler. */
uint64_t lg__finish_blocks(int signal, const struct lg__earlier *earlier);
/* Call the earlier handler as the kernel would, with these signals blocked. Handler. */
void lg__finish_call(int signal, siginfo_t *info, void *ucontext, const struct lg__earlier *earlier, uint64_t blocks);
/* The record of a crash is written, and its thread is inside the earlier handler. Gives the crash
 * lock up. Handler. */
void lg__finish_let_go(struct lg__crash *crash);
/* The earlier handler of the crash with this number has returned. Handler. */
void lg__finish_returned(int signal, const siginfo_t *info, const void *ucontext, uint32_t sequence);

/* ---- libc.c: the functions of libc that interpose_signals.c takes the place of ---- */

int lg__libc_sigaction(int signal, const struct sigaction *to, struct sigaction *ret_before);
_Noreturn void lg__libc_exit_at_once(int status);
/* This library has such functions. */
bool lg__libc_is_interposed(void);

/* ---- calls.c ---- */

/* The process is about to end at once, by the calling thread: write what is owed. */
void lg__calls_end(int status);
/* The calling thread is inside our handler, or inside an earlier handler that it called. */
bool lg__calls_inside(void);


/* ---- install.c ---- */

/* One of the signals of crashes. */
bool lg__install_is_crash(int signal);
/* In a forked child that is the first process of a pid namespace: the kernel keeps such signals
 * away from it, but not where it has a handler. */
void lg__install_as_first(void);

/* Signals that leave a record; 0 ends the list. */
extern const int lg__install_signals[];
/* Install the handlers of lg__fixed. false with errno: the signals could not be taken. */
bool lg__install_all(void);
/* The handler installed for one of them. */
void (*lg__install_handler(int signal))(int, siginfo_t *, void *);
/* Install the handler again, with our flags. Handler. */
void lg__install_again(int signal);

/* ---- disposition.c ---- */

/* At the entry of a handler: true when other code took SA_SIGINFO from the handler, so that `info`
 * means nothing. */
bool lg__disposition_lost_siginfo(int signal);
/* A thread begins, or registers itself: check whether it blocks a signal that it must not block. */
void lg__disposition_check_thread(void);

/* ---- altstack.c ---- */

/* When the session starts: how large the stacks are. */
void lg__altstack_prepare(void);
/* Give the calling thread an alternate stack with guard pages, which is freed with the thread. 0 or
 * an errno. */
int lg__altstack_ensure(void);
/* Smallest stack that will do. */
size_t lg__altstack_least(void);
/* Bounds of the calling thread's stack as known since its registration; zeros if unknown. */
void lg__altstack_bounds(uint64_t *ret_low, uint64_t *ret_high);

/* ---- image.c: a module, from its program headers in memory ---- */

struct lg__module_range {
    uint64_t start, end, bias;
    uint64_t code_start, code_end;     /* executable segments, from the lowest to the highest */
    uint64_t tables_start, tables_end; /* the readable segment that holds the unwind tables */
    /* address of PT_GNU_EH_FRAME; 0: none that can be searched */
    uint64_t frame_header;
    uint64_t table;                    /* address of its search table */
    uint64_t table_count;              /* entries */
    uint64_t dynamic;                  /* address of PT_DYNAMIC; 0: none */
    uint64_t id_address;               /* of the build id */
    uint32_t id_size;
    uint32_t id_crc;
    uint32_t name_crc;                 /* of the loader's name for it */
};

/* The way to read the module's memory: lg__memory_copy() on an ordinary thread, lg__memory_read()
 * in the handler. A module's file may have been cut: no part of a module is read in another way. */
typedef size_t (*lg__image_read)(void *to, uint64_t from, size_t size);

/* Memory for the program headers, too large for small alternate stacks. */
#define LG__IMAGE_HEADERS 64u
struct lg__image_room {
    uint64_t words[LG__IMAGE_HEADERS * 7];
};

/* Everything but the name. `headers` is the address of `count` ElfW(Phdr). false: they cannot be
 * read, or no segment is loaded. */
bool lg__image_describe(struct lg__image_room *room, uint64_t headers, size_t count, uint64_t bias, lg__image_read read,
                        struct lg__module_range *ret_module);
/* The loader's name for a module, "" where the name cannot be read: that of the loader itself lies
 * in the executable. Returns its length. */
#define LG__IMAGE_NAME_BYTES 1024u
size_t lg__image_name(char to[LG__IMAGE_NAME_BYTES], uint64_t at, lg__image_read read);
/* The value of a tag in the dynamic section at an address, 0: none. */
uint64_t lg__image_dynamic(uint64_t at, int64_t tag, lg__image_read read);
/* The address of a symbol that the module defines, of at most 31 letters; 0: none. */
uint64_t lg__image_symbol(const struct lg__module_range *module, const char *name, lg__image_read read);
uint32_t lg__image_crc(const void *bytes, size_t size);

/* ---- modules.c: the table, made on an ordinary thread and published whole ---- */

struct lg__modules {
    uint32_t count;
    uint64_t adds, subs; /* dlpi_adds and dlpi_subs when it was made */
    struct lg__module_range modules[LG__MODULES_MAX]; /* sorted by start */
};

/* Read the executable's path. On an ordinary thread. */
void lg__modules_prepare(void);
/* Read the loaded modules and publish the table, in memory and in the run file. Leaves both alone
 * while a crash is recorded. On an ordinary thread. */
void lg__modules_refresh(void);
/* The table that a refresh published last; NULL: none yet. */
const struct lg__modules *lg__modules_published(void);
/* The module of a table that holds an address; NULL: none known. */
const struct lg__module_range *lg__modules_search(const struct lg__modules *table, uint64_t address);
/* Insert one module in its place. false: the table is full. */
bool lg__modules_insert(struct lg__modules *table, const struct lg__module_range *module);
/* Write a table of the run file: begin, one call for each module, commit. begin returns NULL when
 * there is no table to write; a crash writes one while another thread writes the other. An empty
 * path stands for the executable, in the first entry. */
struct lg__module_table *lg__modules_file_begin(void);
void lg__modules_file_add(struct lg__module_table *file, const struct lg__module_range *module, const char *path, lg__image_read read);
void lg__modules_file_commit(struct lg__module_table *file);

/* ---- loader.c: changes since then, by the loader's own list ---- */

/* Find that list. On an ordinary thread. */
void lg__loader_prepare(void);
/* In a forked child: the run file has no modules. */
void lg__loader_forget(void);
/* Once for each crash: use the published table, or make one when there is none or when modules came
 * or went. In the handler. */
void lg__loader_settle(void);
/* Write a table that was made to the run file. In the handler, and on the watch thread. */
void lg__loader_write(void);
/* The module that holds an address, by the table that is in use; NULL: none known. In the
 * handler. */
const struct lg__module_range *lg__loader_find(uint64_t address);

#endif
