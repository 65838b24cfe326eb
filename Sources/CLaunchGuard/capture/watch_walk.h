/* Walks of the watch thread, over stacks of a program that lives. */
#ifndef LG_CAPTURE_WATCH_WALK_H
#define LG_CAPTURE_WATCH_WALK_H

#include <stdbool.h>

#include "store/format.h"

/* Walk the stack of a thread that stands still. Threads that run may unmap memory that the walk is
 * about to read, and stacks may be smashed: a walk that faults costs that stack alone. */
void lg__watch_walk(struct lg__thread *slot);
/* The same for the functions of a Swift task, in a cleared slot. false: it does not wait, or the
 * walk crashed. */
bool lg__watch_walk_task(struct lg__thread *slot, uint64_t task);
/* In the handler of a fault on the watch thread: if a walk made the fault, that walk ends here. */
void lg__watch_walk_recover(void);

#endif
