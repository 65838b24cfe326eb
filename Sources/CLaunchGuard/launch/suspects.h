/* Layer 4: the suspect tasks of a context. Pure, as decide.h says. */
#ifndef LG_LAUNCH_SUSPECTS_H
#define LG_LAUNCH_SUSPECTS_H

#include <stdbool.h>

#include "store/format.h"

/* Ends that came in this task. */
uint32_t lg__suspects_crashes(const struct lg__ledger_context *context, const char *key);

/* A task of that key with these flags (LG_TASK_*) is suspect. */
bool lg__suspects_has(const struct lg__ledger_context *context, const char *key, uint32_t flags);

/* This launch leaves the task out. */
void lg__suspects_leave_out(struct lg__ledger_context *context, const char *key);

#endif
