/* The one protocol for asking a thread where it is. A crash asks for its record; the watch thread
 * asks for a snapshot, or to find out whether an earlier handler was left.
 *
 * A thread is asked by a signal. It captures its registers into the slot of its place, stands still
 * so that its stack can be walked, and goes on when it is released or when its time has passed. The
 * word of a place decides which thread writes the slot: the one that changes the word from ASKED.
 * From STANDS on the asker may read the slot and write its walk. */
#ifndef LG_CAPTURE_QUESTION_H
#define LG_CAPTURE_QUESTION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/crash.h"
#include "store/format.h"

/* The askers work at the same time: each has places, slots and turns of its own. */
enum lg__asker { LG__ASKER_CRASH, LG__ASKER_WATCH, LG__ASKERS };

/* Places of the watch thread: those of a hang, that of a job's deadline, one to look at a thread
 * that is with an earlier handler, and those of a memory snapshot. The slot of the one to look is
 * in no file. */
#define LG__QUESTION_JOB LG__SNAPSHOT_THREADS_MAX
#define LG__QUESTION_LOOK (LG__SNAPSHOT_THREADS_MAX + 1)
#define LG__QUESTION_MEMORY (LG__SNAPSHOT_THREADS_MAX + 2)
#define LG__QUESTION_WATCH_PLACES (LG__QUESTION_MEMORY + LG__SNAPSHOT_THREADS_MAX)

/* LATE: still being written, and no longer wanted. */
enum lg__answer {
    LG__ANSWER_NONE, LG__ANSWER_ASKED, LG__ANSWER_WRITING, LG__ANSWER_STANDS, LG__ANSWER_LEFT, LG__ANSWER_CLOSED, LG__ANSWER_LATE
};

/* One of the signals that libc keeps for itself and therefore lets no program block: 33 is glibc's
 * for setuid() in all threads, and musl's for cancellation. It is taken when a crash or a hang has
 * happened and not before; a signal that is not ours is passed on. */
#define LG__QUESTION_SIGNAL 33
#define LG__QUESTION_BIT (UINT64_C(1) << (LG__QUESTION_SIGNAL - 1))

/* ---- on the asker. Handler. ---- */

/* Take the signal. false: the system refuses it. */
bool lg__question_take_signal(void);
/* A new turn: answers to earlier questions come too late. `sequence`: of the crash or the snapshot
 * that asks; each slot gets it. No thread stands still beyond `until_ns`, CLOCK_MONOTONIC. false:
 * the system refuses the signal. */
bool lg__question_begin(enum lg__asker asker, uint32_t sequence, uint64_t until_ns);
/* An answer is being written: the place cannot be taken. */
bool lg__question_is_blocked(enum lg__asker asker, uint32_t place);
/* Take a place for a question of this turn: from here on no answer to an earlier question can
 * begin. false: one is being written. */
bool lg__question_take(enum lg__asker asker, uint32_t place);
/* Ask one thread, at a place that was taken. false: it cannot be asked, and its place is closed. */
bool lg__question_ask(enum lg__asker asker, uint32_t place, int32_t tid);
/* The thread was asked in this turn, has not begun to answer or stands still with its answer, and
 * the turn's time is not over. */
bool lg__question_is_open(enum lg__asker asker, uint32_t place, int32_t tid);
/* In a forked child: nobody asks and nobody answers. */
void lg__question_forget(void);
struct lg__thread *lg__question_slot(enum lg__asker asker, uint32_t place);
/* The answer; NONE: this place was not asked in this turn. */
enum lg__answer lg__question_answer(enum lg__asker asker, uint32_t place);
/* The number of threads that have answered in this turn. */
uint32_t lg__question_answered(enum lg__asker asker);
/* Wait until `expected` threads have answered, or until `until_ns`; may return early. */
void lg__question_wait(enum lg__asker asker, uint32_t expected, uint64_t until_ns);
/* No answer is wanted any more. true: none came, and the asker owns the slot. The call waits for an
 * answer that is being written, at most 2 ms. */
bool lg__question_close(enum lg__asker asker, uint32_t place);
/* Let the thread go on, or not begin to answer. false: it does not stand still. */
bool lg__question_release(enum lg__asker asker, uint32_t place);
/* For a crash: wait until the threads that were let go have the signal mask that they had before
 * the question, or until `until_ns`. */
void lg__question_wait_left(enum lg__asker asker, uint64_t until_ns);

/* ---- on a thread that is asked. Handler. ---- */

void lg__question_handler(int signal, siginfo_t *info, void *ucontext);
/* A crash of the calling thread begins to count the begins and the ends of that handler there. */
void lg__question_visited(struct lg__crash *crash);
/* By that count, the thread of a crash, which stopped at `pc`, is not in that handler. A count that
 * has changed since means that the thread went on meanwhile. On any thread. */
bool lg__question_is_outside(const struct lg__crash *crash, uint64_t pc, uint64_t *ret_visits);

/* ---- on a thread that waits in the handler of its own crash. Handler. ---- */

/* Answer a question of a crash to this thread, from where the thread crashed. */
void lg__question_answer_crash(uint32_t places, const void *ucontext);

#endif
