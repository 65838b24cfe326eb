/* Time limits of the handler: kernel timers limit the time for a record, the watch thread the time
 * of an earlier handler. */
#ifndef LG_CAPTURE_DEADLINE_H
#define LG_CAPTURE_DEADLINE_H

#include "capture/crash.h"

/* The time for the record of this crash begins, if it has not begun yet. From here on SIGKILL ends
 * the process a while after that time. Handler. */
void lg__deadline_arm(struct lg__crash *crash);
/* The same for a crash whose handler recovers as a rule: the watch thread keeps the time, and is
 * woken only where it does not look once a second already. Handler. */
void lg__deadline_attend(struct lg__crash *crash);
/* In a forked child: the timers and the watch thread are those of the parent. */
void lg__deadline_forget(void);
/* From here on a signal to the crashed thread ends the record after that time. Handler. */
void lg__deadline_arm_signal(struct lg__crash *crash);
/* The record is written. Under the crash lock. Handler. */
void lg__deadline_disarm(void);
/* On the crashed thread, by its timer: the time of an earlier handler is over, or that of a record
 * which does not end. Handler. */
void lg__deadline_passed(uint64_t value, const void *ucontext);
/* From here on the time of the earlier handler runs. Handler. */
void lg__deadline_arm_handler(struct lg__crash *crash);
/* A timer keeps that time as well, on the crashed thread: the system may refuse the watch thread,
 * or that thread may wait for a page that never comes. Only on an alternate stack, without which
 * the place of the thread does not show. Under the crash lock, before lg__crash_event() says that
 * the handler is called. Handler. */
void lg__deadline_arm_timer(struct lg__crash *crash);
/* The process is about to end by exit(): the watch thread looks at the crashes of all threads.
 * Waits for that look for a while. */
void lg__deadline_exits(void);
/* The crash that has the lock took longer than any crash may: end the process. For a thread that
 * waits for the lock, in case the watch thread does not run. Handler. */
void lg__deadline_end_holder(void);

#endif
