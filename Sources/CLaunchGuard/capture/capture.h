/* Layer 3: all that runs inside the signal handler, and nothing else.
 *
 * This header is the interface of `capture/` to the rest of the core. That code runs in a
 * broken process: it takes no lock, allocates nothing, uses no stdio, never calls the dynamic
 * linker, and trusts no memory but its own.
 */
#ifndef LG_CAPTURE_H
#define LG_CAPTURE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "launchguard/snapshot.h"
#include "store/format.h"
#include "store/run.h"

/* A function that may claim a fault before the fault is recorded. It returns true when the access
 * can simply be repeated or the context was mended. It may correct the kernel's account of a
 * signal. */
typedef bool (*lg__first_chance)(int signal, siginfo_t *info, void *ucontext);

struct lg__capture_options {
    struct lg__run run;    /* copied; its pages stay mapped */
    struct lg__hot *hot;   /* may be NULL */
    uint64_t ordinal;
    /* thread inside lg_start(), perhaps the reason why the program does not start; 0: none */
    _Atomic int32_t starting_tid;
    uint32_t deadline_ms;
    uint32_t handler_ms;   /* for an earlier handler */
    bool keep_repeats;     /* a fault that repeats without progress does not end the process */
    uint32_t leave_out;    /* LG_LEAVE_OUT_* */
    bool none;             /* no signal is taken and none unblocked: another component records */
    bool keep_first;       /* what the program installs later comes after our handlers */
    /* The program does not know of LaunchGuard: SIGPIPE is an ordinary end for it, and no crash. */
    bool preloaded;
    bool forked;           /* the handlers are installed already, by the parent */
    /* the others have their default action, as far as was seen: bit n − 1 for signal n */
    uint64_t touched_signals;
    /* before _exit() ends the process that has the session, on any thread; NULL: no call */
    void (*leaves)(int status);
    void (*watch)(void);   /* what the watch thread does; it ends by lg__watch_thread_leave() */
};

/* Add a first-chance function, before lg__capture_start(). false: the table is full. */
bool lg__capture_add_first_chance(lg__first_chance function);
/* Set the last first-chance function, at any time; NULL: none. It is asked about faults of the
 * program's own instructions alone: not in forked children, for sent signals, in handlers and on
 * waiting threads of LaunchGuard. */
void lg__capture_set_program_chance(lg__first_chance function);

/* The calling thread is about to crash on purpose: the record of that crash has this text among its
 * messages. Copied, at most 255 bytes. Handler. */
void lg__capture_say(lg_message_source source, const char *text);

/* Install the handlers, unless `none` is set. false with errno: the signals could not be taken. */
bool lg__capture_start(const struct lg__capture_options *options);

/* This library can keep first place. */
bool lg__capture_keeps_first(void);

/* Load libunwind for the spare walk. false: libunwind is not there. */
bool lg__capture_spare_walk(void);

/* lg_start() is done. */
void lg__capture_started(void);

/* In a forked child, which has one thread, before lg__capture_start() with `forked`: nothing of the
 * parent's crashes and threads is left. false: the child was forked inside a crash. */
bool lg__capture_forget(void);

/* The program puts a filter on its system calls; false: it was refused. From then on an end stores
 * into memory alone, and a forked child of a preloaded session has none. Handler. */
void lg__capture_confine(bool confined);
bool lg__capture_is_confined(void);

/* 1 in the process that started the capture, 0 in its forked children. Handler. */
const _Atomic uint32_t *lg__capture_unforked_flag(void);

/* True while a crash is recorded, or is with an earlier handler that has time left. Handler. */
bool lg__capture_busy(void);

/* A fault repeats without progress, or did a second ago: repeating.c. */
bool lg__capture_repeats(void);

/* Sequence number of the latest crash; 0: none. */
uint32_t lg__capture_latest(void);
/* A crash is recorded, or one up to this one is with an earlier handler that has time left. */
bool lg__capture_open_until(uint32_t sequence);

/* The calling thread calls into the library. A thread that crashed before and is outside the
 * earlier handler of that crash has survived the crash. Costs a few loads. Handler. */
void lg__capture_called(void);

/* The process is about to end by exit() or lg_stop(): settle which crashes the process survived,
 * for at most 200 ms where one is open. false: the calling thread is inside an earlier handler, and
 * this is the end of that crash. */
bool lg__capture_exits(void);

/* Give the signals that are still ours back to their earlier owners. */
void lg__capture_stop(void);

/* Check the handlers, the alternate stack and the signal mask of the calling thread. Mend a loss
 * where that takes nothing from the program, and leave a breadcrumb where something changed. On an
 * ordinary thread. */
void lg__capture_check(bool thread_too);

/* ---- own_threads.c: threads that are none of the program's ---- */

/* The calling thread belongs to LaunchGuard. */
void lg__capture_own_begin(void);
/* A thread of LaunchGuard ends. Where it is the last one that libc knows, libc calls exit() on
 * it. */
void lg__capture_own_end(void);
/* On a thread that libc does not know: end the process if no thread of the program is left. */
void lg__capture_end_if_alone(void);
/* This thread belongs to a runtime below the program, and runs no code of ours: it is neither asked
 * nor counted. A process has one at most. */
void lg__capture_never_ask(int32_t tid);
/* The calling thread does nothing for the program from now on, or does so again; meanwhile the
 * thread runs on while a crash is recorded. */
void lg__capture_exempt(void);
void lg__capture_exempt_no_more(void);
/* The calling thread is one of those. Handler. */
bool lg__capture_is_exempt(void);
/* The calling thread is one of LaunchGuard's own, and all others of the process that have not ended
 * do nothing for the program: the process is at its end, and the calling thread must end. */
bool lg__capture_alone(void);
/* On a thread of LaunchGuard: sleep once while `word` is `seen`, at most `timeout_ns`, and do
 * nothing for the program meanwhile. */
void lg__capture_sleep(const uint32_t *word, uint32_t seen, uint64_t timeout_ns);
/* The same until `timeout_ns` is over or the word has changed. false: alone. */
bool lg__capture_wait(const uint32_t *word, uint32_t seen, uint64_t timeout_ns);

/* Keep the end of standard error in the run file: make descriptor 2 a pipe. False with errno:
 * descriptor 2 stays as it was. */
bool lg__tail_start(const struct lg__run *run);
/* Copy until the pipe ends; on a thread of its own. */
void lg__tail_pump(void);
/* Wait until the thread has copied the bytes in the pipe, at most `timeout_ns`. Handler. */
void lg__tail_settle(uint64_t timeout_ns);
/* In a forked child: give descriptor 2 its earlier file. */
void lg__tail_give_back(void);

/* Read the module table again. On an ordinary thread. */
void lg__capture_refresh_modules(void);

/* The calling thread's stack by unwind tables: of an interrupted context, or from the caller on
 * (NULL). Returns the number of frames, innermost first; 0: another thread walks, or a fault could
 * not come back. A fault of the walk ends it. `most`: at least 2. Handler. */
uint32_t lg__capture_walk(const void *ucontext, uint64_t *ret_frames, uint32_t most);

/* ---- the watch thread: there is one while there is something to watch (watch_thread.c) ---- */

/* Something has changed: the thread looks at all there is to watch. Makes the thread where there is
 * none. Handler. */
void lg__capture_wake_watch(void);
/* There is a watch thread. Handler. */
bool lg__capture_watched(void);
/* On that thread: the count that lg__watch_thread_sleep() and lg__watch_thread_leave() compare
 * with. The thread takes the count before it looks. */
uint32_t lg__watch_thread_seen(void);
/* Sleep until something has changed since then, or for this time. */
void lg__watch_thread_sleep(uint32_t seen, uint64_t time_ns);
/* End the thread, unless something has changed since then. */
void lg__watch_thread_leave(uint32_t seen);

/* For the watch thread: look at every crash whose fate is open. Returns nanoseconds until the next
 * look; UINT64_MAX: none is needed. Ends the process where a deadline has passed. */
uint64_t lg__capture_deadline(void);

/* ---- for the watch thread, of a program that lives ---- */

struct lg__snapshot_wish {
    uint32_t kind;     /* lg_snapshot_kind */
    int32_t tid;       /* thread that matters; 0: none */
    const char *name;  /* of the thread, or of its job; "": none */
    uint64_t since_ns; /* CLOCK_MONOTONIC; identifies hang, job or shortage; not 0 */
    uint64_t task;     /* address of the Swift task that does the job; 0: none */
};
/* Take the stacks of all threads, or for a deadline that of one thread, or of a task that waits.
 * With LG_LEAVE_OUT_THREADS only that of the thread that matters. Takes at most half a second, and
 * ends when a crash begins. */
void lg__snapshot_take(const struct lg__snapshot_wish *wish);
/* The hang, the job or the shortage of a snapshot is over. On any thread. */
void lg__snapshot_resolve(uint32_t kind, uint64_t since_ns);
/* A debugger is attached. */
bool lg__capture_traced(void);
/* A number for the user, the groups and the capabilities of a thread; 0: unknown. */
uint32_t lg__capture_rights(int32_t tid);
/* A thread of this process has ended. */
bool lg__capture_thread_gone(int32_t tid);

/* Give the calling thread an alternate stack with guard pages, which is freed with the thread, and
 * unblock the signals of faults on the thread: for a blocked one the kernel would end the process
 * without a handler. 0 or an errno. */
int lg__capture_thread_begin(void);
/* In the mask of a thread: its signals of faults are not blocked, though the program wants them to
 * be. Never in a mask of LaunchGuard's own threads and handlers. */
#define LG__MASK_MARK (UINT64_C(1) << (SIGSTKFLT - 1))
/* What a thread of LaunchGuard's own blocks that runs code of the program: all but crashes. */
uint64_t lg__capture_quiet_mask(void);
/* The calling thread went through the call above, or through lg__capture_thread_arm(). */
extern __thread bool lg__capture_thread_armed __attribute__((tls_model("initial-exec")));
/* The same for a thread that libc or other code made without our knowledge, at its first call of
 * LaunchGuard. Handler. */
void lg__capture_thread_arm(void);
static inline void lg__capture_thread_calls(void)
{
    if (__builtin_expect(!lg__capture_thread_armed, 0))
        lg__capture_thread_arm();
}
/* pthread_create() for LaunchGuard's own threads, without lg__capture_thread_begin() for them. */
int lg__capture_create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

#endif
