/* Shared by the files of capture/ only. */
#ifndef LG_CAPTURE_INTERNAL_H
#define LG_CAPTURE_INTERNAL_H

#include "capture/capture.h"
#include "capture/crash.h"
#include "launchguard/reader.h"
#include "launchguard/session.h"
#include "os/os.h"
#include "walk/walk.h"

#include <ucontext.h>

/* ---- handler.c: the installed handlers ---- */

void lg__handler_crash(int signal, siginfo_t *info, void *ucontext);
void lg__handler_terminate(int signal, siginfo_t *info, void *ucontext);

/* ---- record.c ---- */

/* Write the record of this crash, under the crash lock. */
void lg__record_write(struct lg__crash *crash, const void *ucontext);
/* The record is written, and the thread goes on, in the earlier handler (CHAINS) or in the program
 * (PASSES): other crashes may be recorded from here on. Gives the lock up. */
void lg__record_let_go(struct lg__crash *crash, enum lg__crash_event event, bool unseen);
/* A second crash on the thread whose crash is being recorded. Does not return while a stage can
 * still be left out. */
void lg__record_recrash(int signal, const void *ucontext);
/* lg__fixed.on_deadline: a record ends early, without its last stages, where its time is over. */
void lg__record_deadline(uint64_t value, void *ucontext, const void *outer);
/* lg_stage under way. */
uint32_t lg__record_stage(void);

/* ---- wait_for_lock.c ---- */

/* Take the crash lock. false: the calling thread has the lock already, and crashed while it wrote a
 * record or died. */
bool lg__wait_for_lock(int signal, int32_t self, const void *ucontext);

/* ---- classify.c ---- */

/* x86-64: memory below sp that code uses without moving sp (System V ABI for AMD64, 3.2.2). */
#define LG__RED_ZONE 128u
/* A stack overflow may touch memory this far below sp: the red zone, a pushed frame, or a page that
 * a prologue probes. */
#define LG__OVERFLOW_BELOW_SP 65536u

/* Kind of a crash, and which fields of siginfo are valid. */
void lg__classify(const siginfo_t *info, const struct lg__arch_fault *fault, uint64_t stack_low, pid_t self,
                  struct lg__crash_header *header);

/* ---- stages.c ---- */

/* Memory of the full record is about to be written: prefetch it during other work. */
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
void lg__process_stage(const void *ucontext); /* process.c */
void lg__stages_done(uint32_t skipped);
/* A stage crashed: commit its data so far. */
void lg__process_commit(void);
/* A walk crashed: commit its frames so far. */
void lg__stages_walk_crashed(const struct lg__crash *crash, unsigned stage);

/* own_threads.c: the thread is neither asked nor counted, as it is ours and does nothing for the
 * program. Handler. */
bool lg__own_threads_exempt(int32_t tid);
/* The calling thread is one of ours. */
bool lg__own_threads_is_own(void);

/* ---- files.c: files of /proc; a relative path begins at the threads of this process ---- */

void lg__files_prepare(void);
/* A descriptor, to be closed with lg__os_close(), or −errno. */
int lg__files_open(const char *path);
/* The same for the kernel's map of this process, also in another root directory. */
int lg__files_open_map(void);
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

/* ---- symtab.c: handler ---- */

#define LG__SYMTAB_NAMES_MAX 9u
/* Addresses and sizes of symbols of the executable, by the table in its file; 0: not there. */
void lg__symtab_find(const char *const *names, unsigned count, uint64_t *ret_at, uint64_t *ret_size);

/* ---- exception.c: handler ---- */

/* A C++ exception: addresses. */
struct lg__exception {
    uint64_t object, type;
    uint64_t name; /* of the type, mangled; 0: terminated without an exception */
    bool pure_virtual;
};
/* The exception with which the crashed thread terminates; false: it does not. The runtime is one
 * that a module exports, or one in the executable's own table. */
bool lg__exception_find(bool exported, struct lg__exception *ret_exception);
/* Its cause, where it is a std::nested_exception. */
bool lg__exception_cause(struct lg__exception *exception);
/* Its text where its type is a number, a string, or a pointer to one, without a call; 0: none. */
#define LG__NUMBER_BYTES 24u
uint64_t lg__exception_value(const struct lg__exception *exception, char number[LG__NUMBER_BYTES]);
/* Its what(), which is code of the program; 0: it has none. */
uint64_t lg__exception_what(const struct lg__exception *exception);

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
/* A cleared slot becomes that of a task that waits. Commits both parts. false: the task does not
 * wait, and nothing was committed. */
bool lg__thread_walk_task(struct lg__thread *slot, uint64_t task);
/* The walk of a thread's stack crashed: commit its frames so far. */
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
/* Wait for a while until the threads have their earlier signal masks back. */
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
/* The action has a function to call. */
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

/* Call the handler of the program for this fault, if it has recovered from many: the fault leaves
 * no record, as long as the handler recovers. false: it has not, or this is no such fault, and
 * nothing was done. Only where LaunchGuard keeps first place, which shows when a handler gives its
 * signal up, and on an alternate stack. Handler. */
bool lg__finish_unrecorded(int signal, siginfo_t *info, void *ucontext);

/* ---- libc.c: libc's functions that interpose_signals.c replaces ---- */

int lg__libc_sigaction(int signal, const struct sigaction *to, struct sigaction *ret_before);
_Noreturn void lg__libc_exit_at_once(int status);
int lg__libc_timer_create(clockid_t clock, struct sigevent *event, timer_t *ret_timer);
int lg__libc_mq_notify(int queue, const struct sigevent *event);
/* This library has such functions. */
bool lg__libc_is_interposed(void);
/* The address of libc's abort(), where that does not open a blocked SIGABRT before it raises it;
 * else 0. */
extern uint64_t lg__libc_shut_abort;

/* ---- call_evidence.c ---- */

/* The calling thread is about to end the process at once: write the parts that are still owed. */
void lg__capture_ends_at_once(int status);
/* The calling thread is inside our handler, or inside an earlier handler that it called. */
bool lg__capture_is_inside(void);


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
/* The action of a signal may have changed: mend or note a loss. */
void lg__disposition_check(int signal);

/* ---- handler_stack.c ---- */

/* The handler whose frame this is runs on an alternate stack with little room left. Handler, first
 * step. */
bool lg__handler_stack_is_small(const void *ucontext, const void *frame);
/* Call a function on a larger stack, where there is one. Handler. */
void lg__handler_stack_call(void (*function)(void *argument), void *argument);

/* ---- mask.c: masks that block the signals of crashes ---- */

/* sigprocmask() for the program: the faults leave a record all the same. Returns the mask that the
 * program had. Handler. */
uint64_t lg__mask_change(int how, uint64_t signals);
/* The mask of the calling thread as the program set it. Handler. */
uint64_t lg__mask_now(void);
/* The calling thread may block signals of faults that were blocked by other ways: open them. */
void lg__mask_open(void);
/* sa_mask for the kernel, where the program wants this one; and back. Handler. */
uint64_t lg__mask_of_handler(uint64_t program);
uint64_t lg__mask_of_handler_before(uint64_t kernel);
/* The interrupted code blocks the signal of crashes, as the program sees it. Handler. */
bool lg__mask_holds(const void *ucontext, int signal);
/* What a thread hands on with its mask to the threads that it makes. */
uint64_t lg__mask_choice(void);
void lg__mask_inherit(uint64_t choice_of_creator);

/* ---- altstack.c ---- */

/* When the session starts: how large the stacks are. */
void lg__altstack_prepare(void);
/* Give the calling thread an alternate stack with guard pages, which is freed with the thread. 0 or
 * an errno. */
int lg__altstack_ensure(void);
/* The same for a thread that is in the middle of its work, for a number of such threads at once;
 * their stacks are used again. Handler. */
void lg__altstack_ensure_late(void);
/* Smallest stack that will do. */
size_t lg__altstack_least(void);
/* Bounds of the calling thread's stack as known since its registration; zeros if unknown. */
void lg__altstack_bounds(uint64_t *ret_low, uint64_t *ret_high);

#endif
