/* Whether a thread for whose crash an earlier handler was called is still inside that handler,
 * or outside, because the handler returned or the thread left it by longjmp. */
#ifndef LG_CAPTURE_IN_HANDLER_H
#define LG_CAPTURE_IN_HANDLER_H

#include "capture/crash.h"

enum lg__in_handler { LG__IN_HANDLER_UNKNOWN, LG__IN_HANDLER_YES, LG__IN_HANDLER_NO };

/* By the stack pointer alone: known where the handler runs on an alternate stack, or where the
 * thread has left the part of its own stack that the handler runs on. Handler. */
enum lg__in_handler lg__in_handler_by_stack(const struct lg__crash *crash, uint64_t sp);
/* By a walk of the stack: known where the walk is whole, or comes to our handler. Handler. */
enum lg__in_handler lg__in_handler_by_walk(const struct lg__crash *crash, const struct lg__frames_head *head, const uint64_t *pcs);
/* For the interrupted context of the calling thread, which holds the crash lock. Handler. */
enum lg__in_handler lg__in_handler_of_context(const struct lg__crash *crash, const void *ucontext);

/* Our handler with this frame calls the earlier handler of this crash next. Handler. */
void lg__in_handler_enter(struct lg__crash *crash, const void *frame, const void *ucontext);

#endif
