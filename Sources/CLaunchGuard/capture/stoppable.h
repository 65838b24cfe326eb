/* LaunchGuard's own threads block the program's signals. An earlier handler may stop all threads of
 * the process by a signal, as the handler of the Swift runtime does, and then misses a thread that
 * takes none. So while such a handler begins, the threads that wait take one signal for which the
 * program has no use. Handler. */
#ifndef LG_CAPTURE_STOPPABLE_H
#define LG_CAPTURE_STOPPABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A signal whose action is the default, or to ignore it, and which the interrupted code does not
 * block; 0: there is none. */
int lg__stoppable_signal(const void *ucontext);
/* From here on, for a second, lg__stoppable_sleep() takes the signal. Returns the number of the
 * offer, never 0. Under the crash lock. */
uint32_t lg__stoppable_offer(int signal);
/* From here on it does not. */
void lg__stoppable_end(void);

/* On a thread of our own, which blocks all these signals: sleep while `word` is `seen`, for at most
 * `timeout_ns`; may return early. `told` gets the number of the offer that is in force. */
void lg__stoppable_sleep(const uint32_t *word, uint32_t seen, uint64_t timeout_ns, _Atomic uint32_t *told);
/* Wait until a thread sleeps that was not told, or until `timeout_ns`: `count` is what
 * lg__stoppable_told() returned before. */
uint32_t lg__stoppable_told(void);
void lg__stoppable_wait(uint32_t count, uint64_t timeout_ns);

#endif
